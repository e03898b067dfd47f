"""Texts and groups in another order: what comes of the rows of the corpus when some are moved."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar

from app.session.corpus_texts import CorpusText, CorpusTexts
from app.window.corpus.groups import GroupRow

T = TypeVar("T")
Rows = list[GroupRow | CorpusText]


def texts_of(rows: Sequence[GroupRow | CorpusText]) -> CorpusTexts:
    """The texts in these rows, each in the group whose row stands above it."""
    texts: list[CorpusText] = []
    group = ""
    for row in rows:
        if isinstance(row, GroupRow):
            group = row.name
        else:
            texts.append(row if row.group == group else replace(row, group=group))
    return tuple(texts)


def placed(rows: Rows, chosen: Collection[int], place: int) -> Rows:
    """With the texts in the rows chosen before that place among the others, and so perhaps in another group."""
    chosen = [row for row in sorted(chosen) if isinstance(rows[row], CorpusText)]
    others = [one for row, one in enumerate(rows) if row not in set(chosen)]
    place = max(place, 1) if others and isinstance(others[0], GroupRow) else place
    return [*others[:place], *(rows[row] for row in chosen), *others[place:]]


def shifted(rows: Rows, chosen: Collection[int], by: int) -> Rows:
    """With the rows chosen one further up (-1) or down (1); a group, chosen by its row, with all that is in it."""
    groups = {row.name for row in (rows[one] for one in chosen) if isinstance(row, GroupRow)}
    if groups:
        blocks: list[Rows] = [
            [row, *(one for one in rows if isinstance(one, CorpusText) and one.group == row.name)]
            for row in rows
            if isinstance(row, GroupRow)
        ]
        moving = {
            place for place, (head, *_) in enumerate(blocks) if isinstance(head, GroupRow) and head.name in groups
        }
        return [one for block in _stepped(blocks, moving, by) for one in block]
    has_groups = isinstance(rows[0], GroupRow)
    return [*rows[:has_groups], *_stepped(rows[has_groups:], {row - has_groups for row in chosen}, by)]


def _stepped(things: Sequence[T], moving: Collection[int], by: int) -> list[T]:
    """Each of those moving past its neighbour, unless that is the end, or one that could not move."""
    found, fixed = list(things), -1 if by < 0 else len(things)
    for place in sorted(moving, reverse=by > 0):
        if place + by == fixed:
            fixed = place
        else:
            found[place], found[place + by] = found[place + by], found[place]
    return found
