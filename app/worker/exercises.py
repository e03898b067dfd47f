"""The engine answers the questions of a lesson: nothing in a lesson is right because somebody wrote it down.

>>> bench = Bench.of_words({"low": 5, "lower": 2, "newest": 6, "widest": 3}, Recipe.preset("words"))
>>> bench.answer(Question("pair count", "l o", at=0))
'7'
>>> bench.answer(Question("tokens of", "lowest")), bench.answer(Question("tokens of", "lowest", at=2))
('low est', 'l o w est')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from app.worker.token_names import BLANK, TokenNames
from bpe_core import Alphabet, Corpus, MergeHistory, Recipe, Tokenizer, Trainer, WordTable, count_words
from bpe_core.history.history import END_SENTENCES

NOT_LEARNED = "never"
BETWEEN_PARTS = " + "


@dataclass(frozen=True)
class Question:
    """One thing to ask of a bench: what, about what, and as of which merge (as it stands, if not said)."""

    what: str
    about: str = ""
    at: int | None = None


@dataclass(frozen=True)
class WordNow:
    """A word of the corpus, cut as it is at one moment: the texts and ids of its tokens."""

    count: int
    texts: tuple[str, ...]
    ids: tuple[int, ...]


class Bench:
    """A little corpus and what was learned from it. Small enough to be asked at once, without a thread."""

    def __init__(self, words: WordTable, history: MergeHistory) -> None:
        self.words = words
        self.history = history
        self.names = TokenNames(history.alphabet)
        self.names.grow(history)

    @classmethod
    def of_words(cls, counts: Mapping[str, int], recipe: Recipe) -> Bench:
        """Everything that this recipe learns from these words."""
        return cls.trained(WordTable.from_counts(counts), recipe)

    @classmethod
    def of_text(cls, text: str, recipe: Recipe) -> Bench:
        return cls.trained(count_words(Corpus.from_texts([text]), recipe), recipe)

    @classmethod
    def trained(cls, words: WordTable, recipe: Recipe) -> Bench:
        trainer = Trainer(words, recipe)
        trainer.advance()
        return cls(words, trainer.history)

    def with_rules(self, rules: Sequence[str]) -> Bench:
        """The same words with merges given by hand, such as `l o` and `lo w`, whatever they count."""
        recipe, alphabet = self.history.recipe, Alphabet.for_words(self.words, self.history.recipe)
        id_of = {text: id for id, text in enumerate(TokenNames(alphabet).text)}
        pairs: list[tuple[int, int]] = []
        for rule in rules:
            left, right = rule.split()
            pairs.append((id_of[left], id_of[right]))
            id_of[left + right] = len(alphabet) + len(pairs) - 1
        return Bench(self.words, MergeHistory.from_pairs(recipe, alphabet, pairs))

    @cached_property
    def to_the_end(self) -> Bench:
        """The same words and recipe, with everything there is to learn."""
        return Bench.trained(self.words, self.history.recipe)

    # What is asked

    def answer(self, question: Question) -> str:
        """The answer as a person writes it."""
        return _ANSWERS[question.what](self, question)

    def words_at(self, at: int) -> list[WordNow]:
        """Each distinct word as it is cut after so many merges."""
        return [
            WordNow(count, tuple(self.names.text[id] for id in ids), tuple(ids))
            for word, count in self.words
            for ids in [self._ids_of_word(word, at)]
        ]

    def pair_counts(self, at: int) -> Counter[tuple[int, int]]:
        """How often each pair of neighbours stands in the corpus after so many merges."""
        counts: Counter[tuple[int, int]] = Counter()
        for word, count in self.words:
            for pair in pairwise(self._ids_of_word(word, at)):
                counts[pair] += count
        return counts

    def ids_written(self, text: str, at: int) -> list[int]:
        """All tokens known at that moment that are written so: hardly ever more than one."""
        known = self.names.text[: self.names.base + at]
        return [id for id, name in enumerate(known) if name == text.replace(" ", BLANK)]

    def at(self, question: Question) -> int:
        return len(self.history) if question.at is None else min(question.at, len(self.history))

    @cached_property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer(self.history)

    def _ids_of_word(self, word: bytes, at: int) -> list[int]:
        ids = self.history.alphabet.symbols_of(word, self.history.recipe)
        for merge, joined in self.tokenizer.word_steps(word):
            if merge >= at:
                break
            ids = joined
        return ids

    def texts(self, ids: Sequence[int]) -> str:
        return " ".join(self.names.text[id] for id in ids)


# --- Each kind of question --------------------------------------------------------------


def _pair_count(bench: Bench, question: Question) -> str:
    left, right = question.about.split()
    counts, at = bench.pair_counts(bench.at(question)), bench.at(question)
    pairs = [(i, j) for i in bench.ids_written(left, at) for j in bench.ids_written(right, at)]
    return str(sum(counts[pair] for pair in pairs))


def _tokens(bench: Bench, question: Question) -> str:
    return bench.texts(bench.tokenizer.encode(question.about, at=bench.at(question)))


def _number_of_tokens(bench: Bench, question: Question) -> str:
    return str(len(bench.tokenizer.encode(question.about, at=bench.at(question))))


def _ids(bench: Bench, question: Question) -> str:
    return " ".join(map(str, bench.tokenizer.encode(question.about, at=bench.at(question))))


def _longest_first(bench: Bench, question: Question) -> str:
    return bench.texts(bench.tokenizer.encode_greedy(question.about, at=bench.at(question)))


def _corpus_tokens(bench: Bench, question: Question) -> str:
    return str(sum(word.count * len(word.ids) for word in bench.words_at(bench.at(question))))


def _distinct_tokens(bench: Bench, question: Question) -> str:
    return str(len({id for word in bench.words_at(bench.at(question)) for id in word.ids}))


def _distinct_when_replacing_text(bench: Bench, question: Question) -> str:
    return str(len({piece for word in words_by_replacing_text(bench, bench.at(question)) for piece in word.split()}))


def _tokens_when_replacing_text(bench: Bench, question: Question) -> str:
    """Of a word of the corpus."""
    place = [word for word, _ in bench.words].index(question.about.encode())
    return words_by_replacing_text(bench, bench.at(question))[place]


def words_by_replacing_text(bench: Bench, steps: int) -> list[str]:
    """The words, spaced, after merging as it must not be done: by replacing text.

    Each word is a text of pieces with blanks between them, and the text `a t` is replaced by
    `at` wherever it is found: also at the end of a longer piece, where no pair a+t stands.

    >>> words_by_replacing_text(Bench.of_words({"ha": 6, "hat": 1, "at": 4}, Recipe.preset("words")), 2)
    ['ha', 'hat', 'at']
    """
    symbols = [word.texts for word in bench.words_at(0)]
    spaced = [" ".join(pieces) for pieces in symbols]
    weights = [count for _, count in bench.words]
    for _ in range(steps):
        counts: Counter[tuple[str, str]] = Counter()
        for word, weight in zip(spaced, weights, strict=True):
            for pair in pairwise(word.split()):
                counts[pair] += weight
        left, right = max(counts, key=lambda pair: counts[pair])
        spaced = [word.replace(f"{left} {right}", left + right) for word in spaced]
    return spaced


def _bytes(bench: Bench, question: Question) -> str:
    return str(len(question.about.encode()))


def _vocabulary(bench: Bench, question: Question) -> str:
    return str(bench.names.base + bench.at(question))


def _merges_for_vocabulary(bench: Bench, question: Question) -> str:
    recipe = bench.history.recipe.with_changes(vocab_size=int(question.about))
    return str(recipe.merge_limit(bench.names.base))


def _bytes_per_token(bench: Bench, question: Question) -> str:
    tokens = len(bench.tokenizer.encode(question.about, at=bench.at(question)))
    return f"{len(question.about.encode()) / tokens:.1f}"


# These look at everything that can be learned, also at what is still to come.


def _step_of(bench: Bench, question: Question) -> str:
    whole = bench.to_the_end
    ids = [id for id in whole.ids_written(question.about, len(whole.history)) if id >= whole.names.base]
    return str(ids[0] - whole.names.base + 1) if ids else NOT_LEARNED


def _merge(bench: Bench, question: Question) -> str:
    whole = bench.to_the_end
    columns, row = whole.history.columns, int(question.about) - 1
    return BETWEEN_PARTS.join(whole.names.text[int(column[row])] for column in (columns.left, columns.right))


def _merge_count(bench: Bench, question: Question) -> str:
    return str(int(bench.to_the_end.history.columns.count[int(question.about) - 1]))


def _all_merges(bench: Bench, question: Question) -> str:
    return str(len(bench.to_the_end.history))


def _ties(bench: Bench, question: Question) -> str:
    return str(sum(merge.tied for merge in bench.to_the_end.history.first(int(question.about))))


def _end(bench: Bench, question: Question) -> str:
    return END_SENTENCES[bench.to_the_end.history.end_reason]


_ANSWERS: dict[str, Callable[[Bench, Question], str]] = {
    "pair count": _pair_count,
    "tokens of": _tokens,
    "number of tokens of": _number_of_tokens,
    "ids of": _ids,
    "longest first": _longest_first,
    "corpus tokens": _corpus_tokens,
    "distinct tokens": _distinct_tokens,
    "distinct tokens when replacing text": _distinct_when_replacing_text,
    "tokens when replacing text": _tokens_when_replacing_text,
    "bytes of": _bytes,
    "bytes per token of": _bytes_per_token,
    "vocabulary": _vocabulary,
    "merges for vocabulary": _merges_for_vocabulary,
    "step of": _step_of,
    "merge": _merge,
    "count of merge": _merge_count,
    "all merges": _all_merges,
    "ties among first": _ties,
    "end": _end,
}
KINDS = frozenset(_ANSWERS)
