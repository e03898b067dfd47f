"""The question that compares up to four tokenizers, for example at the same vocabulary size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise

import numpy as np

from bpe_core.asking import Answer, Question, parameter
from bpe_core.asking.shared import specials_parameter
from bpe_core.errors import BpeError
from bpe_core.figures.from_table import OF_LAB, lab_chart
from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted, shown
from bpe_core.insight.side_by_side import (
    DifferingWord,
    ParallelCuts,
    Vocabularies,
    differing_words,
    parallel_cuts,
    why_not_of_size,
)
from bpe_core.insight.tokenized_words import TokenizedWords, tokenizer_with_words
from bpe_core.measures.measures import MEASURES
from bpe_core.measures.size_curves import measured_sizes
from bpe_core.questions.sizes import table_of_curves
from bpe_core.segmenting.cutting import ALLOWED
from bpe_core.segmenting.segmentation import Tokens
from bpe_core.studies.study import Study
from bpe_core.support.arrays import Int64s
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text

LETTERS = "ABCD"
AGREED, OWN = " | ", " ‖ "  # the marks of a cut: by all tokenizers, or only by some
LISTED = 10
MEASURED = ("tokens", "tokens_per_pretoken", "bytes_per_token", "renyi_efficiency")


@dataclass(frozen=True)
class Lab(Question):
    """Compare up to four tokenizers at the same vocabulary size.

    Texts are split into words by the first tokenizer. If you give no texts, the words that one of the tokenizers was
    learned from are used.
    """

    about = "other tokenizers"
    asks = "How do four tokenizers split?"
    turn = 2
    needs = "texts if known"
    studies = (1, len(LETTERS))
    examples = f"""\
examples:
  bpe-explorer lab gpt2.csv unigram.json --size 4000 --text "the lowest price"
      Split the same text by both with 4,000 tokens: at the step where the vocabulary has this
      size. A double bar is a split that not all tokenizers have.

  bpe-explorer lab gpt2.csv unigram.json --text "the lowest price" --columns -o columns.csv
      Write the text in columns, one for each tokenizer. A row goes from one split that all tokenizers have to the
      next such split.

  bpe-explorer lab a.csv b.csv c.csv --corpus book.txt
      Compare the complete tokenizers: the tokens that they share, how they compress the texts, and the words
      that they split most differently, weighted by count.

{MEASURES["renyi_efficiency"].formula}
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> two = {"ours": study, "half": study.at(3)}
        >>> bpe.lab(two).sentences[0]
        'A  ours: 262 tokens after step 6 of 6'
    """

    size: int | None = parameter(
        None,
        help="the vocabulary size; tokenizers that cannot have this size are left out (default: the size of each "
        "tokenizer)",
        metavar="N",
        title="Vocabulary size",
        in_words={"": "the size of each"},
    )
    text: str = parameter("", help="a text to split by all tokenizers", metavar="TEXT")
    limit: int | None = parameter(
        None,
        help=f"list the N words that are split most differently (default: {LISTED}; all with --words)",
        metavar="N",
        title="Words listed",
        in_words={"": "10"},
        is_extra=True,
    )
    words: bool = parameter(
        False, help="list the words that are split differently, instead of the curves", title="List words"
    )
    measure: str = parameter(
        "",
        help=f"the measure to draw: {', '.join(OF_LAB)} (default: all)",
        choices=OF_LAB,
        in_words={"": "all measures"},
    )
    columns: bool = parameter(
        False, help="list the text with a column for each tokenizer, instead of the curves", title="Columns of the text"
    )
    specials: str = specials_parameter()

    def answer(self, studies: Mapping[str, Study], work: Work = ALONE) -> Answer:
        if self.columns and not self.text:
            raise BpeError("--columns lists the columns of a text: give the text with --text.")
        sides = [
            ComparedTokenizer.of(letter, *named, self.size)
            for letter, named in zip(LETTERS, studies.items(), strict=False)
        ]
        compared = [side for side in sides if not side.why_not]
        sentences = [side.in_words for side in sides]
        facts = {"tables": [_facts(side, self.text, self.specials) for side in sides]}
        letters = [side.letter for side in compared]
        if self.text:
            tokens = [side.tokens(self.text, self.specials) for side in compared]
            cuts_of_text = parallel_cuts(tokens, len(self.text.encode()))
            sentences += _cut_text(self.text, compared, tokens, cuts_of_text)
            if self.columns:
                return Answer(_columns_of_text(self.text, letters, cuts_of_text), tuple(sentences), facts=facts)
        if len(compared) > 1:
            sentences += _overlaps(compared, work)
        cuts = _split_words(sides, work)
        if not cuts:
            return Answer(DataTable({}), tuple(sentences), facts=facts)
        sentences += _measured(compared, cuts)
        most = self.limit or (len(cuts[sides[0].letter].words) if self.words else LISTED)
        at_size = [cuts[side.letter] for side in compared]
        words = differing_words(at_size, [side.step for side in compared], most) if compared else []
        if len(compared) > 1:
            sentences.append("Words that are split most differently:" if words else "All words are split the same way.")
        curves = {
            side.letter: side.study.inside.once(
                "curves", partial(measured_sizes, cuts[side.letter], work=work), cuts[side.letter]
            )
            for side in sides
        }
        table = table_of_curves(curves)
        figure = lab_chart(table, self.measure)
        if self.words:
            return Answer(_words_table(words, letters), tuple(sentences), figure, facts=facts)
        sentences += [_word(word, letters) for word in words]
        return Answer(table, tuple(sentences), figure, ("text", "vocabulary", *MEASURED), [], facts)


@dataclass(frozen=True)
class ComparedTokenizer:
    """A tokenizer in the comparison, and the step at which it is compared.

    At this step its vocabulary has the chosen size, unless `why_not` gives a reason. If no size is chosen, this is the
    last step.
    """

    letter: str
    name: str
    study: Study
    step: int
    why_not: str  # the reason why the tokenizer cannot have the common size

    @classmethod
    def of(cls, letter: str, name: str, study: Study, size: int | None) -> ComparedTokenizer:
        """Return a tokenizer at the step at which its vocabulary has this size.

        If `size` is None, the last step is used.
        """
        if size is None:
            return cls(letter, name, study, len(study.history), "")
        return cls(letter, name, study, study.history.step_of_size(size), why_not_of_size(study.history, size))

    @property
    def history(self) -> History:
        return self.study.history

    @property
    def size(self) -> int:
        return self.history.vocabulary_size_at(self.step)

    def tokens(self, text: str, specials: str) -> Tokens:
        tokenizer = self.study.inside.by_index.tokenizer
        return tokenizer.segmentation(text, allowed_special=ALLOWED[specials]).tokens(self.step)

    @property
    def in_words(self) -> str:
        if self.why_not:
            return f"{self.letter}  {self.name} {self.why_not}, so it is not compared."
        steps = f" after step {self.step:,} of {len(self.history):,}" if len(self.history) else ""
        return f"{self.letter}  {self.name}: {count_text(self.size, 'token')}{steps}"


def _facts(side: ComparedTokenizer, text: str, specials: str) -> dict[str, object]:
    tokenizer = side.study.inside.by_index.tokenizer
    indices = tokenizer.encode_to_array(text, at=side.step, allowed_special=ALLOWED[specials])
    ids = tokenizer.numbers(indices).tolist()
    facts: dict[str, object] = {"table": side.name, "step": side.step, "vocabulary": side.size, "ids": ids}
    return facts | ({"not_compared": side.why_not} if side.why_not else {})


def _words_table(words: Sequence[DifferingWord], names: Sequence[str]) -> DataTable:
    return DataTable(
        {
            "text": [shown(word.word) for word in words],
            "hex": [word.word.hex(" ") for word in words],
            "count": np.array([word.count for word in words], np.int64),
            "differing splits": np.array([word.places for word in words], np.int64),
            **{name: [word.with_bars(place) for word in words] for place, name in enumerate(names)},
        }
    )


def _split_words(sides: Sequence[ComparedTokenizer], work: Work) -> dict[str, TokenizedWords]:
    """Split the words of the texts by each tokenizer. Return an empty dictionary if the words are not available."""
    several = [side.study for side in sides]
    named = next((place for place, study in enumerate(several) if study.texts and not study.inside.texts_are_own), None)
    place = (
        tokenizer_with_words([(study.inside.learned_from, study.history.recipe) for study in several])
        if named is None
        else named
    )
    if place is None:
        return {}
    recipe = several[place].history.recipe
    words = several[place].inside.words("A comparison", work)
    cut = partial(TokenizedWords.of, words, recipe, cancelled=work.cancelled)
    return {
        side.letter: side.study.inside.once(("split as in another tokenizer"), partial(cut, side.history), words)
        for side in sides
    }


def _cut_text(text: str, sides: Sequence[ComparedTokenizer], tokens: Sequence[Tokens], cuts: ParallelCuts) -> list[str]:
    data = text.encode()
    sentences = []
    if len(sides) > 1:
        places = len(cuts.stretches)
        said = count_text(places, "place") if places else "No place"
        sentences.append(f"{said} of the text {'is' if places < 2 else 'are'} split differently.")
    for index, (side, its_tokens) in enumerate(zip(sides, tokens, strict=True)):
        unknown = int(np.count_nonzero(its_tokens.ids == side.history.alphabet.unknown_id))
        unknown_text = f"  ({unknown:,} unknown)" if unknown else ""
        sentences.append(f"{side.letter} {len(its_tokens.spans()):>6,}  {_with_bars(data, cuts, index)}{unknown_text}")
    return sentences


def _with_bars(data: bytes, cuts: ParallelCuts, index: int) -> str:
    """Return a text with a bar at each boundary between tokens.

    The bar is double at a boundary that only some tokenizers of the comparison have.
    """
    differing = set(cuts.differing.tolist())
    places = cuts.places[cuts.has[index]].tolist()
    parts = [shown(data[: places[0] if places else None])]
    for place, stop in pairwise([*places, len(data)]):
        parts += [OWN if place in differing else AGREED, shown(data[place:stop])]
    return "".join(parts)


def _columns_of_text(text: str, letters: Sequence[str], cuts: ParallelCuts) -> DataTable:
    """Return a table with a row for each range of the text between two neighbouring common boundaries.

    A common boundary is a boundary that all tokenizers have.
    """
    data = text.encode()
    agreed = cuts.places[cuts.is_agreed].tolist()
    ranges = [*pairwise([0, *agreed, len(data)])] if data else []
    own = dict(zip(letters, cuts.own, strict=True))
    return DataTable(
        {
            "start": np.array([start for start, _ in ranges], np.int64),
            "text": [shown(data[start:stop]) for start, stop in ranges],
            **{letter: [_split_at(data, own[letter], start, stop) for start, stop in ranges] for letter in letters},
        }
    )


def _split_at(data: bytes, places: Int64s, start: int, stop: int) -> str:
    """Return a range of a text, with a bar at each of the offsets in `places` that lie inside the range."""
    first, last = np.searchsorted(places, (start, stop))
    edges = [start, *places[first:last].tolist(), stop]
    return "|".join(shown(data[left:right]) for left, right in pairwise(edges))


def _overlaps(sides: Sequence[ComparedTokenizer], work: Work) -> Iterator[str]:
    vocabularies = Vocabularies.of([side.history for side in sides], cancelled=work.cancelled)
    at = [side.step for side in sides]
    for first, other in combinations(range(len(sides)), 2):
        a = sides[first].letter
        b = sides[other].letter
        both = vocabularies.overlap(first, other, at)
        shares = f"{both.share_of_first:.1%} of {a}, {both.share_of_second:.1%} of {b}"
        yield f"{a} and {b}: {count_text(both.common, 'shared token')}, {shares}, Jaccard {both.jaccard:.3f}"


def _measured(sides: Sequence[ComparedTokenizer], cuts: Mapping[str, TokenizedWords]) -> Iterator[str]:
    for side in sides:
        curves = measured_sizes(cuts[side.letter], np.array([side.size]))
        if side is sides[0]:
            yield f"{count_text(curves.bytes, 'byte')}, {count_text(curves.words, 'pretoken')}:"
        values = [(MEASURES[name], getattr(curves, name)[0]) for name in MEASURED]
        said = ", ".join(f"{measure.shown(value)} {measure.heading}" for measure, value in values)
        unknown = int(curves.unknown[0])
        yield f"{side.letter}  {said}" + (f"; {unknown:,} of the tokens are unknown" if unknown else "")


def _word(word: DifferingWord, letters: Sequence[str]) -> str:
    cuts = "; ".join(f"{letter} {word.with_bars(place, AGREED)}" for place, letter in enumerate(letters))
    return f"{quoted(word.word)}, {count_text(word.count, 'time')}: {cuts}"
