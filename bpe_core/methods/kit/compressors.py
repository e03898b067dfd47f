"""A module that compresses files and texts with zlib and zstd. The sizes serve as a comparison."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled, CorpusError
from bpe_core.support.progress import ALONE, CancelCheck, Progress, ProgressReport, Work, never_cancelled

AT_ONCE = 1 << 20
ZLIB_LEVEL, ZSTD_LEVEL = 6, 3  # the default levels of zlib and zstd
ZSTD_MODULES = ("compression.zstd", "backports.zstd")  # the first module is a part of Python from 3.14 on
ZSTD_IS_MISSING = "zstd is not installed here: `pip install backports.zstd` adds it to the comparison."


def sizes_of_others(path: Path | str, *, work: Work = ALONE) -> dict[str, int]:
    """Return a dictionary from the name of each compressor to the compressed size of a file in bytes.

    The compressor zstd is only included if its module is installed.
    """
    with opened(path) as source:
        return _sizes(_reported(source, work.progress), work.cancelled)


def sizes_of_texts(words: WordTable, *, cancelled: CancelCheck = never_cancelled) -> dict[str, int]:
    """Return a dictionary from the name of each compressor to the total size of all texts after compression.

    Each distinct text is compressed alone. Its size is multiplied by the number of times that the text occurs.
    """
    sizes: dict[str, int] = {}
    for text, times in words:
        for name, size in _sizes((text[i : i + AT_ONCE] for i in range(0, len(text), AT_ONCE)), cancelled).items():
            sizes[name] = sizes.get(name, 0) + size * times
    return sizes


def _reported(source: BinaryIO, progress: ProgressReport) -> Iterator[bytes]:
    done = 0
    while piece := source.read(AT_ONCE):
        yield piece
        done += len(piece)
        progress(Progress("comparing", done, None, "bytes"))


def _sizes(pieces: Iterable[bytes], cancelled: CancelCheck) -> dict[str, int]:
    compressors: dict[str, Any] = {"zlib": zlib.compressobj(ZLIB_LEVEL)}
    if (make := _maker_of_zstd()) is not None:
        compressors["zstd"] = make()
    sizes = dict.fromkeys(compressors, 0)
    for piece in pieces:
        if cancelled():
            raise Cancelled("Comparing was stopped.")
        for name, compressor in compressors.items():
            sizes[name] += len(compressor.compress(piece))
    return {name: sizes[name] + len(compressor.flush()) for name, compressor in compressors.items()}


def _maker_of_zstd() -> Callable[[], Any] | None:
    for name in ZSTD_MODULES:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        return lambda: module.ZstdCompressor(ZSTD_LEVEL)
    return None


def opened(path: Path | str) -> BinaryIO:
    """Open a file for reading. Raise CorpusError if it cannot be read, or if it is not a file on a disk.

    A pipe, for example, is refused, because its length is not known in advance.
    """
    try:
        if Path(path).exists() and not Path(path).is_file():
            raise CorpusError(f"{path} is not a file; choose a file on a disk.")
        return open(path, "rb")
    except OSError as error:
        raise CorpusError(f"Could not read {path}: {error.strerror or error}.") from error
