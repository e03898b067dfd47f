"""The engine answers the questions of a lesson: nothing in a lesson is right because somebody wrote it down.

>>> from bpe_core import Recipe
>>> bench = Bench.of_words({"low": 5, "lower": 2, "newest": 6, "widest": 3}, Recipe.preset("words"))
>>> answer(bench, Question("pair count", "l o", at=0))
'7'
>>> answer(bench, Question("tokens of", "lowest")), answer(bench, Question("tokens of", "lowest", at=2))
('low est', 'l o w est')
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.window.lessons.bench import Bench
from app.window.lessons.replacing_text import words_by_replacing_text
from bpe_core.history.history import END_SENTENCES

NOT_LEARNED = "never"
BETWEEN_PARTS = " + "


@dataclass(frozen=True)
class Question:
    """One thing to ask of a bench: what, about what, and as of which merge (as it stands, if not said)."""

    what: str
    about: str = ""
    at: int | None = None


def answer(bench: Bench, question: Question) -> str:
    """The answer as a person writes it."""
    last = len(bench.history)
    return _ANSWERS[question.what](bench, question.about, last if question.at is None else min(question.at, last))


def _pair_count(bench: Bench, pair: str, at: int) -> str:
    left, right = pair.split()
    counts = bench.pair_counts(at)
    return str(sum(counts[i, j] for i in bench.ids_written(left, at) for j in bench.ids_written(right, at)))


def _tokens(bench: Bench, text: str, at: int) -> str:
    return bench.texts(bench.tokenizer.encode(text, at=at))


def _number_of_tokens(bench: Bench, text: str, at: int) -> str:
    return str(len(bench.tokenizer.encode(text, at=at)))


def _ids(bench: Bench, text: str, at: int) -> str:
    return " ".join(map(str, bench.tokenizer.encode(text, at=at)))


def _longest_first(bench: Bench, text: str, at: int) -> str:
    return bench.texts(bench.tokenizer.encode_greedy(text, at=at))


def _corpus_tokens(bench: Bench, _: str, at: int) -> str:
    return str(sum(word.count * len(word.ids) for word in bench.words_at(at)))


def _distinct_tokens(bench: Bench, _: str, at: int) -> str:
    return str(len({id for word in bench.words_at(at) for id in word.ids}))


def _distinct_when_replacing_text(bench: Bench, _: str, at: int) -> str:
    return str(len({piece for word in words_by_replacing_text(bench, at) for piece in word.split()}))


def _tokens_when_replacing_text(bench: Bench, word: str, at: int) -> str:
    """Of a word of the corpus."""
    place = [known for known, _ in bench.words].index(word.encode())
    return words_by_replacing_text(bench, at)[place]


def _bytes(_: Bench, text: str, __: int) -> str:
    return str(len(text.encode()))


def _vocabulary(bench: Bench, _: str, at: int) -> str:
    return str(bench.history.vocabulary_size_at(at))


def _merges_for_vocabulary(bench: Bench, size: str, _: int) -> str:
    recipe = bench.history.recipe.with_changes(vocab_size=int(size))
    return str(recipe.merge_limit(bench.names.base))


def _bytes_per_token(bench: Bench, text: str, at: int) -> str:
    return f"{len(text.encode()) / len(bench.tokenizer.encode(text, at=at)):.1f}"


# These look at everything that can be learned, also at what is still to come.


def _step_of(bench: Bench, token: str, _: int) -> str:
    whole = bench.to_the_end
    rows = [whole.history.row_of(id) for id, text in enumerate(whole.names.text) if text == token]
    return next((str(row + 1) for row in rows if row is not None), NOT_LEARNED)


def _merge(bench: Bench, step: str, _: int) -> str:
    whole = bench.to_the_end
    return BETWEEN_PARTS.join(whole.names.text[id] for id in whole.history.pair(int(step) - 1))


def _merge_count(bench: Bench, step: str, _: int) -> str:
    return str(int(bench.to_the_end.history.columns.count[int(step) - 1]))


def _all_merges(bench: Bench, _: str, __: int) -> str:
    return str(len(bench.to_the_end.history))


def _ties(bench: Bench, merges: str, _: int) -> str:
    return str(int(bench.to_the_end.history.tied[: int(merges)].sum()))


def _end(bench: Bench, _: str, __: int) -> str:
    return END_SENTENCES[bench.to_the_end.history.end_reason]


_ANSWERS: dict[str, Callable[[Bench, str, int], str]] = {
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
