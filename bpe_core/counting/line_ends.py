"""Which words end lines, for those who want to know whether what follows a word is another word or a new line.

>>> from bpe_core.text.corpus import Corpus
>>> recipe = Recipe.preset("unigram")
>>> lines = LineEnds(recipe)
>>> chunks = list(lines.watched(Corpus.from_texts(["low lower \\nlow", "new low"]).chunks()))
>>> lines.told(WordTable.from_counts({"low": 3, "lower": 1, "new": 1})).line_ends.tolist()
[2, 1, 0]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.recipe import Recipe
from bpe_core.text.corpus import Chunk
from bpe_core.text.normalization import normalize
from bpe_core.text.splitting import Splitter


class LineEnds:
    """Looks at the chunks of a corpus on their way to whoever counts them; a text ends with a line."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._pieces: Counter[str] = Counter()  # what stands behind the last blank of each line

    def watched(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        held = ""
        for chunk in chunks:
            end = "\n" if chunk.ends_document else ""
            held = self._look(held + str(chunk.data, "utf-8") + end)
            yield chunk

    def _look(self, text: str) -> str:
        """Take what ends each line; of the line that may go on, what may be its end is given back."""
        *lines, rest = text.split("\n")
        self._pieces.update(piece for line in lines for piece in line.rsplit(None, 1)[-1:])
        return "".join(piece if rest.endswith(piece) else f"{piece} " for piece in rest.rsplit(None, 1)[-1:])

    def told(self, words: WordTable) -> WordTable:
        """The words of the corpus with how often each ends a line."""
        splitter, ends = Splitter(self._recipe), Counter[bytes]()
        for piece, count in self._pieces.items():
            for last in list(splitter.words(normalize(piece, self._recipe)))[-1:]:
                ends[last.encode()] += count
        return replace(words, line_ends=np.fromiter((ends.get(word, 0) for word, _ in words), np.int64, len(words)))
