"""What was found, and where it is looked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from app.window.find_anything.matching import fit


@dataclass(frozen=True)
class Found:
    """One thing that can be chosen."""

    title: str
    kind: str  # where it belongs, such as the way through the menus
    choose: Callable[[], object]
    keys: str = ""  # by which it is reached otherwise
    is_token: bool = False


@dataclass(frozen=True)
class Fitting:
    """Something found, and how well it fits what was typed."""

    rank: int
    found: Found


Search = Callable[[str], Iterable[Fitting]]  # in one kind of things, the best first


def among(offered: Iterable[Found]) -> Search:
    """Finds those whose title fits, or the title together with the kind: "theme dark" as well as "dark"."""
    known = tuple(offered)

    def search(typed: str) -> list[Fitting]:
        fitting = []
        for found in known:
            ranks = (fit(typed, found.title), fit(typed, f"{found.kind} {found.title}"))
            if any(rank is not None for rank in ranks):
                fitting.append(Fitting(min(rank for rank in ranks if rank is not None), found))
        return fitting

    return search


def best(typed: str, searches: Sequence[Search]) -> list[Found]:
    """All that fits, the best first; of two that fit as well, the one of the earlier search."""
    return [one.found for one in sorted(chain(*(search(typed) for search in searches)), key=lambda one: one.rank)]
