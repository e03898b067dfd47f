"""The tokens that a word is made of, down to its symbols, as they stood at any moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bpe_core.data_table import DataTable
from bpe_core.exact.tokens import TokenColumns
from bpe_core.history.history import History
from bpe_core.insight.merge_tree import Node
from bpe_core.insight.why import WordInText

MOST_SYMBOLS = 64  # of a word of which every token is told; of a longer one those that it is cut into


def tree(word: WordInText, at: int, history: History, tokens: TokenColumns) -> DataTable:
    """Each token with the symbols it covers, those it was joined from before it; the step that made it, and its count.

    >>> from bpe_core.counting.words import WordTable
    >>> from bpe_core.insight.why import Why
    >>> from bpe_core.recipe import Recipe
    >>> from bpe_core.reference import train
    >>> history = train(WordTable.from_counts({"low": 5, "lower": 2}), Recipe.preset("words"))  # l+o, lo+w
    >>> found = tree(Why("low", history).word_at(0), 1, history, TokenColumns.for_history(history))
    >>> found.columns["text"], found.columns["first_symbol"], found.columns["step"]
    (['l', 'o', 'lo', 'w'], [0, 1, 0, 2], [None, None, 1, None])
    """
    trees = word.trees(at)
    nodes = trees if len(word.symbols) > MOST_SYMBOLS else list(_parts_first(trees))
    ranks = [node.rank for node in nodes]
    counts = history.columns.count if history.has_counts else None
    return DataTable(
        {
            **tokens.of([node.id for node in nodes]),
            "first_symbol": [node.start for node in nodes],
            "behind_symbol": [node.stop for node in nodes],
            "step": [None if rank is None else rank + 1 for rank in ranks],
            "count": [None if rank is None or counts is None else int(counts[rank]) for rank in ranks],
        }
    )


def _parts_first(trees: Sequence[Node]) -> Iterator[Node]:
    for node in trees:
        yield from _parts_first([part for part in (node.left, node.right) if part is not None])
        yield node
