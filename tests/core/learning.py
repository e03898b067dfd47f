"""Helpers that learn merges with the reference or with the engine, and that compare the two results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import Language, WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import Columns, History
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.kit.learner import Learner
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.trainer import Trainer, learn
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus

Learn = Callable[[WordTable, Recipe], History]


def train(corpus: Corpus, recipe: Recipe) -> History:
    return learn(count_words(corpus, recipe), recipe)


def words_of(text: str, recipe: Recipe) -> WordTable:
    return count_words(Corpus.from_texts([text]), recipe)


def with_two_languages(words: WordTable) -> WordTable:
    """Return the words as a corpus of two languages, for methods that need languages. Both languages have all words."""
    return replace(words, languages=tuple(Language(name, words) for name in ("a", "b")))


def text_arguments(method: str, text: str) -> list[str]:
    """Return the arguments that give a text to a training command.

    A method that serves several languages gets the text twice, as two languages.
    """
    if not METHODS[method].serves_languages:
        return [text]
    return ["--group", "a", text, "--group", "b", text, "--twice", "--ratio", "a=1", "b=1.5"]


def learn_fast(words: WordTable, recipe: Recipe) -> History:
    trainer = Trainer(words, recipe)
    while not trainer.advance().finished:
        pass
    return trainer.history


def history_of_learner(
    learner: Learner, recipe: Recipe, alphabet: Alphabet, columns: Columns, end: str = ""
) -> History:
    """Return the history with the steps that a learner has written into the columns."""
    return History(
        recipe,
        alphabet,
        columns.first(learner.learned),
        reasons=learner.reasons,
        scores=learner.scores,
        tokens_at_start=learner.tokens_at_start,
        end_reason=end or "vocabulary full",  # type: ignore[arg-type]
    )


def learn_in_short_calls(make: Callable[..., Learner], words: WordTable, recipe: Recipe, work: int) -> History:
    """Learn all steps by calling the learner many times, as a run does.

    `work` says about how much work each call does.
    """
    alphabet = Alphabet.for_words(words, recipe)
    rows = Method.of(recipe).steps_planned(recipe, alphabet)
    learner, columns, end = make(words, alphabet, recipe, None), Columns.with_room(rows), ""
    while not end and learner.learned < rows:
        end = learner.learn(columns, rows, work)
    return history_of_learner(learner, recipe, alphabet, columns, end)


LEARNERS: dict[str, Learn] = {"reference": reference.train, "engine": learn_fast}


def token_texts(history: History) -> list[bytes]:
    """Return the text of each token, with the base symbols first."""
    texts = [symbol.text for symbol in history.alphabet.symbols]
    for merge in history:
        texts.append(texts[merge.left] + texts[merge.right])
    return texts


def merge_rows(history: History, encoding: str = "utf-8") -> list[tuple[str, str, int]]:
    """Return each merge as its left text, its right text and its count."""
    texts = [text.decode(encoding, errors="backslashreplace") for text in token_texts(history)]
    return [(texts[merge.left], texts[merge.right], merge.count) for merge in history]


def pairs_of(history: History) -> list[tuple[int, int]]:
    return [(merge.left, merge.right) for merge in history]


def all_columns(history: History) -> dict[str, list[int]]:
    """Return every column as a list, so that pytest shows the differences between two histories."""
    return {name: column.tolist() for name, column in history.columns._asdict().items()}


def history_from_texts(words: WordTable, recipe: Recipe, rules: list[tuple[str, str]]) -> History:
    """Make a history with the alphabet of the words and with merges that are given as pairs of texts."""
    alphabet = Alphabet.for_words(words, recipe)
    ids = {symbol.text.decode(): id for id, symbol in enumerate(alphabet.symbols)}
    pairs = []
    for left, right in rules:
        pairs.append((ids[left], ids[right]))
        ids[left + right] = len(alphabet) + len(pairs) - 1
    return History.from_pairs(recipe, alphabet, pairs)


def first_difference(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> int | None:
    """Return the index of the first merge in which two lists differ."""
    return next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)


def symbols_at(boundary_ranks: list[int | None], merges: int) -> list[int]:
    """Return the number of base symbols in each token of a word after `merges` merges.

    A boundary of the word remains if its rank is None or at least `merges`.
    """
    cuts = [i + 1 for i, rank in enumerate(boundary_ranks) if rank is None or rank >= merges]
    return [stop - start for start, stop in pairwise([0, *cuts, len(boundary_ranks) + 1])]


def tokens_of_word(ranked: RankedWords, word: int, at: int) -> list[int]:
    """Return the indices of the tokens of a word after `at` merges, computed from its boundary ranks.

    `word` is the number of the word. The rank of the last merge inside a token gives the token's index.
    """
    cells = range(int(ranked.starts[word]), int(ranked.starts[word + 1]) - 1)
    cuts = [cell for cell in cells if cell == cells.start or ranked.ranks[cell] >= at]
    return [
        int(ranked.symbols[start]) if stop - start == 1 else ranked.base + int(ranked.ranks[start + 1 : stop].max())
        for start, stop in pairwise([*cuts, cells.stop])
    ]
