r"""Runs of blanks in cl100k and o200k: `\s*[\r\n]` or `\s*[\r\n]+`, then `\s+(?!\S)`, then one blank.

A run is cut behind its last line end, and before its last blank if several follow that. The
names of the states tell what was read: whether there was a line end, and the blanks behind it.
"""

from __future__ import annotations

from bpe_core.text.scanner.kinds import BLANKS, LINE_ENDS, Kind
from bpe_core.text.scanner.machine import CUT_HERE, CUT_MARK, CUT_PREVIOUS, MARK_HERE, Transition

SPACE = "space"  # a single one, which may join what follows
BLANK = "blank"  # a single one of another kind
LINE_END = "line end"
_SEVERAL = {"blanks": BLANK, "blanks and a space": SPACE}  # with what the last of them is alone
_BEHIND_LINE_END = "line end, "

# For each state of a run: the cuts that are due once it has ended, and the state of its last blank alone.
RUNS: dict[str, tuple[int, str]] = {
    SPACE: (0, SPACE),
    BLANK: (0, BLANK),
    **{several: (CUT_PREVIOUS, last) for several, last in _SEVERAL.items()},
    LINE_END: (CUT_HERE, ""),
    **{_BEHIND_LINE_END + last: (CUT_MARK, last) for last in (SPACE, BLANK)},
    **{_BEHIND_LINE_END + several: (CUT_MARK | CUT_PREVIOUS, last) for several, last in _SEVERAL.items()},
}


def begin(kind: Kind) -> Transition:
    """A blank that begins a run."""
    if kind in LINE_ENDS:
        return Transition(LINE_END)
    return Transition(SPACE if kind is Kind.SPACE else BLANK)


def go_on(state: str, kind: Kind) -> Transition:
    """One more blank in a run."""
    assert kind in BLANKS
    if kind in LINE_ENDS:
        return Transition(LINE_END)
    if state == LINE_END:  # this blank is where to cut, unless another line end follows
        return Transition(_BEHIND_LINE_END + begin(kind).state, MARK_HERE)
    several = "blanks and a space" if kind is Kind.SPACE else "blanks"
    return Transition(_BEHIND_LINE_END + several if state.startswith(_BEHIND_LINE_END) else several)
