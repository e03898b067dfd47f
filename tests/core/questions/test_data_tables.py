"""Tests of tables of exact values: plain code recomputes the values, and every file format keeps them."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.errors import OutputError
from bpe_core.insight.pairs import ties
from bpe_core.methods.bpe.reference import train
from bpe_core.questions.compression import Compression
from bpe_core.questions.lengths import Lengths
from bpe_core.questions.race import Race
from bpe_core.questions.ranks import Ranks
from bpe_core.questions.sizes import Sizes
from bpe_core.questions.steps import steps_table
from bpe_core.questions.ties import Ties
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.study import Study
from bpe_core.studies.texts import KnownWords
from bpe_core.support.data_table import DataTable, csv_text, write_data

WORDS = {"low": 5, "lower": 2, "newest": 6, "widest": 3, '␣, "\n': 2, "nöd": 1}
CELLS = st.none() | st.integers(-(2**63), 2**63 - 1)
TEXTS = st.none() | st.text(st.characters(codec="utf-8") | st.sampled_from("\r\n\v\x85\u2028"), max_size=5)


@example([(1, 0.5, "a\rb", True)])
@given(st.lists(st.tuples(CELLS, st.floats(), TEXTS, st.booleans()), max_size=4))
def test_values_written_as_csv_or_tsv_or_json_are_read_back_unchanged(rows: list[tuple[Any, ...]]) -> None:
    whole, part, text, truth = ([row[place] for row in rows] for place in range(4))
    table = DataTable({"n": whole, "x": np.array(part, np.float64), 't, "': text, "is": truth})
    back = list(csv.DictReader(io.StringIO(csv_text(table, "\t"), newline=""), delimiter="\t"))
    assert [row["n"] for row in back] == ["" if value is None else str(value) for value in whole]
    assert [row["x"] for row in back] == [repr(value) if math.isfinite(value) else "" for value in part]
    assert [row['t, "'] for row in back] == [value or "" for value in text]


def test_the_ending_of_a_data_file_chooses_its_format(tmp_path: Path) -> None:
    table = DataTable(
        {"n": [1, None], "x": np.array([1 / 3, np.nan]), "t": ['a,\t"b\n', None], "many": [("a", "b"), ()]}
    )
    expected = [
        {"n": 1, "x": 1 / 3, "t": 'a,\t"b\n', "many": ["a", "b"]},
        {"n": None, "x": None, "t": None, "many": []},
    ]
    write_data(table, tmp_path / "t.json")
    write_data(table, tmp_path / "t.parquet")
    assert json.loads((tmp_path / "t.json").read_text(encoding="utf-8")) == expected
    assert parquet.read_table(tmp_path / "t.parquet").to_pylist() == expected
    for ending, separator in ((".csv", ","), (".tsv", "\t")):
        write_data(table, tmp_path / f"t{ending}")
        with (tmp_path / f"t{ending}").open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file, delimiter=separator))
        assert rows == [["n", "x", "t", "many"], ["1", repr(1 / 3), 'a,\t"b\n', "a, b"], ["", "", "", ""]]
    for name in ("t.xlsx", "t"):
        with pytest.raises(OutputError, match=r"\.csv, \.tsv, \.json, \.parquet"):
            write_data(table, tmp_path / name)


def test_the_data_tables_of_a_run_match_a_plain_python_computation() -> None:
    words = WordTable.from_counts(WORDS)
    history = train(words, Recipe.preset("gpt2", merges=12))
    study = Study(history, KnownWords(words), texts_are_own=True)
    cut = {word: list(word.encode()) for word in WORDS}
    lengths, stairs = [sum(len(ids) * WORDS[word] for word, ids in cut.items())], [_pairs(cut)]
    for left, right in history.pairs():
        cut = {word: _join_pair(ids, left, right, 256 + len(lengths) - 1) for word, ids in cut.items()}
        lengths.append(sum(len(ids) * WORDS[word] for word, ids in cut.items()))
        stairs.append(_pairs(cut))
    counts = Counter(id for word, ids in cut.items() for id in ids for _ in range(WORDS[word]))

    ranks = Ranks().answer(study).table.records()
    assert {row["id"]: row["count"] for row in ranks} == counts
    assert [row["rank"] for row in ranks] == list(range(1, len(counts) + 1))
    assert [row["count"] for row in ranks] == sorted(counts.values(), reverse=True)
    compressed = Compression().answer(study).table.records()
    assert [row["tokens"] for row in compressed] == lengths
    assert [row["base_symbols_per_token"] for row in compressed] == [lengths[0] / length for length in lengths]
    assert [row["tokens"] for row in Sizes().answer({"all": study}).table.records()] == lengths
    spelled = Counter(len(bytes.fromhex(row["hex"])) for row in DataTable(study.inside.columns(range(268))).records())
    assert {row["bytes"]: row["tokens"] for row in Lengths().answer(study).table.records()} == spelled

    for row in Race(steps=(4, 6)).answer(study).table.records():
        assert row["count"] == stairs[row["after_step"]][row["left_id"], row["right_id"]]
    listed = ties(history)
    tied = Ties().answer(study).table.records()
    assert [(row["step"], row["loser_step"]) for row in tied] == [(tie.step, tie.loser_step) for tie in listed] != []
    step = steps_table(study, [4]).records()[0]
    assert (step["step"], step["left_id"], step["right_id"], step["token_id"]) == (5, *history.pair(4), 260)
    assert bytes.fromhex(step["token_hex"]) == bytes.fromhex(step["left_hex"]) + bytes.fromhex(step["right_hex"])


def _pairs(cut: dict[str, list[int]]) -> Counter[tuple[int, int]]:
    """Count how often each pair can be joined. If two occurrences of a pair overlap, only one counts.

    `cut` has the token ids of each word.
    """
    counts: Counter[tuple[int, int]] = Counter()
    for word, ids in cut.items():
        for pair in set(pairwise(ids)):
            counts[pair] += WORDS[word] * (len(ids) - len(_join_pair(ids, *pair, -1)))
    return counts


def _join_pair(ids: list[int], left: int, right: int, id: int) -> list[int]:
    made: list[int] = []
    for symbol in ids:
        if made and (made[-1], symbol) == (left, right):
            made[-1] = id
        else:
            made.append(symbol)
    return made
