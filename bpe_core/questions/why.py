"""Why is this text cut here?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bpe_core.asking import Answer, Question, parameter
from bpe_core.history.token_texts import shown
from bpe_core.insight.explanation import explain
from bpe_core.insight.reasons import UNKNOWN
from bpe_core.insight.why import Why as Boundaries
from bpe_core.insight.why import sentence
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work

AROUND = 12  # bytes before and after a place
Place = tuple[int, str, bool, str, tuple[int, ...]]  # byte, kind, whether it is cut, reason, steps


@dataclass(frozen=True)
class Why(Question):
    """Show why a text is cut where it is.

    Each place between two bytes has one reason: the pattern, a pair that was never learned, a merge that comes later,
    or one that took a token before.
    """

    needs = "texts if known"
    follows_time = True
    examples = """\
examples:
  bpe-explorer why "the lowest price" --merges merges.csv
      One line for each place where the text is cut: which tokens meet there, and why they stay apart.

  bpe-explorer why newer --merges merges.csv --at 500 --corpus book.txt
      With the corpus at hand, also how often the two occurred side by side.

  bpe-explorer why newer --merges merges.csv --steps
      The encoding of the text, merge by merge.
"""

    text: str = parameter(
        help="the text; if left out, standard input", metavar="TEXT", positional=True, from_input=True
    )
    at: int | None = parameter(None, help="after the first K steps (else after all)", metavar="K")
    all: bool = parameter(False, help="include the boundaries that merges have dissolved")
    allow_special: bool = parameter(False, help="special tokens in the text stand for themselves")
    steps: bool = parameter(False, help="show how each word is encoded, merge by merge")

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        at, data = study.checked_step_count(self.at), self.text.encode()
        found, sentences = self._by_ranks(study, at, work) if study.has_ranks else self._explained(study, at)
        before = [shown(data[:byte][-AROUND:]) for byte, *_ in found]
        after = [shown(data[byte:][:AROUND]) for byte, *_ in found]
        table = DataTable(
            {
                "byte": [byte for byte, *_ in found],
                "is_cut": [is_cut for _, _, is_cut, _, _ in found],
                "before": before,
                "after": after,
                "kind": [kind for _, kind, *_ in found],
                "reason": [reason for *_, reason, _ in found],
                "step": [next(iter(steps), None) for *_, steps in found],
                "taken_by": [steps[1] if len(steps) > 1 else None for *_, steps in found],
            }
        )
        return Answer(table, tuple(sentences), listed=("before", "after", "reason"))

    def _by_ranks(self, study: Study, at: int, work: Work) -> tuple[list[Place], list[str]]:
        corpus = None if study.texts is None else study.ranked("Why a text is cut", work)
        names = study.names.text.__getitem__
        allowed = "all" if self.allow_special else ()
        asked = Boundaries(self.text, study.history, corpus=corpus, allowed_special=allowed)
        reasons = [(byte, asked.at_byte(byte, at)) for byte in range(1, len(self.text.encode()))]
        places: list[Place] = [
            (byte, one.kind, one.kind not in ("joined", "symbol"), sentence(one, names), one.steps)
            for byte, one in reasons
        ]
        steps = list(self._encoding(asked, at, study)) if self.steps else []
        return [place for place in places if self.all or place[2]], steps

    def _encoding(self, asked: Boundaries, at: int, study: Study) -> Iterator[str]:
        byte, length = 0, len(self.text.encode())
        while byte < length:
            word = asked.word_at(byte)
            for step in word.steps(at):
                made = "before any merge" if step.rank is None else f"merge {step.rank + 1:,}"
                yield f"{made:>18}  {' | '.join(study.names.text[token.id] for token in step.tokens)}"
            byte = max(byte + 1, word.stop)

    def _explained(self, study: Study, at: int) -> tuple[list[Place], list[str]]:
        at_byte = explain(self.text, study.history, "all" if self.allow_special else ())
        found = [(byte, at_byte(byte, at)) for byte in range(1, len(self.text.encode()))]
        listed = [(byte, one) for byte, one in found if one.is_cut or one.kind in UNKNOWN or self.all]
        ways = [way for _, one in listed for way in (one.ways if self.steps else ())]
        sentences = [
            f"{way.title:>18}  {' | '.join(f'{piece.text} {piece.number}'.rstrip() for piece in way.pieces)}"
            f"{f' = {way.total}' if way.total else ''}"
            for way in ways
        ]
        return [(byte, one.kind, one.is_cut, one.sentence, tuple(one.steps)) for byte, one in listed], sentences
