"""Runs that differ only in what chance drew for them: a line for all, with the band of their seeds.

>>> from fractions import Fraction
>>> from bpe_core.mixture import Group, Mixture, Sample
>>> drawn = lambda seed: Mixture((Group("", sample=Sample(None, Fraction(1, 2), "documents", seed)),))
>>> recipes = {f"Run {seed}: gpt2": Recipe.preset("gpt2", mixture=drawn(seed)) for seed in (1, 2)}
>>> found = samples_of({name: (recipe, "book") for name, recipe in recipes.items()} | {"other": (Recipe(), "book")})
>>> [*found], found["Run 2: gpt2"]
(['Run 1: gpt2', 'Run 2: gpt2'], Drawn(line='Run 1: gpt2, 2 samples', seed=2))
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import NamedTuple

from bpe_core.recipe import Recipe

OF_A_SWEEP = re.compile(r", sample \d+$")  # behind the names of runs that a sweep keeps

Learned = tuple[Recipe, Hashable]  # and what tells the texts of a run


class Drawn(NamedTuple):
    """One of several samples."""

    line: str  # what all of them are called together
    seed: int


def samples_of(runs: Mapping[str, Learned]) -> dict[str, Drawn]:
    """By the names of runs those that have others beside them, learned from other samples of the same texts."""
    alike: dict[Hashable, dict[str, tuple[int, ...]]] = {}
    for name, (recipe, texts) in runs.items():
        seeds = _seeds(recipe)
        if seeds:
            alike.setdefault((_without_seeds(recipe), texts), {})[name] = seeds
    found = {}
    for members in alike.values():
        differing = [place for place, one in enumerate(zip(*members.values(), strict=True)) if len({*one}) > 1]
        if differing:
            line = f"{OF_A_SWEEP.sub('', next(iter(members)))}, {len(members)} samples"
            found.update({name: Drawn(line, seeds[differing[0]]) for name, seeds in members.items()})
    return found


def _seeds(recipe: Recipe) -> tuple[int, ...]:
    """Of the groups of which chance takes a part."""
    groups = () if recipe.mixture is None else recipe.mixture.groups
    return tuple(group.sample.seed for group in groups if group.sample.fraction != 1)


def _without_seeds(recipe: Recipe) -> Recipe:
    assert recipe.mixture is not None  # it has seeds
    groups = (replace(group, sample=replace(group.sample, seed=0)) for group in recipe.mixture.groups)
    return recipe.with_changes(name="", mixture=replace(recipe.mixture, groups=tuple(groups)))
