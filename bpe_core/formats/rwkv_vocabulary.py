r"""The format of RWKV's vocabulary. Each row has a token: its id, its text as a Python literal, its byte count.

A text is split from left to right. The next token is always the longest that fits, even across the end of a
word. So the file is read as a WordPiece vocabulary of byte strings, and a whole text counts as one word. Each
token may begin a word or continue it.

>>> text_of(r"'\n'", "row 1"), text_of(r"b'\xe4\xbd'", "row 2")
(b'\n', b'\xe4\xbd')
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import BinaryIO

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats import limitations
from bpe_core.formats.base import LONGEST, Beside, Format, Opened, decoded, own_numbers, recipe_from, reported
from bpe_core.formats.json_reading import LARGEST_NUMBER
from bpe_core.history.alphabet import Alphabet, Symbol, unknown_symbols
from bpe_core.history.history import History, Int64s
from bpe_core.history.token_texts import written
from bpe_core.methods.kit.method import Method
from bpe_core.methods.registry import METHODS, method_for
from bpe_core.recipes.choice import LARGEST_VOCABULARY
from bpe_core.support.progress import ProgressReport
from bpe_core.support.wording import count_text

END = "<|endoftext|>"  # the token with the id 0 in RWKV's models, which their files do not list
LARGEST_ID = 2**31 - 1

_ESCAPE = r"\\(?:[\\'\"abfnrtv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
_TEXT = rf"""b?(?:'(?:[^'\\]|{_ESCAPE})*'|"(?:[^"\\]|{_ESCAPE})*")"""
_ROW = re.compile(rf"([0-9]{{1,10}}) ({_TEXT}) ([0-9]{{1,10}})\r?")
_FIRST = re.compile(rb"""[0-9]+ b?('[^\n]*'|"[^\n]*") [0-9]+\r?(\n|\Z)""")


class RwkvVocabulary(Format):
    name = "rwkv"
    tables = frozenset({LONGEST})
    holds = "only tables that always take the longest token that fits"
    holds_specials = False

    def impossible(self, history: History) -> list[str]:
        if not history.recipe.lists_bytes:
            return [
                "RWKV's vocabulary holds tokens of bytes that are found in whole texts, but this table finds tokens in "
                "words."
            ]
        if Method.of(history.recipe).longest_word_of(history.recipe) != LARGEST_NUMBER:
            return ["RWKV's vocabulary cannot limit the length of words, but this table has such a limit."]
        return []

    def does_otherwise(self, history: History) -> list[str]:
        recipe = history.recipe
        changes = limitations.about_lines(recipe) + limitations.about_normalization(recipe)
        return changes + limitations.about_specials(recipe)

    def numbers(self, history: History) -> Int64s:
        return own_numbers(history)

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        numbered = zip(self.numbers(history).tolist(), written(history), strict=False)
        rows = [row for id, row in enumerate(numbered) if id != history.alphabet.unknown_id]
        file.writelines(_row(number, text) for number, text in reported(enumerate(sorted(rows)), history, progress))

    def recognizes(self, data: bytes) -> bool:
        return _FIRST.match(data) is not None

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        numbers = read_rows(decoded(data, name), name)
        taken = set(numbers.values())
        free = next(number for number in range(len(numbers) + 1) if number not in taken)
        method = method_for(LONGEST)
        recipe = recipe_from(
            name, name="rwkv", method=method, base="bytes", pattern="none", unknown_text=END, merges=0,
            **METHODS[method].choices_for_longest_word(LARGEST_NUMBER),
        )  # fmt: skip
        symbols = [Symbol(text, text, "byte") for text in numbers if len(text) == 1]
        symbols += [Symbol(text, text, "seed") for text in numbers if len(text) > 1]
        alphabet = Alphabet((*unknown_symbols(recipe), *symbols))
        history = History.from_pairs(recipe, alphabet, [])
        note = (
            f"The file lists no token for the id {free:,}. In this program the token of this id is {END}, which never "
            "occurs in encoded texts."
        )
        return history.numbered(np.array([free, *(numbers[symbol.text] for symbol in symbols)], np.int64)), (note,)


def read_rows(whole: str, name: str) -> dict[bytes, int]:
    """Return a dictionary from the bytes of each token to its id."""
    number_of: dict[bytes, int] = {}
    taken: dict[int, bytes] = {}
    for row, line in enumerate(whole.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{name}, row {row:,}"
        match = _ROW.fullmatch(line)
        if match is None:
            raise FormatError(f"{where}: there must be a number, a text in quotes and its length, not {line[:60]!r}.")
        text = text_of(match[2], where)
        number = int(match[1])
        length = int(match[3])
        if not text and length == 0:  # a token that no text becomes
            continue
        if len(text) != length:
            raise FormatError(f"{where}: the text has {count_text(len(text), 'byte')}, but the row says {length:,}.")
        if number > LARGEST_ID:
            raise FormatError(f"{where}: the number {number:,} is too large. The largest number is {LARGEST_ID:,}.")
        if number_of.setdefault(text, number) != number or taken.setdefault(number, text) != text:
            raise FormatError(
                f"{where}: an earlier row has the same text with another number, or the number {number:,} with "
                "another text."
            )
    _check_size(number_of, name)
    return number_of


def _check_size(number_of: Mapping[bytes, int], name: str) -> None:
    if len(number_of) > LARGEST_VOCABULARY:
        raise FormatError(f"{name}: there are more than {LARGEST_VOCABULARY:,} tokens.")
    missing = [byte for byte in range(256) if bytes([byte]) not in number_of]
    if missing:
        raise FormatError(f"{name}: {len(missing)} of the 256 bytes have no token; the first is 0x{missing[0]:02X}.")


def text_of(literal: str, where: str) -> bytes:
    """Return the bytes of a Python literal. Raise FormatError if the literal is invalid."""
    if "\\" not in literal and literal[0] != "b":
        return literal[1:-1].encode()
    if literal[0] == "b" and re.search(r"(?<!\\)(?:\\\\)*\\[uU]", literal):
        raise FormatError(f"{where}: a \\u escape cannot be in bytes: {literal[:60]}.")
    try:
        value = ast.literal_eval(literal)
        return value if isinstance(value, bytes) else str(value).encode()
    except (SyntaxError, ValueError) as error:
        raise FormatError(f"{where}: {literal[:60]} is not a Python string or bytes literal.") from error


def _row(number: int, text: bytes) -> bytes:
    try:
        shown = repr(text.decode())
    except UnicodeDecodeError:
        shown = repr(text)
    return f"{number} {shown} {len(text)}\n".encode()
