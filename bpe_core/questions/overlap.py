"""The question `overlap`. It asks how many tokens the texts of two languages share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from bpe_core.asking import Answer, Question
from bpe_core.asking.shared import sentences_parameter, steps_parameter
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.figures.from_table import dots_chart
from bpe_core.insight.tokenized_words import TokenizedWords
from bpe_core.measures.benchmark import parallel_texts
from bpe_core.measures.token_overlap import jaccard, jensen_shannon
from bpe_core.studies.study import Study
from bpe_core.studies.texts import texts_of
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text

WHAT = "The overlap of languages"
TOO_FEW = (
    "A single text shares its tokens with no other text. Put the texts into groups, or name a folder with the same "
    "sentences in several languages."
)
HEADINGS = {"other": "other text", "either": "tokens of one or both"}


@dataclass(frozen=True)
class Overlap(Question):
    """Show how many tokens the texts of two languages share.

    The Jaccard index is the share of tokens that both texts use, among all tokens that at least one of them uses. It
    counts each token once. The Jensen-Shannon divergence also considers how often each text uses a token: 0 means
    equally often, 1 means no shared token.
    """

    about = "the corpus"
    asks = "Do languages share tokens?"
    turn = 4
    needs = "texts if known"
    by_parts = True
    rests = True
    examples = """\
examples:
  bpe-explorer overlap merges.csv --parallel sentences/
      Compare the languages of a folder: a file for each (en.txt, de.txt).

  bpe-explorer overlap merges.csv --group en texts/en --group de texts/de --latex
      Compare groups of texts, and print a table for a paper.
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train({"en": "the low house", "de": "das Haus"}, "gpt2", merges=6)
        >>> bpe.overlap(study).columns["shared"].tolist()
        [2]
    """

    parallel: str = sentences_parameter("groups of the texts")
    at: int | None = steps_parameter()

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        at = study.inside.checked_step_count(self.at)
        history = study.history
        counts = {
            name: TokenizedWords.of(words, history.recipe, history, cancelled=work.cancelled).counts(at)
            for name, words in self._words(study, work).items()
        }
        pairs = [*combinations(counts, 2)]
        if not pairs:
            raise BpeError(TOO_FEW)
        columns = [(counts[name], counts[other]) for name, other in pairs]
        table = DataTable(
            {
                "text": [name for name, _ in pairs],
                "other": [other for _, other in pairs],
                "shared": np.array([np.count_nonzero((some > 0) & (others > 0)) for some, others in columns], np.int64),
                "either": np.array([np.count_nonzero(some + others) for some, others in columns], np.int64),
                "jaccard": np.array([jaccard(*both) for both in columns]),
                "jensen_shannon": np.array([jensen_shannon(*both) for both in columns]),
            }
        )
        nearest = int(np.argmin(table.columns["jensen_shannon"]))
        name, other = pairs[nearest]
        sentence = (
            f"{name} and {other} use the most similar tokens: they share {table.columns['shared'][nearest]:,} of "
            f"{count_text(table.columns['either'][nearest], 'token')}."
        )
        figure = replace(dots_chart(_in_both_orders(table), "jaccard"), title="Shared tokens", sentence=sentence)
        return Answer(table, (sentence,), figure, headings=HEADINGS)

    def texts_of(self, studies: Study) -> Mapping[str, Sequence[str]]:
        return parallel_texts(self.parallel) if self.parallel else {}

    def _words(self, study: Study, work: Work) -> Mapping[str, WordTable]:
        if self.parallel:
            recipe = study.history.recipe
            given = parallel_texts(self.parallel)
            return {name: texts_of(lines).words(recipe, work) for name, lines in given.items()}
        if study.texts is None:
            raise BpeError(TOO_FEW)
        return study.inside.parts(WHAT, work)


def _in_both_orders(table: DataTable) -> DataTable:
    """Return the table with each pair of languages in both orders, so that the dots of the chart form a square."""
    columns = table.columns
    both = {"tokenizer": [*columns["text"], *columns["other"]], "text": [*columns["other"], *columns["text"]]}
    return DataTable({**both, "jaccard": np.concatenate([columns["jaccard"], columns["jaccard"]])})
