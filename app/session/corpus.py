"""The texts to learn from, and what is known about each."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.session.aside import Aside
from app.session.changes import Held, Steps
from app.session.corpus_texts import CorpusText, CorpusTexts, moved, with_address, with_files, with_folder, without
from app.session.counts import CountFailed, CountProgress, Counts, Outcome
from app.session.notices import Answer, Notice
from bpe_core import CorpusError, Recipe
from bpe_core.progress import CancelCheck
from bpe_core.text.reading.files import texts_in
from bpe_core.text.reading.folders import holds_more_than
from bpe_core.text.reading.skipped import SkipLog
from bpe_core.text.reading.source import ReadingOptions

TOPIC = "files of folders"
MOST_LISTED = 1_000  # files of a folder, one by one
MOST_TOLD = 200  # sentences about what is left out of folders


class SessionCorpus(QObject):
    """A list of texts that a person arranges; they are counted as the present recipe splits them."""

    noticed = Signal(Notice)
    column_wanted = Signal(int)  # the number of a table of which only a person can say where its texts are
    listed = Signal()  # all folders that were added have been looked through

    def __init__(self, recipe: Held[Recipe], aside: Aside, undo: Steps, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.texts: Held[CorpusTexts] = Held((), undo, self)
        self.counts = Counts(aside, self)
        self._recipe = recipe
        self._aside = aside
        self._told: set[int] = set()  # the numbers of texts that could not be counted, of which that was said
        self.counts.settled.connect(self._tell_failures)
        self._samples: set[int] = set()  # the numbers of texts that make room for the first one that a person brings

    @property
    def is_listing(self) -> bool:
        """Whether texts that were added are still on their way."""
        return self._aside.is_busy(TOPIC)

    def add_paths(self, paths: Sequence[Path]) -> None:
        """Add files, and the files of folders; a large folder takes a moment."""
        self._aside.ask(
            TOPIC,
            lambda task: texts_among(paths, task.cancelled),
            self._take_files,
            ended=self._tell_if_all_are_listed,
            queues=True,
        )

    def add_address(self, address: str) -> None:
        """Add what is read from there by the packages that are installed for such addresses."""
        self.texts.put(with_address(self._of_the_person, address), "Add an address")

    def add_text(self, name: str, text: str) -> None:
        self.texts.put((*self._of_the_person, CorpusText(name, text=text)), f"Add {name}")

    def replace_by_text(self, name: str, text: str) -> None:
        sample = CorpusText(name, text=text)
        self._samples.add(sample.number)
        self.texts.put((sample,), f"Use {name}")

    def remove(self, numbers: set[int]) -> None:
        self.texts.put(without(self.texts.value, numbers), "Remove from the corpus")

    def move(self, number: int, place: int) -> None:
        self.texts.put(moved(self.texts.value, number, place), "Reorder the corpus")

    def read_as(self, numbers: set[int], encoding: str | None) -> None:
        """Read files in another encoding."""
        self._read_otherwise(numbers, "Change the encoding", encoding=encoding)

    def take_column(self, numbers: set[int], column: str) -> None:
        """Take the texts of tables from another column."""
        self._read_otherwise(numbers, "Change the column", column=column, word_list=None)

    def take_as_words(self, numbers: set[int], word_list: bool) -> None:
        """Say whether tables hold words with their counts."""
        self._read_otherwise(numbers, "Change what a table holds", column="", word_list=word_list)

    def _read_otherwise(self, numbers: set[int], name: str, **changes: Any) -> None:
        texts = self.texts.value
        self.texts.put(tuple(dataclasses.replace(t, **changes) if t.number in numbers else t for t in texts), name)

    def count(self) -> None:
        """Count what is not counted yet."""
        self.counts.want(self.texts.value, self._recipe.value)

    def outcome_of(self, source: CorpusText) -> Outcome | None:
        return self.counts.outcome_of(source, self._recipe.value)

    def outcome_as_wanted(self, source: CorpusText) -> Outcome | None:
        """Without looking at its file again."""
        return self.counts.outcome_as_wanted(source, self._recipe.value)

    def progress_of(self, source: CorpusText) -> CountProgress | None:
        return self.counts.progress_of(source)

    def _take_files(self, found: Found) -> None:
        left_out, is_something = found.left_out, bool(found.files or found.folders)
        if left_out:
            others = len(left_out) - 1
            more = f" And {others:,} more are left out." if others and is_something else ""
            details = "\n".join(left_out[:MOST_TOLD]) if others else ""
            self.noticed.emit(Notice(left_out[0 if is_something else -1] + more, details, is_error=not is_something))
        if is_something:
            texts = with_files(self._of_the_person, found.files)
            for folder in found.folders:
                texts = with_folder(texts, folder)
            self.texts.put(texts, "Add files")

    @property
    def _of_the_person(self) -> CorpusTexts:
        """What is added to: nothing where a sample stands alone."""
        texts = self.texts.value
        return () if len(texts) == 1 and texts[0].number in self._samples else texts

    def _tell_failures(self) -> None:
        """What was brought and cannot be learned from: said at once, not only when it is to be learned."""
        failed = [(text.number, self.outcome_as_wanted(text)) for text in self.texts.value]
        fresh = {number: one.sentence for number, one in failed if isinstance(one, CountFailed)}
        asking = [number for number, one in failed if isinstance(one, CountFailed) and one.needs_column]
        new = [sentence for number, sentence in fresh.items() if number not in self._told]
        self._told = set(fresh)
        if new:
            more = f" And {len(new) - 1:,} more cannot be learned from." if len(new) > 1 else ""
            details = "\n".join(new[:MOST_TOLD]) if len(new) > 1 else ""
            choose = Answer("Choose a Column …", lambda: self.column_wanted.emit(asking[0]))
            self.noticed.emit(Notice(new[0] + more, details, answers=(choose,) if asking else ()))

    def _tell_if_all_are_listed(self) -> None:
        if not self.is_listing:
            self.listed.emit()

    @property
    def splits(self) -> bool:
        """Whether the recipe means to split texts at all."""
        return self._recipe.value.pattern != "none"


@dataclass(frozen=True)
class Found:
    """What was opened: files in the order they are to be read, large folders, and why the rest is left out."""

    files: tuple[Path, ...]
    folders: tuple[Path, ...]
    left_out: tuple[str, ...]


def texts_among(paths: Sequence[Path], cancelled: CancelCheck) -> Found:
    """These files, and the texts of these folders, but for folders of so many that they are one text of the corpus.

    What is wrong with a file that a person named is told beside its name.
    """
    found: list[Path] = []
    folders: list[Path] = []
    log = SkipLog()
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        if holds_more_than(MOST_LISTED, path, cancelled):
            folders.append(path)
            continue
        try:
            texts = texts_in(path, ("*",), ReadingOptions(), log, is_strict=False, cancelled=cancelled)
            found += [text.path for text in texts if text.path is not None]
        except CorpusError as error:
            log.add(str(path), str(error))
    return Found(tuple(found), tuple(folders), tuple(report.sentence for report in log.reports()))
