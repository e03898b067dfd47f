"""The longest token that fits, from the left: another way to use the same tokens."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bpe_core.errors import TooLarge
from bpe_core.history.history import History

MOST_NODES = 1 << 22
MOST_SYMBOLS = 1 << 23  # of all tokens together; a table of text never comes near
_NO_TOKEN = 2**31 - 1


class LongestMatch:
    """The tokens as a tree of their base symbols, so that a word finds the longest by walking once."""

    def __init__(self, history: History) -> None:
        self._base = len(history.alphabet)
        self._pairs = history.pairs()
        if np.minimum(history.token_lengths(), MOST_SYMBOLS + 1).sum() > MOST_SYMBOLS:
            raise TooLarge(_too_large(MOST_SYMBOLS))
        self._child: dict[tuple[int, int], int] = {}  # by node and symbol; node 0 is the root
        self._token_at: list[int] = [_NO_TOKEN]
        nodes = [self._enter(0, id, id) for id in range(self._base)]
        for id, (left, right) in enumerate(self._pairs, self._base):
            nodes.append(self._enter(nodes[left], right, id))

    def _enter(self, node: int, rest: int, token: int) -> int:
        """Walk from a node along the symbols of the token `rest`; there a token ends."""
        for symbol in self._symbols_of(rest):
            child = self._child.setdefault((node, symbol), len(self._token_at))
            if child == len(self._token_at):
                self._token_at.append(_NO_TOKEN)
                if child > MOST_NODES:
                    raise TooLarge(_too_large(MOST_NODES))
            node = child
        self._token_at[node] = min(self._token_at[node], token)  # of several made of the same, the oldest
        return node

    def _symbols_of(self, token: int) -> Iterator[int]:
        waiting = [token]
        while waiting:
            token = waiting.pop()
            if token < self._base:
                yield token
            else:
                waiting += reversed(self._pairs[token - self._base])

    def tokens(self, symbols: list[int], at: int) -> list[int]:
        """The ids of a word, using only the tokens that existed after so many merges."""
        ids: list[int] = []
        start, limit = 0, self._base + at
        while start < len(symbols):
            found, stop, node = symbols[start], start + 1, 0
            for place in range(start, len(symbols)):
                child = self._child.get((node, symbols[place]))
                if child is None:
                    break
                node = child
                if self._token_at[node] < limit:
                    found, stop = self._token_at[node], place + 1
            ids.append(found)
            start = stop
        return ids


def _too_large(most: int) -> str:
    return (
        f"The tokens of this table have more than {most:,} symbols together, too many to look for the longest that "
        "fits; encode in the order of the merges instead."
    )
