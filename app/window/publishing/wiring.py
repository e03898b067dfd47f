"""A class that saves reports, web pages and films, and a class that copies commands and Python code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QProgressDialog

from app.session.background import Answer
from app.session.document import Document
from app.session.manifests import CORPUS, EACH, TEXTS, TextFiles
from app.session.publications import FilmChoices, Publications
from app.session.repeat_code import LONGEST_ARGUMENT, SAVE_FIRST, UNSAVED, as_command, as_python, as_python_for_file
from app.session.run import Run
from app.settings import LAST_FOLDER
from app.window.main_window import Frame
from app.window.pages import LANES, Pages
from app.window.parts.dialogs import FILM_FILTERS, REPORT_FILTERS, ask_where_to_save
from app.window.parts.page import Page

if TYPE_CHECKING:  # loaded when it is opened, after the first paint of the window
    from app.window.publishing.film_dialog import FilmDialog

NOTHING_YET = "There is no run to publish yet. Train first."
NO_QUESTION = "This page asks no question, or has no answer yet, so there is nothing to copy."
TOO_LONG = "The text on this page is too long for a command. Use Edit > Copy as Python instead."
TEXTS_WRITTEN = "Texts without a file were saved beside the session, because the copied lines read them."
NO_FILE = "No file was written from this window yet."
NO_FUNCTION = "No Python function writes this file. Copy the command that writes this file instead."
NO_COMMAND = "No command makes this file, because the file shows the window itself."


class PublishingWiring(QObject):
    def __init__(self, frame: Frame, document: Document, pages: Pages, parent: QObject) -> None:
        super().__init__(parent)
        self._session = frame.session
        self._window = frame.window
        self._settings = frame.settings
        self._document = document
        self._pages = pages
        self._notify = partial(frame.session.background.notify, is_error=False)
        self.film_dialog: QProgressDialog | None = None
        self.film_form: FilmDialog | None = None
        self.lesson_taken: Callable[[], str] = lambda: (
            ""
        )  # returns the name of the lesson under way, or an empty string
        self.publications = made = Publications(document.snapshot, frame.session.background, self)
        frame.actions.connect(report=self.report, film=self.film)
        frame.actions.connect(share=self.share, share_lessons=self.share_lessons)
        made.reported.connect(partial(self._show_published, "report"))
        for shared in (made.shared, made.lessons_shared):
            shared.connect(lambda path, _: self._show_published("page", path))
        made.filming.connect(self._show_filming)
        made.filmed.connect(self._show_filmed)

    def report(self) -> None:
        self._ask_and_publish("report", "Write a report", self.publications.report)

    def share(self) -> None:
        """Ask where to save a web page about the run shown. Any browser can open the page.

        During a lesson, the page is about the lesson. If several runs are compared side by side, the page is about
        all of them.
        """
        numbers = self._pages.page(LANES).model.numbers if self._window.room == "compare" else []
        if name := self.lesson_taken():
            self.share_lessons(name)
        elif len(numbers) > 1:
            title = "Share the runs side by side"
            self._ask_and_publish("runs", title, partial(self.publications.share, numbers=numbers))
        else:
            self._ask_and_publish("run", "Share the run", self.publications.share)

    def share_lessons(self, *names: str) -> None:
        """Ask where to save a web page with these lessons. If no lesson is named, the page contains all lessons."""
        write = partial(self.publications.share_lessons, names=names)
        self._ask_and_write(names[0] if names else "lessons", "Share lessons", write, REPORT_FILTERS)

    def film(self) -> None:
        """Ask for the options of a film about the run shown. Write the film, and show the progress."""
        from app.window.publishing.film_dialog import FilmDialog

        run = self._learned
        if self.film_dialog is not None:
            self._notify("Another film is being drawn. Wait until that film is ready, or cancel it.")
        elif run is None:
            self._notify(NOTHING_YET)
        else:
            others = [other for other in self._session.runs.all if other is not run and other.history is not None]
            is_dark = self._window.palette().window().color().lightness() < 128
            named = [(other.number, f"Run {other.number}: {other.recipe.name}") for other in others]
            self.film_form = form = FilmDialog(named, is_dark=is_dark, parent=self._window)
            form.begin_with(self._session.selection.steps)
            form.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            form.chosen.connect(self._ask_and_film)
            form.open()

    def _ask_and_film(self, choices: FilmChoices) -> None:
        self._ask_and_publish("film", "Save a film of the run", partial(self._begin_film, choices), FILM_FILTERS)

    def _begin_film(self, choices: FilmChoices, path: Path) -> None:
        self.film_dialog = dialog = QProgressDialog(
            "The film is being drawn, frame by frame.", "Cancel", 0, 0, self._window
        )
        dialog.setWindowTitle(path.name)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.canceled.connect(self.publications.stop_filming)
        self.publications.film(path, choices)
        dialog.show()

    def _show_filming(self, done: int, total: int) -> None:
        if self.film_dialog is not None and not self.film_dialog.wasCanceled():
            self.film_dialog.setMaximum(total)
            self.film_dialog.setValue(min(done, total - 1))  # the dialog would close itself at the end

    def _show_filmed(self, path: Path | None, choices: FilmChoices, notes: str) -> None:
        if path is not None:
            self._show_published("film", path, notes)
        if self.film_dialog is not None:
            self.film_dialog.close()
            self.film_dialog = None

    @property
    def _learned(self) -> Run | None:
        """Return the run shown, or None if it has no history yet."""
        run = self._session.runs.shown
        return None if run is None or run.history is None else run

    def _ask_and_publish(
        self, name: str, title: str, publish: Callable[[Path], None], filters: dict[str, str] = REPORT_FILTERS
    ) -> None:
        if self._learned is None:
            self._notify(NOTHING_YET)
            return
        path = self._document.path
        self._ask_and_write(name if path is None else path.stem, title, publish, filters)

    def _ask_and_write(self, name: str, title: str, write: Callable[[Path], None], filters: dict[str, str]) -> None:
        proposal = Path(self._settings.get(LAST_FOLDER)) / f"{name}.{next(iter(filters.values()))}"
        path = ask_where_to_save(self._window, title, str(proposal), filters)
        if path is not None:
            write(path)

    def _show_published(self, what: str, path: Path, notes: str = "") -> None:
        url = QUrl.fromLocalFile(str(path.absolute()))
        open_it = Answer("Open It", lambda: QDesktopServices.openUrl(url))
        self._notify(f"Wrote the {what} to {path}. {notes}".strip(), answers=(open_it,))


class CodeCopier(QObject):
    """An object that copies a command or Python code to the clipboard.

    The code repeats the answer on the visible page, or recreates the file that was written last.
    """

    def __init__(
        self, frame: Frame, page_in_use: Callable[[], Page], session_path: Callable[[], Path | None], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._frame = frame
        self._page_in_use = page_in_use
        self._session_path = session_path
        self._command: tuple[str, ...] = ()  # of the file that was written last
        self._path: Path | None = None
        frame.actions.connect(
            copy_command=self.copy_command,
            copy_python=self.copy_python,
            copy_file_command=self.copy_file_command,
            copy_file_python=self.copy_file_python,
        )

    def remember_file(self, command: Sequence[str], path: Path) -> None:
        """Remember a file that was just written, and the command that recreates it."""
        self._command = tuple(command)
        self._path = path

    def copy_command(self) -> None:
        command = self._page_in_use().watched.command
        if any(len(word) > LONGEST_ARGUMENT for word in command):
            self._copy("", TOO_LONG)
            return
        texts = self._frame.session.corpus.texts.value
        note = self._write_texts(command)
        self._copy(as_command(command, self._session_path(), texts) if command else "", NO_QUESTION, note)

    def copy_python(self) -> None:
        watched = self._page_in_use().watched
        asked = watched.current_question
        lines = note = ""
        if asked is not None:
            note = self._write_texts(watched.command)
            texts = self._texts_in(watched.command)
            lines = as_python(asked[0], watched.opens_in_python, self._session_path(), texts)
        self._copy(lines, NO_QUESTION, note)

    def _files(self) -> TextFiles:
        return TextFiles(self._frame.session.corpus.texts.value, self._session_path() or Path(UNSAVED))

    def _texts_in(self, command: Sequence[str]) -> dict[str, list[Path]]:
        """Return the text files that `command` reads, as a dictionary from each group's name to a list of paths.

        Return an empty dictionary if the command does not read the corpus.
        """
        return self._files().by_group(each=EACH in command) if {CORPUS, EACH} & {*command} else {}

    def _write_texts(self, command: Sequence[str]) -> str:
        """Write a file for each text that `command` reads and that is not in a file yet.

        The files are written into the folder of the saved session. Return a sentence about them, or an empty string if
        no file was written.
        """
        files = self._files()
        if self._session_path() is None or not {TEXTS, CORPUS, EACH} & {*command} or not files.unwritten:
            return ""
        files.write()
        return TEXTS_WRITTEN

    def copy_file_command(self) -> None:
        texts = self._frame.session.corpus.texts.value
        session = self._session_path()
        line = as_command(self._command, session, texts, self._path) if self._command else ""
        self._copy(line, NO_FILE if self._path is None else NO_COMMAND)

    def copy_file_python(self) -> None:
        lines = ""
        if self._path is not None and self._command:
            lines = as_python_for_file(self._command, self._session_path(), self._path)
        self._copy(lines, NO_FILE if self._path is None else NO_FUNCTION)

    def _copy(self, text: str, why_not: str, note: str = "") -> None:
        """Copy code to the clipboard, and show a message that ends with the sentence `note`.

        If the session is unsaved, the message says that it must be saved first. If the code is empty, show the reason
        `why_not` instead.
        """
        background = self._frame.session.background
        if not text:
            background.notify(why_not, is_error=False)
            return
        QGuiApplication.clipboard().setText(text)
        first_line = text.splitlines()[0] if text.count("\n") < 2 else "The lines"
        is_unsaved = self._session_path() is None and UNSAVED in text
        save_first = SAVE_FIRST.format(UNSAVED) if is_unsaved else ""
        background.notify(" ".join(filter(None, (f"Copied: {first_line}.", save_first, note))), is_error=False)
