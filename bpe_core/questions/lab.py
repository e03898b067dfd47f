"""Up to four tokenizers side by side, at one size of their vocabularies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise

import numpy as np

from bpe_core.asking import Answer, Question, parameter
from bpe_core.figures.from_table import OF_LAB, lab_chart
from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted, shown
from bpe_core.insight.cut_words import CutWords, whose_words
from bpe_core.insight.side_by_side import DifferingWord, ParallelCuts, Vocabularies, differing_words, parallel_cuts
from bpe_core.measures.measures import MEASURES
from bpe_core.measures.size_curves import SizeCurves, measured_sizes
from bpe_core.questions.sizes import table_of_curves
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text

LETTERS = "ABCD"
AGREED, OWN = " | ", " ‖ "  # between two tokens: a cut of all, or of some
LISTED = 10
MEASURED = ("tokens", "tokens_per_pretoken", "bytes_per_token", "renyi_efficiency")


@dataclass(frozen=True)
class Lab(Question):
    """Put up to four tokenizers side by side at one size of their vocabularies.

    Texts are split into words by the first tokenizer. Without texts, the words of a run are taken.
    """

    needs = "texts if known"
    studies = (1, len(LETTERS))
    examples = f"""\
examples:
  bpe-explorer lab gpt2.csv unigram.json --size 4000 --text "the lowest price"
      The same text split by both with 4,000 tokens: what is joined has grown that far, what is dropped has shrunk that
      far. A double bar is a split that not all have.

  bpe-explorer lab a.csv b.csv c.csv --corpus book.txt
      Each as it is in its file: what their vocabularies have in common, how they compress the texts, and the words
      they split most differently, by how often these occur.

{MEASURES["renyi_efficiency"].formula}
"""

    size: int | None = parameter(None, help="of all vocabularies (else each as in its file)", metavar="N")
    text: str = parameter("", help="a text to split by all", metavar="TEXT")
    limit: int | None = parameter(
        None, help=f"compare the N words that are split most differently ({LISTED}; all with --words)", metavar="N"
    )
    words: bool = parameter(False, help="list the words that are split differently instead of the curves")
    measure: str = parameter("", help=f"draw one of {', '.join(OF_LAB)} (else all)", choices=OF_LAB)

    def answer(self, studies: Mapping[str, Study], work: Work = ALONE) -> Answer:
        histories = [study.history for study in studies.values()]
        at = [len(one) if self.size is None else one.step_of_size(self.size) for one in histories]
        sentences = [_size(*row) for row in zip(LETTERS, studies, histories, at, strict=False)]
        if self.text:
            sentences += _cut_text(self.text, studies, at)
        facts = {"tables": [_facts(*row, self.text) for row in zip(studies.items(), at, strict=True)]}
        sentences += _overlaps(histories, at)
        cuts = _cuts(studies, work)
        if not cuts:
            return Answer(DataTable({}), tuple(sentences), facts=facts)
        sizes = [np.array([one.vocabulary_size_at(step)]) for one, step in zip(histories, at, strict=True)]
        unknown = [_unknown(cut, step) for cut, step in zip(cuts, at, strict=True)]
        sentences += _measured([measured_sizes(cut, size) for cut, size in zip(cuts, sizes, strict=True)], unknown)
        most = self.limit or (len(cuts[0].words) if self.words else LISTED)
        words = differing_words(cuts, at, most)
        if len(cuts) > 1:
            sentences.append("Words that are split most differently:" if words else "All words are split alike.")
        both = zip(LETTERS, studies.values(), cuts, strict=False)
        curves = {
            letter: one.inside.once("curves", partial(measured_sizes, cut, work=work), cut) for letter, one, cut in both
        }
        table = table_of_curves(curves)
        figure = lab_chart(table, self.measure)
        if self.words:
            return Answer(_words_table(words, list(curves)), tuple(sentences), figure, facts=facts)
        sentences += map(_word, words)
        return Answer(table, tuple(sentences), figure, ("text", "vocabulary", *MEASURED), [], facts)


def _facts(named: tuple[str, Study], step: int, text: str) -> dict[str, object]:
    name, study = named
    size = study.history.vocabulary_size_at(step)
    return {"table": name, "step": step, "vocabulary": size, "ids": study.encode(text, at=step)}


def _words_table(found: Sequence[DifferingWord], names: Sequence[str]) -> DataTable:
    return DataTable(
        {
            "text": [shown(one.word) for one in found],
            "hex": [one.word.hex(" ") for one in found],
            "count": np.array([one.count for one in found], np.int64),
            "differing splits": np.array([one.places for one in found], np.int64),
            **{name: [one.shown_as_cut(place) for one in found] for place, name in enumerate(names)},
        }
    )


def _cuts(studies: Mapping[str, Study], work: Work) -> list[CutWords]:
    several = list(studies.values())
    named = next((place for place, one in enumerate(several) if one.texts and not one.inside.texts_are_own), None)
    place = whose_words([(one.inside.learned_from, one.history.recipe) for one in several]) if named is None else named
    if place is None:
        return []
    recipe = several[place].history.recipe
    words = several[place].inside.words("A comparison", work)
    cut = partial(CutWords.of, words, recipe, cancelled=work.cancelled)
    return [one.inside.once("split as another's", partial(cut, one.history), words) for one in several]


def _size(letter: str, name: str, history: History, step: int) -> str:
    steps = f" after step {step:,} of {len(history):,}" if len(history) else ""
    return f"{letter}  {name}: {history.vocabulary_size_at(step):,} tokens{steps}"


def _cut_text(text: str, studies: Mapping[str, Study], at: Sequence[int]) -> list[str]:
    several = zip(studies.values(), at, strict=True)
    tokens = [study.inside.by_index.tokenizer.segmentation(text).tokens(step) for study, step in several]
    cuts, data = parallel_cuts(tokens, len(text.encode())), text.encode()
    sentences = []
    if len(studies) > 1:
        places = len(cuts.stretches)
        found = count_text(places, "place") if places else "No place"
        sentences.append(f"{found} of the text {'is' if places < 2 else 'are'} split differently.")
    for index, (letter, study) in enumerate(zip(LETTERS, studies.values(), strict=False)):
        unknown = int(np.count_nonzero(tokens[index].ids == study.history.alphabet.unknown_id))
        unknown_text = f"  ({unknown:,} unknown)" if unknown else ""
        sentences.append(f"{letter} {len(tokens[index].spans()):>6,}  {_marked(data, cuts, index)}{unknown_text}")
    return sentences


def _marked(data: bytes, cuts: ParallelCuts, index: int) -> str:
    """Write a bar wherever this tokenizer cuts the text, a double one where not all do."""
    differing = set(cuts.differing.tolist())
    places = cuts.places[cuts.has[index]].tolist()
    parts = [shown(data[: places[0] if places else None])]
    for place, stop in pairwise([*places, len(data)]):
        parts += [OWN if place in differing else AGREED, shown(data[place:stop])]
    return "".join(parts)


def _overlaps(histories: Sequence[History], at: Sequence[int]) -> Iterator[str]:
    vocabularies = Vocabularies.of(histories)
    for one, other in combinations(range(len(histories)), 2):
        a, b, found = LETTERS[one], LETTERS[other], vocabularies.overlap(one, other, at)
        shares = f"{found.share_of_first:.1%} of {a}, {found.share_of_second:.1%} of {b}"
        yield f"{a} and {b}: {found.common:,} tokens in both, {shares}, Jaccard {found.jaccard:.3f}"


def _unknown(cut: CutWords, step: int) -> int:
    id = cut.history.alphabet.unknown_id
    return 0 if id is None else int(cut.counts(step)[id])


def _measured(found: Sequence[SizeCurves], unknown: Sequence[int]) -> list[str]:
    sentences = [f"{found[0].bytes:,} bytes, {found[0].words:,} pretokens:"]
    for letter, one, of_them in zip(LETTERS, found, unknown, strict=False):
        values = (one.tokens[0], one.tokens_per_pretoken[0], one.bytes_per_token[0], one.renyi_efficiency[0])
        named = zip(MEASURED, values, strict=True)
        sentences.append(
            f"{letter}  "
            + ", ".join(f"{MEASURES[name].shown(value)} {MEASURES[name].heading}" for name, value in named)
            + (f"; {of_them:,} of the tokens are unknown" if of_them else "")
        )
    return sentences


def _word(one: DifferingWord) -> str:
    cuts = "; ".join(f"{LETTERS[place]} {one.shown_as_cut(place, AGREED)}" for place in range(len(one.cut_by_each)))
    return f"{quoted(one.word)}, {count_text(one.count, 'time')}: {cuts}"
