"""Functions that read and write the fields of a SentencePiece .model, which is a message of Protocol Buffers."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bpe_core.errors import FormatError, TooLarge
from bpe_core.formats.base import decoded
from bpe_core.history.alphabet import BYTE_TEXTS
from bpe_core.history.laid_texts import LaidTexts
from bpe_core.kernels.readiness import use_machine_code
from bpe_core.kernels.stored_code import OPENING
from bpe_core.recipes.choice import LARGEST_VOCABULARY
from bpe_core.recipes.parts import UNKNOWN_TOKEN
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Bytes, Float64s, Int64s
from bpe_core.support.wording import count_text
from bpe_core.text.decoding import UNKNOWN_SHOWN
from bpe_core.text.preparation.whole_texts import MARKER as MARKER

if TYPE_CHECKING:
    from bpe_core.formats.compiled_pieces import UsualPieces

VARINT = 0
FIXED64 = 1
LENGTH = 2
FIXED32 = 5
LONGEST_VARINT = 10
MOST_FIELDS = 200_000  # fields of a message, except those that occur once for each token of a vocabulary


class Field(NamedTuple):
    """A field of a message. Its value is a whole number or bytes. The bytes are a text, a message or a float."""

    number: int
    value: int | bytes
    place: int  # the offset of its first byte in the file


def varint(number: int) -> bytes:
    """Return an integer as a varint, with seven bits in each byte.

    A negative integer is written in 64-bit two's complement.
    """
    number &= 2**64 - 1
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)
    return bytes(data)


def varint_field(field: int, number: int) -> bytes:
    return varint(field << 3 | VARINT) + varint(number)


def bytes_field(field: int, value: bytes) -> bytes:
    return varint(field << 3 | LENGTH) + varint(len(value)) + value


def float_field(field: int, value: float) -> bytes:
    return varint(field << 3 | FIXED32) + struct.pack("<f", value)


def fields_of(message: memoryview, name: str, start: int = 0, most: int = MOST_FIELDS) -> Iterator[Field]:
    """Yield the fields of a message in order. `start` is the offset of the message in the file."""
    place = count = 0
    while place < len(message):
        field, place = _field(message, place, name, start)
        count += 1
        _refuse_too_many(count, most, name, start)
        yield field


def message_in(field: Field, name: str) -> memoryview:
    if not isinstance(field.value, bytes):
        raise FormatError(f"{name}, byte {field.place:,}: the field {field.number} must be a message.")
    return memoryview(field.value)


def _refuse_too_many(count: int, most: int, name: str, start: int) -> None:
    if count > most:
        raise TooLarge(
            f"{name}, byte {start:,}: there are more than {count_text(most, 'field')}, which is too many for a "
            "SentencePiece model."
        )


def _field(message: memoryview, place: int, name: str, start: int) -> tuple[Field, int]:
    begin = place
    key, place = _varint(message, place, name, start)
    number = key >> 3
    wire = key & 7
    value: int | bytes
    if wire == VARINT:
        value, place = _varint(message, place, name, start)
    elif wire in (LENGTH, FIXED32, FIXED64):
        size = 4 if wire == FIXED32 else 8
        if wire == LENGTH:
            size, place = _varint(message, place, name, start)
        if size > len(message) - place:
            left = len(message) - place
            raise FormatError(
                f"{name}, byte {start + begin:,}: a field claims {count_text(size, 'byte')}, but only "
                f"{count_text(left, 'byte follows', 'bytes follow')}."
            )
        value = bytes(message[place : place + size])
        place += size
    else:
        raise FormatError(f"{name}, byte {start + begin:,}: a field has the unknown kind {wire}.")
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


PIECE = 1  # the number of the field
_ENTRY = PIECE << 3 | LENGTH  # the byte with which it begins
Kind = IntEnum("Kind", "NORMAL UNKNOWN CONTROL USER_DEFINED UNUSED BYTE")  # kinds of a piece
UNIGRAM, BPE, WORDS, CHARACTERS = 1, 2, 3, 4  # kinds of models
LARGEST_FILE = 2**26
MOST_FIELDS_OF_A_PIECE = 16


class ScoredPiece(NamedTuple):
    """A piece with its score and its kind. The id of a piece is its position in the vocabulary."""

    text: str
    score: float
    kind: int

    def message(self) -> bytes:
        kind = varint_field(3, self.kind) if self.kind != Kind.NORMAL else b""
        return bytes_field(PIECE, bytes_field(1, self.text.encode()) + float_field(2, self.score) + kind)


def in_order(
    piece_of: dict[int, ScoredPiece], lowest: float, steps_only: Sequence[ScoredPiece] = ()
) -> list[ScoredPiece]:
    """Return the pieces in the order of their ids, and fill all free ids.

    If `piece_of` has no unknown token, <unk> gets the first free id. The next free ids go to `steps_only`, which are
    pieces that serve only to make other pieces. Each other free id gets an unused piece with the score `lowest`.
    """
    gaps = (number for number in count() if number not in piece_of)
    if not any(piece.kind == Kind.UNKNOWN for piece in piece_of.values()):
        piece_of[next(gaps)] = ScoredPiece(UNKNOWN_TOKEN, 0.0, Kind.UNKNOWN)
    for piece in steps_only:
        piece_of[next(gaps)] = piece
    return [
        piece_of.get(number) or ScoredPiece(f"<unused {number}>", lowest, Kind.UNUSED)
        for number in range(max(piece_of) + 1)
    ]


def trainer_spec(kind: int, recipe: Recipe, pieces: list[ScoredPiece]) -> bytes:
    """Return the `TrainerSpec` message of a SentencePiece model.

    The message says how the pieces were learned, and which of them is the unknown token.
    """
    unknown = next(number for number, piece in enumerate(pieces) if piece.kind == Kind.UNKNOWN)
    fields = [
        varint_field(3, kind),
        varint_field(4, len(pieces)),
        varint_field(35, recipe.unknown == "bytes"),
        varint_field(40, unknown),
        *(varint_field(field, -1) for field in (41, 42, 43)),  # no piece for beginning, end or padding
        bytes_field(45, pieces[unknown].text.encode()),
    ]
    return b"".join(fields)


# --- Reading ----------------------------------------------------------------------------


class Pieces:
    """The vocabulary in columns: texts, scores and kinds. The id of a piece is its position."""

    def __init__(self, texts: LaidTexts, scores: Float64s, kinds: Bytes) -> None:
        self.texts = texts
        self.scores = scores
        self.kinds = kinds

    def __len__(self) -> int:
        return len(self.texts)

    def __iter__(self) -> Iterator[ScoredPiece]:
        return map(ScoredPiece, self.texts, self.scores.tolist(), self.kinds.tolist())

    @cached_property
    def number_of(self) -> dict[str, int]:
        """Return a dictionary from the text of each piece to its id.

        If several pieces have the same text, the dictionary holds the last of their ids.
        """
        return dict(zip(self.texts, range(len(self)), strict=True))

    def numbers_of(self, *kinds: int) -> Int64s:
        """Return the ids of all pieces of these kinds, in ascending order."""
        first, *others = (self._numbers_of_kind[kind] for kind in kinds)
        return np.sort(np.concatenate((first, *others))) if others else first

    @cached_property
    def _numbers_of_kind(self) -> dict[int, Int64s]:
        return {kind: np.flatnonzero(self.kinds == int(kind)) for kind in Kind}  # NumPy is slow with an enumeration

    def of_kind(self, kind: int) -> list[str]:
        numbers = self.numbers_of(kind)
        return [*self.texts_of(numbers)] if len(numbers) else []  # most models have none of most kinds

    @cached_property
    def unknown_text(self) -> str:
        """Return the text of the piece for unknown characters."""
        numbers = self.numbers_of(Kind.UNKNOWN)
        return self.texts[int(numbers[0])] if len(numbers) else UNKNOWN_TOKEN

    @cached_property
    def numbers_of_bytes(self) -> Int64s:
        """Return the id of the piece for each of the 256 bytes. The value is -1 if there is no such piece."""
        return self.texts.places_of(BYTE_TEXTS)

    def texts_of(self, numbers: Int64s) -> LaidTexts:
        return self.texts.only(numbers)


NO_PIECES = Pieces(LaidTexts.of([]), np.zeros(0), np.zeros(0, np.uint8))


@dataclass(frozen=True)
class FieldValues:
    """The values that were read from the fields of a SentencePiece model."""

    pieces: Pieces = NO_PIECES
    kind: int = UNIGRAM  # defaults, for what the file does not say
    byte_fallback: bool = False
    suffix: bool = False
    normalizer: str = ""
    map: bytes = b""  # the map of characters, see sentencepiece_text.py
    prefix: bool = True
    one_blank: bool = True
    shows_blanks: bool = True  # blanks become ▁
    unknown_shown: str = UNKNOWN_SHOWN  # in a decoded text
    map_behind: bytes = b""  # this and the next three change a decoded text
    prefix_behind: bool = True
    one_blank_behind: bool = True
    shows_blanks_behind: bool = True


FIELDS: dict[int, dict[int, tuple[str, type]]] = {
    2: {
        3: ("kind", int),
        24: ("suffix", bool),
        35: ("byte_fallback", bool),
        44: ("unknown_shown", str),
    },  # of the trainer
    3: {
        1: ("normalizer", str),
        2: ("map", bytes),
        3: ("prefix", bool),
        4: ("one_blank", bool),
        5: ("shows_blanks", bool),
    },
    5: {
        2: ("map_behind", bytes),
        3: ("prefix_behind", bool),
        4: ("one_blank_behind", bool),
        5: ("shows_blanks_behind", bool),
    },
}
FIELDS_OF_A_PIECE: dict[int, tuple[str, type]] = {1: ("text", str), 2: ("score", float), 3: ("kind", int)}


def read(data: bytes, name: str) -> FieldValues:
    if len(data) > LARGEST_FILE:
        raise TooLarge(
            f"{name} has {count_text(len(data), 'byte')}. Models of more than {LARGEST_FILE:,} bytes are not read."
        )
    place = 0
    others = list[Field]()
    pieces: UsualPieces | PieceOffsets = PieceOffsets(data)
    if use_machine_code(len(data), OPENING):
        from bpe_core.formats.compiled_pieces import UsualPieces  # loads machine code

        pieces = UsualPieces(data, len(Kind), LARGEST_VOCABULARY + 1)
    while place < len(data) and pieces.count <= LARGEST_VOCABULARY:
        if data[place] == _ENTRY and (behind := pieces.skip(place)) > place:
            place = behind
            continue
        field, behind = _field(memoryview(data), place, name, 0)
        if field.number == PIECE:
            message_in(field, name)
            pieces.enter(place)
        else:
            others.append(field)
            _refuse_too_many(len(others), MOST_FIELDS, name, 0)
        place = behind
    values = dict[str, Any]()
    for field in others:
        if field.number in FIELDS:
            values |= _values_in(field, FIELDS[field.number], MOST_FIELDS, name)
    kind = values.get("kind", UNIGRAM)
    _check(kind, pieces.count, name)  # before any piece is looked at: there may be millions
    stored = FieldValues(pieces=_pieces(pieces, data, name, kind in (BPE, UNIGRAM)), **values)
    texts = stored.pieces.texts
    firsts = texts.firsts
    if not texts.data.all():
        raise FormatError(f"{name}: a piece holds a zero byte, which cannot occur in a text for SentencePiece.")
    again = np.flatnonzero(firsts != np.arange(len(texts)))
    if len(again):
        number = int(again[np.argmin(firsts[again])])
        raise _twice(number, texts[number], name)
    if stored.byte_fallback and (stored.pieces.numbers_of_bytes < 0).any():
        raise FormatError(f"{name}: the model splits unknown characters into bytes, but some bytes have no piece.")
    return stored


class PieceOffsets:
    """A list of the offsets of all pieces of a model, for programs without machine code.

    The pieces are read from these offsets one by one. The class `UsualPieces` reads them by machine code.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._places = list[int]()

    @property
    def count(self) -> int:
        return len(self._places)

    def skip(self, place: int) -> int:
        """Skip the short pieces that begin at the offset `place`, and store the offset of each.

        The content of a short piece has at most 127 bytes. Return the offset of the first field that is not a short
        piece.
        """
        data = self._data
        end = len(self._data)
        while place + 1 < end and data[place] == _ENTRY and (size := data[place + 1]) < 0x80:
            if place + 2 + size > end or len(self._places) > LARGEST_VOCABULARY:
                break
            self._places.append(place)
            place += 2 + size
        return place

    def enter(self, place: int) -> None:
        """Store the offset `place` of a long piece. The method `skip` stores only the offsets of short pieces."""
        self._places.append(place)

    def odd(self) -> list[tuple[int, int]]:
        return list(enumerate(self._places))

    def columns(self) -> tuple[LaidTexts, Float64s, Bytes]:
        return LaidTexts.of([""] * self.count), np.zeros(self.count), np.zeros(self.count, np.uint8)


def _pieces(places: UsualPieces | PieceOffsets, data: bytes, name: str, has_scores: bool) -> Pieces:
    texts, scores, kinds = places.columns()
    scores *= has_scores  # otherwise it may be the logarithm of zero
    odd, seen = dict[int, str](), set[str]()  # so that a file that repeats one piece is refused at once
    for number, place in places.odd():
        field, _ = _field(memoryview(data), place, name, 0)
        odd[number], scores[number], kinds[number] = piece = _piece(field, name, has_scores)
        if piece.text in seen:
            raise _twice(number, piece.text, name)
        seen.add(piece.text)
    return Pieces(texts.replaced(odd) if odd else texts, scores, kinds)


def _twice(number: int, text: str, name: str) -> FormatError:
    return FormatError(f"{name}, piece {number:,}: the text {text[:80]!r} occurs twice.")


def _piece(message: Field, name: str, has_scores: bool) -> ScoredPiece:
    values = _values_in(message, FIELDS_OF_A_PIECE, MOST_FIELDS_OF_A_PIECE, name)
    text = values.get("text", "")
    kind = values.get("kind", Kind.NORMAL)
    score = values.get("score", 0.0) if has_scores else 0.0
    if not text or not math.isfinite(score) or kind not in {*Kind}:
        raise FormatError(f"{name}, byte {message.place:,}: a piece has no text, no finite score or an unknown kind.")
    return ScoredPiece(text, score, kind)


def _start_of_content(field: Field) -> int:
    """Return the offset at which the text or message of a field begins."""
    size = len(field.value) if isinstance(field.value, bytes) else 0
    return field.place + len(varint(field.number << 3 | LENGTH)) + len(varint(size))


def _values_in(message: Field, fields: Mapping[int, tuple[str, type]], most: int, name: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for part in fields_of(message_in(message, name), name, _start_of_content(message), most):
        field, kind = fields.get(part.number, ("", None))
        if isinstance(part.value, int):
            if kind in (int, bool):
                values[field] = kind(part.value)
        elif kind is str:
            values[field] = decoded(part.value, f"{name}, byte {_start_of_content(part):,}", in_text=False)
        elif kind is float and len(part.value) == 4:
            (values[field],) = struct.unpack("<f", part.value)
        elif kind is bytes:
            values[field] = part.value
    return values


def _check(kind: int, pieces: int, name: str) -> None:
    if kind not in (UNIGRAM, BPE, WORDS, CHARACTERS):
        raise FormatError(
            f"{name} holds a model of the kind {kind}. This program reads Unigram, BPE, word and character models."
        )
    if pieces > LARGEST_VOCABULARY:
        raise FormatError(f"{name}: there are more than {LARGEST_VOCABULARY:,} pieces.")
