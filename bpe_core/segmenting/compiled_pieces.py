"""WordPiece's cut with the compiled kernels: the table of all tokens by their characters."""

from __future__ import annotations

import numpy as np

from bpe_core.history.history import History
from bpe_core.kernels.encode import PIECES
from bpe_core.kernels.pieces import CONTINUING, LONGEST_WORD, STARTING, UNKNOWN, PieceTable
from bpe_core.segmenting.compiled_encoder import CompiledEncoder
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.in_time import InTime
from bpe_core.segmenting.piece_tables import piece_table
from bpe_core.segmenting.word_pieces import LongestPieces


def compiled_pieces(history: History, cutting: Cutting, plain: LongestPieces) -> CompiledEncoder:
    """What encodes large texts by the same tokens as the plain cut."""
    return CompiledEncoder(history, cutting, _table_of(history, plain), kind=PIECES)


def pieces_in_time(history: History, plain: LongestPieces) -> InTime:
    """What follows all steps: tokens are born by them."""
    return InTime([0], lambda at: _table_of(history, plain), None)


def _table_of(history: History, plain: LongestPieces) -> PieceTable:
    """The tokens with their births, as they stand before the first step."""
    starting, continuing = plain.starting, plain.continuing
    texts = [*starting, *continuing]
    ids, births = np.array([*starting.values(), *continuing.values()], np.int32).reshape(-1, 2).T
    roots = np.repeat(np.array([STARTING, CONTINUING], np.int32), [len(starting), len(continuing)])
    pieces = piece_table([text.encode() for text in texts], roots, ids, births)
    pieces.number[UNKNOWN], pieces.number[LONGEST_WORD] = plain.unknown, history.recipe.longest_word
    return pieces
