"""What is told of a run on texts: the race of its pairs, what each size would mean, where two part ways."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bpe_core.data_table import DataTable, Values
from bpe_core.exact.tokens import TokenColumns
from bpe_core.history.history import History, Int64s
from bpe_core.measures.measured_sizes import MeasuredSizes
from bpe_core.measures.size_curves import SizeCurves
from bpe_core.token_texts import shown

if TYPE_CHECKING:
    from bpe_core.insight.race import Runner
    from bpe_core.insight.table_comparison import DifferingMerge
    from bpe_core.measures.bits_per_byte import BitsPerByte

Curves = SizeCurves | MeasuredSizes
Numbered = tuple[History, Int64s | None]  # with the file's number of each id, where it came from one
Stairs = Sequence[tuple[int, int]]  # from which state on there is which count


def race(runners: Sequence[Runner], tokens: TokenColumns) -> DataTable:
    """A row for each time a pair's count changes: from which step on it holds, and when the pair won, if it did."""
    times = [len(runner.counts) for runner in runners]
    return DataTable(
        {
            **tokens.of(np.repeat([runner.pair[0] for runner in runners], times).tolist(), "left_"),
            **tokens.of(np.repeat([runner.pair[1] for runner in runners], times).tolist(), "right_"),
            "after_step": [step for runner in runners for step in (runner.born, *(runner.falls + 1).tolist())],
            "count": [count for runner in runners for count in runner.counts.tolist()],
            "won_at": [runner.won_at for runner in runners for _ in runner.counts],
        }
    )


def life(token: int, curve: Stairs, pair_curve: Stairs, tokens: TokenColumns) -> DataTable:
    """A row for each time its count changes: from which step on it holds; before its birth, of its pair."""
    rows = [("pair", *one) for one in pair_curve] + [("token", *one) for one in curve]
    return DataTable(
        {
            **tokens.of([token] * len(rows)),
            "of": [of for of, _, _ in rows],
            "after_step": np.array([step for _, step, _ in rows], np.int64),
            "count": np.array([count for _, _, count in rows], np.int64),
        }
    )


def sizes(curves: Mapping[str, Curves]) -> DataTable:
    """Every size that is known, text by text; scaffolds only where pairs are joined."""
    parts = [_of_text(name, one) for name, one in curves.items()]
    if not parts:
        return DataTable({})
    return DataTable({name: [value for part in parts for value in part[name]] for name in parts[0]})


def _of_text(name: str, curves: Curves) -> dict[str, Values]:
    measured = isinstance(curves, MeasuredSizes)
    order = np.argsort(curves.steps) if isinstance(curves, MeasuredSizes) else np.arange(len(curves.tokens))
    scaffolds = None if measured else curves.share_of_scaffolds.tolist()  # type: ignore[union-attr]
    return {
        "text": [name] * len(order),
        "step": (curves.steps[order] if isinstance(curves, MeasuredSizes) else order).tolist(),
        "vocabulary": (curves.sizes if isinstance(curves, MeasuredSizes) else curves.vocabulary)[order].tolist(),
        "bytes": [int(curves.bytes)] * len(order),
        "words": [int(curves.words)] * len(order),
        "tokens": curves.tokens[order].tolist(),
        "bytes_per_token": curves.bytes_per_token[order].tolist(),
        "tokens_per_word": curves.tokens_per_word[order].tolist(),
        "renyi_efficiency": curves.renyi_efficiency[order].tolist(),
        "share_in_use": curves.share_in_use[order].tolist(),
        "share_of_scaffolds": [math.nan] * len(order) if scaffolds is None else scaffolds,
    }


def bits(found: Mapping[str, BitsPerByte]) -> DataTable:
    """Held-out bits per byte of every size that was measured, text by text."""
    return DataTable(
        {
            "text": [name for name, one in found.items() for _ in one.bits],
            "step": [step for one in found.values() for step in one.steps.tolist()],
            "vocabulary": [size for one in found.values() for size in one.sizes.tolist()],
            "bits_per_byte": [number for one in found.values() for number in one.bits.tolist()],
        }
    )


def differing(merges: Sequence[DifferingMerge], one: Numbered, other: Numbered) -> DataTable:
    """Merges that stand at different places in two tables, with their ids in each; steps count from 1."""
    columns: dict[str, Values] = {}
    for side, texts in (("left_", [merge.left for merge in merges]), ("right_", [merge.right for merge in merges])):
        columns[f"{side}hex"] = [text.hex(" ") for text in texts]
        columns[f"{side}text"] = [shown(text) for text in texts]
    places = ("", one, [merge.place for merge in merges]), ("other_", other, [merge.other_place for merge in merges])
    for name, _, known in places:
        columns[f"{name}step"] = [None if place is None else place + 1 for place in known]
    for name, table, known in places:
        pairs = [_pair(table, place) for place in known]
        columns[f"{name}left_id"] = [left for left, _ in pairs]
        columns[f"{name}right_id"] = [right for _, right in pairs]
    return DataTable(columns)


def _pair(table: Numbered, place: int | None) -> tuple[int | None, int | None]:
    """The ids of the two that are joined there, as the file has them that the table came from."""
    history, numbers = table
    if place is None:
        return None, None
    left, right = history.pair(place)
    return (left, right) if numbers is None else (int(numbers[left]), int(numbers[right]))
