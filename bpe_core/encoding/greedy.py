"""The longest token that fits, from the left: another way to use the same tokens."""

from __future__ import annotations

from bpe_core.history import MergeHistory

_NO_TOKEN = 2**31 - 1


class LongestMatch:
    """The tokens as a tree of their base symbols, so that a word finds the longest by walking once."""

    def __init__(self, history: MergeHistory) -> None:
        self._base = len(history.alphabet)
        self._child: dict[tuple[int, int], int] = {}  # by node and symbol; node 0 is the root
        self._token_at: list[int] = [_NO_TOKEN]
        nodes: list[int] = []
        spelled: list[tuple[int, ...]] = []
        for id in range(self._base):
            spelled.append((id,))
            nodes.append(self._enter(0, (id,), id))
        pairs = zip(history.columns.left.tolist(), history.columns.right.tolist(), strict=True)
        for id, (left, right) in enumerate(pairs, self._base):
            spelled.append(spelled[left] + spelled[right])
            nodes.append(self._enter(nodes[left], spelled[right], id))

    def _enter(self, node: int, symbols: tuple[int, ...], token: int) -> int:
        for symbol in symbols:
            child = self._child.setdefault((node, symbol), len(self._token_at))
            if child == len(self._token_at):
                self._token_at.append(_NO_TOKEN)
            node = child
        self._token_at[node] = min(self._token_at[node], token)  # of several made of the same, the oldest
        return node

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
