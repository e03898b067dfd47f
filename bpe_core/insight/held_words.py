"""All words that hold a token after so many steps, and all that held it when a step joined or dropped it: who paid.

>>> from bpe_core.recipe import Recipe
>>> from bpe_core.reference import train
>>> words = WordTable.from_counts({"low": 5, "lower": 2, "lot": 3})
>>> history = train(words, Recipe.preset("words", merges=2))  # l+o, lo+w
>>> words_holding(words, history, 7, 2), words_that_paid(words, history, 1)
([(b'lot', 3)], [(b'low', 5), (b'lot', 3), (b'lower', 2)])
"""

from __future__ import annotations

from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.insight.contributions import Contributions, contributions, words_with
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.insight.token_use import use_by_cutting
from bpe_core.learning.methods import learns_by_ranks
from bpe_core.progress import CancelCheck, never_cancelled

Held = list[tuple[bytes, int]]  # each word and how often the token stands in all of it, the most first


def words_holding(
    words: WordTable, history: History, token: int, at: int, *, cancelled: CancelCheck = never_cancelled
) -> Held:
    """None where pairs are joined in another way than word by word: then nobody knows."""
    if learns_by_ranks(history):
        ranked = RankedWords.of(words, history)
        return _listed(words_with(ranked, ranked.occurrences(token), at), ranked)
    return [] if history.only_joins else use_by_cutting(words, history, token, at, cancelled=cancelled).words


def words_that_paid(words: WordTable, history: History, step: int, *, cancelled: CancelCheck = never_cancelled) -> Held:
    """For that step: the words that held its pair, or the token that it dropped."""
    if learns_by_ranks(history):
        ranked = RankedWords.of(words, history)
        return _listed(contributions(ranked, step), ranked)
    token = int(history.ids[step - 1])
    return (
        [] if history.only_joins else use_by_cutting(words, history, token, step - 1, cancelled=cancelled).words_before
    )


def _listed(found: Contributions, ranked: RankedWords) -> Held:
    return [(ranked.words.word(one.word), one.count) for one in found.words]
