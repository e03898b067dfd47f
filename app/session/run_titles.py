"""What runs are called, so that two of them are never called alike where anything tells them apart."""

from __future__ import annotations

from collections.abc import Sequence

from app.session.run import Run
from bpe_core import Recipe
from bpe_core.choice_titles import title_of
from bpe_core.recipe import CHOICES, Learning, Normalization, Size, Splitting, Symbols

MOST_TURNS = 6  # that are told in words
MOST_NAMED = 2  # choices by which two runs of one name are told apart


def name_of(run: Run, runs: Sequence[Run]) -> str:
    """Its number and its title among the others."""
    return f"Run {run.number}: {_title(run, runs)}"


def titles_of(runs: Sequence[Run]) -> list[str]:
    """What each is called: by its recipe, and where several are called alike, by what differs, too."""
    return [_title(run, runs) for run in runs]


def _title(run: Run, runs: Sequence[Run]) -> str:
    alike = [other for other in runs if other.recipe.name == run.recipe.name and other is not run]
    alike = [other for other in alike if other.parent != run.number]  # which says itself what is different there
    return run.recipe.name + "".join(f", {told}" for told in _what_differs(run, alike))


def changed_name(name: str, change: str) -> str:
    """What a table is called that was made of one of that name.

    >>> changed_name("gpt2", "trimmed"), changed_name("gpt2, trimmed", "trimmed")
    ('gpt2, trimmed', 'gpt2, trimmed')
    """
    return name if name.endswith(f", {change}") else f"{name}, {change}"


def as_tree(runs: Sequence[Run]) -> list[tuple[Run, int]]:
    """The newest first, and below each those that go on from it; with how deep each stands."""
    known = {run.number for run in runs}
    found: list[tuple[Run, int]] = []
    waiting = [(run, 0) for run in runs if run.parent not in known]
    while waiting:
        run, depth = waiting.pop()
        found.append((run, depth))
        waiting += [(child, depth + 1) for child in runs if child.parent == run.number]
    return found


def _what_differs(run: Run, others: Sequence[Run]) -> list[str]:
    """The choices that set it apart from others of its name, a word for each."""
    recipe = run.recipe
    parts = (Learning, Size, Symbols, Splitting, Normalization)
    recipes = {id(other.recipe): other.recipe for other in others if other.recipe is not recipe}  # many runs share one
    names = {name for other in recipes.values() for name in recipe.differing(other, *parts)}
    if recipe.grown_from:
        names -= {"vocab_size", "merges"}
    return (_steering(run) + [_told(recipe, name) for name in CHOICES if name in names])[:MOST_NAMED]


def turns_of(run: Run | None) -> tuple[tuple[int, ...], str]:
    """After how many steps a run was steered or began to go on from a table, and what is said of that."""
    if run is None:
        return (), ""
    recipe = run.recipe
    moments = {one.step - 1 for one in recipe.interventions} | ({recipe.grown_from} - {0})
    told = [f"The table that was extended ends at {recipe.grown_from:,}."] if recipe.grown_from else []
    told += [f"Steered by hand at {one.step:,}." for one in recipe.interventions[:MOST_TURNS]]
    return tuple(sorted(moments)), "\n".join(told)


def _steering(run: Run) -> list[str]:
    """What was decided by hand last."""
    recipe, told = run.recipe, []
    if recipe.interventions:
        last = recipe.interventions[-1]
        pair = " + ".join(_text(run, id) for id in last.pair)
        told.append(f"no {pair} from {last.step:,}" if last.act == "forbid" else f"{pair} forced at {last.step:,}")
    return told


def _text(run: Run, id: int) -> str:
    return run.names.text[id] if run.names is not None and id < len(run.names.text) else f"#{id}"


def _told(recipe: Recipe, name: str) -> str:
    value = getattr(recipe, name)
    title = title_of(name).lower()
    if name in ("ties", "pattern"):  # whose names would not tell what they are of
        return f"{title} {value}"
    if isinstance(value, bool):
        return title if value else f"not {title}"
    if isinstance(value, tuple):
        return f"{len(value)} {title}" if value else f"no {title}"
    return f"{title} {value:,}" if isinstance(value, int) else f"no {title}" if value is None else f"{value}"
