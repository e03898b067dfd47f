"""A question about how good a vocabulary of a size can be: a floor that none can fall below, and the best found."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

import numpy as np

from bpe_core.asking import Answer, Question, parameter
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, SizeDoesNotFit
from bpe_core.figures.figure import Line, LineFigure
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.insight.cut_words import CutWords
from bpe_core.insight.learned_beside import learned_beside
from bpe_core.insight.ways_of_corpus import fewest_tokens
from bpe_core.methods.kit.floor.certificate import certificate
from bpe_core.methods.kit.floor.lattice import Lattice
from bpe_core.methods.kit.floor.prices import Floor as Proof
from bpe_core.methods.kit.floor.search import Budget, Guess, Moment, Search
from bpe_core.methods.registry import METHODS, USUAL
from bpe_core.studies.study import Study
from bpe_core.studies.texts import Texts
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Progress, Work

WHAT = "How good a vocabulary could be"
LEAST_SECONDS = 0.1
Column = Sequence[int | None]  # of each size
BETWEEN_ANSWERS = 0.1  # seconds
ROUNDS, SWAPS = 10_000, 1_000  # after which a longer search finds hardly anything
DONE = 1_000  # of a search, as progress counts it
HELD_OUT = (
    "If your vocabulary was learned from other texts, a part of the distance is what nobody could know before. The "
    "floor and all else here were made for these."
)
JOINING = METHODS[USUAL].title.lower()
NAMES = {USUAL: JOINING, "own": "yours", "own_fewest": "yours, split into the fewest"}  # others by their titles


@dataclass
class Found:
    size: int
    proof: Proof
    best: int  # tokens
    joined: int  # tokens by the usual method
    moments: Sequence[Moment]
    others: int  # tokens for what the alphabet lacks

    @property
    def floor(self) -> int:
        return self.proof.tokens + self.others

    @property
    def gap(self) -> float:
        return self.best / max(1, self.floor) - 1


@dataclass(frozen=True)
class Floor(Question):
    """Show how good a vocabulary of a size could be: between a proven floor and the best one that was found.

    No vocabulary of that size, however it is found, and no way to split by it needs fewer tokens than the floor for
    these texts, split into these words. It holds for tokens of at most as many symbols as are said.
    """

    about_texts: ClassVar[bool] = True
    needs = "texts"
    rests = True
    axis = "size"
    examples = """\
examples:
  bpe-explorer floor book.txt --preset gpt2 --sizes 756 8256 --json
      Two sizes, which count bytes and tokens: the floor, the best found, and how far they are apart.

  bpe-explorer floor book.txt --merges merges.csv --seconds 60
      How much better a table of the same size could be, at most, than this one.

  bpe-explorer floor book.txt --sizes 1256 --certificate --json > floor.json
  bpe-explorer verify floor.json
      With the prices that prove the floor; `verify` adds them up by plain code.
"""

    sizes: tuple[int, ...] = parameter((), help="of the vocabulary (else that of the table)", metavar="N")
    max_length: int = parameter(16, help="symbols of a token, at most", metavar="N")
    seconds: float = parameter(30.0, help="to search, for all sizes together", metavar="S")
    alone: bool = parameter(False, help="without what Unigram and MinGram reach", title="Without others")
    held_out: Texts | None = parameter(
        None, help="texts that were not learned from, in the place of those", metavar="FILE"
    )
    certificate: bool = parameter(False, help="with --json, the prices that prove each floor", in_json_only=True)

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        if not self.seconds >= LEAST_SECONDS:
            raise BpeError(f"A search takes at least {LEAST_SECONDS} seconds.")
        study = study if self.held_out is None else study.with_texts(self.held_out)
        words, history = study.words(WHAT, work), study.history
        alphabet, sizes = Alphabet.for_words(words, history.recipe), self._checked_sizes(words, history)
        fixed = len(alphabet) + len(history.recipe.special_tokens)
        if sizes[0] < fixed:
            raise SizeDoesNotFit(
                f"A vocabulary of {sizes[0]:,} has no room for the {fixed:,} tokens that there always are.",
                f"Choose at least {fixed:,}.",
                fixed,
            )
        own, own_fewest = _own(study, words, sizes, work)
        mine = {"own": own, "own_fewest": own_fewest} if len(history) else {}
        said = [f"That is so for tokens of at most {self.max_length:,} symbols, in these words."]
        if _may_be_from_elsewhere(study, sizes, own):
            said.append(HELD_OUT)
        work.progress(Progress("laying out the pieces", 0, None, ""))
        recipe, pieces = history.recipe, [size - fixed for size in sizes]
        guess = Guess.of(words, recipe, pieces[-1], self.max_length, work)
        limit = guess.worth(pieces[-1]) // 2
        lattice = Lattice.of(words, alphabet, recipe, longest=self.max_length, limit=limit, work=work)
        found, shown = list[Found](), 0.0
        for done, found in self._search(lattice, guess, sizes, fixed):
            work.check()
            if time.monotonic() - shown >= BETWEEN_ANSWERS:
                shown, so_far = time.monotonic(), _answered(found, {}, mine, said, is_over=False)
                now = f"size {found[0].size:,}: floor {found[0].floor:,}, best {found[0].best:,},"
                work.progress(Progress(now, done, DONE * len(sizes), "", so_far=so_far))
        beside: Mapping[str, Column] = {}
        if not self.alone:
            so_far = _answered(found, {}, mine, said, is_over=False)
            work.progress(Progress("learning by other methods", 0, None, "", so_far=so_far))
            beside = learned_beside(words, recipe, pieces, self.max_length, work)
        answer = _answered(found, beside, mine, said)
        if not self.certificate:
            return answer
        return replace(answer, facts={"certificate": certificate(lattice, [(one.size, one.proof) for one in found])})

    def _checked_sizes(self, words: WordTable, history: History) -> list[int]:
        """Return the sizes asked about, in their order."""
        if not len(words):
            raise BpeError("There are no words in these texts, so there is no floor.")
        sizes = sorted(set(self.sizes)) or ([history.vocabulary_size] if len(history) else [])
        if not sizes:
            raise BpeError("Say which sizes of the vocabulary are meant: --sizes 8256.")
        return sizes

    def _search(
        self, lattice: Lattice, guess: Guess, sizes: Sequence[int], fixed: int
    ) -> Iterator[tuple[int, list[Found]]]:
        """Yield how much is done, and what is known by then of the largest sizes.

        Prices of a larger vocabulary are a good beginning for a smaller one.
        """
        found, warm, others = list[Found](), None, lattice.other_tokens
        for number, size in enumerate(reversed(sizes)):
            wanted = size - fixed
            search = Search(lattice, wanted, guess, Budget(ROUNDS, SWAPS, self.seconds / len(sizes)), warm)
            joined = guess.upper(wanted, lattice.symbols)
            for share in chain(search.steps(), [1.0]):
                best = min(search.best.tokens, joined) + others
                now = Found(size, search.floor, best, joined + others, search.moments, others)
                yield int(DONE * (number + share)), [now, *found]
            found.insert(0, now)
            warm = search.floor.prices


def _answered(
    found: Sequence[Found],
    beside: Mapping[str, Column],
    mine: Mapping[str, Column],
    said: Sequence[str],
    *,
    is_over: bool = True,
) -> Answer:
    beside = {USUAL: [one.joined for one in found], **beside}
    columns = {name: column[-len(found) :] for name, column in {**beside, **mine}.items()}
    for row, one in enumerate(found):
        reached = (column[row] for column in columns.values())
        one.best = min(one.best, *(tokens for tokens in reached if tokens is not None and tokens >= one.floor))
    own = [columns[name] if name in columns else [None] * len(found) for name in ("own", "own_fewest")]
    sentences = [_told(one, *known) for one, *known in zip(found, *own, strict=True)]
    table = DataTable(
        {
            "size": [one.size for one in found],
            "floor": [one.floor for one in found],
            "best": [one.best for one in found],
            "gap": [one.gap for one in found],
            **columns,
        }
    )
    if is_over and len(found) > 1:
        return Answer(table, (*sentences, *said), _over_sizes(found, columns, sentences[-1]))
    return Answer(table, (*sentences, *said), _meeting(found[0], sentences[0]), on_axis=False)


def _own(study: Study, words: WordTable, sizes: Sequence[int], work: Work) -> tuple[Column, Column]:
    """Return the tokens by the table of each size: as it cuts the words, and as few as its vocabulary allows."""
    history = study.history
    first, last = sorted((history.vocabulary_size_at(0), history.vocabulary_size))
    steps = {size: history.step_of_size(size) for size in sizes if len(history) and first <= size <= last}
    if not steps:
        return [None for _ in sizes], [None for _ in sizes]
    cut = CutWords.of(words, history.recipe, history, cancelled=work.cancelled)
    fewest = dict(zip(steps, fewest_tokens(words, history, [*steps.values()]), strict=True))
    own = {size: int(cut.counts(at).sum()) for size, at in steps.items()}
    return [*map(own.get, sizes)], [*map(fewest.get, sizes)]


def _may_be_from_elsewhere(study: Study, sizes: Sequence[int], own: Column) -> bool:
    """Return whether a table may come from other texts, as these have another number of tokens than it says."""
    history = study.history
    known = [(history.step_of_size(size), tokens) for size, tokens in zip(sizes, own, strict=True) if tokens]
    is_same = history.has_counts and all(int(history.tokens_after[at]) == tokens for at, tokens in known)
    return bool(known) and not (study.texts_are_own or is_same)


def _told(one: Found, own: int | None, fewest: int | None) -> str:
    between = "the best possible is " + (
        f"between {one.floor:,} and {one.best:,}" if one.floor < one.best else f"{one.best:,}, which is reached"
    )
    whose, tokens = (f"{JOINING}'s", one.joined) if own is None else ("yours", own)
    better = max(0.0, 1 - one.floor / max(1, tokens))
    at_most = "at most " if one.floor < one.best else ""
    told = f"{one.size:,} in the vocabulary: {whose} {tokens:,} tokens; {between}: {at_most}{better:.1%} better."
    if own is None or fewest is None or fewest >= own:
        return told
    return f"{told} Split into the fewest tokens, your vocabulary needs {fewest:,}."


def _over_sizes(found: Sequence[Found], beside: Mapping[str, Column], sentence: str) -> LineFigure:
    """Draw what is best possible at each size, with the range from floor to best shaded."""
    sizes, floors, bests = np.array([(it.size, it.floor, it.best) for it in found], float).T
    lines = [Line("best possible", sizes, bests, band=(floors, bests))]
    for name, column in beside.items():
        known = [(size, tokens) for size, tokens in zip(sizes, column, strict=True) if tokens is not None]
        lines += [Line(NAMES.get(name) or METHODS[name].title, *np.array(known, float).T)] if known else []
    return _of_lines("What any vocabulary can reach.", sentence, lines, "Tokens in the vocabulary", is_log=True)


def _meeting(one: Found, sentence: str) -> LineFigure:
    """Draw how the floor and the best found approach each other over time."""
    seconds, floors, bests = np.array([(it.seconds, it.floor, it.best) for it in one.moments], float).T
    reached = np.minimum(bests + one.others, one.joined)
    lines = [Line("best found", seconds, reached), Line("floor", seconds, floors + one.others)]
    return _of_lines(f"Floor and best for a vocabulary of {one.size:,}.", sentence, lines, "Seconds")


def _of_lines(title: str, sentence: str, lines: list[Line], along: str, *, is_log: bool = False) -> LineFigure:
    lowest = min(float(line.heights.min()) for line in lines)
    return LineFigure("floor", title, sentence, lines, along, "Tokens of the texts", is_log_x=is_log, first_y=lowest)
