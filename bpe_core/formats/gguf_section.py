"""The reader of the named values at the beginning of a GGUF file. It keeps only the values of the tokenizer.

>>> value = _text(b"tokenizer.ggml.model") + struct.pack("<I", 8) + _text(b"gpt2")
>>> read_section(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + value, "model.gguf")
{'model': 'gpt2'}
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from bpe_core.errors import BpeError, FormatError, TooLarge
from bpe_core.formats.base import decoded
from bpe_core.recipes.choice import LARGEST_VOCABULARY
from bpe_core.support.wording import count_text

MARK = b"GGUF"
LARGEST_HEAD = 2**26  # bytes; a vocabulary of 250,000 tokens with its merges takes some 20 million
KEPT = "tokenizer.ggml."
CHAT_TEMPLATE = (
    "tokenizer.chat_template"  # named templates have their names behind it: tokenizer.chat_template.tool_use
)
NAMES = ("general.name", "general.architecture")  # what llama.cpp assumes where a file says nothing
MOST_VALUES = 100_000
REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()  # what bytes become that are no text
MANY = 20
KNOWN = (2, 3)  # versions

_KINDS = ("<B", "<b", "<H", "<h", "<I", "<i", "<f", "<?", "", "", "<Q", "<q", "<d")  # by their numbers in the file
_TEXT = 8
_ARRAY = 9

Section = dict[str, Any]  # by the names after "tokenizer.ggml."


def _text(raw: bytes) -> bytes:
    return struct.pack("<Q", len(raw)) + raw


class _Head:
    def __init__(self, data: bytes, name: str) -> None:
        self._data = data
        self._name = name
        self.place = len(MARK)

    def take(self, size: int) -> bytes:
        end = self.place + size
        if size < 0 or end > len(self._data):
            raise self._too_short(size)
        self.place = end
        return self._data[end - size : end]

    def number(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def text(self) -> str:
        start = self.place
        return decoded(self.take(self.number("<Q")), f"{self._name}, byte {start:,}", in_text=False)

    def value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self.text()
        if kind == _ARRAY:
            return self._array(self.number("<I"), self.number("<Q"))
        return self.number(self._form(kind))

    def _array(self, kind: int, count: int) -> list[Any]:
        if count > len(self._data) - self.place:
            raise self._too_short(count)
        if kind == _TEXT:
            if count > LARGEST_VOCABULARY:
                raise TooLarge(f"{self._name}, byte {self.place:,}: a list has more than {LARGEST_VOCABULARY:,} texts.")
            return [self.text() for _ in range(count)]
        if kind == _ARRAY:
            raise FormatError(f"{self._name}, byte {self.place:,}: this program does not read lists of lists.")
        form = np.dtype(self._form(kind))
        values: list[Any] = np.frombuffer(self.take(count * form.itemsize), form).tolist()
        return values

    def _form(self, kind: int) -> str:
        if not (0 <= kind < len(_KINDS) and _KINDS[kind]):
            raise FormatError(f"{self._name}, byte {self.place:,}: the value has the unknown type {kind}.")
        return _KINDS[kind]

    def _too_short(self, wanted: int) -> BpeError:
        left = len(self._data) - self.place
        what = f"{self._name}, byte {self.place:,}: the file announces {count_text(wanted, 'more byte')}, but"
        if len(self._data) >= LARGEST_HEAD:
            return TooLarge(f"{what} this program reads only the first {LARGEST_HEAD:,} bytes of a GGUF file.")
        return FormatError(
            f"{what} only {count_text(left, 'byte follows', 'bytes follow')}. The file was not copied completely. "
            "Copy or download it again."
        )


def read_section(data: bytes, name: str) -> Section:
    try:
        return _read_section(_Head(data, name), name)
    except BpeError:  # a changed byte of a number can cause any of the errors
        if data.count(REPLACEMENT) < MANY:
            raise
        raise FormatError(
            f"{name} was converted as if it were text, so many of its bytes became U+FFFD. Copy or download the file "
            "again as a binary file."
        ) from None


def _read_section(head: _Head, name: str) -> Section:
    version = head.number("<I")
    if version not in KNOWN:
        versions = " and ".join(map(str, KNOWN))
        raise FormatError(
            f"{name} is a GGUF file of version {version:,}; this program reads the versions {versions}, with the "
            "lowest byte of a number first."
        )
    _ = head.number("<Q")
    count = head.number("<Q")
    if count > MOST_VALUES:
        raise TooLarge(
            f"{name}: its header has {count_text(count, 'value')}, but this program reads at most {MOST_VALUES:,}."
        )
    section: Section = {}
    for _ in range(count):
        key = head.text()
        value = head.value(head.number("<I"))
        if key.startswith((KEPT, CHAT_TEMPLATE)) or key in NAMES:
            section[key.removeprefix(KEPT)] = value
    return section
