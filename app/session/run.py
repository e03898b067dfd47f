"""A run of the session: its recipe, its trainer, and its history. Runs share no state."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from app.session.corpus_texts import CorpusText, CorpusTexts
from app.worker.training import ExtendedTable, TableToExtend, TrainingJob
from bpe_core.counting.words import WordTable
from bpe_core.delivery.sidecars import Sidecars
from bpe_core.editing.growing import NOTHING_NEW, grown_numbers, lists_texts_only
from bpe_core.errors import FormatError, RecipeError
from bpe_core.following.followed_run import FollowedRun
from bpe_core.history.history import END_SENTENCES, EndReason, History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.methods.facts import Wording
from bpe_core.methods.kit.leading import LeadingPairs
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.methods.registry import METHODS
from bpe_core.recipes import run_titles
from bpe_core.recipes.parts import SteeringChoices
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.values import Fingerprint

NO_PAIRS_YET = LeadingPairs(-1, ())  # belongs to no step
NO_RUN = Wording()  # the words for steps before there is a run
_stamps = itertools.count(1)


class Phase(Enum):
    COUNTING = "counting"
    PREPARING = "preparing"
    LEARNING = "learning"
    FOLLOWED = "followed"  # another process trains it
    PAUSED = "paused"
    ENDED = "ended"
    FAILED = "failed"


@dataclass(frozen=True, eq=False)
class Origin:
    """The table that a run was opened from, with its sidecar files."""

    history: History
    format: str
    sidecars: Sidecars


@dataclass(eq=False)
class Run:
    """A run in the session: its recipe, its texts, its state and its learned history.

    Only the window's thread uses this object.
    """

    number: int
    recipe: Recipe
    sources: CorpusTexts
    stamp: Hashable = field(default_factory=lambda: ("run", next(_stamps)))  # a session keeps no stamps
    phase: Phase = Phase.COUNTING
    sentence: str = ""  # why it ended or failed
    trainer: Trainer | None = None
    words: WordTable | None = None
    symbol_counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    history: History | None = None
    names: TokenTexts | None = None
    leading: LeadingPairs = NO_PAIRS_YET
    merges_per_second: float = 0.0
    seconds_left: float | None = None
    merges_when_prepared: int | None = None  # steps to learn when the counts are ready; None for all
    fits: bool = False  # its size was not chosen by a user, so it may change to fit the texts
    only_counts: bool = False  # its merges are known, and only their counts are wanted
    job: TrainingJob | None = None
    parent: int | None = None  # the number of the run that it continues, in another way or on other texts
    only_named: tuple[str, ...] = ()  # names of its texts, if a session kept nothing else of them
    origin: Origin | None = None  # of a table that was opened, while the window is open
    begins_with: History | None = None  # steps that are repeated before new ones
    table_to_extend: TableToExtend | None = None  # the table that it extends on other texts
    # The extended table until it is reported, for methods that do not learn step by step.
    extended_table: ExtendedTable | None = None
    followed: FollowedRun | None = None  # what is known of a run that another process trains
    followed_file: Path | None = None  # the session that this process writes
    can_request: bool = False  # whether this window may ask that process to pause
    fingerprints: dict[int, Fingerprint] = field(default_factory=dict)  # by source number, when they were read

    @cached_property
    def wording(self) -> Wording:
        return METHODS[self.recipe.method].wording

    @property
    def learned(self) -> int:
        return 0 if self.history is None else len(self.history)

    def store_history(self, history: History) -> None:
        """Store the history that has been learned so far, with the ids of its tokens.

        Ids that came from a file stay. New tokens get the ids that the user chose, or else the next free ids.
        """
        before = self.begins_with if self.history is None else self.history
        numbers = None if before is None else before.numbers
        if numbers is not None:
            table_to_extend = self.table_to_extend
            first = None
            if table_to_extend is not None and table_to_extend.first_id is not None:
                first = table_to_extend.first_id + max(0, len(numbers) - table_to_extend.old.index_count)
            try:
                numbers = grown_numbers(history, numbers, first)
            except FormatError:  # other tokens have the wished ids by now
                numbers = grown_numbers(history, numbers)
            history = history.numbered(numbers)
        self.history = history

    @property
    def planned(self) -> int:
        """Return the number of steps that the recipe demands. Without a trainer, it is an estimate."""
        if self.trainer is not None:
            return self.trainer.steps_planned
        if self.history is None:
            return 0
        try:
            return max(self.learned, Method.of(self.recipe).steps_planned(self.recipe, self.history.alphabet))
        except RecipeError:
            return self.learned

    @property
    def gone_through(self) -> tuple[float, str] | None:
        """Return how much of the training is done, from 0 to 1, and what this share refers to, such as "the text".

        Return None if the method reports its progress in steps.
        """
        gone = None if self.trainer is None else self.trainer.gone_through
        return None if gone is None else (gone.done / max(1, gone.total), gone.whole)

    @property
    def is_busy(self) -> bool:
        return self.phase in (Phase.COUNTING, Phase.PREPARING, Phase.LEARNING, Phase.FOLLOWED)

    @property
    def end_reason(self) -> EndReason:
        """Return the reason why the training ended, or an empty string if the training can continue."""
        if self.trainer is not None and self.trainer.end_reason:
            return self.trainer.end_reason
        return "" if self.history is None or self.history.end_reason == "stopped" else self.history.end_reason

    @property
    def can_be_continued(self) -> bool:
        """Return whether the run has a trainer, or the words and the history to make a trainer."""
        return self.trainer is not None or (self.words is not None and self.history is not None)

    @property
    def can_be_counted(self) -> bool:
        """Return whether the run is an imported table without counts, so that its merges can be counted on a corpus."""
        history = self.history
        if self.is_busy or history is None or len(history) == 0 or history.has_counts:
            return False
        return not lists_texts_only(history)

    def can_go_on(self) -> bool:
        at_rest = self.phase in (Phase.PAUSED, Phase.ENDED) and self.job is None
        return at_rest and self.can_be_continued and self.end_reason == ""

    def would_repeat(self, recipe: Recipe, sources: CorpusTexts) -> bool:
        """Return whether a training run with this recipe and these texts would repeat this finished run."""
        if self.phase is not Phase.ENDED or self.can_go_on() or not sources or not self.learned_from(sources):
            return False
        return self.recipe.with_changes(name=recipe.name) == recipe and all(
            self._is_surely_unchanged(mine, source) for mine, source in zip(self.sources, sources, strict=True)
        )

    def learned_from(self, sources: CorpusTexts) -> bool:
        """Return whether this run learned from these texts. If a text has changed since then, return False."""
        return len(sources) == len(self.sources) and all(
            mine.is_same_as(source) and not self._has_changed(mine)
            for mine, source in zip(self.sources, sources, strict=True)
        )

    def _has_changed(self, mine: CorpusText) -> bool:
        known = self.fingerprints.get(mine.number)
        state = mine.file_state()
        return known is not None and state is not None and state != (known.size, known.modified_ns)

    def _is_surely_unchanged(self, mine: CorpusText, source: CorpusText) -> bool:
        """Return whether a text is surely unchanged since the training read it.

        Return False for folders and addresses, because a change in them would not be noticed.
        """
        if source.address or source.is_folder:
            return False
        known = self.fingerprints.get(mine.number)
        return source.path is None or (known is not None and source.file_state() == (known.size, known.modified_ns))

    def with_own_steering(self, recipe: Recipe) -> Recipe:
        """Return the recipe with the interventions of this run.

        If the recipe has interventions already, or a method that is not the method of this run, it is returned
        unchanged.
        """
        own = self.recipe.part(SteeringChoices)
        is_steered = recipe.part(SteeringChoices) != SteeringChoices()
        if self.recipe.method != recipe.method or own == SteeringChoices() or is_steered:
            return recipe
        return recipe.with_changes(**vars(own))

    def can_extend_to(self, recipe: Recipe) -> bool:
        recipe = self.with_own_steering(recipe)
        at_rest = not self.is_busy and self.job is None
        if not at_rest or not self.can_be_continued or not recipe.is_same_but_for_size(self.recipe):
            return False
        if self.history is None or self.end_reason not in ("", "vocabulary full"):
            return False
        try:
            return Method.of(recipe).steps_planned(recipe, self.history.alphabet) > max(self.learned, self.planned)
        except RecipeError:
            return False

    def why_no_branch(self, step: int) -> str:
        """Return the reason why no branch can begin at a step, or an empty string."""
        listed = METHODS[self.recipe.method]
        if not listed.can_be_steered:
            return f"{listed.title} does not merge pairs, so no pair can be forbidden or forced."
        if self.history is not None and lists_texts_only(self.history):
            return (
                "The file of this table does not say which pairs its tokens were merged from, so no branch can begin "
                "here."
            )
        if self.history is None or self.words is None:
            return "The words with these pairs are unknown. Use Training > Count on My Corpus first."
        if self.history.joining is not None:
            return "This table does not join pairs in the order of its steps, so no branch can begin here."
        if step <= self.recipe.grown_from:
            first = self.wording.counted(self.recipe.grown_from)
            return f"The first {first} belong to the table before its extension, so they cannot be changed."
        return ""

    def end_sentence(self) -> str:
        assert self.history is not None
        if 0 < self.recipe.grown_from >= self.learned:
            return NOTHING_NEW
        return END_SENTENCES[self.history.end_reason or "stopped"]


MOST_TURNS = 6  # most turns that a title names


def name_of(run: Run, runs: Sequence[Run]) -> str:
    return run_titles.name_of(run, runs, _text)


def titles_of(runs: Sequence[Run]) -> list[str]:
    """Return a title for each run: the name of its recipe.

    Runs with equal names get titles that also say how they differ.
    """
    return [run_titles.title_among(run, runs, _text) for run in runs]


def changed_name(name: str, change: str) -> str:
    """Return the name of a table that is made by changing the table `name`.

    >>> changed_name("gpt2", "trimmed"), changed_name("gpt2, trimmed", "trimmed")
    ('gpt2, trimmed', 'gpt2, trimmed')
    """
    return name if name.endswith(f", {change}") else f"{name}, {change}"


def as_tree(runs: Sequence[Run]) -> list[tuple[Run, int]]:
    """Return the runs as a tree: each run with its depth, the newest run first.

    Branches come right after their parent.
    """
    known = {run.number for run in runs}
    branches: list[tuple[Run, int]] = []
    waiting = [(run, 0) for run in runs if run.parent not in known]
    while waiting:
        run, depth = waiting.pop()
        branches.append((run, depth))
        waiting += [(child, depth + 1) for child in runs if child.parent == run.number]
    return branches


def training_changes(run: Run | None) -> tuple[tuple[int, ...], str]:
    """Return the steps at which the training of a run changes, and sentences about these changes, one on each line.

    The training changes at an intervention, at the step where a table was extended, and at the step where the
    method begins to learn in a different way.
    """
    if run is None:
        return (), ""
    recipe = run.recipe
    turns = {} if run.history is None else Method.of(recipe).turns(run.history)
    moments = (
        {intervention.step - 1 for intervention in recipe.interventions} | ({recipe.grown_from} - {0}) | turns.keys()
    )
    said = [f"After {recipe.wording.step} {step:,}: {what}." for step, what in turns.items()]
    said += [f"The table was extended after {recipe.wording.step} {recipe.grown_from:,}."] if recipe.grown_from else []
    said += [
        f"A pair was forbidden or forced at {recipe.wording.step} {intervention.step:,}."
        for intervention in recipe.interventions[:MOST_TURNS]
    ]
    return tuple(sorted(moments)), "\n".join(said)


def _text(run: Run, id: int) -> str:
    return run.names.text[id] if run.names is not None and id < len(run.names.text) else f"#{id}"
