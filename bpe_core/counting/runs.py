"""The pieces of a corpus, and the files that hold the counts of each piece.

A piece can be counted on any computer. Its counts are written to one or more files, which are called *runs*.

Each run holds a table of words. The words are divided into ranges by a hash, and each range can be read separately.
The column `place` has the position of a word in its table. The first run that holds a word decides where the word
was first seen.

A `Place` is a folder to which runs and counts are written. It is on this computer, or at an address.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias, cast

import numpy as np

from bpe_core.counting.count_files import STORED, CountedColumns, as_table, columns_from, needed_pyarrow, write_columns
from bpe_core.counting.count_words import count_in_runs
from bpe_core.counting.counts_of_recipe import head_by, splitting_by
from bpe_core.counting.grouped import hashes
from bpe_core.counting.words import MOST_SYMBOLS, WordColumns, WordTable, join
from bpe_core.errors import CorpusError, OutputError, cause_of
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.safe_cuts import SafeCuts
from bpe_core.support.arrays import Int64s
from bpe_core.support.atomic import replace_atomically, write_atomically
from bpe_core.support.foreign import DamagedPart
from bpe_core.support.parquet_file import ParquetFile
from bpe_core.support.progress import ALONE, Work
from bpe_core.text.corpus import Corpus, SkippedText
from bpe_core.text.mixture import Mixture
from bpe_core.text.reading.counts_head import COUNT, ENDING, LINE_ENDS, PLACE, CountsHead
from bpe_core.text.reading.files import FileReader, Reader
from bpe_core.text.reading.opening import is_address, open_raw, sentences, shown, without_password
from bpe_core.text.reading.source import Source, Span

if TYPE_CHECKING:
    # modules that can reach a network are loaded only when they are needed
    from bpe_core.text.reading.remote import RemotePlace

FEWEST_BITS = 3
MOST_BITS = 7
TEXT_A_RANGE = 2**25  # bytes
_RANGES_KEY = b"ranges"
_PLACES = 40  # bits of the position in a run, below the number of the run
DONE = ".done.json"
LOOKED_AT = 1 << 16  # bytes in which an offset to cut at is searched for; without one the span becomes longer


@dataclass(frozen=True)
class CorpusPiece:
    number: int
    group: str
    corpus: Corpus
    range_bits: int
    fingerprint: str

    @property
    def name(self) -> str:
        return f"{self.number:06}-{self.fingerprint[:24]}"


def pieces_of(corpus: Corpus, recipe: Recipe, size: int) -> list[CorpusPiece]:
    bits = range_bits(corpus.total_size)
    cuts = SafeCuts.of(recipe)
    bunches = corpus.parts_of_size(recipe.mixture, size, lambda reader, size: in_spans(reader, recipe, size, cuts))
    return [
        CorpusPiece(number, group, part, bits, _fingerprint_of(part, group, recipe, bits))
        for number, (group, part) in enumerate(bunches)
    ]


def head_of(corpus: Corpus, recipe: Recipe) -> CountsHead:
    """Return the head for a file of counts. It depends neither on the folder of the texts nor on the dates of their
    files."""
    said = [
        [group, source.counted or Path(source.name).name, source.size]
        for source, group in zip(corpus.sources, corpus.group_of_source, strict=True)
    ]
    return head_by(recipe, hashed([said, _chosen(recipe)]), corpus.groups)


def _chosen(recipe: Recipe) -> Any:
    mixture = recipe.mixture or Mixture()
    return [[group.name, repr(group.sample), group.unique] for group in mixture.groups if not group.takes_all]


def _fingerprint_of(part: Corpus, group: str, recipe: Recipe, bits: int) -> str:
    asked = [splitting_by(recipe), recipe.asks_for_line_ends, bits, group, _chosen(recipe)]
    sources = [
        [source.name, source.size, source.group, source.span, when_written(source), repr(how)]
        for source, how in zip(part.sources, part.reading_options, strict=True)
    ]
    return hashed([asked, sources])


def when_written(source: Source) -> Any:
    """Return a value that changes when a source's file is written again: its modification time or its version.

    For a source that cannot be read again, each call returns a new random value.
    """
    if source.path is not None:
        with suppress(OSError):
            return source.path.stat().st_mtime_ns
    return source.version if source.opens is not None else secrets.token_hex(16)


def name_of_sum(runs: Sequence[str], number: int) -> str:
    """Return the name of the file that holds the summed counts of several runs, for one range of words.

    `runs` are the names of the runs, and `number` is the number of the range. The file's name contains a hash
    of `runs`, so different runs have different files.
    """
    return f"{hashed(runs)[:16]}-range-{number:03}{ENDING}"


def hashed(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True).encode()).hexdigest()


def count_piece(
    piece: CorpusPiece,
    recipe: Recipe,
    head: CountsHead,
    work: Place,
    room: int | None = None,
    watched: Work = ALONE,
    threads: int | None = None,
) -> tuple[SkippedText, ...]:
    """Count a piece: write its runs, mark the piece as done, and return the reports of skipped text.

    Two workers may count a piece at the same time, if one of them seemed to be lost. Their tables may become full at
    different words, because this depends on the free memory. So the name of a run depends on its content, and no run
    replaces another run.
    """
    names = []
    for number, table in enumerate(count_in_runs(piece.corpus, recipe, room, watched, threads)):
        columns = _columns(table, piece.group, head)
        names.append(f"{piece.name}-{_digest(columns)}-{number:04}.parquet")
        with work.writing(names[-1]) as file:
            write_run(columns, piece.range_bits, file)
    with work.writing(piece.name + DONE) as file:
        file.write(json.dumps(names).encode())
    return piece.corpus.skipped


def _columns(table: WordTable, group: str, head: CountsHead) -> CountedColumns:
    numbers = {head.column(COUNT, group): table.counts}
    if table.line_ends is not None:
        numbers[head.column(LINE_ENDS, group)] = table.line_ends
    return CountedColumns(table.columns, numbers)


def _digest(columns: CountedColumns) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in (*columns.words, *columns.numbers.values()):
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def pieces_to_count(pieces: list[CorpusPiece], work: Place) -> list[CorpusPiece]:
    """Return the pieces that must be counted: their counting has not finished, or one of their runs is missing."""
    there = set(work.names())
    return [piece for piece in pieces if piece.name + DONE not in there or not there.issuperset(_runs(piece, work))]


def runs_of(pieces: list[CorpusPiece], work: Place) -> Iterator[str]:
    for piece in pieces:
        yield from _runs(piece, work)


def _runs(piece: CorpusPiece, work: Place) -> list[str]:
    with work.open(piece.name + DONE) as file:
        try:
            return [*map(str, json.loads(file.read()))]
        except (ValueError, TypeError) as error:
            raise CorpusError(
                f"{work.name}/{piece.name}{DONE} is damaged. Remove this file and count again."
            ) from error


def check_for_workers(sources: Iterable[Source]) -> None:
    """Raise CorpusError if a source can be read only by this process, such as standard input."""
    for source in sources:
        if source.path is None and source.opens is None and source.kind != "texts":
            raise CorpusError(
                f"{source.name} cannot be read by a cluster. Save the text to a file that all workers can read."
            )


def in_spans(reader: Reader, recipe: Recipe, size: int, cuts: SafeCuts) -> list[Reader]:
    """Divide a large plain text into spans of about `size` bytes. The spans give the same words as the whole text.

    A span ends at an offset that `cuts` allows. Every other text is returned undivided.

    A text also stays undivided if the recipe counts the ends of lines, because the end of a span would count as the end
    of a line. It stays undivided if the recipe has a custom pattern, too. Such a pattern must match somewhere in each
    text, and a span without a match would be refused, although other spans have matches.
    """
    source = reader.source
    is_plain = source.kind == "text" and not source.compression and source.encoding in ("utf-8", "utf-8-sig")
    is_one = not isinstance(reader, FileReader) or source.size is None or source.size < 2 * size
    if is_one or not is_plain or source.is_word_list or recipe.asks_for_line_ends or recipe.pattern == "custom":
        return [reader]
    assert isinstance(reader, FileReader)
    assert source.size is not None
    places = [0, *_places(source, cuts, size), source.size]
    spans = (Span(start, stop, source.size) for start, stop in pairwise(places))
    return [reader.of(replace(source, size=span.stop - span.start, span=span)) for span in spans]


def _places(source: Source, cuts: SafeCuts, size: int) -> list[int]:
    """Return the offsets at which a text is divided into spans, in ascending order.

    Return no offsets for a file that cannot be opened. The error is reported later, when the file is read.
    """
    assert source.size is not None  # the caller checked it
    places: list[int] = []
    if not cuts.pairs.any():
        return places
    try:
        with open_raw(source) as raw:
            for at in range(size, source.size - size // 2, size):
                with sentences(source.name):
                    raw.seek(at)
                    safe = cuts.places(raw.read(LOOKED_AT))
                if len(safe):
                    places.append(at + int(safe[0]))
    except CorpusError:
        return []
    return [place for place, last in zip(places, [0, *places], strict=False) if place > last]


def range_bits(text: int | None) -> int:
    """Return how many bits of a word's hash decide in which range of a table the word is stored.

    Larger texts have more ranges. `text` is the size of all texts in bytes, or None if it is unknown.
    """
    return MOST_BITS if text is None else min(max((text // TEXT_A_RANGE).bit_length(), FEWEST_BITS), MOST_BITS)


def write_run(columns: CountedColumns, bits: int, file: BinaryIO) -> None:
    """Write a table of words in parts that can be read separately.

    There are 2 ** `bits` ranges of hashes. Each part holds the words whose hashes are in one range.
    """
    arrow = needed_pyarrow()
    ranges = (hashes(columns.words, np.arange(len(columns.words))) >> np.uint64(64 - bits)).astype(np.int64)
    order = np.argsort(ranges, kind="stable")
    columns = columns._replace(numbers={**columns.numbers, PLACE: np.arange(len(columns.words))})
    table = as_table(columns).take(arrow.array(order))
    borders = np.searchsorted(ranges[order], np.arange((1 << bits) + 1))
    some = np.flatnonzero(np.diff(borders)).tolist()
    schema = table.schema.with_metadata({_RANGES_KEY: json.dumps(some)})
    with arrow.parquet.ParquetWriter(file, schema, **STORED) as writer:
        for number in some:
            rows = int(borders[number + 1] - borders[number])
            writer.write_table(table.slice(int(borders[number]), rows).cast(schema), row_group_size=rows)


def add_up(place: Place, runs: Sequence[str], number: int) -> CountedColumns:
    """Add up the counts of the words in one range over all runs. Return a table that contains each of these words once.

    A run is a file with a table of words. Every run divides its words into the same numbered ranges. `runs` holds the
    names of the runs in the folder `place`, and `number` is the number of the range. The table's column `place` gives
    the order in which the words were first seen.
    """
    parts = []
    for index, name in enumerate(runs):
        part = _range_in(place, name, number)
        if part is not None:
            firsts = part.numbers[PLACE] | (index << _PLACES)
            parts.append(part._replace(numbers={**part.numbers, PLACE: firsts}))
    return added(parts)


def added(parts: Sequence[CountedColumns]) -> CountedColumns:
    if not parts:
        return CountedColumns(WordColumns.of([]), {PLACE: np.zeros(0, np.int64)})
    joined = join([part.words for part in parts])
    names = dict.fromkeys(name for part in parts for name in part.numbers)
    numbers = {name: np.zeros(len(joined.columns), np.int64) for name in names}
    for part, rows in zip(reversed(parts), reversed(joined.rows), strict=True):
        for name, values in part.numbers.items():
            if name == PLACE:
                numbers[name][rows] = values  # parts come in reverse order, so the first position stays
            else:
                numbers[name][rows] += values
    if not all(_tells_line_ends(part.numbers) for part in parts):
        numbers = {name: values for name, values in numbers.items() if not name.startswith(LINE_ENDS)}
    return CountedColumns(joined.columns, numbers)


def summed(columns: CountedColumns, head: CountsHead) -> CountedColumns:
    given = columns.numbers
    none = np.zeros(len(columns.words), np.int64)
    numbers: dict[str, Int64s] = {}
    for kind in (COUNT, LINE_ENDS) if _tells_line_ends(given) else (COUNT,):
        of_groups = {head.column(kind, group): given.get(head.column(kind, group), none) for group in head.groups}
        total = sum(of_groups.values(), none)
        if float(sum(values.sum(dtype=float) for values in of_groups.values())) > MOST_SYMBOLS:
            raise CorpusError("The counts of words are too large for 64-bit numbers.")
        numbers |= {kind: total, **of_groups} if head.names_groups else {kind: total}
    return CountedColumns(columns.words, {**numbers, PLACE: given[PLACE]})


def write_in_order(tables: Sequence[CountedColumns], head: CountsHead, file: BinaryIO, *, tells_place: bool) -> None:
    """Write several tables into one file, with the words in the order of their positions. No word is in two tables.

    If `tells_place` is true, the positions are written too.
    """
    arrow = needed_pyarrow()
    whole = arrow.concat_tables(list(map(as_table, tables)), promote_options="default")
    whole = whole.take(arrow.compute.sort_indices(whole.column(PLACE)))
    if not tells_place:
        whole = whole.drop_columns([PLACE])
    write_columns(columns_from(whole, "a table of words"), head, file)


def _range_in(place: Place, name: str, number: int) -> CountedColumns | None:
    def read(file: Any) -> Any:
        some = json.loads(file.schema.metadata[_RANGES_KEY])
        return file.read(groups=[some.index(number)]) if number in some else None

    return read_stored(place, name, read, "remove this file, and its texts are counted again")


def read_stored(place: Place, name: str, read: Callable[[Any], Any], advice: str) -> CountedColumns | None:
    """Read a Parquet file that this count wrote, with the function `read`. Return None if the function returns None.

    Raise CorpusError if the file is damaged. The message ends with `advice`.
    """
    arrow = needed_pyarrow()
    with place.open(name) as raw:
        try:
            table = read(ParquetFile(raw))
        except (DamagedPart, arrow.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
            raise CorpusError(f"{place.name}/{name} is damaged; {advice}.") from error
    return None if table is None else columns_from(table, f"{place.name}/{name}")


def _tells_line_ends(numbers: Mapping[str, Int64s]) -> bool:
    return any(name.startswith(LINE_ENDS) for name in numbers)


Place: TypeAlias = "LocalPlace | RemotePlace"


@dataclass(frozen=True)
class LocalPlace:
    """A folder on this computer. A file in it becomes visible once it is complete."""

    path: Path

    @property
    def name(self) -> str:
        return shown(self.path)

    def names(self) -> list[str]:
        if not self.path.is_dir():
            return []
        with sentences(self.name):
            return sorted(path.name for path in self.path.iterdir() if not path.name.startswith("."))

    def open(self, name: str) -> BinaryIO:
        with sentences(shown(self.path / name)):
            return cast(BinaryIO, open(self.path / name, "rb"))

    def make(self) -> None:
        """Make the folder.

        Only the counting process may call this. A worker that the cluster has given up could otherwise create the
        folder again after it was removed.
        """
        try:
            self.path.mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError(f"Could not make the folder {self.name}: {cause_of(error)}.") from error

    def writing(self, name: str) -> contextlib.AbstractContextManager[BinaryIO]:
        return write_atomically(self.path / name)

    def take(self, name: str, other: Any, other_name: str) -> None:
        """Move a file from a different local place to this place.

        `other_name` is the old name of the file, and `name` is its new name.
        """
        with replace_atomically(self.path / name) as beside:
            shutil.move(other.path / other_name, beside)

    def remove(self, names: Iterable[str]) -> None:
        """Remove the files with the given names, and then the folder if it is empty."""
        for name in names:
            try:
                (self.path / name).unlink(missing_ok=True)
            except OSError as error:
                raise OutputError(f"Could not remove {shown(self.path / name)}: {cause_of(error)}.") from error
        with contextlib.suppress(OSError):
            for half in self.path.glob(".*.part"):  # temporary files of a writer that was killed
                half.unlink()
            self.path.rmdir()


def place_of(address: str) -> Place:
    if not is_address(address):
        return LocalPlace(Path(address))
    from bpe_core.text.reading.remote import RemotePlace

    return RemotePlace(without_password(address.rstrip("/")), address.rstrip("/"))


def folder_and_name(address: str) -> tuple[str, str]:
    if is_address(address):
        folder, _, name = address.rstrip("/").rpartition("/")
        return folder, name
    path = Path(address)
    return str(path.parent), path.name
