"""The reference of BoundlessBPE, plain and slow: merges within words race with merges of whole words.

The words of the corpus are runs of neighbouring words with letters. A pattern splits each run into ordinary words.

**First pass.** PickyBPE learns within the ordinary words (`methods/picky/reference.py`). Without `tau` no token is
dropped.

**Second pass.** A run now holds only words that consist of one token at the end of the first pass. Pairs of these words
are counted and joined in the same way. These merges are called supermerges.

**The race.** Both lists of steps are read from their beginning. The next supermerge is chosen only if its count is
larger than the count of the first pass's next merge. Otherwise this merge is chosen, with the drops that follow it. The
race ends when there are as many tokens as the first pass had at its end.

    >>> words = WordTable.from_counts({"of the way": 4, "of the day": 4, "other": 2})
    >>> history = train(words, Recipe.preset("boundless", merges=9))
    >>> from bpe_core.history.token_texts import decoded
    >>> [(text.decode(), count) for text, count in zip(decoded(history)[256:], history.columns.count.tolist())]
    [('he', 10), ('the', 10), (' the', 8), ('ay', 8), ('of', 8), ('of the', 8), (' d', 4), (' w', 4), (' day', 4)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import numpy as np
import regex

import bpe_core.methods.bpe.reference as bpe
import bpe_core.methods.picky.reference as picky
from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, TIED, TOKEN, History, Step
from bpe_core.methods.superbpe.reference import words_inside
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.word_runs import NO_WORD, WordRuns
from bpe_core.splitting.splitter import split_words
from bpe_core.support.arrays import Int64s


def runs_of_tokens(words: WordTable, recipe: Recipe, token_of: dict[bytes, int]) -> picky.Corpus:
    """Return all runs of two or more neighbouring words in which each word is a single token.

    A run is returned as the list of its tokens, with its count. Words without a letter are not part of a run.
    """
    runs: picky.Corpus = []
    for run, count in words:
        inside = [word.encode() for word in split_words(run.decode(), Recipe(pattern=recipe.words_by))]
        tokens = [token_of.get(word, NOTHING) if holds_letter(word) else NOTHING for word in inside]
        stretches = [[*stretch] for are_words, stretch in groupby(tokens, lambda id: id != NOTHING) if are_words]
        runs += [(stretch, count) for stretch in stretches if len(stretch) > 1]
    return runs


def joins_within(step: Step) -> bool:
    return bool(step.reasons["stage"] == 1)


def holds_letter(word: bytes) -> bool:
    return regex.search(r"\p{L}", word.decode(errors="ignore")) is not None


def train(words: WordTable, recipe: Recipe) -> History:
    alphabet = Alphabet.for_words(words, recipe)
    most = len(alphabet) + recipe.merge_limit(len(alphabet))
    known = picky.Tokens(alphabet)
    inside = words_inside(words, recipe)
    corpus = [(alphabet.symbols_of(word, recipe), count) for word, count in inside]
    at_start = left = bpe.count_tokens(corpus)
    first = picky.merges_with_drops(corpus, known, recipe, most)
    target = len(known.in_use)
    token_of = {word: cut[0] for (word, _), (cut, _) in zip(inside, corpus, strict=True) if len(cut) == 1}
    runs = runs_of_tokens(words, recipe, token_of)

    tokens = picky.Tokens(alphabet)  # a token of the race has another index than in its pass
    own: dict[int, int] = {id: id for id in range(len(alphabet))}  # the race's index of each token of a pass
    rows: list[tuple[int, ...]] = []
    more: list[tuple[int, int, int, int]] = []  # stage, token, rival's count, tied
    waiting: Iterator[picky.Merge | None] = iter([*first, None])
    merge = next(waiting)
    supermerge = picky.best(runs, known, recipe)

    def note(choice: picky.Choice, stage: int, rival: picky.Choice | None) -> None:
        nonlocal left
        pair = tuple(own[id] for id in choice.pair)
        other = NOTHING if rival is None else rival.count
        is_there = rival is not None and all(own.get(id) in tokens.in_use for id in rival.pair)
        shown = tuple(own[id] for id in rival.pair) if rival and is_there else (NOTHING, NOTHING)
        left -= choice.count
        rows.append((*pair, choice.count, *shown, other if is_there else NOTHING, left))
        more.append((stage, tokens.add((pair[0], pair[1])), other, choice.tied or choice.count == other))

    while len(tokens.in_use) < target and (merge or supermerge):
        is_ready = supermerge is not None and all(own.get(id) in tokens.in_use for id in supermerge.pair)
        if supermerge and is_ready and (merge is None or supermerge.count > merge.choice.count):
            note(supermerge, 2, merge.choice if merge else None)
            token = known.add(supermerge.pair)
            own[token] = more[-1][1]
            runs = [(bpe.join(run, supermerge.pair, token), weight) for run, weight in runs]
            supermerge = picky.best(runs, known, recipe)
        elif merge:
            note(merge.choice, 1, supermerge)
            own[merge.token] = more[-1][1]
            for half, times, apart in merge.drops:
                left += times * (len(apart) - 1)
                tokens.in_use.discard(own[half])
                rows.append((own[half], NOTHING, times, NOTHING, NOTHING, NOTHING, left))
                more.append((1, own[half], NOTHING, False))
            merge = next(waiting)
        else:
            break
    end = "vocabulary full" if target == most else picky.end_of(corpus, known, most)
    columns = np.array(more, np.int64).reshape(-1, 4).T
    reasons = dict(zip(("stage", TOKEN, "rival", TIED), [*columns[:3], columns[3].astype(bool)], strict=True))
    if recipe.tau is None:
        del reasons[TOKEN]  # every step makes a token with a new index
    return bpe.as_history(rows, recipe, alphabet, at_start, end, reasons=reasons)


def encode(text: str, history: History, *, at: int | None = None) -> picky.Word:
    """Encode a text by the first `at` steps of a history, or by all steps.

    First apply the merges and drops inside words. Then apply the supermerges, which join neighbouring words. They join
    only words that have become a single token.
    """
    recipe = history.recipe
    ids: picky.Word = []
    steps = list(history.first(len(history) if at is None else at))
    for run in split_words(text, recipe):
        words = [word.encode() for word in split_words(run, Recipe(pattern=recipe.words_by))]
        cut = [picky.word_after(word, steps, history, joins_within) for word in words]
        for is_whole, stretch_of_words in groupby(cut, lambda word: len(word) == 1):
            stretch = [id for word in stretch_of_words for id in word]
            for step in steps if is_whole else ():
                if step.reasons["stage"] == 2:
                    stretch = bpe.join(stretch, (step.left, step.right), step.index)
            ids += stretch
    return ids


def word_ranks(history: History) -> Callable[[picky.Word], list[int | None]]:
    """Return a function that computes the rank of each boundary in a run of neighbouring words.

    The rank of a boundary is the step that removes the boundary, or None if no step removes it. The steps of the
    history must not drop tokens.
    """
    runs = WordRuns(history)

    def ranks_of_run(symbols: picky.Word) -> list[int | None]:
        ranks: list[int | None] = []
        words: list[tuple[int, int]] = []  # the offset of each word, and its symbol in the second pass
        for word in runs.words(bytes(symbols)):
            own = _as_steps(bpe.ranks_of_symbols([*word], runs.within), runs.rows_within)
            last = max((step for step in own if step is not None), default=NOTHING)
            token = word[0] if last == NOTHING else runs.base + last
            words.append((len(ranks), NO_WORD if None in own else int(runs.symbol_of[token])))
            ranks += [None, *own]
        for is_whole, stretch in groupby(words, lambda word: word[1] != NO_WORD):
            places, numbers = zip(*stretch, strict=True)
            if is_whole:
                steps = _as_steps(bpe.ranks_of_symbols([*numbers], runs.across), runs.rows_across)
                for place, step in zip(places[1:], steps, strict=True):
                    ranks[place] = step
        return ranks[1:]

    return ranks_of_run


def _as_steps(ranks: Sequence[int | None], rows: Int64s) -> list[int | None]:
    return [None if rank is None else int(rows[rank]) for rank in ranks]
