"""What SentencePiece does to a text, as steps of a recipe and as the choices behind them.

>>> chosen = WholeTexts(None, Marks(prefix=True, one_blank=True))
>>> WholeTexts.of(chosen.steps) == chosen, WholeTexts.of(chosen.steps[1:])
(True, None)
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from bpe_core.text.preparation.normalizers import Precompiled, Prepend, Replace

if TYPE_CHECKING:
    from bpe_core.text.preparation.steps import Step

MARKER = "▁"
SEVERAL_BLANKS = Replace(r"\A +|(?<= ) +", True, "")
BEHIND = r"(?<=[\s\S])\z"


class Marks(NamedTuple):
    """What is done about the blanks of a text."""

    prefix: bool = False
    one_blank: bool = False
    shows_blanks: bool = True
    suffix: bool = False  # the sign comes behind the text

    @property
    def steps(self) -> tuple[Step, ...]:
        sign, blanks = (MARKER, f" {MARKER}") if self.shows_blanks else (" ", " ")
        steps: list[Step] = [SEVERAL_BLANKS] if self.one_blank else []
        if self.prefix and self.suffix:
            # A text of nothing but such signs becomes one, too.
            last = rf"(?<=[^{blanks}])[{blanks}]*\z|\A[{blanks}]+\z"
            steps.append(Replace(last if self.one_blank else BEHIND, True, sign))
        else:
            steps += [Replace(rf"[{blanks}]+\z", True, "")] * self.one_blank + [Prepend(sign)] * self.prefix
        return (*steps, Replace(" ", False, MARKER)) if self.shows_blanks else tuple(steps)


ALL_MARKS = [Marks(*chosen) for chosen in product((False, True), repeat=4)]


class WholeTexts(NamedTuple):
    table: Precompiled | None  # what becomes something else, its longest match
    marks: Marks

    @property
    def by_part(self) -> bool:
        """Whether spaces are left out at the beginning of parts only, as one of them may hold several."""
        return self.table is not None and self.marks.one_blank and self.table.holds("  ")

    @property
    def steps(self) -> tuple[Step, ...]:
        if self.table is None:
            return self.marks.steps
        return (replace(self.table, one_blank=self.by_part), *self.marks.steps[self.by_part :])

    @classmethod
    def of(cls, steps: tuple[Step, ...]) -> WholeTexts | None:
        """Return the choices behind these steps; None where they do something else."""
        first = steps[0] if steps else None
        table = first if isinstance(first, Precompiled) and first.longest else None
        return next((told for marks in ALL_MARKS if steps and (told := cls(table, marks)).steps == steps), None)
