r"""english: `'s|'t|'re|'ve|'m|'ll|'d|\s?[A-Za-z]+|\s?\d+|\s?[^A-Za-z\d\s]+|\s+`

One blank of any kind joins what follows; several are a word of their own.
"""

from __future__ import annotations

from bpe_core.text.scanner.contractions import BEGUN, IN_LOWER_CASE, NEEDS_E, NEEDS_L
from bpe_core.text.scanner.kinds import ASCII_LETTERS, BLANKS, Kind
from bpe_core.text.scanner.machine import CUT_HERE, CUT_PREVIOUS, START, Transition


def step(state: str, kind: Kind) -> Transition:
    if state == START:
        return _begin(kind)
    if (state, kind) in IN_LOWER_CASE:
        return Transition(IN_LOWER_CASE[state, kind])
    if state in (NEEDS_L, NEEDS_E):  # no contraction after all: the apostrophe stood alone
        return step("letters", kind).and_also(CUT_PREVIOUS)
    if state == BEGUN:
        return step("signs", kind)
    if state == "blank" and kind not in BLANKS:
        return Transition(_run(kind))
    if state in ("blank", "blanks") and kind in BLANKS:
        return Transition("blanks")
    return Transition(state) if _run(kind) == state else _begin(kind).and_also(CUT_HERE)


def _begin(kind: Kind) -> Transition:
    """A character that begins a word."""
    return Transition(BEGUN if kind is Kind.APOSTROPHE else _run(kind))


def _run(kind: Kind) -> str:
    """What a character can be in a row with; only a first blank is in none."""
    if kind in BLANKS:
        return "blank"
    if kind in ASCII_LETTERS:
        return "letters"
    return "digits" if kind is Kind.DIGIT else "signs"
