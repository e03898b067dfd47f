"""How Unigram cuts a word: all ways to do it, the best, the n best, and one drawn by chance. Plain and slow."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator

from bpe_core.alphabet import Alphabet
from bpe_core.history.history import NOTHING, History
from bpe_core.recipe import Recipe
from bpe_core.text.normalization import normalize
from bpe_core.text.splitting import split_words

Piece = tuple[int, ...]  # base symbols
Scored = dict[int, float]  # a score for each token that can be used
Tokens = dict[Piece, int]  # the tokens that can be used, by what they cover


def paths(stretch: Piece, tokens: Tokens) -> Iterator[list[int]]:
    """All ways to cut a stretch."""
    if not stretch:
        yield []
    for stop in range(1, len(stretch) + 1):
        if stretch[:stop] in tokens:
            for rest in paths(stretch[stop:], tokens):
                yield [tokens[stretch[:stop]], *rest]


def best_path(stretch: Piece, tokens: Tokens, scores: Scored) -> tuple[float, list[int]]:
    """The way to cut it with the highest sum of scores; of equals the one whose last token is longest."""
    best: list[tuple[float, list[int]]] = [(0.0, [])]
    for stop in range(1, len(stretch) + 1):
        ways = [
            (best[start][0] + scores[token], [*best[start][1], token])
            for start in range(stop)
            if (token := tokens.get(stretch[start:stop])) is not None
        ]
        best.append(max(ways, key=lambda way: way[0]) if ways else (-math.inf, []))
    return best[-1]


def n_best(stretch: Piece, tokens: Tokens, scores: Scored, wanted: int) -> list[list[int]]:
    """The most probable ways to cut it, the best first."""
    return sorted(paths(stretch, tokens), key=lambda path: -sum(scores[token] for token in path))[:wanted]


def sample(stretch: Piece, tokens: Tokens, scores: Scored, alpha: float, chance: random.Random) -> list[int]:
    """One way to cut it, drawn by its probability to the power of alpha."""
    ways = list(paths(stretch, tokens))
    weights = [math.exp(alpha * sum(scores[token] for token in path)) for path in ways]
    return chance.choices(ways, weights)[0]


def ids_by_piece(alphabet: Alphabet, recipe: Recipe) -> Tokens:
    """Every token by the base symbols it covers."""
    symbol_of = {text.decode(): id for text, id in alphabet.id_of_piece.items()}
    found: Tokens = {}
    for id, symbol in enumerate(alphabet.symbols):
        if symbol.kind == "seed":
            text, begins = symbol.text.decode(), symbol.text.startswith(recipe.marker_text.encode())
            front = (alphabet.marker_id,) if begins and alphabet.marker_id is not None else ()
            letters = text[len(recipe.marker_text) :] if front else text
            found[(*front, *(symbol_of[letter] for letter in letters))] = id
        else:
            found[(id,)] = id
    return found


BestPath = Callable[[Piece, Tokens, Scored], tuple[float, list[int]]]


def encode(text: str, history: History, *, at: int | None = None, best: BestPath = best_path) -> list[int]:
    """The ids of a text's tokens, as the tokenizer stood after `at` steps (all, if not said)."""
    words = split_words(normalize(text, history.recipe), history.recipe)
    return [id for word in words for id in encode_word(word.encode(), history, at=at, best=best)]


def encode_word(word: bytes, history: History, *, at: int | None = None, best: BestPath = best_path) -> list[int]:
    assert history.scores is not None
    scores = dict(enumerate(history.scores.at(len(history) if at is None else at).tolist()))
    tokens = {
        piece: id for piece, id in ids_by_piece(history.alphabet, history.recipe).items() if scores[id] > -math.inf
    }
    ids, stretch = list[int](), list[int]()
    for symbol in [*history.alphabet.symbols_of(word, history.recipe), NOTHING]:
        if symbol != NOTHING and history.alphabet.symbols[symbol].merges:
            stretch.append(symbol)
            continue
        ids += best(tuple(stretch), tokens, scores)[1]
        stretch = []
        if symbol != NOTHING and ids[-1:] != [history.alphabet.unknown_id]:
            ids.append(symbol)
    return ids
