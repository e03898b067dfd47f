r"""o200k: words of capitals and small letters, in this order, with one sign before and a contraction behind.

    [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
    |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
    |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+

Letters without case, and marks, count as both. So capitals behind such a letter are a word of
their own unless a small letter follows: the place is marked, and the text cut there in the end.
"""

from __future__ import annotations

from bpe_core.text.scanner import blanks
from bpe_core.text.scanner.contractions import BEGUN, IN_ANY_CASE
from bpe_core.text.scanner.kinds import BLANKS, LETTERS, LINE_ENDS, NUMBERS, Kind
from bpe_core.text.scanner.machine import CUT_HERE, CUT_MARK, MARK_HERE, START, Transition

_SMALL = frozenset({Kind.SDMT, Kind.L, Kind.V, Kind.R, Kind.E, Kind.LETTER, Kind.LONG_S, Kind.FOREIGN_LOWER})
_BOTH = frozenset({Kind.FOREIGN_CASELESS, Kind.IDEOGRAPH, Kind.MARK})
_OF_WORDS = LETTERS | _BOTH
_WORDS = ("capitals", "caseless", "small")  # by the last letter; the text is one word up to here
_MARKED = "capitals behind caseless"
_ENDED_SIGNS = "signs and line ends"
_BEHIND_SIGNS = LINE_ENDS | {Kind.SLASH}
_MORE_DIGITS = {"1 digit": "2 digits", "2 digits": "3 digits"}
_BEGUN_WITH = {"'l": Kind.L, "'L": Kind.UPPER_L, "'v": Kind.V, "'V": Kind.UPPER_V}  # R and r are as V and v here


def step(state: str, kind: Kind) -> Transition:
    if state == START:
        return _begin(kind)
    if (state, kind) in IN_ANY_CASE:
        return Transition(IN_ANY_CASE[state, kind])
    if state.startswith(BEGUN):
        return _no_contraction(state, kind)
    if state in blanks.RUNS:
        return _behind_blanks(state, kind)
    if state in (*_WORDS, _MARKED):
        return _in_word(state, kind)
    return _behind_digits_or_signs(state, kind)


def _begin(kind: Kind) -> Transition:
    """A character that begins a word."""
    if kind in BLANKS:
        return blanks.begin(kind)
    if kind in NUMBERS:
        return Transition("1 digit")
    return Transition(_case(kind) if kind in _OF_WORDS else "sign")


def _cut(kind: Kind) -> Transition:
    return _begin(kind).and_also(CUT_HERE)


def _case(kind: Kind) -> str:
    if kind in _SMALL:
        return "small"
    return "caseless" if kind in _BOTH else "capitals"


def _in_word(state: str, kind: Kind) -> Transition:
    if kind in _OF_WORDS:
        return _one_more_letter(state, _case(kind), kind)
    behind = Transition(BEGUN, MARK_HERE) if kind is Kind.APOSTROPHE else _cut(kind)
    return behind.and_also(CUT_MARK if state == _MARKED else 0)


def _one_more_letter(state: str, case: str, kind: Kind) -> Transition:
    if state == "small":
        return _cut(kind) if case == "capitals" else Transition("small")
    if case != "capitals":
        return Transition(case)
    if state == "caseless":
        return Transition(_MARKED, MARK_HERE)
    return Transition(state)


def _no_contraction(state: str, kind: Kind) -> Transition:
    """The word ended before the apostrophe, which is a sign before what follows."""
    if state == BEGUN:
        return step("sign", kind).and_also(CUT_MARK)
    letter = _BEGUN_WITH[state]
    return step(_case(letter), kind).and_also(CUT_MARK)


def _behind_blanks(state: str, kind: Kind) -> Transition:
    if kind in BLANKS:
        return blanks.go_on(state, kind)
    cuts, last = blanks.RUNS[state]
    if kind is Kind.END:
        return Transition(START, cuts & CUT_MARK)
    if last and kind in _OF_WORDS:
        return Transition(_case(kind), cuts)
    if last == blanks.SPACE and kind not in NUMBERS:
        return Transition("signs", cuts)
    return _cut(kind).and_also(cuts)


def _behind_digits_or_signs(state: str, kind: Kind) -> Transition:
    if kind in NUMBERS and state in _MORE_DIGITS:
        return Transition(_MORE_DIGITS[state])
    if state == "sign" and kind in _OF_WORDS:
        return Transition(_case(kind))
    if state in ("sign", "signs") and kind not in BLANKS | LETTERS | NUMBERS:
        return Transition("signs")
    if state in ("sign", "signs", _ENDED_SIGNS) and kind in _BEHIND_SIGNS:
        return Transition(_ENDED_SIGNS)
    return _cut(kind)
