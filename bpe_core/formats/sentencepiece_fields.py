"""The fields of SentencePiece's .model: pieces with their scores, how they were learned, how text is changed first."""

from __future__ import annotations

import math
import struct
from dataclasses import field

from bpe_core.errors import FormatError, TooLarge
from bpe_core.formats.protobuf import Field, bytes_field, fields_but, fields_of, float_field, message_in, varint_field
from bpe_core.recipe import LARGEST_VOCABULARY, Recipe
from bpe_core.records import dataclass

MARKER = "▁"
PIECE = 1  # the field
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)  # kinds of pieces
UNIGRAM, BPE = 1, 2  # kinds of models
LARGEST_FILE = 2**26
MOST_FIELDS_OF_A_PIECE = 16


@dataclass(frozen=True)
class Piece:
    """One entry of the vocabulary; its number is its place."""

    text: str
    score: float
    kind: int

    def message(self) -> bytes:
        """As it stands in the file."""
        kind = varint_field(3, self.kind) if self.kind != NORMAL else b""
        return bytes_field(PIECE, bytes_field(1, self.text.encode()) + float_field(2, self.score) + kind)


def trainer_spec(kind: int, recipe: Recipe, pieces: list[Piece]) -> bytes:
    """How the pieces were learned, and which of them is for what is unknown."""
    unknown = next(number for number, piece in enumerate(pieces) if piece.kind == UNKNOWN)
    fields = [
        varint_field(3, kind),
        varint_field(4, len(pieces)),
        varint_field(35, recipe.unknown == "bytes"),
        varint_field(40, unknown),
        *(varint_field(field, -1) for field in (41, 42, 43)),  # no beginning, end or padding
        bytes_field(45, pieces[unknown].text.encode()),
    ]
    return b"".join(fields)


# --- Reading ----------------------------------------------------------------------------


@dataclass
class Stored:
    """What the fields of the file say."""

    pieces: list[Piece] = field(default_factory=list)
    kind: int = UNIGRAM  # where nothing is said
    byte_fallback: bool = False
    suffix: bool = False
    normalizer: str = ""
    map: bytes = b""  # what texts become, as character_map.py says
    prefix: bool = True
    one_blank: bool = True


def read(data: bytes, name: str) -> Stored:
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
                stored.map = bytes(one.value)
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
    if stored.kind not in (UNIGRAM, BPE):
        kind = {3: "word", 4: "character"}.get(stored.kind, "strange")
        raise FormatError(f"{name} holds a {kind} model; this program reads Unigram and BPE models.")
    if stored.suffix:
        raise FormatError(f"{name} puts {MARKER} behind words; this program reads models that put it before them.")
    if pieces > LARGEST_VOCABULARY:
        raise FormatError(f"{name}: there are more than {LARGEST_VOCABULARY:,} pieces.")
