"""A token in a table: its id, its bytes in hex, and what is written on it."""

from __future__ import annotations

from collections.abc import Iterable

from bpe_core.data_table import Values
from bpe_core.history.history import NOTHING, History, Int64s
from bpe_core.token_texts import TokenTexts


class TokenColumns:
    """Ids are those of the file that the tokenizer came from, if it came from one.

    >>> from bpe_core.alphabet import Alphabet
    >>> from bpe_core.recipe import Recipe
    >>> history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), [(32, 116)])
    >>> TokenColumns.for_history(history).of([256, NOTHING])
    {'id': [256, None], 'hex': ['20 74', None], 'text': ['␣t', None]}
    """

    def __init__(self, texts: TokenTexts, numbers: Int64s | None = None) -> None:
        self._texts = texts
        self._numbers = None if numbers is None else numbers.tolist()

    @classmethod
    def for_history(cls, history: History, numbers: Int64s | None = None) -> TokenColumns:
        """Of all its tokens."""
        return cls(TokenTexts.of(history), numbers)

    def of(self, ids: Iterable[int], before: str = "") -> dict[str, Values]:
        """Three columns, whose names begin with `before`; what is no token is left empty."""
        known = [None if id == NOTHING else int(id) for id in ids]
        raw, text = self._texts.raw, self._texts.text
        return {
            f"{before}id": [None if id is None else self.number(id) for id in known],
            f"{before}hex": [None if id is None else raw[id].hex(" ") for id in known],
            f"{before}text": [None if id is None else text[id] for id in known],
        }

    def number(self, id: int) -> int:
        return id if self._numbers is None else int(self._numbers[id])

    @property
    def lengths(self) -> list[int]:
        """How many bytes each token has, special ones included."""
        return self._texts.lengths
