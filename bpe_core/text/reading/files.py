"""What a person names becomes sources: each looked at before anything is read in earnest."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from bpe_core.errors import Cancelled, CorpusError
from bpe_core.progress import CancelCheck, never_cancelled
from bpe_core.text.reading import json_lines, plain_text, tables
from bpe_core.text.reading.beginning import HEAD_LENGTH, checked_encoding, refuse_empty_or_binary
from bpe_core.text.reading.folders import files_in
from bpe_core.text.reading.opening import COMPRESSION_OF_SUFFIX, open_stream, sentences, shown
from bpe_core.text.reading.skipped import SkipLog
from bpe_core.text.reading.source import STANDARD_INPUT, DocumentPiece, Kind, ReadingOptions, Source

_PIECES_OF = {"text": plain_text.pieces, "jsonl": json_lines.pieces, "csv": tables.pieces, "tsv": tables.pieces}
_KIND_OF_SUFFIX: dict[str, Kind] = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv"}


class FileReader:
    """One file, or standard input, read as its kind demands."""

    def __init__(self, source: Source, options: ReadingOptions) -> None:
        self.source = source
        self._options = options
        self._was_read = False

    def pieces(self, size: int, log: SkipLog) -> Iterator[DocumentPiece]:
        if self._was_read and self.source.size is None:
            raise CorpusError(f"{self.source.name} has been read already and cannot be read twice; save it to a file.")
        self._was_read = True
        return _PIECES_OF[self.source.kind](self.source, self._options, size, log)


def readers_of(
    paths: Sequence[Path | str], patterns: Sequence[str], options: ReadingOptions, log: SkipLog
) -> list[FileReader]:
    """A reader for each file named and each text file found in the folders named."""
    if not paths:
        raise CorpusError("There is nothing to read: name at least one file or folder.")
    if options.encoding:
        checked_encoding(options.encoding)
    sources: list[Source] = []
    for path in paths:
        if str(path) == STANDARD_INPUT:
            sources.append(Source("standard input", None, None, "text", encoding=None))
        elif stat.S_ISDIR(_status(Path(path)).st_mode):
            sources += texts_in(Path(path), patterns, options, log)
        else:
            sources.append(source_of(Path(path), options))
    return [FileReader(source, options) for source in sources]


def source_of(path: Path, options: ReadingOptions) -> Source:
    """A file, once its beginning has shown that it is text."""
    name = shown(path)
    compression = COMPRESSION_OF_SUFFIX.get(path.suffix.lower(), "")
    inner = path.with_suffix("") if compression else path
    kind = _KIND_OF_SUFFIX.get(inner.suffix.lower(), "text")
    status = _status(path)
    if not stat.S_ISREG(status.st_mode):  # a pipe or device: looking at its beginning would use it up
        return Source(name, path, None, kind, compression, None)
    size = status.st_size
    source = Source(name, path, size, kind, compression)
    with open_stream(source) as stream:
        encoding = refuse_empty_or_binary(name, stream.head(HEAD_LENGTH), options.encoding)
    return Source(name, path, size, kind, compression, encoding)


def _status(path: Path) -> os.stat_result:
    try:
        with sentences(shown(path)):
            return path.stat()
    except ValueError as error:  # a zero byte in the name
        raise CorpusError(f"{shown(path)} cannot be a path: {error}.") from error


def texts_in(
    folder: Path,
    patterns: Sequence[str],
    options: ReadingOptions,
    log: SkipLog,
    *,
    is_strict: bool = True,
    cancelled: CancelCheck = never_cancelled,
) -> list[Source]:
    """The texts of a folder; what else lies there is reported, and only if nothing is left refused.

    A text may not go missing for want of a permission: who is strict is refused at once.
    """
    sources: list[Source] = []
    reasons: list[str] = []

    def pass_over(name: str, error: CorpusError) -> None:
        if is_strict and isinstance(error.__cause__, PermissionError):
            raise error
        reasons.append(str(error))
        log.add(name, str(error))

    for path in files_in(folder, patterns, pass_over):
        if cancelled():
            raise Cancelled("Looking through the folder was stopped.")
        try:
            sources.append(source_of(path, options))
        except CorpusError as error:
            pass_over(shown(path), error)
    if reasons and not sources:
        raise CorpusError(f"There is no text file in the folder {shown(folder)}. {reasons[0]}")
    if not sources:
        wanted = "" if "*" in patterns else f" matching {', '.join(patterns)}"
        raise CorpusError(f"There is no file{wanted} in the folder {shown(folder)}.")
    return sources
