"""Unigram's cut with the compiled kernels: the table of all tokens by their characters, and their scores."""

from __future__ import annotations

import numpy as np

from bpe_core.history.history import History
from bpe_core.history.scores import Scores
from bpe_core.kernels.pieces import CONTINUING, FALLBACK, MARKER, STARTING, UNKNOWN, enter_pieces
from bpe_core.segmenting.compiled_encoder import CompiledEncoder, piece_table
from bpe_core.segmenting.cutting import Cutting
from bpe_core.text.character_map import code_points


def compiled_paths(history: History, cutting: Cutting, scores: Scores) -> CompiledEncoder:
    """What encodes large texts by the same tokens as the plain cut."""
    alphabet, marker = history.alphabet, history.recipe.marker_text.encode()
    texts, roots, ids = list[str](), list[int](), list[int]()
    for id, symbol in enumerate(alphabet.symbols):
        if symbol.kind in ("character", "seed"):
            begins = symbol.kind == "seed" and symbol.text.startswith(marker)
            texts.append((symbol.text[len(marker) :] if begins else symbol.text).decode())
            roots.append(STARTING if begins else CONTINUING)
            ids.append(id)
    codes = code_points("".join(texts))
    starts = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=starts[1:])
    pieces = piece_table(len(codes))
    known = {UNKNOWN: alphabet.unknown_id, MARKER: alphabet.marker_id, FALLBACK: alphabet.first_fallback_id}
    for entry, number in known.items():
        pieces.number[entry] = -1 if number is None else number
    births = np.zeros(len(ids), np.int32)
    enter_pieces(pieces, codes, starts, np.array(roots, np.int32), np.array(ids, np.int32), births)
    return CompiledEncoder(history, cutting, pieces, lambda at: scores.at(at).astype(np.float64))
