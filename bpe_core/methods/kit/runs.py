"""The runs of words, and the ordinary words inside them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import regex

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.history.columns import NOTHING
from bpe_core.methods.kit.layout import SEPARATOR, Layout
from bpe_core.methods.registry import USUAL
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Int32s, Int64s, repeated

BLANK = b" "
COLON = b": "
_LETTER = regex.compile(r"\p{L}")


def within(recipe: Recipe) -> Recipe:
    """Return the recipe of the first stage, by which a run of words is split."""
    return recipe.with_changes(method=USUAL, pattern=recipe.words_by, special_tokens=(), whole_characters=False)


def forbidden(text: bytes, recipe: Recipe) -> str:
    """Say what the recipe forbids about a superword with this text; empty if the superword is allowed.

    >>> forbidden(b"by the: way", Recipe.preset("superbpe")), forbidden(b"by the way", Recipe.preset("superbpe"))
    ('hold a colon and the space after it', '')
    """
    if COLON in text and not recipe.past_colons:
        return "hold a colon and the space after it"
    if recipe.most_words is not None and sum(map(bool, text.split(BLANK))) > recipe.most_words:
        return f"hold more than {recipe.most_words} words"
    return ""


class Inside(NamedTuple):
    """The ordinary words of all runs with their counts, in first-seen order, and the rows of each run's words."""

    words: WordTable
    rows: Int32s
    first: Int64s  # the first index in `rows` of each run, and the end

    @property
    def starts(self) -> Int64s:
        """Return the offset of each word in the runs, which lie end to end."""
        lengths = np.diff(self.words.starts)[self.rows]
        starts: Int64s = np.cumsum(lengths) - lengths
        return starts


class Runs(NamedTuple):
    """The runs of whole words; each word is a base symbol."""

    words: WordTable  # only the counts of the runs matter
    alphabet: Alphabet
    layout: Layout
    tokens: Int64s  # the token of each base symbol


def runs_of(inside: Inside, counts: Int64s, whole: Int64s) -> Runs:
    """Return the runs of two or more words, each of which holds a letter and is one token.

    `counts` are the counts of all runs. `whole` has the token of each word, or NOTHING for a word of several tokens.
    """
    text_of = {int(whole[row]): inside.words.word(row) for row in np.flatnonzero(whole != NOTHING).tolist()}
    tokens = np.array(sorted(token for token, word in text_of.items() if _holds_letter(word)), np.int64)
    lettered = np.where(np.isin(whole, tokens), whole, NOTHING)
    found = lettered[inside.rows]
    beside = np.zeros(len(found) + 1, np.bool_)  # whether a word follows another one of its run
    beside[1:-1] = (found[1:] != NOTHING) & (found[:-1] != NOTHING)
    beside[inside.first] = False
    kept = beside[:-1] | beside[1:]
    begins = kept & ~beside[:-1]
    cells = np.cumsum(kept) + np.cumsum(begins) - 1  # a separator is before each run, and after the last
    symbols = np.full(int(kept.sum() + begins.sum()) + 1, SEPARATOR, np.int32)
    symbols[cells[kept]] = np.searchsorted(tokens, found[kept])
    starts = np.append(cells[begins], len(symbols))
    weights = repeated(counts, np.diff(inside.first))[begins]
    words = [text_of[token] for token in tokens.tolist()]
    alphabet = Alphabet(tuple(Symbol(word, word, "character") for word in words))
    table = WordTable(np.zeros(0, np.uint8), np.zeros(len(weights) + 1, np.int64), weights)
    return Runs(table, alphabet, Layout(symbols, starts, int(kept.sum())), tokens)


def _holds_letter(word: bytes) -> bool:
    return _LETTER.search(word.decode(errors="ignore")) is not None
