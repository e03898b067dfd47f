"""SentencePiece's .model for BPE: a protobuf with pieces, their scores, and how text is changed first.

A piece's score is minus the rank of its merge. Merges are not stored: what each piece was
made of is recovered by merging it with the pieces of higher score (see recovering.py).
Every word begins with ▁, and blanks of all kinds part words.
"""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, BinaryIO

import numpy as np

from bpe_core.alphabet import Alphabet, Symbol
from bpe_core.errors import FormatError, RecipeError, TooLarge
from bpe_core.formats.base import NO_NUMBER, Beside, Format, OpenedTable, Peer, nothing_beside
from bpe_core.formats.character_map import changes_of, packed
from bpe_core.formats.checked_json import parsed_object
from bpe_core.formats.protobuf import Field, bytes_field, fields_but, fields_of, float_field, message_in, varint_field
from bpe_core.formats.recovering import Recovered, recover
from bpe_core.formats.unfit_tokens import listed, same_text, unrecoverable
from bpe_core.history.history import History, Int64s
from bpe_core.progress import Progress, ProgressReport
from bpe_core.recipe import LARGEST_VOCABULARY, UNKNOWN_TOKEN, Recipe
from bpe_core.token_texts import written

MARKER = "▁"
PIECE = 1  # the field
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)  # kinds of pieces
BPE = 2  # the kind of model
LARGEST_FILE = 2**26
MOST_FIELDS_OF_A_PIECE = 16


class SentencePieceModel(Format):
    """.model"""

    name = "sentencepiece"
    extension = ".model"
    endings = (".spm.model", ".spm")
    explanation = "SentencePiece's BPE model: characters, a ▁ before each word, and how text is changed first."
    peer_name = "sentencepiece"
    joins_unknown = True
    holds_specials = False

    def impossible(self, history: History) -> list[str]:
        recipe = history.recipe
        if recipe.base != "characters":
            return ["SentencePiece models start from characters; this table starts from bytes."]
        if recipe.marker != "prefix" or recipe.marker_text != MARKER:
            return [f"SentencePiece models put {MARKER} before each word; this table's word marker is {recipe.marker}."]
        if recipe.pattern != "whitespace":
            return [f"SentencePiece models split only at blanks; this table's pattern is {recipe.pattern}."]
        return []

    def can_hold(self, history: History) -> list[str]:
        impossible = self.impossible(history)
        if impossible:
            return impossible
        recipe = history.recipe
        texts = [text.decode() for text in written(history)]
        found = same_text(history) + unrecoverable(history, texts)
        if recipe.unknown == "unk":
            found.append("Several unknown characters in a row are one <unk> in this format; here each is one.")
        if recipe.unicode_form:
            found.append(
                "This format composes a letter with one mark after the other; rare orders of marks may differ."
            )
        if recipe.lowercase:
            found.append("A capital Σ at the end of a word becomes ς here, but σ in this format.")
        if recipe.special_tokens:
            found.append("Special tokens become control symbols: they have numbers, but are not looked for in texts.")
        return found

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport, numbers: Int64s) -> None:
        progress(Progress("writing", 0, len(history), "merges"))
        pieces = _pieces_of(history)
        for piece in pieces:
            kind = varint_field(3, piece.kind) if piece.kind != NORMAL else b""
            file.write(bytes_field(1, bytes_field(1, piece.text.encode()) + float_field(2, piece.score) + kind))
        unknown = next(number for number, piece in enumerate(pieces) if piece.kind == UNKNOWN)
        file.write(bytes_field(2, _trainer_spec(history.recipe, len(pieces), unknown)))
        file.write(bytes_field(3, _normalizer_spec(history.recipe)))
        progress(Progress("writing", len(history), len(history), "merges"))

    def recognizes(self, data: bytes) -> bool:
        # The first field is a piece, in it first its text and then its score.
        if len(data) < 8 or data[0] != 0x0A or data[2] != 0x0A:
            return False
        length = data[3]
        return length + 2 <= data[1] and data[4 + length : 5 + length] == b"\x15"

    def open(self, data: bytes, name: str, beside: Beside = nothing_beside) -> OpenedTable:
        stored = _read(data, name)
        symbols = _base_symbols(stored)
        base = {text: id for id, (text, symbol) in enumerate(symbols) if symbol.merges}
        made = sorted(_made(stored), key=lambda piece: -piece.score)
        recovered = recover({piece.text: rank for rank, piece in enumerate(made)}, base, len(symbols))
        specials = [piece for piece in stored.pieces if piece.kind in (CONTROL, USER_DEFINED)]
        recipe, notes = _recipe(stored, [piece.text for piece in specials], len(recovered.pairs), name)
        history = History.from_pairs(recipe, Alphabet(tuple(symbol for _, symbol in symbols)), recovered.pairs)
        number_of = {piece.text: number for number, piece in enumerate(stored.pieces)}
        names = [text for text, _ in symbols] + recovered.tokens + [piece.text for piece in specials]
        numbers = np.array([number_of.get(text, NO_NUMBER) for text in names], np.int64)
        same = np.array_equal(numbers, np.arange(len(numbers)))
        return OpenedTable(history, self.name, tuple(notes + _about_pieces(recovered)), None if same else numbers)

    def peer(self, data: bytes, history: History, name: str, beside: Beside = nothing_beside) -> Peer | None:
        try:
            import sentencepiece  # not needed to run: only asked whether it agrees
        except ImportError:
            return None
        processor = sentencepiece.SentencePieceProcessor(model_proto=data)
        return lambda text: list(processor.encode(text))


@dataclass(frozen=True)
class Piece:
    """One entry of the vocabulary; its number is its place."""

    text: str
    score: float
    kind: int


# --- Writing ----------------------------------------------------------------------------


def _pieces_of(history: History) -> list[Piece]:
    """The pieces in the order of our ids; a model without any <unk> is refused, so one may follow them."""
    texts = written(history)
    kinds = {"unknown": UNKNOWN, "fallback": BYTE}
    base = len(history.alphabet)
    lowest = -float(len(texts))  # base symbols lie below all merges
    seen: set[str] = set()
    pieces: list[Piece] = []
    for id, raw in enumerate(texts):
        text = raw.decode()
        kind = kinds.get(history.alphabet.symbols[id].kind, NORMAL) if id < base else NORMAL
        if text in seen:  # no two pieces may have the same text
            text, kind = f"<unused {id}>", UNUSED
        seen.add(text)
        pieces.append(Piece(text, 0.0 if kind != NORMAL else float(base - id) if id >= base else lowest - id, kind))
    pieces += [Piece(special, 0.0, CONTROL) for special in history.recipe.special_tokens]
    if history.recipe.unknown == "bytes":
        pieces.append(Piece(UNKNOWN_TOKEN, 0.0, UNKNOWN))
    return pieces


def _trainer_spec(recipe: Recipe, size: int, unknown: int) -> bytes:
    fields = [
        varint_field(3, BPE),
        varint_field(4, size),
        varint_field(35, recipe.unknown == "bytes"),
        varint_field(40, unknown),
        *(varint_field(field, -1) for field in (41, 42, 43)),  # no beginning, end or padding
        bytes_field(45, UNKNOWN_TOKEN.encode()),
    ]
    return b"".join(fields)


def _normalizer_spec(recipe: Recipe) -> bytes:
    choices = {choice: getattr(recipe, choice) for choice in _TEXT_CHOICES}
    return b"".join(
        [
            bytes_field(1, (_OWN_NAME + json.dumps(choices, ensure_ascii=False)).encode()),
            bytes_field(2, _map_of(Recipe(**choices))),
            *(varint_field(field, 1) for field in (3, 4, 5)),  # ▁ in front; one blank for several; blanks as ▁
        ]
    )


@lru_cache(maxsize=4)
def _map_of(recipe: Recipe) -> bytes:
    return packed(changes_of(recipe))


_OWN_NAME = "bpe-explorer "
_TEXT_CHOICES = ("unicode_form", "lowercase", "strip_ascii_punctuation", "strip_marks")


# --- Reading ----------------------------------------------------------------------------


@dataclass
class Stored:
    """What the fields of the file say."""

    pieces: list[Piece] = field(default_factory=list)
    kind: int = 1  # unigram, where nothing is said
    byte_fallback: bool = False
    suffix: bool = False
    normalizer: str = ""
    has_map: bool = False
    prefix: bool = True
    one_blank: bool = True


def _read(data: bytes, name: str) -> Stored:
    if len(data) > LARGEST_FILE:
        raise TooLarge(f"{name} has {len(data):,} bytes; a model of more than {LARGEST_FILE:,} is not read.")
    stored, message = Stored(), memoryview(data)
    others, pieces = fields_but(message, PIECE, name, LARGEST_VOCABULARY)
    for one in others:
        if one.number == 2:
            _read_trainer(one, stored, name)
        elif one.number == 3:
            _read_normalizer(one, stored, name)
    _check(stored, pieces, name)  # before any piece is looked at: there may be millions
    seen: set[str] = set()
    for one in fields_of(message, name, most=len(others) + pieces):
        if one.number == PIECE:
            piece = _piece(one, name)
            if piece.text in seen:
                raise FormatError(f"{name}, piece {len(seen):,}: the text {piece.text[:80]!r} is there twice.")
            seen.add(piece.text)
            stored.pieces.append(piece)
    if stored.byte_fallback and not all(f"<0x{i:02X}>" in seen for i in range(256)):
        raise FormatError(f"{name}: unknown characters become bytes, but not every byte has a piece.")
    return stored


def _piece(message: Field, name: str) -> Piece:
    where = f"{name}, byte {message.place:,}"
    text, score, kind = "", 0.0, NORMAL
    for one in fields_of(message_in(message, name), name, message.place, MOST_FIELDS_OF_A_PIECE):
        if one.number == 1 and isinstance(one.value, bytes):
            text = _decoded(one.value, where)
        elif one.number == 2 and isinstance(one.value, bytes) and len(one.value) == 4:
            (score,) = struct.unpack("<f", one.value)
        elif one.number == 3 and isinstance(one.value, int):
            kind = one.value
    if not text or not math.isfinite(score) or not NORMAL <= kind <= BYTE:
        raise FormatError(f"{where}: a piece has no text, no finite score or an unknown kind.")
    return Piece(text, score, kind)


def _read_trainer(message: Field, stored: Stored, name: str) -> None:
    for one in fields_of(message_in(message, name), name, message.place):
        if isinstance(one.value, int):
            if one.number == 3:
                stored.kind = one.value
            elif one.number == 24:
                stored.suffix = bool(one.value)
            elif one.number == 35:
                stored.byte_fallback = bool(one.value)


def _read_normalizer(message: Field, stored: Stored, name: str) -> None:
    for one in fields_of(message_in(message, name), name, message.place):
        if isinstance(one.value, bytes):
            if one.number == 1:
                stored.normalizer = _decoded(one.value, f"{name}, byte {one.place:,}")
            elif one.number == 2:
                stored.has_map = bool(one.value)
        elif one.number == 3:
            stored.prefix = bool(one.value)
        elif one.number == 4:
            stored.one_blank = bool(one.value)


def _decoded(raw: bytes, where: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"{where}: a text is not UTF-8.") from error


def _check(stored: Stored, pieces: int, name: str) -> None:
    if stored.kind != BPE:
        kinds = {1: "unigram", 3: "word", 4: "character"}
        raise FormatError(f"{name} holds a {kinds.get(stored.kind, 'strange')} model; this program reads BPE models.")
    if stored.suffix:
        raise FormatError(f"{name} puts {MARKER} behind words; this program reads models that put it before them.")
    if pieces > LARGEST_VOCABULARY:
        raise FormatError(f"{name}: there are more than {LARGEST_VOCABULARY:,} pieces.")


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


def _recipe(stored: Stored, specials: list[str], merges: int, name: str) -> tuple[Recipe, list[str]]:
    choices, notes = _text_choices(stored, name)
    if not stored.prefix:
        notes.append(f"The file puts no {MARKER} before the first word of a text; here each word has one.")
    if not stored.one_blank:
        notes.append(f"The file makes a {MARKER} of each of several blanks; here they only part words.")
    if specials:
        notes.append("Control symbols of the file are special tokens here.")
    try:
        recipe = Recipe(
            name="sentencepiece",
            base="characters",
            pattern="whitespace",
            marker="prefix",
            unknown="bytes" if stored.byte_fallback else "unk",
            special_tokens=tuple(specials),
            merges=merges,
            vocab_size=None,
            **choices,
        )
    except RecipeError as error:
        raise FormatError(f"{name}: {error}") from error
    return recipe, notes


def _text_choices(stored: Stored, name: str) -> tuple[dict[str, Any], list[str]]:
    """How the text is changed first: by the name of the map, which is not read itself."""
    kind = stored.normalizer
    if kind.startswith(_OWN_NAME):
        choices = parsed_object(kind.removeprefix(_OWN_NAME).encode(), f"{name}: its normalizer")
        if choices.keys() != set(_TEXT_CHOICES):
            raise FormatError(f"{name}: its normalizer says something else than this program writes.")
        return choices, []
    if not stored.has_map:
        return {}, ["Only the space parts words in this file; here every kind of blank does."]
    if kind in ("nfkc", "nmt_nfkc"):
        also = ["The file also changes some signs beyond NFKC (nmt_nfkc)."] if kind != "nfkc" else []
        return {"unicode_form": "NFKC"}, also
    if kind in ("nfkc_cf", "nmt_nfkc_cf"):
        also = [f"The file folds case ({kind}), which changes more than lower case does: ß becomes ss."]
        return {"unicode_form": "NFKC", "lowercase": True}, also
    return {}, [f"The file changes texts by a map of its own ({kind or 'unnamed'}); here they stay as they are."]


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
