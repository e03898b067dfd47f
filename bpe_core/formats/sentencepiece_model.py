"""SentencePiece's .model: a protobuf with pieces, their scores, and how text is changed first.

Of BPE, a piece's score is minus the rank of its merge. Merges are not stored: what each piece was
made of is recovered by merging it with the pieces of higher score (see recovering.py). Of Unigram, it is its
log-probability (sentencepiece_model.py). Every word begins with ▁, and blanks of all kinds part words.
"""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats import sentencepiece_bpe, unigram_vocabulary
from bpe_core.formats.base import (
    NO_NUMBER,
    Beside,
    Format,
    OpenedTable,
    Peer,
    complete_numbers,
    dense_numbers,
    nothing_beside,
    unless_ids,
)
from bpe_core.formats.limitations import listed, same_text, unrecoverable
from bpe_core.formats.recovering import Recovered, recover
from bpe_core.formats.sentencepiece_fields import (
    BPE,
    BYTE,
    CONTROL,
    MARKER,
    NORMAL,
    UNIGRAM,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    Piece,
    Stored,
    bytes_field,
    read,
    trainer_spec,
)
from bpe_core.formats.sentencepiece_text import is_own, map_differs, normalizer_spec, prepared_spec, recipe_of
from bpe_core.formats.unigram_vocabulary import Pieces, ScoredPiece, checked_score, method_of
from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.history.history import History, Int64s
from bpe_core.history.token_texts import written
from bpe_core.recipes.recipe import UNKNOWN_TOKEN
from bpe_core.support.progress import Progress, ProgressReport

_KINDS = {"piece": NORMAL, "unknown": UNKNOWN, "fallback": BYTE, "special": CONTROL, "gap": UNUSED}


def unigram_pieces(history: History) -> list[Piece]:
    return [
        Piece(piece.text, piece.score if piece.kind == "piece" else 0.0, _KINDS[piece.kind])
        for piece in unigram_vocabulary.pieces_of(history)
    ]


def unigram_history(stored: Stored, name: str) -> tuple[History, list[str]]:
    """Return what the pieces make, and notes."""
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
    return unigram_vocabulary.history_of(pieces, recipe, name), notes


class SentencePieceModel(Format):
    """.model"""

    name = "sentencepiece"
    extension = ".model"
    methods = ("bpe", "unigram", "mingram")
    holds = "joined pairs and Unigram's tokens only"
    peer_name = "sentencepiece"
    joins_unknown = True
    holds_specials = False
    holds_hidden = True

    def holds_joining(self, history: History) -> bool:
        return sentencepiece_bpe.joins_by_score(history)

    def impossible(self, history: History) -> list[str]:
        recipe = history.recipe
        if recipe.base != "characters":
            return ["SentencePiece models start from characters; this table starts from bytes."]
        if recipe.preparation and prepared_spec(recipe) is None:
            return ["SentencePiece models change texts in one way only, and this table prepares them in another."]
        if recipe.preparation:
            return []
        if recipe.marker != "prefix" or recipe.marker_text != MARKER:
            return [f"SentencePiece models put {MARKER} before each word; this table's word marker is {recipe.marker}."]
        if recipe.pattern != "whitespace":
            return [f"SentencePiece models split only at blanks; this table's pattern is {recipe.pattern}."]
        return []

    def does_otherwise(self, history: History) -> list[str]:
        recipe = history.recipe
        if recipe.preparation:
            return _of_prepared(history)
        found = [
            *same_text(history),
            f"A {MARKER} in a text is taken for a blank in this format; the check leaves it out.",
        ]
        if recipe.method == "bpe":
            found += unrecoverable(history, [text.decode() for text in written(history)])
            if recipe.unknown == "unk":
                found.append("Several unknown characters in a row are one <unk> in this format; here each is one.")
        elif recipe.method == "mingram":
            found.append(
                "That the fewest tokens are best is told by scores, all lower by the same large number. In a text of "
                "more than 256 tokens this format's library rounds their sums; of two cuts into as many tokens it may "
                "choose the other."
            )
        else:
            found.append("Where two cuts of a text are equally probable, this format's library may choose the other.")
        if recipe.unicode_form:
            found.append(
                "This format composes a letter with one mark after the other; rare orders of marks may differ, and the "
                "check leaves them out."
            )
        if recipe.lowercase and recipe.final_sigma:
            found.append("A capital Σ at the end of a word becomes ς here, but σ in this format.")
        if recipe.special_tokens:
            found.append("Special tokens become control symbols: they have numbers, but are not looked for in texts.")
        return found

    def spelled(self, history: History) -> tuple[str, ...]:
        return (MARKER,)

    def is_beyond(self, history: History, text: str) -> bool:
        return not (history.recipe.preparation or text.isascii()) and map_differs(history.recipe, text)

    def numbers(self, history: History) -> Int64s:
        if history.recipe.method == "bpe":
            return complete_numbers(history.numbered(dense_numbers(history)))
        return unigram_vocabulary.numbers_for(history)

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        progress(Progress("writing", 0, len(history), "steps"))
        is_bpe = history.recipe.method == "bpe"
        pieces = sentencepiece_bpe.pieces_of(history, self.numbers(history)) if is_bpe else unigram_pieces(history)
        file.writelines(piece.message() for piece in pieces)
        file.write(bytes_field(2, trainer_spec(BPE if is_bpe else UNIGRAM, history.recipe, pieces)))
        file.write(bytes_field(3, prepared_spec(history.recipe) or normalizer_spec(history.recipe)))

    def recognizes(self, data: bytes) -> bool:
        # The first field is a piece, in it first its text and then its score, or where that is not said its kind.
        if len(data) < 8 or data[0] != 0x0A or data[2] != 0x0A:
            return False
        length = data[3]
        behind = data[4 + length : 5 + length]
        return length + 2 == data[1] or (length + 2 < data[1] and behind in (b"\x15", b"\x18"))

    def open(self, data: bytes, name: str, beside: Beside = nothing_beside) -> OpenedTable:
        stored = read(data, name)
        if stored.kind == UNIGRAM:
            history, notes = unigram_history(stored, name)
            return OpenedTable(history, self.name, tuple(notes))
        if not is_own(stored):
            history, notes = sentencepiece_bpe.history_of(stored, name)
            return OpenedTable(history, self.name, tuple(notes))
        symbols = _base_symbols(stored)
        base = {text: id for id, (text, symbol) in enumerate(symbols) if symbol.merges}
        made = sorted(_made(stored), key=lambda piece: -piece.score)
        recovered = recover({piece.text: rank for rank, piece in enumerate(made)}, base, len(symbols))
        specials = [piece for piece in stored.pieces if piece.kind in (CONTROL, USER_DEFINED)]
        recipe, notes = recipe_of(stored, len(recovered.pairs), name)
        history = History.from_pairs(recipe, Alphabet(tuple(symbol for _, symbol in symbols)), recovered.pairs)
        number_of = {piece.text: number for number, piece in enumerate(stored.pieces)}
        names = [text for text, _ in symbols] + recovered.tokens + [piece.text for piece in specials]
        numbers = np.array([number_of.get(text, NO_NUMBER) for text in names], np.int64)
        return OpenedTable(history.numbered(unless_ids(numbers)), self.name, tuple(notes + _about_pieces(recovered)))

    def loaded_by(self, library: Any, data: bytes, history: History, name: str, beside: Beside) -> Peer | None:
        processor = library.SentencePieceProcessor(model_proto=data)
        return lambda text: list(processor.encode(text))


def _of_prepared(history: History) -> list[str]:
    """What a model does otherwise that says itself how texts are changed."""
    found = [*same_text(history)]
    if history.recipe.special_tokens:
        found.append("Special tokens become control symbols: they have numbers, but are not looked for in texts.")
    return found


# --- Reading ----------------------------------------------------------------------------


def _base_symbols(stored: Stored) -> list[tuple[str, Symbol]]:
    """What stands for the unknown, the characters, and ▁ last."""
    if stored.byte_fallback:
        unknown = [(f"<0x{i:02X}>", Symbol(f"<0x{i:02X}>".encode(), bytes([i]), "fallback")) for i in range(256)]
    else:
        text = next((piece.text for piece in stored.pieces if piece.kind == UNKNOWN), UNKNOWN_TOKEN)
        unknown = [(text, Symbol(UNKNOWN_TOKEN.encode(), UNKNOWN_TOKEN.encode(), "unknown"))]
    singles = [piece.text for piece in stored.pieces if piece.kind == NORMAL and len(piece.text) == 1]
    characters = [(text, Symbol(text.encode(), text.encode(), "character")) for text in singles if text != MARKER]
    return [*unknown, *characters, (MARKER, Symbol(MARKER.encode(), b" ", "marker"))]


def _made(stored: Stored) -> list[Piece]:
    return [piece for piece in stored.pieces if piece.kind == NORMAL and len(piece.text) > 1]


def _about_pieces(recovered: Recovered[str]) -> list[str]:
    notes = []
    if recovered.out_of_turn:
        tokens = listed([text.encode() for text in recovered.out_of_turn])
        notes.append(
            f"{len(recovered.out_of_turn):,} pieces are made of a piece with a lower score than their own: {tokens}. "
            "Here their merges follow those of their parts."
        )
    if recovered.lost:
        tokens = listed([text.encode() for text in recovered.lost])
        notes.append(f"{len(recovered.lost):,} pieces are made by no two others and left out: {tokens}.")
    return notes
