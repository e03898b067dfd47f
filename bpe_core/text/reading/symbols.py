"""The reader of sequences of named symbols. Each symbol becomes a private-use character.

In a plain file each line is a symbol, and an empty line ends a sequence. In a FASTA file each letter is a
symbol, and a line with `>` begins a sequence. In a JSON file each item of a list is a symbol, such as an
event of a melody. The name of an item is the item itself if it is a text, and its JSON otherwise. The object
`{"tracks": [...]}` holds several lists. In a file of JSON lines each line is a list.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from bpe_core.errors import Cancelled, CorpusError
from bpe_core.support.foreign import json_of
from bpe_core.support.numbered_symbols import LARGEST, WIDTH, SymbolNames, characters_of
from bpe_core.support.progress import Progress, Work
from bpe_core.text.reading.plain_text import numbered_lines, text_blocks
from bpe_core.text.reading.source import Chunk, Kind, ReadingOptions, SkipLog, Source

KIND_OF_SUFFIX: dict[str, Kind] = {
    **dict.fromkeys((".fa", ".fasta", ".fna", ".faa"), "fasta"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "events"),
}
AT_ONCE = 65_536  # symbols
BLOCK = 2**20  # bytes


@dataclass(frozen=True)
class SequencePart:
    """A part of a sequence of named symbols."""

    names: list[str]
    ends_sequence: bool
    bytes_read: int


def are_fasta(paths: Iterable[str]) -> bool:
    """Return whether all of these paths are names of FASTA files. If there are no paths, return False.

    >>> are_fasta(["genome.fa", "a/b.fasta"]), are_fasta(["genome.fa", "book.txt"]), are_fasta([])
    (True, False, False)
    """
    kinds = {KIND_OF_SUFFIX.get(PurePath(path).suffix.lower()) for path in paths}
    return kinds == {"fasta"}


def pieces(source: Source, options: ReadingOptions, size: int, log: SkipLog) -> Iterator[Chunk]:
    """Yield the sequences of a file as documents, in blocks of about `size` bytes.

    A sequence consists of named symbols, such as the notes of a melody. In a document, each symbol is represented
    by a private-use character of Unicode.
    """
    names = SymbolNames(options.symbol_names or ())
    for part in sequence_parts(source, options, max(1, size // WIDTH), log):
        yield Chunk(characters_of(names.numbers_of(part.names)).data, part.ends_sequence, part.bytes_read)


def names_in(sources: Iterable[tuple[Source, ReadingOptions]], work: Work) -> tuple[str, ...]:
    """Return the sorted names of all symbols in these files."""
    names: set[str] = set()
    for source, options in sources:
        for part in sequence_parts(source, options, AT_ONCE, SkipLog()):
            if work.cancelled():
                raise Cancelled("Reading the symbols was stopped.")
            names.update(part.names)
            if len(names) > LARGEST + 1:
                raise CorpusError(
                    f"{source.name} has too many different symbols: more than {LARGEST + 1:,} cannot be learned. "
                    "Check that each line is one symbol."
                )
            work.progress(Progress("reading symbols", part.bytes_read, source.size, "bytes", source.name))
    return tuple(sorted(names))


def sequence_parts(source: Source, options: ReadingOptions, most: int, log: SkipLog) -> Iterator[SequencePart]:
    """Yield the sequences of a file in parts of at most `most` symbols."""
    read = {"fasta": _letters, "events": _events}.get(source.kind, _lines)
    return read(source, options, most, log)


class _SequenceParts:
    """A buffer for the symbols of a sequence. It yields a part as soon as the part is long enough."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._names: list[str] = []

    def added(self, names: Iterable[str], bytes_read: int) -> Iterator[SequencePart]:
        self._names += names
        while len(self._names) > self._most:  # at least one symbol is kept for the end of the sequence
            yield SequencePart(self._names[: self._most], False, bytes_read)
            del self._names[: self._most]

    def ended(self, bytes_read: int) -> Iterator[SequencePart]:
        if self._names:
            yield SequencePart(self._names, True, bytes_read)
            self._names = []


def _lines(source: Source, options: ReadingOptions, most: int, log: SkipLog) -> Iterator[SequencePart]:
    parts = _SequenceParts(most)
    with numbered_lines(source, options, BLOCK, log) as lines:
        for line in lines:
            name = line.decode().rstrip("\r\n")
            yield from parts.added([name], lines.bytes_read) if name else parts.ended(lines.bytes_read)
        yield from parts.ended(lines.bytes_read)


def _letters(source: Source, options: ReadingOptions, most: int, log: SkipLog) -> Iterator[SequencePart]:
    parts = _SequenceParts(most)
    with numbered_lines(source, options, BLOCK, log) as lines:
        for line in lines:
            if line.startswith((b">", b";")):
                yield from parts.ended(lines.bytes_read)
            else:
                yield from parts.added(line.decode().strip(), lines.bytes_read)
        yield from parts.ended(lines.bytes_read)


def _events(source: Source, options: ReadingOptions, most: int, log: SkipLog) -> Iterator[SequencePart]:
    parts = _SequenceParts(most)
    for events, bytes_read in _lists(source, options, log):
        yield from parts.added(map(_name_of, events), bytes_read)
        yield from parts.ended(bytes_read)


def _lists(source: Source, options: ReadingOptions, log: SkipLog) -> Iterator[tuple[list[Any], int]]:
    """Yield each list of events in a JSON or JSON Lines file, with the number of bytes read so far."""
    if source.name.lower().endswith(".json"):
        blocks = list(text_blocks(source, options, BLOCK, log))
        whole = b"".join(bytes(block.data) for block in blocks)
        value = json_of(whole, f"{source.name} is not a list of events in JSON", CorpusError, allows_repetition=True)
        tracks = value.get("tracks") if isinstance(value, dict) else [value]
        for track in tracks if isinstance(tracks, list) else [None]:
            yield _checked(track, source.name), blocks[-1].bytes_read
        return
    with numbered_lines(source, options, BLOCK, log) as lines:
        for line in lines:
            if not line.isspace():
                where = f"{source.name}, line {lines.number:,}"
                yield (
                    _checked(
                        json_of(line, f"{where} is not a list of events in JSON", CorpusError, allows_repetition=True),
                        where,
                    ),
                    (lines.bytes_read),
                )


def _checked(events: Any, where: str) -> list[Any]:
    if not isinstance(events, list):
        raise CorpusError(f'{where} must be a list of events, or an object whose "tracks" are lists of events.')
    for place, event in enumerate(events, start=1):
        if _is_empty(event):
            raise CorpusError(
                f"{where}: event {place:,} of a list is empty, or holds an empty event. Give it a name, or leave it "
                "out of the list."
            )
    return events


def _is_empty(event: Any) -> bool:
    """Return whether an event is an empty string, list or object, or a list that contains an empty event.

    >>> _is_empty(["note", 60]), _is_empty([]), _is_empty(["note", ""]), _is_empty(0)
    (False, True, True, False)
    """
    if isinstance(event, list):
        return not event or any(map(_is_empty, event))
    return event in ("", {})


def _name_of(event: Any) -> str:
    """Return the name of an event: the text itself, or the JSON of any other value.

    >>> _name_of("bar"), _name_of({"note": 60, "on": True})
    ('bar', '{"note":60,"on":true}')
    """
    return event if isinstance(event, str) else json.dumps(event, ensure_ascii=False, separators=(",", ":"))
