"""The corpus of a session: its texts, their groups, the mixture of the groups, and facts about each text."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.session import corpus_texts as lists
from app.session.background import Answer, BackgroundTasks
from app.session.changes import Steps, UndoableValue
from app.session.corpus_texts import MOST_LISTED, CorpusText, CorpusTexts, can_be_picked
from app.session.counts import CountFailure, Counts, Outcome
from bpe_core.errors import CorpusError, RecipeError
from bpe_core.recipes.parts import BaseSymbols
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import CancelCheck
from bpe_core.text.mixture import By, Group, Mixture
from bpe_core.text.reading.files import groups_counted_in, texts_in
from bpe_core.text.reading.folders import folders_in, holds_more_than
from bpe_core.text.reading.source import ReadingOptions, SkipLog

TOPIC = "files_of_folders"
INTEGERS: BaseSymbols = "integers"
MOST_TOLD = 200  # most sentences about skipped files of folders


class SessionCorpus(QObject):
    """The list of texts that a user arranges. The words of the texts are counted for the current recipe."""

    column_wanted = Signal(int)  # number of a table whose text column only a user can choose
    encoding_wanted = Signal(int)  # number of a text that needs another encoding
    listed = Signal()  # all added folders have been searched

    def __init__(
        self, recipe: UndoableValue[Recipe], background: BackgroundTasks, undo: Steps, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.texts: UndoableValue[CorpusTexts] = UndoableValue((), undo, self)
        self.counts = Counts(background, self)
        self.recipe = recipe
        self.background = background
        self._undo = undo
        self._reported: set[int] = set()  # numbers of texts whose failure was reported
        self.counts.settled.connect(self._report_failures)
        self._samples: set[int] = set()  # numbers of sample texts, which the user's first text replaces

    @property
    def is_listing(self) -> bool:
        return self.background.is_busy(TOPIC)

    def add_paths(self, paths: Sequence[Path | str]) -> None:
        """Add files, and all files in folders, to the corpus. A background task lists the folders."""
        self.background.run(
            TOPIC,
            lambda task: texts_among([*map(Path, paths)], task.cancelled),
            self._take_files,
            ended=self._report_end_of_listing,
            queues=True,
        )

    def stop_listing(self) -> None:
        self.background.cancel(TOPIC)

    def add_address(self, address: str) -> None:
        """Add a text by its address, such as `s3://bucket/a.txt`. An installed package must be able to read it."""
        self._put(sort_by_group(lists.with_address(self._texts_that_stay, address)), "Add an address")

    def add_text(self, name: str, text: str) -> None:
        self._put(sort_by_group((*self._texts_that_stay, CorpusText(name, text=text))), f"Add {name}")

    def replace_by_text(self, name: str, text: str) -> None:
        sample = CorpusText(name, text=text)
        self._samples.add(sample.number)
        self._put((sample,), f"Use {name}")

    def remove(self, numbers: set[int]) -> None:
        self._put(lists.without(self.texts.value, numbers), "Remove from the corpus")

    def remove_files(self, number: int, names: Collection[str]) -> None:
        self._put(lists.without_files(self.texts.value, number, names), "Remove from the corpus")

    def arrange(self, texts: CorpusTexts) -> None:
        if texts != self.texts.value:
            self._put(sort_by_group(texts), "Reorder the corpus")

    # -- groups ----------------------------------------------------------------------------

    @property
    def mixture(self) -> Mixture:
        return self.recipe.value.mixture or Mixture()

    def group(self, numbers: Collection[int], name: str) -> None:
        """Put the texts with these numbers into a group. An empty name takes them out of their groups."""
        self._put(assign_groups(self.texts.value, dict.fromkeys(numbers, name)), f"Group {name}" if name else "Ungroup")

    def group_by_folders(self, numbers: Collection[int]) -> None:
        """Group texts by folder.

        Each folder directly below the common folder of the texts becomes a group. A large folder may be a single
        entry of the corpus. If it is the only entry to group, it is replaced by the files and folders in it.
        """
        texts = self.texts.value
        large = [text for text in texts if text.number in numbers and text.is_folder and not text.picked]
        if len(large) == 1 and len(numbers) == 1:
            folder = large[0]
            self.background.run(
                "folders_of_a_folder", lambda task: split_folder(folder), self._take_split, self.background.notify
            )
            return
        self._put(assign_groups(texts, groups_by_folder(texts, numbers)), "Groups from folders")

    def change_group(self, old: str, new: str, weight: Fraction, by: By) -> None:
        """Rename the group `old`, and set its weight.

        If weights are shares, then the other groups share the remainder.
        """
        numbers = {text.number: new for text in self.texts.value if text.group == old}
        texts = assign_groups(self.texts.value, numbers)
        mixture = rename_group(self.mixture, old, new) if new != old else self.mixture
        if (weight, by) != (mixture.of(new).weight, mixture.by):
            mixture = set_weight(mixture, names_of(texts), new, weight, by)
        self._put(texts, f"Group {new}", mixture)

    def choose(self, group: Group) -> None:
        self._put(self.texts.value, f"Sample of {group.name}", self.mixture.with_group(group))

    def weigh_by(self, by: By) -> None:
        """Choose whether the shares of groups are shares of bytes or of words."""
        self._put(self.texts.value, f"Shares by {by}", dataclasses.replace(self.mixture, by=by))

    def _put(self, texts: CorpusTexts, label: str, mixture: Mixture | None = None) -> None:
        before = names_of(self.texts.value)
        after = names_of(texts)
        said = fit_mixture(self.mixture if mixture is None else mixture, before, after)
        recipe = self.recipe.value.with_changes(mixture=said)
        if recipe == self.recipe.value:
            self.texts.put(texts, label)
            return
        self._undo.beginMacro(label)
        self.recipe.put(recipe, label)
        self.texts.put(texts, label)
        self._undo.endMacro()

    def _take_split(self, split: tuple[CorpusText, CorpusTexts]) -> None:
        folder, parts = split
        texts = self.texts.value
        if folder in texts:
            place = texts.index(folder)
            self._put(sort_by_group((*texts[:place], *parts, *texts[place + 1 :])), "Groups from folders")

    def change_reading(self, numbers: set[int], name: str, **changes: Any) -> None:
        """Change how the texts with these numbers are read.

        The keywords in `changes` set a new encoding, a new column, or whether the texts are lists of words.
        """
        texts = self.texts.value
        self.texts.put(tuple(dataclasses.replace(t, **changes) if t.number in numbers else t for t in texts), name)

    def rewrite(self, source: CorpusText, text: str | None) -> None:
        """Replace a text by an edited text. If `text` is None, restore the original text.

        A file on the disk does not change. The change adds no step to the undo stack, because the editor adds a step
        for each edit.
        """
        self._samples.discard(source.number)
        name = f"{source.name}, edited" if source.place else source.name
        fresh = source if text is None else CorpusText(name, text=text, number=source.number)
        texts = self.texts.value
        changed = (dataclasses.replace(fresh, group=t.group) if t.number == source.number else t for t in texts)
        self.texts.put_quietly(tuple(changed))

    def count(self) -> None:
        self.counts.request(self.texts.value, self.recipe.value)

    def last_outcomes(self) -> list[Outcome | None]:
        return self.counts.last_outcomes(self.texts.value, self.recipe.value)

    def learn_from_integers(self) -> None:
        """Change the recipe, so that each integer in NumPy files is a base symbol."""
        self.recipe.put(self.recipe.value.of_symbols(INTEGERS), "Learn from integers")

    def _take_files(self, opened: OpenedFiles) -> None:
        left_out = opened.left_out
        is_something = bool(opened.files or opened.picked or opened.folders or opened.counts)
        if left_out:
            others = len(left_out) - 1
            more = f" More files that were skipped: {others:,}." if others and is_something else ""
            details = "\n".join(left_out[:MOST_TOLD]) if others else ""
            self.background.notify(left_out[0 if is_something else -1] + more, details, is_error=not is_something)
        if is_something:
            texts = lists.with_picked(lists.with_files(self._texts_that_stay, opened.files), opened.picked)
            for folder in opened.folders:
                texts = lists.with_folder(texts, folder)
            for path, columns in opened.counts.items():
                texts = lists.with_counts(texts, path, columns)
            self._put(sort_by_group(texts), "Add files")

    @property
    def _texts_that_stay(self) -> CorpusTexts:
        """Return the texts to keep when the user adds texts. If the built-in sample is the only text, keep no text."""
        texts = self.texts.value
        return () if len(texts) == 1 and texts[0].number in self._samples else texts

    def _report_failures(self) -> None:
        """Report immediately which added texts cannot be counted. The user need not wait until training begins."""
        numbers = [text.number for text in self.texts.value]
        outcomes = zip(numbers, self.last_outcomes(), strict=True)
        failed = {number: outcome for number, outcome in outcomes if isinstance(outcome, CountFailure)}
        without_column = [number for number, failure in failed.items() if failure.needs_column]
        undecoded = [number for number, failure in failed.items() if failure.needs_encoding]
        held = {failure.held_symbols for failure in failed.values()}
        new = [failure.sentence for number, failure in failed.items() if number not in self._reported]
        self._reported = set(failed)
        if new:
            more = f" Other texts that cannot be counted: {len(new) - 1:,}." if len(new) > 1 else ""
            details = "\n".join(new[:MOST_TOLD]) if len(new) > 1 else ""
            column = Answer("Choose a Column …", lambda: self.column_wanted.emit(without_column[0]))
            encoding = Answer("Choose an Encoding …", lambda: self.encoding_wanted.emit(undecoded[0]))
            integers = Answer("Learn from Integers", self.learn_from_integers)
            answers = [(column, without_column), (encoding, undecoded), (integers, INTEGERS in held)]
            self.background.notify(
                new[0] + more, details, answers=tuple(answer for answer, is_offered in answers if is_offered)
            )

    def _report_end_of_listing(self) -> None:
        if not self.is_listing:
            self.listed.emit()


@dataclass(frozen=True)
class OpenedFiles:
    """The result of opening files and folders.

    It holds the files in reading order, the large folders, and the reasons for skipped files.
    """

    files: tuple[Path, ...]
    picked: Mapping[Path, tuple[str, ...]]  # many files, by their folders, instead of one text each
    folders: tuple[Path, ...]
    left_out: tuple[str, ...]
    counts: Mapping[Path, Mapping[str, str]]  # files and folders of counts, with the column of each group


def texts_among(paths: Sequence[Path], cancelled: CancelCheck) -> OpenedFiles:
    """Return the texts in files and folders.

    If there are many files, then each folder becomes a single text of the corpus.
    """
    files_found: list[Path] = []
    folders: list[Path] = []
    counts: dict[Path, Mapping[str, str]] = {}
    log = SkipLog()
    are_many = holds_more_than(MOST_LISTED, (path for path in paths if path.is_dir()), cancelled)
    for path in paths:
        if columns := groups_counted_in(path):
            counts[path] = columns
            continue
        if not path.is_dir():
            files_found.append(path)
            continue
        if are_many:
            folders.append(path)
            continue
        try:
            texts = texts_in(path, ("*",), ReadingOptions(), log, is_strict=False, cancelled=cancelled)
            files_found += [text.path for text in texts if text.path is not None]
        except CorpusError as error:
            log.add(str(path), str(error))
    reports = tuple(report.sentence for report in log.reports())
    many = [path for path in files_found if can_be_picked(path)] if len(files_found) > MOST_LISTED else []
    files = tuple(path for path in files_found if not can_be_picked(path)) if many else tuple(files_found)
    return OpenedFiles(files, lists.picked_by_folder(many, MOST_LISTED), tuple(folders), reports, counts)


def names_of(texts: CorpusTexts) -> tuple[str, ...]:
    """Return the names of the groups in their order. Texts without a group have the name ""."""
    return tuple(dict.fromkeys(text.group for text in texts))


def sort_by_group(texts: CorpusTexts) -> CorpusTexts:
    """Return the texts sorted by group. The groups keep the order of their first texts."""
    order = {name: place for place, name in enumerate(names_of(texts))}
    return tuple(sorted(texts, key=lambda text: order[text.group]))


def assign_groups(texts: CorpusTexts, groups: Mapping[int, str]) -> CorpusTexts:
    """Change the groups of some texts. Return all texts, with the texts of a group next to each other.

    `groups` maps the number of a text to the name of its new group.
    """
    return sort_by_group(tuple(dataclasses.replace(text, group=groups.get(text.number, text.group)) for text in texts))


def groups_by_folder(texts: CorpusTexts, chosen: Collection[int]) -> dict[int, str]:
    """Return a group name for each chosen text: the folder directly below the common folder of all chosen files.

    A file in the common folder itself gets the name of the common folder. A text without a path gets no name.
    """
    paths = {text.number: text.path for text in texts if text.number in chosen and text.path is not None}
    if not paths:
        return {}
    common = Path(os.path.commonpath([path.parent for path in paths.values()]))
    if all(path.parent == common for path in paths.values()):
        return {number: path.name if path.is_dir() else common.name for number, path in paths.items()}
    folders = {text.number for text in texts if text.is_folder}
    below = {number: path.relative_to(common).parts for number, path in paths.items()}
    return {number: parts[0] if len(parts) > 1 or number in folders else common.name for number, parts in below.items()}


def split_folder(folder: CorpusText) -> tuple[CorpusText, CorpusTexts]:
    """Return the folder itself, and the texts that can replace it: its subfolders and the files directly in it."""
    assert folder.path is not None
    parts = [
        CorpusText(f"{path.name}/" if path.is_dir() else path.name, path, is_folder=path.is_dir(), group=name)
        for name, paths in folders_in(folder.path).items()
        for path in paths
    ]
    return folder, tuple(parts)


def rename_group(mixture: Mixture, old: str, new: str) -> Mixture:
    """Return a mixture in which the group `old` has the name `new`.

    If another group has this name already, that group stays as it is, and the group `old` is removed.
    """
    known = {group.name for group in mixture.groups}
    groups = [group for group in mixture.groups if group.name != old or new not in known]
    fresh = tuple(
        dataclasses.replace(
            group,
            name=new if group.name == old else group.name,
            dev_of=new if group.dev_of and group.dev_of == old else group.dev_of,
        )
        for group in groups
    )
    return _normalize(fresh, mixture.by)


def set_weight(mixture: Mixture, names: Sequence[str], name: str, weight: Fraction, by: By) -> Mixture:
    """Return a mixture in which the group `name` has the weight `weight`.

    If weights are shares, the other groups keep their proportions and share the remainder. If the mixture changes from
    factors to shares or back, the weights of all other groups become equal.
    """
    groups = {group_name: mixture.of(group_name) for group_name in names}
    is_alike = (by == "times") == (mixture.by == "times")
    others = {group_name: group.weight if is_alike else Fraction(1) for group_name, group in groups.items()}
    if by != "times":
        if not 0 <= weight <= 1:
            raise RecipeError("A share must be between 0 % and 100 %.")
        if len(names) == 1 and weight != 1:
            raise RecipeError("The share of a single group is always 100 %.")
        rest = sum((share for group_name, share in others.items() if group_name != name), Fraction())
        if not rest:
            others = dict.fromkeys(names, Fraction(1))
            rest = Fraction(max(1, len(names) - 1))
        others = {group_name: share * (1 - weight) / rest for group_name, share in others.items()}
    weights = {**others, name: weight}
    return Mixture(
        tuple(dataclasses.replace(group, weight=weights[group_name]) for group_name, group in groups.items()), by
    )


def fit_mixture(mixture: Mixture, before: Collection[str], after: Sequence[str]) -> Mixture:
    """Return the mixture for a changed list of groups.

    A removed group is left out. A new group gets an equal share, or the factor 1 if the weights are factors.
    """
    gone = set(before) - set(after)
    groups = [group for group in mixture.groups if group.name not in gone]
    fitting = _normalize(tuple(groups), mixture.by)
    for name in after:
        if fitting.by != "times" and name not in before and name not in {group.name for group in fitting.groups}:
            names = [*(group.name for group in fitting.groups), name]
            fitting = set_weight(fitting, names, name, Fraction(1, len(names)), fitting.by)
    return fitting


def _normalize(groups: tuple[Group, ...], by: By) -> Mixture:
    """Return a mixture of the groups. Weights that are shares are changed so that they add up to 1.

    If `by` is "times", the weights are factors and stay unchanged. If the weight of every group is 0, then every group
    gets the weight 1.
    """
    whole = sum((group.weight for group in groups), Fraction())
    if by != "times" and whole:
        return Mixture(tuple(dataclasses.replace(group, weight=group.weight / whole) for group in groups), by)
    if not whole:
        return Mixture(tuple(dataclasses.replace(group, weight=Fraction(1)) for group in groups))
    return Mixture(groups, by)
