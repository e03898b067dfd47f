"""SentencePiece's .model: pieces with scores, minus the rank of a merge in BPE, in Unigram log-probabilities."""

from __future__ import annotations

from typing import Any, BinaryIO

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
)
from bpe_core.formats.limitations import same_text, unrecoverable
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
    Stored,
    bytes_field,
    read,
    trainer_spec,
)
from bpe_core.formats.sentencepiece_text import map_differs, normalizer_spec, prepared_spec, recipe_of
from bpe_core.formats.unigram_vocabulary import Pieces, ScoredPiece, checked_score, method_of
from bpe_core.history.alphabet import BYTE_TEXTS
from bpe_core.history.history import History, Int64s
from bpe_core.history.token_texts import written
from bpe_core.support.progress import Progress, ProgressReport


def unigram_history(stored: Stored, name: str) -> tuple[History, list[str]]:
    """Return what the pieces make, and notes."""
    of_kind = {kind: [i for i, piece in enumerate(stored.pieces) if piece.kind == kind] for kind in range(1, BYTE + 1)}
    if len(of_kind[UNKNOWN]) != 1:
        raise FormatError(
            f"{name}: {len(of_kind[UNKNOWN]):,} pieces stand for what is unknown; "
            "a Unigram model has one, such as <unk>."
        )
    unknown = of_kind[UNKNOWN][0]
    number_of = {piece.text: number for number, piece in enumerate(stored.pieces)}
    said = {} if stored.byte_fallback else {"unknown_text": stored.pieces[unknown].text}
    scored = [
        ScoredPiece(stored.pieces[i].text, checked_score(stored.pieces[i].score, f"{name}, piece {i:,}"), i)
        for i in of_kind[NORMAL]
    ]
    recipe, notes = recipe_of(stored, 0, name, method=method_of(scored), **said)
    pieces = Pieces(
        scored=scored,
        unknown=unknown if not stored.byte_fallback else NO_NUMBER,
        fallback=[number_of[text] for text in BYTE_TEXTS] if stored.byte_fallback else [],
        specials=sorted(of_kind[CONTROL] + of_kind[USER_DEFINED]),
        notes=notes,
    )
    if of_kind[USER_DEFINED]:
        text = stored.pieces[of_kind[USER_DEFINED][0]].text
        notes.append(f"The file takes {text!r} and its like for tokens wherever they stand; here they part words.")
    return unigram_vocabulary.history_of(pieces, recipe, name), notes


class SentencePieceModel(Format):
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
        control = ["Special tokens become control symbols: they have numbers, but are not looked for in texts."]
        controls = control if recipe.special_tokens else []
        if recipe.preparation:
            return same_text(history) + controls
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
        return found + controls

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
        if is_bpe:
            pieces = sentencepiece_bpe.pieces_of(history, self.numbers(history))
        else:
            pieces = [
                piece._replace(score=piece.score * (piece.kind != UNUSED))
                for piece in unigram_vocabulary.pieces_of(history)
            ]
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
        read_pieces = unigram_history if stored.kind == UNIGRAM else sentencepiece_bpe.history_of
        history, notes = read_pieces(stored, name)
        return OpenedTable(history, self.name, tuple(notes))

    def loaded_by(self, library: Any, data: bytes, history: History, name: str, beside: Beside) -> Peer | None:
        processor = library.SentencePieceProcessor(model_proto=data)
        return lambda text: list(processor.encode(text))
