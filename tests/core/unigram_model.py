"""A helper that makes a finished run from a Unigram model of SentencePiece."""

from __future__ import annotations

from typing import Any

import numpy as np

from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.history.columns import Scores
from bpe_core.history.history import Columns, History
from bpe_core.recipes.recipe import Recipe


def history_of(model: Any) -> History:
    """Return the pieces of a model with their scores, as a finished run."""
    ids = [id for id in range(model.get_piece_size()) if not model.is_control(id) and not model.is_unknown(id)]
    pieces = sorted((len(model.id_to_piece(id)) > 1, model.id_to_piece(id), model.get_score(id)) for id in ids)
    symbols, scores = [Symbol(b"<unk>", b"<unk>", "unknown")], [min(score for *_, score in pieces) - 10]
    for is_long, piece, score in pieces:
        kind = "seed" if is_long else "marker" if piece == "▁" else "character"
        symbols.append(Symbol(piece.encode(), piece.replace("▁", " ").encode(), kind))  # type: ignore[arg-type]
        scores.append(score)
    recipe = Recipe.preset("unigram", unicode_form="", vocab_size=len(symbols))
    row = Scores((0,), (np.array(scores, np.float32),), np.zeros(0, np.int32))
    return History(recipe, Alphabet(tuple(symbols)), Columns.with_room(0), scores=row)
