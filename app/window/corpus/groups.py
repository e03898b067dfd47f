"""The groups of texts in the list: their rows, their editable lines, and the order of rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from app.session.corpus_texts import IN_NONE, CorpusText, CorpusTexts
from app.session.counts import Outcome, TextCount
from app.window.parts.wording import count_text, size_text
from bpe_core.text.mixture import By, Group, Mixture, share_text, weight_of


@dataclass(frozen=True)
class GroupRow:
    name: str

    @property
    def title(self) -> str:
        return self.name or IN_NONE


Rows = list[GroupRow | CorpusText]
T = TypeVar("T")


def rows_of(texts: Sequence[CorpusText]) -> Rows:
    """Return the rows of the list: a heading for each group, followed by the texts of the group.

    If there are no groups, return only the texts.
    """
    rows: Rows = []
    last = ""
    for text in texts:
        if text.group != last or not rows:
            last = text.group
            rows.append(GroupRow(last))
        rows.append(text)
    has_groups = any(text.group for text in texts)
    return rows if has_groups else list(texts)


def line_of_group(row: GroupRow, mixture: Mixture) -> str:
    """Return the editable line of a group, such as `de = 70 %`."""
    return f"{row.title} = {_weight(mixture.of(row.name), mixture)}"


def read_group_line(line: str, row: GroupRow, mixture: Mixture) -> tuple[str, Fraction, By]:
    """Return the name, the weight and the kind of weight in an edited line.

    If the line lacks one of them, return the old value.
    """
    name, equals, weight = line.rpartition("=")
    name = (name if equals else line).strip()
    name = "" if name == IN_NONE else name or row.name
    if not equals or not weight.strip():
        return name, mixture.of(row.name).weight, mixture.by
    by: By = "times"
    if weight.strip().endswith("%"):
        by = "bytes" if mixture.by == "times" else mixture.by
    return name, weight_of(weight.replace("×", "")), by


def weight_text(group: Group, mixture: Mixture, sizes: dict[str, int]) -> str:
    """Return the weight of a group as text. If the group is the dev text of another group, return its role.

    If the weight is a share and the `sizes` are known, the text also says how many times the group is counted.
    """
    if group.dev_of:
        return group.role
    parts = [_weight(group, mixture) if mixture.by == "times" else f"{_weight(group, mixture)} of {mixture.by}"]
    if mixture.by != "times" and group.weight and sizes.get(group.name):
        known = [sizes[other.name] / other.weight for other in mixture.groups if other.weight and sizes.get(other.name)]
        parts.append(f"{float(group.weight * max(known) / sizes[group.name]):.3g} ×")
    return " · ".join(parts)


def sample_text(group: Group) -> list[str]:
    """Return phrases that say how a group is used: its sample, the removal of duplicates, and its ratio.

    The list is empty if the whole group is used and has no ratio.
    """
    parts = []
    sample = group.sample
    if sample.first_bytes is not None:
        parts.append(f"first {size_text(sample.first_bytes)}")
    if sample.fraction < 1:
        draw = f", draw {sample.seed}" if sample.seed else ""
        but = "all but " if sample.rest else ""
        parts.append(f"{but}{share_text(sample.fraction)} of the {sample.of}{draw}")
    if group.unique:
        parts.append(f"no {group.unique} twice")
    if group.ratio is not None:
        parts.append(group.role)
    return parts


def group_size_text(texts: Iterable[CorpusText], sizes: dict[int, int], outcomes: Iterable[Outcome | None]) -> str:
    numbers = [text.number for text in texts]
    counted = [count for count in outcomes if isinstance(count, TextCount) and not count.is_of_group]
    in_folders = [count for count in counted if count.files > 1]
    files = len(numbers) + sum(count.files - 1 for count in in_folders)
    size = sum(sizes.get(number, 0) for number in numbers) + sum(count.size for count in in_folders)
    return f"{count_text(files, 'text')} · {size_text(size)}"


def _weight(group: Group, mixture: Mixture) -> str:
    if mixture.by != "times":
        return share_text(group.weight)
    number = group.weight
    return f"{number} ×" if number.denominator > 1 and 10**6 % number.denominator else f"{float(number):g} ×"


def texts_of(rows: Sequence[GroupRow | CorpusText]) -> CorpusTexts:
    """Return the texts in these rows. A text belongs to the group of the heading above it."""
    texts: list[CorpusText] = []
    group = ""
    for row in rows:
        if isinstance(row, GroupRow):
            group = row.name
        else:
            texts.append(row if row.group == group else replace(row, group=group))
    return tuple(texts)


def move_texts(rows: Sequence[GroupRow | CorpusText], chosen: Collection[int], place: int) -> Rows:
    """Return the rows after moving the chosen texts to a position, which may be in another group."""
    chosen = [row for row in sorted(chosen) if isinstance(rows[row], CorpusText)]
    others = [content for row, content in enumerate(rows) if row not in set(chosen)]
    place = max(place, 1) if others and isinstance(others[0], GroupRow) else place
    return [*others[:place], *(rows[row] for row in chosen), *others[place:]]


def shift_rows(rows: Sequence[GroupRow | CorpusText], chosen: Collection[int], by: int) -> Rows:
    """Return the rows after moving the chosen rows up (-1) or down (1). A heading moves with its whole group."""
    groups = {row.name for row in (rows[place] for place in chosen) if isinstance(row, GroupRow)}
    if groups:
        blocks: list[Rows] = [
            [row, *(text for text in rows if isinstance(text, CorpusText) and text.group == row.name)]
            for row in rows
            if isinstance(row, GroupRow)
        ]
        moving = {
            place for place, (head, *_) in enumerate(blocks) if isinstance(head, GroupRow) and head.name in groups
        }
        return [row for block in _swap_with_neighbours(blocks, moving, by) for row in block]
    has_groups = isinstance(rows[0], GroupRow)
    return [*rows[:has_groups], *_swap_with_neighbours(rows[has_groups:], {row - has_groups for row in chosen}, by)]


def _swap_with_neighbours(things: Sequence[T], moving: Collection[int], by: int) -> list[T]:
    """Return a list with some items moved one position up (-1) or down (1). `moving` contains their positions.

    The first item cannot move up, and the last item cannot move down. A moving item next to an item that cannot move
    cannot move either.
    """
    stepped = list(things)
    fixed = -1 if by < 0 else len(things)
    for place in sorted(moving, reverse=by > 0):
        if place + by == fixed:
            fixed = place
        else:
            stepped[place], stepped[place + by] = stepped[place + by], stepped[place]
    return stepped
