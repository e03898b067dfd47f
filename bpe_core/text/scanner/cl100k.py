r"""cl100k: `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+
|\s++$|\s*[\r\n]|\s+(?!\S)|\s`
"""

from __future__ import annotations

from bpe_core.text.scanner import blanks
from bpe_core.text.scanner.contractions import BEGUN, IN_ANY_CASE
from bpe_core.text.scanner.kinds import BLANKS, LETTERS, LINE_ENDS, NUMBERS, Kind
from bpe_core.text.scanner.machine import CUT_HERE, START, Transition

_MORE_DIGITS = {"1 digit": "2 digits", "2 digits": "3 digits"}


def step(state: str, kind: Kind) -> Transition:
    if state == START:
        return _begin(kind)
    if (state, kind) in IN_ANY_CASE:
        return Transition(IN_ANY_CASE[state, kind])
    if state in blanks.RUNS:
        return _behind_blanks(state, kind)
    if kind in LETTERS and _letters_join(state):
        return Transition("letters")
    if kind in NUMBERS and state in _MORE_DIGITS:
        return Transition(_MORE_DIGITS[state])
    if _is_sign(kind) and state in (BEGUN, "sign", "signs"):
        return Transition("signs")
    if kind in LINE_ENDS and state in (BEGUN, "sign", "signs", "signs and line ends"):
        return Transition("signs and line ends")
    return _begin(kind).and_also(CUT_HERE)


def _begin(kind: Kind) -> Transition:
    """A character that begins a word."""
    if kind in BLANKS:
        return blanks.begin(kind)
    if kind in LETTERS:
        return Transition("letters")
    if kind in NUMBERS:
        return Transition("1 digit")
    return Transition(BEGUN if kind is Kind.APOSTROPHE else "sign")


def _letters_join(state: str) -> bool:
    """Whether letters go on here, or follow the one sign a word may begin with; 'l may become 'lo."""
    return state in ("letters", "sign") or state.startswith(BEGUN)


def _behind_blanks(state: str, kind: Kind) -> Transition:
    if kind in BLANKS:
        return blanks.go_on(state, kind)
    if kind is Kind.END:  # all blanks that end a text are one word
        return Transition(START)
    cuts, last = blanks.RUNS[state]
    if last and kind in LETTERS:
        return Transition("letters", cuts)
    if last == blanks.SPACE and _is_sign(kind):
        return Transition("signs", cuts)
    return _begin(kind).and_also(cuts | CUT_HERE)


def _is_sign(kind: Kind) -> bool:
    return kind not in BLANKS | LETTERS | NUMBERS and kind is not Kind.END
