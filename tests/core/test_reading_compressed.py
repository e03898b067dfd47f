"""Tests of compressed files, which may be complete, truncated or damaged, or have several compressed parts."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bpe_core.counting.count_words import count_unmixed
from bpe_core.errors import EncodingError, TooLarge
from bpe_core.recipes.recipe import Recipe
from bpe_core.support import limits
from bpe_core.text.corpus import Corpus
from tests.conftest import EXPLORES
from tests.core.corpus_files import TEXT, documents, read, sentence, write

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1}),
}


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_compressed_text_files_are_read(tmp_path: Path, ending: str) -> None:
    compressed = COMPRESSORS[ending]((TEXT * 300).encode())
    corpus = Corpus.from_files(write(tmp_path, f"a.txt{ending}", compressed))
    assert documents(corpus, 100_000) == [TEXT * 300]
    assert corpus.total_size == len(compressed)
    progress = [chunk.bytes_read for chunk in corpus.chunks(100_000)]
    assert progress == sorted(progress)
    assert progress[-1] == len(compressed)


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_a_file_of_several_compressed_parts_is_read_completely(tmp_path: Path, ending: str) -> None:
    compress = COMPRESSORS[ending]
    assert read(write(tmp_path, f"a{ending}", compress(b"low ") + compress(b"lower"))) == ["low lower"]


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_a_truncated_compressed_file_is_refused(tmp_path: Path, ending: str) -> None:
    noise = os.urandom(300_000).hex().encode()
    compressed = COMPRESSORS[ending](noise)
    path = write(tmp_path, f"a{ending}", compressed[: len(compressed) * 2 // 3])
    message = sentence(path)
    assert message.startswith(f"{path} ends too early: its ")
    assert "data is truncated" in message


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_a_plain_text_file_with_the_file_ending_of_a_compressed_file_is_refused(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path, f"a{ending}", "just a plain text " * 20)
    message = sentence(path)
    assert message.startswith(f"{path} is not valid ")
    assert "the ending of its name" in message


@pytest.mark.parametrize("seed", range(20 if EXPLORES else 2))
@pytest.mark.parametrize("ending", COMPRESSORS)
def test_a_damaged_compressed_file_is_refused(tmp_path: Path, ending: str, seed: int) -> None:
    """The file is refused even if damaged bytes were decompressed before the damage was found."""
    compressed = bytearray(COMPRESSORS[ending](random.Random(seed).randbytes(300_000).hex().encode()))
    middle = len(compressed) // 2
    compressed[middle : middle + 64] = bytes(64)
    path = write(tmp_path, f"a{ending}", bytes(compressed))
    message = sentence(path)
    assert message.startswith(f"{path} is not valid ")


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_a_compressed_file_without_text_is_reported(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path, f"a{ending}", COMPRESSORS[ending](b""))
    assert sentence(path) == f"{path} is empty: there is no text in it."


def test_an_invalid_byte_in_a_compressed_file_is_reported_with_its_offset_in_the_text(tmp_path: Path) -> None:
    path = write(tmp_path, "a.gz", gzip.compress(b"a" * 70_000 + b"\xff"))
    assert "offset 70,000 of the decompressed text" in sentence(path, error=EncodingError)


def test_the_error_for_a_zstd_file_names_the_package_that_must_be_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "backports", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    path = write(tmp_path, "a.zst", zstd.compress(b"low"))
    assert sentence(path) == f"{path} cannot be read: this Python lacks zstd. Install the package backports.zstd."


def test_a_single_word_that_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of many words is read in parts, but a single word must fit in memory."""
    monkeypatch.setattr(limits, "HARMLESS", 2**20)
    path = write(tmp_path, "a.txt.gz", gzip.compress(b"a" * 2**23))
    many_words = write(tmp_path, "many.txt.gz", gzip.compress(b"low\n" * 2**21))
    whole = Recipe(pattern="none", unit="file")
    for recipe, by_kernels in ((Recipe.preset("gpt2"), True), (Recipe.preset("gpt2"), False), (whole, None)):
        with pytest.raises(TooLarge, match="of this file unpack to more than"):
            count_unmixed(Corpus.from_files(path), recipe, by_kernels=by_kernels)
    counted = count_unmixed(Corpus.from_files(many_words), Recipe.preset("words"), by_kernels=True)
    assert list(counted) == [(b"low", 2**21)]
    plain = write(tmp_path, "a.txt", b"a" * 2**23)
    assert len(count_unmixed(Corpus.from_files(plain), whole)) == 1
