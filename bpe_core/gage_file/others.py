"""How small today's compressors make the same file, to compare."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled
from bpe_core.gage_file.compressing import opened
from bpe_core.progress import CancelCheck, Progress, ProgressReport, ignore_progress, never_cancelled

PIECE = 1 << 20
ZLIB_LEVEL, ZSTD_LEVEL = 6, 3  # those that both take where nobody chooses
ZSTD_MODULES = ("compression.zstd", "backports.zstd")  # the first is a part of Python from 3.14 on
ZSTD_IS_MISSING = "zstd is not installed here: `pip install backports.zstd` adds it to what is compared."


def sizes_of_others(
    path: Path | str, *, progress: ProgressReport = ignore_progress, cancelled: CancelCheck = never_cancelled
) -> dict[str, int]:
    """In bytes, by the compressor's name; without zstd where no module for it is installed."""
    with opened(path) as source:
        return _sizes(_told(source, progress), cancelled)


def sizes_of_texts(words: WordTable, *, cancelled: CancelCheck = never_cancelled) -> dict[str, int]:
    """The same for texts, each by itself and as often as it occurs."""
    sizes: dict[str, int] = {}
    for text, times in words:
        for name, size in _sizes((text[i : i + PIECE] for i in range(0, len(text), PIECE)), cancelled).items():
            sizes[name] = sizes.get(name, 0) + size * times
    return sizes


def _told(source: BinaryIO, progress: ProgressReport) -> Iterator[bytes]:
    done = 0
    while piece := source.read(PIECE):
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
