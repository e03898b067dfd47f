"""The question `check`. It asks whether each merge of a table follows from the counts of a corpus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from bpe_core.asking import Answer, Question, parameter
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.formats import FORMATS
from bpe_core.formats.base import Flaw
from bpe_core.history.history import History
from bpe_core.insight.reachability import unreachable_tokens
from bpe_core.insight.referee import (
    KINDS,
    WRAPS_AT,
    Fault,
    Habits,
    Verdict,
    judge,
    sound_steps,
    steps_best_in_some_text,
)
from bpe_core.insight.trainer_words import (
    ALL,
    IN_LOWER_CASE,
    SENTENCEPIECE,
    SPECIALS_AS_TEXT,
    WITHOUT_UNKNOWN,
    WORD_SIGN,
    other_ways,
)
from bpe_core.methods.kit.method import Method
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.parts import Unit
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.pins import Pins
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Progress, Work
from bpe_core.support.wording import count_text
from bpe_core.text.patterns import NAMED_PATTERNS

WHAT = "The check of a table"
TRIED = 500  # the least number of steps with which another way to split is tried
FEW = 200  # if more than one in this many merges is wrong, another way to split is tried
LIMITED = "tokenizer.json"  # its trainer can limit the length of tokens, too
LIMIT = 16  # the usual limit of SentencePiece's trainer for symbols in a token
KINDS_LIST = "".join(f"  {name:<10} {sentence}\n" for name, sentence in KINDS.items())


@dataclass(frozen=True)
class Check(Question):
    """Check whether a table was learned correctly: does each merge follow from the counts?

    Each step should merge the most frequent pair. Each row of the answer is a step that merges a different pair.
    The row also has the pair that should have been merged. If you give no texts, only the table itself is
    checked. If you give pins, the answer shows whether texts are still split the same way.
    """

    about = "the vocabulary"
    asks = "Was it learned correctly?"
    turn = 8
    needs = "texts if known"
    rests = True
    examples = f"""\
examples:
  bpe-explorer check tokenizer.json --corpus book.txt
      Show the first wrong step and its fault, and how many steps are correct. The exit code is 3 if a step is wrong.

  bpe-explorer check cl100k_base.tiktoken
      Check the table alone: tokens that never occur, counts that rise, counts that overflowed.

  bpe-explorer pin tokenizer.json -o pins.json
  bpe-explorer check --pins pins.json
      The exit code is 3 if another version of a library or of the file splits a hard text differently.

kinds:
{KINDS_LIST}"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.check(study).sentences[0]
        'All 6 merges follow from the counts: each took the most frequent pair.'
    """

    pins: str = parameter(
        "",
        help="compare with the ids that `pin` has written",
        metavar="FILE",
        path="file",
        title="Compared with pinned ids",
        in_words={"": "none"},
    )

    def table_named(self) -> str:
        return Pins.read(self.pins).table if self.pins else ""

    def asks_corpus(self, *, has_texts: bool) -> bool:
        return not has_texts

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        if self.pins:
            changes = Pins.read(self.pins).differences(study)
            said = tuple(changes[:1]) or (ALL_AS_PINNED,)
            return Answer(DataTable({"difference": changes}), said, rows=(), differs=bool(changes))
        if not Method.of(study.history.recipe).learns_by_ranks or not len(study.history):
            raise BpeError(
                f"{WHAT} works only for tokenizers that merge pairs one after the other. This tokenizer does not."
            )
        if Method.of(study.history.recipe).joins_runs:
            raise BpeError(
                f"{WHAT} works only for one list of merges; this tokenizer has two lists: merges within words, and "
                "merges across words."
            )
        if study.history.recipe.serves_languages:
            raise BpeError(
                f"{WHAT} works only if each step merges the most frequent pair of all texts. This tokenizer chose "
                "each pair for one of its languages."
            )
        return _of_the_table_alone(study, work) if study.texts is None else _by_counts(study, work)


ALL_AS_PINNED = "All pinned texts are split as before."


# --- By the counts of a corpus -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Judgement:
    history: History
    counted_by: Recipe
    verdict: Verdict
    splitting: str = ""  # the name of the way to split, if it differs from the table's pattern
    is_unsaid: bool = True  # whether no file of this kind can say that texts are split in this way
    own_until: int = 0  # steps that the table's own splitting explains
    balanced: int = 0  # steps that took the best pair of all texts or of one group

    @property
    def known(self) -> tuple[int, int]:
        return self.verdict.sound_until, self.verdict.rule_until


def _by_counts(study: Study, work: Work) -> Answer:
    words = study.inside.words(WHAT, work)
    history = _with_likeliest_method(study.history, words, work)
    limits = _possible_limits(study, history)
    best = _best_way(study, words, history, limits[0], work)
    if len(limits) > 1 and (limits[0] or any(fault.kind == "length" for fault in best.verdict.faults)):
        by_other_limit = _best_way(study, words, history, limits[1], work) if best.verdict.faults else best
        best = best if by_other_limit.verdict.faults else by_other_limit
    wrong = best.verdict.steps - best.verdict.right
    is_guessed = not FORMATS.holding(study.format).holds_splitting
    is_wrong = best.verdict.first is not None and best.verdict.first.kind != "wrapped"
    if is_wrong and (is_guessed or wrong * FEW > best.verdict.steps):
        best = _best_with_other_patterns(study, best, work)
        best = replace(best, balanced=_steps_best_for_a_group(study, best, work))
    return _answer(study, best)


def _possible_limits(study: Study, history: History) -> list[int | None]:
    """Return the limits on the length of a token, in symbols, that the trainer may have used.

    The usual limit comes first. None means no limit.
    """
    longest = int(history.token_lengths().max(initial=1))
    if study.format == SENTENCEPIECE:
        return [LIMIT, longest] if longest < LIMIT else [longest]
    return [None, longest] if study.format == LIMITED else [None]


def _best_way(study: Study, words: WordTable, history: History, limit: int | None, work: Work) -> _Judgement:
    """Check the table with several ways to split the texts into words. Return the check that explains the most steps.

    First the texts are split by the pattern that the table names. If this does not explain all steps, other ways are
    tried. Trainers use them, but do not record them in their files.
    """
    habits = Habits(limit, fills_up=True, blank=WORD_SIGN) if study.format == SENTENCEPIECE else Habits(limit)
    own = _Judgement(history, history.recipe, judge(words, history, work, habits))
    best = own
    if own.verdict.rule_until < own.verdict.steps:
        begun = _first_steps(history, own.verdict)
        assert study.texts is not None
        texts = study.texts
        says = FORMATS.holding(study.format).holds_splitting
        ways = other_ways(study.format, history, words, lambda recipe: texts.words(recipe, work), holds_splitting=says)
        for way in ways:
            its_habits = replace(habits, forbidden=way.forbidden)
            if sound_steps(way.words, begun, work, its_habits) < min(len(begun), own.verdict.sound_until):
                continue
            if not way.is_unsaid and own.verdict.sound_until == own.verdict.steps:
                continue
            verdict = judge(way.words, history, work, its_habits)
            other = _Judgement(history, way.recipe, verdict, way.name, way.is_unsaid, own.verdict.sound_until)
            best = max(best, other, key=lambda judgement: judgement.known)
            if best.verdict.rule_until == best.verdict.steps:
                break
    return best


def _with_likeliest_method(history: History, words: WordTable, work: Work) -> History:
    """Find the method that explains the most steps of a table. Return the history with this method.

    Several methods are tried only if the file does not name the method.
    """
    methods = (method for method in METHODS.values() if isinstance(method, Method))
    tables = [table for method in methods for table in method.possible_histories(history)]
    return max(tables, key=lambda table: sound_steps(words, table.first(TRIED), work), default=history)


def _steps_best_for_a_group(study: Study, judgement: _Judgement, work: Work) -> int:
    """Count the steps that joined the most frequent pair of all texts, or of at least one group of texts.

    A trainer that balances groups makes such steps. Return 0 if the texts have no groups.
    """
    assert study.texts is not None
    parts = study.texts.parts(judgement.counted_by, work)
    if len(parts) < 2:
        return 0
    return int(
        steps_best_in_some_text([WordTable.merged(parts.values()), *parts.values()], judgement.history, work).sum()
    )


def _first_steps(history: History, verdict: Verdict) -> History:
    """Return the first steps of a history: twice as many as `verdict` found to be right, but at least TRIED.

    To save time, other ways to split the texts into words are first tried only on these steps.
    """
    return history.first(max(TRIED, 2 * verdict.sound_until))


def _best_with_other_patterns(study: Study, own: _Judgement, work: Work) -> _Judgement:
    """Check the table with other patterns.

    Return the check with the best pattern if it confirms many more steps than `own`. Otherwise return `own`.
    """
    assert study.texts is not None
    recipe = own.history.recipe
    until = own.verdict.sound_until
    begun = _first_steps(own.history, own.verdict)
    best = ("", "", until)
    choices = [(name, unit) for name in NAMED_PATTERNS for unit in get_args(Unit) if name not in (recipe.pattern, ALL)]
    is_text = not (recipe.preparation or recipe.base_symbols)
    for name, unit in choices if is_text and recipe.applies("pattern") else ():
        work.progress(Progress("trying other ways to split", choices.index((name, unit)), len(choices), "ways"))
        work.check()
        words = study.texts.words(recipe.with_changes(pattern=name, custom_pattern="", unit=unit), work)
        known = sound_steps(words, begun, work)
        if known > best[2] and (known == len(begun) or known >= 2 * until):
            best = name, unit, known
    if not best[0]:
        return own
    otherwise = recipe.with_changes(pattern=best[0], custom_pattern="", unit=best[1])
    words = study.texts.words(otherwise, work)
    said = best[0] if best[1] == recipe.unit else f"{best[0]}, by {best[1]}"
    return _Judgement(own.history, otherwise, judge(words, own.history, work), said, is_unsaid=False, own_until=until)


UNSAID = {
    SPECIALS_AS_TEXT: "The trainer read special tokens in the texts as ordinary text.",
    WITHOUT_UNKNOWN: "The trainer left out the characters that the table does not have.",
}


def _about_splitting(study: Study, judgement: _Judgement) -> tuple[str, bool]:
    """Return a sentence about how the texts were split into words, if the table says nothing or something else.

    The sentence names the way to split that explains the most merges. It is empty if there is nothing to say. Also
    return whether the sentence contradicts what the table itself says.
    """
    name = judgement.splitting
    recipe = study.history.recipe
    says = FORMATS.holding(study.format).holds_splitting
    if name == IN_LOWER_CASE:
        subject = "The table's file" if judgement.is_unsaid else "The table"
        sentence = f"{subject} does not say that texts were put into lower case, but lower-case texts fit best."
        return sentence, not judgement.is_unsaid
    if name in UNSAID:
        return UNSAID[name], False
    if not name or not says or judgement.is_unsaid:
        return (
            f"The table's file does not say how texts were split. Of all known patterns, {name} fits best."
            if name
            else ""
        ), False
    return (
        f"The table names the pattern {recipe.pattern}, but with this pattern only the first "
        f"{count_text(judgement.own_until, 'merge')} follow from the counts. Of all known patterns, {name} fits best."
    ), True


def _answer(study: Study, judgement: _Judgement) -> Answer:
    verdict = judgement.verdict
    is_balanced = judgement.balanced == verdict.steps
    faults = () if is_balanced else verdict.faults
    said, differs = _about_splitting(study, judgement)
    nowhere = (-1, -1)
    pairs = [study.history.pair(fault.step - 1) for fault in faults]
    table = DataTable(
        {
            "step": [fault.step for fault in faults],
            "kind": [str(fault.kind) for fault in faults],
            **study.inside.by_index.pair_columns(pairs),
            "count": [fault.count for fault in faults],
            **study.inside.by_index.pair_columns([fault.passed or nowhere for fault in faults], "passed_"),
            "passed_count": [None if fault.passed is None else fault.passed_count for fault in faults],
        }
    )
    flaws = [note for note in study.notes if isinstance(note, Flaw)]
    sentences = [*flaws, *filter(None, (said, Method.of(judgement.history.recipe).choices_in_words(judgement.history)))]
    sentences += [BALANCED] if is_balanced else _verdict(study, verdict)
    if verdict.right < judgement.balanced < verdict.steps:
        sentences.append(
            f"{count_text(judgement.balanced, 'merge')} took the most frequent pair of all texts, or of one of the "
            "groups."
        )
    listed = ("step", "kind", "left_text", "right_text", "count", "passed_left_text", "passed_right_text")
    facts: dict[str, Any] = {"steps": verdict.steps, "right": verdict.right, "sound_until": verdict.sound_until}
    facts |= {
        "splitting": judgement.splitting,
        "ties": verdict.rule,
        "ties_until": verdict.rule_until,
        "tied": verdict.ties,
    }
    return Answer(
        table,
        tuple(sentences),
        listed=(*listed, "passed_count"),
        facts=facts,
        differs=differs or bool(flaws or faults) or not (verdict.is_whole or is_balanced),
    )


BALANCED = (
    "Each merge took the most frequent pair of all texts or of one of the groups, as in training that balances "
    "languages (parity-aware byte-pair encoding)."
)


def _verdict(study: Study, verdict: Verdict) -> Iterator[str]:
    first = verdict.first
    if 2 * verdict.miscounted > verdict.steps:
        yield (
            f"{verdict.miscounted:,} of the table's counts differ from the counts in these texts. The table was "
            "learned from other texts, or from more texts."
        )
    if first is None:
        yield (
            f"All {count_text(verdict.steps, 'merge follows', 'merges follow')} from the counts: each took the most "
            "frequent pair."
        )
    else:
        yield f"Step {first.step:,} is the first wrong step. {_fault(study, first)}"
        most = "" if verdict.is_whole else "at most "
        yield f"{most}{verdict.right:,} of {count_text(verdict.steps, 'merge is', 'merges are')} correct.".capitalize()
        if 2 * verdict.right < verdict.steps:
            yield (
                "The counts of these texts explain only few of the merges. The table may have been learned from other "
                "texts, or by a method that balances languages. To check for such a method, give each language as a "
                "file or group."
            )
    if verdict.added:
        yield (
            f"After {count_text(verdict.steps - verdict.added, 'merge')} no pairs were left. SentencePiece's "
            "trainer then adds tokens that never occur."
        )
    if verdict.limit is not None:
        limit = count_text(verdict.limit, "symbol")
        yield f"Pairs with longer texts occur more often, but the trainer makes no token of more than {limit}."
    if verdict.rule_until == verdict.steps:
        yield (
            f"At {count_text(verdict.ties, 'step')} another pair was equally frequent. The rule {verdict.rule} decided "
            "each tie."
        )
    elif first is None or verdict.rule_until < first.step - 1:
        yield (
            f"At {count_text(verdict.ties, 'step')} another pair was equally frequent. No known tie rule explains all "
            f"these steps. The rule {verdict.rule} explains the steps up to step {verdict.rule_until:,}."
        )


def _fault(study: Study, fault: Fault) -> str:
    merged = study.inside.by_index.pair_name(study.history.pair(fault.step - 1))
    if fault.kind == "count":
        said = int(study.history.columns.count[fault.step - 1])
        return f"{merged} occurs {count_text(fault.count, 'time')}, but the table says {said:,}."
    if fault.passed is None:
        return f"{merged} occurs {count_text(fault.count, 'time')}. {KINDS[fault.kind]}"
    passed = study.inside.by_index.pair_name(fault.passed)
    rank = study.history.ranks().get(fault.passed)
    late = "" if rank is None else f" This pair is merged at step {rank + 1:,}."
    return (
        f"The step merged {merged}, which occurs {count_text(fault.count, 'time')}, but {passed} occurs "
        f"{count_text(fault.passed_count, 'time')}. {KINDS[fault.kind]}{late}"
    )


# --- By the table alone ------------------------------------------------------------------------


def _of_the_table_alone(study: Study, work: Work) -> Answer:
    rows = [*_by_its_own_counts(study.history), *_by_its_texts(study, work)]
    rows.sort()
    kinds = dict.fromkeys(why for _, why in rows)
    table = DataTable(
        {
            "step": [step for step, _ in rows],
            **study.inside.by_index.columns([int(study.history.indices[step - 1]) for step, _ in rows]),
            "reason": [why for _, why in rows],
        }
    )
    flaws = [note for note in study.notes if isinstance(note, Flaw)]
    counts = {reason: sum(why == reason for _, why in rows) for reason in kinds}
    sentences = [
        *flaws,
        *(f"{count:,} of {count_text(len(study.history), 'merge')}: {reason}" for reason, count in counts.items()),
    ]
    if not sentences:
        sentences.append("The table alone shows no mistake.")
    sentences.append("Give the texts that the table was learned from, to check each merge by the counts.")
    return Answer(table, tuple(sentences), listed=("step", "text", "reason"), differs=bool(rows or flaws))


def _by_its_own_counts(history: History) -> Iterator[tuple[int, str]]:
    if not history.has_counts:
        return
    counts = history.columns.count
    others = history.columns.runner_up_count
    allowed = np.ones(len(counts), bool)
    allowed[history.forced] = False
    wrong_by_reason = {
        "Its count is zero or less.": counts <= 0,
        ("Its count is larger than the count of the step before, which is impossible."): np.diff(
            counts, prepend=counts[:1]
        )
        > 0,
        "The table itself says that another pair occurs more often.": others > counts,
        "Its count is too large for 32 bits: a trainer with 32-bit counts goes wrong from here on.": counts >= WRAPS_AT,
    }
    by_count = Method.of(history.recipe).counts_fall and not history.reasons and not history.recipe.interventions
    for why, wrong in wrong_by_reason.items():
        for row in np.flatnonzero(wrong & allowed).tolist() if by_count else ():
            yield row + 1, why


def _by_its_texts(study: Study, work: Work) -> Iterator[tuple[int, str]]:
    history = study.history
    seen: dict[bytes, int] = {}
    for id, raw in enumerate(study.inside.by_index.texts.raw[: history.first_special]):
        row = history.row_of(id)
        if seen.setdefault(raw, id) != id and row is not None:
            yield row + 1, "An earlier token has the same text."
    for id, reason in unreachable_tokens(history, work).items():
        row = history.row_of(id)
        if row is not None and reason.kind == "falls apart":
            yield row + 1, "The text of the token is split into other tokens, so the token never occurred in a text."
