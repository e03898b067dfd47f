r"""bert: what stands between blanks, but each mark of punctuation and each Chinese character is a word of its own.

(?=\p{Lo})[ideographs]|[\p{P}$+<=>^`|~]|(?:[^\s\p{P}$+<=>^`|~ideographs]|(?!\p{Lo})[ideographs])+
"""

from __future__ import annotations

from bpe_core.text.scanner.kinds import BLANKS, Kind
from bpe_core.text.scanner.machine import CUT_HERE, START, Transition

_ALONE = frozenset({Kind.PUNCTUATION, Kind.APOSTROPHE, Kind.SLASH, Kind.IDEOGRAPH})


def step(state: str, kind: Kind) -> Transition:
    """Cuts wherever a run ends, and around what stands alone; what begins with a blank is dropped afterwards."""
    run = "blanks" if kind in BLANKS else "alone" if kind in _ALONE else "word"
    goes_on = state == START or (state == run and run != "alone")
    return Transition(run, 0 if goes_on else CUT_HERE)
