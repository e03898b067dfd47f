"""The reference of BoundlessBPE, plain and slow: merges within words race with merges of whole words.

The words of the corpus are here runs of neighbouring words with letters. A pattern cuts each run into ordinary words.

**First pass.** Byte-pair encoding learns within the ordinary words. A count says how many tokens a merge makes, so
`aaa` holds the pair a+a once. With `tau`, a merge may drop one of its halves: it does so if it took at least that share
of the half's occurrences. The occurrences that are left are split. If a later merge makes the same text again, it is
the same token.

**Second pass.** Words that are one token at the end of the first pass stand in runs; pairs of them are counted and
joined in the same way. These are the supermerges.

**The race.** Both lists of steps are read from their beginning. The next supermerge is taken only if its count is
larger than that of the first pass's next merge; otherwise that merge is taken, with the drops after it. The race ends
when there are as many tokens as the first pass had at its end.

    >>> words = WordTable.from_counts({"of the way": 4, "of the day": 4, "other": 2})
    >>> history = train(words, Recipe.preset("boundless", merges=9))
    >>> from bpe_core.history.token_texts import decoded
    >>> [(text.decode(), count) for text, count in zip(decoded(history)[256:], history.columns.count.tolist())]
    [('he', 10), ('the', 10), (' the', 8), ('ay', 8), ('of', 8), ('of the', 8), (' d', 4), (' w', 4), (' day', 4)]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

import numpy as np
import regex

import bpe_core.methods.bpe.reference as bpe
from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, TIED, TOKEN, EndReason, History
from bpe_core.methods.superbpe.reference import words_inside
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import Pair
from bpe_core.splitting.splitter import split_words

Word = list[int]
Corpus = list[tuple[Word, int]]


@dataclass(frozen=True)
class Choice:
    pair: Pair
    count: int
    tied: bool  # whether the runner-up of its pass was as frequent


@dataclass
class Merge:
    """A merge of the first pass with the drops after it: each a token, its remaining count, and what it became."""

    choice: Choice
    token: int
    drops: list[tuple[int, int, Word]] = field(default_factory=list)


class Tokens:
    """The tokens by their texts, in the order in which the texts are first made, and which of them are in use."""

    def __init__(self, alphabet: Alphabet) -> None:
        self.texts = [symbol.text for symbol in alphabet.symbols]
        self.parts: list[Word] = [[] for _ in self.texts]
        self.in_use = set(range(len(self.texts)))

    def add(self, pair: Pair) -> int:
        text = self.texts[pair[0]] + self.texts[pair[1]]
        if text not in self.texts:
            self.texts.append(text)
            self.parts.append([*pair])
        token = self.texts.index(text)
        self.in_use.add(token)
        return token

    def fallen_apart(self, token: int, recipe: Recipe) -> Word:
        """Split a token into its bytes or into its halves; a half that is dropped is split as well."""
        if recipe.falls_into == "bytes":
            return [*self.texts[token]]
        halves = self.parts[token]
        return [id for half in halves for id in ([half] if half in self.in_use else self.fallen_apart(half, recipe))]


def count_apart(corpus: Corpus) -> dict[Pair, int]:
    """Return how many tokens a merge of each pair would make.

    >>> count_apart([([1, 1, 1, 2], 10), ([1, 1, 1, 1], 1)])
    {(1, 1): 12, (1, 2): 10}
    """
    counts: dict[Pair, int] = {}
    for word, weight in corpus:
        before: Pair | None = None
        for pair in pairwise(word):
            overlaps = pair == before and pair[0] == pair[1]
            before = None if overlaps else pair
            if not overlaps:
                counts[pair] = counts.get(pair, 0) + weight
    return counts


def best(corpus: Corpus, texts: Sequence[bytes], recipe: Recipe) -> Choice | None:
    """Return the most frequent pair; in a tie the pair with the smallest bytes, the left half first."""
    ranking = sorted(
        (-count, texts[left], texts[right], (left, right))
        for (left, right), count in count_apart(corpus).items()
        if count >= recipe.min_frequency
    )
    if not ranking:
        return None
    return Choice(ranking[0][3], -ranking[0][0], len(ranking) > 1 and ranking[1][0] == ranking[0][0])


def first_pass(corpus: Corpus, tokens: Tokens, recipe: Recipe, most: int) -> list[Merge]:
    merges: list[Merge] = []
    while len(tokens.in_use) < most and (choice := best(corpus, tokens.texts, recipe)):
        held = {half: sum(word.count(half) * weight for word, weight in corpus) for half in choice.pair}
        merge = Merge(choice, tokens.add(choice.pair))
        corpus[:] = [(bpe.join(word, choice.pair, merge.token), weight) for word, weight in corpus]
        for half, times in held.items():
            if recipe.tau is not None and tokens.parts[half] and choice.count / times >= recipe.tau:
                left = sum(word.count(half) * weight for word, weight in corpus)
                tokens.in_use.discard(half)
                apart = tokens.fallen_apart(half, recipe)
                corpus[:] = [(without(word, half, apart), weight) for word, weight in corpus]
                merge.drops.append((half, left, apart))
        merges.append(merge)
    return merges


def without(word: Word, token: int, apart: Word) -> Word:
    """
    >>> without([5, 9, 5, 9], 9, [1, 2])
    [5, 1, 2, 5, 1, 2]
    """
    return [id for one in word for id in (apart if one == token else [one])]


def runs_of_tokens(words: WordTable, recipe: Recipe, token_of: dict[bytes, int]) -> Corpus:
    """Return the runs of two or more words, each of which is one token and holds a letter."""
    runs: Corpus = []
    for run, count in words:
        inside = [word.encode() for word in split_words(run.decode(), Recipe(pattern=recipe.words_by))]
        found = [token_of.get(word, NOTHING) if holds_letter(word) else NOTHING for word in inside]
        stretches = [[*stretch] for are_words, stretch in groupby(found, lambda id: id != NOTHING) if are_words]
        runs += [(stretch, count) for stretch in stretches if len(stretch) > 1]
    return runs


def holds_letter(word: bytes) -> bool:
    return regex.search(r"\p{L}", word.decode(errors="ignore")) is not None


def train(words: WordTable, recipe: Recipe) -> History:
    alphabet = Alphabet.for_words(words, recipe)
    most = len(alphabet) + recipe.merge_limit(len(alphabet))
    known = Tokens(alphabet)
    inside = words_inside(words, recipe)
    corpus = [(alphabet.symbols_of(word, recipe), count) for word, count in inside]
    at_start = left = bpe.count_tokens(corpus)
    first = first_pass(corpus, known, recipe, most)
    target = len(known.in_use)
    token_of = {word: cut[0] for (word, _), (cut, _) in zip(inside, corpus, strict=True) if len(cut) == 1}
    runs = runs_of_tokens(words, recipe, token_of)

    tokens = Tokens(alphabet)  # the tokens of the race have other indices than those of the passes
    own: dict[int, int] = {id: id for id in range(len(alphabet))}  # the race's index of each token of a pass
    rows: list[tuple[int, ...]] = []
    more: list[tuple[int, int, int, int]] = []  # stage, token, rival's count, tied
    waiting: Iterator[Merge | None] = iter([*first, None])
    merge = next(waiting)
    supermerge = best(runs, known.texts, recipe)

    def note(choice: Choice, stage: int, rival: Choice | None) -> None:
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
            supermerge = best(runs, known.texts, recipe)
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
    end: EndReason = "vocabulary full" if target == most else "too rare" if count_apart(corpus) else "no pairs"
    columns = np.array(more, np.int64).reshape(-1, 4).T
    reasons = dict(zip(("stage", TOKEN, "rival", TIED), [*columns[:3], columns[3].astype(bool)], strict=True))
    if recipe.tau is None:
        del reasons[TOKEN]  # every step makes one of its own
    return bpe.as_history(rows, recipe, alphabet, at_start, end, reasons=reasons)


def encode(text: str, history: History, *, at: int | None = None) -> Word:
    """Encode words by the steps of the first pass; then apply supermerges to words that are one token."""
    recipe = history.recipe
    ids = list[int]()
    steps = list(history.first(len(history) if at is None else at))
    for run in split_words(text, recipe):
        cut = [word_after(word.encode(), steps, history) for word in split_words(run, Recipe(pattern=recipe.words_by))]
        for is_whole, words in groupby(cut, lambda word: len(word) == 1):
            stretch = [id for word in words for id in word]
            for step in steps if is_whole else ():
                if step.reasons["stage"] == 2:
                    stretch = bpe.join(stretch, (step.left, step.right), step.id)
            ids += stretch
    return ids


def word_after(word: bytes, steps: Sequence[object], history: History) -> Word:
    tokens = Tokens(history.alphabet)
    cut = history.alphabet.symbols_of(word, history.recipe)
    for step in history.first(len(steps)):
        if step.right == NOTHING:
            tokens.in_use.discard(step.left)
            cut = without(cut, step.left, tokens.fallen_apart(step.left, history.recipe))
            continue
        tokens.add((step.left, step.right))
        if step.reasons["stage"] == 1:
            cut = bpe.join(cut, (step.left, step.right), step.id)
    return cut
