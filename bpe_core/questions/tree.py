"""The merge tree of a word: the tokens it is made of, down to its symbols."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_core.asking import Answer, Question, parameter
from bpe_core.asking.shared import after_steps, spelled_specials
from bpe_core.errors import BpeError
from bpe_core.figures.from_table import tree_chart
from bpe_core.insight.merge_tree import Piece, parts_first, pieces_of
from bpe_core.methods.boundless.explain import LONGEST_FOLLOWED, WhyDropping
from bpe_core.methods.bpe.explain import Why
from bpe_core.segmenting.cutting import ALLOWED
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work

NO_MERGES = "Words have merge trees only where they are split by merges; not by this tokenizer."
NO_WORD = "No word is at this place of the text. Name another one with --byte."
TOO_LONG = (
    f"Where tokens are dropped, only words of at most {LONGEST_FOLLOWED} bytes have trees, and this one is longer."
)
MOST_SYMBOLS = 64  # symbols of a word whose every token is listed; of a longer one only its final tokens are


@dataclass(frozen=True)
class Tree(Question):
    """Show how a word is put together: each token, the symbols it covers, and its step."""

    follows_time = True

    text: str = parameter("", help="a text with the word", metavar="TEXT")
    byte: int = parameter(0, help="where in the text, in bytes (0)", metavar="N")
    at: int | None = after_steps()
    specials: str = spelled_specials()

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        if not self.text:
            raise BpeError("Which word? Name it with --text, or a text that holds it, and with --byte its place there.")
        at = study.checked_step_count(self.at)
        pieces = self._joined(study, at) if study.has_ranks else self._followed(study, at)
        table = DataTable(
            {
                **study.by_index.columns([one.id for one in pieces]),
                "first_symbol": [one.start for one in pieces],
                "behind_symbol": [one.stop for one in pieces],
                "step": [one.step or None for one in pieces],
                "count": [one.times_joined(study.history) for one in pieces],
                **({} if study.has_ranks else {"falls_apart": [_fall(one, at) for one in pieces]}),
            }
        )
        return Answer.drawn(table, tree_chart(table))

    def _joined(self, study: Study, at: int) -> list[Piece]:
        word = Why(self.text, study.history, allowed_special=ALLOWED[self.specials]).word_at(self.byte, at)
        trees = word.trees(at)
        return pieces_of(trees if len(word.symbols) > MOST_SYMBOLS else parts_first(trees))

    def _followed(self, study: Study, at: int) -> list[Piece]:
        """Return what was there by then, also what fell apart again."""
        if study.history.recipe.tau is None:
            raise BpeError(NO_MERGES)
        why = WhyDropping(self.text, study.history, ALLOWED[self.specials])
        word = why.word_at(self.byte)
        if word is None:
            raise BpeError(NO_WORD)
        if (followed := why.followed(word)) is None:
            raise BpeError(TOO_LONG)
        return [one for one in followed.pieces if one.step <= at]


def _fall(piece: Piece, at: int) -> int | None:
    return None if piece.is_there(at) else piece.until
