"""Tests of tables with a reason for each step and a score for each token.

Written tables are read back unchanged, and damage is reported.
"""

from __future__ import annotations

import csv
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bpe_core.command_line.main import run
from bpe_core.errors import FormatError, OutputError
from bpe_core.formats import FORMATS, Format, read_history, text_tables, write_history
from bpe_core.history.history import History
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from bpe_core.verification.checking import prepare_export
from tests import dropping_method
from tests.core.formats.tables import every_format, read_at_once_only, read_row_by_row, table_bytes
from tests.core.learning import all_columns, train
from tests.shared import text_of

TEXT = text_of("prose")[:3_000]
RECIPES: dict[str, dict[str, Any]] = {
    "count": dict(preset="bert"),
    "score": dict(preset="wordpiece"),
    "gage": dict(preset="gage", block_size=1_000),
    "unigram": dict(preset="unigram", special_tokens=("<s>",)),
    "unigram, bytes": dict(preset="unigram", unknown="bytes", alphabet_limit=20),
}
every_recipe = pytest.mark.parametrize("name", RECIPES)


@cache
def learn_by_method(name: str) -> History:
    choices = dict(RECIPES[name])
    recipe = Recipe.preset(choices.pop("preset"), vocab_size=None, merges=60, **choices)
    return train(Corpus.from_texts([TEXT]), recipe)


def assert_the_same_in_all(first: History, second: History) -> None:
    assert (first.recipe, first.alphabet, all_columns(first)) == (second.recipe, second.alphabet, all_columns(second))
    assert (first.tokens_at_start, first.end_reason) == (second.tokens_at_start, second.end_reason)
    assert first.tied.tolist() == second.tied.tolist()
    assert first.reasons.keys() == second.reasons.keys()
    for name, column in first.reasons.items():
        assert column.dtype == second.reasons[name].dtype
        assert np.array_equal(column, second.reasons[name], equal_nan=column.dtype.kind == "f")
    assert (first.scores is None) == (second.scores is None)
    for at in (0, len(first) // 2, len(first)) if first.scores is not None and second.scores is not None else ():
        assert np.array_equal(first.scores.at(at), second.scores.at(at), equal_nan=True)  # type: ignore[union-attr]
    for at in (0, len(first) // 2, len(first)):
        assert Tokenizer(first).encode(TEXT[:500], at=at) == Tokenizer(second).encode(TEXT[:500], at=at)


@every_format
@every_recipe
def test_a_table_of_each_method_is_read_back_unchanged(format: Format, name: str) -> None:
    history = learn_by_method(name)
    with read_at_once_only():
        assert_the_same_in_all(format.read(table_bytes(history, format), "table"), history)
    with read_row_by_row():
        assert_the_same_in_all(format.read(table_bytes(history, format, 25), "table"), history.first(25))


@every_recipe
def test_an_exported_table_of_each_method_is_verified(name: str, tmp_path: Path) -> None:
    verification = prepare_export(learn_by_method(name), tmp_path / "table.json").verification
    assert verification.agrees, verification.differences
    assert verification.cannot_hold == ()


def test_a_table_of_a_plug_in_method_can_be_written_and_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(METHODS, "dropping", dropping_method.METHOD)
    recipe = Recipe.preset("words", base="bytes", method="dropping", vocab_size=290)
    history = train(Corpus.from_texts([TEXT[:100]]), recipe)
    for name in ("table.csv", "table.json"):
        write_history(history, tmp_path / name)
        assert_the_same_in_all(read_history(tmp_path / name), history)


def test_reasons_and_scores_of_a_method_are_columns_of_a_csv_table() -> None:
    rows = list(
        csv.DictReader(io.StringIO(table_bytes(learn_by_method("unigram"), FORMATS["csv"]).decode()), strict=True)
    )
    assert {len(row) for row in rows} == {len(rows[0])}
    assert (rows[0]["kind"], rows[0]["right"], rows[0]["left_text"]) == ("drop", "", rows[0]["token"])
    assert int(rows[0]["round"]) == learn_by_method("unigram")[0].reasons["round"]
    seed = next(row for row in rows if row["kind"] == "seed")
    assert all(float(score) < 0 for score in seed["scores"].split(";"))
    score = json.loads(table_bytes(learn_by_method("score"), FORMATS["json"]))
    assert score["reasons"] == {"left_count": "<i8", "right_count": "<i8", "tied": "|b1"}
    first = learn_by_method("score")[0]
    assert score["merges"][0]["left_count"] == first.reasons["left_count"]


@pytest.mark.parametrize("preset", ["wordpiece", "unigram"])
def test_the_train_and_encode_commands_work_with_tables_of_each_method(
    preset: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text, table = tmp_path / "text.txt", tmp_path / "table.csv"
    text.write_text(TEXT, encoding="utf-8")
    options = ["--preset", preset, "--merges", "50", "--quiet", "--output", str(table)]
    assert run(["train", str(text), *options]) == 0
    assert run(["encode", "and that", "--at", "20", "--merges", str(table)]) == 0
    printed = capsys.readouterr().out.split()[-100:]
    assert [int(id) for id in printed] == Tokenizer(read_history(table)).encode("and that", at=20)


def changed_table(**entries: object) -> bytes:
    """Return a JSON table of a Unigram vocabulary in which some values are replaced."""
    whole = json.loads(table_bytes(learn_by_method("unigram"), FORMATS["json"]))
    for path, value in entries.items():
        inside = whole
        *keys, last = path.split("__")
        for key in keys:
            inside = inside[int(key) if key.isdigit() else key]
        inside[last] = value
    return json.dumps(whole).encode()


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ({"reasons": {"loss": "<f8"}, "merges__3__loss": "much"}, r"merge 4: 'much' is not a valid value"),
        ({"reasons": {"loss": "<i4"}, "merges__0__loss": 2**40}, r"merge 1: '1099511627776' is not a valid value"),
        ({"reasons": {"left": "<i4"}}, r"the reasons of the steps are damaged"),
        ({"reasons": {"loss": "float"}}, r"the reasons of the steps are damaged"),
        ({"reasons": ["loss"]}, r"the reasons of the steps are damaged"),
        ({"scores_since": None}, r"its tokens have no scores"),
        ({"scores_since": [0, -1]}, r"the scores of the tokens are damaged"),
        ({"scores_since": [1]}, r"the scores of the tokens are damaged"),
        ({"scores_since": [0, 10**6]}, r"the scores of the tokens are damaged"),
        ({"scores_since": "0"}, r"the scores of the tokens are damaged"),
        ({"alphabet__5__scores": [-1.0]}, r"the scores of the tokens are damaged"),
        ({"alphabet__5__scores": None}, r"the scores of the tokens are damaged"),
        ({"merges__1__left": 10**6}, r"merge 2: the step merges the token 1000000, which does not exist yet"),
        ({"merges__1__runner_up_left": 10**6}, r"merge 2: the runner-up"),
    ],
    ids=lambda value: repr(value)[:50],
)
def test_damage_in_a_json_table_is_reported_with_its_position(entries: dict[str, object], sentence: str) -> None:
    with pytest.raises(FormatError, match=rf"odd\.json.*{sentence}"):
        FORMATS["json"].read(changed_table(**entries), "odd.json")


def test_a_table_that_drops_a_token_twice_is_refused() -> None:
    first = learn_by_method("unigram")[0].left
    with pytest.raises(FormatError, match=rf"merge 2: the step uses the token {first:,}, which was dropped earlier"):
        FORMATS["json"].read(changed_table(merges__1__left=first), "odd.json")


def test_writing_a_json_table_with_too_many_pieces_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_tables, "MOST_SYMBOLS", 100)
    with pytest.raises(OutputError, match=r"pieces is too large to be read again\. Choose csv instead"):
        table_bytes(learn_by_method("unigram"), FORMATS["json"])


def test_an_unknown_extra_column_of_a_table_is_refused() -> None:
    data = table_bytes(learn_by_method("score"), FORMATS["csv"]).replace(
        b"left_count,right_count\n", b"left_count,other\n", 1
    )
    with pytest.raises(FormatError, match=r"line 1: after the columns that every .* left_count, right_count"):
        FORMATS["csv"].read(data, "odd.csv")
