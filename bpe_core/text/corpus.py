"""A corpus: texts from anywhere, read in blocks of bounded memory.

>>> corpus = Corpus.from_texts(["low lower", "lowest"])
>>> [(bytes(chunk.data), chunk.ends_document) for chunk in corpus.chunks()]
[(b'low lower', True), (b'lowest', True)]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable
from bpe_core.errors import CorpusError
from bpe_core.records import dataclass
from bpe_core.text.reading.skipped import SkipLog, Skipped
from bpe_core.text.reading.source import (
    Bytes,
    DocumentPiece,
    OnBadRow,
    OnInvalid,
    Reader,
    ReadingOptions,
    Source,
    one_by_one,
)
from bpe_core.text.reading.texts import TextsReader, encoded

if TYPE_CHECKING:
    from bpe_core.mixture import Group, Mixture
    from bpe_core.text.reading.files import FileReader

__all__ = ["Chunk", "Corpus", "Skipped", "Source"]

CHUNK_SIZE = 1024 * 1024  # larger ones were never read faster, and some texts half as fast


@dataclass(frozen=True)
class Chunk:
    """A stretch of one document, as valid UTF-8 that begins and ends between characters.

    Who can tell documents apart may ask for several in a chunk, which is much faster where they are short.
    """

    data: Bytes  # never empty, and never changed once handed out
    source: int  # index into `corpus.sources`
    ends_document: bool
    bytes_read: int  # of this source as it is stored (compressed, say), for progress
    inner_ends: npt.NDArray[np.int64] | None = None  # where documents end before the end of the data

    def documents(self) -> Iterator[Chunk]:
        """The same, one document after the other."""
        whole = DocumentPiece(self.data, self.ends_document, self.bytes_read, self.inner_ends)
        for data, ends_document, bytes_read, _ in one_by_one([whole]):
            yield Chunk(data, self.source, ends_document, bytes_read)


class Corpus:
    """Where texts come from; nothing is kept in memory but what was given in memory.

    A document is one text: a file, a row of a .jsonl or .csv file, or one of the texts given.
    """

    def __init__(
        self,
        readers: Sequence[Reader],
        word_counts: WordTable | None = None,
        log: SkipLog | None = None,
        groups: Sequence[str] = (),
    ) -> None:
        """`groups` tells of each reader to which it belongs; those of one group stand together."""
        self._readers = tuple(readers)
        self.word_counts = word_counts
        self.group_of_source = tuple(groups) or ("",) * len(readers)
        self.sources: tuple[Source, ...] = tuple(reader.source for reader in readers)
        self._found_while_opening = log or SkipLog()
        self._found_while_reading = SkipLog()
        self._choice: Group | None = None  # of a part that is not read as a whole
        self._is_part = False

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
    ) -> Corpus:
        """Files, folders, and "-" for standard input.

        The name tells the kind: .jsonl, .csv, .tsv, .parquet, .arrow and .feather hold a text a row in
        `field` (`doc.body`, `messages[].content`; without it the usual names are looked for), .tar and
        .zip hold files, everything else is plain text; .gz .bz2 .xz .zst on top of that are
        decompressed. A table of words and counts is taken as such if `word_list` says so, or else if its
        names do ("word", "count"). A byte order mark tells the encoding, else `encoding`, else it is UTF-8. Addresses
        (s3://...) are opened by the packages that are installed for them.

        A file that is named twice (by itself and by its folder, say) is read once, unless it is to count `twice`.
        Of folders `only` these files are read, by their paths in them.
        """
        if isinstance(paths, (str, Path)):
            paths = [paths]
        log = SkipLog()
        options = ReadingOptions(encoding, on_invalid, field, on_bad_row, word_list)
        from bpe_core.text.reading.files import readers_of  # knows all kinds of files; words and texts need none

        readers = readers_of(list(paths), file_patterns, options, log, only)
        pairs: list[tuple[Reader, str]] = [(reader, reader.source.group) for reader in readers]
        return cls._of_pairs(pairs, log, twice)

    @classmethod
    def from_texts(cls, texts: Iterable[str], *, on_invalid: OnInvalid = "strict") -> Corpus:
        """Each text is a document. An iterator is read as a stream, and only once."""
        return cls([TextsReader(texts, on_invalid)])

    @classmethod
    def from_word_counts(cls, counts: Mapping[str, int]) -> Corpus:
        """Words that were counted elsewhere; they are taken as they are, neither normalized nor split."""
        for word, count in counts.items():
            if not isinstance(word, str) or not isinstance(count, int) or count >= 2**63:
                raise CorpusError(f"Word counts must be texts with whole numbers below 2^63, not {word!r}: {count!r}.")
        table = WordTable.from_counts((encoded(word, "replace"), count) for word, count in counts.items())
        return cls((), word_counts=table)

    @classmethod
    def joined(cls, corpora: Sequence[Corpus], *, twice: bool = False) -> Corpus:
        """Several corpora of texts as one, in order, group by group; a file that is in several is read once."""
        if any(corpus.word_counts is not None for corpus in corpora):
            raise CorpusError(
                "Word counts cannot be joined with texts; count the texts first and merge the word tables."
            )
        log = SkipLog()
        for corpus in corpora:
            for report in corpus._found_while_opening.reports():
                log.add(report.source, report.sentence, report.count)
        pairs = [pair for corpus in corpora for pair in zip(corpus._readers, corpus.group_of_source, strict=True)]
        return cls._of_pairs(pairs, log, twice)

    @classmethod
    def _of_pairs(cls, pairs: list[tuple[Reader, str]], log: SkipLog, twice: bool) -> Corpus:
        """Of readers with their groups: group by group, and no file twice unless it is to be."""
        order = {group: place for place, group in enumerate(dict.fromkeys(group for _, group in pairs))}
        pairs.sort(key=lambda pair: order[pair[1]])
        pairs = pairs if twice else _once_each(pairs, log)
        return cls([reader for reader, _ in pairs], log=log, groups=[group for _, group in pairs])

    @classmethod
    def grouped(cls, groups: Mapping[str, Corpus], *, twice: bool = False) -> Corpus:
        """Corpora of texts as the groups of one; a recipe's mixture speaks of them by name.

        >>> corpus = Corpus.grouped({"de": Corpus.from_texts(["neu"]), "code": Corpus.from_texts(["new"])})
        >>> corpus.groups
        ('de', 'code')
        """
        return cls.joined([corpus._in_group(name) for name, corpus in groups.items()], twice=twice)

    def _in_group(self, name: str) -> Corpus:
        return Corpus(self._readers, self.word_counts, self._found_while_opening, [name] * len(self._readers))

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of its groups, in the order they are read; one without a name where nobody made any."""
        return tuple(dict.fromkeys(self.group_of_source)) or ("",)

    def parts(self, mixture: Mixture | None = None) -> dict[str, Corpus]:
        """A corpus for each group, to be read once, of which is taken what the mixture says.

        What they meet while they are read is `skipped` here.
        """
        from bpe_core.mixture import Mixture

        said = (mixture or Mixture()).matched(self.groups)
        self._found_while_reading = SkipLog()
        return {group.name: self.part(group) for group in said}

    def part(self, group: Group) -> Corpus:
        """One of its groups, of which is taken what is said of it."""
        pairs = zip(self._readers, self.group_of_source, strict=True)
        part = Corpus([reader for reader, name in pairs if name == group.name], self.word_counts)
        part._is_part, part._found_while_reading = True, self._found_while_reading
        part._choice = None if group.takes_all else group
        return part

    def by_source(self) -> dict[str, Corpus]:
        """Each of its files or texts by itself, to be read once; what they meet on the way is `skipped` here."""
        self._found_while_reading = SkipLog()
        parts = {}
        for reader in self._readers:
            parts[reader.source.name] = self._of_these([reader])
        return parts

    def bunches(
        self, mixture: Mixture | None, size: int, split: Callable[[Reader, int], Sequence[Reader]] | None = None
    ) -> Iterator[tuple[str, Corpus]]:
        """Parts of about so many bytes that give the same words one after the other, each with its group's name.

        `split` may make several readers of a large text. Where something is taken of each text by itself, the texts
        stay whole; where what is taken of one hangs on those before it, the group is one part.
        """
        for name, part in self.parts(mixture).items():
            choice = part._choice
            if part.word_counts is not None or (choice is not None and choice.hangs_together):
                yield name, part
                continue
            held: list[Reader] = []
            length = 0
            for reader in sorted(part._readers, key=lambda reader: reader.source.is_word_list):
                for one in [reader] if split is None or choice is not None else split(reader, size):
                    if held and (one.source.is_word_list or length >= size):
                        yield name, part._of_these(held)
                        held, length = [], 0
                    held.append(one)
                    length += one.source.size or size
            if held:
                yield name, part._of_these(held)

    def apart(self) -> Corpus:
        """The same with remarks of its own, for whoever reads it elsewhere."""
        part = copy(self)
        part._is_part, part._found_while_reading = True, SkipLog()
        return part

    def _of_these(self, readers: Sequence[Reader]) -> Corpus:
        """A part of a part."""
        part = Corpus(readers)
        part._is_part, part._found_while_reading, part._choice = True, self._found_while_reading, self._choice
        return part

    def documents(self) -> Iterator[str]:
        """The texts themselves, one after the other, each as a whole."""
        held: list[Bytes] = []
        for chunk in self.chunks():
            held.append(chunk.data)
            if chunk.ends_document:
                yield b"".join(held).decode()
                held = []

    @property
    def word_lists(self) -> tuple[FileReader, ...]:
        """The files with words that were counted elsewhere; they are no texts, and are not among the chunks."""
        lists = [reader for reader in self._readers if reader.source.is_word_list]
        return tuple(cast("list[FileReader]", lists))  # nothing else than a file is one

    @property
    def has_texts(self) -> bool:
        return any(not source.is_word_list for source in self.sources)

    @property
    def remarks(self) -> SkipLog:
        """Where whoever reads the corpus tells what was odd about it."""
        return self._found_while_reading

    @property
    def total_size(self) -> int | None:
        """Bytes as stored; None where a source's size cannot be known."""
        sizes = [source.size for source in self.sources if source.size is not None]
        return sum(sizes) if len(sizes) == len(self.sources) else None

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What was left out or replaced: files of a folder that are not text, and what the last reading met."""
        return self._found_while_opening.reports() + self._found_while_reading.reports()

    def chunks(self, size: int = CHUNK_SIZE, *, several: bool = False) -> Iterator[Chunk]:
        """All texts in order, in chunks of at most about `size` bytes, of which each may hold `several` documents.

        One iterator may feed several threads that take turns under a lock: a chunk's data stays
        as it is when the next one is read.
        """
        if self.word_counts is not None or (self.word_lists and not self.has_texts):
            raise CorpusError("This corpus holds word counts, not texts: there is nothing to read.")
        if not self._is_part:
            self._found_while_reading = SkipLog()
        return self._chunks(size, self._found_while_reading, several)

    def _chunks(self, size: int, log: SkipLog, several: bool) -> Iterator[Chunk]:
        choosing = None
        if self._choice is not None:
            from bpe_core.text.choosing import Choosing  # what few mixtures want

            choosing = Choosing(self._choice)
        for index, reader in enumerate(self._readers):
            if reader.source.is_word_list:
                continue
            pieces = reader.pieces(size, log)
            if choosing is not None:
                pieces = choosing.chosen(one_by_one(pieces), size)
            for piece in pieces if several else one_by_one(pieces):
                yield Chunk(piece.data, index, piece.ends_document, piece.bytes_read, piece.inner_ends)
            if choosing is not None and choosing.is_done:
                break
        if choosing is not None:
            choosing.tell(log)


def _once_each(pairs: Sequence[tuple[Reader, str]], log: SkipLog) -> list[tuple[Reader, str]]:
    """Readers and their groups without those of a file that another reads before; that is told, and where it counts."""
    known: dict[str, str] = {}
    kept = []
    for reader, group in pairs:
        source = reader.source
        place = same_place(source.path) if source.path is not None else source.name if source.opens else None
        place = f"{source.group}\0{place}" if source.group and place is not None else place
        if place is not None and place in known:
            where = f", in the group {known[place]!r}" if known[place] else ""
            log.add(source.name, f"{source.name} is named more than once and counts once{where}")
            continue
        kept.append((reader, group))
        if place is not None:
            known[place] = group
    return kept


def same_place(path: Path | str) -> str:
    """The same of all ways to write a path. Nobody looks at the disk: a link is another file than what it leads to."""
    return os.path.normcase(os.path.normpath(Path(path).absolute()))
