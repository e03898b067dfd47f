"""Counts that were begun in a window and go on without it: how they stand, and what comes of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.session.corpus_texts import to_be_counted_apart
from app.session.notices import Answer, Notice
from app.session.session import Session
from app.session.timer import timer
from app.window.parts.wording import size_text
from bpe_core import BpeError
from bpe_core.command_line.arguments import size_in
from bpe_core.counting import apart
from bpe_core.counting.apart import Order, Standing
from bpe_core.text.reading.addresses import is_address

LOOK_EVERY_MILLISECONDS = 500
TOPIC, LOOKING = "counts apart", "how counts apart stand"
BY = ("this program, on all cores", "a Dask cluster of this computer", "a Dask cluster at an address")
ON = ("", "local")  # what the first two are called; the third is its address
NO_TEXTS = "There is no text to count: open a file, paste a text or choose a sample."
NO_PLACE = "Choose a file to write the counts to first."
NO_ADDRESS = "Write the address of the cluster's scheduler, such as tcp://host:8786."
NO_SIZE = "“{}” is no size of memory; write it as 500MB or 2GB, or leave it empty."
NO_COUNTS = "“{}” must end in .parquet, or be a new folder that the counts become."


class CountsApart(QObject):
    """Any number of them; each is known by the file that tells how it stands."""

    changed = Signal()
    noticed = Signal(Notice)
    failed = Signal(str)  # to begin one
    open_wanted = Signal(str)  # the place of counts
    list_wanted = Signal()

    def __init__(self, session: Session, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._folder = session, folder
        self.known: Mapping[Path, Standing] = {}  # the newest first
        self._has_looked = False
        self._looking = timer(self, LOOK_EVERY_MILLISECONDS, self.look, repeats=True)
        if folder.is_dir():
            self.look()

    def look(self) -> None:
        """How all of them stand by now, those of other windows and of former ones, too."""
        if not self._session.aside.is_busy(LOOKING):
            self._session.aside.ask(LOOKING, lambda task: apart.standings(self._folder), self._take)

    def begin(self, by: int, address: str, workers: int, memory: str, output: str) -> None:
        """Let the texts be counted as the recipe splits them now."""
        texts, recipe = self._session.corpus.texts.value, self._session.recipe.value
        refusal = self._refusal(by, address, memory, output)
        if refusal:
            self.failed.emit(refusal)
            return
        try:
            order = Order(
                to_be_counted_apart(texts),
                recipe,
                output if is_address(output) else str(Path(output).absolute()),
                ON[by] if by < len(ON) else address,
                workers or None,
                size_in(memory) if memory else None,
            )
        except BpeError as error:
            self.failed.emit(str(error))
            return
        begin = partial(apart.begin, order, self._folder)
        self._session.aside.ask(
            TOPIC, lambda task: begin(), lambda path: self._watch(), self.failed.emit, queues=True, writes=True
        )

    def _refusal(self, by: int, address: str, memory: str, output: str) -> str:
        if not self._session.corpus.texts.value:
            return NO_TEXTS
        if not output:
            return NO_PLACE
        if not is_address(output) and Path(output).suffix not in ("", ".parquet"):
            return NO_COUNTS.format(output)
        if by == len(ON) and not is_address(address):
            return NO_ADDRESS
        return NO_SIZE.format(memory) if memory and not size_in(memory) else ""

    def stop(self, path: Path) -> None:
        """What is counted is kept."""
        apart.stop(path)

    def forget(self, path: Path) -> None:
        """Take one that has ended from the list; what it has written stays."""
        if path in self.known and not self.known[path].is_under_way:
            apart.forget(path)
            self._take({one: standing for one, standing in self.known.items() if one != path})

    def _watch(self) -> None:
        self._looking.start()
        self.look()

    def _take(self, found: Mapping[Path, Standing]) -> None:
        before, self.known = self.known, found
        under_way = [standing for standing in found.values() if standing.is_under_way]
        if under_way and not self._looking.isActive():
            self._looking.start()
        elif not under_way:
            self._looking.stop()
        if found != before:
            self.changed.emit()
        for path, standing in found.items():
            if path in before and before[path].is_under_way and not standing.is_under_way:
                self._tell_end(standing)
        if under_way and not self._has_looked and not before:
            show = Answer("Show", self.list_wanted.emit)
            sentence = f"A count goes on that was begun earlier: into {under_way[0].output}."
            self.noticed.emit(Notice(sentence, is_error=False, answers=(show,)))
        self._has_looked = True

    def _tell_end(self, standing: Standing) -> None:
        is_done = standing.state == "done"
        answer = Answer("Open the Counts", lambda: self.open_wanted.emit(standing.output))
        sentence = f"{standing.sentence} They are in {standing.output}." if is_done else standing.sentence
        self.noticed.emit(Notice(sentence, is_error=standing.state == "failed", answers=(answer,) if is_done else ()))


def told(standing: Standing) -> str:
    """How it stands, in a line."""
    if not standing.is_under_way:
        return standing.sentence
    if standing.state == "starting":
        return "Starting …"
    if not standing.total or not standing.stage:
        return "Counting …"
    if standing.unit == "bytes":
        return f"{standing.stage.capitalize()}: {size_text(standing.done)} of {size_text(standing.total)}"
    return f"{standing.stage.capitalize()}: {standing.done:,} of {standing.total:,} {standing.unit}"


def share(standing: Standing) -> float:
    """Of all there is to do."""
    whole = standing.done / standing.total if standing.total else 0.0
    return 0.9 * whole if standing.unit == "bytes" else 0.9 + 0.1 * whole
