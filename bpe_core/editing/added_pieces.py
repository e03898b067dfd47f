"""Functions that add tokens to a table whose method looks tokens up in the vocabulary.

The table's tokens keep their ids and log-probabilities. New tokens, and their log-probabilities, come from a second
vocabulary, which is learned only on the new texts. In a method that drops tokens, log-probabilities change at each
step. Then the new tokens get the log-probabilities of the step at which the second vocabulary has the requested size. A
piece is left out if it never occurs in a split text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.editing.growing import NOTHING_NEW
from bpe_core.editing.without_tokens import AdditionalTokens, ReducedHistory, remove_tokens
from bpe_core.errors import NothingToLearn
from bpe_core.history.alphabet import Symbol
from bpe_core.history.history import History
from bpe_core.history.token_texts import TokenBytes, written
from bpe_core.methods.kit.best_paths import Pieces
from bpe_core.methods.kit.lattices import best_path, seed_symbols
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.trainer import learn
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import CancelCheck, Work, never_cancelled, while_wanted

NO_SCORE = 0.0  # for methods without log-probabilities


class AddedPiece(NamedTuple):
    symbol: Symbol
    score: float = NO_SCORE


@dataclass(frozen=True, eq=False)
class Beside(ReducedHistory):
    added: tuple[Symbol, ...]
    characters: int  # characters of the table that only longer tokens held
    left_out: tuple[bytes, ...]


def pieces_of(history: History) -> list[AddedPiece]:
    """Return the tokens that were not dropped. Base symbols come first.

    Special tokens and the unknown token are left out.
    """
    base = len(history.alphabet)
    symbols = history.alphabet.symbols
    texts = written(history)
    decoded = TokenBytes(history)
    scores = np.zeros(base) if history.scores is None else history.scores.at(len(history))
    pieces = []
    for id in history.vocabulary.tolist():
        symbol = symbols[id] if id < base else Symbol(texts[id], decoded[id], "seed")
        if symbol.merges:
            pieces.append(AddedPiece(symbol, float(scores[id]) if id < base else NO_SCORE))
    return pieces


def add_pieces(
    history: History,
    pieces: Sequence[AddedPiece],
    specials: Sequence[str] = (),
    *,
    cancelled: CancelCheck = never_cancelled,
) -> Beside:
    """Add pieces and special tokens to a table.

    Tokens that the table already has are left out, and also pieces into which no text would ever be split.
    """
    known = {*written(history), *(token.encode() for token in history.recipe.special_tokens)}
    new = {piece.symbol.text: piece for piece in pieces if piece.symbol.text not in known}
    more = tuple(token for token in specials if token.encode() not in known)
    left_out = _texts_never_produced(history, list(new.values()), cancelled)
    kept = [piece for text, piece in new.items() if text not in left_out]
    grown = _with(history, kept, more)
    lone = [AddedPiece(symbol) for symbol in Method.of(history.recipe).lone_characters(grown.history)]
    if lone:
        grown = _with(history, [*kept, *lone], more)
    symbols = tuple(piece.symbol for piece in (*kept, *lone))
    return Beside(
        grown.history, grown.new_ids, grown.old_ids, symbols, len(lone), tuple(text for text in new if text in left_out)
    )


def _with(history: History, pieces: Sequence[AddedPiece], specials: Sequence[str] = ()) -> ReducedHistory:
    further = AdditionalTokens([piece.symbol for piece in pieces], [piece.score for piece in pieces], specials)
    return remove_tokens(history, np.zeros(history.index_count, np.bool_), further=further)


def _texts_never_produced(history: History, pieces: Sequence[AddedPiece], cancelled: CancelCheck) -> set[bytes]:
    """Find the pieces that never occur in a split text, and return their texts.

    Such a piece contains an unknown character, or its own text is split into other tokens with a higher
    probability.
    """
    if history.scores is None:
        return set()
    symbols = [*history.alphabet.symbols, *(piece.symbol for piece in pieces)]
    signs = {symbol.text.decode() for symbol in symbols if symbol.kind in ("character", "marker")}
    texts = {piece.symbol.text for piece in pieces if not signs.issuperset(piece.symbol.text.decode())}
    table = _with(history, [piece for piece in pieces if piece.symbol.text not in texts]).history
    ways = Pieces(table)
    marker = table.recipe.marker_text.encode()
    new = {piece.symbol.text for piece in pieces}
    scores = ways.scores_at(0)
    first = len(table.alphabet) - table.alphabet.seed_count
    for id, spelling in enumerate(while_wanted(seed_symbols(table.alphabet, marker), cancelled), first):
        text = table.alphabet.texts[id]
        if text in new and best_path(ways.edges(spelling, 0), scores)[1] != [id]:
            texts.add(text)
    return texts


def more_pieces(words: WordTable, history: History, recipe: Recipe, work: Work) -> Beside:
    """Learn pieces from words, and return the table with these pieces added.

    Pieces are added until the vocabulary has the size in the recipe, or until all learned pieces are added.
    """
    wanted = (recipe.vocab_size or 0) - history.vocabulary_size
    sign = _sign_of_blanks(history)
    learned = _learned(_as_marked(words, recipe, sign), recipe, sign, wanted, work)
    known = set(written(history))
    symbols = learned.alphabet.symbols
    new = [id for id, symbol in enumerate(symbols) if symbol.merges and symbol.text not in known]
    signs = [id for id in new if symbols[id].kind != "seed"]
    asked = max(0, wanted - len(signs))
    while True:
        at = _steps_until(learned, set(new), asked)
        scores = learned.scores.at(at) if learned.scores is not None else np.zeros(len(symbols), np.float32)
        best = sorted((id for id in new[len(signs) :] if np.isfinite(scores[id])), key=lambda id: -scores[id])
        pieces = [AddedPiece(symbols[id], float(scores[id])) for id in (*signs, *best)]
        grown = add_pieces(history, pieces, cancelled=work.cancelled)
        missing = wanted - len(grown.added)
        if missing <= 0 or len(best) < asked:
            break
        asked += missing
    if not grown.added:
        raise NothingToLearn(NOTHING_NEW)
    if missing < 0:
        grown = add_pieces(history, [piece for piece in pieces if piece.symbol in set(grown.added)][:wanted])
    return grown


def _learned(words: WordTable, recipe: Recipe, sign: str, wanted: int, work: Work) -> History:
    if len(words) == 0:
        raise NothingToLearn(NOTHING_NEW)
    alone = recipe.with_changes(
        special_tokens=(), preparation=(), pattern="whitespace", marker="prefix", marker_text=sign
    )
    alphabet = Method.of(alone).tokens_at_first(words, alone)
    alone = alone.with_changes(merges=max(0, alphabet.seed_count - wanted))
    empty = History.from_pairs(alone, alphabet, [])
    return learn(words, alone, history=empty, progress=work.progress, cancelled=work.cancelled)


def _steps_until(learned: History, new: set[int], wanted: int) -> int:
    """Return the smallest number of steps that leave at most `wanted` of the new seeds.

    A seed is a piece with which the vocabulary begins. Steps drop seeds. A vocabulary without scores cannot be used, so
    the steps before the first scores are always included.
    """
    drops = np.array([id in new for id in learned.columns.left.tolist()], np.bool_)
    seeds = len(new.intersection(range(len(learned.alphabet) - learned.alphabet.seed_count, len(learned.alphabet))))
    left = seeds - np.concatenate([np.zeros(1, np.int64), np.cumsum(drops)])
    at = int(np.argmax(left <= wanted)) if (left <= wanted).any() else len(learned)
    first = learned.scores.until(0) if learned.scores is not None else 0
    return max(at, first if first <= len(learned) else 0)


def _sign_of_blanks(history: History) -> str:
    recipe = history.recipe
    signs = (symbol.text.decode() for symbol in history.alphabet.symbols if symbol.decoded == b" ")
    return recipe.marker_text or next(signs, "▁")


def _as_marked(words: WordTable, recipe: Recipe, sign: str) -> WordTable:
    if recipe.marker == "prefix":
        return words
    marker = sign.encode()
    inner = ((word.removeprefix(marker), count) for word, count in words if word.startswith(marker))
    return WordTable.from_counts([(word, count) for word, count in inner if word and marker not in word])
