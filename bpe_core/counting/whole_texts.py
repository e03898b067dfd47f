"""Whether a person's own pattern matched anything at all, where nobody looked for matches but only for cuts.

What it does not match is not cut. So if there are no more words than texts each word is a whole text, and
`regex` can be asked about one after the other until it matches one; else it matched for sure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.recipe import Recipe
from bpe_core.text.blocks import Stretch
from bpe_core.text.splitting import Splitter

_NEWLINE = ord("\n")


class WholeTexts:
    """Counts the texts of a stream, or their lines where these are texts of their own; empty ones are none."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._ends_at_newlines = recipe.unit == "line"
        self._texts = 0
        self._last: int | None = None  # the last byte of the text that is open; none if nothing of it was seen

    def watched(self, stretches: Iterable[Stretch]) -> Iterator[Stretch]:
        for stretch in stretches:
            self._count(stretch)
            yield stretch

    def check_it_matched(self, words: WordTable) -> None:
        """A PatternError if the pattern matched nothing in all these words of what was watched."""
        if self._texts + self._is_open < words.total:
            return
        splitter = Splitter(self._recipe)
        for word, _ in words:
            deque(splitter.words(word.decode()), maxlen=0)
            if splitter.has_matched:
                return
        splitter.check_it_matched()

    @property
    def _is_open(self) -> bool:
        return self._last is not None and not (self._ends_at_newlines and self._last == _NEWLINE)

    def _count(self, stretch: Stretch) -> None:
        data = np.frombuffer(stretch.data, np.uint8)
        ends = np.zeros(0, np.int64) if stretch.inner_ends is None else stretch.inner_ends
        if stretch.ends_text:
            ends = np.append(ends, len(data))
        if len(ends) and ends[0] == 0:
            self._texts += self._is_open
        lasts = data[ends[np.diff(ends, prepend=0) > 0] - 1]
        if self._ends_at_newlines:
            self._texts += int(np.count_nonzero(data == _NEWLINE) + np.count_nonzero(lasts != _NEWLINE))
        else:
            self._texts += len(lasts)
        if len(data) > (ends[-1] if len(ends) else 0):
            self._last = int(data[-1])
        elif len(ends):
            self._last = None
