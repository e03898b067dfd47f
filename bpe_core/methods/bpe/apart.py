"""A check of whether two tokens of byte-pair encoding can be neighbours inside a word.

No merge crosses the boundary between two neighbours. So the merges on both sides of it do not depend on each other, or
on the text around the two tokens. If the two tokens are neighbours in any word, they are neighbours in the word that
consists of only these two tokens. So the check only encodes this word.

    >>> from bpe_core.studies.making import train
    >>> apart = apart_in_words(train("low low lower lower", "gpt2", merges=4).history)  # l+o, lo+w, ␣+low, ␣low+e
    >>> apart(256, 119), apart(108, 119)
    ('Merge 2 joins these tokens inside a word', '')
"""

from __future__ import annotations

from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted, written
from bpe_core.methods.kit.apart import TAKEN_APART, Apart
from bpe_core.methods.kit.histories import first_stage_steps, has_ranks
from bpe_core.methods.kit.method import Method
from bpe_core.segmenting.by_priority import JoinedWords
from bpe_core.segmenting.merging import Merges
from bpe_core.segmenting.neighbours import join_neighbours


def apart_in_words(history: History) -> Apart | None:
    if history.joining is not None:
        joins_plainly = not history.joining.hidden and not history.alphabet.seed_count
        return by_priorities(history) if joins_plainly and not _makes_base_symbols(history) else None
    if has_ranks(history) and history.only_joins and not Method.of(history.recipe).joins_runs:
        return None if first_stage_steps(history) else by_ranks(history)
    return None


def _makes_base_symbols(history: History) -> bool:
    assert history.joining is not None
    pairs = history.joining.pairs
    return pairs is not None and bool((pairs.token < len(history.alphabet)).any())


def by_ranks(history: History) -> Apart:
    merges = Merges(history)

    def apart(left: int, right: int) -> str:
        before = history.symbols_of(left)
        merged = merges.merged([*before, *history.symbols_of(right)])
        if merges.tokens(merged, len(history)) == [left, right]:
            return ""
        step = int(merged.ranks[len(before) - 1]) + 1
        return f"Merge {step:,} joins these tokens inside a word" if step <= len(history) else TAKEN_APART

    return apart


def by_priorities(history: History) -> Apart:
    find = JoinedWords(history).find
    texts = written(history)
    limit = len(history.alphabet) + len(history)

    def apart(left: int, right: int) -> str:
        before = history.symbols_of(left)
        ids, lengths, *_ = join_neighbours([*before, *history.symbols_of(right)], find, limit)
        if ids == (left, right):
            return ""
        end = 0
        for id, length in zip(ids, lengths, strict=True):
            end += length
            if end > len(before) > end - length:
                return f"Inside a word they are joined to {quoted(texts[id])}"
        return TAKEN_APART

    return apart
