"""A class that writes the plan of a sweep into a file. A command in a terminal can run the same plan file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.session.corpus_texts import CorpusText
from app.session.session import Session
from bpe_core.errors import BpeError, CorpusError, RecipeError
from bpe_core.recipes.choice import LARGEST_VOCABULARY
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.ties import TIE_RULES
from bpe_core.support.atomic import write_atomically
from bpe_core.sweep.plan import plan_text, recipe_choices

TIES = tuple((name, rule.label) for name, rule in TIE_RULES.items())
ALL = 100  # per cent
CHOSEN = ", as chosen"  # added to the name of the window's recipe
TEXTS = ".texts"  # added to the name of a plan: a folder for texts without a file


@dataclass(frozen=True)
class SweepChoices:
    recipes: tuple[str, ...]
    sizes: str  # the sizes as they were typed
    ties: tuple[str, ...] = ()
    samples: int = 1
    per_cent: int = ALL  # share of the lines in each sample
    held_out: Path | None = None
    bits: bool = True


class CurvePlan:
    def __init__(self, session: Session) -> None:
        self._texts = session.corpus.texts
        self._recipe = session.recipe

    @property
    def recipes(self) -> list[str]:
        """Return the names of the recipes to choose from. The recipe of the window comes first."""
        return [f"{self._recipe.value.name}{CHOSEN}", *PRESETS]

    @property
    def sizes(self) -> str:
        """Return the proposed vocabulary sizes as text.

        These are the recipe's size, half of it and a quarter of it. The half and the quarter are at least 300.
        """
        size = self._recipe.value.vocab_size or 4_000
        return ", ".join(str(proposed) for proposed in sorted({max(size // 4, 300), max(size // 2, 300), size}))

    def write(self, choices: SweepChoices, path: Path) -> str:
        """Write the plan. Return the reason if that fails, or else an empty string."""
        try:
            text = plan_text(self._plan(choices, path))
            with write_atomically(path) as file:
                file.write(text.encode())
        except BpeError as error:
            return str(error)
        return ""

    def _plan(self, choices: SweepChoices, path: Path) -> dict[str, Any]:
        if not choices.recipes:
            raise RecipeError("Tick at least one recipe.")
        texts = self._texts.value
        plan: dict[str, Any] = {"sizes": sizes_in(choices.sizes)}
        if choices.ties:
            plan["ties"] = list(choices.ties)
        if choices.per_cent < ALL:
            plan |= {
                "seeds": list(range(1, choices.samples + 1)),
                "sample": f"{choices.per_cent}%",
                "sample_of": "lines",
            }
        if choices.held_out is not None:
            plan["held_out"] = [str(choices.held_out.absolute())]
        plan |= {"bits": choices.bits, "interval_over": "lines"}
        read_as = {
            "field": _only_value({source.column for source in texts}),
            "encoding": _only_value({source.encoding for source in texts}),
        }
        plan |= {name: value for name, value in read_as.items() if value}
        plan["corpora"] = self._corpora(texts, path)
        plan["recipes"] = {
            name: {"preset": name} if name in PRESETS else recipe_choices(self._recipe.value)
            for name in choices.recipes
        }
        return plan

    def _corpora(self, texts: Sequence[CorpusText], path: Path) -> dict[str, list[str]]:
        if not texts:
            raise CorpusError("The corpus holds no text to learn from. Add a text.")
        corpora: dict[str, list[str]] = {}
        for place, text in enumerate(texts, 1):
            if text.address:
                raise CorpusError(
                    f"{text.name} is an address. A sweep learns only from files, because the text at an address "
                    "may change. Download the text, and add the file."
                )
            where = text.path
            if where is None:
                where = path.with_name(path.stem + TEXTS) / f"{place}.txt"
                where.parent.mkdir(exist_ok=True)
                with write_atomically(where) as file:
                    file.write(text.text.encode())
            files = [where / name for name in text.picked] or [where]
            corpora.setdefault(text.group or "corpus", []).extend(str(file.absolute()) for file in files)
        return corpora


def sizes_in(text: str) -> list[int]:
    """Return the vocabulary sizes in a text. Raise RecipeError if the text contains anything else.

    >>> sizes_in("1000, 2000 4000")
    [1000, 2000, 4000]
    """
    words = text.replace(",", " ").split()
    sizes = [int(word) for word in words if word.isdecimal() and len(word) <= len(str(LARGEST_VOCABULARY))]
    if not words or len(sizes) < len(words):
        raise RecipeError(
            f"{text[:40]!r} is not a list of vocabulary sizes. Write whole numbers, such as 1000, 2000, 4000."
        )
    return sizes


def _only_value(ways: set[Any]) -> Any:
    if len(ways) > 1:
        raise CorpusError(
            "The texts have different encodings or columns. A sweep needs texts with the same encoding and column."
        )
    return next(iter(ways), None)
