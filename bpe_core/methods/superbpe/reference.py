"""The reference implementation of SuperBPE, plain and slow: byte-pair encoding within words, then across words.

The corpus is counted in runs. A run is a stretch of text: several words, with the spaces, single
punctuation marks and line ends between them. Learning has two stages. In the first stage, a pattern splits
each run into words, and the merges are learned from these words. A recipe can also split whole lines into
these words, as the method's authors do. Then the second stage begins: the same merges are made in whole
runs, and later merges may join words. The step between the stages is called the transition. A superword
must not hold too many words, and no space may follow a colon in it. Texts are encoded in whole runs by all
merges in their order.

    >>> from bpe_core.history.token_texts import decoded
    >>> words = WordTable.from_counts({"by the way": 5, "the by": 1})
    >>> recipe = Recipe.preset("gpt2", method="superbpe", merges=8, transition=6)
    >>> history = train(words, recipe)
    >>> [text.decode() for text in decoded(history)[256:]]
    ['by', 'th', 'the', ' the', ' w', ' wa', 'by the', 'by the wa']
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import bpe_core.methods.bpe.reference as bpe
from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import EndReason, History
from bpe_core.methods.kit.runs import Inside
from bpe_core.methods.superbpe.learn import STAGE
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import Pair
from bpe_core.splitting.splitter import split_words

EVERY_WORD = 2**60  # more words than a token can hold


def train(words: WordTable, recipe: Recipe, alphabet: Alphabet | None = None, given: Sequence[Pair] = ()) -> History:
    alphabet = alphabet or Alphabet.for_words(words, recipe)
    limit = recipe.merge_limit(len(alphabet))
    transition = limit // 2 if recipe.transition is None else recipe.transition
    runs = [(alphabet.symbols_of(run, recipe), count) for run, count in words]
    at_first = words_inside(words, recipe) if recipe.recipe_at_first is None else words.at_first
    assert at_first is not None  # such words are counted together with the runs
    inside = [(alphabet.symbols_of(word, recipe), count) for word, count in at_first]
    at_start = bpe.count_tokens(runs)
    tokens = bpe.TokenBook(alphabet)
    rows: list[tuple[int, ...]] = []
    stages: list[int] = []
    end: EndReason = "vocabulary full"
    stage = 1
    corpus = inside
    while len(rows) < limit:
        if stage == 1 and len(rows) == transition:
            stage = 2
            corpus = runs
        counts = bpe.count_pairs(corpus)
        ranking = bpe.ranked(bpe.allowed(counts, tokens, recipe), tokens, recipe)
        whole = [choice for choice in ranking if not recipe.keeps_characters or bpe.keeps_characters(choice[0], tokens)]
        joinable = [choice for choice in whole if stage == 1 or may_join(tokens, choice[0], recipe)]
        frequent = bpe.steered(joinable, counts, recipe, len(rows) + 1, given)
        if not frequent and stage == 1:  # the second stage begins early
            transition = len(rows)
            continue
        if not frequent:
            end = "too rare" if ranking else "no pairs"
            break
        (pair, count), (runner_up, runner_up_count) = [*frequent, bpe.NOBODY][:2]
        token = tokens.add(pair)
        inside, runs = ([(bpe.join(word, pair, token), weight) for word, weight in choice] for choice in (inside, runs))
        corpus = inside if stage == 1 else runs
        rows.append((*pair, count, *runner_up, runner_up_count, bpe.count_tokens(corpus)))
        stages.append(stage)
    return bpe.as_history(rows, recipe, alphabet, at_start, end, reasons={STAGE: np.array(stages, np.int64)})


def words_inside(words: WordTable, recipe: Recipe) -> WordTable:
    """Return the ordinary words of all runs with their counts, in first-seen order.

    >>> runs = WordTable.from_counts({"by the": 5, "the": 1})
    >>> list(words_inside(runs, Recipe.preset("gpt2", method="superbpe")))
    [(b'by', 5), (b' the', 5), (b'the', 1)]
    """
    return inside_of(words, recipe).words


def inside_of(words: WordTable, recipe: Recipe) -> Inside:
    """Return the different ordinary words in all runs of words.

    For each run, also return the indices of its words in this list.
    """
    splitting = Recipe(pattern=recipe.words_by)
    counts: dict[str, int] = {}
    number: dict[str, int] = {}
    rows: list[int] = []
    first = [0]
    for run, count in words:
        for word in split_words(run.decode(), splitting):
            counts[word] = counts.get(word, 0) + count
            rows.append(number.setdefault(word, len(number)))
        first.append(len(rows))
    return Inside(WordTable.from_counts(counts), np.array(rows, np.int32), np.array(first, np.int64))


def may_join(tokens: bpe.TokenBook, pair: Pair, recipe: Recipe) -> bool:
    text = tokens.texts[pair[0]] + tokens.texts[pair[1]]
    words = [word for word in text.split(b" ") if word]
    return len(words) <= (recipe.most_words or EVERY_WORD) and (recipe.past_colons or b": " not in text)
