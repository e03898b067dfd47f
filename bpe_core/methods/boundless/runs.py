"""The runs of whole words from which supermerges are learned."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import regex

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.history.columns import NOTHING
from bpe_core.methods.kit.layout import SEPARATOR, Layout
from bpe_core.methods.kit.runs import Inside
from bpe_core.support.arrays import Int64s, repeat

_LETTER = regex.compile(r"\p{L}")


class Runs(NamedTuple):
    """A collection of runs of whole words. A run is a sequence of base symbols, and each of them stands for a word."""

    words: WordTable  # only the counts of the runs matter
    alphabet: Alphabet
    layout: Layout
    tokens: Int64s  # the token of each base symbol


def runs_of(inside: Inside, counts: Int64s, whole: Int64s) -> Runs:
    """Return all runs of two or more neighbouring words that are single tokens and contain a letter.

    These runs are parts of longer runs. `inside` holds the words of each longer run, and `counts` says how often it
    occurs. `whole` has the token of each word, or NOTHING for a word of several tokens.
    """
    text_of = {int(whole[row]): inside.words.word(row) for row in np.flatnonzero(whole != NOTHING).tolist()}
    tokens = np.array(sorted(token for token, word in text_of.items() if _holds_letter(word)), np.int64)
    lettered = np.where(np.isin(whole, tokens), whole, NOTHING)
    token_of_place = lettered[inside.rows]
    beside = np.zeros(len(token_of_place) + 1, np.bool_)  # whether a word follows another word of the same run
    beside[1:-1] = (token_of_place[1:] != NOTHING) & (token_of_place[:-1] != NOTHING)
    beside[inside.first] = False
    kept = beside[:-1] | beside[1:]
    begins = kept & ~beside[:-1]
    cells = np.cumsum(kept) + np.cumsum(begins) - 1  # a separator is before each run, and after the last
    symbols = np.full(int(kept.sum() + begins.sum()) + 1, SEPARATOR, np.int32)
    symbols[cells[kept]] = np.searchsorted(tokens, token_of_place[kept])
    starts = np.append(cells[begins], len(symbols))
    weights = repeat(counts, np.diff(inside.first))[begins]
    words = [text_of[token] for token in tokens.tolist()]
    alphabet = Alphabet(tuple(Symbol(word, word, "character") for word in words))
    table = WordTable(np.zeros(0, np.uint8), np.zeros(len(weights) + 1, np.int64), weights)
    return Runs(table, alphabet, Layout(symbols, starts, int(kept.sum())), tokens)


def _holds_letter(word: bytes) -> bool:
    return _LETTER.search(word.decode(errors="ignore")) is not None
