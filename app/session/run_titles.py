"""What runs are called, so that two of them are never called alike where anything tells them apart."""

from __future__ import annotations

from collections.abc import Sequence

from app.session.run import Run
from bpe_core import run_titles

MOST_TURNS = 6  # that are told in words


def name_of(run: Run, runs: Sequence[Run]) -> str:
    """Its number and its title among the others."""
    return run_titles.name_of(run, runs, _text)


def titles_of(runs: Sequence[Run]) -> list[str]:
    """What each is called: by its recipe, and where several are called alike, by what differs, too."""
    return [run_titles.title_among(run, runs, _text) for run in runs]


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


def turns_of(run: Run | None) -> tuple[tuple[int, ...], str]:
    """After how many steps a run was steered or began to go on from a table, and what is said of that."""
    if run is None:
        return (), ""
    recipe = run.recipe
    moments = {one.step - 1 for one in recipe.interventions} | ({recipe.grown_from} - {0})
    told = [f"The table that was extended ends at {recipe.grown_from:,}."] if recipe.grown_from else []
    told += [f"Steered by hand at {one.step:,}." for one in recipe.interventions[:MOST_TURNS]]
    return tuple(sorted(moments)), "\n".join(told)


def _text(run: Run, id: int) -> str:
    return run.names.text[id] if run.names is not None and id < len(run.names.text) else f"#{id}"
