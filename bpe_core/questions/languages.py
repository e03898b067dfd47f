"""The question `languages`. It asks how many tokens the same text needs in each language.

The answer has a value for each step of a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bpe_core.asking import Answer, Question
from bpe_core.asking.shared import drawn_lines, sentences_parameter
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.figures.from_table import river_chart
from bpe_core.history.history import History
from bpe_core.measures.benchmark import parallel_texts
from bpe_core.measures.size_curves import token_counts
from bpe_core.methods.kit.reasons import LANGUAGE
from bpe_core.studies.study import Study
from bpe_core.studies.texts import texts_of
from bpe_core.support.arrays import Int64s
from bpe_core.support.data_table import DataTable, Values
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text

WHAT = "The comparison of languages"
SHOWN_STEPS = 160  # steps that are evenly spread; half as many more are close together at the beginning
LINE_END = ord("\n")
MOST_SERVED = 8  # languages named in a sentence
TOO_FEW = (
    "A single text cannot be compared. Train with parity-aware BPE and dev texts, put the texts into groups, or name "
    "a folder with the same sentences in several languages."
)


@dataclass(frozen=True)
class Languages(Question):
    """Show how many tokens a sentence needs in each language, step by step.

    The band of the figure becomes narrower as the languages need more similar numbers of tokens. The texts are the dev
    texts of a parity-aware run, the texts of --parallel, or the groups of the corpus.
    """

    about = "the corpus"
    asks = "Which language costs more?"
    turn = 2
    axis = "step"
    needs = "texts if known"
    by_parts = True
    examples = """\
examples:
  bpe-explorer languages served.bpex -o river.svg
      Compare the dev texts of a run by parity-aware BPE: which language needs the most tokens at each step, and how
      many merges each got.

  bpe-explorer languages merges.csv --parallel sentences/
      Compare any tokenizer: a file for each language (en.txt, de.txt), one sentence in a line. Without a folder our
      ten sentences are used.
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.languages(study, "own").columns["text"][:3]
        ['de', 'de', 'de']
    """

    parallel: str = sentences_parameter("groups of the texts")
    lines: tuple[str, ...] = drawn_lines("languages")

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        texts = self._texts(study, work)
        if len(texts) < 2:
            raise BpeError(TOO_FEW)
        missing = next((name for name in self.lines if name not in texts), None)
        if missing is not None:
            raise BpeError(f"There is no language {missing!r}; the languages are {', '.join(texts)}."[:290])
        history = study.history
        curves = {name: token_counts(words, history, work) for name, (words, _) in texts.items()}
        chosen = _some(next(iter(curves.values()))[0])
        columns: dict[str, list[object]] = {}
        for name, (_, sentences) in texts.items():
            steps, tokens = (column[chosen] for column in curves[name])
            of_language: dict[str, Values] = {
                "text": [name] * len(steps),
                "step": steps.tolist(),
                "sentences": [sentences] * len(steps),
                "tokens": tokens.tolist(),
                "tokens_per_sentence": (tokens / sentences).tolist(),
                **_served(history, name, steps),
            }
            for column, values in of_language.items():
                columns.setdefault(column, []).extend(values)
        table = DataTable(columns)
        figure = river_chart(table, history.recipe.wording.steps.capitalize(), self.lines)
        last = [place for place, step in enumerate(columns["step"]) if step == len(history)]
        shares = _shares(history, list(texts))
        return Answer(table, (figure.sentence, *shares), figure, (*columns,), last)

    def _texts(self, study: Study, work: Work) -> Mapping[str, tuple[WordTable, int]]:
        """Return a dictionary from each language to its words and its number of sentences."""
        if self.parallel:
            given = parallel_texts(self.parallel)
            recipe = study.history.recipe
            return {name: (texts_of(lines).words(recipe, work), len(lines)) for name, lines in given.items()}
        own = study.inside.learned_from
        dev = (
            {}
            if own is None
            else {language.name: language.dev for language in own.languages if language.dev is not None}
        )
        words_by_language = dev or (study.inside.parts(WHAT, work) if study.texts is not None else {})
        return {name: (words, _count_sentences(words)) for name, words in words_by_language.items() if len(words)}


def _count_sentences(words: WordTable) -> int:
    """Count the sentences in the texts of a language. Every sentence ends at a line end. Return at least 1."""
    places = np.flatnonzero(words.text == LINE_END)
    return max(1, int(words.counts[np.searchsorted(words.starts, places, side="right") - 1].sum()))


def _some(steps: Int64s) -> Int64s:
    last = len(steps) - 1
    close = np.geomspace(1, max(1, last), SHOWN_STEPS // 2)
    some: Int64s = np.unique(np.concatenate([np.linspace(0, last, SHOWN_STEPS), close]).round()).astype(np.int64)
    return some[some <= last]


def _names(history: History) -> Sequence[str]:
    return history.recipe.mixture.languages if history.recipe.mixture is not None else ()


def _served(history: History, name: str, steps: Int64s) -> dict[str, Values]:
    names = _names(history)
    if LANGUAGE not in history.reasons or name not in names:
        return {}
    so_far = np.concatenate([[0], np.cumsum(history.reasons[LANGUAGE] == names.index(name))])
    return {"served": so_far[steps].tolist()}


def _shares(history: History, texts: Sequence[str]) -> list[str]:
    names = [name for name in _names(history) if name in texts]
    if LANGUAGE not in history.reasons or not names:
        return []
    counts = {name: int((history.reasons[LANGUAGE] == place).sum()) for place, name in enumerate(_names(history))}
    most = sorted(counts, key=lambda name: -counts[name])
    said = ", ".join(f"{name} {counts[name]:,}" for name in most[:MOST_SERVED])
    more = (
        (f"; {count_text(len(most) - MOST_SERVED, 'other language')} had fewer merges")
        if len(most) > MOST_SERVED
        else ""
    )
    return [f"The number of merges for each language: {said}{more}."]
