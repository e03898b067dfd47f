"""As much of Protocol Buffers as a SentencePiece model needs: fields with their numbers, written and read.

>>> message = varint_field(1, 300) + bytes_field(2, b"hi")
>>> message
b'\\x08\\xac\\x02\\x12\\x02hi'
>>> [(field.number, field.value) for field in fields_of(memoryview(message), "model")]
[(1, 300), (2, b'hi')]
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from bpe_core.errors import FormatError, TooLarge

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
LONGEST_VARINT = 10
MOST_FIELDS = 200_000  # of a message, but for those it has as many of as a vocabulary has tokens


class Field(NamedTuple):
    """One field; its value is a whole number, or the bytes of a text, message or float."""

    number: int
    value: int | bytes
    place: int  # of its first byte in the file


def varint(number: int) -> bytes:
    """A whole number, seven bits a byte; negative ones as 64 bits."""
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
    """All fields but the messages of one number, and how many those are: they are skipped, which takes hardly any time.

    Where there are more than `most` of them, all that follows is left alone.
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
    """The fields of a message in the order they stand; `start` is its place in the file."""
    place = count = 0
    while place < len(message):
        one, place = _field(message, place, name, start)
        count += 1
        _refuse_too_many(count, most, name, start)
        yield one


def message_in(field: Field, name: str) -> memoryview:
    """What a field holds that must hold a message."""
    if not isinstance(field.value, bytes):
        raise FormatError(f"{name}, byte {field.place:,}: the field {field.number} must be a message.")
    return memoryview(field.value)


def _refuse_too_many(count: int, most: int, name: str, start: int) -> None:
    if count > most:
        raise TooLarge(f"{name}, byte {start:,}: there are more than {most:,} fields, as no such file has them.")


def _field(message: memoryview, place: int, name: str, start: int) -> tuple[Field, int]:
    """The field at a place, and where it ends."""
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
    """The number at a place, and where it ends."""
    number = 0
    for i, byte in enumerate(message[place : place + LONGEST_VARINT]):
        number |= (byte & 0x7F) << 7 * i
        if byte < 0x80:
            return number, place + i + 1
    raise FormatError(f"{name}, byte {start + place:,}: a number does not end.")
