"""SentencePiece's preparation of a text, in two forms: as the steps of a recipe, and as the choices behind these steps.

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
    """The choices of a preparation about spaces."""

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
        """Return the steps in order.

        The step with the table of replacements also puts signs before and after the text, and removes double spaces, if
        these changes depend on the replacements around them.
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
        """Return the choices that lead to these steps, or to equivalent steps. Return None if no choices do."""
        first = steps[0] if steps else None
        table = first if isinstance(first, Precompiled) and first.longest else None
        wanted = nearest(steps)
        return next(
            (cls(table, marks) for marks in ALL_MARKS if steps and nearest(cls(table, marks).steps) == wanted), None
        )


def nearest(steps: Iterable[Step]) -> list[Step]:
    """Return the steps of the library `tokenizers` that come nearest to these steps."""
    return [
        nearest_step for step in steps for nearest_step in (step.nearest if isinstance(step, Precompiled) else [step])
    ]
