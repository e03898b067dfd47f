"""Tests of Parquet files, Arrow files and nested rows.

The right column is read, and all readers return the same texts.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pytest
from pyarrow import parquet

from bpe_core.counting.count_words import count_words
from bpe_core.errors import CorpusError
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from bpe_core.text.reading import arrow_tables
from bpe_core.text.reading.rows import FieldNeeded
from tests.core.corpus_files import documents, read, sentence, write
from tests.core.counting_with_and_without_kernels import count_by_kernels, count_plainly
from tests.core.tables_on_disk import write_every_kind, write_stream

TEXTS = ["low lower é", "", "a line\nanother  line\n", "漢字" * 200, " lowest 😀", 'new \t, "quoted"', "é" * 70] * 3


def test_the_same_documents_in_every_kind_of_file_give_the_same_words(tmp_path: Path) -> None:
    wanted = [text for text in TEXTS if text]
    recipe = Recipe.preset("gpt2")
    table = list(count_plainly(Corpus.from_texts(TEXTS), recipe))
    for name, field in write_every_kind(tmp_path, TEXTS).items():
        path = tmp_path / name.split("#")[0]
        for size in (64, 300, 1 << 20):
            assert read(path, size, field=field) == wanted, (name, size)
        corpus = Corpus.from_files(path, field=field)
        assert list(count_by_kernels(corpus, recipe)) == table, name
        assert list(count_words(corpus, recipe)) == table, name
        assert list(count_words(corpus, Recipe.preset("gpt2", special_tokens=("é",)))) != table
        assert list(count_words(corpus, Recipe(pattern="none", unit="file"))) == list(
            count_words(Corpus.from_texts(TEXTS), Recipe(pattern="none", unit="file"))
        )
    assert len(Corpus.from_files(tmp_path / "data_set").skipped) == 5  # the files about the tables, and the draft


def test_many_short_documents_of_a_table_are_read_in_one_chunk(tmp_path: Path) -> None:
    texts = [f"text {i}" for i in range(20_000)]
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"text": texts}), path, row_group_size=len(texts), compression="zstd")
    corpus = Corpus.from_files(path)
    chunks = list(corpus.chunks(several=True))
    assert 2 <= len(chunks) < 20
    assert max(len(chunk.data) for chunk in chunks) < 300_000  # a row group is never in memory as a whole
    assert [bytes(document.data).decode() for chunk in chunks for document in chunk.documents()] == texts
    assert [chunk.bytes_read for chunk in chunks][-1] == path.stat().st_size
    recipe = Recipe.preset("gpt2")
    assert list(count_by_kernels(corpus, recipe)) == list(count_plainly(Corpus.from_texts(texts), recipe))


def test_the_text_column_of_a_table_is_guessed_from_its_name(tmp_path: Path) -> None:
    def source(name: str, table: dict[str, list[object]]) -> tuple[tuple[str, ...], str]:
        parquet.write_table(arrow.table(table), tmp_path / name)
        (column_source,) = Corpus.from_files(tmp_path / name).sources
        return column_source.fields, column_source.field

    assert source("a.parquet", {"title": ["x"], "Content": ["low"]}) == (("title", "Content"), "Content")
    assert source("b.parquet", {"id": [1], "said": ["low"]}) == (("said",), "said")
    assert source("c.parquet", {"title": ["x"], "summary": ["low"]}) == (("title", "summary"), "")
    with pytest.raises(FieldNeeded, match=r'c.parquet has several .*: "title", "summary"\. Choose') as caught:
        documents(Corpus.from_files(tmp_path / "c.parquet"))
    assert caught.value.fields == ("title", "summary")
    assert read(write(tmp_path, "d.jsonl", '{"id": "7", "doc": {"body": "x"}, "body": "low"}')) == ["low"]
    assert read(write(tmp_path, "d.csv", "id,said\n1,low\n2,lower\n")) == ["low", "lower"]
    assert "several columns" in sentence(write(tmp_path, "e.csv", "name,said\na,low\n"))
    assert read(write(tmp_path, "f.jsonl", '{"doc.body": "low", "doc": {}}'), field="doc.body") == ["low"]


def test_choosing_an_unusable_table_column_is_refused_with_an_error_message(tmp_path: Path) -> None:
    rows = [{"doc": {"id": 1, "body": "low"}, "turns": [{"said": "low"}], "n": 5, "text": "low"}]
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.Table.from_pylist(rows), path)
    for field, message in {
        "nope": ' has no column "nope"; its columns are "doc", "turns", "n", "text".',
        "n": ': the column "n" holds int64, not text. Columns with text: "doc.body", "turns[].said", "text".',
        "doc.x": ': there is no "x" in the column "doc"; its fields are "id", "body".',
        "doc[].body": ': the column "doc" holds struct<id: int64, body: string>, not a list: leave out its "[]".',
        "text.body": ': there is no "body" in the column "text", which holds string.',
    }.items():
        assert sentence(path, field=field) == f"{path}{message}"
    assert 'write "turns[].said"' in sentence(path, field="turns.said")
    rows_path = write(tmp_path, "a.jsonl", '{"turns": [{"said": "low"}]}\n{"turns": [{"said": "low"}, {"x": 1}]}\n')
    assert read(rows_path, field="turns[].said", on_bad_row="skip") == ["low"]
    for field, message in {
        "turns[].said": 'line 2: there is no field "said" in "turns[]", only "x"',
        "turns.said": 'line 1: there is no field "said" in "turns", because "turns" holds a list',
        "turns[].said[]": 'line 1: "turns[].said" holds a text, not a list',
        "turns": 'line 1: the field "turns" holds a list, not text',
    }.items():
        assert sentence(rows_path, field=field).startswith(f"{rows_path}, {message}")


def test_rows_without_text_or_with_invalid_bytes_are_reported_or_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    broken = [b"low", None, "é".encode()[:1], "é".encode()[1:], b"new\xff"]  # the third and fourth sound if glued
    write_stream(arrow.table({"lists": [[], broken], "text": [None, "low"]}), path)
    assert read(path) == ["low"]
    corpus = Corpus.from_files(path)
    assert documents(corpus) == ["low"]
    assert [str(note) for note in corpus.skipped] == [f'{path}: 1 row has no text in "text"']
    assert "row 2: its text is not valid UTF-8: byte 0xC3 at offset 0" in sentence(path, field="lists[]")
    assert read(path, field="lists[]", on_invalid="skip") == ["low", "new"]
    assert read(path, field="lists[]", on_invalid="replace") == ["low", "�", "�", "new�"]
    assert read(path, field="lists[]", on_bad_row="skip") == ["low"]


def test_damaged_or_invalid_parquet_and_arrow_files_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"text": ["low lower"] * 50}), path)
    whole = path.read_bytes()
    stream = tmp_path / "a.arrow"
    write_stream(arrow.table({"text": ["low lower"] * 50}), stream)
    for name, content, message in (
        ("cut.parquet", whole[:-9], "ends too early: it is truncated. Copy or download the file again."),
        ("bad.parquet", whole[:-60] + bytes(50) + whole[-10:], "is a damaged Parquet file"),
        ("text.parquet", b"low lower", "is not a Parquet file, although its name says so."),
        ("secret.parquet", b"PARE....PARE", "is encrypted; write it again without encryption."),
        ("empty.arrow", b"", "is empty: there is no text in it."),
        (
            "old.feather",
            b"FEA1....FEA1",
            "is a Feather file of version 1, and only version 2 is read; write it again as version 2.",
        ),
        ("cut.arrow", stream.read_bytes()[:-300], "is a damaged Arrow file"),
        ("text.arrow", b"low lower", "is a damaged Arrow file"),
    ):
        assert message in sentence(write(tmp_path, name, content))
    assert "let its name end in .parquet" in sentence(write(tmp_path, "a.txt", whole))
    assert "decompress it first" in sentence(write(tmp_path, "a.parquet.gz", whole))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert sentence(path) == (
        f"{path} needs the package pyarrow, which is not installed: pip install 'bpe-explorer[parquet]'."
    )


def test_a_damaged_table_file_is_reported_with_the_number_of_the_damaged_row_group(tmp_path: Path) -> None:
    """Checksums reveal damaged pages. In files without checksums, the sizes reveal missing bytes."""
    path, rows = tmp_path / "a.parquet", [f"low {i % 7}" for i in range(3_000)]
    parquet.write_table(arrow.table({"text": rows}), path, row_group_size=1_000, write_page_checksum=True)
    second = parquet.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset
    changed = bytearray(path.read_bytes())
    changed[second + 60] ^= 1
    name = write(tmp_path, "changed.parquet", bytes(changed))
    assert sentence(name) == (
        f"{name} is damaged: its row group 2 of 3, rows 1,001 to 2,000, cannot be read. "
        "Copy or download the file again."
    )
    parquet.write_table(arrow.table({"text": rows}), path, compression=None, write_statistics=False)
    whole = path.read_bytes()
    for cut in (1, 9, 200):
        end = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
        lacking = write(tmp_path, "lacking.parquet", whole[: end - 300] + whole[end - 300 + cut :])
        assert "its row group 1 of 1, rows 1 to 3,000, cannot be read" in sentence(lacking)


def test_a_truncated_arrow_stream_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    write_stream(arrow.table({"text": ["low"]}), path)
    sentence = f"{path} lacks the end mark of its format. If the file was truncated"
    for end, notes in ((None, []), (-8, [sentence])):
        path.write_bytes(path.read_bytes()[:end])
        corpus = Corpus.from_files(path)
        assert documents(corpus) == ["low"]
        assert [str(note).rpartition(",")[0] for note in corpus.skipped] == notes


def test_an_arrow_table_with_hostile_offsets_is_refused(tmp_path: Path) -> None:
    """The file gives the offset where each string ends. An offset outside the file must not be used."""
    path = tmp_path / "a.arrow"
    refusal = r"b\.arrow is (damaged: the offsets of its strings|a damaged Arrow file)"
    for width, kind in ((4, arrow.string()), (8, arrow.large_string())):
        write_stream(arrow.table({"text": arrow.array(["low", "lower"], kind)}), path)
        content = path.read_bytes()
        ends = b"".join(n.to_bytes(width, "little") for n in (0, 3, 8))
        for hostile in ((0, 3, 2**31 - 1), (0, 9, 8)):
            changed = content.replace(ends, b"".join(n.to_bytes(width, "little") for n in hostile))
            assert changed != content
            with pytest.raises(CorpusError, match=refusal):
                read(write(tmp_path, "b.arrow", changed))


def test_a_text_stored_once_for_many_rows_is_read_in_small_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file stores each text once. The rows are never in memory all at once, and each row keeps its number."""
    monkeypatch.setattr(arrow_tables, "HARMLESS", 5_000)
    longest: list[int] = []
    strings = arrow_tables.Strings.__init__

    def watched(self: arrow_tables.Strings, array: Any) -> None:
        strings(self, array)
        longest.append(len(self.data))

    monkeypatch.setattr(arrow_tables.Strings, "__init__", watched)
    once = arrow.array([b"low " * 300, b"new", b"\x80"])
    rows = arrow.array([*([0, None, 1] * 20), 2])
    path = tmp_path / "a.arrow"
    write_stream(arrow.table({"text": arrow.DictionaryArray.from_arrays(rows, once)}), path)
    assert "row 61: its text is not valid UTF-8" in sentence(path, field="text")
    assert max(longest) < 6_000
    assert read(path, field="text", on_invalid="skip") == ["low " * 300, "new"] * 20
    views = once.take(rows.slice(0, 60)).cast(arrow.string()).cast(arrow.string_view())
    write_stream(arrow.table({"text": views}), path)
    longest.clear()
    assert read(path) == ["low " * 300, "new"] * 20
    assert max(longest) < 6_000
