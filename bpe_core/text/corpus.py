"""A corpus, which reads texts from any source in blocks, so that the whole text is never in memory.

>>> corpus = Corpus.from_texts(["low lower", "lowest"])
>>> [(bytes(chunk.data), chunk.ends_document) for chunk in corpus.chunks()]
[(b'low lower', True), (b'lowest', True)]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bpe_core.errors import CorpusError
from bpe_core.support.former_names import former_attributes
from bpe_core.support.limits import check_room
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import as_call
from bpe_core.text.mixture import Group, Mixture, Of
from bpe_core.text.reading.files import FileReader, Reader, readers_of
from bpe_core.text.reading.plain_text import TextsReader
from bpe_core.text.reading.source import (
    INTEGERS,
    NAMED,
    Bytes,
    Chunk,
    OnBadRow,
    OnInvalid,
    ReadingOptions,
    SkipLog,
    SkippedText,
    Source,
    one_by_one,
)
from bpe_core.text.reading.symbols import names_in
from bpe_core.text.reading.utf8 import encode_utf8, length_of_whole_characters, pieces_of

__all__ = ["Chunk", "Corpus", "SkippedText", "Source"]

CHUNK_SIZE = 1024 * 1024  # larger blocks were never faster to read, and some texts took twice as long
DIGEST = 16  # bytes: enough that two different texts never have the same hash
CHANCES = 2**64
MOST_NAMED = 3  # sources, where a corpus is shown
SHORTER = "Choose lines instead of documents."


_SYMBOLS_OF_KIND = {**dict.fromkeys(INTEGERS, "integers"), **dict.fromkeys(NAMED, "lines")}
_ADVICE = {
    "": "Give files of text, or choose other symbols with --base.",
    "integers": "Give .npy or .npz files of integers.",
    "lines": "Give files with a symbol in each line, FASTA, or lists in JSON.",
}


class WrongSymbols(CorpusError):
    """An error for a file with one kind of base symbols when the recipe needs a different kind.

    `held` is the kind in the file. It is a value of the recipe's choice `base_symbols`.
    """

    def __init__(self, sentence: str, held: str) -> None:
        super().__init__(sentence)
        self.held = held


class Corpus:
    """A corpus of texts. A file, a row of a table, or a text given in memory is one document.

    Use `Corpus.from_files` or `Corpus.from_texts` to make a corpus.

    Parameters
    ----------
    readers
        One reader for each source, in order; readers of the same group are neighbours.
    word_counts
        Words with their counts, in place of texts.
    log
        The rows that were skipped when the sources were opened.
    groups
        The name of each reader's group; empty if there are no groups.

    Attributes
    ----------
    sources
        The name, kind, size and encoding of each source.
    total_size
        The number of stored bytes, or None if the size of a source is not known.
    word_lists
        The files with counted words; they are not among the chunks of text.
    has_texts
        Whether any source holds texts.

    Examples
    --------
    >>> corpus = Corpus.from_texts(["low lower", "new"])
    >>> corpus.total_size, corpus.has_texts
    (12, True)
    """

    if not TYPE_CHECKING:
        __getattr__ = former_attributes(apart="independent_copy", bunches="parts_of_size")

    def __init__(
        self,
        readers: Sequence[Reader],
        word_counts: Sequence[tuple[bytes, int]] | None = None,
        log: SkipLog | None = None,
        groups: Sequence[str] = (),
    ) -> None:
        self._readers = tuple(readers)
        self.word_counts = word_counts
        self.group_of_source = tuple(groups) or ("",) * len(readers)
        self.sources: tuple[Source, ...] = tuple([reader.source for reader in readers])
        self.word_lists = tuple(
            [reader for reader in readers if reader.source.is_word_list and isinstance(reader, FileReader)]
        )
        self.has_texts = len(self.word_lists) < len(readers)
        sizes = [source.size for source in self.sources if source.size is not None]
        self.total_size = sum(sizes) if len(sizes) == len(readers) else None
        self._found_while_opening = log or SkipLog()
        self.remarks = SkipLog()  # oddities noticed while reading
        self._choice: Group | None = None  # the size of a part that is not read as a whole
        self._is_part = False

    def __repr__(self) -> str:
        names = tuple(source.name for source in self.sources[:MOST_NAMED])
        groups = {"groups": self.groups} if self.groups != ("",) else {}
        return as_call("Corpus", sources=len(self.sources), first=names, **groups)

    @classmethod
    def from_files(
        cls,
        paths: Sequence[Path | str] | Path | str,
        *,
        encoding: str | None = None,
        on_invalid: OnInvalid = "strict",
        file_patterns: Sequence[str] = ("*",),
        field: str | None = None,
        on_bad_row: OnBadRow = "error",
        word_list: bool | None = None,
        twice: bool = False,
        only: Sequence[str] = (),
        symbol_names: tuple[str, ...] | None = None,
    ) -> Corpus:
        """Read files, folders, and "-" for standard input.

        The name of a file decides its kind. A file named .jsonl, .csv, .tsv, .parquet, .arrow or .feather holds a text
        in each row. `field` names the field of the text (`doc.body`, `messages[].content`). If `field` is not given, a
        field with a usual name is read. A .tar or .zip file holds files. Every other file is plain text. Files named
        .gz, .bz2, .xz or .zst are decompressed. A file is a table of words and counts if `word_list` is true, or,
        without `word_list`, if its columns have the names of such a table.

        The encoding is taken from the byte order mark, or else from `encoding`, or else it is UTF-8. Addresses
        (s3://...) are opened by the packages installed for them. A file that is named twice is read once, unless
        `twice` is true. If `only` is given, then only these files of the folders are read. A file in `only` is named by
        its path in its folder. If `symbol_names` is given, the files hold named symbols in place of text, such as a
        symbol in each line.
        """
        if isinstance(paths, (str, Path)):
            paths = [paths]
        log = SkipLog()
        options = ReadingOptions(encoding, on_invalid, field, on_bad_row, word_list, symbol_names)
        readers = readers_of(list(paths), file_patterns, options, log, only)
        pairs: list[tuple[Reader, str]] = [(reader, reader.source.group) for reader in readers]
        return cls._from_pairs(pairs, log, twice)

    @classmethod
    def from_texts(cls, texts: Iterable[str], *, on_invalid: OnInvalid = "strict") -> Corpus:
        """Return a corpus in which each text is a document.

        An iterator is read as a stream, and can be read only once.
        """
        return cls([TextsReader(texts, on_invalid)])

    @classmethod
    def from_word_counts(cls, counts: Mapping[str, int]) -> Corpus:
        """Return a corpus of words that were counted elsewhere. The words are neither normalized nor split."""
        for word, count in counts.items():
            if not isinstance(word, str) or not isinstance(count, int) or not 0 <= count < 2**63:
                wanted = "texts with whole numbers below 2^63, none of them negative"
                raise CorpusError(f"Word counts must be {wanted}, not {word!r}: {count!r}.")
        return cls((), word_counts=[(encode_utf8(word, "replace"), count) for word, count in counts.items()])

    @classmethod
    def joined(cls, corpora: Sequence[Corpus], *, twice: bool = False) -> Corpus:
        """Join several corpora into one, in order and group by group.

        A file that is in several of the corpora is read once, unless `twice` is true.
        """
        if any(corpus.word_counts is not None for corpus in corpora):
            raise CorpusError(
                "Word counts cannot be joined with texts or other word counts. Count the texts first, and add up the "
                "counts."
            )
        log = SkipLog()
        for corpus in corpora:
            for report in corpus._found_while_opening.reports():
                log.add(report.source, report.sentence, report.count)
        pairs = [pair for corpus in corpora for pair in zip(corpus._readers, corpus.group_of_source, strict=True)]
        return cls._from_pairs(pairs, log, twice)

    @classmethod
    def _from_pairs(cls, pairs: list[tuple[Reader, str]], log: SkipLog, twice: bool) -> Corpus:
        """Return a corpus of readers. Each pair consists of a reader and the name of its group.

        Readers of the same group are put next to each other. A repeated file is left out unless `twice` is true.
        """
        order = {group: place for place, group in enumerate(dict.fromkeys(group for _, group in pairs))}
        pairs.sort(key=lambda pair: order[pair[1]])
        pairs = pairs if twice else _without_repeated_files(pairs, log)
        return cls([reader for reader, _ in pairs], log=log, groups=[group for _, group in pairs])

    @classmethod
    def grouped(cls, groups: Mapping[str, Corpus], *, twice: bool = False) -> Corpus:
        """Return one corpus in which each of these corpora is a group.

        A recipe's mixture uses the names of the groups.
        """
        return cls.joined([corpus.in_group(name) for name, corpus in groups.items()], twice=twice)

    @property
    def reading_options(self) -> tuple[ReadingOptions | None, ...]:
        """Return the options for reading each source, such as the name of its field.

        The entry is None for texts that were given in memory.
        """
        return tuple([reader.options if isinstance(reader, FileReader) else None for reader in self._readers])

    def names_of_symbols(self, work: Work = ALONE) -> tuple[str, ...]:
        """Return the names of all symbols in the corpus, sorted.

        Only files that hold named symbols instead of text are read.
        """
        readers = [reader for reader in self._readers if isinstance(reader, FileReader)]
        return names_in(((reader.source, reader.options) for reader in readers), work)

    def check_symbols(self, base_symbols: str) -> None:
        """Raise WrongSymbols if the base symbols of a file differ from the recipe's choice `base_symbols`."""
        for source in self.sources:
            held = _SYMBOLS_OF_KIND.get(source.kind, "")
            if held != base_symbols and source.kind != "texts" and not source.is_word_list:
                raise WrongSymbols(
                    f"{source.name} holds {held or 'text'}, and this recipe is for {base_symbols or 'text'}. "
                    f"{_ADVICE[base_symbols]}",
                    held,
                )

    def in_group(self, name: str) -> Corpus:
        return Corpus(self._readers, self.word_counts, self._found_while_opening, [name] * len(self._readers))

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the names of the groups in the order of their texts. Without groups, return a single empty name."""
        return tuple(dict.fromkeys(self.group_of_source)) or ("",)

    def parts(self, mixture: Mixture | None = None) -> dict[str, Corpus]:
        """Return a dictionary from the name of each group in the mixture to a corpus with the group's sample.

        Read each of these corpora only once. Afterwards, the property `skipped` of `self` reports what was left out.
        """
        said = (mixture or Mixture()).matched(self.groups)
        self.remarks = SkipLog()
        return {group.name: self.part(group) for group in said}

    def part(self, group: Group) -> Corpus:
        """Return a corpus that holds the sample of one group."""
        pairs = zip(self._readers, self.group_of_source, strict=True)
        readers = [reader for reader, name in pairs if name == group.name]
        return self._part(readers, None if group.takes_all else group, self.word_counts)

    def by_source(self) -> dict[str, Corpus]:
        """Return a dictionary from the name of each source to a corpus with only this source.

        Read each of these corpora only once. Afterwards, the property `skipped` of `self` reports what was left out.
        """
        self.remarks = SkipLog()
        return {reader.source.name: self._part([reader], self._choice) for reader in self._readers}

    def parts_of_size(
        self, mixture: Mixture | None, size: int, split: Callable[[Reader, int], Sequence[Reader]] | None = None
    ) -> Iterator[tuple[str, Corpus]]:
        """Divide the corpus into parts of about `size` bytes. Yield each part with the name of its group.

        The parts, in this order, have the same words as the corpus.

        The function `split` divides the reader of a large text into several readers, one for each part of the text. It
        is not used for a group from which only a sample is read. If this sample depends on the order of the texts, the
        whole group is a single part.
        """
        for name, part in self.parts(mixture).items():
            choice = part._choice
            if part.word_counts is not None or (choice is not None and choice.must_be_read_whole):
                yield name, part
                continue
            held: list[Reader] = []
            length = 0
            for reader in sorted(part._readers, key=lambda reader: reader.source.is_word_list):
                for part_reader in [reader] if split is None or choice is not None else split(reader, size):
                    if held and (part_reader.source.is_word_list or length >= size):
                        yield name, part._part(held, choice)
                        held = []
                        length = 0
                    held.append(part_reader)
                    length += part_reader.source.size or size
            if held:
                yield name, part._part(held, choice)

    def independent_copy(self) -> Corpus:
        """Return a copy that another thread or process can read. The copy has its own log of skipped texts."""
        part = copy(self)
        part._is_part = True
        part.remarks = SkipLog()
        return part

    def _part(
        self, readers: Sequence[Reader], choice: Group | None, counts: Sequence[tuple[bytes, int]] | None = None
    ) -> Corpus:
        part = Corpus(readers, counts)
        part._is_part = True
        part.remarks = self.remarks
        part._choice = choice
        return part

    def documents(self) -> Iterator[str]:
        held: list[Bytes] = []
        for chunk in self.chunks():
            held.append(chunk.data)
            if chunk.ends_document:
                yield b"".join(held).decode()
                held = []

    @property
    def skipped(self) -> tuple[SkippedText, ...]:
        """Return reports of everything that was skipped or replaced.

        The reports concern whole files, and parts of the texts in the most recent reading.
        """
        return self._found_while_opening.reports() + self.remarks.reports()

    def chunks(
        self, size: int = CHUNK_SIZE, *, several: bool = False, base_symbols: str | None = None
    ) -> Iterator[Chunk]:
        """Read all texts in order, in chunks of about `size` bytes.

        If `several` is true, a chunk may hold several documents, which is much faster for short documents. Several
        threads may share one iterator if they use it in turn under a lock. If `base_symbols` is given, raise
        WrongSymbols for a file with other base symbols.
        """
        if base_symbols is not None:
            self.check_symbols(base_symbols)
        if self.word_counts is not None or (self.word_lists and not self.has_texts):
            raise CorpusError("This corpus holds word counts, so its texts cannot be read; give the texts instead.")
        if not self._is_part:
            self.remarks = SkipLog()
        return self._chunks(size, self.remarks, several)

    def _chunks(self, size: int, log: SkipLog, several: bool) -> Iterator[Chunk]:
        choosing = None if self._choice is None else DocumentFilter(self._choice)
        for index, reader in enumerate(self._readers):
            if reader.source.is_word_list:
                continue
            pieces = reader.pieces(size, log)
            if choosing is not None:
                pieces = choosing.chosen(one_by_one(pieces), size)
            for piece in pieces if several else one_by_one(pieces):
                yield piece._replace(source=index)
            if choosing is not None and choosing.is_done:
                break
        if choosing is not None:
            choosing.report(log)


def _without_repeated_files(pairs: Sequence[tuple[Reader, str]], log: SkipLog) -> list[tuple[Reader, str]]:
    known: dict[str, str] = {}
    kept = []
    for reader, group in pairs:
        source = reader.source
        place = source.name if source.opens else None
        if source.path is not None:
            place = normalized_path(source.path)
        place = f"{source.group}\0{place}" if source.group and place is not None else place
        if place is not None and place in known:
            where = f", in the group {known[place]!r}" if known[place] else ""
            log.add(source.name, f"{source.name} is named more than once and counts once{where}")
            continue
        kept.append((reader, group))
        if place is not None:
            known[place] = group
    return kept


def normalized_path(path: Path | str) -> str:
    """Return the normalized absolute path. It is the same for all spellings of a path.

    The disk is not read, so a link and the linked file have different paths.
    """
    return os.path.normcase(os.path.normpath(Path(path).absolute()))


class Text(NamedTuple):
    """A document, or a line of a document with its line end."""

    data: bytes
    bytes_read: int  # bytes of its source read so far
    document: int  # its number in the source
    line: int  # its number in the document


class DocumentFilter:
    """A filter for the texts of a group. Each reading of the texts needs a new filter.

    The filter removes duplicates, then draws a sample, then keeps only the first bytes.

    If lines are drawn, each line counts as a separate text. So the draw depends neither on the order of the files
    nor on the neighbouring lines.
    """

    def __init__(self, group: Group) -> None:
        self._group = group
        self._seen: set[bytes] = set()
        self._room = group.sample.first_bytes
        self.left_out = 0  # the number of duplicates

    @property
    def is_done(self) -> bool:
        return self._room == 0

    def report(self, log: SkipLog) -> None:
        if self.left_out:
            what = self._group.unique if self.left_out > 1 else self._group.unique.removesuffix("s")
            where = f" of the group {self._group.name!r}" if self._group.name else ""
            were = "were" if self.left_out > 1 else "was"
            log.add(self._group.name, f"{self.left_out:,} duplicate {what}{where} {were} left out", self.left_out)

    def chosen(self, pieces: Iterable[Chunk], size: int) -> Iterator[Chunk]:
        """Yield the texts that pass the filter, in pieces of about `size` bytes.

        `pieces` holds the texts before they are filtered.
        """
        group = self._group
        if group.unique:
            pieces = one_by_one(_join_short_texts(self._different(_texts(pieces, group.unique)), size))
        if group.sample.fraction < 1:
            pieces = _join_short_texts(_draw_sample(_texts(pieces, group.sample.of), group), size)
        return iter(pieces) if self._room is None else self._first(one_by_one(pieces))

    def _different(self, texts: Iterator[Text]) -> Iterator[Text]:
        for text in texts:
            digest = blake2b(text.data, digest_size=DIGEST).digest()
            if digest in self._seen:
                self.left_out += 1
                continue
            self._seen.add(digest)
            yield text

    def _first(self, pieces: Iterable[Chunk]) -> Iterator[Chunk]:
        for piece in pieces:
            assert self._room is not None  # the caller checked it
            if len(piece.data) <= self._room:
                self._room -= len(piece.data)
                yield piece._replace(ends_document=piece.ends_document or not self._room)
            else:
                end = length_of_whole_characters(memoryview(piece.data)[: self._room])
                self._room = 0
                if end:
                    yield Chunk(piece.data[:end], True, piece.bytes_read)
            if self.is_done:
                return


def _texts(pieces: Iterable[Chunk], of: Of) -> Iterator[Text]:
    held: list[bytes] = []
    length = document = line = 0
    for data, ends_document, bytes_read, *_ in pieces:
        parts = bytes(data).splitlines(keepends=True) if of == "lines" else [bytes(data)]
        for part in parts:
            held.append(part)
            length += len(part)
            if of == "lines" and part.endswith(b"\n"):
                yield Text(_joined(held), bytes_read, document, line)
                held = []
                length = 0
                line = line + 1
        check_room(2 * length, "Reading a text as a whole", SHORTER)
        if ends_document:
            if held:
                yield Text(_joined(held), bytes_read, document, line)
            held = []
            length = 0
            document = document + 1
            line = 0


def _joined(parts: list[bytes]) -> bytes:
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _draw_sample(texts: Iterator[Text], group: Group) -> Iterator[Text]:
    """Yield the texts of a random sample.

    The draw for a text depends only on the seed, on the bytes of the text, and on the numbers of its document
    and its line. So the sample is the same with any number of threads. If duplicates were removed, the number of the
    document is ignored, because it depends on the order of the files.
    """
    enough = group.sample.fraction * CHANCES
    seed = group.sample.seed
    limit = enough.numerator // enough.denominator
    for text in texts:
        draw = blake2b(b"%d %d %d " % (seed, 0 if group.unique else text.document, text.line), digest_size=8)
        draw.update(text.data)
        if (int.from_bytes(draw.digest(), "big") < limit) is not group.sample.rest:
            yield text


def _join_short_texts(texts: Iterator[Text], size: int) -> Iterator[Chunk]:
    """Join short texts into chunks of about `size` bytes.

    Making a separate chunk for each line would take more time than counting the line's words.
    """
    held: list[bytes] = []
    length = bytes_read = 0
    for text in texts:
        if length + len(text.data) > size:
            yield from _together(held, size, bytes_read)
            held = []
            length = 0
        held.append(text.data)
        length = length + len(text.data)
        bytes_read = text.bytes_read
    yield from _together(held, size, bytes_read)


def _together(texts: list[bytes], size: int, bytes_read: int) -> Iterator[Chunk]:
    if len(texts) == 1:
        yield from pieces_of(texts[0], size, bytes_read)
    elif texts:
        ends = np.cumsum([len(text) for text in texts])[:-1]
        yield Chunk(b"".join(texts), True, bytes_read, ends)
