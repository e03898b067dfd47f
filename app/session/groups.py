"""Texts in groups, and how the groups are mixed: what comes of each thing that a person changes about it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from app.session.corpus_texts import CorpusText, CorpusTexts
from bpe_core.errors import RecipeError
from bpe_core.recipes.mixture import By, Group, Mixture
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.reading.folders import folders_in

IN_NONE = "in no group"  # what texts are called that are in none where others are in groups


def names_of(texts: CorpusTexts) -> tuple[str, ...]:
    """Return the names of groups in their order; the empty name is that of texts in no group."""
    return tuple(dict.fromkeys(text.group for text in texts))


def gathered(texts: CorpusTexts) -> CorpusTexts:
    """Sort texts by group, in the order in which the groups begin."""
    order = {name: place for place, name in enumerate(names_of(texts))}
    return tuple(sorted(texts, key=lambda text: order[text.group]))


def put_into(texts: CorpusTexts, groups: Mapping[int, str]) -> CorpusTexts:
    """Return the texts with other groups, by their numbers."""
    return gathered(tuple(dataclasses.replace(text, group=groups.get(text.number, text.group)) for text in texts))


def by_folder(texts: CorpusTexts, chosen: Collection[int]) -> dict[int, str]:
    """Return for each chosen file its folder, among those directly below their common one."""
    paths = {text.number: text.path for text in texts if text.number in chosen and text.path is not None}
    if not paths:
        return {}
    common = Path(os.path.commonpath([path.parent for path in paths.values()]))
    if all(path.parent == common for path in paths.values()):
        return {number: path.name if path.is_dir() else common.name for number, path in paths.items()}
    folders = {text.number for text in texts if text.is_folder}
    below = {number: path.relative_to(common).parts for number, path in paths.items()}
    return {number: parts[0] if len(parts) > 1 or number in folders else common.name for number, parts in below.items()}


def split_folder(folder: CorpusText) -> tuple[CorpusText, CorpusTexts]:
    """Return a folder that is one text, and what replaces it: each folder in it and the files beside."""
    assert folder.path is not None
    parts = [
        CorpusText(f"{path.name}/" if path.is_dir() else path.name, path, is_folder=path.is_dir(), group=name)
        for name, paths in folders_in(folder.path).items()
        for path in paths
    ]
    return folder, tuple(parts)


def renamed(mixture: Mixture, old: str, new: str) -> Mixture:
    """Rename a group; a group that has the new name already stays as it is."""
    known = {group.name for group in mixture.groups}
    groups = [group for group in mixture.groups if group.name != old or new not in known]
    fresh = tuple(dataclasses.replace(group, name=new) if group.name == old else group for group in groups)
    return _whole(fresh, mixture.by)


def weighed(mixture: Mixture, names: Sequence[str], name: str, weight: Fraction, by: By) -> Mixture:
    """Give one group another weight; where weights are shares, the others divide the rest as before."""
    groups = {one: mixture.of(one) for one in names}
    if by == "times":
        others = {one: group.weight if mixture.by == "times" else Fraction(1) for one, group in groups.items()}
    else:
        if not 0 <= weight <= 1:
            raise RecipeError("A share is something from 0 % to 100 %.")
        if len(names) == 1 and weight != 1:
            raise RecipeError("A single group is all there is: 100 %.")
        shared = mixture.by != "times"
        others = {one: group.weight if shared else Fraction(1) for one, group in groups.items()}
        rest = sum((share for one, share in others.items() if one != name), Fraction())
        if not rest:
            others = dict.fromkeys(names, Fraction(1))
            rest = Fraction(max(1, len(names) - 1))
        others = {one: share * (1 - weight) / rest for one, share in others.items()}
    weights = {**others, name: weight}
    return Mixture(tuple(dataclasses.replace(group, weight=weights[one]) for one, group in groups.items()), by)


def fitted(mixture: Mixture, before: Collection[str], after: Sequence[str]) -> Mixture:
    """Fit a mixture to other groups: forget those that are gone, and give new ones an equal share."""
    gone = set(before) - set(after)
    groups = [group for group in mixture.groups if group.name not in gone]
    fitting = _whole(tuple(groups), mixture.by)
    for name in after:
        if fitting.by != "times" and name not in before and name not in {group.name for group in fitting.groups}:
            names = [*(group.name for group in fitting.groups), name]
            fitting = weighed(fitting, names, name, Fraction(1, len(names)), fitting.by)
    return fitting


def _whole(groups: tuple[Group, ...], by: By) -> Mixture:
    """Make shares add up to 1 again; if nothing is left of them, count every group once."""
    whole = sum((group.weight for group in groups), Fraction())
    if by != "times" and whole:
        return Mixture(tuple(dataclasses.replace(group, weight=group.weight / whole) for group in groups), by)
    if not whole:
        return Mixture(tuple(dataclasses.replace(group, weight=Fraction(1)) for group in groups))
    return Mixture(groups, by)


@dataclass(frozen=True)
class Unit:
    """What is counted together: a text, or all texts of a group that is taken only in part."""

    sources: CorpusTexts
    choice: Group | None  # None: everything, of one text
    key: object  # what its count is remembered by; weights are no part of it


def units_of(texts: CorpusTexts, recipe: Recipe) -> dict[int, Unit]:
    """Return what is counted together with each text, by its number."""
    mixture, units, of_groups = recipe.mixture or Mixture(), {}, dict[str, Unit]()
    for text in texts:
        choice = dataclasses.replace(mixture.of(text.group), weight=Fraction(1))
        if choice.takes_all:
            units[text.number] = Unit((text,), None, text.key())
            continue
        if text.group not in of_groups:
            members = tuple(one for one in texts if one.group == text.group)
            key = (choice, tuple(one.key() for one in members))
            of_groups[text.group] = Unit(members, choice, key)
        units[text.number] = of_groups[text.group]
    return units
