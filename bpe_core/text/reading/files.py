"""The sources for the paths and addresses that a user gives. Each source is checked before its texts are read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from posixpath import splitext
from typing import BinaryIO

from bpe_core.errors import Cancelled, CorpusError
from bpe_core.support.progress import CancelCheck, never_cancelled
from bpe_core.text.reading import archives, arrow_tables, integers, plain_text, symbols, text_tables
from bpe_core.text.reading.counts_head import ENDING, HEAD_NAME, KEY, CountsHead, source_in_folder, sources_by_group
from bpe_core.text.reading.folders import files_in
from bpe_core.text.reading.opening import (
    COMPRESSION_OF_SUFFIX,
    HEAD_LENGTH,
    NotText,
    checked_encoding,
    is_address,
    open_raw,
    open_stream,
    refuse_empty_or_binary,
    sentences,
    shown,
    without_password,
)
from bpe_core.text.reading.rows import LOOKED_AT, guess_field, looks_like_words, names_words_and_counts
from bpe_core.text.reading.source import INTEGERS, NAMED, STANDARD_INPUT, Chunk, Kind, ReadingOptions, SkipLog, Source

_Pieces = Callable[[Source, ReadingOptions, int, SkipLog], Iterator[Chunk]]
_KIND_OF_SUFFIX: dict[str, Kind] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".tar": "tar",
    ".zip": "zip",
    ".npy": "npy",
    ".npz": "npz",
}
_TAR_OF_SUFFIX = {".tgz": "gzip", ".tbz2": "bzip2", ".txz": "xz", ".tzst": "zstd"}
MOST_OF_A_HEAD = 2**24  # bytes


def _in_archive(name: str, path: str, opens: Callable[[], BinaryIO], size: int | None) -> Source:
    kind, compression = kind_of(path)
    return Source(name, None, size, kind, compression, opens=opens)


def _pieces(source: Source, options: ReadingOptions, size: int, log: SkipLog) -> Iterator[Chunk]:
    if options.on_invalid == "keep" and source.kind not in WHOLE_FILES:  # rows and lines must be text
        options = replace(options, on_invalid="strict")
    return _PIECES_OF[source.kind](source, options, size, log)


def _archive_pieces(source: Source, options: ReadingOptions, size: int, log: SkipLog) -> Iterator[Chunk]:
    return archives.pieces(source, options, size, log, _pieces, _in_archive)


WHOLE_FILES = ("text", "tar", "zip")  # files that are documents, and archives of files
_PIECES_OF: dict[Kind, _Pieces] = {
    "text": plain_text.pieces,
    "jsonl": text_tables.json_pieces,
    "csv": text_tables.csv_pieces,
    "tsv": text_tables.csv_pieces,
    "parquet": arrow_tables.pieces,
    "arrow": arrow_tables.pieces,
    "tar": _archive_pieces,
    "zip": _archive_pieces,
    "npy": integers.pieces,
    "npz": integers.pieces,
    "lines": symbols.pieces,
    "fasta": symbols.pieces,
    "events": symbols.pieces,
}


def kind_of(path: str) -> tuple[Kind, str]:
    name, suffix = splitext(path.replace("\\", "/").lower())
    if suffix in _TAR_OF_SUFFIX:
        return "tar", _TAR_OF_SUFFIX[suffix]
    compression = COMPRESSION_OF_SUFFIX.get(suffix, "")
    inner = splitext(name)[1] if compression else suffix
    return _KIND_OF_SUFFIX.get(inner, "text"), compression


class FileReader:
    def __init__(self, source: Source, options: ReadingOptions, among_others: bool = False) -> None:
        self.source = source
        self.options = options
        self._among_others = among_others
        self._was_read = False

    def of(self, source: Source) -> FileReader:
        """Return a reader with the same options for a different source, such as a part of the same file."""
        return FileReader(source, self.options, self._among_others)

    def pieces(self, size: int, log: SkipLog) -> Iterator[Chunk]:
        if self._was_read and self.source.size is None:
            raise CorpusError(f"{self.source.name} has been read already and cannot be read twice; save it to a file.")
        self._was_read = True
        return self._pieces(size, log) if self._among_others else _pieces(self.source, self.options, size, log)

    def _pieces(self, size: int, log: SkipLog) -> Iterator[Chunk]:
        """Yield the content of a file in chunks.

        A file in a folder may not have been checked in advance. If it has no text, report it and skip it.
        """
        try:
            yield from _pieces(self.source, self.options, size, log)
        except NotText as error:
            log.add(self.source.name, str(error))


# both read piece by piece, as often as needed, or raise an error that says why they cannot
Reader = FileReader | plain_text.TextsReader


def readers_of(
    paths: Sequence[Path | str],
    patterns: Sequence[str],
    options: ReadingOptions,
    log: SkipLog,
    only: Sequence[str] = (),
) -> list[FileReader]:
    """Return a reader for each file, and for each text file in the folders.

    If `only` is not empty, it holds the names of the only files to read in the folders.
    """
    if not paths:
        raise CorpusError("There is nothing to read: name at least one file or folder.")
    if options.encoding:
        checked_encoding(options.encoding)
    readers: list[FileReader] = []
    for path in paths:
        if str(path) == STANDARD_INPUT:
            readers.append(FileReader(_with_options(Source("standard input", None, None, "text"), options), options))
        elif isinstance(path, str) and is_address(path):
            readers += _readers_at_address(path, patterns, options, log)
        else:
            readers += [FileReader(source, options) for source in _sources_at(Path(path), patterns, options, log, only)]
    return readers


def _sources_at(
    path: Path, patterns: Sequence[str], options: ReadingOptions, log: SkipLog, only: Sequence[str]
) -> list[Source]:
    """Return the sources for a file or for the files in a folder. A table of counts has a source for each group."""
    name = shown(path)
    status = _status(path, name)
    if not stat.S_ISDIR(status.st_mode):
        sources = [_source(path, name, status, options)]
    elif not only and (counts := _counts_in(path)) is not None:
        sources = [counts]
    else:
        sources = texts_in(path, patterns, options, log, only)
    return [
        part
        for source in sources
        for part in (sources_by_group(source, options.field) if source.counted else (source,))
    ]


def groups_counted_in(path: Path) -> dict[str, str]:
    """Return a dictionary from each group in a file or folder of counts to its column.

    The dictionary is empty for all other files.
    """
    if not path.is_dir() and path.suffix.lower() != ENDING:
        return {}
    try:
        source = _counts_in(path) if path.is_dir() else source_of(path, ReadingOptions())
    except CorpusError:
        return {}  # reading it will report the reason
    return (
        {group_source.group: group_source.field for group_source in sources_by_group(source)}
        if source is not None and source.counted
        else {}
    )


def _counts_in(folder: Path) -> Source | None:
    if not (folder / HEAD_NAME).is_file():
        return None
    paths = sorted(path for path in folder.iterdir() if path.name == HEAD_NAME or path.suffix == ENDING)
    sources = [Source(shown(path), path, path.stat().st_size, "text") for path in paths]
    counts = source_in_folder(shown(folder), sources, _whole)
    return None if counts is None else replace(counts, path=folder)


def _whole(source: Source) -> bytes:
    with open_raw(source) as raw:
        return raw.read(MOST_OF_A_HEAD)


def _readers_at_address(
    address: str, patterns: Sequence[str], options: ReadingOptions, log: SkipLog
) -> list[FileReader]:
    """Return the readers of the texts at an address.

    A single file is checked first. The files in a folder are not checked, because each check takes a while.
    """
    from bpe_core.text.reading.remote import remote_texts  # no module that can reach a network is loaded before

    texts, is_folder = remote_texts(address, patterns, lambda name, error: log.add(name, str(error)))
    sources = [
        Source(text.name, None, text.size, *kind_of(text.path), version=text.version, opens=text.open) for text in texts
    ]
    if not is_folder:
        return [FileReader(group, options) for group in sources_by_group(_examine(sources[0], options), options.field)]
    counts = source_in_folder(without_password(address), sources, _whole)
    if counts is not None:
        return [FileReader(group, options) for group in sources_by_group(counts, options.field)]
    if not sources:
        raise _no_text_in(without_password(address), patterns)
    kept = [source for source in sources if source.kind not in INTEGERS]
    return [FileReader(_with_options(source, options), options, among_others=True) for source in kept]


def source_of(path: Path, options: ReadingOptions) -> Source:
    """Return the source for a file. The beginning of the file is read to check that it is text."""
    name = shown(path)
    return _source(path, name, _status(path, name), options)


def _source(path: Path, name: str, status: os.stat_result, options: ReadingOptions) -> Source:
    kind, compression = kind_of(str(path))
    if not stat.S_ISREG(status.st_mode):  # a pipe or device: looking at its beginning would use it up
        return _with_options(Source(name, path, None, kind, compression), options)
    return _examine(Source(name, path, status.st_size, kind, compression), options)


def _examine(source: Source, options: ReadingOptions) -> Source:
    """Return the source with its encoding and the fields that may hold texts. Raise NotText if the file has no text."""
    if not (options.symbol_names is not None and source.kind == "parquet"):  # a file of counts may hold symbols
        source = _with_options(source, options)
    if source.kind in ("parquet", "arrow"):
        with arrow_tables.open_arrow_table(source) as file:
            if counts_head := (file.schema.metadata or {}).get(KEY):
                return replace(
                    source, is_word_list=True, counted=CountsHead.from_json(counts_head, source.name).to_json()
                )
            source = _with_options(source, options)
            names = file.schema.names
            is_list = names_words_and_counts(names) and arrow_tables.holds_whole_numbers(file.schema.field(1).type)
            return _with_fields(source, options, arrow_tables.text_columns(file.schema), is_list)
    if source.kind in INTEGERS:
        integers.check_head(source)
    if source.kind in ("zip", *INTEGERS):
        return source
    with open_stream(source) as stream:
        head = stream.head(HEAD_LENGTH)
        if source.kind == "tar":
            return source
        encoding = refuse_empty_or_binary(source.name, head, options.encoding, binary=options.on_invalid == "keep")
    source = replace(source, encoding=encoding)
    if source.kind in NAMED:
        return source
    text = head.decode(encoding, "replace").removeprefix("\ufeff") if source.kind != "text" else ""
    if source.kind == "jsonl":
        return _with_fields(source, options, text_tables.json_fields(map(str.encode, text.splitlines()[:LOOKED_AT])))
    if source.kind in ("csv", "tsv"):
        header, rows = text_tables.examine_table(text, source.kind, source.name)
        return _with_fields(source, options, text_tables.csv_fields(header, rows), looks_like_words(header, rows))
    return source


def _with_options(source: Source, options: ReadingOptions) -> Source:
    if options.symbol_names is not None:
        return _as_symbols(source)
    if not options.word_list:
        return source
    if source.kind not in ("text", "csv", "tsv", "parquet", "arrow"):
        raise CorpusError(f"{source.name} cannot be a list of words: such a list is a TSV, CSV, Parquet or Arrow file.")
    return replace(source, kind="tsv" if source.kind == "text" else source.kind, is_word_list=True)


def _as_symbols(source: Source) -> Source:
    """Return a source that reads the named symbols in a file. Raise CorpusError if the file cannot hold any."""
    if source.kind not in ("text", "jsonl"):
        raise CorpusError(
            f"{source.name} cannot hold named symbols. Give a file with a symbol in each line, FASTA, or lists in JSON."
        )
    name = source.name.lower()
    suffix = splitext(splitext(name)[0] if source.compression else name)[1]
    return replace(source, kind=symbols.KIND_OF_SUFFIX.get(suffix, "lines"))


def _with_fields(source: Source, options: ReadingOptions, fields: tuple[str, ...], is_list: bool = False) -> Source:
    if source.is_word_list or (options.word_list is None and options.field is None and is_list):
        return replace(source, is_word_list=True)
    return replace(source, fields=fields, field=options.field or guess_field(fields))


def _status(path: Path, name: str) -> os.stat_result:
    try:
        with sentences(name):
            return path.stat()
    except ValueError as error:  # a zero byte in the name
        raise CorpusError(f"{name} cannot be a path: {error}.") from error


def texts_in(
    folder: Path,
    patterns: Sequence[str],
    options: ReadingOptions,
    log: SkipLog,
    only: Sequence[str] = (),
    *,
    is_strict: bool = True,
    cancelled: CancelCheck = never_cancelled,
) -> list[Source]:
    """Return a source for each text file of a folder.

    Other files are reported in the log. Raise CorpusError if the folder has no text file. If `is_strict` is true,
    also raise an error if a file cannot be read for lack of permission, so that no text is missed unnoticed.
    """
    sources: list[Source] = []
    reasons: list[str] = []

    def pass_over(name: str, error: CorpusError) -> None:
        if is_strict and isinstance(error.__cause__, PermissionError):
            raise error
        reasons.append(str(error))
        log.add(name, str(error))

    for path in (folder / name for name in only) if only else files_in(folder, patterns, pass_over):
        if cancelled():
            raise Cancelled("Looking through the folder was stopped.")
        try:
            _refuse_integers(path)
            sources.append(source_of(path, options))
        except CorpusError as error:
            pass_over(shown(path), error)
    if reasons and not sources:
        raise CorpusError(f"There is no text file in the folder {shown(folder)}. {reasons[0]}")
    if not sources:
        raise _no_text_in(shown(folder), patterns)
    return sources


def _refuse_integers(path: Path) -> None:
    if kind_of(str(path))[0] in INTEGERS:
        raise NotText(f"{shown(path)} may hold integers. To read a file of integers, name the file itself.")


def _no_text_in(folder: str, patterns: Sequence[str]) -> CorpusError:
    wanted = "" if "*" in patterns else f" matching {', '.join(patterns)}"
    return CorpusError(f"There is no file{wanted} in the folder {folder}.")
