"""The question `palindromes`. It asks which tokens read the same from both ends."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_core.asking import Answer, Question, parameter
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work


@dataclass(frozen=True)
class Palindromes(Question):
    """List the tokens that read the same from both ends."""

    least: int = parameter(2, help="of at least N characters", metavar="N")

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        texts = [study.inside.by_index.texts.text[id] for id in study.history.vocabulary]
        palindromes = sorted({text for text in texts if len(text) >= self.least and text == text[::-1]})
        return Answer(
            DataTable({"token_text": palindromes}), (f"{len(palindromes)} tokens read the same from both ends.",)
        )
