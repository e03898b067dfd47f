"""YouTokenToMe's model, which contains only numbers.

The first line has the number of characters and the number of merges. Then there is a line for each character, with the
character and its id, and a line for each merge, with the ids of its two parts and of its result. The last line has the
ids of <UNK>, <PAD>, <BOS> and <EOS>, or -1.

A text is split at ASCII white space and `▁`, and each word begins with `▁`. Neighbouring characters that the model does
not have become one <UNK>.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats.base import IN_WORDS, NO_NUMBER, Beside, Opened, ReadOnly, recipe_from
from bpe_core.formats.rebuilding import check_steps
from bpe_core.history.alphabet import Alphabet, Symbol, symbols_for_unknown
from bpe_core.history.history import NOTHING, Columns, History, Int64s
from bpe_core.history.joining import MergePriorities, PairRows
from bpe_core.text.preparation.pre_tokenizers import Split

MARKER = "▁"
BETWEEN_WORDS = r"[ \t-\r▁]+"
UNKNOWN = "<UNK>"
SPECIALS = ("<PAD>", "<BOS>", "<EOS>")
LARGEST_NUMBER = 2**31 - 1
_COUNTS = re.compile(rb"(\d{1,7}) (\d{1,8})\s*?\n")
_NUMBERS = re.compile(rb"(?:-1|\d{1,10})(?: (?:-1|\d{1,10}))*\s*")
_ZERO = "If the token with the id 0 begins a word, YouTokenToMe leaves out this token. In this program the token stays."


class YouTokenToMe(ReadOnly):
    name = "youtokentome"
    tables = frozenset({IN_WORDS})
    why_only_read = "Models of YouTokenToMe can only be read. Choose another format."

    def recognizes(self, data: bytes) -> bool:
        """Return whether the data begins like a model of YouTokenToMe.

        The first line states the number of characters and the number of merges. A line for each character must follow,
        and one of the characters must be `▁`. The next line must have three numbers for a merge, or four numbers if
        there are no merges.
        """
        counts = _COUNTS.match(data)
        if counts is None:
            return False
        *characters, behind = data[counts.end() :].split(b"\n", int(counts[1]) + 1)[: int(counts[1]) + 1]
        has_marker = any(row.startswith(b"%d " % ord(MARKER)) for row in characters)
        return has_marker and len(behind.split()) == (3 if int(counts[2]) else 4)

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        lines = iter(enumerate(data.split(b"\n"), 1))
        ((characters, merges),) = _rows(lines, 1, 2, name)
        number_of = {_character(code, name): number for code, number in _rows(lines, characters, 2, name)}
        rules = _rows(lines, merges, 3, name)
        ((unknown, *others),) = _rows(lines, 1, 4, name)
        if len(number_of) < characters or MARKER not in number_of:
            raise FormatError(f"{name}: a character occurs twice, or {MARKER} is missing.")
        marker = number_of.pop(MARKER)
        letters = [Symbol(letter.encode(), letter.encode(), "character") for letter in number_of]
        symbols = [*symbols_for_unknown(UNKNOWN), *letters, Symbol(MARKER.encode(), b" ", "marker")]
        specials = {text: number for text, number in zip(SPECIALS, others, strict=True) if number != NO_NUMBER}
        named = [unknown, *number_of.values(), marker, *(made for _, _, made in rules), *specials.values()]
        known = [number for number in named if number != NO_NUMBER]
        if len(set(known)) < len(known):
            raise FormatError(f"{name}: two tokens have the same id.")
        columns = np.full((len(Columns._fields), merges), NOTHING)
        columns[:2] = _pairs(rules, dict(zip(named, range(len(symbols)), strict=False)), name, 2 + characters).T
        recipe = recipe_from(
            name, name=self.name, base="characters", pattern="none", marker="prefix", marker_text=MARKER, merges=merges,
            preparation=(Split(BETWEEN_WORDS, True, "Removed"),), unknown_text=UNKNOWN, special_tokens=tuple(specials),
        )  # fmt: skip
        alphabet = Alphabet(tuple(symbols))
        check_steps([*columns], alphabet, recipe, lambda row: f"{name}, line {2 + characters + row:,}")
        rows = PairRows(columns[0], columns[1], len(symbols) + np.arange(merges))
        history = History.from_pairs(recipe, alphabet, columns[:2].T, MergePriorities(pairs=rows, joins_unknown=True))
        notes = [_ZERO] if 0 in named[1 : len(symbols) + merges] else []
        return history.numbered(np.array(named, np.int64)), notes


def _rows(lines: Iterator[tuple[int, bytes]], count: int, width: int, name: str) -> list[tuple[int, ...]]:
    """Return the numbers in the next `count` lines. Each line must have `width` numbers."""
    rows: list[tuple[int, ...]] = []
    while len(rows) < count:
        place, line = next(lines, (0, b""))
        numbers = tuple(map(int, line.split())) if _NUMBERS.fullmatch(line) else ()
        if len(numbers) != width or max(numbers) > LARGEST_NUMBER:
            where = f"{name}, line {place:,}" if place else f"{name} ends too early"
            raise FormatError(f"{where}: there must be {width} numbers, separated by spaces.")
        rows.append(numbers)
    return rows


def _character(code: int, name: str) -> str:
    if not 0 <= code <= 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise FormatError(f"{name}: {code:,} is not the number of a character.")
    return chr(code)


def _pairs(rules: list[tuple[int, ...]], id_of: dict[int, int], name: str, first: int) -> Int64s:
    """Return the ids of the parts of each merge.

    `id_of` maps ids of the file to ids of this program. It must contain the base symbols. The function adds the merges
    to it.
    """
    pairs: list[tuple[int, int]] = []
    for line, (left, right, made) in enumerate(rules, first):
        missing = [half for half in (left, right) if half not in id_of]
        if missing:
            raise FormatError(
                f"{name}, line {line:,}: the line merges the token {missing[0]}, which no earlier line makes."
            )
        pairs.append((id_of[left], id_of[right]))
        id_of[made] = len(id_of)
    return np.array(pairs, np.int64).reshape(-1, 2)
