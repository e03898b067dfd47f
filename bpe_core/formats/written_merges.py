"""Read merges written as pairs of texts, a pair a line; turn them into merges of ids.

A file may list several merges that make the same text; the texts alone decide which of them ever happens.
"""

from __future__ import annotations

import codecs
import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats.base import decoded
from bpe_core.formats.recovering import Recovery
from bpe_core.history.columns import Int64s
from bpe_core.history.token_texts import quoted
from bpe_core.recipes.parts import LARGEST_VOCABULARY
from bpe_core.support.found_once import once

NO_LIMIT = 2**62


@dataclass(frozen=True, eq=False)
class WrittenMerges:
    """Merges by columns: most questions are asked of all hundred thousand at once."""

    left: list[str]
    right: list[str]
    places: Sequence[int]  # of each in the file: its line, or its number

    @cached_property
    def made(self) -> list[str]:
        return [left + right for left, right in zip(self.left, self.right, strict=True)]

    def __len__(self) -> int:
        return len(self.left)

    def __iter__(self) -> Iterator[tuple[str, str, int]]:
        return zip(self.left, self.right, self.places, strict=True)

    def first(self, number: int) -> WrittenMerges:
        return WrittenMerges(self.left[:number], self.right[:number], self.places[:number])


def halves(texts: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """Split each text at its only blank; None where one of them has another form.

    >>> halves(["l o", "lo w"]), halves(["l o", "low"]), halves(["l o", " w"]), halves(["l o w", "low"])
    ((['l', 'lo'], ['o', 'w']), None, None, None)
    """
    parts = " ".join(texts).split(" ")
    if len(parts) != 2 * len(texts) or not all(parts) or not all(map(str.__contains__, texts, repeat(" "))):
        return None
    return parts[::2], parts[1::2]


@dataclass
class Resolved:
    pairs: list[tuple[int, int]] | Int64s = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    never_happen: list[str] = field(default_factory=list)  # what merges make that another one always makes before


def resolved_at_once(base: Mapping[str, int], first_id: int, merges: WrittenMerges) -> Resolved | None:
    """Resolve much sooner where each merge joins what is there already and makes what is not yet."""
    made = dict(zip(merges.made, range(first_id, first_id + len(merges.made)), strict=True))
    if len(made) < len(merges.made) or len(made) > LARGEST_VOCABULARY or not made.keys().isdisjoint(base):
        return None
    id_of = {**base, **made}
    try:
        left, right = (
            np.fromiter(map(id_of.__getitem__, one), np.int64, len(one)) for one in (merges.left, merges.right)
        )
    except KeyError:
        return None
    if (np.maximum(left, right) >= np.arange(first_id, first_id + len(made))).any():
        return None
    return Resolved(np.stack([left, right], axis=1), merges.made)


def resolve(base: Mapping[str, int], first_id: int, merges: WrittenMerges, where: str) -> Resolved:
    """The merges as pairs of ids.

    `base` are the texts of the base symbols, `first_id` is the first merge's, `where` reads "merges.txt, line {}".

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
    found = Resolved(pairs)
    recovery = Recovery(id_of)
    one_by_one = all(len(text) == 1 for text in base)
    for left, right, place in merges:
        joined = left + right
        if joined in several and not _happens(left, right, id_of, recovery if one_by_one else None):
            found.never_happen.append(joined)
            continue
        for part in (left, right):
            if part not in id_of:
                raise FormatError(
                    f"{where.format(place)}: it joins {quoted(part)}, which does not exist yet: "
                    "no merge before it makes that token, and it is no base symbol."
                )
        if joined in id_of:
            raise FormatError(
                f"{where.format(place)}: it makes {quoted(joined)}, which is there already as a base symbol."
            )
        pairs.append((id_of[left], id_of[right]))
        found.texts.append(joined)
        id_of[joined] = first_id + len(found.texts) - 1
    return found


def are_in_order(base: Mapping[str, int], merges: WrittenMerges) -> bool:
    """Whether each merge joins what is there already and makes what is not, or what happens of several is clear."""
    known = set(base)
    makes_anew = len(set(zip(merges.left, merges.right, strict=True))) < len(merges)
    one_by_one = all(len(text) == 1 for text in base)
    for left, right, _ in merges:
        if left not in known or right not in known or left + right in base:
            return False
        makes_anew |= not one_by_one and left + right in known
        known.add(left + right)
    return not makes_anew


def born_in_turn(base: Mapping[str, int], merges: WrittenMerges) -> list[tuple[str, str]]:
    """Order the tokens so that each follows its two parts: of those that can be made, the first in the file.

    >>> born_in_turn({"a": 0, "b": 1, "c": 2}, WrittenMerges(["ab", "a"], ["c", "b"], [1, 2]))
    [('a', 'b'), ('ab', 'c')]
    """
    known = set(base)
    waiting: dict[str, list[int]] = {}
    ready: list[int] = []

    def enter(row: int) -> None:
        missing = next((part for part in (merges.left[row], merges.right[row]) if part not in known), None)
        if missing is None:
            heapq.heappush(ready, row)
        else:
            waiting.setdefault(missing, []).append(row)

    for row in range(len(merges)):
        enter(row)
    found: list[tuple[str, str]] = []
    while ready:
        row = heapq.heappop(ready)
        left, right = merges.left[row], merges.right[row]
        if left + right not in known:
            found.append((left, right))
            known.add(left + right)
            for behind in waiting.pop(left + right, ()):
                enter(behind)
    return found


def _happens(left: str, right: str, id_of: Mapping[str, int], recovery: Recovery[str] | None) -> bool:
    joined = left + right
    if joined in id_of:
        return False  # an earlier merge made it, and leaves nothing for this one
    if recovery is None:
        return left in id_of and right in id_of
    return recovery.pieces(joined, NO_LIMIT) == [left, right]


VERSION = "#version"
LONGEST_LINE = 2**20  # bytes
LOOK = 100_000  # bytes that tell whether there is a pair a line


def read_pairs(data: bytes, name: str) -> tuple[WrittenMerges, str]:
    """Return the merges of a whole file, and its version line, which may be missing."""
    return once("pairs", data, lambda: _read_pairs(data, name))


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
    """Read lines as most programs write them; None where each must be looked at by itself."""
    try:
        lines = data.decode("utf-8-sig").removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        return None
    version = _version_in(lines[0]) if _is_version(lines[0]) else ""
    parts = halves(lines[bool(version) :])
    if parts is None or b"\r" in data or 4 * max(map(len, lines)) > LONGEST_LINE:
        return None
    return WrittenMerges(*parts, range(1 + bool(version), 1 + len(lines))), version


def _is_version(line: str) -> bool:
    """Whether a first line is no merge: programs write their names behind the version, or a title before it."""
    return line.startswith(VERSION) or (VERSION in line and len(line.split(" ")) == 2)


def _version_in(line: str) -> str:
    return line[line.index(VERSION) :].strip()


def pairs_at_the_beginning(data: bytes) -> list[tuple[str, str]]:
    """Return the pairs of the first lines, below a version; none where one of them is no pair."""
    whole, _, _ = data[:LOOK].rpartition(b"\n")  # the last line may be cut
    head = (whole or data[:LOOK]).removeprefix(codecs.BOM_UTF8)
    try:
        lines = [line.removesuffix("\r") for line in head.decode().split("\n")]
    except UnicodeDecodeError:
        return []
    parts = [line.split(" ") for line in lines[VERSION in lines[0] :] if line]
    return [(one[0], one[1]) for one in parts] if all(len(one) == 2 and all(one) for one in parts) else []


def lines_of(data: bytes, name: str) -> Iterator[str]:
    """Yield lines without their ends, which only a line feed makes."""
    for number, line in enumerate(data.split(b"\n"), start=1):
        where = f"{name}, line {number:,}"
        if len(line) > LONGEST_LINE:
            raise FormatError(f"{where}: {len(line):,} bytes are too many for one.")
        yield decoded(line.removesuffix(b"\r"), where, "utf-8-sig" if number == 1 else "utf-8")
