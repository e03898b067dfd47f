"""The question `tree`. It asks how a word is merged from its symbols, and shows the word's merge tree."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bpe_core.asking import Answer, Question, parameter
from bpe_core.asking.shared import specials_parameter, steps_parameter
from bpe_core.errors import BpeError
from bpe_core.figures.from_table import tree_chart
from bpe_core.insight.explanation import explain
from bpe_core.methods.kit.merge_tree import Piece
from bpe_core.segmenting.cutting import ALLOWED
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work

MOST_SYMBOLS = 64  # symbols of a word whose tokens are all listed; of a longer word, only the final tokens


@dataclass(frozen=True)
class Tree(Question):
    """Show how a word is merged: each token, the symbols it covers, and the step that makes it."""

    about = "this place"
    asks = "How is a word put together?"
    turn = 2
    follows_time = True
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.tree(study, "lowest").columns["text"]
        ['l', 'o', 'lo', 'w', 'e', 'we', 's', 't']
    """

    text: str = parameter("", help="a text that holds the word", metavar="TEXT")
    byte: int = parameter(0, help="the place in the text, in bytes (default: 0)", metavar="N")
    at: int | None = steps_parameter()
    specials: str = specials_parameter()

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        if not self.text:
            raise BpeError(
                "Name a word with --text. If the word is in a longer text, name this text with --text, and the place "
                "of the word in the text with --byte."
            )
        at = study.inside.checked_step_count(self.at)
        word = explain(self.text, study.history, ALLOWED[self.specials]).word_at(self.byte, at)
        is_short = word.falls_apart or len(word.symbols) <= MOST_SYMBOLS
        pieces = word.pieces(at) if is_short else word.tokens(at)
        table = DataTable(
            {
                **study.inside.by_index.columns([piece.id for piece in pieces]),
                "first_symbol": [piece.start for piece in pieces],
                "behind_symbol": [piece.stop for piece in pieces],
                "step": [piece.step or None for piece in pieces],
                "count": [piece.times_joined(study.history) for piece in pieces],
                **({"falls_apart": [_last_step(piece, at) for piece in pieces]} if word.falls_apart else {}),
            }
        )
        return replace(Answer.drawn(table, tree_chart(table)), headings={"text": "token"})


def _last_step(piece: Piece, at: int) -> int | None:
    return None if piece.is_there(at) else piece.until
