"""SentencePiece's preparation of a text in two forms: as operations of a recipe, and as SentencePiece's options.

`WholeTexts` holds the options, and its `steps` are the operations. `WholeTexts.of` converts operations to
options. It returns None if no options are equivalent to the operations.

>>> chosen = WholeTexts(None, Marks(prefix=True, one_blank=True))
>>> WholeTexts.of(chosen.steps) == chosen, WholeTexts.of(chosen.steps[1:])
(True, None)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from bpe_core.text.preparation.normalizers import BEHIND, SEVERAL_BLANKS, Precompiled, Prepend, Replace

if TYPE_CHECKING:
    from bpe_core.text.preparation.steps import Step

MARKER = "▁"


class Marks(NamedTuple):
    """The options that control how SentencePiece adds, removes and marks spaces during normalization."""

    prefix: bool = False
    one_blank: bool = False
    shows_blanks: bool = True
    suffix: bool = False  # the sign comes after the text

    @property
    def sign(self) -> str:
        return MARKER if self.shows_blanks else " "

    @property
    def steps(self) -> tuple[Step, ...]:
        sign = self.sign
        blanks = f" {MARKER}" if self.shows_blanks else " "
        steps: list[Step] = [SEVERAL_BLANKS] if self.one_blank else []
        if self.prefix and self.suffix:
            # A text that holds only such signs also becomes one sign.
            last = rf"(?<=[^{blanks}])[{blanks}]*\z|\A[{blanks}]+\z"
            steps.append(Replace(last if self.one_blank else BEHIND, True, sign))
        else:
            steps += [Replace(rf"[{blanks}]+\z", True, "")] * self.one_blank + [Prepend(sign)] * self.prefix
        return (*steps, Replace(" ", False, MARKER)) if self.shows_blanks else tuple(steps)


ALL_MARKS = [Marks(*chosen) for chosen in product((False, True), repeat=4)]


class WholeTexts(NamedTuple):
    table: Precompiled | None  # replaces the longest match
    marks: Marks

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return the operations that these options lead to, in their order.

        If there is a table, the first operation replaces characters according to this table. Usually further
        operations remove double spaces, and add the prefix or the suffix. If their effect depends on the replaced
        characters, the first operation also does their work.
        """
        marks = self.marks
        table = self.table
        if table is None:
            return marks.steps
        behind = marks.prefix and marks.suffix
        by_part = marks.one_blank and (behind or table.holds("  "))
        own = marks.sign * (marks.prefix and (marks.suffix or not marks.one_blank))
        table = replace(table, one_blank=by_part, before="" if behind else own, behind=own if behind else "")
        done = len(table.nearest) - 1
        return (table, *marks.steps[done:])

    @classmethod
    def of(cls, steps: tuple[Step, ...]) -> WholeTexts | None:
        """Return the choices that lead to these operations, or to equivalent operations.

        Return None if there are no such choices.
        """
        first = steps[0] if steps else None
        table = first if isinstance(first, Precompiled) and first.longest else None
        wanted = nearest(steps)
        return next(
            (cls(table, marks) for marks in ALL_MARKS if steps and nearest(cls(table, marks).steps) == wanted), None
        )


def nearest(steps: Iterable[Step]) -> list[Step]:
    """Return operations of the library `tokenizers` that change texts in nearly the same way as these operations."""
    return [
        nearest_step for step in steps for nearest_step in (step.nearest if isinstance(step, Precompiled) else [step])
    ]
