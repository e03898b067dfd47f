"""Tests of files in the format of Gage's compressor: expanding restores every byte, and damaged files are refused."""

from __future__ import annotations

import importlib
import random
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bpe_core.errors import Cancelled, CorpusError, FormatError, OutputError, TooLarge
from bpe_core.methods.gage import compiled
from bpe_core.methods.gage import container as gage_file
from bpe_core.methods.gage import reference as gage
from bpe_core.methods.gage.block_form import size_of_block, write_block
from bpe_core.methods.gage.container import PIECE
from bpe_core.methods.kit import compressors
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import Progress, Work
from bpe_core.text.corpus import Corpus
from tests.core.gage_texts import data as datas
from tests.core.gage_texts import recipes
from tests.core.learning import train
from tests.machine_code import machine_code
from tests.shared import text_of

EVERY_BYTE = bytes(range(256))
EXAMPLE = b"aaabdaaabac"
HEAD, TAIL = gage_file.SIZE_OF_HEAD, gage_file.SIZE_OF_CHECKSUM


def file_of(blocks: bytes, original: bytes) -> bytes:
    return gage_file.head(len(original)) + blocks + gage_file.checksum(zlib.crc32(original))


# --- There and back ---------------------------------------------------------------------


@settings(max_examples=40)
@given(data=datas(), recipe=recipes())
@example(data=EVERY_BYTE * 3, recipe=Recipe.preset("gage", block_bytes=256))
def test_data_compressed_by_the_gage_method_can_be_expanded_to_the_original_data(data: bytes, recipe: Recipe) -> None:
    made = gage_file.compress(data, recipe)
    assert gage_file.expand(made.data) == data
    assert made.report.compressed_size == len(made.data)
    blocks = gage.compressed_blocks(data, recipe)
    assert blocks == compiled.compressed_blocks(data, recipe)
    assert made.data == file_of(b"".join(write_block(block.pairs, block.data) for block in blocks), data)
    for block in blocks:
        assert gage.expand(dict(block.pairs), block.data) == data[block.start : block.stop]
        assert len(write_block(block.pairs, block.data)) == size_of_block(block.pairs, len(block.data))


@pytest.mark.parametrize(
    "original",
    [
        b"", b"a", b"aa", EVERY_BYTE, EVERY_BYTE * 40, b"a" * 100_000, b"ab" * 70_000, b"\xff" * 9_000 + EVERY_BYTE,
        random.Random(5).randbytes(20_000), text_of("prose").encode(), text_of("languages").encode(),
    ],
    ids=range(11),
)  # fmt: skip
@pytest.mark.parametrize("fast", [False, True])
def test_the_gage_method_can_compress_any_bytes_with_and_without_kernels(original: bytes, fast: bool) -> None:
    recipe = Recipe.preset("gage", block_size=5_000 if fast else 600)
    with machine_code(is_used=fast):
        assert gage_file.expand(gage_file.compress(original, recipe).data) == original


def test_a_long_text_gives_the_same_gage_blocks_whether_compressed_in_parts_or_at_once() -> None:
    text = (text_of("prose").encode() * 60)[: 2 * PIECE + 77]
    made = gage_file.compress(text)
    blocks = compiled.compressed_blocks(text, _recipe())
    assert made.data[HEAD:-TAIL] == b"".join(write_block(block.pairs, block.data) for block in blocks)


def _recipe() -> Recipe:
    return Recipe.preset("gage")


def test_a_gage_file_has_the_documented_bytes() -> None:
    made = gage_file.compress(EXAMPLE, Recipe.preset("gage", min_frequency=2, ties="lowest-ids"))
    crc = zlib.crc32(EXAMPLE).to_bytes(4, "big")
    # 128 bytes left out, byte 128, 124 left out, 253 = YZ; three more entries ... X d X a c
    table = bytes([255, 128, 127 + 124, 255, 254, 1, 97, 98, 97, 97])
    assert made.data == b"BPEGAGE\x01" + bytes([0] * 7 + [11]) + table + b"\0\5" + bytes([253, 100, 253, 97, 99]) + crc
    assert (made.report.table_bytes, made.report.data_bytes, made.report.replaced_pairs) == (10, 5, 3)


def test_gage_blocks_in_which_every_byte_occurs_are_reported() -> None:
    report = gage_file.compress(EVERY_BYTE * 2 + b"ab" * 9, Recipe.preset("gage", block_bytes=256)).report
    assert (report.blocks, report.full_blocks, report.replaced_pairs) == (1, 1, 0)
    assert gage_file.compress(EVERY_BYTE * 2 + b"ab" * 9).report.full_blocks == 0  # blocks end before that


def test_training_by_the_gage_method_makes_the_same_steps_as_compressing_a_file() -> None:
    text = text_of("poem")
    history = train(Corpus.from_texts([text]), _recipe())
    report = gage_file.compress(text.encode()).report
    assert len(history) == report.replaced_pairs
    assert history.reasons["size"][-1] == report.compressed_size - HEAD - TAIL
    assert history.columns.tokens_left[-1] == report.data_bytes


# --- From file to file ------------------------------------------------------------------


def test_the_gage_method_compresses_and_expands_files(tmp_path: Path) -> None:
    source, packed, back = tmp_path / "a.txt", tmp_path / "a.gage", tmp_path / "b.txt"
    source.write_bytes(text_of("prose").encode())
    reports: list[Progress] = []
    report = gage_file.compress_file(source, packed, work=Work(reports.append))
    assert packed.stat().st_size == report.compressed_size < report.original_size == source.stat().st_size
    assert (reports[-1].done, reports[-1].total) == (report.original_size, report.original_size)
    assert gage_file.expand_file(packed, back) == report.original_size
    assert back.read_bytes() == source.read_bytes()


@pytest.mark.parametrize("work", [gage_file.compress_file, gage_file.expand_file])
def test_compressing_or_expanding_a_file_never_overwrites_the_input_file(
    work: Callable[[Path, Path], object], tmp_path: Path
) -> None:
    path, link = tmp_path / "a.gage", tmp_path / "b.gage"
    path.write_bytes(gage_file.compress(EXAMPLE).data)
    link.symlink_to(path)
    for target in (path, link):
        with pytest.raises(OutputError, match="is the input file"):
            work(path, target)
    with pytest.raises(CorpusError, match="is not a file"):
        work(tmp_path, tmp_path / "c")
    with pytest.raises(CorpusError, match="Could not read"):
        work(tmp_path / "missing", tmp_path / "c")
    assert sorted(tmp_path.iterdir()) == [path, link]


def test_a_cancelled_gage_compression_leaves_no_files(tmp_path: Path) -> None:
    source, packed = tmp_path / "a.txt", tmp_path / "a.gage"
    source.write_bytes(b"low lower lowest " * 40_000)
    with pytest.raises(Cancelled, match="Compressing was stopped"):
        gage_file.compress_file(source, packed, work=Work(cancelled=lambda: True))
    assert list(tmp_path.iterdir()) == [source]
    gage_file.compress_file(source, packed)
    with pytest.raises(Cancelled, match="Expanding was stopped"):
        gage_file.expand_file(packed, tmp_path / "b.txt", work=Work(cancelled=lambda: True))
    assert sorted(tmp_path.iterdir()) == [packed, source]


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def test_compressed_sizes_of_zlib_and_zstd_are_measured_for_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(text_of("prose").encode())
    assert compressors.sizes_of_others(path)["zlib"] == len(zlib.compress(path.read_bytes(), compressors.ZLIB_LEVEL))
    zstd = next(module for name in compressors.ZSTD_MODULES if (module := _module(name)) is not None)
    at_once = len(zstd.compress(path.read_bytes(), compressors.ZSTD_LEVEL))
    # Zstd may store the length of the text, too.
    assert at_once <= compressors.sizes_of_others(path)["zstd"] <= at_once + 16
    monkeypatch.setattr(compressors, "ZSTD_MODULES", ("no_such_module",))
    assert set(compressors.sizes_of_others(path)) == {"zlib"}


# --- What is damaged --------------------------------------------------------------------

NO_PAIRS = bytes([255, 128, 254])  # a table in which every byte stands for itself


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "was not written by `bpe-explorer compress`"),
        (b"low lower lowest", "was not written by"),
        (b"BPEGAGE\x02" + bytes(20), "a newer version"),
        (b"BPEGAGE\x01\0\0", "damaged at byte 10: the file ends too early"),
        (gage_file.head(2**62) + bytes(30), "it can hold at most 262,140 bytes"),
        (gage_file.head(1) + bytes(4), "it can hold at most 0 bytes"),
        (file_of(NO_PAIRS + b"\0\2ab", b"ab")[:-1], "at byte 26: the file ends too early"),
        (file_of(NO_PAIRS + b"\0\2ab", b"ab") + b"c", "at byte 27: bytes follow"),
        (file_of(NO_PAIRS + b"\0\2ac", b"ab"), "the checksum of the original"),
        (file_of(NO_PAIRS + b"\0\0ab", b"ab"), "at byte 21: a block is empty"),
        (file_of(NO_PAIRS + b"\0\3abc", b"ab"), "a block expands to 3 bytes, but at most 2 bytes can follow"),
        (file_of(b"\xff\x80\xff\xff\0\3abc", b"ab"), "more than 256 bytes"),
        (
            file_of(write_block({255: (255 - 1, 97), 254: (255, 97)}, b"\xff"), b"ab"),
            "by itself and another byte",
        ),
        (
            file_of(write_block({i: (i - 1, i - 1) for i in range(200, 256)}, b"\xff"), b"ab"),
            "expands to more than a block can hold",
        ),
    ],
)
def test_a_damaged_gage_file_is_refused_with_the_reason(data: bytes, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=sentence) as caught:
        gage_file.expand(data)
    assert len(str(caught.value)) < 300
    path = tmp_path / "damaged.gage"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=sentence):
        gage_file.expand_file(path, tmp_path / "out")
    assert list(tmp_path.iterdir()) == [path]


def test_a_gage_block_may_contain_unused_pair_entries() -> None:
    """An entry may even define a byte as a pair that contains the same byte, if the text does not contain this byte."""
    assert gage_file.expand(file_of(write_block({254: (254 + 1, 97), 255: (254, 97)}, b"ab"), b"ab")) == b"ab"


def test_expanding_a_gage_file_that_needs_too_much_memory_is_refused_in_advance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BPE_EXPLORER_MEMORY", "100")
    huge = gage_file.head(2**30) + bytes(200_000)
    with pytest.raises(TooLarge, match="Expanding needs about"):
        gage_file.expand(huge)


@settings(max_examples=60)
@given(data=st.data())
def test_a_corrupted_gage_file_is_refused_or_expands_to_the_original_data(data: st.DataObject) -> None:
    original = data.draw(datas())
    written = bytearray(gage_file.compress(original, Recipe.preset("gage", min_frequency=2)).data)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(written)))
        cut = data.draw(st.sampled_from([0, 1, 7]))
        written[place : place + cut] = data.draw(st.binary(max_size=3))
    with suppress(FormatError):  # a refusal has a message
        assert gage_file.expand(bytes(written)) == original
