"""A check of whether two tokens can be neighbours on the best path of a word.

A part of a best path is the best path of its own text. So if another path through the text of the two tokens is clearly
better, the two tokens are never neighbours in a word. Sums over a whole text are rounded, so a small difference proves
nothing.

    >>> from bpe_core.studies.making import train
    >>> study = train("low lower lowest " * 9, "unigram", vocab_size=12)
    >>> number_of = {text: index for index, text in enumerate(study.inside.by_index.texts.text)}
    >>> apart = apart_in_words(study.history)
    >>> apart(number_of["▁low"], number_of["e"]), apart(number_of["l"], number_of["e"])
    ('Inside a word “▁lowe” is preferred to these two tokens', '')
"""

from __future__ import annotations

from bpe_core.history.columns import DROPPED
from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted, written
from bpe_core.methods.kit.apart import Apart
from bpe_core.methods.kit.best_paths import Pieces
from bpe_core.methods.kit.lattices import best_path, seed_symbols

ROUNDED = {"32 bits": 0.07}  # the most by which adding a token is rounded, for sums below a million
ROUNDED_LITTLE = 1e-6  # the same for other sums, which have 64 bits
MOST_SYMBOLS = 10_000  # of both tokens


def apart_in_words(history: History) -> Apart:
    pieces = Pieces(history)
    scores = pieces.scores_at(len(history))
    alphabet = history.alphabet
    seeds = seed_symbols(alphabet, history.recipe.marker_text.encode())
    first = len(alphabet) - len(seeds)
    rounded = ROUNDED.get(history.recipe.sums, ROUNDED_LITTLE)
    texts = written(history)
    stays_alone = {index for index, merges in enumerate(alphabet.merging) if not merges}

    def symbols_of(token: int) -> list[int]:
        return [part for symbol in history.symbols_of(token) for part in _spelled(symbol)]

    def _spelled(symbol: int) -> list[int]:
        return list(seeds[symbol - first]) if symbol >= first else [symbol]

    def apart(left: int, right: int) -> str:
        if not stays_alone.isdisjoint((left, right)) or DROPPED in (scores[left], scores[right]):
            return ""
        symbols = [*symbols_of(left), *symbols_of(right)]
        if len(symbols) > MOST_SYMBOLS:
            return ""
        edges = [[edge for edge in here if scores[edge[1]] != DROPPED] for here in pieces.edges(symbols, len(history))]
        score, path = best_path(edges, scores)
        if score <= scores[left] + scores[right] + rounded * (len(path) + 2):
            return ""
        return f"Inside a word {' + '.join(quoted(texts[id]) for id in path)} is preferred to these two tokens"

    return apart
