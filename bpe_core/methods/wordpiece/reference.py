"""A short, plain and slow reference for WordPiece, as far as the method is known.

A character inside a word is written with `##`. It is a different symbol from the same character at the beginning.
So `low` is `l ##o ##w`, and joining the last two symbols gives `##ow`. The learner was never published. Two rules
are called WordPiece:

`count`  the pair that occurs most often is joined, as in byte-pair encoding;
`score`  the pair with the highest score is joined: count(ab) / (count(a) * count(b)).

An example for the rule `score`:

    >>> Fraction(100, 500 * 800) > Fraction(50, 10_000 * 5_000)
    True

A merge lowers the counts of the two tokens that it joins. So the scores of other pairs with these tokens *rise*.

**Encoding.** A word is split from the left, each time by the longest token that fits. If no token fits, the whole
word is unknown. A word that is longer than the recipe allows is unknown too.

    >>> recipe = Recipe.preset("wordpiece", merges=5)
    >>> history = train(WordTable.from_counts({"play": 4, "player": 3, "plays": 2}), recipe)
    >>> [history.alphabet.symbols[id].text for id in encode_word("pay", history, at=0)]
    [b'p', b'##a', b'##y']
    >>> history.alphabet.symbols[encode_word("ploy", history)[0]].text
    b'[UNK]'
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

import bpe_core.methods.bpe.reference as bpe
from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, TIED, EndReason, History
from bpe_core.history.token_texts import written
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import Pair
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.splitter import split_words

Word = list[int]  # the ids of the word's symbols


def train(words: WordTable, recipe: Recipe, alphabet: Alphabet | None = None, given: Sequence[Pair] = ()) -> History:
    """Learn merges by the recipe's rule until the vocabulary is full or no pair is frequent enough."""
    by_rule = train_by_score if recipe.wordpiece_rule == "score" else bpe.train
    return by_rule(words, recipe, alphabet or Alphabet.with_continuations(words, recipe), given)


def train_by_score(words: WordTable, recipe: Recipe, alphabet: Alphabet, given: Sequence[Pair] = ()) -> History:
    corpus = [(alphabet.symbols_of(word, recipe), count) for word, count in words]
    tokens_at_start = bpe.count_tokens(corpus)
    limit = recipe.merge_limit(len(alphabet))
    tokens = bpe.TokenBook(alphabet)
    rows: list[tuple[int, ...]] = []
    reasons: list[tuple[int, int, bool]] = []
    while True:
        stands = bpe.count_pairs(corpus)
        singles = count_symbols(corpus)
        counts = bpe.allowed(stands, tokens, recipe)
        scores = {pair: score(pair, count, singles) for pair, count in counts.items()}
        ranking = bpe.ranked(counts, tokens, recipe, scores.__getitem__)
        frequent = bpe.steered(ranking, stands, recipe, len(rows) + 1, given)
        if len(rows) == limit or not frequent:
            reason: EndReason = "too rare" if ranking else "no pairs"
            if len(rows) == limit:
                reason = "vocabulary full"
            left, right, tied = np.array(reasons, np.int64).reshape(-1, 3).T
            columns = {"left_count": left, "right_count": right, TIED: tied.astype(np.bool_)}
            return bpe.as_history(rows, recipe, alphabet, tokens_at_start, reason, reasons=columns)
        (pair, count), (runner_up, runner_up_count) = [*frequent, bpe.NOBODY][:2]
        own = score(pair, count, singles) if count else None  # a forced pair may occur nowhere
        reasons.append((singles.get(pair[0], 0), singles.get(pair[1], 0), scores.get(runner_up, NOTHING) == own))
        token = tokens.add(pair)
        corpus = [(bpe.join(word, pair, token), weight) for word, weight in corpus]
        rows.append((*pair, count, *runner_up, runner_up_count, bpe.count_tokens(corpus)))


def count_symbols(corpus: list[tuple[Word, int]]) -> dict[int, int]:
    """Return the count of each token in the corpus.

    >>> count_symbols([([1, 2, 1], 3), ([2], 1)])
    {1: 6, 2: 4}
    """
    counts: dict[int, int] = {}
    for word, weight in corpus:
        for symbol in word:
            counts[symbol] = counts.get(symbol, 0) + weight
    return counts


def score(pair: Pair, count: int, singles: dict[int, int]) -> Fraction:
    return Fraction(count, singles[pair[0]] * singles[pair[1]])


# --- Encoding ---------------------------------------------------------------------------


def encode(text: str, history: History, *, at: int | None = None) -> Word:
    """Return the ids of a text, word by word. Special tokens in the text are treated as ordinary text."""
    recipe = history.recipe.with_changes(special_tokens=())
    words = list(split_words(normalize(text, recipe), recipe))
    if recipe.base == "bytes":  # each byte counts as a character
        words = [word.encode().decode("latin-1") for word in words]
    return [id for word in words for id in encode_word(word, history, at=at)]


def encode_word(word: str, history: History, *, at: int | None = None) -> Word:
    """Return the ids of one word, which is split into tokens that exist after `at` steps.

    If `at` is None, all steps count.
    """
    starting, continuing = vocabulary(history if at is None else history.first(at))
    unknown = history.alphabet.unknown_id
    assert unknown is not None
    ids: Word = []
    start = 0
    while start < len(word) <= history.recipe.longest_word:
        tokens = continuing if start else starting
        stop = next((stop for stop in range(len(word), start, -1) if word[start:stop] in tokens), None)
        if stop is None:
            return [unknown]
        ids.append(tokens[word[start:stop]])
        start = stop
    return ids or [unknown]


def vocabulary(history: History) -> tuple[dict[str, int], dict[str, int]]:
    """Return two dictionaries from text to index: for tokens that begin words, and for tokens that continue words.

    The texts of continuing tokens are given without `##`.

    If several tokens have equal texts, the oldest is used. A word may really begin with the characters `##`, such as
    `##ing`. So the first dictionary also has the continuing tokens, with their `##`.
    """
    tokens: tuple[dict[str, int], dict[str, int]] = {}, {}
    symbols = history.alphabet.symbols
    marker = history.alphabet.continuing
    continues = [symbol.text != symbol.decoded for symbol in symbols]
    continues += [continues[history.symbols_of(len(symbols) + row)[0]] for row in range(len(history))]
    for id, text in enumerate(written(history)):
        if id >= len(symbols) or symbols[id].kind != "unknown":
            encoding = "latin-1" if history.recipe.base == "bytes" else "utf-8"
            tokens[0].setdefault(text.decode(encoding), id)
            if continues[id]:
                tokens[1].setdefault(text.removeprefix(marker).decode(encoding), id)
    return (tokens[0], tokens[0]) if history.recipe.marker == "none" else tokens
