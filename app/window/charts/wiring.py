"""A class that connects the charts with the actions that show, save and copy them."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.session.background import Notice
from app.session.run import NO_RUN
from app.settings import LAST_FOLDER
from app.window.charts.pairs_motion import MovingToken
from app.window.main_window import WHOLE_ROOM, Frame
from app.window.pages import LAB, PAGES, PAIRS, TOKEN, Pages
from app.window.parts.dialogs import (
    ANIMATED_FILTER,
    CHART_FILTERS,
    DATA_FILTERS,
    PRINT_FILTERS,
    PrintDialog,
    ask_where_to_save,
)
from app.window.parts.lazy_model import Exact, command_of, table_function_of
from app.window.parts.page import Page, PageTabs
from app.window.parts.pictures import drawing_of, picture_of, save_animated, save_pdf, save_png, save_svg, write_drawing
from app.worker.job import Task
from bpe_core.errors import BpeError, OutputError
from bpe_core.support.atomic import replace_atomically, write_atomically
from bpe_core.support.data_table import checked_name, is_data, write_data
from bpe_core.support.progress import Work

if TYPE_CHECKING:
    from app.window.questions.compare.answers import LabPage
    from app.window.questions.token.page import TokenPage

NOT_SAVED = "The {} could not be saved. {}"
OWN_FILES = {".npz": "Arrays for NumPy"}  # what a file with this ending is
NOTHING_YET = "There is no chart yet: train, or wait for the answer."


class ChartWiring(QObject):
    saved = Signal(tuple, Path)  # the command that makes the same file, if any, and the path

    def __init__(
        self, frame: Frame, charts: PageTabs, pages: Pages, place_of: Callable[[int], QPoint | None], parent: QObject
    ) -> None:
        """Connect the charts with the session and with the actions of the window.

        `place_of` returns the point on the screen where the table shows the token of a step, or None.
        """
        super().__init__(parent)
        session = frame.session
        self.moving_token = MovingToken(frame.window)
        self._place_of = place_of
        self._pairs = pages.page(PAIRS)
        self._pairs.winner_left.connect(self._start_moving_token)
        self._moved_at = -1  # the step whose token moved last
        session.cursor.moved.connect(lambda at: self.moving_token.motion.end() if at != self._moved_at else None)
        self._frame = frame
        self._charts = charts
        self._pages = pages
        self._runs = session.runs
        self._background = session.background
        session.runs.changed.connect(self._name_pages)
        act_on = frame.actions.connect
        act_on(save_chart=lambda: self._save(self._shown), copy_chart=self._copy)
        act_on(print_chart=lambda: self._open_print_dialog(self._shown))
        for row in PAGES:
            pages.when_built(row, self._connect_save)
        pages.when_built(TOKEN, self._connect_token)
        pages.when_built(LAB, self._connect_lab)
        for row in PAGES:
            if row.actions and row.tabs == "charts":
                frame.actions[row.actions[0].name].triggered.connect(
                    lambda _=False, id=row.id: self._open_chart_tab(id)
                )

    def _connect_save(self, page: Page) -> None:
        page.save_wanted.connect(lambda: self._save(page))

    def _connect_token(self, page: TokenPage) -> None:
        def save_words(name: str) -> None:
            asked = page.life.model.asked_about(name)
            self._save_list(f"{name} of a token", table_function_of(asked), command_of(asked))

        page.print_wanted.connect(lambda: self._open_print_dialog(page))
        page.life.list_wanted.connect(save_words)

    def _connect_lab(self, page: LabPage) -> None:
        page.list_wanted.connect(lambda: self._save_list("differing words", *page.lab.words()))

    def _start_moving_token(self, text: str, start: QPoint, seconds: float) -> None:
        stop = self._place_of(self._pairs.model.at)
        if stop is not None:
            self._moved_at = self._pairs.model.at
            self.moving_token.begin(text, start, stop, seconds)

    def _open_chart_tab(self, id: str) -> None:
        if self._frame.window.stage != WHOLE_ROOM:
            self._frame.window.set_stage("")
        self._charts.show_page(id)

    def _name_pages(self) -> None:
        wording = NO_RUN if self._runs.shown is None else self._runs.shown.wording
        self._charts.rename("pairs", f"{wording.choice.capitalize()}s")

    @property
    def page_in_use(self) -> Page:
        """Return the page that has the focus, or else the visible chart."""
        widget: QWidget | None = self._frame.window.focusWidget()
        while widget is not None and not isinstance(widget, Page):
            widget = widget.parentWidget()
        return self._shown if widget is None else widget

    @property
    def _shown(self) -> Page:
        on_stage = self._pages.on("centre").get(self._frame.window.stage)
        return self._charts.page if on_stage is None else on_stage.page

    def _ask(self, title: str, name: str, filters: dict[str, str]) -> Path | None:
        proposal = Path(self._frame.settings.get(LAST_FOLDER)) / f"{name}.{next(iter(filters.values()))}"
        return ask_where_to_save(self._frame.window, title, str(proposal), filters)

    def _save(self, page: Page) -> None:
        """Ask for a path, and save the page as a picture or as data.

        If the page is only a table, the dialog proposes a data file.
        """
        filters = DATA_FILTERS | CHART_FILTERS if page.is_table else CHART_FILTERS
        name = page.accessibleName().lower()
        moves = any(True for _ in page.frames())
        own = page.watched.own_files()
        filters = filters | {f"{OWN_FILES.get(ending, 'File')} (*{ending})": ending.lstrip(".") for ending in own}
        path = self._ask("Save the chart", name, filters | ANIMATED_FILTER if moves else filters)
        if path is not None and path.suffix.lower() in own:
            self._write_own(own[path.suffix.lower()], page.watched.command, path)
        elif path is not None and is_data(path):
            self._write(page.table_function(), page.watched.command, path)
        elif path is not None:
            self._notify(save(page, path))
            self.saved.emit((), path)

    def _save_list(self, name: str, exact: Exact, command: tuple[str, ...]) -> None:
        path = self._ask("Save the list", name, DATA_FILTERS)
        if path is not None:
            self._write(exact, command, path)

    def _write_own(self, make: Callable[[], bytes], command: tuple[str, ...], path: Path) -> None:
        """Write a file in a background task. `make` returns the content of the file.

        This is for the additional file types that only some pages offer.
        """

        def write(task: Task) -> None:
            with write_atomically(path) as file:
                file.write(make())

        def done(_: None) -> None:
            self._notify(_saved(path))
            self.saved.emit(command, path)

        self._background.run(("data", path), write, done, self._fail, writes=True)

    def _write(self, find: Exact, command: tuple[str, ...], path: Path) -> None:
        """Write a table to a file in a background task, because it may have millions of rows."""

        def write(task: Task) -> None:
            table = find(task.cancelled)
            if not table.columns:
                raise BpeError(NOTHING_YET)
            write_data(table, checked_name(path), cancelled=task.cancelled)

        def done(_: None) -> None:
            self._notify(_saved(path))
            self.saved.emit(command, path)

        self._background.run(("data", path), write, done, self._fail, writes=True)

    def _notify(self, notice: Notice) -> None:
        self._frame.messages.show_notice(notice)

    def _fail(self, sentence: str) -> None:
        self._notify(Notice(NOT_SAVED.format("chart", sentence)))

    def _open_print_dialog(self, page: Page) -> None:
        has_caption = page.has_figure and page.watched.current_question is not None
        self.print_dialog = PrintDialog(self._frame.settings, has_caption=has_caption, parent=self._frame.window)
        self.print_dialog.chosen.connect(lambda *chosen: self._print(page, *chosen))
        self.print_dialog.finished.connect(self.print_dialog.deleteLater)
        self.print_dialog.open()

    def _print(self, page: Page, width: int, height: int, text: int, is_dark: bool, has_caption: bool) -> None:
        """Save a page for print.

        A chart is drawn from its exact values, just as a command in a terminal draws it. If `has_caption` is true, the
        rows and the caption of the chart are saved beside it. Any other page is printed as it looks on the screen.
        """
        from bpe_core.asking.beside_figure import write_beside_figure
        from bpe_core.asking.caption import caption_of
        from bpe_core.figures.painter import picture
        from bpe_core.figures.sheet import Paper

        path = self._ask("Save the chart for print", page.accessibleName().lower(), PRINT_FILTERS)
        if path is None:
            return
        page.watched.catch_up()
        draw = page.figure_function()
        find = page.table_function()
        asked = page.watched.current_question
        command = page.watched.command if page.has_figure else ()
        if command:
            command += ("--width", f"{width}", "--height", f"{height}", "--text-size", f"{text}")
            command += ("--dark",) if is_dark else ()
            command += ("--paper",) if has_caption else ()

        def drawn(task: Task) -> bytes:
            figure = draw(task.cancelled)
            if figure is None:
                raise BpeError(NOTHING_YET)
            if has_caption and asked is not None:
                caption = caption_of(*asked, Work(cancelled=task.cancelled))
                write_beside_figure(path, find(task.cancelled), figure.sentence, caption)
            return picture(figure, Paper.of_millimetres(width, height, text, is_dark=is_dark))

        def keep(drawn: bytes) -> None:
            kind = path.suffix.lower()
            self._notify(write_file(path, lambda beside: write_drawing(drawn, width, height, beside, kind)))
            self.saved.emit(command, path)

        if page.has_figure:
            self._background.run("print", drawn, keep, self._fail, writes=has_caption)
        else:
            keep(drawing_of(page.widget_to_save, width, height, text, is_dark=is_dark))

    def _copy(self) -> None:
        self._shown.watched.catch_up()
        QGuiApplication.clipboard().setImage(picture_of(self._shown.widget_to_save))


def save(page: Page, path: Path) -> Notice:
    """Save a picture of a page in the format of the file name extension. Return a message about the result."""
    page.watched.catch_up()
    return write_file(path, lambda beside: _save_page(page, path.suffix.lower(), beside))


def write_file(path: Path, write: Callable[[Path], bool], what: str = "chart") -> Notice:
    """Call `write` to make a file, and return a message about the result. The message calls the file `what`.

    The file appears at `path` only when it is complete.
    """
    try:
        with replace_atomically(path) as beside:
            if not write(beside):
                raise OSError(errno.EIO, "only a part of the file could be written")
    except OutputError as error:
        return Notice(NOT_SAVED.format(what, error))
    return _saved(path, what)


def _saved(path: Path, what: str = "chart") -> Notice:
    return Notice(f"Saved the {what} as {path}.", is_error=False)


def _save_page(page: Page, kind: str, path: Path) -> bool:
    if kind == ".apng":
        return save_animated(list(page.frames()), path)
    return save_picture(page.widget_to_save, kind, path)


def save_picture(widget: QWidget, kind: str, path: Path) -> bool:
    """Save a picture of a widget as PDF, SVG or PNG. Return whether that worked."""
    return {".pdf": save_pdf, ".svg": save_svg}.get(kind, save_png)(widget, path)
