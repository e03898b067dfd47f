"""Pieces from new texts for a table of Unigram or MinGram, whose own log-probabilities nobody can learn any more.

These were learned for all pieces at once, on texts that are not here; so they stay, and nothing is learned beside them.
Instead a vocabulary is learned on the new texts alone. It drops its pieces one after the other, and there is a moment
at which it has as many that the table lacks as are wanted: these come in, with what log-probabilities they have then.
"""

from __future__ import annotations

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.editing.beside import Beside, Piece, put_beside
from bpe_core.errors import NothingToLearn
from bpe_core.history.history import History
from bpe_core.learning.growing import NOTHING_NEW
from bpe_core.learning.methods import Method
from bpe_core.learning.trainer import learn
from bpe_core.progress import CancelCheck, ProgressReport, ignore_progress, never_cancelled
from bpe_core.recipe import Recipe
from bpe_core.token_texts import written


def more_pieces(
    words: WordTable,
    history: History,
    recipe: Recipe,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> Beside:
    """The table with as many pieces more as the recipe's vocabulary is larger, or all that there are."""
    wanted = (recipe.vocab_size or 0) - history.vocabulary_size
    sign = _sign_of_blanks(history)
    learned = _learned(_as_marked(words, recipe, sign), recipe, sign, wanted, progress, cancelled)
    known = set(written(history))
    symbols = learned.alphabet.symbols
    new = [id for id, symbol in enumerate(symbols) if symbol.merges and symbol.text not in known]
    signs = [id for id in new if symbols[id].kind != "seed"]
    asked = max(0, wanted - len(signs))
    while True:
        at = _moment(learned, set(new), asked)
        scores = learned.scores.at(at) if learned.scores is not None else np.zeros(len(symbols), np.float32)
        best = sorted((id for id in new[len(signs) :] if np.isfinite(scores[id])), key=lambda id: -scores[id])
        pieces = [Piece(symbols[id], float(scores[id])) for id in (*signs, *best)]
        found = put_beside(history, pieces, cancelled=cancelled)
        missing = wanted - len(found.added)
        if missing <= 0 or len(best) < asked:
            break
        asked += missing
    if not found.added:
        raise NothingToLearn(NOTHING_NEW)
    if missing < 0:
        found = put_beside(history, [piece for piece in pieces if piece.symbol in set(found.added)][:wanted])
    return found


def _learned(
    words: WordTable,
    recipe: Recipe,
    sign: str,
    wanted: int,
    progress: ProgressReport,
    cancelled: CancelCheck,
) -> History:
    """A vocabulary of these words alone, of so many pieces at last."""
    if len(words) == 0:
        raise NothingToLearn(NOTHING_NEW)
    alone = recipe.with_changes(
        special_tokens=(), preparation=(), pattern="whitespace", marker="prefix", marker_text=sign
    )
    alphabet = Method.of(alone).tokens_at_first(words, alone)
    alone = alone.with_changes(merges=max(0, alphabet.seed_count - wanted))
    empty = History.from_pairs(alone, alphabet, [])
    return learn(words, alone, history=empty, progress=progress, cancelled=cancelled)


def _moment(learned: History, new: set[int], wanted: int) -> int:
    """After how many steps there are so many seeds that are new; not before scores were first set."""
    drops = np.array([id in new for id in learned.columns.left.tolist()], np.bool_)
    seeds = len(new.intersection(range(len(learned.alphabet) - learned.alphabet.seed_count, len(learned.alphabet))))
    left = seeds - np.concatenate([np.zeros(1, np.int64), np.cumsum(drops)])
    at = int(np.argmax(left <= wanted)) if (left <= wanted).any() else len(learned)
    first = learned.scores.until(0) if learned.scores is not None else 0
    return max(at, first if first <= len(learned) else 0)


def _sign_of_blanks(history: History) -> str:
    """How a blank is written in the table's tokens."""
    recipe = history.recipe
    signs = (symbol.text.decode() for symbol in history.alphabet.symbols if symbol.decoded == b" ")
    return recipe.marker_text or next(signs, "▁")


def _as_marked(words: WordTable, recipe: Recipe, sign: str) -> WordTable:
    """Where words hold the sign as any other character: those that begin with it, without it."""
    if recipe.marker == "prefix":
        return words
    marker = sign.encode()
    inner = ((word.removeprefix(marker), count) for word, count in words if word.startswith(marker))
    return WordTable.from_counts([(word, count) for word, count in inner if word and marker not in word])
