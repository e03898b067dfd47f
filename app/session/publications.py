"""The files about runs that a user gives to other people: reports, web pages and films."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.session.background import BackgroundTasks
from app.worker.job import Task
from bpe_core.session_file.values import SavedSession
from bpe_core.support.progress import Work

FILM = "film"


@dataclass(frozen=True)
class FilmChoices:
    """The user's choices for a film."""

    size: str
    first: int | None = None  # the first step, or the first size if the film shows two runs
    last: int | None = None
    seconds: float | None = None
    dark: bool = False
    beside: int | None = None  # the number of another run

    @property
    def choices(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("size", "first", "last", "seconds", "dark")}

    @property
    def words(self) -> tuple[str, ...]:
        """Return the choices as options of the command `film`.

        The second run of a film is not an option. It is an argument, which the caller adds.
        """
        given = (("--from", self.first), ("--to", self.last), ("--seconds", self.seconds))
        numbers = [word for name, value in given if value is not None for word in (name, f"{value:g}")]
        return ("--size", self.size, *numbers, *(["--dark"] if self.dark else []))


class Publications(QObject):
    """An object that writes the files that users give to other people: reports, web pages and films.

    A background task writes each file. A file about the session shows it as it was when the file was requested.
    """

    reported = Signal(object)  # the path of the page
    shared = Signal(object, object)  # the path of the page, and the numbers of its runs; none for the run shown
    lessons_shared = Signal(object, object)  # the path, and the names of the lessons; none for all
    filming = Signal(int, int)  # the number of frames drawn, and of all frames
    filmed = Signal(object, object, str)  # its path, or None without a film; the wish; what the film lacks

    def __init__(
        self, snapshot: Callable[[], SavedSession], background: BackgroundTasks, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._snapshot = snapshot
        self._background = background

    def report(self, path: Path) -> None:
        from bpe_core.report import report_of, write_report

        now = self._snapshot()
        self._write("report", lambda: write_report(report_of(now), path), lambda: self.reported.emit(path))

    def share(self, path: Path, numbers: Sequence[int] = ()) -> None:
        """Write a web page about the run shown.

        If `numbers` is given, the page shows the runs with these numbers side by side.
        """
        from bpe_core.report import report_of
        from bpe_core.sharing.page import share_reports

        now = self._snapshot()
        chosen = numbers or (None,)
        self._write(
            "share",
            lambda: share_reports([report_of(now, number) for number in chosen], path),
            lambda: self.shared.emit(path, numbers),
        )

    def share_lessons(self, path: Path, names: Sequence[str] = ()) -> None:
        from bpe_core.sharing.page import share_lessons

        self._write("share", lambda: share_lessons(path, names), lambda: self.lessons_shared.emit(path, names))

    def film(self, path: Path, choices: FilmChoices) -> None:
        """Write a film of the run shown and of the text. The signal `filming` reports the progress."""
        from bpe_core.filming.film import film_report
        from bpe_core.report import report_of

        now = self._snapshot()

        def film(task: Task) -> tuple[str, ...]:
            others = [] if choices.beside is None else [report_of(now, choices.beside)]
            return film_report(report_of(now), path, *others, work=Work(task.report, task.cancelled), **choices.choices)

        self._background.run(
            FILM,
            film,
            lambda notes: self.filmed.emit(path, choices, " ".join(notes)),
            self._background.notify,
            lambda news: self.filming.emit(news.done, news.total or 0),
            lambda: self.filmed.emit(None, choices, ""),
            writes=True,
        )

    def stop_filming(self) -> None:
        self._background.cancel(FILM)

    def _write(self, topic: str, write: Callable[[], None], then: Callable[[], object]) -> None:
        self._background.run(
            topic, lambda task: write(), lambda _: then(), self._background.notify, queues=True, writes=True
        )
