"""Functions that check UTF-8, split it between characters, and encode strings with lone surrogates."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from bpe_core.errors import EncodingError
from bpe_core.support.arrays import Int64s
from bpe_core.text.reading.source import Bytes, Chunk, OnInvalid

LONGEST_CHARACTER = 4  # bytes
WORTH_MACHINE_CODE = 1 << 10  # bytes
PYTHON_ERRORS: dict[OnInvalid, str] = {"strict": "strict", "replace": "replace", "skip": "ignore", "keep": "replace"}

# returns the offset, at the start of a character, up to which all bytes are valid
Check = Callable[[npt.NDArray[np.uint8]], int]

_machine_code: list[Check] = []


def use_compiled_check(check: Check) -> None:
    """Use the compiled function `check` for large blocks from now on.

    The module that compiles the function makes this call when it is imported.
    """
    _machine_code[:] = [check]


def valid_until(data: npt.NDArray[np.uint8]) -> int:
    """Return how many bytes at the beginning of the data are valid UTF-8.

    The count is made by machine code. Return 0 if there is no machine code.
    """
    return int(_machine_code[0](data)) if _machine_code else 0


def first_invalid(data: Bytes) -> int:
    """Return the offset of the first byte that is not valid UTF-8, or -1."""
    start = valid_until(np.frombuffer(data, np.uint8)) if len(data) >= WORTH_MACHINE_CODE else 0
    try:
        str(memoryview(data)[start:], "utf-8")
    except UnicodeDecodeError as error:
        return start + error.start
    return -1


def first_invalid_in_joined(data: npt.NDArray[np.uint8], edges: Int64s) -> int:
    """Return the first offset at which joined texts are not valid UTF-8.

    A text that begins inside a character is not valid, either. `edges` are the offsets between the texts. Return -1 if
    all texts are valid.
    """
    inside = edges[: np.searchsorted(edges, len(data))]
    cut = inside[(data[inside] & 0xC0) == 0x80]
    return min((place for place in (first_invalid(data.data), *cut[:1].tolist()) if place >= 0), default=-1)


def length_of_whole_characters(data: Bytes) -> int:
    """Return the length of `data` without an incomplete character at its end.

    >>> length_of_whole_characters("né".encode()), length_of_whole_characters("né".encode()[:-1])
    (3, 1)
    """
    length = len(data)
    for back in range(1, min(LONGEST_CHARACTER, length + 1)):
        byte = data[length - back]
        if byte < 0x80:
            break
        if byte >= 0xC0:  # the first byte of a character gives its length
            needed = 2 + (byte >= 0xE0) + (byte >= 0xF0)
            return length if needed <= back else length - back
    return length


def pieces_of(text: bytes, size: int, bytes_read: int) -> Iterator[Chunk]:
    """Split a document in memory into pieces that end between characters. An empty document has no pieces.

    >>> [bytes(piece.data).decode() for piece in pieces_of("abcédef".encode(), 4, 0)]
    ['abc', 'éde', 'f']
    """
    start = 0
    size = max(size, LONGEST_CHARACTER)
    while start < len(text):
        piece = text[start : start + size]
        piece = piece if start + size >= len(text) else piece[: length_of_whole_characters(piece)]
        start += len(piece)
        yield Chunk(piece, start == len(text), bytes_read)


def encode_utf8(text: str, on_invalid: OnInvalid = "strict") -> bytes:
    r"""Return the UTF-8 bytes of a string.

    A lone surrogate is not a character. `on_invalid` says whether it is left out or replaced, or whether it raises
    EncodingError.

    >>> encode_utf8("n\ud800", "skip"), encode_utf8("n\ud800", "replace")
    (b'n', b'n\xef\xbf\xbd')
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        if on_invalid == "skip":
            return text.encode("utf-8", "ignore")
        if on_invalid in ("replace", "keep"):
            mended = (
                "\N{REPLACEMENT CHARACTER}" if "\ud800" <= character <= "\udfff" else character for character in text
            )
            return "".join(mended).encode()
        raise EncodingError(
            f"character {error.start + 1:,} is half of a surrogate pair (U+{ord(text[error.start]):04X}), which is not "
            "a character; choose to replace or skip it"
        ) from error
