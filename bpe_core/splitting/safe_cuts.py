"""Offsets at which a text may be divided so that its parts have the same words as the whole text.

A pattern examines only a few characters around the end of a word. So there are pairs of neighbouring characters that
the pattern always splits. For most named patterns, a letter and a blank are such a pair. If a pattern has no table, a
text may be divided only at the ends of lines, and only if lines are separate texts.

    >>> text = b"of one line"
    >>> cuts = SafeCuts.of(Recipe.preset("gpt2"))
    >>> cuts.places(text).tolist(), cuts.last(text), cuts.around(text, 4, 5)
    ([2, 6], 6, (2, 6))
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.normalization import normalize
from bpe_core.text.preparation.steps import has_no_options
from bpe_core.text.scanner import ScanTable, table_for
from bpe_core.text.scanner.kinds import Kind
from bpe_core.text.scanner.machine import CUT_HERE, CUT_MARK, CUT_PREVIOUS, ROW, STATE_SHIFT

Booleans = npt.NDArray[np.bool_]
Data = bytes | bytearray | npt.NDArray[np.uint8]

NEWLINE = ord("\n")
_LOOK_BACK = 1 << 16  # bytes in which the last safe offset is searched
_WINDOW = 256  # bytes around an edit that are examined first; doubled until a safe offset is found


def keeps_newlines(recipe: Recipe) -> bool:
    """Return whether every newline ends a line.

    If so, no newline is removed, becomes a space, or is part of a special token.
    """
    return (
        "\n" not in recipe.strip_marks
        and not _has_preparation(recipe)
        and not recipe.clean_text
        and not any("\n" in token for token in recipe.special_tokens)
    )


def _has_preparation(recipe: Recipe) -> bool:
    """Return whether operations of a tokenizer file change or split the text. They may depend on the whole text."""
    return not all(has_no_options(step) for step in recipe.preparation)


def may_cut_at_newlines(recipe: Recipe) -> bool:
    """Return whether a document may be divided after any newline without changing a word."""
    return recipe.unit == "line" and keeps_newlines(recipe)


@lru_cache(maxsize=8)
def safe_pairs_of_kinds(table: ScanTable) -> Booleans:
    """Return a table that says between which kinds of characters a normalized text may be divided.

    The entry [kind, next kind] is for two neighbouring characters of these kinds. The text may be divided between them
    if three conditions hold. The pattern always splits there. The text before this place is split as if it ended there.
    The text after this place is split as if it began there.
    """
    entries = table.entries.reshape(-1, ROW)
    safe = np.zeros((ROW, ROW), np.bool_)
    rows = np.zeros(len(entries), np.bool_)
    earlier = CUT_MARK | CUT_PREVIOUS
    for first in table.kinds:
        rows[:] = False
        rows[(entries[:, first] >> STATE_SHIFT) // ROW] = True
        behind = entries[rows]  # the possible states
        at_end = behind[:, Kind.END, None]
        at_start = entries[0]
        cuts = (behind & CUT_HERE) != 0
        same_before = (behind & earlier) == (at_end & earlier)
        same_behind = (behind & ~np.uint16(earlier | CUT_HERE)) == at_start
        safe[first] = (cuts & same_before & same_behind).all(axis=0)
    safe[:, Kind.END :] = False
    return safe


@dataclass(frozen=True, eq=False)
class SafeCuts:
    """The pairs of neighbouring bytes that mark safe places to divide a text.

    A text may be divided between the two bytes of such a pair before it is normalized and split.
    """

    pairs: Booleans  # indexed by [byte, next byte]

    @classmethod
    def of(cls, recipe: Recipe, *, with_specials: bool = True, table: ScanTable | None = None) -> SafeCuts:
        """Return the safe cuts for texts that are split by a recipe.

        No safe cut divides a special token. If `with_specials` is false, special tokens are treated as ordinary text.
        `table` is the scanner's table for the recipe. If it is None, the table is computed, which takes a tenth of a
        second.
        """
        return _safe_cuts(recipe if with_specials else recipe.with_changes(special_tokens=()), table)

    def places(self, data: Data) -> npt.NDArray[np.int64]:
        codes = np.frombuffer(data, np.uint8)
        return np.flatnonzero(self.pairs[codes[:-1], codes[1:]]) + 1

    def last(self, data: bytes | bytearray) -> int:
        """Return the last safe offset in a text. If there is none near the end of the text, return 0."""
        places = self.places(data[-_LOOK_BACK:])
        return max(0, len(data) - _LOOK_BACK) + int(places[-1]) if len(places) else 0

    def around(self, data: bytes, start: int, stop: int) -> tuple[int, int]:
        """Return the range of bytes in which an edit may have changed the words.

        The edit changed the bytes from `start` to `stop`.
        """
        return self._last_before(data, start), self.first_from(data, stop)

    def _last_before(self, data: bytes, position: int) -> int:
        first = position
        window = _WINDOW
        while first > 0 and self.pairs.any():
            first = max(0, position - window)
            window = 2 * window
            if len(places := self.places(data[first:position])):
                return first + int(places[-1])
        return 0

    def first_from(self, data: Data, position: int) -> int:
        """Return the first safe offset from `position` on.

        If there is none, return the length of the text.
        """
        end = position
        window = _WINDOW
        while end < len(data) and self.pairs.any():
            end = position + window
            window = 2 * window
            if len(places := self.places(data[position:end])):
                return position + int(places[0])
        return len(data)


@lru_cache(maxsize=8)
def _safe_cuts(recipe: Recipe, table: ScanTable | None) -> SafeCuts:
    if _has_preparation(recipe):
        return SafeCuts(np.zeros((256, 256), np.bool_))
    table = table or table_for(recipe.pattern, recipe.unit, recipe.custom_pattern, older=recipe.older_unicode)
    pairs = np.zeros((256, 256), np.bool_)
    if table is not None:
        kinds = table.kind_of_code_point[:128]
        pairs[:128, :128] = safe_pairs_of_kinds(table)[kinds[:, None], kinds]
    if may_cut_at_newlines(recipe):
        pairs[NEWLINE] = True
    if recipe.normalizes:
        pairs = _before_normalization(pairs, recipe)
    for token in recipe.special_tokens:
        for before, behind in pairwise(token.encode()):
            pairs[before, behind] = False
    return SafeCuts(pairs)


def _before_normalization(pairs: Booleans, recipe: Recipe) -> Booleans:
    """Mark the pairs of characters between which a text may be cut before it is normalized.

    `pairs` marks the pairs between which a normalized text may be cut. Only pairs of ASCII characters at a blank or a
    newline can be marked, because normalization never depends on text on the other side of such a cut.
    """
    safe = np.zeros_like(pairs)
    for before, behind in np.argwhere(pairs[:128, :128]).tolist():
        if chr(behind).isspace() or (before == NEWLINE and recipe.unit == "line"):
            became = normalize(chr(before) + chr(behind), recipe)
            safe[before, behind] = len(became) == 2 and became.isascii() and pairs[ord(became[0]), ord(became[1])]
    return safe
