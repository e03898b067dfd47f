"""What each token stands for in a text."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from bpe_core.errors import BpeError, TooLarge
from bpe_core.history.history import MergeHistory

LONGEST = 1 << 28  # bytes in one token; only a table made to do harm holds more


class TokenTexts(dict[int, bytes]):
    """The bytes of tokens by id, each put together when it is first asked for."""

    def __init__(self, history: MergeHistory) -> None:
        super().__init__(enumerate(symbol.decoded for symbol in history.alphabet.symbols))
        self._base = len(history.alphabet)
        self._columns = history.columns
        first_special = self._base + len(history)
        self.update((first_special + j, token.encode()) for j, token in enumerate(history.recipe.special_tokens))
        self._size = first_special + len(history.recipe.special_tokens)

    def __missing__(self, id: int) -> bytes:
        if not 0 <= id < self._size:
            raise BpeError(f"There is no token {id:,}; the ids go from 0 to {self._size - 1:,}.")
        if self._lengths[id] > LONGEST:
            raise TooLarge(f"Token {id:,} is longer than {LONGEST:,} bytes.")
        parts: list[bytes] = []
        waiting = [id]
        while waiting:
            token = waiting.pop()
            known = self.get(token)
            if known is not None:
                parts.append(known)
            else:
                waiting += (int(self._columns.right[token - self._base]), int(self._columns.left[token - self._base]))
        text = self[id] = b"".join(parts)
        return text

    @cached_property
    def _lengths(self) -> list[int]:
        """How many bytes each token has; known before they are put together, which may be beyond any memory."""
        lengths = [len(self[id]) for id in range(self._base)]
        for left, right in zip(self._columns.left.tolist(), self._columns.right.tolist(), strict=True):
            lengths.append(lengths[left] + lengths[right])
        return lengths

    def joined(self, ids: Iterable[int]) -> bytes:
        return b"".join([self[id] for id in ids])
