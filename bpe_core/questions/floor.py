"""The question `floor`. It asks how few tokens are possible with a given vocabulary size.

The answer has a proven lower bound, and the best vocabulary that was found.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

import numpy as np

from bpe_core.asking import Answer, Question, parameter
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, Cancelled, SizeDoesNotFit, TooLarge
from bpe_core.figures.figure import Line, LineFigure
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.insight.other_methods import OtherResult, other_methods_results
from bpe_core.insight.tokenized_words import TokenizedWords
from bpe_core.insight.ways_of_corpus import fewest_tokens
from bpe_core.insight.witnesses import FloorTask
from bpe_core.insight.word_lattice import token_symbols
from bpe_core.kernels.readiness import need_machine_code
from bpe_core.kernels.stored_code import PRICING
from bpe_core.methods.kit.floor.certificate import certificate
from bpe_core.methods.kit.floor.lattice import LONGEST, SLICE, Lattice
from bpe_core.methods.kit.floor.prices import Floor as Proof
from bpe_core.methods.kit.floor.search import Budget, Guess, Moment, Search
from bpe_core.methods.kit.floor.witness import Witness
from bpe_core.methods.registry import METHODS, USUAL
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.study import Study
from bpe_core.studies.texts import Texts
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Progress, Work
from bpe_core.support.wording import count_text

WHAT = "The floor of a vocabulary size"
LEAST_SECONDS = 0.1
SECONDS_FOR_OTHERS = 10.0  # at least, for each other method
Column = Sequence[int | None]  # a value for each size
BETWEEN_ANSWERS = 0.1  # seconds
USUAL_LONGEST = 16  # symbols of a token
FEW_ROUNDS = 300
ROUNDS, SWAPS = 10_000, 1_000  # a longer search finds hardly anything
DONE = 1_000  # the whole of a search in units of progress
HELD_OUT = (
    "If your vocabulary was learned from other texts, a part of the distance is unavoidable, because the "
    "floor and the other vocabularies here were made for exactly these texts."
)
JOINING = METHODS[USUAL].title.lower()
NAMES = {USUAL: JOINING, "own": "yours", "own_fewest": "yours, split into the fewest tokens"}  # others by title


@dataclass
class FloorResult:
    size: int
    proof: Proof
    best: int  # tokens
    joined: int  # tokens by byte-pair encoding
    moments: Sequence[Moment]
    others: int  # tokens for unknown characters
    rounds: int
    swaps: int
    witness: Witness | None = None  # a vocabulary that reaches the best number; known after the search

    @property
    def floor(self) -> int:
        return self.proof.tokens + self.others

    @property
    def gap(self) -> float:
        return self.best / max(1, self.floor) - 1


@dataclass(frozen=True)
class Floor(Question):
    """Show how good a vocabulary of a given size could be: its floor, and the best vocabulary found.

    The floor is a proven number of tokens. No vocabulary of the given size needs fewer tokens for the words of these
    texts, however it splits the words. The floor holds for tokens with at most a certain number of symbols. The answer
    shows this number.
    """

    about = "the vocabulary"
    asks = "How good could it be?"
    turn = 1
    about_texts: ClassVar[bool] = True
    needs = "texts"
    rests = True
    steady_with = "rounds"
    axis = "size"
    examples = """\
examples:
  bpe-explorer floor book.txt --preset gpt2 --sizes 756 8256 --json
      Show two vocabulary sizes: the floor, the best vocabulary found, and the gap between them.

  bpe-explorer floor book.txt --merges merges.csv --seconds 60
      Show how much better than this table a table of the same size could be, at most.

  bpe-explorer floor book.txt --sizes 1256 --certificate --json > floor.json
  bpe-explorer verify floor.json
      Write the prices that prove the floor, and the best vocabulary; `verify` checks both with plain code.
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.floor(study, rounds=5).columns["floor"]
        [7]
    """

    sizes: tuple[int, ...] = parameter(
        (),
        help="vocabulary sizes (default: the size of the table)",
        metavar="N",
        title="Vocabulary sizes",
        in_words={"": "the size of the table"},
    )
    max_length: int | None = parameter(
        None,
        help="the largest number of symbols in a token (default: 16, or the longest token of the table)",
        metavar="N",
        title="Longest token",
        in_words={"": "16, or the longest token of the table"},
        is_extra=True,
    )
    seconds: float = parameter(
        30.0,
        help="seconds of search, for all sizes together and with the preparation",
        metavar="S",
        title="Seconds of search",
    )
    rounds: int | None = parameter(
        None,
        help="search each size for N rounds, however long they take; the result is then the same on every machine",
        metavar="N",
        title="Rounds of search",
        in_words={"": "as many as the time allows"},
        is_extra=True,
    )
    alone: bool = parameter(
        False, help="leave out the results of other methods", title="Without other methods", is_extra=True
    )
    held_out: Texts | None = parameter(
        None,
        help="use held-out texts instead of the texts that the table was learned from",
        metavar="FILE",
        title="Held-out texts",
    )
    certificate: bool = parameter(
        False,
        help="with --json: add the prices that prove each floor, and the best vocabulary",
        in_json_only=True,
    )

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        if not self.seconds >= LEAST_SECONDS:
            raise BpeError(f"A search needs at least {LEAST_SECONDS} seconds.")
        if self.rounds is not None and self.rounds < 1:
            raise BpeError("A search needs at least 1 round.")
        study = study if self.held_out is None else study.with_texts(self.held_out)
        words = study.inside.words(WHAT, work)
        history = study.history
        alphabet = Alphabet.for_words(words, history.recipe)
        sizes = self._checked_sizes(words, history)
        fixed = len(alphabet) + len(history.recipe.special_tokens)
        if sizes[0] < fixed:
            raise SizeDoesNotFit(
                f"A vocabulary of {sizes[0]:,} has no room for the {count_text(fixed, 'token')} that it always has.",
                f"Choose at least {fixed:,}.",
                fixed,
            )
        own, own_fewest = _tokens_of_table(study, words, sizes, work)
        mine = {"own": own, "own_fewest": own_fewest} if len(history) else {}
        lengths = _lengths(history, sizes)
        longest = self._longest(lengths)
        said = [f"The floor holds for tokens of at most {count_text(longest, 'symbol')}, in these words."]
        too_long = sum(length > longest for length in lengths)
        if too_long:
            said.append(
                f"Your table has {count_text(too_long, 'token')} of more than {count_text(longest, 'symbol')}, so it "
                "may need fewer tokens than the floor. To include these tokens, choose a larger length for the "
                "longest token (--max-length)."
            )
        if _may_be_of_other_texts(study, sizes, own):
            said.append(HELD_OUT)
        need_machine_code(PRICING, work)
        began = time.monotonic()
        pieces = [size - fixed for size in sizes]
        guess, lattice = self._prepared(words, alphabet, history.recipe, pieces[-1], longest, work)
        task = FloorTask(words, alphabet, history.recipe, longest, lattice.other_tokens)
        results = list[FloorResult]()
        shown = 0.0
        for done, results in self._search(lattice, guess, sizes, fixed, began, work):
            work.check()
            if time.monotonic() - shown >= BETWEEN_ANSWERS:
                shown = time.monotonic()
                so_far = _answered(results, {}, mine, said, is_over=False)
                now = f"size {results[0].size:,}: floor {results[0].floor:,}, best {results[0].best:,},"
                work.progress(Progress(now, done, DONE * len(sizes), "", so_far=so_far))
        beside: Mapping[str, Sequence[OtherResult | None]] = {}
        if not self.alone:
            so_far = _answered(results, {}, mine, said, is_over=False)
            work.progress(Progress("learning by other methods", 0, None, "", so_far=so_far))
            most = math.inf if self.rounds is not None else max(self.seconds, SECONDS_FOR_OTHERS)
            beside, late = other_methods_results(task, pieces, work, most)
            said += [
                f"{METHODS[name].title} is left out, because its training did not end within {most:g} s."
                for name in late
            ]
        for place, each in enumerate(results):
            learned = [it.witness for it in (column[place] for column in beside.values()) if it is not None]
            known = [] if guess.history is None else [guess.history.first(pieces[place])]
            known += [history.first(history.step_of_size(each.size))] if len(history) else []
            _store_best_witness(each, task, known, learned, work)
        columns = {name: [None if it is None else it.tokens for it in column] for name, column in beside.items()}
        answer = _answered(results, columns, mine, [*said, self._work_done(results)])
        if not self.certificate:
            return answer
        witnesses = [each.witness for each in results if each.witness is not None]
        proof = certificate(lattice, [(each.size, each.proof) for each in results], witnesses)
        return replace(answer, facts={"certificate": proof})

    def _prepared(
        self, words: WordTable, alphabet: Alphabet, recipe: Recipe, wanted: int, longest: int, work: Work
    ) -> tuple[Guess, Lattice]:
        """Return what a search needs: a first guess, and the lattices of all pieces.

        Raise TooLarge if this takes longer than the time for the whole search. Small texts are prepared in any case.
        """
        is_limited = self.rounds is None and len(words.text) * longest > SLICE
        limited = work.limited_to(self.seconds) if is_limited else work
        limited.progress(Progress("learning by byte-pair encoding", 0, None, ""))
        try:
            guess = Guess.of(words, recipe, wanted, longest, limited)
            limit = guess.worth(wanted) // 2
            return guess, Lattice.of(words, alphabet, recipe, longest=longest, limit=limit, work=limited)
        except Cancelled:
            work.check()
            raise TooLarge(
                f"These texts are too large for a floor within {self.seconds:g} s: this time was over before all "
                "pieces of the words were listed. Allow more seconds, take fewer texts, or choose a smaller length for "
                "the longest token."
            ) from None

    def _longest(self, lengths: Sequence[int]) -> int:
        """Return the largest number of symbols that a token may have.

        A limit that the user has set is returned unchanged. Otherwise the limit is the length of the longest token of
        the table, but at least `USUAL_LONGEST` and at most `LONGEST`. `lengths` are the lengths of the table's tokens
        in symbols.
        """
        if self.max_length is not None:
            return self.max_length
        return min(LONGEST, max([USUAL_LONGEST, *lengths]))

    def _work_done(self, results: Sequence[FloorResult]) -> str:
        rounds, swaps = (sum(numbers) for numbers in zip(*((it.rounds, it.swaps) for it in results), strict=True))
        done = (
            f"The search took {count_text(rounds, 'round')} for the floor and {count_text(swaps, 'round')} for the "
            "best vocabulary"
        )
        if self.rounds is not None:
            return f"{done}."
        few = (
            " In a longer search the floor and the best vocabulary may come closer to each other."
            if rounds < FEW_ROUNDS * len(results)
            else ""
        )
        again = "With a fixed number of rounds, a search gives the same result on every machine."
        return f"{done}, which took {self.seconds:g} s here. {again}{few}"

    def _checked_sizes(self, words: WordTable, history: History) -> list[int]:
        """Return the requested vocabulary sizes in ascending order, or else the size of the vocabulary.

        Raise BpeError if there are no words, or if neither size is known.
        """
        if not len(words):
            raise BpeError("These texts have no words, so no floor can be computed; name other texts.")
        sizes = sorted(set(self.sizes)) or ([history.vocabulary_size] if len(history) else [])
        if not sizes:
            raise BpeError(
                "The table has no steps, so it gives no vocabulary size. Name one with --sizes, such as 8256."
            )
        return sizes

    def _search(
        self, lattice: Lattice, guess: Guess, sizes: Sequence[int], fixed: int, began: float, work: Work
    ) -> Iterator[tuple[int, list[FloorResult]]]:
        """Search for the floor of each vocabulary size, from the largest size to the smallest.

        The floor is a lower bound on the number of tokens: no vocabulary of this size can need fewer tokens. Yield
        the progress and the results so far. Each search begins with the values that the search for the next larger
        size has found.

        The time for all searches began at `began`, with the preparation.
        """
        results = list[FloorResult]()
        warm = None
        others = lattice.other_tokens
        for number, size in enumerate(reversed(sizes)):
            wanted = size - fixed
            left = self.seconds - (time.monotonic() - began)
            budget = Budget(ROUNDS, SWAPS, max(LEAST_SECONDS, left) / (len(sizes) - number))
            if self.rounds is not None:
                budget = Budget(self.rounds, max(1, self.rounds * SWAPS // ROUNDS))
            search = Search(lattice, wanted, guess, budget, warm, work)
            joined = guess.upper(wanted, lattice.symbols)
            for share in chain(search.steps(), [1.0]):
                best = min(search.best.tokens, joined) + others
                now = FloorResult(
                    size, search.floor, best, joined + others, search.moments, others, search.rounds, search.swaps
                )
                yield int(DONE * (number + share)), [now, *results]
            now.witness = Witness.of_search(lattice, search.best)
            results.insert(0, now)
            warm = search.floor.prices


def _answered(
    results: Sequence[FloorResult],
    beside: Mapping[str, Column],
    mine: Mapping[str, Column],
    said: Sequence[str],
    *,
    is_over: bool = True,
) -> Answer:
    beside = {USUAL: [result.joined for result in results], **beside}
    columns = {name: column[-len(results) :] for name, column in {**beside, **mine}.items()}
    own = [columns[name] if name in columns else [None] * len(results) for name in ("own", "own_fewest")]
    sentences = [_sentence(result, *known) for result, *known in zip(results, *own, strict=True)]
    table = DataTable(
        {
            "size": [result.size for result in results],
            "floor": [result.floor for result in results],
            "best": [result.best for result in results],
            "gap": [result.gap for result in results],
            **columns,
            "rounds": [result.rounds for result in results],
            "swaps": [result.swaps for result in results],
        }
    )
    if is_over and len(results) > 1:
        return Answer(table, (*sentences, *said), _chart_over_sizes(results, columns, sentences[-1]))
    return Answer(table, (*sentences, *said), _chart_over_rounds(results[0], sentences[0]), on_axis=False)


def _store_best_witness(
    result: FloorResult,
    task: FloorTask,
    histories: Iterable[History],
    learned: Iterable[Witness | None],
    work: Work,
) -> None:
    """Store the vocabulary that needs the fewest tokens in a result.

    The candidates are the vocabulary in the result, those in `learned`, and those of the histories.
    """
    wanted = result.proof.wanted
    witnesses = [result.witness, *learned, *(task.witness(it, wanted, work=work) for it in histories)]
    result.witness = min((it for it in witnesses if it is not None), key=lambda it: it.tokens)
    result.best = result.witness.tokens


def _lengths(history: History, sizes: Sequence[int]) -> list[int]:
    """Return the length in symbols of each token, after the table is reduced to the largest of `sizes`."""
    if not len(history):
        return []
    return [*map(len, token_symbols(history.first(history.step_of_size(sizes[-1]))))]


def _tokens_of_table(study: Study, words: WordTable, sizes: Sequence[int], work: Work) -> tuple[Column, Column]:
    """Count the tokens of the texts at each size, in two ways.

    The first list holds the number of tokens into which the table splits the texts. The second list holds the smallest
    number that its vocabulary allows. The numbers differ if the table splits a text into more tokens than necessary.
    """
    history = study.history
    first, last = sorted((history.vocabulary_size_at(0), history.vocabulary_size))
    steps = {size: history.step_of_size(size) for size in sizes if len(history) and first <= size <= last}
    if not steps:
        return [None for _ in sizes], [None for _ in sizes]
    cut = TokenizedWords.of(words, history.recipe, history, cancelled=work.cancelled)
    fewest = dict(zip(steps, fewest_tokens(words, history, [*steps.values()], work), strict=True))
    own = {size: int(cut.counts(at).sum()) for size, at in steps.items()}
    return [*map(own.get, sizes)], [*map(fewest.get, sizes)]


def _may_be_of_other_texts(study: Study, sizes: Sequence[int], own: Column) -> bool:
    """Return whether a table may have been learned from different texts.

    Return False if the table is known to come from these texts, or if the token counts in the table are right for
    these texts.
    """
    history = study.history
    known = [(history.step_of_size(size), tokens) for size, tokens in zip(sizes, own, strict=True) if tokens]
    is_same = history.has_counts and all(int(history.tokens_after[at]) == tokens for at, tokens in known)
    return bool(known) and not (study.inside.texts_are_own or is_same)


def _sentence(result: FloorResult, own: int | None, fewest: int | None) -> str:
    between = (
        f"between {result.floor:,} and {result.best:,}" if result.floor < result.best else f"exactly {result.best:,}"
    )
    whose, tokens = (JOINING, result.joined) if own is None else ("your vocabulary", own)
    better = max(0.0, 1 - result.floor / max(1, tokens))
    at_most = "at most " if result.floor < result.best else ""
    said = (
        f"With {count_text(result.size, 'token')} in the vocabulary, {whose} needs {count_text(tokens, 'token')} for "
        "the texts."
    )
    if tokens < result.floor:  # the method has longer tokens
        return f"{said} If no token is longer than the floor allows, the best possible vocabulary needs {between}."
    sentence = f"{said} The best possible vocabulary needs {between}: {at_most}{better:.1%} fewer."
    if own is None or fewest is None or fewest >= own:
        return sentence
    return f"{sentence} If words are split into the fewest tokens, your vocabulary needs {count_text(fewest, 'token')}."


def _chart_over_sizes(results: Sequence[FloorResult], beside: Mapping[str, Column], sentence: str) -> LineFigure:
    """Draw the lowest known number of tokens for each size of the vocabulary. The range down to the floor is shaded.

    The floor is a proven lower bound: no vocabulary of this size needs fewer tokens. `beside` holds the numbers of
    tokens of other methods and tables, which get lines of their own.
    """
    sizes, floors, bests = np.array([(it.size, it.floor, it.best) for it in results], float).T
    lines = [Line("best possible", sizes, bests, band=(floors, bests))]
    for name, column in beside.items():
        known = [(size, tokens) for size, tokens in zip(sizes, column, strict=True) if tokens is not None]
        lines += [Line(NAMES.get(name) or METHODS[name].title, *np.array(known, float).T)] if known else []
    return _of_lines(
        "The best that any vocabulary can reach.",
        sentence,
        lines,
        "Tokens in the vocabulary",
        is_log=True,
    )


def _chart_over_rounds(result: FloorResult, sentence: str) -> LineFigure:
    """Draw how the floor and the best result approach each other, round by round."""
    rounds, floors, bests = np.array([(it.done, it.floor, it.best) for it in result.moments], float).T
    reached = np.minimum(bests + result.others, result.joined)
    lines = [Line("best found", rounds, reached), Line("floor", rounds, floors + result.others)]
    return _of_lines(f"Floor and best for a vocabulary of {result.size:,}.", sentence, lines, "Rounds")


def _of_lines(title: str, sentence: str, lines: list[Line], along: str, *, is_log: bool = False) -> LineFigure:
    lowest = min(float(line.heights.min()) for line in lines)
    return LineFigure("floor", title, sentence, lines, along, "Tokens of the texts", is_log_x=is_log, first_y=lowest)
