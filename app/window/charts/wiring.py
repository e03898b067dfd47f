"""The charts: shown by the actions of their pages, saved and copied."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtGui import QGuiApplication

from app.session.notices import Notice
from app.session.run import NO_RUN
from app.session.session import Session
from app.settings import LAST_FOLDER
from app.window.charts.pairs_motion import Flight
from app.window.main_window import Frame
from app.window.pages import AUDIT, LAB, PAGES, PAIRS, TOKEN, WORDS, Pages
from app.window.parts.dialogs import ANIMATED_FILTER, CHART_FILTERS, DATA_FILTERS, PRINT_FILTERS, ask_where_to_save
from app.window.parts.page import Page, PageTabs
from app.window.parts.pictures import drawing_of, picture_of, save_animated, save_pdf, save_png, save_svg, write_drawing
from app.window.parts.watched import Exact
from bpe_core.errors import BpeError, OutputError
from bpe_core.figures.figure import Figure
from bpe_core.support.atomic import replace_atomically
from bpe_core.support.data_table import DataTable, checked_name, is_data, write_data
from bpe_core.support.progress import CancelCheck

if TYPE_CHECKING:
    from app.window.questions.lab.page import LabPage
    from app.window.questions.token.page import TokenPage

NOT_SAVED = "The chart could not be saved. {}"
NOTHING_YET = "There is nothing to be shown yet: train, or wait for the answer."


class Charting(QObject):
    saved = Signal(tuple, Path)  # by which command it can be made, if by any, and where

    def __init__(
        self,
        session: Session,
        frame: Frame,
        charts: PageTabs,
        pages: Pages,
        place_of: Callable[[int], QPoint | None],
        parent: QObject,
    ) -> None:
        """With where on the screen the token stands that the step made which leads to a moment."""
        super().__init__(parent)
        self.flight, self._place_of, self._pairs = Flight(frame.window), place_of, pages.page(PAIRS)
        self._pairs.winner_left.connect(self._let_winner_fly)
        session.cursor.moved.connect(self.flight.end)
        self._frame, self._charts, self._pages, self._runs = frame, charts, pages, session.runs
        self._aside = session.aside
        session.runs.changed.connect(self._name_pages)
        frame.actions["save_chart"].triggered.connect(lambda: self._save(self._shown))
        pages.when_built(TOKEN, lambda page: page.save_wanted.connect(lambda: self._save(page)))
        pages.when_built(TOKEN, lambda page: page.print_wanted.connect(lambda: self._open_print_dialog(page)))
        pages.when_built(TOKEN, lambda page: page.life.list_wanted.connect(lambda of: self._save_words_of(page, of)))
        pages.when_built(WORDS, lambda page: page.save_wanted.connect(lambda: self._save(page, DATA_FILTERS)))
        pages.when_built(AUDIT, lambda page: page.save_wanted.connect(lambda: self._save(page, DATA_FILTERS)))
        pages.when_built(LAB, self._connect_lab)
        frame.actions["print_chart"].triggered.connect(lambda: self._open_print_dialog(self._shown))
        frame.actions["copy_chart"].triggered.connect(self._copy)
        for row in PAGES:
            if row.actions and row.tabs == "charts":
                frame.actions[row.actions[0].name].triggered.connect(lambda _=False, id=row.id: self._bring_up(id))

    def _connect_lab(self, page: LabPage) -> None:
        page.below.save_wanted.connect(lambda: self._save_words(page))

    def _let_winner_fly(self, text: str, start: QPoint, seconds: float) -> None:
        stop = self._place_of(self._pairs.model.at)
        if stop is not None:
            self.flight.begin(text, start, stop, seconds)

    def _bring_up(self, id: str) -> None:
        self._frame.window.set_stage("")
        self._charts.show_page(id)

    def _name_pages(self) -> None:
        wording = NO_RUN if self._runs.shown is None else self._runs.shown.wording
        self._charts.rename("pairs", f"{wording.choice.capitalize()}s")

    @property
    def _shown(self) -> Page:
        on_stage = self._pages.on("centre").get(self._frame.window.stage)
        return self._charts.page if on_stage is None else on_stage.page

    def _save(self, page: Page, filters: dict[str, str] = CHART_FILTERS) -> None:
        """As one of what the filters offer, the first of which is proposed."""
        name = f"{page.accessibleName().lower()}.{next(iter(filters.values()))}"
        proposal = Path(self._frame.settings.get(LAST_FOLDER)) / name
        if filters is CHART_FILTERS and any(True for _ in page.frames()):
            filters = filters | ANIMATED_FILTER
        path = ask_where_to_save(self._frame.window, "Save the chart", str(proposal), filters)
        if path is not None:
            if is_data(path):
                self._save_data(page, path)
            else:
                self._frame.messages.show_notice(save(page, path))
                self.saved.emit((), path)

    def _save_words(self, page: LabPage) -> None:
        """The list beside the lab's curves."""
        self._save_list("differing words", page.figures.exact_words(), page.figures.command_of_words)

    def _save_words_of(self, page: TokenPage, name: str) -> None:
        """All words of which the page of a token names the first."""
        life = page.life.model
        self._save_list(f"{name} of a token", life.exact_words(name), life.command_of_words(name))

    def _save_list(self, name: str, exact: Exact, command: tuple[str, ...]) -> None:
        proposal = Path(self._frame.settings.get(LAST_FOLDER)) / f"{name}.{next(iter(DATA_FILTERS.values()))}"
        path = ask_where_to_save(self._frame.window, "Save the list", str(proposal), DATA_FILTERS)
        if path is not None:
            self._write(exact, command, path)

    def _save_data(self, page: Page, path: Path) -> None:
        self._write(page.exact(), page.watched.command, path)

    def _write(self, found: Exact, command: tuple[str, ...], path: Path) -> None:
        """Aside: there may be millions of rows."""
        exact, tell = known(found), self._frame.messages.show_notice

        def done(_: None) -> None:
            tell(saved(path))
            self.saved.emit(command, path)

        self._aside.ask(
            ("data", path),
            lambda task: write_data(exact(task.cancelled), checked_name(path), cancelled=task.cancelled),
            done,
            lambda sentence: tell(Notice(NOT_SAVED.format(sentence))),
            writes=True,
        )

    def _open_print_dialog(self, page: Page) -> None:
        from app.window.charts.print_dialog import PrintDialog

        self.print_dialog = PrintDialog(self._frame.settings, self._frame.window)
        self.print_dialog.chosen.connect(lambda *chosen: self._print(page, *chosen))
        self.print_dialog.finished.connect(self.print_dialog.deleteLater)
        self.print_dialog.open()

    def _print(self, page: Page, width: int, height: int, text: int, is_dark: bool) -> None:
        """What has a chart of exact values is drawn from these, as the command does; all else as it is on screen."""
        from bpe_core.figures.painter import picture
        from bpe_core.figures.sheet import Paper

        tell = self._frame.messages.show_notice
        name = f"{page.accessibleName().lower()}.pdf"
        proposal = str(Path(self._frame.settings.get(LAST_FOLDER)) / name)
        path = ask_where_to_save(self._frame.window, "Save the chart for print", proposal, PRINT_FILTERS)
        if path is None:
            return
        paper = Paper.of_millimetres(width, height, text, is_dark=is_dark)
        page.watched.catch_up()
        draw, has_figure = page.drawn(), page.has_figure
        command = page.watched.command if has_figure else ()
        sides = ("--width", f"{width}", "--height", f"{height}", "--text-size", f"{text}")
        drawn_so = (*sides, *(["--dark"] if is_dark else []))

        def write(drawn: bytes) -> None:
            tell(written(path, lambda beside: write_drawing(drawn, width, height, beside, path.suffix.lower())))
            self.saved.emit((*command, *drawn_so) if command else (), path)

        if not has_figure:
            write(drawing_of(page.pictured, width, height, text, is_dark=is_dark))
            return
        self._aside.ask(
            "print",
            lambda task: picture(_figure(draw(task.cancelled)), paper),
            write,
            lambda sentence: tell(Notice(NOT_SAVED.format(sentence))),
        )

    def _copy(self) -> None:
        self._shown.watched.catch_up()
        QGuiApplication.clipboard().setImage(picture_of(self._shown.pictured))


def known(exact: Exact) -> Exact:
    """Where nothing is known, that is told."""

    def table(cancelled: CancelCheck) -> DataTable:
        found = exact(cancelled)
        if not found.columns:
            raise BpeError(NOTHING_YET)
        return found

    return table


def _figure(drawn: Figure | None) -> Figure:
    if drawn is None:
        raise BpeError(NOTHING_YET)
    return drawn


def save(page: Page, path: Path) -> Notice:
    """Save a page as what the name ends in, and say how that went."""
    page.watched.catch_up()
    return written(path, lambda beside: _write(page, path.suffix.lower(), beside))


def written(path: Path, write: Callable[[Path], bool]) -> Notice:
    """A file that is there when all of it is; how that went."""
    try:
        with replace_atomically(path) as beside:
            if not write(beside):
                raise OSError(errno.EIO, "not all of it could be written")
    except OutputError as error:
        return Notice(NOT_SAVED.format(error))
    return saved(path)


def saved(path: Path) -> Notice:
    return Notice(f"Saved the chart as {path}.", is_error=False)


def _write(page: Page, kind: str, path: Path) -> bool:
    if kind == ".apng":
        return save_animated(list(page.frames()), path)
    if kind == ".pdf":
        return save_pdf(page.pictured, path)
    return save_svg(page.pictured, path) if kind == ".svg" else save_png(page.pictured, path)
