"""Tests of merge tables in CSV, TSV and JSON. A table that is written and read back is unchanged."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.errors import Cancelled, FormatError, OutputError
from bpe_core.formats import FORMATS, Format, format_for, read_history, write_history
from bpe_core.formats.rows import Row
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import Columns, History
from bpe_core.history.token_texts import LONGEST_SHOWN
from bpe_core.recipes.interventions import Intervention
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import Progress, Work
from bpe_core.text.corpus import Corpus
from tests.core.formats.tables import (
    RECIPES,
    assert_same,
    delimited,
    every_format,
    learn_recipe,
    read_at_once_only,
    read_row_by_row,
    table_bytes,
)
from tests.core.learning import train

# --- There and back ---------------------------------------------------------------------


@every_format
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: f"{recipe.name}-{recipe.marker}")
def test_a_merge_table_is_read_back_unchanged_for_each_recipe(format: Format, recipe: Recipe) -> None:
    history = learn_recipe(recipe)
    assert len(history) > 0
    assert_same(format.read(table_bytes(history, format), "table"), history)


WORDS = st.dictionaries(st.text(min_size=1, max_size=8), st.integers(1, 2**40), min_size=1, max_size=6)


@every_format
@given(WORDS, st.sampled_from(RECIPES), st.integers(0, 40))
def test_every_history_is_read_back_unchanged_from_a_merge_table(
    format: Format, words: dict[str, int], recipe: Recipe, merges: int
) -> None:
    history = learn_recipe(recipe, words)
    table = table_bytes(history, format, merges)
    with read_at_once_only() if len(history.first(merges)) else nullcontext():
        assert_same(format.read(table, "table"), history.first(merges))
    with read_row_by_row():
        assert_same(format.read(table, "table"), history.first(merges))


@every_format
def test_a_table_shows_no_tie_for_a_forced_step(format: Format) -> None:
    forced = (Intervention(1, "force", ord("c"), ord("d")),)
    recipe = Recipe.preset("raw-bytes", merges=2, vocab_size=None, interventions=forced)
    history = train(Corpus.from_texts(["abxabycdxcdy"]), recipe)
    assert (history[0].count, history[0].runner_up_count, history[0].tied) == (2, 2, False)
    with read_row_by_row():
        assert_same(format.read(table_bytes(history, format), "table"), history)


@every_format
def test_a_table_learned_from_words_with_the_word_marker_is_read_back_unchanged(format: Format) -> None:
    history = learn_recipe(Recipe.preset("sentencepiece-like", merges=30, min_frequency=1), {"a▁b": 2, "▁": 1})
    assert_same(format.read(table_bytes(history, format), "table"), history)


@every_format
def test_a_table_without_counts_is_read_back_without_counts(format: Format) -> None:
    history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), [(116, 104), (256, 101)])
    back = format.read(table_bytes(history, format), "table")
    assert_same(back, history)
    assert not back.has_counts


@every_format
def test_counts_of_64_bits_are_read_back_unchanged_from_a_table(format: Format) -> None:
    history = learn_recipe(Recipe.preset("words", merges=3), {"ab": 2**53 + 1, "cd": 2**53})
    assert [merge.count for merge in format.read(table_bytes(history, format), "table")] == [2**53 + 1, 2**53]


@every_format
def test_tokens_that_are_too_long_to_show_are_shortened_in_a_table_but_read_back_completely(format: Format) -> None:
    history = learn_recipe(Recipe.preset("raw-bytes"), {"a" * 20_000: 1})
    assert any("longer than 4,096 bytes" in sentence for sentence in format.can_hold(history))
    data = table_bytes(history, format)
    assert len(data) < 10 * 5 * LONGEST_SHOWN * 8
    assert_same(format.read(data, "table"), history)


@every_format
def test_writing_an_ordinary_history_as_a_table_loses_no_information(format: Format) -> None:
    assert format.can_hold(learn_recipe(RECIPES[1])) == []


@delimited
def test_a_table_with_a_byte_order_mark_and_windows_line_ends_is_read(format: Format) -> None:
    history = learn_recipe(RECIPES[1])
    changed = b"\xef\xbb\xbf" + table_bytes(history, format).replace(b"\n", b"\r\n")
    assert_same(format.read(changed, "table"), history)


@delimited
def test_a_table_with_reformatted_recipe_json_is_read(format: Format) -> None:
    history = learn_recipe(RECIPES[1])
    table = table_bytes(history, format)
    for row in (b'""recipe"":', b'""end_reason"":'):
        assert table.count(row) == 1
        assert_same(format.read(table.replace(row, row + b" "), "table"), history)


def test_a_json_table_with_different_indentation_and_key_order_is_read(tmp_path: Path) -> None:
    history = learn_recipe(RECIPES[1])
    whole = json.loads(table_bytes(history, FORMATS["json"]))
    path = tmp_path / "sorted"
    path.write_text(json.dumps(whole, indent=4, sort_keys=True))
    assert_same(read_history(path), history)


# --- What other programs see ------------------------------------------------------------


@delimited
def test_a_csv_table_has_the_same_number_of_columns_in_every_row(format: Format) -> None:
    history = learn_recipe(RECIPES[1])
    delimiter = "," if format.name == "csv" else "\t"
    text = table_bytes(history, format).decode()
    rows = list(csv.DictReader(io.StringIO(text), delimiter=delimiter, strict=True))
    assert {len(row) for row in rows} == {len(Row._fields)}
    assert len(text.splitlines()) == len(rows) + 1  # no cell contains a line break of any kind
    merges = [row for row in rows if row["step"] != "0"]
    assert merges == rows[: len(history)]
    assert [(int(row["left"]), int(row["count"])) for row in merges] == [(merge.left, merge.count) for merge in history]
    assert [int(row["id"]) for row in sorted(rows[:-1], key=lambda row: int(row["id"]))] == list(range(len(rows) - 1))
    assert bytes.fromhex(rows[-2]["bytes"]) == b'comma, quote"'


def test_a_json_table_contains_the_runner_up_of_each_merge() -> None:
    history = learn_recipe(Recipe.preset("words", marker="symbol"), {"low": 5, "lower": 2, "newest": 6, "widest": 3})
    first = json.loads(table_bytes(history, FORMATS["json"]))["merges"][0]
    assert (first["left_text"], first["right_text"], first["token"], first["count"]) == ("e", "s", "es", 9)
    assert first["tied"] is True
    assert (first["runner_up_left_text"], first["runner_up_right_text"]) == ("s", "t")
    assert (first["bytes"], first["length"]) == ("65 73", 2)


# --- Files ------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".json", ".JSON"])
def test_a_table_is_written_in_the_format_of_its_file_ending_and_recognized_by_its_content(
    tmp_path: Path, ending: str
) -> None:
    history = learn_recipe(RECIPES[0])
    path = tmp_path / f"table{ending}"
    write_history(history, path)
    renamed = path.rename(tmp_path / "no ending")
    assert_same(read_history(renamed), history)


def test_writing_a_table_with_an_unknown_file_ending_is_refused_with_a_list_of_endings() -> None:
    with pytest.raises(OutputError, match=r"\.csv, \.tsv, \.json"):
        format_for("table.docx")


@every_format
def test_an_error_while_writing_a_table_leaves_the_existing_file_unchanged(tmp_path: Path, format: Format) -> None:
    path = tmp_path / f"table{FORMATS.extension(format.name)}"
    path.write_text("precious")

    def no_room(progress: Progress) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match="No space left"):
        write_history(learn_recipe(RECIPES[0]), path, work=Work(no_room))
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


def test_cancelling_while_a_table_is_written_leaves_the_old_file_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("precious")
    with pytest.raises(Cancelled, match="unchanged"):
        write_history(learn_recipe(RECIPES[0]), path, work=Work(cancelled=lambda: True))
    assert path.read_text() == "precious"


@pytest.mark.parametrize("content", [b"", b"hello\n", b"{}", b"\xff\xfe", b"PK\x03\x04", b"step,left\n"])
def test_the_error_for_a_file_that_is_not_a_table_names_the_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.csv"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"odd\.csv"):
        read_history(path)


def test_the_error_for_a_missing_table_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"Could not read .*gone\.csv: No such file"):
        read_history(tmp_path / "gone.csv")


@pytest.mark.parametrize(("name", "shown"), [("a\0b", r"a\\x00b"), ("a\ud800", r"a\\ud800")])
def test_table_files_with_invalid_file_names_are_refused(name: str, shown: str) -> None:
    with pytest.raises(FormatError, match=rf"'{shown}' cannot be the name of a file"):
        read_history(name)


# --- Bounds -----------------------------------------------------------------------------


def long_history(merges: int) -> History:
    """Return a history whose steps each merge two bytes. The runner-up of each step is the merged pair itself."""
    columns = Columns.with_room(merges)
    columns.left[:] = columns.runner_up_left[:] = np.arange(merges) // 256
    columns.right[:] = columns.runner_up_right[:] = np.arange(merges) % 256
    columns.count[:] = columns.runner_up_count[:] = columns.tokens_left[:] = np.arange(merges, 0, -1)
    return History(Recipe.preset("gpt2", vocab_size=100_000), Alphabet.of_bytes(), columns.first(merges))


class Sink(io.RawIOBase):
    """A file that counts and discards all written bytes."""

    taken = 0

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        size = memoryview(data).nbytes  # type: ignore[arg-type]
        self.taken += size
        return size


@every_format
def test_writing_a_table_reports_progress_and_needs_memory_only_for_the_vocabulary(format: Format) -> None:
    history = long_history(10_000)
    reports: list[Progress] = []
    sink = Sink()
    format.write(long_history(10_000), Sink())  # type: ignore[arg-type]  # loads modules, which must not count
    tracemalloc.start()
    format.write(history, sink, progress=reports.append)  # type: ignore[arg-type]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sink.taken > 750_000
    assert peak < 400 * len(history)
    assert [progress.done for progress in reports] == [*range(4096, 10_001, 4096), 10_000]
