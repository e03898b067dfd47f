"""The tokens of a history by index: the place that the engine gives them, whatever a file calls them.

An index goes over the alphabet, what was joined in the order of its birth, and the special tokens. It never leaves the
engine: whoever asks a `Study` reads and gives the numbers of the file. Only here is the one turned into the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from bpe_core.errors import BpeError, FormatError
from bpe_core.history.history import NO_NUMBER, History
from bpe_core.history.token_texts import BLANK, TokenTexts, quoted
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.support.arrays import Int32s, Int64s
from bpe_core.support.data_table import Values

MOST_DIGITS = 25  # of an id that a person types


class TokensByIndex:
    def __init__(self, history: History) -> None:
        self._history = history

    @cached_property
    def texts(self) -> TokenTexts:
        """Return each token as people read it."""
        return TokenTexts.of(self._history)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer(self._history)

    def number(self, index: int) -> int | None:
        """Return the file's number of a token; None where the file has none for it."""
        number = int(self._history.numbers_of(index))
        return None if number == NO_NUMBER else number

    def numbers(self, indices: Int32s | Int64s) -> Int64s:
        """Return the file's numbers of a text's tokens; refuse a token that the file has no number for."""
        numbers = self._history.numbers
        if numbers is None:
            return np.asarray(indices, np.int64)
        found = numbers[indices]
        if len(found) and found.min() == NO_NUMBER:
            raise self._unnumbered(int(indices[int(found.argmin())]))
        return found

    def _unnumbered(self, index: int) -> FormatError:
        if index == self._history.alphabet.unknown_id:
            return FormatError(
                "The text holds what no token stands for, and the file has no number for the unknown, so its library "
                "refuses such a text, too. `look` shows the place."
            )
        return FormatError(f"The file has no number for the token {quoted(self.texts.raw[index])} of this text.")

    def of_number(self, number: int) -> int:
        """Find the token that a file's number decodes to."""
        try:
            (index,) = self._history.ids_of([number])
        except BpeError as error:
            raise BpeError(f"There is no token {number:,}.") from error
        if not 0 <= index < self._history.id_count:
            raise BpeError(f"There is no token {number:,}; the ids go from 0 to {self._history.id_count - 1:,}.")
        return index

    def of_text(self, text: str) -> int:
        """Find the oldest token with that text, or that with the file's number behind a `#`."""
        found = self.texts.id_of(text)
        if found is not None:
            return found
        if text.startswith("#") and text[1:].isascii() and text[1:].isdigit() and len(text) <= MOST_DIGITS:
            return self.of_number(int(text[1:]))
        raise BpeError(
            f"No token is written {text[:60]!r}. Write it as the merge table does (a space as it is or as {BLANK}, "
            "bytes as <0x0A>), or give its id as #300."
        )

    def pair_name(self, pair: tuple[int, int]) -> str:
        """Write a pair as people read it; of a step that drops a token, that token."""
        return " + ".join(self.texts.text[index] for index in pair if index >= 0)

    def columns(self, indices: Iterable[int], before: str = "") -> dict[str, Values]:
        """Make three columns about tokens, id, hex and text, named with `before`; what is no token is empty."""
        known = [None if index < 0 else int(index) for index in indices]
        raw, text = self.texts.raw, self.texts.text
        return {
            f"{before}id": [None if index is None else self.number(index) for index in known],
            f"{before}hex": [None if index is None else raw[index].hex(" ") for index in known],
            f"{before}text": [None if index is None else text[index] for index in known],
        }

    def pair_columns(self, pairs: Sequence[tuple[int, int]], before: str = "") -> dict[str, Values]:
        """Make these three columns for both sides of pairs."""
        left, right = ([pair[side] for pair in pairs] for side in (0, 1))
        return self.columns(left, f"{before}left_") | self.columns(right, f"{before}right_")


class TokenNames(Mapping[int, str]):
    """Each token as people read it, by its number in the file.

    Plug-ins of before read `text`, `raw` and `lengths` here, which are by index and belong to `Study.by_index`.
    """

    def __init__(self, history: History, by_index: TokensByIndex) -> None:
        self._history, self._by_index = history, by_index

    def __getitem__(self, number: int) -> str:
        return self._by_index.texts.text[self._by_number[number]]

    def __iter__(self) -> Iterator[int]:
        return iter(self._by_number)

    def __len__(self) -> int:
        return len(self._by_number)

    @cached_property
    def _by_number(self) -> dict[int, int]:
        return indices_by_number(self._history)

    @property
    def text(self) -> Sequence[str]:
        return self._by_index.texts.text

    @property
    def raw(self) -> Sequence[bytes]:
        return self._by_index.texts.raw

    @property
    def lengths(self) -> Sequence[int]:
        return self._by_index.texts.lengths


def indices_by_number(history: History) -> dict[int, int]:
    """Return the token that each of the file's numbers decodes to, in the order of the numbers."""
    if history.numbers is None:
        return {index: index for index in range(history.id_count)}
    numbers = sorted({*history.numbers.tolist()} - {NO_NUMBER})
    return dict(zip(numbers, history.ids_of(numbers), strict=True))
