"""A reader of merges that a file lists as pairs of texts, one pair in each line. It returns pairs of ids.

Several merges in a file may make the same text. Only one of them is used: the first merge whose two parts
exist.
"""

from __future__ import annotations

import codecs
import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, repeat
from operator import add

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats.base import Flaw, about, decoded
from bpe_core.formats.recovering import Recovery
from bpe_core.history.columns import Int64s
from bpe_core.history.joining import PairRows
from bpe_core.history.token_texts import quoted
from bpe_core.recipes.choice import LARGEST_VOCABULARY
from bpe_core.support.arrays import Bools
from bpe_core.support.result_cache import cached
from bpe_core.support.wording import count_text

NO_LIMIT = 2**62
NOWHERE = -1  # the position of a text that is not among all texts
NEVER = 2**62  # the turn of a token that no merge makes


@dataclass(frozen=True, eq=False)
class WrittenMerges:
    """The merges of a file, with one list for all left texts and one list for all right texts.

    Most checks need only one call for all merges.
    """

    left: list[str]
    right: list[str]
    places: Sequence[int]  # the place of each merge in the file: its line, or its number
    mark: str = ""  # the prefix of tokens that continue a word; a merge drops the prefix of its right part

    @cached_property
    def made(self) -> list[str]:
        unmarked = len(self.mark)
        if not unmarked:
            return [*map(add, self.left, self.right)]
        return [left + right[unmarked:] for left, right in zip(self.left, self.right, strict=True)]

    def __len__(self) -> int:
        return len(self.left)

    def __iter__(self) -> Iterator[tuple[str, str, int]]:
        return zip(self.left, self.right, self.places, strict=True)

    def first(self, number: int) -> WrittenMerges:
        return WrittenMerges(self.left[:number], self.right[:number], self.places[:number], self.mark)


def split_at_blank(texts: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """Split each text at its only space. Return None if a text has no space, or several spaces.

    >>> split_at_blank(["l o", "lo w"])
    (['l', 'lo'], ['o', 'w'])
    >>> [split_at_blank(texts) for texts in (["l o", "low"], ["l o", " w"], ["l o w", "low"])]
    [None, None, None]
    """
    parts = " ".join(texts).split(" ")
    if len(parts) != 2 * len(texts) or not all(parts) or not all(map(str.__contains__, texts, repeat(" "))):
        return None
    return parts[::2], parts[1::2]


@dataclass
class ResolvedMerges:
    pairs: list[tuple[int, int]] | Int64s = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    never_happen: list[str] = field(default_factory=list)  # texts that another merge always makes earlier
    places: Int64s | None = None  # positions of the texts, if they are known


class PlacedMerges:
    """The merges of a file in columns of numbers, which are faster to check than texts.

    The class lists all texts of the file. Each number is the position of a text in this list. `place_of` maps each
    text to its position, if such a dictionary is there already.
    """

    def __init__(self, merges: WrittenMerges, texts: Sequence[str], place_of: Mapping[str, int] | None = None) -> None:
        self._merges = merges
        self._place_of = place_of or dict(zip(texts, range(len(texts)), strict=True))
        self.left, self.right = map(self.places, (merges.left, merges.right))
        self.made = self._places_of_made(texts)

    def places(self, texts: Collection[str]) -> Int64s:
        """Return the position of each text in the list. A text that is not in the list has the position NOWHERE."""
        try:
            return np.fromiter(map(self._place_of.__getitem__, texts), np.int64, len(texts))
        except KeyError:  # rare, and `get` takes twice the time
            return np.fromiter(map(self._place_of.get, texts, repeat(NOWHERE)), np.int64, len(texts))

    def _places_of_made(self, texts: Sequence[str]) -> Int64s:
        """Return the position of the text that each merge makes.

        Most files list these texts in the order of the merges. Comparing two lists takes less time than looking up each
        text.
        """
        made = self._merges.made
        first = self._place_of.get(made[0], NOWHERE) if made else NOWHERE
        is_in_turn = first != NOWHERE and texts[first : first + len(made)] == made
        return np.arange(first, first + len(made)) if is_in_turn else self.places(made)

    def mask_of(self, *columns: Int64s) -> Bools:
        """Return a mask of all texts in the list. A text is chosen if at least one column holds its position."""
        mask = np.zeros(len(self._place_of) + 1, np.bool_)  # NOWHERE is the last position
        for column in columns:
            mask[column] = True
        return mask[:NOWHERE]

    @property
    def are_known(self) -> bool:
        return all((column != NOWHERE).all() for column in (self.left, self.right, self.made))

    def are_in_order(self, base: Mapping[str, int]) -> bool:
        """Return whether each merge joins two texts that exist already: base symbols, or results of earlier merges.

        Two merges may make the same text only if all base symbols are single characters, and no pair is listed twice.
        """
        rows = np.arange(len(self.made))
        makers = self._makers(base, rows)
        if not (self.are_known and (self._rows_of_parts(makers, rows) < rows).all()) or (makers[self.made] < 0).any():
            return False
        makes_anew = (makers[self.made] < rows).any()
        return not makes_anew or (_are_letters(base) and len(self.last_of_each_pair) == len(rows))

    def _makers(self, base: Mapping[str, int], rows: Int64s) -> Int64s:
        """Return an array with an item for each text: the first merge in `rows` that makes the text.

        A base symbol has the value -1. A text that no merge makes has the number of merges as its value.
        """
        makers = np.full(len(self._place_of) + 1, len(self.made))
        makers[self.made[rows][::-1]] = rows[::-1]
        makers[self.places(base)] = -1
        return makers[:NOWHERE]

    def _rows_of_parts(self, makers: Int64s, rows: Int64s) -> Int64s:
        """Return, for each merge in `rows`, the later of the two merges that make its parts.

        `makers` holds, for each text of the file, the merge that makes this text.
        """
        return np.maximum(makers[self.left[rows]], makers[self.right[rows]])

    @cached_property
    def last_of_each_pair(self) -> Int64s:
        """Return the rows of the merges in order.

        If several merges join the same pair, only the last of them is included.
        """
        pairs = self.left * len(self._place_of) + self.right
        in_order = np.sort(pairs)
        if (in_order[1:] != in_order[:-1]).all():
            return np.arange(len(pairs))
        _, from_behind = np.unique(pairs[::-1], return_index=True)
        return np.sort(len(pairs) - 1 - from_behind)

    def pair_rows(self, at: Int64s) -> PairRows:
        """Return the merges as rows of token ids. The token with the id `i` has the text at position `at[i]`.

        A merge is left out if one of its texts has no token.
        """
        id_of = np.full(len(self._place_of) + 1, NOWHERE)
        id_of[at] = np.arange(len(at))
        id_of[NOWHERE] = NOWHERE
        rows = self.last_of_each_pair
        columns = [id_of[column[rows]] for column in (self.left, self.right, self.made)]
        known = np.minimum.reduce(columns) != NOWHERE
        return PairRows(*(column[known] for column in columns))

    def resolved_at_once(self, base: Mapping[str, int], first_id: int) -> ResolvedMerges | None:
        """Return the merges as pairs of ids.

        Return None if a part of a merge is made later, or if two merges make the same text.
        """
        rows = np.arange(len(self.made))
        if len(rows) > LARGEST_VOCABULARY or self.mask_of(self.made).sum() < len(rows) or not self.are_in_order(base):
            return None
        return self._resolved(base, first_id, rows, self._merges.made)

    def resolved_in_turn(self, base: Mapping[str, int], first_id: int) -> ResolvedMerges:
        """Return the merges as pairs of ids, in the order in which they take effect.

        A merge is possible as soon as its two parts exist. Among all possible merges, the one that comes first in the
        file takes effect next.
        """
        rows = self._rows_in_turn(base)
        made = self._merges.made
        return self._resolved(base, first_id, rows, [made[row] for row in rows.tolist()])

    def _resolved(self, base: Mapping[str, int], first_id: int, rows: Int64s, made: list[str]) -> ResolvedMerges:
        """Return the merges in `rows` as pairs of ids. Each merge must come after the merges that make its parts.

        `made` holds the texts that these merges make.
        """
        id_of = np.full(len(self._place_of) + 1, NOWHERE)
        id_of[self.places(base)] = np.fromiter(base.values(), np.int64, len(base))
        id_of[self.made[rows]] = np.arange(first_id, first_id + len(rows))
        pairs = np.stack([id_of[self.left[rows]], id_of[self.right[rows]]], axis=1)
        return ResolvedMerges(pairs, made, places=self.made[rows])

    def _rows_in_turn(self, base: Mapping[str, int]) -> Int64s:
        """Return the rows of the merges that take effect, in the order in which they take effect.

        This is the order of the file, with one exception: a merge that needs the result of a later merge takes
        effect right after that later merge. If several merges make the same text, only the first of them takes
        effect.
        """
        births, possible = self._first_rows(base)
        rows = np.flatnonzero((possible < NEVER) & (possible == births[self.made]))
        counts = np.bincount(possible[rows], minlength=1)
        is_crowd = counts[possible[rows]] > 1  # rarely, an earlier merge waits for the result of this one
        born = np.concatenate((rows[~is_crowd], self._one_by_one(rows[is_crowd])))
        return born[np.argsort(possible[born], kind="stable")]

    def _first_rows(self, base: Mapping[str, int]) -> tuple[Int64s, Int64s]:
        """Return two arrays: the row that first makes each text, and the row at which each merge can first happen.

        The row numbers are positions in the file. A base symbol has the row -1. A text that is never made, or a merge
        that never happens, has the row NEVER.
        """
        births = np.full(len(self._place_of) + 1, NEVER)
        possible = np.empty(len(self.made), np.int64)
        births[self.places(base)] = -1
        mark = self._merges.mark
        bare = [text.removeprefix(mark) for text in self._merges.made]
        lengths = np.fromiter(map(len, bare), np.int64, len(bare))
        shortest_first = np.argsort(lengths, kind="stable")  # a part is shorter than the token made of it
        groups = np.split(shortest_first, np.flatnonzero(np.diff(lengths[shortest_first])) + 1)
        before = births[:0]
        while not np.array_equal(before, births):
            before = births.copy()
            for rows in groups:
                possible[rows] = np.maximum(rows, np.maximum(births[self.left[rows]], births[self.right[rows]]))
                np.minimum.at(births, self.made[rows], possible[rows])
            if not mark:  # a word can spell the mark itself; without a mark, one round is enough
                break
        return births[:NOWHERE], possible

    def _one_by_one(self, rows: Int64s) -> Int64s:
        """Return the merges in `rows` that can be made, in the order in which they are made.

        A merge waits until both of its parts exist. A part exists from the beginning if no merge in `rows` makes it.
        """
        is_known = np.ones(len(self._place_of), np.bool_)
        is_known[self.made[rows]] = False
        left, right, made = (
            dict(zip(rows.tolist(), of[rows].tolist(), strict=True)) for of in (self.left, self.right, self.made)
        )
        waiting: dict[int, list[int]] = {}
        happening: list[int] = []

        def try_to_make(row: int) -> bool:
            """Make the merge `row` if it can be made now, and return whether it was made.

            A merge is not made if its text exists already. If one of its parts is missing, it waits for this part.
            """
            if is_known[made[row]]:
                return False
            missing = right[row] if is_known[left[row]] else left[row]
            if is_known[missing]:
                is_known[made[row]] = True
                happening.append(row)
                return True
            waiting.setdefault(missing, []).append(row)
            return False

        for first in rows.tolist():
            ready = [first]
            while ready:
                row = heapq.heappop(ready)
                for behind in waiting.pop(made[row], ()) if try_to_make(row) else ():
                    heapq.heappush(ready, behind)
        return np.array(happening, np.int64)


def listed_twice(merges: WrittenMerges) -> list[Flaw]:
    """Return a note if merges occur more than once in a file. No trainer writes such a list."""
    often = Counter(zip(merges.left, merges.right, strict=True)) if len(merges) else Counter[tuple[str, str]]()
    again = [f"{left} {right}" for (left, right), times in often.items() if times > 1]
    return [*map(Flaw, about(again, "merges are listed more than once, which is impossible in training: {}"))]


def _are_letters(base: Mapping[str, int]) -> bool:
    return all(len(text) == 1 for text in base)


def resolved_at_once(base: Mapping[str, int], first_id: int, merges: WrittenMerges) -> ResolvedMerges | None:
    """Return the merges as pairs of ids, much faster than `resolve`.

    Return None if a merge joins texts that do not exist yet, or makes a text that exists already.
    """
    return PlacedMerges(merges, list(dict.fromkeys(chain(base, merges.made)))).resolved_at_once(base, first_id)


def resolve(base: Mapping[str, int], first_id: int, merges: WrittenMerges, where: str) -> ResolvedMerges:
    """Return the merges as pairs of ids.

    `base` maps the text of each base symbol to its id. `first_id` is the id of the first merge. `where` is the place of
    a merge in errors, such as "merges.txt, line {}".

    >>> found = resolve({"l": 0, "o": 1, "w": 2}, 3, WrittenMerges(["l", "lo"], ["o", "w"], [1, 2]), "line {}")
    >>> found.pairs.tolist()
    [[0, 1], [3, 2]]
    """
    if len(merges) > LARGEST_VOCABULARY:
        raise FormatError(f"{where.format(LARGEST_VOCABULARY + 1)}: there are more than {LARGEST_VOCABULARY:,} merges.")
    if (at_once := resolved_at_once(base, first_id, merges)) is not None:
        return at_once
    makers = Counter(merges.made)
    several = {text for text, number in makers.items() if number > 1}
    id_of = dict(base)
    pairs: list[tuple[int, int]] = []
    resolved = ResolvedMerges(pairs)
    recovery = Recovery(id_of)
    one_by_one = _are_letters(base)
    for left, right, place in merges:
        joined = left + right
        if joined in several and not _happens(left, right, id_of, recovery if one_by_one else None):
            resolved.never_happen.append(joined)
            continue
        for part in (left, right):
            if part not in id_of:
                raise FormatError(
                    f"{where.format(place)}: the merge uses {quoted(part)}, but no earlier merge makes this "
                    "token, and it is not a base symbol."
                )
        if joined in id_of:
            raise FormatError(
                f"{where.format(place)}: the merge makes {quoted(joined)}, which is a base symbol already."
            )
        pairs.append((id_of[left], id_of[right]))
        resolved.texts.append(joined)
        id_of[joined] = first_id + len(resolved.texts) - 1
    return resolved


def _happens(left: str, right: str, id_of: Mapping[str, int], recovery: Recovery[str] | None) -> bool:
    joined = left + right
    if joined in id_of:
        return False  # an earlier merge made it, and leaves nothing for this one
    if recovery is None:
        return left in id_of and right in id_of
    return recovery.pieces(joined, NO_LIMIT) == [left, right]


VERSION = "#version"
LONGEST_LINE = 2**20  # bytes
LOOK = 100_000  # bytes at the beginning that show whether each line has a pair


def read_pairs(data: bytes, name: str) -> tuple[WrittenMerges, str]:
    """Return the merges of a whole file, and its version line. The version line is empty if the file has none."""
    return cached("pairs", data, lambda: _read_pairs(data, name))


def _read_pairs(data: bytes, name: str) -> tuple[WrittenMerges, str]:
    if (at_once := _read_at_once(data)) is not None:
        return at_once
    rows: list[tuple[str, str, int]] = []
    version = ""
    for number, text in enumerate(lines_of(data, name), start=1):
        if number == 1 and _is_version(text):
            version = _version_in(text)
        elif text:
            parts = text.split(" ")
            if len(parts) != 2 or not all(parts):
                raise FormatError(
                    f"{name}, line {number:,}: there must be two tokens with one space between, not {text[:80]!r}. "
                    "A token that holds a space or a line break cannot be written in such a file."
                )
            rows.append((parts[0], parts[1], number))
    return WrittenMerges([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]), version


def _read_at_once(data: bytes) -> tuple[WrittenMerges, str] | None:
    """Return the merges and the version line of a file in the usual form.

    Return None if the lines must be checked one by one.
    """
    try:
        lines = data.decode("utf-8-sig").removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        return None
    version = _version_in(lines[0]) if _is_version(lines[0]) else ""
    parts = split_at_blank(lines[bool(version) :])
    if parts is None or b"\r" in data or 4 * max(map(len, lines)) > LONGEST_LINE:
        return None
    return WrittenMerges(*parts, range(1 + bool(version), 1 + len(lines))), version


def _is_version(line: str) -> bool:
    """Return whether the first line of a file is a header that names a version or a program, and not a merge."""
    return line.startswith(VERSION) or (VERSION in line and len(line.split(" ")) == 2)


def _version_in(line: str) -> str:
    return line[line.index(VERSION) :].strip()


def pairs_at_the_beginning(data: bytes) -> list[tuple[str, str]]:
    """Return the pairs in the first lines of a file, without the version line.

    Return an empty list if a line is not a pair.
    """
    whole, _, _ = data[:LOOK].rpartition(b"\n")  # the last line may be truncated
    head = (whole or data[:LOOK]).removeprefix(codecs.BOM_UTF8)
    if b" " not in head:
        return []
    try:
        lines = [line.removesuffix("\r") for line in head.decode().split("\n")]
    except UnicodeDecodeError:
        return []
    parts = split_at_blank([line for line in lines[VERSION in lines[0] :] if line])
    return [] if parts is None else list(zip(*parts, strict=True))


def lines_of(data: bytes, name: str) -> Iterable[str]:
    """Return the lines of a file without their line ends. Only a line feed ends a line."""
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        return _lines_one_by_one(data, name)
    if 4 * max(map(len, lines)) > LONGEST_LINE:
        return _lines_one_by_one(data, name)
    return [line.removesuffix("\r") for line in lines]


def _lines_one_by_one(data: bytes, name: str) -> Iterator[str]:
    """Yield the lines of a file. Raise an error that names the first line that is not valid."""
    for number, line in enumerate(data.split(b"\n"), start=1):
        where = f"{name}, line {number:,}"
        if len(line) > LONGEST_LINE:
            raise FormatError(f"{where}: {count_text(len(line), 'byte is', 'bytes are')} too many for one merge.")
        yield decoded(line.removesuffix(b"\r"), where, "utf-8-sig" if number == 1 else "utf-8")
