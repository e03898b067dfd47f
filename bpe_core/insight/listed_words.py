"""The counted words of a corpus as a list that can be filtered and sorted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bpe_core.counting.count_words import count_unmixed
from bpe_core.counting.grouped import GroupedWords
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, Cancelled, CorpusError, RecipeError
from bpe_core.history.token_texts import parse_shown, shown
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Int64s
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.text.corpus import Corpus
from bpe_core.text.patterns import NAMED_PATTERNS
from bpe_core.text.reading.utf8 import length_of_whole_characters

WORD, COUNT = "word", "count"  # orders of words, besides the names of groups


@dataclass(frozen=True, eq=False)
class ListedWords:
    """All words of a corpus, with their counts in the corpus and in each group.

    >>> from bpe_core.counting.words import WordTable
    >>> german, code = WordTable.from_counts({" low": 2, "new": 1}), WordTable.from_counts({"new": 4})
    >>> words = ListedWords(GroupedWords.of({"de": german, "code": code}))
    >>> [words.text(row) for row in words.rows()], [words.text(row) for row in words.rows("␣l")]
    (['new', '␣low'], ['␣low'])
    >>> print(words.table(words.rows()).columns["count in code"])
    [4 0]
    """

    words: GroupedWords

    @cached_property
    def of_groups(self) -> Mapping[str, Int64s]:
        groups = self.words.groups if len(self.words.groups) > 1 else ()
        return {name: self.words.counts_in(name) for name in groups}

    @property
    def total(self) -> int:
        return self.words.words.total

    def __len__(self) -> int:
        return len(self.words.words)

    def text(self, row: int) -> str:
        return shown(self.words.words.word(row))

    def rows(self, holding: str = "", group: str | None = None, *, ascending: bool = False) -> Int64s:
        """Return the rows of the words that contain the text `holding`, by count, with the largest count first.

        With `group`, only the words and counts of this group are used. Words with equal counts keep their order.
        """
        counts = self.of_groups[group] if group is not None else self.words.words.counts
        chosen = counts > 0
        if holding:
            chosen &= self.words.words.which_hold(_bytes_of(holding))
        rows = np.flatnonzero(chosen)
        return rows[np.argsort(counts[rows] if ascending else -counts[rows], kind="stable")]

    def sorted_by(self, by: str, holding: str = "", *, from_end: bool = False) -> Int64s:
        """Return the rows of the words that contain `holding`, sorted by "word", "count" or the count in a group.

        Words are sorted alphabetically, counts from the largest to the smallest. `from_end` reverses the order.
        """
        if by == WORD:
            order = sorted(self.rows(holding).tolist(), key=self.words.words.word, reverse=from_end)
            return np.array(order, np.int64)
        if by != COUNT and by not in self.of_groups:
            raise BpeError(f"Words can be sorted by {', '.join((WORD, COUNT, *self.of_groups))}, not by {by!r}."[:290])
        return self.rows(holding, None if by == COUNT else by, ascending=from_end)

    def table(self, rows: Int64s | Sequence[int], cancelled: CancelCheck = never_cancelled) -> DataTable:
        table = self.words.words
        chosen = np.asarray(rows, np.int64)
        words = [table.word(row) for row in while_wanted(chosen.tolist(), cancelled)]
        return DataTable(
            {
                "text": list(map(shown, while_wanted(words, cancelled))),
                "hex": [word.hex(" ") for word in while_wanted(words, cancelled)],
                "count": table.counts[chosen],
                "share": table.counts[chosen] / max(1, self.total),
                **{f"count in {name or 'no group'}": counts[chosen] for name, counts in self.of_groups.items()},
            }
        )


def _bytes_of(text: str) -> bytes:
    try:
        return parse_shown(text)
    except ValueError:
        return text.encode(errors="replace")


LONG_WORD = 64  # bytes; hardly any word of a language with blanks is longer
LONG_SHARE = 0.2  # a larger share of bytes in long words causes a warning
SAMPLE = 200_000  # bytes of a file on which other patterns are tried


@dataclass(frozen=True)
class LongWords:
    file: str  # empty if normalization changed the text, so the word cannot be found in it
    better: tuple[str, ...]  # better patterns, the best first


def share_of(table: WordTable) -> float:
    """Return the share of a corpus's bytes that lie in long words.

    >>> share_of(WordTable.from_counts({"low": 10, "x" * 70: 1}))
    0.7
    """
    weights = np.diff(table.starts) * table.counts
    return float(weights[np.diff(table.starts) > LONG_WORD].sum() / max(1, int(weights.sum())))


def find_long_words(
    corpus: Corpus, table: WordTable, recipe: Recipe, cancelled: CancelCheck = never_cancelled
) -> LongWords:
    """Return the file that contains the heaviest long word, and the named patterns that split this word better.

    The heaviest word is the long word whose occurrences have the most bytes in the corpus.

    >>> recipe = Recipe.preset("english")
    >>> corpus = Corpus.from_texts(["朝、パン屋さんが、" * 20])
    >>> find_long_words(corpus, count_unmixed(corpus, recipe), recipe).better[:2]
    ('gpt2', 'cl100k')
    """
    lengths = np.diff(table.starts)
    heaviest = table.word(int(np.where(lengths > LONG_WORD, lengths * table.counts, 0).argmax()))
    for chunk in corpus.chunks():
        if cancelled():
            raise Cancelled("Cancelled.")
        data = bytes(chunk.data)
        place = data.find(heaviest)
        if place >= 0:
            sample = data[place : place + SAMPLE]  # the sample begins with a word, so with a whole character
            text = sample[: length_of_whole_characters(sample)].decode()
            return LongWords(corpus.sources[chunk.source].name, _better(text, recipe))
    return LongWords("", ())


def _better(text: str, recipe: Recipe) -> tuple[str, ...]:
    corpus = Corpus.from_texts([text])
    now = share_of(count_unmixed(corpus, recipe))
    shares: dict[str, float] = {}
    for pattern in NAMED_PATTERNS:
        try:
            other = recipe.with_changes(pattern=pattern, custom_pattern="")
            shares[pattern] = share_of(count_unmixed(corpus, other))
        except (RecipeError, CorpusError):
            continue  # suggest only patterns that the method allows
    better = [name for name, share in shares.items() if name != recipe.pattern and share < min(LONG_SHARE, now / 2)]
    return tuple(sorted(better, key=lambda name: round(shares[name], 2)))
