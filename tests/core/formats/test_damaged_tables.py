"""Tests of damaged merge tables: reading refuses them and names the place and the damage."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.errors import FormatError, TooLarge
from bpe_core.formats import FORMATS, Format, text_tables
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.recipes.recipe import Recipe
from tests.conftest import EXAMPLES
from tests.core.formats.tables import assert_same, every_format, learn_recipe, read_row_by_row, table_bytes


def small_table(format: Format) -> bytes:
    return table_bytes(learn_recipe(Recipe.preset("words", marker="symbol"), {"low": 5, "lower": 2}), format)


# Each row: the text to replace, its replacement, and a part of the message. Merges are l+o, lo+w, low+</w>, ...
CSV_DAMAGE = [
    ("\n2,7,5,", "\n2,7,999,", r"line 3: the step merges the token 999, which does not exist yet"),
    ("\n2,7,5,", "\n2,7,8,", r"line 3: the step merges the token 8, which does not exist yet.*0 to 7"),
    ("\n2,7,5,", "\n2,7,-5,", r"line 3: .right. must be a whole number, not '-5'"),
    ("\n2,7,5,", "\n2,7,,", r"line 3: this step does not say which two tokens"),
    ("\n2,7,5,", "\n2,0,5,", r"line 3: .* is for unknown characters and is never merged"),
    ("\n2,7,5,", "\n2,2,3,", r"line 3: the step merges the same pair as merge 1"),
    ("\n2,7,5,", "\n3,7,5,", r"line 3: .step. is '3' but must be '2'"),
    ("\n1,2,3,7,", "\n1,2,3,9,", r"line 2: .id. is '9' but must be '7'"),
    (",l,o,lo,", ",l,o,1o,", r"line 2: .token. is '1o' but must be 'lo'"),
    (",6c 6f,2,", ",6c 6f,3,", r'line 2: "length"'),
    (",6c 6f,", ",6c 60,", r'line 2: "bytes"'),
    (",l,o,lo,", ",l,o,", r"line 2: the row has 17 cells, but should have 18"),
    (",l,o,lo,", ',l,o,"lo,', r"line 2: "),
    (",6c 6f,2,7,", ",6c 6f,2,99999999999999999999,", r"line 2: the count"),
    (",6c 6f,2,7,", ",6c 6f,2,9999999999999999999,", r"line 2: the count"),
    (",6c 6f,2,7,", ",6c 6f,2,seven,", r"line 2: .count. must be a whole number, not 'seven'"),
    (",unknown\n", ",byte\n", r"'<unk>' is not one character"),
    (",character\n", ",letter\n", r"no kind of base symbol named 'letter'"),
    (",unknown\n", ",unknown\n0,,,9,,,z,7a,1,,,,,,,,,special\n", r"rows of step 0"),
    ('""words""', '""words', r"line 15: the recipe is not valid JSON"),
    ('""words""', '""\\ud800""', r"line 15: the recipe is damaged"),
    ('""min_frequency"": 2', '""min_frequency"": 0', r"recipe is damaged. min_frequency must be at least 1"),
    ('""end_reason"": ""no pairs""', '""end_reason"": ""tired""', r"'tired' is not a known reason"),
    (",recipe\n", ",reciep\n", r"last row must hold the recipe"),
]


@pytest.mark.parametrize(("old", "new", "sentence"), CSV_DAMAGE, ids=lambda value: repr(value)[:40])
def test_a_damaged_csv_table_is_refused_with_a_line_number(old: str, new: str, sentence: str) -> None:
    text = small_table(FORMATS["csv"]).decode()
    assert old in text, text
    with pytest.raises(FormatError, match=sentence):
        FORMATS["csv"].read(text.replace(old, new, 1).encode(), "table.csv")


JSON_DAMAGE = [
    ('"left": 7, "right": 5', '"left": 7, "right": 8', r"line 38: the step merges the token 8, which does not exist"),
    ('"left": 7, "right": 5', '"left": 2, "right": 3', r"line 38: the step merges the same pair as merge 1"),
    ('"left": 7, "right": 5', '"left": 7.0, "right": 5', r'line 38: "left" must be a whole number, not \'7.0\''),
    ('"left": 7, "right": 5', '"left": true, "right": 5', r'line 38: "left" must be a whole number'),
    ('"left": 7, "right": 5', '"left": "7", "right": 5', r'line 38: "left" must be a whole number'),
    ('"left": 7, "right": 5', '"right": 5', r"line 38: this step does not say which two tokens"),
    ('"token": "lo"', '"token": "\\ud800"', r'line 37: "token"'),
    ('"token": "lo"', '"token": ["lo"]', r'line 37: "token"'),
    ('"tied": true', '"tied": 1', r'line 37: "tied"'),
    ('"count": 7', '"count": ' + "9" * 5_000, r"number that is too long"),
    ('"count": 7', '"count": ' + "9" * 4_000, r"line 37: the count"),
    ('"count": 7', '"count": NaN', r'"count" must be a whole number'),
    ('"version": 1', '"version": 2', r"version 2; this program reads version 1"),
    ('"bpe-explorer merge table"', '"bpe-explorer merge table!"', r'lacks "format"'),
    ('"alphabet": [', '"alphabet": 5, "x": [', r'"alphabet" must be a list of objects'),
    ('{"id": 1,', '{"id": 2,', r"base symbol 1: the id of this base symbol is 2"),
    ('"bytes": "65"', '"bytes": "6"', r'base symbol 1: "bytes" must be bytes in hex'),
    ('"bytes": "65"', '"bytes": null', r'base symbol 1: "bytes" must be bytes in hex'),
    ('"kind": "character"', '"kind": ["character"]', r"no kind of base symbol"),
    ('"merges": [', '"merges": [7, ', r'"merges" must be a list of objects'),
    ('"merges": [', '"merges": [' + "[" * 200_000, r"too deep"),
    ('"recipe": {', '"recipe": 5, "was": {', r"recipe must be a JSON object"),
    ('"name": "words"', '"name": "\\udfff"', r"the recipe is damaged"),
    ("}\n ]\n}", "},\n ]\n}", r"the list of merges does not end"),
    ("}\n ]\n}", "}\n ]\n}}", r"the list of merges does not end"),
    ("}\n ]\n}", "}\n", r"truncated"),
    ('},\n  {"step": 2,', '}\n  {"step": 2,', r"line 38: the comma before this merge is missing"),
    ('{"step": 2,', '{"step" 2,', r"line 38, column \d+: this is not valid JSON"),
    ('{"step": 2,', '[], {"step": 2,', r"line 38, column \d+: this is not valid JSON"),
    ('{"step": 2,', '{"step": ' + "[" * 100_000, r"line 38: this JSON is nested too deeply"),
    ('"tokens_at_start": ', '"tokens_at_start": -', r'"tokens_at_start" must be a whole number'),
]


@pytest.mark.parametrize(("old", "new", "sentence"), JSON_DAMAGE, ids=lambda value: repr(value)[:40])
def test_a_damaged_json_table_is_refused_with_the_position_of_the_damage(old: str, new: str, sentence: str) -> None:
    text = small_table(FORMATS["json"]).decode()
    assert old in text, text
    with pytest.raises(FormatError, match=sentence):
        FORMATS["json"].read(text.replace(old, new, 1).encode(), "table.json")


def test_a_json_table_too_large_to_parse_at_once_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table = small_table(FORMATS["json"])
    laid_out_anew = json.dumps(json.loads(table)).encode()
    monkeypatch.setattr(text_tables, "LARGEST_WHOLE", len(table) // 2)
    assert len(FORMATS["json"].read(table, "table.json")) > 0
    with pytest.raises(TooLarge, match="is too large"):
        FORMATS["json"].read(laid_out_anew, "table.json")
    monkeypatch.setattr(text_tables, "LARGEST_LINE", 100)
    with pytest.raises(TooLarge, match=r"table\.json, line 37"):
        FORMATS["json"].read(table, "table.json")


@pytest.mark.parametrize("name", ["csv", "json"])
def test_the_error_message_about_a_truncated_table_says_what_to_do(name: str) -> None:
    rows = small_table(FORMATS[name]).splitlines(keepends=True)
    with pytest.raises(FormatError, match=r"truncated\. Use another copy of the file, or make it again\."):
        FORMATS[name].read(b"".join(rows[:4] if name == "csv" else rows[:-1]), f"table.{name}")


@every_format
def test_a_table_file_truncated_anywhere_is_refused(format: Format) -> None:
    data = small_table(format)
    for end in range(len(data) - 2):  # the table is complete without its last line break
        with pytest.raises(FormatError):
            format.read(data[:end], "table")


@every_format
def test_a_table_whose_tokens_double_in_length_too_often_is_refused(format: Format) -> None:
    pairs = [(97, 97)] + [(256 + i, 256 + i) for i in range(40)]
    history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs)
    with pytest.raises(FormatError, match="longer than"):
        format.read(table_bytes(history, format), "table")


@every_format
@settings(max_examples=5 * EXAMPLES)
@given(st.data())
def test_a_table_file_with_random_changes_is_refused_or_read_as_a_valid_history(
    format: Format, data: st.DataObject
) -> None:
    """A history that is read from a changed file can be written and read again."""
    table = bytearray(small_table(format))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(table) - 1))
        length = data.draw(st.integers(0, 12))
        piece = data.draw(st.sampled_from([b"", b"0", b"9", b'"', b",", b"\n", b"\t", b"{", b"[", b"\xff", b"-", b"e"]))
        table[place : place + length] = piece * data.draw(st.integers(0, 5))
    with read_row_by_row():
        by_rows = history_or_refusal(format, bytes(table))
    result = history_or_refusal(format, bytes(table))
    if isinstance(result, str) or isinstance(by_rows, str):
        assert result == by_rows
        return
    assert_same(result, by_rows)
    assert_same(format.read(table_bytes(result, format), "table"), result)


def history_or_refusal(format: Format, table: bytes) -> History | str:
    """Return the history in a table, or the error message if the format refuses the table."""
    try:
        return format.read(table, "table")
    except FormatError as error:
        return str(error)


@every_format
@given(st.binary(max_size=200))
def test_random_bytes_after_a_valid_beginning_of_a_table_are_refused(format: Format, tail: bytes) -> None:
    table = small_table(format)
    with pytest.raises(FormatError):
        format.read(table[: len(table) // 2] + tail, "table")
