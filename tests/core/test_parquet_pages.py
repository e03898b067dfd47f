"""Tests of Parquet page headers: they agree with Arrow, and hostile headers are refused before Arrow reads them."""

from __future__ import annotations

import io
import itertools
import random
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pytest
from pyarrow import parquet

from bpe_core.counting.count_words import count_words
from bpe_core.errors import BpeError
from bpe_core.formats.sentencepiece_fields import varint
from bpe_core.recipes.recipe import Recipe
from bpe_core.support import limits, parquet_pages
from bpe_core.support.data_table import read_plainly
from bpe_core.support.foreign import DamagedPart
from bpe_core.support.parquet_file import ParquetFile
from bpe_core.support.parquet_pages import Page, _Column
from bpe_core.text.corpus import Corpus
from tests.core.corpus_files import read, sentence

TEXTS = [f"the lowest price {i % 50} is lower " * (i % 7) for i in range(2_000)]
TABLE = arrow.table(
    {
        "text": TEXTS,
        "number": range(2_000),
        "nested": [{"said": [text[:9], None], "by": {"name": "anna"}} for text in TEXTS],
        "none": arrow.nulls(2_000, arrow.string()),
    }
)


@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd", "brotli", "lz4"])
def test_the_sizes_of_parsed_parquet_pages_add_up_to_the_size_in_the_footer(compression: str) -> None:
    """The sizes of a column's pages add up to its size in the footer, however its bytes are divided for reading."""
    chance = random.Random(1)
    for version, dictionary, checksums in itertools.product(("1.0", "2.0"), (True, False), (True, False)):
        buffer = io.BytesIO()
        ways: dict[str, Any] = {"compression": compression, "data_page_version": version, "data_page_size": 4_000}
        ways |= {"use_dictionary": dictionary, "write_page_checksum": checksums, "row_group_size": 1_500}
        parquet.write_table(TABLE, buffer, **ways)
        metadata = parquet.ParquetFile(buffer).metadata
        for group, place in itertools.product(range(metadata.num_row_groups), range(metadata.num_columns)):
            column = metadata.row_group(group).column(place)
            start = column.dictionary_page_offset or column.data_page_offset
            whole = buffer.getvalue()[start : start + column.total_compressed_size]
            pages = _pages_of(whole, start, chance)
            behind = [page.place for page in pages[1:]] + [start + len(whole)]
            headers = sum(end - page.place - page.stored for page, end in zip(pages, behind, strict=True))
            assert headers + sum(page.stored for page in pages) == column.total_compressed_size
            assert headers + sum(page.unpacked for page in pages) == column.total_uncompressed_size
            assert [page.kind == 2 for page in pages].count(True) == column.has_dictionary_page


def _pages_of(data: bytes, start: int, chance: random.Random) -> list[Page]:
    cuts = sorted({0, len(data), *chance.choices(range(len(data)), k=5)})
    column = _Column(start)
    return [page for page_start, after in itertools.pairwise(cuts) for page in column.pages_in(data[page_start:after])]


def _with_changed_header(whole: bytes, place: int, **claims: int) -> bytes:
    """Change the header of the page at the offset `place`, and return the content of the changed file.

    `claims` maps names of header fields to their new values.
    """
    page = _Column(place).pages_in(whole[place:])[0]
    numbers = {**page._asdict(), **claims}
    head = b"".join(b"\x15" + varint(numbers[name] << 1) for name in ("kind", "unpacked", "stored"))
    of_kind = b"\x4c\x15\x02\x15\x00\x00" if page.kind == 2 else b"\x2c\x15\x02\x15\x00\x15\x06\x15\x06\x00"
    return whole[:place] + head + of_kind + b"\0" + whole[place + 30 :]


def test_impossible_parquet_page_headers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"text": TEXTS}), path, compression="zstd")
    whole = path.read_bytes()
    column = parquet.ParquetFile(path).metadata.row_group(0).column(0)
    for place in (column.dictionary_page_offset, column.data_page_offset):
        for claims, message in (
            ({"stored": 2**30}, f"says that it has {2**30:,} bytes, but the file ends earlier"),
            ({"unpacked": 2**30}, f"bytes to {2**30:,}"),
        ):
            path.write_bytes(_with_changed_header(whole, place, **claims))
            shown_message = sentence(path)
            assert shown_message.startswith(
                f"{path} is damaged: its row group 1 of 1, rows 1 to 2,000, cannot be read, because the "
            )
            assert f"page at byte {place:,} " in shown_message
            assert message in shown_message


@pytest.mark.parametrize("header", [b"\x1c" * 40, b"\x19\xf5" + varint(10**9) + bytes(4_000), b"\x18" + varint(2**40)])
def test_parquet_page_headers_without_an_end_are_refused(header: bytes) -> None:
    column = _Column(0)
    with pytest.raises(DamagedPart, match="is not valid"):  # noqa: PT012  # each part of a header may be the last
        for _ in range(20):
            column.pages_in(header + bytes(10**6))


def test_the_size_check_ignores_bytes_other_than_parquet_page_headers() -> None:
    assert _Column(0).pages_in(b"\x0f" * 50) == _Column(0).pages_in(bytes(50)) == []


def test_long_texts_of_a_parquet_dictionary_are_read_in_small_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A single stored text may belong to every row. Its copies must not all be in memory at once."""
    monkeypatch.setattr(parquet_pages, "HARMLESS", 10_000)
    texts = [("low " * 500 if i % 2 else "new") for i in range(300)] + ["old"] * 300
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"id": range(600), "text": texts}), path, row_group_size=150)
    with open(path, "rb") as raw:
        batches = list(ParquetFile(raw).batches(["text"], 200))
    assert [text for batch in batches for text in batch.column(0).to_pylist()] == texts
    assert max(batch.nbytes for batch in batches) < 20_000
    assert len(batches[0]) == 4
    assert len(batches[-1]) == 150, "what is short comes many at a time again"
    assert read(path) == texts


def test_parquet_tables_that_unpack_to_far_more_than_their_size_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "HARMLESS", 10_000)
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"word": ["low"] * 500_000, "count": [1] * 500_000}), path)
    corpus = Corpus.from_files(path, word_list=True)
    for read_whole in (lambda: count_words(corpus, Recipe.preset("gpt2")), lambda: read_plainly(path)):
        with pytest.raises(BpeError, match="is damaged: it unpacks to more than 250 times its size"):
            read_whole()


def test_parquet_tables_with_too_many_values_are_refused(tmp_path: Path) -> None:
    """Each value becomes a Python object, but a file stores a million equal values in a few bytes."""
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"method": arrow.nulls(6_000_000, arrow.string())}), path)
    with pytest.raises(BpeError, match="has more than 5,000,000 values"):
        read_plainly(path)
