"""A method for tests whose steps add tokens. Each step adds the word that saves the most tokens.

At first, only single bytes are tokens. The alphabet also has an entry for each longer word, and a step turns such an
entry into a token. When a text is split, each added word is one token. In any other word, each byte is a token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import FormatError
from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.history.history import ADDED, Columns, EndReason, History
from bpe_core.methods.facts import Wording
from bpe_core.methods.kit.learner import Candidate, Way
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.reasons import Reason
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.cutting import Cutting
from tests.dropping_method import LongestMatch, best_and_other


class AddingLearner:
    scores = gone_through = None

    def __init__(self, words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> None:
        known = {symbol.text: id for id, symbol in enumerate(alphabet.symbols) if symbol.kind == "seed"}
        if any(len(word) > 1 and word not in known for word, _ in words):
            raise FormatError("The steps do not belong to these words, of which some were never seeds.")
        self._words = {known[word]: (len(word), count) for word, count in words if len(word) > 1}
        self._forced: list[int] = [] if forced is None else forced.columns.left.tolist()
        self.learned = 0
        self.reasons = {"saves": np.empty(len(self._words), np.int64)}  # tokens
        self.tokens_at_start = self._tokens = sum(len(word) * count for word, count in words)
        self.has_candidates = bool(self._words)

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        while self.learned < stop_at and work > 0:
            ranking, row = self.candidates(len(self._words)), self.learned
            if not ranking:
                return "no pairs"
            best, other = best_and_other(ranking, self._forced, row)
            self.reasons["saves"][row] = saved = best.reasons["saves"]
            self._tokens -= saved
            del self._words[best.left]
            columns.left[row], columns.right[row], columns.count[row] = best.left, ADDED, best.count
            columns.runner_up_left[row], columns.runner_up_right[row] = other.left, other.right
            columns.runner_up_count[row], columns.tokens_left[row] = other.count, self._tokens
            self.learned += 1
            work -= 1_000
        return ""

    def candidates(self, wanted: int) -> list[Candidate]:
        candidates = [
            Candidate(id, ADDED, count, {"saves": (length - 1) * count}) for id, (length, count) in self._words.items()
        ]
        return sorted(candidates, key=lambda candidate: (-candidate.reasons["saves"], candidate.left))[:wanted]


class WholeWords(LongestMatch):
    """A segmenter for a method that adds whole words. An added word is one token. Other words are split into bytes."""

    def cut(self, word: bytes, id_of: dict[bytes, int]) -> Iterator[int]:
        yield from [id_of[word]] if word in id_of else (id_of[word[i : i + 1]] for i in range(len(word)))


SAVES = Reason.of_column("saves", "Tokens of the corpus")


LESSON = """
title = "Whole words, one by one"
about = "A word that becomes a token at once."
minutes = 1
text = "tea sea"

[corpus]
words = { tea = 3, sea = 2 }

[recipe]
preset = "words"
base = "bytes"
method = "adding"
merges = 2
min_frequency = 1

[[steps]]
kind = "predict"
say = "Which word saves the most tokens?"

[[steps]]
kind = "ask"
say = "How many tokens has `sea` now?"
ask = { what = "number of tokens of", about = "sea" }
hint = "Count the letters."
"""


class Adding(Method):
    name = "adding"
    title = "Adding whole words"
    explanation = "Begins with bytes, and adds the word that saves the most tokens, again and again."
    wording = Wording("step", "added", "word", "saves the most tokens")
    single = "add"
    reason = "tokens saved"
    nothing_to_learn = "No word of this text is longer than a byte."
    has_seeds = True
    plain = Way(AddingLearner, bytes_a_cell=500)
    lessons: Mapping[str, str] = {"11-adding": LESSON}  # its place is after the other lesson 11

    def tokens_at_first(self, words: WordTable, recipe: Recipe) -> Alphabet:
        seeds = (Symbol(word, word, "seed") for word in sorted({word for word, _ in words if len(word) > 1}))
        return Alphabet((*Alphabet.for_words(words, recipe).symbols, *seeds))

    def steps_planned(self, recipe: Recipe, alphabet: Alphabet) -> int:
        if recipe.merges is not None:
            return min(recipe.merges, alphabet.seed_count)
        assert recipe.vocab_size is not None
        return max(0, recipe.vocab_size - len(alphabet.but_seeds) - len(recipe.special_tokens))

    def reasons(self, recipe: Recipe) -> tuple[Reason, ...]:
        return (SAVES,)

    def cutter(self, history: History, cutting: Cutting) -> WholeWords:
        return WholeWords(history, cutting)


METHOD = Adding()
