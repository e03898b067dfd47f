"""The learner of parity-aware byte-pair encoding.

Each merge serves the language whose texts are compressed least.

Each language has a learner for its words and, if languages have dev texts, another learner for its dev text. At each
step, one language chooses its most frequent pair. With dev texts, this is the language with the longest dev text, in
tokens. Without them, the compression of each language is divided by the ratio of the language, and the language with
the smallest result chooses.

All other languages make the same merge later. A learner makes its missing merges only when its language might be the
next to choose. This is safe, because merges can only make a text shorter. If a language is not chosen before the
missing merges, it is not chosen after them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import CorpusError
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, TIED, Columns, EndReason, History, Reasons
from bpe_core.kernels.stored_code import LEARNING
from bpe_core.methods.kit.learner import UNLIMITED, Candidate, CompiledWay, Learner
from bpe_core.methods.kit.reasons import ALL, LANGUAGE, THERE, Reason, Told
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import Pair

if TYPE_CHECKING:  # these imports load machine code
    from bpe_core.methods.parity.compiled import CompiledFollower

WORK_A_STEP = 10_000
NO_LANGUAGES = (
    "Parity-aware BPE needs languages. Put the texts of each language into a group, and give each group a "
    "dev text or a ratio."
)


@dataclass(frozen=True)
class Turn:
    """The language that the next step serves, and the most frequent pairs of its words."""

    language: int
    best: list[Candidate]  # with the counts in the texts of the language
    passed: list[int]  # languages whose turn came before but that have nothing left to merge


class ParityLearner:
    scores = gone_through = None

    def __init__(
        self,
        words: WordTable,
        alphabet: Alphabet,
        recipe: Recipe,
        forced: History | None,
        *,
        make: Callable[[WordTable, Alphabet, Recipe], CompiledFollower],
    ) -> None:
        languages = words.languages
        if not languages:
            raise CorpusError(NO_LANGUAGES)
        self._recipe = recipe
        self._has_dev = languages[0].dev is not None
        self._whole = make(words, alphabet, recipe)
        self._learners = [make(language.words, alphabet, recipe) for language in languages]
        dev = [language.dev for language in languages if language.dev is not None]
        self._measured = [make(text, alphabet, recipe) for text in dev] or self._learners
        self._at_first = [learner.tokens_left for learner in self._measured]
        self._ratios = [language.ratio for language in languages]
        self._forced: Sequence[Pair] = () if forced is None else forced.pairs()
        self._pairs: list[Pair] = []
        self._turns: list[int] = []  # this includes turns of languages that had nothing left to merge
        self._spent: set[int] = set()  # languages that have nothing left to merge
        self._served: list[tuple[int, int, bool]] = []
        self._again = Columns.with_room(1)  # buffer for rows that are not needed
        self.tokens_at_start = self._whole.tokens_at_start
        self.has_candidates = self._whole.has_candidates

    @property
    def learned(self) -> int:
        return len(self._pairs)

    @property
    def reasons(self) -> Reasons:
        rows = np.array(self._served, np.int64).reshape(-1, 3)
        return {LANGUAGE: rows[:, 0], THERE: rows[:, 1], TIED: rows[:, 2].astype(np.bool_)}

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        while self.learned < stop_at and work > 0:
            end = self._step(columns)
            if end:
                return end
            work -= WORK_A_STEP
        return ""

    def candidates(self, wanted: int) -> list[Candidate]:
        turn = self._turn(wanted)
        return [
            replace(
                candidate,
                count=self._whole.count_of((candidate.left, candidate.right)),
                reasons={LANGUAGE: turn.language, THERE: candidate.count},
            )
            for candidate in turn.best
        ]

    def _step(self, columns: Columns) -> EndReason:
        row = self.learned
        turn = self._turn(2)
        if turn.language != ALL:
            self._turns += [*turn.passed, turn.language]
            self._spent.update(turn.passed)
        given = row < len(self._forced)
        if not turn.best and not given:
            return self._why_nothing()
        leading = [(candidate.left, candidate.right) for candidate in turn.best]
        pair = self._forced[row] if given else leading[0]
        served_language = self._whole if turn.language == ALL else self._learners[turn.language]
        there = served_language.count_of(pair)
        other = next((candidate for candidate in turn.best if (candidate.left, candidate.right) != pair), None)
        runner_up = (NOTHING,) * 3
        if other is not None:
            runner_up = other.left, other.right, self._whole.count_of((other.left, other.right))
        self._pairs.append(pair)
        self._served.append((turn.language, there, other is not None and other.count == there))
        self._whole.follow(self._pairs)
        self._whole.learn(columns, row + 1, UNLIMITED)
        columns.runner_up_left[row], columns.runner_up_right[row], columns.runner_up_count[row] = runner_up
        return ""

    def _why_nothing(self) -> EndReason:
        for learner in self._learners:
            self._catch_up(learner)
        ends = [learner.learn(self._room(), self.learned + 1, UNLIMITED) for learner in self._learners]
        return "too rare" if "too rare" in ends else "no pairs"

    def _turn(self, wanted: int) -> Turn:
        if self.learned < (self._recipe.global_merges or 0):
            return Turn(ALL, self._whole.candidates(wanted), [])
        passed: list[int] = []
        while (language := self._worst_off(passed)) is not None:
            learner = self._learners[language]
            self._catch_up(learner)
            if best := learner.candidates(wanted):
                return Turn(language, best, passed)
            passed.append(language)
        return Turn(ALL, [], passed)

    def _worst_off(self, passed: list[int]) -> int | None:
        """Return the language for which the next step is made, or None if no language has a pair left to merge.

        If there are dev texts, this is the language whose dev text has the most tokens. If there are none, the
        compression of each language is divided by the ratio that is wanted for it, and the language with the lowest
        result is taken. The languages in `passed` are skipped. A language that has reached its limit in the window is
        skipped too, unless all languages have reached theirs.
        """
        window = self._recipe.window_size
        languages = range(len(self._learners))
        can = free = [language for language in languages if language not in self._spent and language not in passed]
        if window is not None:
            last = [*self._turns, *passed][-window:]
            most = self._recipe.alpha / 100 / len(languages)
            free = [language for language in can if last.count(language) / window <= most] or can
        while free:
            worst = min(
                free, key=lambda language: (self._standing(self._measured[language].tokens_left, language), language)
            )
            if self._measured[worst].learned == self.learned:
                return worst
            self._catch_up(self._measured[worst])  # the text of this learner may be shorter now, so compare again
        return None

    def _standing(self, tokens: int, language: int) -> float:
        return -tokens if self._has_dev else self._at_first[language] / max(1, tokens) / self._ratios[language]

    def _catch_up(self, follower: CompiledFollower) -> None:
        follower.follow(self._pairs)
        follower.learn(self._room(), self.learned, UNLIMITED)

    def _room(self) -> Columns:
        if len(self._again.left) <= self.learned:
            self._again = Columns.with_room(2 * self.learned + 1)
        return self._again


def compiled_learner(words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> Learner:
    from bpe_core.methods.parity.compiled import CompiledFollower  # loads machine code

    return ParityLearner(words, alphabet, recipe, forced, make=CompiledFollower)


def served_language(recipe: Recipe) -> Reason:
    """Return the `Reason` that shows for which language a step chose its pair.

    It also shows the count of the pair in the texts of this language.
    """
    names = () if recipe.mixture is None else recipe.mixture.languages

    def written(count: int, reasons: Told) -> str:
        language = int(reasons[LANGUAGE])
        return f"{names[language] if 0 <= language < len(names) else 'all'} · {reasons[THERE]:,}"

    return Reason(
        title="Served",
        tip="The language that needed the most tokens, and the count of the pair in its texts",
        of=(LANGUAGE, THERE),
        value=lambda count, reasons: reasons[THERE],
        written=written,
        widest=f"{max((*names, 'all'), key=len)} · 999,999",
    )


PLAIN = None  # the plain learner of byte-pair encoding has no languages
COMPILED = CompiledWay(compiled_learner, 42, LEARNING)
