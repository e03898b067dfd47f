"""Merge tables as CSV, TSV and JSON: what is written is read back exactly, and damage is named."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core import reference
from bpe_core.alphabet import Alphabet
from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled, FormatError, OutputError, TooLarge
from bpe_core.formats import FORMATS, TABLES, Format, format_for, json_stream, read_history, write_history
from bpe_core.formats.rows import Row
from bpe_core.history.history import Columns, History
from bpe_core.honest_text import escape, unescape
from bpe_core.progress import Progress
from bpe_core.recipe import Recipe
from bpe_core.token_texts import LONGEST_SHOWN

every_format = pytest.mark.parametrize("format", TABLES.values(), ids=TABLES)
delimited = pytest.mark.parametrize("format", [FORMATS["csv"], FORMATS["tsv"]], ids=["csv", "tsv"])

RECIPES = [
    Recipe.preset("raw-bytes", merges=30),
    Recipe.preset("gpt2", merges=30, special_tokens=("<|end|>", "tab\there", "line\nbreak", 'comma, quote"')),
    Recipe.preset("gpt2", merges=30, ties="lowest-ids", marker="continuation"),
    Recipe.preset("words", merges=30, marker="symbol", min_frequency=1),
    Recipe.preset("words", merges=30, marker="glued", ties="largest-text"),
    Recipe.preset("words", merges=30, alphabet_limit=3),
    Recipe.preset("gpt2", merges=30, marker="glued"),
    Recipe.preset("sentencepiece-like", merges=30, min_frequency=1),
]


def written(history: History, format: Format, merges: int | None = None) -> bytes:
    file = io.BytesIO()
    format.write(history, file, merges=merges)
    return file.getvalue()


def learned(recipe: Recipe, counts: dict[str, int] | None = None) -> History:
    words = counts or {"low": 5, "lower": 2, "newest": 6, "widest": 3, "naïve": 2, '=,"\t': 3, "<0x41>": 2, "日本": 4}
    return reference.train(WordTable.from_counts(words), recipe)


def assert_same(one: History, other: History) -> None:
    assert one.recipe == other.recipe
    assert one.alphabet == other.alphabet
    assert list(one) == list(other)
    assert (one.tokens_at_start, one.end_reason) == (other.tokens_at_start, other.end_reason)


# --- Honest text ------------------------------------------------------------------------


@given(st.binary() | st.text().map(str.encode) | st.text("<0x1A>F").map(str.encode))
def test_honest_text_is_printable_and_reversible(raw: bytes) -> None:
    assert escape(raw).isprintable()
    assert unescape(escape(raw)) == raw


def test_honest_text_shows_what_cannot_be_seen() -> None:
    assert escape(" a\u00a0b\u200d\u2028".encode()) == " a<0xC2><0xA0>b<0xE2><0x80><0x8D><0xE2><0x80><0xA8>"


# --- There and back ---------------------------------------------------------------------


@every_format
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: f"{recipe.name}-{recipe.marker}")
def test_each_kind_of_recipe_comes_back(format: Format, recipe: Recipe) -> None:
    history = learned(recipe)
    assert len(history) > 0
    assert_same(format.read(written(history, format), "table"), history)


WORDS = st.dictionaries(st.text(min_size=1, max_size=8), st.integers(1, 2**40), min_size=1, max_size=6)


@every_format
@given(WORDS, st.sampled_from(RECIPES), st.integers(0, 40))
def test_any_history_comes_back(format: Format, words: dict[str, int], recipe: Recipe, merges: int) -> None:
    history = learned(recipe, words)
    assert_same(format.read(written(history, format, merges), "table"), history.first(merges))


@every_format
def test_a_text_that_holds_the_marker_itself_comes_back(format: Format) -> None:
    history = learned(Recipe.preset("sentencepiece-like", merges=30, min_frequency=1), {"a▁b": 2, "▁": 1})
    assert_same(format.read(written(history, format), "table"), history)


@every_format
def test_merges_without_counts_come_back_without(format: Format) -> None:
    history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), [(116, 104), (256, 101)])
    back = format.read(written(history, format), "table")
    assert_same(back, history)
    assert not back.has_counts


@every_format
def test_counts_of_64_bits_come_back(format: Format) -> None:
    history = learned(Recipe.preset("words", merges=3), {"ab": 2**53 + 1, "cd": 2**53})
    assert [merge.count for merge in format.read(written(history, format), "table")] == [2**53 + 1, 2**53]


@every_format
def test_tokens_too_long_to_show_are_cut_off_and_still_come_back(format: Format) -> None:
    history = learned(Recipe.preset("raw-bytes"), {"a" * 20_000: 1})
    assert any("longer than 4,096 bytes" in sentence for sentence in format.can_hold(history))
    data = written(history, format)
    assert len(data) < 10 * 5 * LONGEST_SHOWN * 8
    assert_same(format.read(data, "table"), history)


@every_format
def test_an_ordinary_history_loses_nothing(format: Format) -> None:
    assert format.can_hold(learned(RECIPES[1])) == []


@delimited
def test_a_table_saved_again_by_windows_programs_is_read(format: Format) -> None:
    history = learned(RECIPES[1])
    changed = b"\xef\xbb\xbf" + written(history, format).replace(b"\n", b"\r\n")
    assert_same(format.read(changed, "table"), history)


def test_reformatted_json_is_read(tmp_path: Path) -> None:
    history = learned(RECIPES[1])
    whole = json.loads(written(history, FORMATS["json"]))
    path = tmp_path / "sorted"
    path.write_text(json.dumps(whole, indent=4, sort_keys=True))
    assert_same(read_history(path), history)


# --- What other programs see ------------------------------------------------------------


@delimited
def test_it_is_one_plain_rectangle(format: Format) -> None:
    history = learned(RECIPES[1])
    delimiter = "," if format.name == "csv" else "\t"
    text = written(history, format).decode()
    rows = list(csv.DictReader(io.StringIO(text), delimiter=delimiter, strict=True))
    assert {len(row) for row in rows} == {len(Row._fields)}
    assert len(text.splitlines()) == len(rows) + 1  # no cell holds a line break of any kind
    merges = [row for row in rows if row["step"] != "0"]
    assert merges == rows[: len(history)]
    assert [(int(row["left"]), int(row["count"])) for row in merges] == [(merge.left, merge.count) for merge in history]
    assert [int(row["id"]) for row in sorted(rows[:-1], key=lambda row: int(row["id"]))] == list(range(len(rows) - 1))
    assert bytes.fromhex(rows[-2]["bytes"]) == b'comma, quote"'


def test_json_tells_the_runner_up() -> None:
    history = learned(Recipe.preset("words", marker="symbol"), {"low": 5, "lower": 2, "newest": 6, "widest": 3})
    first = json.loads(written(history, FORMATS["json"]))["merges"][0]
    assert (first["left_text"], first["right_text"], first["token"], first["count"]) == ("e", "s", "es", 9)
    assert first["tied"] is True
    assert (first["runner_up_left_text"], first["runner_up_right_text"]) == ("s", "t")
    assert (first["bytes"], first["length"]) == ("65 73", 2)


# --- Files ------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".json", ".JSON"])
def test_the_ending_chooses_the_format_and_the_content_is_recognized(tmp_path: Path, ending: str) -> None:
    history = learned(RECIPES[0])
    path = tmp_path / f"table{ending}"
    write_history(history, path)
    renamed = path.rename(tmp_path / "no ending")
    assert_same(read_history(renamed), history)


def test_an_unknown_ending_is_refused_with_the_known_ones() -> None:
    with pytest.raises(OutputError, match=r"\.csv, \.tsv, \.json"):
        format_for("table.docx")


@every_format
def test_a_failure_halfway_leaves_the_old_file(tmp_path: Path, format: Format) -> None:
    path = tmp_path / f"table{format.extension}"
    path.write_text("precious")

    def no_room(progress: Progress) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match="No space left"):
        write_history(learned(RECIPES[0]), path, progress=no_room)
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


def test_writing_that_is_told_to_stop_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("precious")
    with pytest.raises(Cancelled, match="unchanged"):
        write_history(learned(RECIPES[0]), path, cancelled=lambda: True)
    assert path.read_text() == "precious"


@pytest.mark.parametrize("content", [b"", b"hello\n", b"{}", b"\xff\xfe", b"PK\x03\x04", b"step,left\n"])
def test_what_is_no_table_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.csv"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"odd\.csv"):
        read_history(path)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"Could not read .*gone\.csv: No such file"):
        read_history(tmp_path / "gone.csv")


# --- Bounds -----------------------------------------------------------------------------


def long_history(merges: int) -> History:
    """Merges of bytes with each other, with counts that tie; the texts do not matter here."""
    columns = Columns.with_room(merges)
    columns.left[:] = columns.runner_up_left[:] = np.arange(merges) // 256
    columns.right[:] = columns.runner_up_right[:] = np.arange(merges) % 256
    columns.count[:] = columns.runner_up_count[:] = columns.tokens_left[:] = np.arange(merges, 0, -1)
    return History(Recipe.preset("gpt2", vocab_size=100_000), Alphabet.of_bytes(), columns.first(merges))


class Sink(io.RawIOBase):
    """Takes everything and keeps nothing."""

    taken = 0

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        size = memoryview(data).nbytes  # type: ignore[arg-type]
        self.taken += size
        return size


@every_format
def test_writing_is_told_and_needs_memory_for_the_vocabulary_only(format: Format) -> None:
    history = long_history(20_000)
    told: list[Progress] = []
    sink = Sink()
    tracemalloc.start()
    format.write(history, sink, progress=told.append)  # type: ignore[arg-type]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sink.taken > 1_500_000
    assert peak < 400 * len(history)
    assert [progress.done for progress in told] == [*range(4096, 20_001, 4096), 20_000]


# --- Damage -----------------------------------------------------------------------------


def small_table(format: Format) -> bytes:
    return written(learned(Recipe.preset("words", marker="symbol"), {"low": 5, "lower": 2}), format)


# Each: what to replace, with what, and what the sentence must say. Merges are l+o, lo+w, low+</w>, ...
CSV_DAMAGE = [
    ("\n2,7,5,", "\n2,7,999,", r"line 3: it joins the token 999, which does not exist yet"),
    ("\n2,7,5,", "\n2,7,8,", r"line 3: it joins the token 8, which does not exist yet.*0 to 7"),
    ("\n2,7,5,", "\n2,7,-5,", r"line 3: '-5' is not a whole number"),
    ("\n2,7,5,", "\n2,7,,", r"line 3: it does not say which two tokens"),
    ("\n2,7,5,", "\n2,0,5,", r"line 3: .* stands for the unknown and never merges"),
    ("\n2,7,5,", "\n2,2,3,", r"line 3: it joins the same pair as merge 1"),
    ("\n2,7,5,", "\n3,7,5,", r"line 3: the column step says '3' where '2'"),
    ("\n1,2,3,7,", "\n1,2,3,9,", r"line 2: the column id says '9' where '7'"),
    (",l,o,lo,", ",l,o,1o,", r"line 2: the column token says '1o' where 'lo'"),
    (",6c 6f,2,", ",6c 6f,3,", r"line 2: the column length"),
    (",6c 6f,", ",6c 60,", r"line 2: the column bytes"),
    (",l,o,lo,", ",l,o,", r"line 2: 17 cells where there should be 18"),
    (",l,o,lo,", ',l,o,"lo,', r"line 2: "),
    (",6c 6f,2,7,", ",6c 6f,2,99999999999999999999,", r"line 2: .* is not a whole number"),
    (",6c 6f,2,7,", ",6c 6f,2,9999999999999999999,", r"line 2: a count is"),
    (",6c 6f,2,7,", ",6c 6f,2,seven,", r"line 2: 'seven' is not a whole number"),
    (",unknown\n", ",byte\n", r"'<unk>' is not one character"),
    (",character\n", ",letter\n", r"no kind of base symbol named 'letter'"),
    (",unknown\n", ",unknown\n0,,,9,,,z,7a,1,,,,,,,,,special\n", r"rows of step 0"),
    ('""words""', '""words', r"line 15: the recipe is not valid JSON"),
    ('""words""', '""\\ud800""', r"line 15: the recipe is damaged"),
    ('""min_frequency"": 2', '""min_frequency"": 0', r"recipe is damaged. min_frequency must be at least 1"),
    ('""end_reason"": ""no pairs""', '""end_reason"": ""tired""', r"'tired' is no reason"),
    (",recipe\n", ",reciep\n", r"last row must hold the recipe"),
]


@pytest.mark.parametrize(("old", "new", "sentence"), CSV_DAMAGE, ids=lambda value: repr(value)[:40])
def test_damaged_csv_is_refused_with_its_line(old: str, new: str, sentence: str) -> None:
    text = small_table(FORMATS["csv"]).decode()
    assert old in text, text
    with pytest.raises(FormatError, match=sentence):
        FORMATS["csv"].read(text.replace(old, new, 1).encode(), "table.csv")


JSON_DAMAGE = [
    ('"left": 7, "right": 5', '"left": 7, "right": 8', r"line 38: it joins the token 8, which does not exist yet"),
    ('"left": 7, "right": 5', '"left": 2, "right": 3', r"line 38: it joins the same pair as merge 1"),
    ('"left": 7, "right": 5', '"left": 7.0, "right": 5', r'line 38: "left" must be a whole number, not \'7.0\''),
    ('"left": 7, "right": 5', '"left": true, "right": 5', r'line 38: "left" must be a whole number'),
    ('"left": 7, "right": 5', '"left": "7", "right": 5', r'line 38: "left" must be a whole number'),
    ('"left": 7, "right": 5', '"right": 5', r"line 38: it does not say which two tokens"),
    ('"token": "lo"', '"token": "\\ud800"', r'line 37: "token"'),
    ('"token": "lo"', '"token": ["lo"]', r'line 37: "token"'),
    ('"tied": true', '"tied": 1', r'line 37: "tied"'),
    ('"count": 7', '"count": ' + "9" * 5_000, r"number too long"),
    ('"count": 7', '"count": ' + "9" * 4_000, r"line 37: a count is"),
    ('"count": 7', '"count": NaN', r'"count" must be a whole number'),
    ('"version": 1', '"version": 2', r"version 2; this program reads version 1"),
    ('"bpe-explorer merge table"', '"bpe-explorer merge table!"', r'lacks "format"'),
    ('"alphabet": [', '"alphabet": 5, "x": [', r'"alphabet" must be a list of objects'),
    ('{"id": 1,', '{"id": 2,', r"base symbol 1: its id is 2"),
    ('"bytes": "65"', '"bytes": "6"', r'base symbol 1: "bytes" must be bytes in hex'),
    ('"bytes": "65"', '"bytes": null', r'base symbol 1: "bytes" must be bytes in hex'),
    ('"kind": "character"', '"kind": ["character"]', r"no kind of base symbol"),
    ('"merges": [', '"merges": [7, ', r'"merges" must be a list of objects'),
    ('"merges": [', '"merges": [' + "[" * 200_000, r"too deep"),
    ('"recipe": {', '"recipe": 5, "was": {', r"recipe must be a JSON object"),
    ('"name": "words"', '"name": "\\udfff"', r"the recipe is damaged"),
    ("}\n ]\n}", "},\n ]\n}", r"the list of merges does not end"),
    ("}\n ]\n}", "}\n ]\n}}", r"the list of merges does not end"),
    ("}\n ]\n}", "}\n", r"cut short"),
    ('},\n  {"step": 2,', '}\n  {"step": 2,', r"line 38: the comma before this merge is missing"),
    ('{"step": 2,', '{"step" 2,', r"line 38: this is not valid JSON"),
    ('{"step": 2,', '[], {"step": 2,', r"line 38: this is not valid JSON"),
    ('{"step": 2,', '{"step": ' + "[" * 100_000, r"line 38: JSON that no merge table would hold"),
    ('"tokens_at_start": ', '"tokens_at_start": -', r'"tokens_at_start" must be a whole number'),
]


@pytest.mark.parametrize(("old", "new", "sentence"), JSON_DAMAGE, ids=lambda value: repr(value)[:40])
def test_damaged_json_is_refused_with_its_place(old: str, new: str, sentence: str) -> None:
    text = small_table(FORMATS["json"]).decode()
    assert old in text, text
    with pytest.raises(FormatError, match=sentence):
        FORMATS["json"].read(text.replace(old, new, 1).encode(), "table.json")


def test_what_would_be_parsed_at_once_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    table = small_table(FORMATS["json"])
    laid_out_anew = json.dumps(json.loads(table)).encode()
    monkeypatch.setattr(json_stream, "LARGEST_WHOLE", len(table) // 2)
    assert len(FORMATS["json"].read(table, "table.json")) > 0
    with pytest.raises(TooLarge, match="would have to be parsed at once"):
        FORMATS["json"].read(laid_out_anew, "table.json")
    monkeypatch.setattr(json_stream, "LARGEST_LINE", 100)
    with pytest.raises(TooLarge, match=r"table\.json, line 37"):
        FORMATS["json"].read(table, "table.json")


@every_format
def test_a_file_cut_short_anywhere_is_refused(format: Format) -> None:
    data = small_table(format)
    for end in range(len(data) - 2):  # without its very last line break it is still whole
        with pytest.raises(FormatError):
            format.read(data[:end], "table")


@every_format
def test_merges_that_double_without_end_are_refused(format: Format) -> None:
    pairs = [(97, 97)] + [(256 + i, 256 + i) for i in range(40)]
    history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs)
    with pytest.raises(FormatError, match="longer than"):
        format.read(written(history, format), "table")


@every_format
@settings(max_examples=400)
@given(st.data())
def test_a_changed_file_is_refused_or_read_as_what_it_says(format: Format, data: st.DataObject) -> None:
    """Whatever is done to a file, a reader gives a sentence or a history that can be written and read again."""
    table = bytearray(small_table(format))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(table) - 1))
        length = data.draw(st.integers(0, 12))
        piece = data.draw(st.sampled_from([b"", b"0", b"9", b'"', b",", b"\n", b"\t", b"{", b"[", b"\xff", b"-", b"e"]))
        table[place : place + length] = piece * data.draw(st.integers(0, 5))
    try:
        history = format.read(bytes(table), "table")
    except FormatError:
        return
    assert_same(format.read(written(history, format), "table"), history)


@every_format
@given(st.binary(max_size=200))
def test_any_bytes_behind_a_sound_beginning_are_refused(format: Format, tail: bytes) -> None:
    table = small_table(format)
    with pytest.raises(FormatError):
        format.read(table[: len(table) // 2] + tail, "table")
