"""What runs are called, so that two of them are never called alike where anything tells them apart."""

from __future__ import annotations

from collections.abc import Sequence

from app.session.run import Run
from bpe_core import Recipe
from bpe_core.choice_titles import title_of
from bpe_core.recipe import CHOICES, Learning, Normalization, Size, Splitting, Symbols

MOST_NAMED = 2  # choices by which two runs of one name are told apart


def name_of(run: Run, runs: Sequence[Run]) -> str:
    """Its number and its title among the others."""
    return f"Run {run.number}: {titles_of([run, *(other for other in runs if other is not run)])[0]}"


def titles_of(runs: Sequence[Run]) -> list[str]:
    """What each is called: by its recipe, and where several are called alike, by what differs, too."""
    titles: list[str] = []
    for run in runs:
        alike = [other for other in runs if other is not run and other.recipe.name == run.recipe.name]
        titles.append(run.recipe.name + "".join(f", {told}" for told in _what_differs(run, alike)))
    return titles


def _what_differs(run: Run, others: Sequence[Run]) -> list[str]:
    """The choices that set it apart from others of its name, a word for each."""
    recipe = run.recipe
    parts = (Learning, Size, Symbols, Splitting, Normalization)
    names = {name for other in others for name in recipe.differing(other.recipe, *parts)}
    return [_told(recipe, name) for name in CHOICES if name in names][:MOST_NAMED]


def _told(recipe: Recipe, name: str) -> str:
    value = getattr(recipe, name)
    title = title_of(name).lower()
    if name == "ties":  # the names of the rules would not tell what they are of
        return f"{title} {value}"
    if isinstance(value, bool):
        return title if value else f"not {title}"
    if isinstance(value, tuple):
        return f"{len(value)} {title}" if value else f"no {title}"
    return f"{title} {value:,}" if isinstance(value, int) else f"no {title}" if value is None else f"{value}"
