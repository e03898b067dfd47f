"""The question `why`. It asks why a text is split at a boundary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bpe_core.asking import Answer, Question, parameter
from bpe_core.asking.shared import specials_parameter, steps_parameter
from bpe_core.history.token_texts import shown
from bpe_core.insight.explanation import explain
from bpe_core.methods.kit.explanation import UNKNOWN, Way
from bpe_core.segmenting.cutting import ALLOWED
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work

TAKEN = ("taken", "overlap")  # kinds of reasons whose second step took a token before
AROUND = 12  # bytes shown before and after a boundary

NOWHERE = "This text is not split."


@dataclass(frozen=True)
class Why(Question):
    """Show why a text is split where it is.

    Each boundary between two bytes has one reason. The reasons are the pattern, a pair that was never learned, a merge
    that comes later, and an earlier merge that took one of the tokens.
    """

    about = "this place"
    asks = "Why is it split here?"
    turn = 1
    needs = "texts if known"
    follows_time = True
    examples = """\
examples:
  bpe-explorer why "the lowest price" --merges merges.csv
      Show a line for each place where the text is split: the two tokens there, and why they are not merged.

  bpe-explorer why newer --merges merges.csv --at 500 --corpus book.txt
      With the corpus, show also how often the two tokens occurred next to each other.

  bpe-explorer why newer --merges merges.csv --steps
      Show how the text is encoded, merge by merge.
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.why(study, "lowest").columns["kind"]
        ['never', 'never', 'never']
    """

    text: str = parameter(help="the text (default: standard input)", metavar="TEXT", positional=True, from_input=True)
    at: int | None = steps_parameter()
    all: bool = parameter(False, help="include the boundaries that merges have removed")
    allow_special: bool = parameter(False, help="the same as --specials all")
    specials: str = specials_parameter()
    steps: bool = parameter(False, help="show how each word is encoded, merge by merge")

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        at = study.inside.checked_step_count(self.at)
        data = self.text.encode()
        allowed = ALLOWED["all" if self.allow_special else self.specials]
        is_counted = study.texts is not None and study.inside.has_ranks
        corpus = study.inside.ranked("Why a text is split", work) if is_counted else None
        explained = explain(self.text, study.history, allowed, corpus)
        of_symbols = bool(study.history.recipe.base_symbols)  # people see no bytes of such a symbol
        starts = (byte for byte in range(1, len(data)) if not of_symbols or data[byte] & 0xC0 != 0x80)
        places = ((byte, explained.explanation_at(byte, at)) for byte in starts)
        boundaries = [
            (byte, boundary) for byte, boundary in places if boundary.is_cut or boundary.kind in UNKNOWN or self.all
        ]
        sentences: list[str] = []
        if self.steps:
            ways = dict.fromkeys(
                way for _, boundary in boundaries for way in boundary.ways
            )  # all boundaries of a word share a way
            sentences += _lines([*explained.encoding(at)] or ways)
        if not boundaries:
            sentences.append(NOWHERE)
        table = DataTable(
            {
                "byte": [byte for byte, _ in boundaries],
                "is_cut": [boundary.is_cut for _, boundary in boundaries],
                "before": [shown(data[:byte][-AROUND:]) for byte, _ in boundaries],
                "after": [shown(data[byte:][:AROUND]) for byte, _ in boundaries],
                "kind": [boundary.kind for _, boundary in boundaries],
                "reason": [boundary.sentence for _, boundary in boundaries],
                "step": [next(iter(boundary.steps), None) for _, boundary in boundaries],
                "taken_by": [
                    next(iter(boundary.steps[1:]), None) if boundary.kind in TAKEN else None
                    for _, boundary in boundaries
                ],
            }
        )
        return Answer(table, tuple(sentences), listed=("before", "after", "reason"))


def _lines(ways: Iterable[Way]) -> Iterator[str]:
    for way in ways:
        pieces = " | ".join(f"{piece.text} {piece.number}".rstrip() for piece in way.pieces)
        yield f"{way.title:>18}  {pieces}" + (f" = {way.total}" if way.total else "")
