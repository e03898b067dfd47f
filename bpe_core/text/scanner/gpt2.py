r"""gpt2: `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

The last blank of several belongs to what follows if it is a space, and stands alone otherwise.
"""

from __future__ import annotations

from bpe_core.text.scanner.contractions import BEGUN, IN_LOWER_CASE, NEEDS_E, NEEDS_L
from bpe_core.text.scanner.kinds import BLANKS, LETTERS, NUMBERS, Kind
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
    if state in ("space", "blank", "blanks", "blanks and a space"):
        return _behind_blanks(state, kind)
    return Transition(state) if _run(kind) == state else _cut(kind)  # nothing joins a contraction


def _begin(kind: Kind) -> Transition:
    """A character that begins a word."""
    if kind is Kind.APOSTROPHE:
        return Transition(BEGUN)
    if kind in BLANKS:
        return Transition("space" if kind is Kind.SPACE else "blank")
    return Transition(_run(kind))


def _cut(kind: Kind) -> Transition:
    return _begin(kind).and_also(CUT_HERE)


def _behind_blanks(state: str, kind: Kind) -> Transition:
    if kind in BLANKS:
        return Transition("blanks and a space" if kind is Kind.SPACE else "blanks")
    if kind is Kind.END:
        return Transition(START)
    if state in ("space", "blanks and a space"):
        return Transition(_run(kind), CUT_PREVIOUS if state != "space" else 0)
    return _cut(kind).and_also(CUT_PREVIOUS if state != "blank" else 0)


def _run(kind: Kind) -> str:
    """What a character can be in a row with."""
    if kind in BLANKS:
        return "blanks"
    if kind in LETTERS:
        return "letters"
    return "digits" if kind in NUMBERS else "signs"
