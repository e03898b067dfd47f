"""The pieces of a SentencePiece model of the kind Unigram, whose scores are log-probabilities."""

from __future__ import annotations

from bpe_core.errors import FormatError
from bpe_core.formats import unigram_vocabulary
from bpe_core.formats.base import NO_NUMBER
from bpe_core.formats.sentencepiece_fields import (
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    Piece,
    Stored,
)
from bpe_core.formats.sentencepiece_text import recipe_of
from bpe_core.formats.unigram_vocabulary import Pieces, ScoredPiece, checked_score, method_of
from bpe_core.formats.unigram_vocabulary import numbers_for as numbers_for
from bpe_core.history.history import History, Int64s

_KINDS = {"piece": NORMAL, "unknown": UNKNOWN, "fallback": BYTE, "special": CONTROL, "gap": UNUSED}


def pieces_of(history: History, numbers: Int64s) -> list[Piece]:
    return [
        Piece(piece.text, piece.score if piece.kind == "piece" else 0.0, _KINDS[piece.kind])
        for piece in unigram_vocabulary.pieces_of(history, numbers)
    ]


def history_of(stored: Stored, name: str) -> tuple[History, Int64s | None, list[str]]:
    """What the pieces make, the numbers of our ids if these are others, and notes."""
    of_kind: dict[int, list[int]] = {kind: [] for kind in (NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE)}
    for number, piece in enumerate(stored.pieces):
        of_kind[piece.kind].append(number)
    if len(of_kind[UNKNOWN]) != 1:
        raise FormatError(
            f"{name}: {len(of_kind[UNKNOWN]):,} pieces stand for what is unknown; "
            "a Unigram model has one, such as <unk>."
        )
    unknown = of_kind[UNKNOWN][0]
    number_of = {piece.text: number for number, piece in enumerate(stored.pieces)}
    said = {} if stored.byte_fallback else {"unknown_text": stored.pieces[unknown].text}
    scored = [
        ScoredPiece(piece.text, checked_score(piece.score, f"{name}, piece {number:,}"), number)
        for number, piece in enumerate(stored.pieces)
        if piece.kind == NORMAL
    ]
    recipe, notes = recipe_of(stored, 0, name, method=method_of(scored), **said)
    pieces = Pieces(
        scored=scored,
        unknown=unknown if not stored.byte_fallback else NO_NUMBER,
        fallback=[number_of[f"<0x{i:02X}>"] for i in range(256)] if stored.byte_fallback else [],
        specials=sorted(of_kind[CONTROL] + of_kind[USER_DEFINED]),
        notes=notes,
    )
    if of_kind[USER_DEFINED]:
        text = stored.pieces[of_kind[USER_DEFINED][0]].text
        notes.append(f"The file takes {text!r} and its like for tokens wherever they stand; here they part words.")
    history, numbers = unigram_vocabulary.history_of(pieces, recipe, name)
    return history, numbers, notes
