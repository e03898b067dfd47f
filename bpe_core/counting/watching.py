"""Classes that collect facts about texts while their words are counted.

The facts are the words at the ends of lines, and whether a pattern matched.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.safe_cuts import NEWLINE
from bpe_core.splitting.splitter import Splitter
from bpe_core.text.reading.source import Chunk


class LineEnds:
    """A counter of the words at the ends of lines. It looks at each chunk of a text before the words of the chunk are
    counted.

    The end of a text counts as the end of a line.
    """

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._pieces: Counter[str] = Counter()  # the text after the last blank of each line

    def watched(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        held: list[str] = []
        for chunk in chunks:
            text = str(chunk.data, "utf-8") + ("\n" if chunk.ends_document else "")
            held.append(text)
            if text.split(None, 1) != [text]:  # otherwise it only continues a word, of any length
                held = [self._look("".join(held))]
            yield chunk

    def _look(self, text: str) -> str:
        """Count the last word of each complete line in `text`.

        Return the last word of the incomplete line at the end, so that the next text can continue it.
        """
        *lines, rest = text.split("\n")
        self._pieces.update(piece for line in lines for piece in line.rsplit(None, 1)[-1:])
        return "".join(piece if rest.endswith(piece) else f"{piece} " for piece in rest.rsplit(None, 1)[-1:])

    def added_to(self, words: WordTable) -> WordTable:
        splitter = Splitter(self._recipe)
        ends = Counter[bytes]()
        for piece, count in self._pieces.items():
            for last in list(splitter.words(normalize(piece, self._recipe)))[-1:]:
                ends[last.encode()] += count
        return replace(words, line_ends=np.fromiter((ends.get(word, 0) for word, _ in words), np.int64, len(words)))


class WholeTexts:
    """A check that a custom pattern matched at least once. It is used with a scanner that returns only the ends of
    words.

    If there are more words than texts, the pattern split some text, so it must have matched. Otherwise each text may be
    a single word because the pattern did not match in it. Then the package `regex` searches the words for a match. If
    the recipe treats lines as separate texts, each line counts as a text.
    """

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._ends_at_newlines = recipe.unit == "line"
        self._texts = 0
        self._last: int | None = None  # the last byte of the open text

    def watched(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            self._count(chunk)
            yield chunk

    def check_has_matched(self, words: WordTable) -> None:
        """Raise PatternError if the custom pattern has matched nowhere in the texts.

        These are the texts that went through the method `watched`. `words` are all their words, with their counts.
        """
        if self._texts + self._is_open < words.total:
            return
        splitter = Splitter(self._recipe)
        for word, _ in words:
            deque(splitter.words(word.decode()), maxlen=0)
            if splitter.has_matched:
                return
        splitter.check_has_matched()

    @property
    def _is_open(self) -> bool:
        return self._last is not None and not (self._ends_at_newlines and self._last == NEWLINE)

    def _count(self, chunk: Chunk) -> None:
        data = np.frombuffer(chunk.data, np.uint8)
        ends = np.zeros(0, np.int64) if chunk.inner_ends is None else chunk.inner_ends
        if chunk.ends_document:
            ends = np.append(ends, len(data))
        if len(ends) and ends[0] == 0:
            self._texts += self._is_open
        lasts = data[ends[np.diff(ends, prepend=0) > 0] - 1]
        if self._ends_at_newlines:
            self._texts += int(np.count_nonzero(data == NEWLINE) + np.count_nonzero(lasts != NEWLINE))
        else:
            self._texts += len(lasts)
        if len(data) > (ends[-1] if len(ends) else 0):
            self._last = int(data[-1])
        elif len(ends):
            self._last = None
