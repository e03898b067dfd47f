"""Further tokens beside those of a table whose method looks tokens up: WordPiece, Unigram.

Those of the table keep their ids and, of Unigram, their log-probabilities; new ones bring theirs along. A piece that
is less probable than the best other way to cut its own text would never be met, and is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bpe_core.alphabet import Symbol
from bpe_core.editing.lone_characters import lone_characters
from bpe_core.editing.without_tokens import Further, Without, without
from bpe_core.history.history import History, Int64s
from bpe_core.learning.unigram.paths import best_path, spelled
from bpe_core.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.records import dataclass
from bpe_core.segmenting.best_paths import Pieces
from bpe_core.token_texts import TokenBytes, written

NO_SCORE = 0.0  # where the method has none


class Piece(NamedTuple):
    """A token by itself."""

    symbol: Symbol
    score: float = NO_SCORE


@dataclass(frozen=True, eq=False)
class Beside:
    """The table with them."""

    history: History
    new_ids: Int64s  # for each id of before
    old_ids: Int64s  # for each id of now; of what is new less than 0
    added: tuple[Symbol, ...]
    characters: int  # of these, that only longer tokens held
    left_out: tuple[bytes, ...]


def pieces_of(history: History) -> list[Piece]:
    """Its tokens that were not dropped, but for special ones and what is unknown; base symbols first."""
    base, symbols = len(history.alphabet), history.alphabet.symbols
    texts, decoded = written(history), TokenBytes(history)
    scores = np.zeros(base) if history.scores is None else history.scores.at(len(history))
    found = []
    for id in history.vocabulary.tolist():
        symbol = symbols[id] if id < base else Symbol(texts[id], decoded[id], "seed")
        if symbol.merges:
            found.append(Piece(symbol, float(scores[id]) if id < base else NO_SCORE))
    return found


def put_beside(
    history: History,
    pieces: Sequence[Piece],
    specials: Sequence[str] = (),
    *,
    cancelled: CancelCheck = never_cancelled,
) -> Beside:
    """Those of the pieces and special tokens that the table lacks."""
    known = {*written(history), *(token.encode() for token in history.recipe.special_tokens)}
    new = {piece.symbol.text: piece for piece in pieces if piece.symbol.text not in known}
    more = tuple(token for token in specials if token.encode() not in known)
    left_out = _never_met(history, list(new.values()), cancelled)
    kept = [piece for text, piece in new.items() if text not in left_out]
    found = _with(history, kept, more)
    lone = [Piece(symbol) for symbol in lone_characters(found.history)]
    if lone:
        found = _with(history, [*kept, *lone], more)
    symbols = tuple(piece.symbol for piece in (*kept, *lone))
    return Beside(
        found.history, found.new_ids, found.old_ids, symbols, len(lone), tuple(text for text in new if text in left_out)
    )


def _with(history: History, pieces: Sequence[Piece], specials: Sequence[str] = ()) -> Without:
    further = Further([piece.symbol for piece in pieces], [piece.score for piece in pieces], specials)
    return without(history, np.zeros(history.id_count, np.bool_), further=further)


def _never_met(history: History, pieces: Sequence[Piece], cancelled: CancelCheck) -> set[bytes]:
    """Those that are not the best way to cut their own texts, or hold a character that no token is."""
    if history.scores is None:
        return set()
    symbols = [*history.alphabet.symbols, *(piece.symbol for piece in pieces)]
    signs = {symbol.text.decode() for symbol in symbols if symbol.kind in ("character", "marker")}
    found = {piece.symbol.text for piece in pieces if not signs.issuperset(piece.symbol.text.decode())}
    table = _with(history, [piece for piece in pieces if piece.symbol.text not in found]).history
    ways, marker, new = Pieces(table), table.recipe.marker_text.encode(), {piece.symbol.text for piece in pieces}
    scores, first = ways.scores_at(0), len(table.alphabet) - table.alphabet.seed_count
    for id, spelling in enumerate(while_wanted(spelled(table.alphabet, marker), cancelled), first):
        text = table.alphabet.texts[id]
        if text in new and best_path(ways.edges(spelling, 0), scores)[1] != [id]:
            found.add(text)
    return found
