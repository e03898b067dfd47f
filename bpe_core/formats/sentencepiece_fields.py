"""Read and write the fields of SentencePiece's .model, a message of Protocol Buffers."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import count
from typing import Any, NamedTuple

from bpe_core.errors import FormatError, TooLarge
from bpe_core.formats.base import decoded
from bpe_core.history.alphabet import BYTE_TEXTS
from bpe_core.kernels.readiness import Policy
from bpe_core.recipes.recipe import LARGEST_VOCABULARY, UNKNOWN_TOKEN, Recipe
from bpe_core.text.decoding import UNKNOWN_SHOWN
from bpe_core.text.preparation.whole_texts import MARKER as MARKER

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
LONGEST_VARINT = 10
MOST_FIELDS = 200_000  # of a message, but for those it has as many of as a vocabulary has tokens


class Field(NamedTuple):
    """One field; its value is a whole number, or the bytes of a text, message or float."""

    number: int
    value: int | bytes
    place: int  # of its first byte in the file


def varint(number: int) -> bytes:
    """Write a whole number, seven bits a byte; negative ones as 64 bits."""
    number &= 2**64 - 1
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def varint_field(field: int, number: int) -> bytes:
    return varint(field << 3 | VARINT) + varint(number)


def bytes_field(field: int, value: bytes) -> bytes:
    return varint(field << 3 | LENGTH) + varint(len(value)) + value


def float_field(field: int, value: float) -> bytes:
    return varint(field << 3 | FIXED32) + struct.pack("<f", value)


def fields_but(message: memoryview, number: int, name: str, most: int) -> tuple[list[Field], int]:
    """Return all fields but the messages of one number, and how many those are; skipping these takes hardly any time.

    Behind more than `most` of them, the rest is left alone.
    """
    found, skipped, place, end = [], 0, 0, len(message)
    key = number << 3 | LENGTH
    while place < end and skipped <= most:
        size = message[place + 1] if message[place] == key and place + 1 < end else end
        if size < 0x80 and place + 2 + size <= end:  # nearly all are so short
            place += 2 + size
            skipped += 1
            continue
        one, place = _field(message, place, name, 0)
        if one.number == number:
            message_in(one, name)
            skipped += 1
        else:
            found.append(one)
            _refuse_too_many(len(found), MOST_FIELDS, name, 0)
    return found, skipped


def fields_of(message: memoryview, name: str, start: int = 0, most: int = MOST_FIELDS) -> Iterator[Field]:
    """Yield the fields of a message in their order; `start` is its place in the file."""
    place = count = 0
    while place < len(message):
        one, place = _field(message, place, name, start)
        count += 1
        _refuse_too_many(count, most, name, start)
        yield one


def message_in(field: Field, name: str) -> memoryview:
    if not isinstance(field.value, bytes):
        raise FormatError(f"{name}, byte {field.place:,}: the field {field.number} must be a message.")
    return memoryview(field.value)


def _refuse_too_many(count: int, most: int, name: str, start: int) -> None:
    if count > most:
        raise TooLarge(f"{name}, byte {start:,}: there are more than {most:,} fields, as no such file has them.")


def _field(message: memoryview, place: int, name: str, start: int) -> tuple[Field, int]:
    begin = place
    key, place = _varint(message, place, name, start)
    number, wire = key >> 3, key & 7
    value: int | bytes
    if wire == VARINT:
        value, place = _varint(message, place, name, start)
    elif wire in (LENGTH, FIXED32, FIXED64):
        size = 4 if wire == FIXED32 else 8
        if wire == LENGTH:
            size, place = _varint(message, place, name, start)
        if size > len(message) - place:
            left = len(message) - place
            raise FormatError(f"{name}, byte {start + begin:,}: a field claims {size:,} bytes, but {left:,} are left.")
        value = bytes(message[place : place + size])
        place += size
    else:
        raise FormatError(f"{name}, byte {start + begin:,}: there is no field of the kind {wire}.")
    if not number:
        raise FormatError(f"{name}, byte {start + begin:,}: a field has the number 0.")
    return Field(number, value, start + begin), place


def _varint(message: memoryview, place: int, name: str, start: int) -> tuple[int, int]:
    number = 0
    for i, byte in enumerate(message[place : place + LONGEST_VARINT]):
        number |= (byte & 0x7F) << 7 * i
        if byte < 0x80:
            return number, place + i + 1
    raise FormatError(f"{name}, byte {start + place:,}: a number does not end.")


KERNELS = Policy("bpe_core.formats.compiled_pieces", small=200_000)  # bytes
PIECE = 1  # the field
Kind = IntEnum("Kind", "NORMAL UNKNOWN CONTROL USER_DEFINED UNUSED BYTE")  # of a piece
UNIGRAM, BPE, WORDS, CHARACTERS = 1, 2, 3, 4  # kinds of models
LARGEST_FILE = 2**26
MOST_FIELDS_OF_A_PIECE = 16


class ScoredPiece(NamedTuple):
    """One entry of the vocabulary; its number is its place."""

    text: str
    score: float
    kind: int

    def message(self) -> bytes:
        kind = varint_field(3, self.kind) if self.kind != Kind.NORMAL else b""
        return bytes_field(PIECE, bytes_field(1, self.text.encode()) + float_field(2, self.score) + kind)


def in_order(found: dict[int, ScoredPiece], lowest: float, steps_only: Sequence[ScoredPiece] = ()) -> list[ScoredPiece]:
    """Return pieces by number. Free numbers go to <unk>, if it has none, then to steps to other pieces."""
    gaps = (number for number in count() if number not in found)
    if not any(piece.kind == Kind.UNKNOWN for piece in found.values()):
        found[next(gaps)] = ScoredPiece(UNKNOWN_TOKEN, 0.0, Kind.UNKNOWN)
    for piece in steps_only:
        found[next(gaps)] = piece
    return [
        found.get(number) or ScoredPiece(f"<unused {number}>", lowest, Kind.UNUSED) for number in range(max(found) + 1)
    ]


def trainer_spec(kind: int, recipe: Recipe, pieces: list[ScoredPiece]) -> bytes:
    """Say how the pieces were learned, and which of them is for what is unknown."""
    unknown = next(number for number, piece in enumerate(pieces) if piece.kind == Kind.UNKNOWN)
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


@dataclass(frozen=True)
class Stored:
    """What the fields of the file say."""

    pieces: list[ScoredPiece] = field(default_factory=list)
    kind: int = UNIGRAM  # where nothing is said
    byte_fallback: bool = False
    suffix: bool = False
    normalizer: str = ""
    map: bytes = b""  # what texts become, as sentencepiece_text.py says
    prefix: bool = True
    one_blank: bool = True
    shows_blanks: bool = True  # as ▁
    unknown_shown: str = UNKNOWN_SHOWN  # in a decoded text
    map_behind: bytes = b""  # of a decoded text


FIELDS: dict[int, dict[int, tuple[str, type]]] = {
    2: {
        3: ("kind", int),
        24: ("suffix", bool),
        35: ("byte_fallback", bool),
        44: ("unknown_shown", str),
    },  # the trainer's
    3: {
        1: ("normalizer", str),
        2: ("map", bytes),
        3: ("prefix", bool),
        4: ("one_blank", bool),
        5: ("shows_blanks", bool),
    },
    5: {2: ("map_behind", bytes)},
}
FIELDS_OF_A_PIECE: dict[int, tuple[str, type]] = {1: ("text", str), 2: ("score", float), 3: ("kind", int)}


def read(data: bytes, name: str) -> Stored:
    if len(data) > LARGEST_FILE:
        raise TooLarge(f"{name} has {len(data):,} bytes; a model of more than {LARGEST_FILE:,} is not read.")
    stored, message = Stored(), memoryview(data)
    others, pieces = fields_but(message, PIECE, name, LARGEST_VOCABULARY)
    for one in others:
        if one.number in FIELDS:
            stored = replace(stored, **_told(one, FIELDS[one.number], MOST_FIELDS, name))
    _check(stored, pieces, name)  # before any piece is looked at: there may be millions
    seen: set[str] = set()
    for piece in _pieces(data, message, name, stored.kind in (BPE, UNIGRAM)):
        if piece.text in seen:
            raise FormatError(f"{name}, piece {len(seen):,}: the text {piece.text[:80]!r} is there twice.")
        seen.add(piece.text)
        stored.pieces.append(piece)
    if stored.byte_fallback and not set(BYTE_TEXTS).issubset(seen):
        raise FormatError(f"{name}: unknown characters become bytes, but not every byte has a piece.")
    return stored


def _pieces(data: bytes, message: memoryview, name: str, has_scores: bool) -> Iterator[ScoredPiece]:
    usual = None
    if KERNELS.chooses(len(data)):
        from bpe_core.formats.compiled_pieces import UsualPieces  # loads machine code

        usual = UsualPieces(data, len(Kind))
    place = 0
    while place < len(data):
        if usual is not None:
            place, found = usual.those_from(place)
            for first, behind, score, kind in found:
                yield ScoredPiece(decoded(data[first:behind], f"{name}, byte {first:,}"), score * has_scores, kind)
            if place >= len(data):
                break
        one, place = _field(message, place, name, 0)
        if one.number == PIECE:
            yield _piece(one, name, has_scores)


def _piece(message: Field, name: str, has_scores: bool) -> ScoredPiece:
    told = _told(message, FIELDS_OF_A_PIECE, MOST_FIELDS_OF_A_PIECE, name)
    text, kind = told.get("text", ""), told.get("kind", Kind.NORMAL)
    score = told.get("score", 0.0) if has_scores else 0.0  # else it may be the logarithm of nothing
    if not text or not math.isfinite(score) or kind not in {*Kind}:
        raise FormatError(f"{name}, byte {message.place:,}: a piece has no text, no finite score or an unknown kind.")
    return ScoredPiece(text, score, kind)


def _inside(field: Field) -> int:
    """Return where the text or message of a field begins."""
    size = len(field.value) if isinstance(field.value, bytes) else 0
    return field.place + len(varint(field.number << 3 | LENGTH)) + len(varint(size))


def _told(message: Field, fields: Mapping[int, tuple[str, type]], most: int, name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in fields_of(message_in(message, name), name, _inside(message), most):
        field, kind = fields.get(one.number, ("", None))
        if isinstance(one.value, int):
            if kind in (int, bool):
                found[field] = kind(one.value)
        elif kind is str:
            found[field] = decoded(one.value, f"{name}, byte {_inside(one):,}")
        elif kind is float and len(one.value) == 4:
            (found[field],) = struct.unpack("<f", one.value)
        elif kind is bytes:
            found[field] = one.value
    return found


def _check(stored: Stored, pieces: int, name: str) -> None:
    if stored.kind not in (UNIGRAM, BPE, WORDS, CHARACTERS):
        raise FormatError(
            f"{name} holds a model of the kind {stored.kind}; this program reads Unigram, BPE, word and character "
            "models."
        )
    if pieces > LARGEST_VOCABULARY:
        raise FormatError(f"{name}: there are more than {LARGEST_VOCABULARY:,} pieces.")
