r"""whitespace: `\S+`, and none: `(?s:.+)`"""

from __future__ import annotations

from bpe_core.text.scanner.kinds import BLANKS, Kind
from bpe_core.text.scanner.machine import CUT_HERE, START, Transition


def whitespace(state: str, kind: Kind) -> Transition:
    """Cuts wherever blanks begin or end; what begins with a blank is dropped afterwards."""
    run = "blanks" if kind in BLANKS else "word"
    return Transition(run, CUT_HERE if state not in (START, run) else 0)


def none(state: str, kind: Kind) -> Transition:
    """Never cuts."""
    return Transition("inside")
