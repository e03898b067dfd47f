"""The question of whether a table was learned correctly: whether each merge follows from the counts of a corpus."""

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
    Verdict,
    judge,
    sound_steps,
    split_at_spaces,
    split_by_script,
    steps_best_in_some_text,
    without_line_ends,
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
ALL = "none"  # the pattern that splits nothing
LIMITED = "sentencepiece"  # its trainer limits the length of tokens and splits words at changes of script
LIMIT = 16  # the usual limit of the trainer for symbols in a token
AT_BLANKS = "subword-nmt"
IN_LOWER_CASE = "in lower case"
KINDS_LIST = "".join(f"  {name:<10} {sentence}\n" for name, sentence in KINDS.items())


@dataclass(frozen=True)
class Check(Question):
    """Check whether a table was learned correctly: does each merge follow from the counts?

    Each step should merge the most frequent pair. Each row of the answer is a step that merges another pair, with the
    pair that should have been merged. Without texts the table alone is checked. With pins, check whether texts are
    still split the same way.
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
    is_unsaid: bool = True  # whether files of this kind never record this way
    own_until: int = 0  # steps that the table's own splitting explains
    balanced: int = 0  # steps that took the best pair of all texts or of one group

    @property
    def known(self) -> tuple[int, int]:
        return self.verdict.sound_until, self.verdict.rule_until


def _by_counts(study: Study, work: Work) -> Answer:
    words = study.inside.words(WHAT, work)
    history = _as_learned(study.history, words, work)
    limits = _limits(study, history)
    best = _best_way(study, words, history, limits[0], work)
    if best.verdict.faults and len(limits) > 1:
        by_other_limit = _best_way(study, words, history, limits[1], work)
        best = best if by_other_limit.verdict.faults else by_other_limit
    wrong = best.verdict.steps - best.verdict.right
    if best.verdict.first is not None and best.verdict.first.kind != "wrapped" and wrong * FEW > best.verdict.steps:
        best = _split_otherwise(study, best, work)
        best = replace(best, balanced=_steps_best_for_a_group(study, best, work))
    return _answer(study, best)


def _limits(study: Study, history: History) -> list[int | None]:
    """Return the limits for the length of a token that the trainer may have had, in symbols.

    The usual limit comes first. None means that there was no limit.
    """
    if study.format != LIMITED:
        return [None]
    longest = int(history.token_lengths().max(initial=1))
    return [LIMIT, longest] if longest < LIMIT else [longest]


def _best_way(study: Study, words: WordTable, history: History, limit: int | None, work: Work) -> _Judgement:
    """Check a table with the texts split into words in several ways. Return the check in which most steps are right.

    The first way is the pattern of the table. The other ways are ways that trainers use, but that files do not record.
    """
    own = _Judgement(history, history.recipe, judge(words, history, work, limit=limit))
    best = own
    if own.verdict.rule_until < own.verdict.steps:
        begun = _first_steps(history, own.verdict)
        for name, recipe, others, is_unsaid in _other_ways(study, history.recipe, words, work):
            if sound_steps(others, begun, work, limit=limit) < min(len(begun), own.verdict.sound_until):
                continue
            if not is_unsaid and own.verdict.sound_until == own.verdict.steps:
                continue
            verdict = judge(others, history, work, limit=limit)
            other = _Judgement(history, recipe, verdict, name, is_unsaid, own.verdict.sound_until)
            best = max(best, other, key=lambda judgement: judgement.known)
    return best


def _as_learned(history: History, words: WordTable, work: Work) -> History:
    """Return the history of a table with the method that explains the most steps.

    Several methods are tried only if the file does not name the method.
    """
    methods = (method for method in METHODS.values() if isinstance(method, Method))
    tables = [table for method in methods for table in method.possible_histories(history)]
    return max(tables, key=lambda table: sound_steps(words, table.first(TRIED), work), default=history)


def _steps_best_for_a_group(study: Study, judgement: _Judgement, work: Work) -> int:
    """Count the steps that joined the most frequent pair of all texts, or the most frequent pair of one group.

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
    """Return the first steps of a history.

    To save time, other ways to split texts into words are tried only on these steps.
    """
    return history.first(max(TRIED, 2 * verdict.sound_until))


def _other_ways(
    study: Study, recipe: Recipe, words: WordTable, work: Work
) -> Iterator[tuple[str, Recipe, WordTable, bool]]:
    """Yield other ways to split the texts into words.

    Each way has a name, a recipe and the counted words. The last value says whether files never record this way.
    """
    assert study.texts is not None
    if study.format == LIMITED:
        yield "by script", recipe, split_by_script(words, study.history), True
    if recipe.preparation:
        return
    if study.format == AT_BLANKS and recipe.marker in ("glued", "symbol"):
        lines = recipe.with_changes(pattern=ALL, unit="line", marker="none", marker_text="")
        yield "by U+0020 alone", recipe, split_at_spaces(study.texts.words(lines, work)), True
    for unit in get_args(Unit):
        if unit != recipe.unit:
            by_unit = recipe.with_changes(unit=unit)
            yield f"by {unit}", by_unit, study.texts.words(by_unit, work), True
    if recipe.marker == "none":
        by_line = recipe.with_changes(unit="line")
        yield "by line without its line break", by_line, without_line_ends(study.texts.words(by_line, work)), True
    if not recipe.lowercase and recipe.border == "":
        small = recipe.with_changes(lowercase=True)
        yield IN_LOWER_CASE, small, study.texts.words(small, work), not FORMATS.holding(study.format).holds_splitting


def _split_otherwise(study: Study, own: _Judgement, work: Work) -> _Judgement:
    """Check the table with other patterns.

    Return the check with the best of these patterns, if many more steps are right with it. Return the check `own`
    otherwise.
    """
    assert study.texts is not None
    recipe = own.history.recipe
    until = own.verdict.sound_until
    begun = _first_steps(own.history, own.verdict)
    best = ("", "", until)
    choices = [(name, unit) for name in NAMED_PATTERNS for unit in get_args(Unit) if name not in (recipe.pattern, ALL)]
    for name, unit in choices if not recipe.preparation and recipe.applies("pattern") else ():
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


def _about_splitting(study: Study, judgement: _Judgement) -> tuple[str, bool]:
    """Return a sentence about the pattern with which most steps are right.

    The second value says whether the table names another pattern.
    """
    name = judgement.splitting
    recipe = study.history.recipe
    says = FORMATS.holding(study.format).holds_splitting
    if name == IN_LOWER_CASE:
        file = "Its file does not say" if judgement.is_unsaid else "The table does not say"
        return f"{file} that texts were put into lower case, but lower-case texts fit best.", not judgement.is_unsaid
    if not name or not says or judgement.is_unsaid:
        return (f"Its file does not say how texts were split; {name} fits best." if name else ""), False
    return (
        f"The table names the pattern {recipe.pattern}, but with this pattern only the first {judgement.own_until:,} "
        f"merges follow from the counts. Of all known patterns, {name} fits best."
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
        sentences.append(f"{judgement.balanced:,} merged the most frequent pair of all texts or of one of the groups.")
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
    "Each merge took the most frequent pair of all texts or of one of the groups. Training that balances languages "
    "does so (parity-aware byte-pair encoding)."
)


def _verdict(study: Study, verdict: Verdict) -> Iterator[str]:
    first = verdict.first
    if 2 * verdict.miscounted > verdict.steps:
        yield (
            f"{verdict.miscounted:,} of the table's counts differ from these texts. The table was learned from "
            "other texts, or from more texts."
        )
    if first is None:
        yield f"All {verdict.steps:,} merges follow from the counts: each took the most frequent pair."
    else:
        yield f"Step {first.step:,} is the first wrong step. {_fault(study, first)}"
        most = "" if verdict.is_whole else "at most "
        yield f"{most}{verdict.right:,} of {verdict.steps:,} merges are correct.".capitalize()
        if 2 * verdict.right < verdict.steps:
            yield (
                "Few merges follow from the counts. So the table may have been learned from other texts, or by "
                "balancing languages. To check the second cause, give each language as a file or group."
            )
    if verdict.limit is not None:
        limit = f"no token has more than {verdict.limit:,} symbols"
        yield f"Longer pairs occur more often, but {limit}, which is the limit of the trainer."
    if verdict.rule_until == verdict.steps:
        yield f"Another pair was as frequent at {verdict.ties:,} steps. The rule {verdict.rule} decided each tie."
    elif first is None or verdict.rule_until < first.step - 1:
        yield (
            f"Another pair was as frequent at {verdict.ties:,} steps. No known tie rule explains all these steps. "
            f"The rule {verdict.rule} explains the steps up to step {verdict.rule_until:,}."
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
    sentences = [*flaws, *(f"{count:,} of {len(study.history):,} merges: {reason}" for reason, count in counts.items())]
    if not sentences:
        sentences.append("The table alone shows nothing wrong.")
    sentences.append("Give the texts that it was learned from to check each merge by the counts.")
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
            yield row + 1, "Its own text is split into other tokens, so it never occurred in a text."
