"""The grading of a student's merges. It counts the right merges and explains the first wrong merge.

Each mistake is represented by a trainer that makes it. The likely mistake is the one whose trainer makes the
same merges as the student, including merges after the first wrong one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from bpe_core.counting.words import WordTable
from bpe_core.errors import NothingToLearn
from bpe_core.history.history import History
from bpe_core.history.token_texts import written
from bpe_core.insight.exercise_rules import AS_RULE, Exercise, Merge, Rules, TextRules, words_of
from bpe_core.insight.mistakes import mistake_of_size, mistakes_of
from bpe_core.insight.trainer_by_rules import learn_merges
from bpe_core.methods.kit.trainer import learn
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import ALONE, Progress, Work

MOST_STEPS = 2_000  # merges that trainers in plain Python are followed for
ENOUGH = 12  # merges beyond the right ones after which a mistake is taken seriously
SURE = 1_000  # merges beyond the right ones that are compared if several mistakes explain the first of them
MOST_SOUGHT = 300  # tokens that are sought in the text
OF_ANOTHER_TEXT = "The merges were probably learned from another text, because many tokens do not occur in this text."
LEAST_FOREIGN = 5
FOREIGN = 0.1  # the share of tokens that the text lacks if it is another text


@dataclass(frozen=True)
class GradedMerges:
    """The result of grading a list of merges."""

    merges: int  # the number of merges that the student has
    wanted: int  # the number that the exercise asks for, if it is known, else that of the student
    right_until: int  # the number of merges that are right
    expected: Merge | None = None  # the first merge that should have been made instead
    found: Merge | None = None  # the merge that was made
    cause: str = ""  # the likely mistake
    explained: int = 0  # the number of merges that the mistake explains
    others: tuple[str, ...] = ()  # other mistakes that explain as many merges

    @property
    def is_right(self) -> bool:
        return self.right_until == self.merges == self.wanted


class Grader:
    """A grader of students' results in one exercise on one text.

    It caches the counts of the words for each set of rules for reading the text.
    """

    def __init__(self, documents: Sequence[str], exercise: Exercise, work: Work = ALONE) -> None:
        self._documents = documents
        self._rules = exercise.rules
        self._work = work
        self._by_tokens = False
        self._words: dict[TextRules, dict[bytes, int]] = {}
        self._learned: dict[tuple[TextRules, str, int], tuple[int, list[Merge], History | None]] = {}

    def grade(self, merges: Sequence[Merge], wanted: int | None = None, *, is_vocabulary: bool = False) -> GradedMerges:
        """Return how many merges are right, and the likely cause of the first wrong merge.

        `wanted` is the number of merges that the exercise requires. If it is None, the student may give any number of
        merges. If the student gave a vocabulary, only the merged tokens are compared, because its merges are guessed.
        """
        self._by_tokens = is_vocabulary
        asked = len(merges) if wanted is None else wanted
        right_merges, history = self._made(self._rules, max(len(merges), asked))
        asked = min(asked, len(right_merges))
        right = self._agreement(right_merges, merges, len(merges))
        if right == len(merges):
            cause = "" if right == asked else self._cause_of_size(right, asked, history)
            return GradedMerges(len(merges), asked, right, cause=cause, explained=right)
        expected = right_merges[right] if right < len(right_merges) else None
        grade = GradedMerges(len(merges), asked, right, expected, merges[right])
        explaining = self._explaining(merges, right)
        explained = max(explaining.values(), default=right)
        if explained < min(right + 3, len(merges)) and self._is_of_another_text(merges[right:]):
            return replace(grade, cause=OF_ANOTHER_TEXT)
        sentences = [sentence for sentence, reached in explaining.items() if reached == explained]
        if not sentences:
            return grade
        return replace(grade, cause=sentences[0], explained=explained, others=tuple(sentences[1:]))

    def _cause_of_size(self, given: int, asked: int, history: History | None) -> str:
        counts = history.columns.count if history is not None else ()
        if given < asked and counts[given] == 1 and (not given or counts[given - 1] > 1):
            return "The training ends when every pair occurs only once, but the exercise also merges such pairs."
        return mistake_of_size(asked - given, self._rules)

    def _explaining(self, merges: Sequence[Merge], right: int) -> dict[str, int]:
        """Return each mistake that explains the first wrong merge, with the number of merges that it explains."""
        mistakes = dict(mistakes_of(self._rules))
        explaining = self._tried(mistakes, merges, right, min(len(merges), right + ENOUGH))
        furthest = max(explaining.values(), default=right)
        leading = {sentence: mistakes[sentence] for sentence, reached in explaining.items() if reached == furthest}
        if len(leading) > 1 and furthest < len(merges):
            explaining |= self._tried(leading, merges, right, min(len(merges), right + SURE))
        return explaining

    def _tried(self, mistakes: Mapping[str, Rules], merges: Sequence[Merge], right: int, most: int) -> dict[str, int]:
        """Return each mistake that explains more than the first `right` merges, and how many merges it explains.

        `merges` are the merges of a student, and `right` is the number of right merges at their beginning. A mistake
        explains the first merges if a trainer that makes this mistake makes the same merges. At most `most` merges are
        compared.
        """
        explaining: dict[str, int] = {}
        usual = self._words_by(self._rules.texts)
        for number, (sentence, rules) in enumerate(mistakes.items()):
            self._work.progress(Progress("trying known mistakes", number, len(mistakes), "mistakes"))
            self._work.check()
            words = self._words_by(rules.texts)
            if words == usual and [*words] == [*usual] and replace(rules, texts=self._rules.texts) == self._rules:
                continue  # the mistake changes nothing in this text
            if rules.are_of_recipes:
                made: Iterable[Merge] = self._made(rules, most)[0]
            elif right < MOST_STEPS:
                made = learn_merges(words, rules)
            else:
                continue
            explained = self._agreement(made, merges, most)
            if explained > right:
                explaining[sentence] = explained
        return explaining

    def _agreement(self, made: Iterable[Merge], merges: Sequence[Merge], most: int) -> int:
        """Return how many merges are the same at the beginning of both lists. At most `most` merges are compared."""
        count = 0
        for merge, given in zip(islice(made, most), merges, strict=False):
            is_same = b"".join(merge) == b"".join(given) if self._by_tokens else merge == given
            if not is_same:
                break
            count += 1
        return count

    def _is_of_another_text(self, merges: Sequence[Merge]) -> bool:
        sought = [left + right for left, right in merges[:MOST_SOUGHT]]
        text = "\n".join(self._documents).encode()
        missing = sum(token not in text for token in sought)
        return missing >= LEAST_FOREIGN and missing > FOREIGN * len(sought)

    def _words_by(self, rules: TextRules) -> Mapping[bytes, int]:
        if rules not in self._words:
            self._words[rules] = words_of(self._documents, rules)
        return self._words[rules]

    def _made(self, rules: Rules, merges: int) -> tuple[list[Merge], History | None]:
        """Return the merges that the program's trainer learns by the given rules, and their history.

        There are at least `merges` merges if the texts have so many. The history is None if there are no merges.
        """
        key = (rules.texts, rules.tie, rules.least)
        if key not in self._learned or self._learned[key][0] < merges:
            words = self._words_by(rules.texts)
            table = WordTable.from_counts({word.decode(): count for word, count in words.items()})
            recipe = Recipe.preset("gpt2", ties=AS_RULE[rules.tie], merges=merges, min_frequency=rules.least)
            history: History | None = None
            made: list[Merge] = []
            try:
                history = learn(table, recipe, cancelled=self._work.cancelled)
            except NothingToLearn:
                pass  # there are no merges
            else:
                texts = written(history)
                made = [(texts[left], texts[right]) for left, right in history.pairs()]
            self._work.check()
            self._learned[key] = merges, made, history
        return self._learned[key][1:]


def grade_merges(
    text: str, merges: Sequence[Merge], exercise: Exercise, wanted: int | None = None, work: Work = ALONE
) -> GradedMerges:
    """Return the grade of one result. `wanted` is the number of merges that the exercise requires, if it is known."""
    return Grader([text], exercise, work).grade(merges, wanted)
