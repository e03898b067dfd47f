"""The list of the processes that count words in the background. They continue after the window is closed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.session.background import Answer
from app.session.session import Session
from app.session.time import timer
from app.window.parts.row_list import Role, RowListModel
from app.window.parts.wording import size_text
from bpe_core.counting import background
from bpe_core.counting.background import CountStatus as CountStatus
from bpe_core.counting.background import Order
from bpe_core.errors import BpeError
from bpe_core.support.limits import size_in
from bpe_core.text.reading.opening import is_address

LOOK_EVERY_MILLISECONDS = 500
TOPIC = "background_counts"
LOOKING = "status_of_background_counts"
BY = ("this program, on all cores", "a Dask cluster of this computer", "a Dask cluster at an address")
ON = ("", "local")  # the first two places; the third is an address
NO_TEXTS = "There is no text to count. Open a file, paste a text or choose a sample."
NO_PLACE = "First choose a file for the counts."
NO_ADDRESS = (
    "Write the address of the cluster's scheduler, such as tls://host:8786. The scheduler can run any code on this "
    "computer."
)
NO_SIZE = "“{}” is not a memory size. Write a size such as 500MB or 2GB, or leave the field empty."
NO_COUNTS = "“{}” must end in .parquet, or name a new folder for the counts."


class BackgroundCounts(RowListModel[tuple[Path, CountStatus]]):
    """A list of the counts that run in other processes, the newest first. Each count has a status file."""

    failed = Signal(str)  # why a count could not be started
    open_wanted = Signal(str)  # the path of the output
    list_wanted = Signal()

    def __init__(self, session: Session, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self._session = session
        self._folder = folder
        self._has_looked = False
        self._looking = timer(self, LOOK_EVERY_MILLISECONDS, self.read_status_files, repeats=True)
        if folder.is_dir():
            self.read_status_files()

    @property
    def known(self) -> dict[Path, CountStatus]:
        return dict(self.rows)

    def value_in_role(self, row: int, role: int) -> str | None:
        status = self.rows[row][1]
        return f"{status.output} · {status_text(status)}" if role == Role.DisplayRole else None

    def read_status_files(self) -> None:
        """Read the status files of all counts. Another window may have started some of them."""
        if not self._session.background.is_busy(LOOKING):
            self._session.background.run(LOOKING, lambda task: background.counts_in(self._folder), self._take)

    def begin(self, by: int, address: str, workers: int, memory: str, output: str) -> None:
        """Start a process that counts the words of the texts. The current recipe splits the texts."""
        texts = self._session.corpus.texts.value
        recipe = self._session.recipe.value
        refusal = self._refusal(by, address, memory, output)
        if refusal:
            self.failed.emit(refusal)
            return
        try:
            order = Order(
                tuple(text.to_count() for text in texts),
                recipe,
                output if is_address(output) else str(Path(output).absolute()),
                ON[by] if by < len(ON) else address,
                workers or None,
                size_in(memory) if memory else None,
            )
        except BpeError as error:
            self.failed.emit(str(error))
            return
        begin = partial(background.start_count, order, self._folder)
        self._session.background.run(
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
        background.stop_count(path)

    def forget(self, path: Path) -> None:
        """Remove a count that is no longer running from the list. The file with its result is kept."""
        if path in self.known and not self.known[path].is_under_way:
            background.remove_count(path)
            self._take({other: status for other, status in self.known.items() if other != path})

    def _watch(self) -> None:
        self._looking.start()
        self.read_status_files()

    def _take(self, counts: Mapping[Path, CountStatus]) -> None:
        before = self.known
        under_way = [status for status in counts.values() if status.is_under_way]
        if under_way and not self._looking.isActive():
            self._looking.start()
        elif not under_way:
            self._looking.stop()
        if counts != before:
            self.set_rows(tuple(counts.items()), are_same=list(counts) == list(before))
        for path, status in counts.items():
            if path in before and before[path].is_under_way and not status.is_under_way:
                self._report_end(status)
        if under_way and not self._has_looked and not before:
            show = Answer("Show", self.list_wanted.emit)
            sentence = f"An earlier count is still running. It writes its result to {under_way[0].output}."
            self._session.background.notify(sentence, is_error=False, answers=(show,))
        self._has_looked = True

    def _report_end(self, status: CountStatus) -> None:
        is_done = status.state == "done"
        answer = Answer("Open the Counts", lambda: self.open_wanted.emit(status.output))
        sentence = f"{status.sentence} The counts are in {status.output}." if is_done else status.sentence
        self._session.background.notify(
            sentence, is_error=status.state == "failed", answers=(answer,) if is_done else ()
        )


def status_text(status: CountStatus) -> str:
    if not status.is_under_way:
        return status.sentence
    if status.state == "starting":
        return "Starting …"
    if not status.total or not status.stage:
        return "Counting …"
    if status.unit == "bytes":
        return f"{status.stage.capitalize()}: {size_text(status.done)} of {size_text(status.total)}"
    return f"{status.stage.capitalize()}: {status.done:,} of {status.total:,} {status.unit}"


def share(status: CountStatus) -> float:
    """Return how much of a count is finished, from 0 to 1."""
    whole = status.done / status.total if status.total else 0.0
    return 0.9 * whole if status.unit == "bytes" else 0.9 + 0.1 * whole
