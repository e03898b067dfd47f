"""The merge tree of a word: the tokens it is made of, down to its symbols."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_core.asking import Answer, Question, parameter
from bpe_core.errors import BpeError
from bpe_core.figures.from_table import tree_chart
from bpe_core.insight.merge_tree import parts_first
from bpe_core.insight.why import Why
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work

NO_MERGES = "Words have merge trees only where they are split by merges; not by this tokenizer."
FALLS_APART = "Words have no merge trees where tokens are dropped (tau): what was joined falls apart again."
MOST_SYMBOLS = 64  # symbols of a word whose every token is listed; of a longer one only its final tokens are


@dataclass(frozen=True)
class Tree(Question):
    """Show how a word is put together: each token, the symbols it covers, and its step."""

    follows_time = True

    text: str = parameter("", help="a text with the word", metavar="TEXT")
    byte: int = parameter(0, help="where in the text, in bytes (0)", metavar="N")
    at: int | None = parameter(None, help="after the first K steps (else after all)", metavar="K")

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        if not self.text:
            raise BpeError("Which word? Name it with --text, or a text that holds it, and with --byte its place there.")
        if not study.has_ranks:
            raise BpeError(NO_MERGES if study.history.recipe.tau is None else FALLS_APART)
        history = study.history
        at = study.checked_step_count(self.at)
        word = Why(self.text, history, allowed_special="all").word_at(self.byte, at)
        trees = word.trees(at)
        nodes = trees if len(word.symbols) > MOST_SYMBOLS else list(parts_first(trees))
        ranks = [node.rank for node in nodes]
        counts = history.columns.count if history.has_counts else None
        table = DataTable(
            {
                **study.columns([node.id for node in nodes]),
                "first_symbol": [node.start for node in nodes],
                "behind_symbol": [node.stop for node in nodes],
                "step": [None if rank is None else rank + 1 for rank in ranks],
                "count": [None if rank is None or counts is None else int(counts[rank]) for rank in ranks],
            }
        )
        return Answer.drawn(table, tree_chart(table))
