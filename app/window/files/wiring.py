"""Files in and out: sessions, tokenizers, compressed files, and counts made by another process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog, QMenu, QMessageBox, QProgressDialog

from app.session.aside import Answer
from app.session.document import Document, FilmWish, Then
from app.session.run import Run
from app.session.safety_copy import RULE, Leftover
from app.session.tables import Imports
from app.settings import LAST_FOLDER, data_folder
from app.system.file_type import claim_sessions
from app.window.files.background_counts import BackgroundCounts
from app.window.files.cached_dialog import A_FILE, ask_for_cached
from app.window.files.export import TableExport
from app.window.files.export_dialog import ExportDialog
from app.window.main_window import ROOM, Frame
from app.window.merges.merge_table import MergeTableModel
from app.window.pages import LANES, Pages
from app.window.parts.dialogs import (
    FILM_FILTERS,
    REPORT_FILTERS,
    SESSION_FILTER,
    SESSION_FILTERS,
    TOKENIZER_FILTER,
    ask_before_leaving,
    ask_to_open,
    ask_where_to_save,
)
from app.window.parts.page import PageTabs
from app.window.parts.widgets import add_entry, filled_menu
from app.window.parts.wording import count_text, size_text
from app.window.text.text_model import TokenTextModel
from bpe_core.editing.without_tokens import numbers_of
from bpe_core.errors import BpeError
from bpe_core.formats.hugging_face_cache import PREFIX, cached_tokenizers
from bpe_core.formats.rebuilding import LARGEST_NUMBER
from bpe_core.history.history import History
from bpe_core.learning.growing import free_numbers, growing_recipe, listed_alone
from bpe_core.recipes.parts import LARGEST_VOCABULARY
from bpe_core.session_file import EXTENSION
from bpe_core.session_file.values import View
from bpe_core.support.private_folder import home

if TYPE_CHECKING:  # loaded when they are opened, after the first paint of the window
    from app.window.files.compress_and_encode import Direction, FileCompression
    from app.window.files.dialogs import CompressDialog, CountDialog, GrowthOffer
    from app.window.files.film_dialog import FilmDialog

LARGEST_SIZE = 10_000  # pixels
FORMER_CHARTS = {"duel": "lab"}  # how older files call what is shown by another one
COUNTS_FOLDER = "counts"  # beside the safety copies


class Filing(QObject):
    """The session as a file: saved, opened, brought back, with the arrangement of the window."""

    def __init__(
        self,
        frame: Frame,
        text: TokenTextModel,
        merges: MergeTableModel,
        charts: PageTabs,
        pages: Pages,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        session, window, actions = frame.session, frame.window, frame.actions
        self._session, self._window, self._settings, self._actions = session, window, frame.settings, actions
        self._text, self._merges, self._charts, self._pages = text, merges, charts, pages
        self._tell = partial(session.aside.tell, is_error=False)
        self._was_saved_to_leave = False
        self._left: Path | None = None  # the safety copy of the session before this one, until it is offered
        self.film_dialog: QProgressDialog | None = None
        self.film_form: FilmDialog | None = None
        self.lesson_taken: Callable[[], str] = lambda: ""  # its name, or none
        window.may_close = partial(self._may_leave, window.close)
        self.document = document = Document(session, data_folder(), self._layout, self)
        self.recover_menu = filled_menu("&Unsaved Sessions", window, self._fill_recover_menu)
        actions.menus["file"].insertMenu(actions["save"], self.recover_menu)
        actions.connect(new_session=partial(self._leave_for, self._begin_new), open_session=self._ask_and_open)
        actions.connect(save=self.save, save_as=self.save_as, report=self.report)
        actions.connect(share=self.share, share_lessons=self.share_lessons, film=self.film)
        actions.connect(claim_sessions=lambda: self._tell(claim_sessions()))
        document.changed.connect(self._show_name)
        document.opened.connect(self._show_opened)
        document.saved.connect(self._settings.remember_file)
        document.reported.connect(partial(self._show_published, "report"))
        for shared in (document.shared, document.lessons_shared):
            shared.connect(lambda path, _: self._show_published("page", path))
        document.filming.connect(self._show_filming)
        document.filmed.connect(self._show_filmed)
        document.recovery_wanted.connect(lambda path: self._leave_for(partial(document.recover, path)))
        document.elsewhere_wanted.connect(lambda: self.save_as())
        document.leftovers.changed.connect(self._offer_left)
        self._show_name()

    def open(self, path: Path) -> None:
        self._settings.remember_file(path)
        self._leave_for(partial(self.document.open, path))

    def bring_back(self, leftover: Leftover) -> None:
        self._leave_for(partial(self.document.open_leftover, leftover))

    def open_first(self, paths: Sequence[Path]) -> None:
        """Open the first, and say that a window holds only one session."""
        self.open(paths[0])
        if len(paths) > 1:
            names = ", ".join(path.name for path in paths[1:])
            sentence = f"A window holds one session: {paths[0].name} is opened. Start BPE Explorer again for {names}."
            self._tell(sentence)

    def save(self, *, then: Then = lambda: None) -> None:
        """Save to the session's own file; ask where, if it has none yet."""
        if self.document.path is None:
            self.save_as(then=then)
        else:
            self.document.save(then=then)

    def save_as(self, *, then: Then = lambda: None) -> None:
        known = self.document.path
        proposal = known or Path(self._settings.get(LAST_FOLDER)) / f"session{EXTENSION}"
        path = ask_where_to_save(self._window, "Save the session", str(proposal), SESSION_FILTERS)
        if path is not None:
            self.document.save(path, then=then)

    def report(self) -> None:
        self._ask_and_publish("report", "Write a report", self.document.report)

    def share(self) -> None:
        """Ask where the page of the run shown is written, so that anybody with a browser can open it.

        While a lesson is taken, it is the page of that lesson; while runs are compared, they are all on it.
        """
        numbers = self._pages.page(LANES).model.numbers if self._window.room == "compare" else []
        if name := self.lesson_taken():
            self.share_lessons(name)
        elif len(numbers) > 1:
            title = "Share the runs side by side"
            self._ask_and_publish("runs", title, partial(self.document.share, numbers=numbers))
        else:
            self._ask_and_publish("run", "Share the run", self.document.share)

    def share_lessons(self, *names: str) -> None:
        """Ask where the page of these lessons is written, or of all."""
        name = names[0] if names else "lessons"
        self._ask_and_write(name, "Share lessons", partial(self.document.share_lessons, names=names), REPORT_FILTERS)

    def film(self) -> None:
        """Ask how and where a film of the run shown is written, and show how far it is."""
        from app.window.files.film_dialog import FilmDialog

        run, runs = self._session.runs.shown, self._session.runs
        if self.film_dialog is not None:
            self._tell("Another film is being drawn; wait for it or cancel it.")
        elif run is None or run.history is None:
            self._tell("There is nothing to publish yet: train first.")
        else:
            others = [one for one in runs.all if one is not run and one.history is not None]
            is_dark = self._window.palette().window().color().lightness() < 128
            named = [(one.number, f"Run {one.number}: {one.recipe.name}") for one in others]
            self.film_form = form = FilmDialog(named, is_dark=is_dark, parent=self._window)
            form.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            form.chosen.connect(self._ask_and_film)
            form.open()

    def _ask_and_film(self, wish: FilmWish) -> None:
        self._ask_and_publish("film", "Save a film of the run", partial(self._begin_film, wish), FILM_FILTERS)

    def _begin_film(self, wish: FilmWish, path: Path) -> None:
        self.film_dialog = dialog = QProgressDialog("The film is drawn, frame by frame.", "Cancel", 0, 0, self._window)
        dialog.setWindowTitle(path.name)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.canceled.connect(self.document.stop_filming)
        self.document.film(path, wish)
        dialog.show()

    def _show_filming(self, done: int, total: int) -> None:
        if self.film_dialog is not None and not self.film_dialog.wasCanceled():
            self.film_dialog.setMaximum(total)
            self.film_dialog.setValue(min(done, total - 1))  # it would close itself at the end

    def _show_filmed(self, path: Path | None, wish: FilmWish) -> None:
        if path is not None:
            self._show_published("film", path)
        if self.film_dialog is not None:
            self.film_dialog.close()
            self.film_dialog = None

    def _ask_and_publish(
        self, name: str, title: str, publish: Callable[[Path], None], filters: dict[str, str] = REPORT_FILTERS
    ) -> None:
        run = self._session.runs.shown
        if run is None or run.history is None:
            self._tell("There is nothing to publish yet: train first.")
            return
        name = name if self.document.path is None else self.document.path.stem
        self._ask_and_write(name, title, publish, filters)

    def _ask_and_write(self, name: str, title: str, write: Callable[[Path], None], filters: dict[str, str]) -> None:
        proposal = Path(self._settings.get(LAST_FOLDER)) / f"{name}.{next(iter(filters.values()))}"
        path = ask_where_to_save(self._window, title, str(proposal), filters)
        if path is not None:
            write(path)

    def offer_to_recover(self) -> None:
        """Look for unsaved sessions of earlier windows, and offer them in the message bar."""
        leftovers = self.document.leftovers
        leftovers.changed.connect(self._offer, Qt.ConnectionType.SingleShotConnection)
        leftovers.look()

    def _show_published(self, what: str, path: Path) -> None:
        url = QUrl.fromLocalFile(str(path.absolute()))
        self._tell(f"Wrote the {what} to {path}.", answers=(Answer("Open It", lambda: QDesktopServices.openUrl(url)),))

    # Leaving, opening and bringing back

    def _leave_for(self, act: Then) -> None:
        """Replace the session by `act`, unless it would be lost and the person keeps it."""
        if self._may_leave(partial(self._leave_for, act)):
            act()

    def _may_leave(self, again: Then) -> bool:
        """Ask if this session would be lost, or a person quits. After saving, call `again`."""
        was_saved, self._was_saved_to_leave = self._was_saved_to_leave, False
        why = "" if was_saved else self.document.secure()
        if was_saved or not (why or (self._window.is_quitting and self.document.holds_own_work)):
            return True
        chosen = ask_before_leaving(self._window, why)
        if chosen == QMessageBox.StandardButton.Save:
            self.save(then=partial(self._leave_saved, again))
        return chosen == QMessageBox.StandardButton.Discard

    def _leave_saved(self, again: Then) -> None:
        """Go on without asking again about what was learned since."""
        self._was_saved_to_leave = True
        again()

    def _begin_new(self) -> None:
        self._left = self.document.new()

    def _offer_left(self) -> None:
        left = next((one for one in self.document.leftovers.all if one.path == self._left), None)
        if left is not None:
            self._left = None
            restore = Answer("Restore", lambda: self.bring_back(left))
            self._tell(f"The session before this one is kept: {title_of(left)}.", answers=(restore,))

    def _ask_and_open(self) -> None:
        path = ask_to_open(self._window, "Open a session", self._settings.get(LAST_FOLDER), SESSION_FILTER)
        if path is not None:
            self.open(path)

    def _offer(self) -> None:
        if not self.document.leftovers.all:
            return
        newest = self.document.leftovers.all[0]
        others = len(self.document.leftovers.all) - 1
        more = f" {count_text(others, 'older one')} can be found under File > Unsaved Sessions." if others else ""
        restore = "Restore" if not newest.damage else "Save What Can Be Read"
        answers = (
            Answer(restore, lambda: self.bring_back(newest)),
            Answer("Discard", lambda: self.document.leftovers.remove(newest)),
        )
        sentence = f"The last session was {_how_it_ended(newest)}: {title_of(newest)}.{more}"
        self._tell(sentence, newest.damage, can_wait=True, answers=answers)

    def _fill_recover_menu(self, menu: QMenu) -> None:
        leftovers = self.document.leftovers
        for leftover in leftovers.all:
            add_entry(menu, title_of(leftover), partial(self.bring_back, leftover))
        for rest in ("", RULE) if leftovers.all else ("None", "", RULE):
            (menu.addAction(rest) if rest else menu.addSeparator()).setEnabled(False)
        leftovers.look()  # for the next time

    # What the window shows

    def _show_name(self) -> None:
        self._window.setWindowTitle(f"{self.document.name}[*] – BPE Explorer")
        self._window.setWindowModified(self.document.is_modified)
        self._window.setWindowFilePath("" if self.document.path is None else str(self.document.path))

    def _layout(self) -> dict[str, Any]:
        docks, lanes = self._window.arrangement(), self._pages.known(LANES)
        return {
            "room": self._window.room,
            "docks": dict(docks.is_open),
            "sizes": {name: list(size) for name, size in docks.sizes.items()},
            "centre": self._window.centre.sizes(),
            "chart": self._charts.shown,
            "sort": [self._merges.sort_column, self._merges.sort_descending],
            "lab": {} if lanes is None else lanes.model.kept(),
        }

    def _show_opened(self, view: View) -> None:
        self._text.set_text(self._session.text.value)
        self._arrange(view.layout)
        self._open_lab(view.layout.get("lab"))

    def _open_lab(self, kept: object) -> None:
        had_any = isinstance(kept, dict) and any(value not in (None, False) for value in kept.values())
        if had_any or self._pages.known(LANES) is not None:
            self._pages.page(LANES).model.restore(kept)
        if isinstance(kept, dict) and kept.get("open") is True:  # as older files say it
            self._charts.show_page("lab")

    def _arrange(self, layout: Mapping[str, Any]) -> None:
        """Arrange the window as far as the values make sense: they may come from a stranger."""
        room, docks, centre, chart, sort = (layout.get(key) for key in ("room", "docks", "centre", "chart", "sort"))
        self._window.show_room(room if room in ROOM else "ask")
        if isinstance(docks, dict) and room in ROOM:  # older files had one room for all
            for id, dock in self._window.docks.items():
                dock.setVisible(docks.get(id) is True)
        self._resize_docks(layout.get("sizes"))
        if isinstance(centre, list) and len(centre) == 2 and all(type(size) is int for size in centre):
            self._window.centre.setSizes([min(max(0, size), LARGEST_SIZE) for size in centre])
        if type(chart) is int and 0 <= chart < len(self._charts.ids):  # as older files say it
            chart = self._charts.ids[chart]
        if isinstance(chart, str):
            self._charts.show_page(FORMER_CHARTS.get(chart, chart))
        if isinstance(sort, list) and len(sort) == 2 and sort[0] in range(self._merges.columnCount()):
            order = Qt.SortOrder.DescendingOrder if sort[1] is True else Qt.SortOrder.AscendingOrder
            self._merges.sort(sort[0], order)

    def _by_id(self, values: dict[str, Any]) -> dict[str, Any]:
        ids = {dock.windowTitle(): id for id, dock in self._window.docks.items()}
        return {ids.get(name, name): value for name, value in values.items()}

    def _resize_docks(self, sizes: object) -> None:
        """Give docks the sizes they had, each in front of the others of its group."""
        if not isinstance(sizes, dict):
            return
        known = {
            name: size for name, size in self._by_id(sizes).items() if name in self._window.docks and _is_size(size)
        }
        docks = [self._window.docks[name] for name in known]
        for dock in docks:
            dock.raise_()
        if docks:
            self._window.resizeDocks(docks, [width for width, _ in known.values()], Qt.Orientation.Horizontal)
            self._window.resizeDocks(docks, [height for _, height in known.values()], Qt.Orientation.Vertical)


class Exchanging(QObject):
    """Tokenizers, counts and compressed files: each with its actions, its model and its dialog."""

    written = Signal(tuple, Path)  # the command that writes the same file, and where it is

    def __init__(self, frame: Frame, pages: Pages, parent: QObject) -> None:
        super().__init__(parent)
        session, actions = frame.session, frame.actions
        self._session, self._frame, self._pages = session, frame, pages
        self.export_dialog: ExportDialog | None = None
        self.compress_dialog: CompressDialog | None = None
        self.count_dialog: CountDialog | None = None
        self.export = TableExport(session, self)
        self.imports = Imports(session.runs, session.aside, self)
        self.counts = BackgroundCounts(session, data_folder() / COUNTS_FOLDER, self)
        actions.connect(
            export=self._export,
            count_imported=lambda: session.runs.count_on(session.corpus.texts.value),
            extend_imported=self._extend,
            compress_file=lambda: self._compress("compress"),
            expand_file=lambda: self._compress("expand"),
            count_apart=self._show_counts,
        )
        actions["import"].triggered.connect(lambda: self._import(self.imports.open))
        self.counts.list_wanted.connect(self._show_counts)
        self.export.written.connect(self.written)
        to_compare = partial(self._import, partial(self.imports.open, opened=self._compare_with))
        pages.when_built(LANES, lambda page: page.import_wanted.connect(to_compare))
        session.runs.changed.connect(self._enable)
        self._enable()

    # -- tokenizers ------------------------------------------------------------------------

    def open(self, path: Path) -> None:
        self._frame.settings.remember_file(path)
        self.imports.open(path)

    def _export(self) -> None:
        if not self.export.can_start():
            sentence = "There is nothing to export yet: train first, or import a tokenizer."
            self._session.aside.tell(sentence, is_error=False)
            return
        folder = Path(self._frame.settings.get(LAST_FOLDER))
        self._show("export_dialog", lambda: ExportDialog(self.export, folder, self._frame.window))

    def _import(self, open_table: Callable[[Path], object]) -> None:
        cached = {one.typed: f"{one.file.name}, {_size(one.file)}" for one in cached_tokenizers()}
        chosen = ask_for_cached(self._frame.window, cached) if cached else A_FILE
        if chosen not in ("", A_FILE):
            open_table(Path(PREFIX + chosen.removeprefix(PREFIX)))
            return
        folder = self._frame.settings.get(LAST_FOLDER)
        path = ask_to_open(self._frame.window, "Open a tokenizer", folder, TOKENIZER_FILTER) if chosen else None
        if path is not None:
            self._frame.settings.remember_file(path)
            open_table(path)

    def _compare_with(self, run: Run) -> None:
        """Put it beside the others; where no run is shown, show it."""
        if self._session.runs.shown is None:
            self._session.runs.show(run)
        else:
            self._pages.page(LANES).model.add(run.number)

    def _extend(self) -> None:
        from app.window.files.dialogs import GrowthDialog

        run = self._session.runs.shown
        if run is None or run.history is None:
            return
        try:
            offer = _growth_offer(run.history)
        except BpeError as error:
            self._session.aside.tell(str(error))
            return
        self.growth_dialog = GrowthDialog(offer, self._frame.settings.get(LAST_FOLDER), self._frame.window)
        grow_on, sources = self._session.runs.grow_on, self._session.corpus.texts.value
        self.growth_dialog.wished.connect(lambda by, at, held, choices: grow_on(sources, by, at, held, **choices))
        self.growth_dialog.finished.connect(self.growth_dialog.deleteLater)
        self.growth_dialog.open()

    def _enable(self) -> None:
        shown = self._session.runs.shown
        self._frame.actions["count_imported"].setEnabled(shown is not None and shown.can_be_counted)
        rests = shown is not None and not shown.is_busy and shown.history is not None and shown.history.id_count > 0
        self._frame.actions["extend_imported"].setEnabled(rests)

    # -- files of any kind, and counts -----------------------------------------------------

    @cached_property
    def compression(self) -> FileCompression:
        from app.window.files.compress_and_encode import FileCompression

        model = FileCompression(self._session, self)
        model.written.connect(self.written)
        return model

    def _compress(self, direction: Direction) -> None:
        from app.window.files.dialogs import CompressDialog

        if self.compress_dialog is not None:
            self.compress_dialog.close()  # one file at a time
        folder = self._frame.settings.get(LAST_FOLDER)
        self._show("compress_dialog", lambda: CompressDialog(self.compression, direction, folder, self._frame.window))

    def _show_counts(self) -> None:
        from app.window.files.dialogs import CountDialog

        self.counts.look()
        proposal = Path(self._frame.settings.get(LAST_FOLDER) or home() or "") / "counts.parquet"
        self._show("count_dialog", lambda: CountDialog(self.counts, str(proposal), self._frame.window))

    def _show(self, name: str, make: Callable[[], QDialog]) -> None:
        """Show a dialog and free it when it is closed, or raise the one that is open already."""
        if (dialog := getattr(self, name)) is None:
            dialog = make()
            setattr(self, name, dialog)
            dialog.finished.connect(lambda: setattr(self, name, None))
            dialog.finished.connect(dialog.deleteLater)
            dialog.show()
        dialog.raise_()


def _growth_offer(history: History) -> GrowthOffer:
    """Return the choices for extending a table; a BpeError where it cannot learn more."""
    from app.window.files.dialogs import GrowthOffer

    growing_recipe(history, 1)
    numbers = numbers_of(history)

    def refusal(by: int, first: int) -> str:
        try:
            free_numbers(numbers, by, first)
        except BpeError as error:
            return str(error)
        return ""

    return GrowthOffer(
        most=LARGEST_VOCABULARY,
        first_free=int(free_numbers(numbers, 1)[0]),
        largest=LARGEST_NUMBER - LARGEST_VOCABULARY,
        rule=history.recipe.wordpiece_rule if listed_alone(history) else "",
        refusal=refusal,
        goes_across=_goes_across(history),
    )


def _goes_across(history: History) -> bool:
    """Return whether SuperBPE's second stage can be learned on top of it; with its own recipe it goes on with it."""
    try:
        return growing_recipe(history, 1, across_words=True).method != history.recipe.method
    except BpeError:
        return False


def _is_size(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(n) is int and 0 < n < LARGEST_SIZE for n in value)


def title_of(leftover: Leftover) -> str:
    summary, when = leftover.summary, f"{leftover.written.astimezone():%d %b %Y, %H:%M}"
    if summary is None:
        return f"a damaged copy, {when}"
    what = Path(summary.saved_as).name if summary.saved_as else ", ".join(summary.texts[:2]) or "a text"
    return f"{what}, {count_text(summary.merges, 'step')}, {when}"


def _how_it_ended(leftover: Leftover) -> str:
    if leftover.summary is None:
        return "not saved, and the copy that was kept of it is damaged"
    return "closed before it was saved" if leftover.summary.was_closed else "not saved when BPE Explorer ended"


def _size(file: Path) -> str:
    try:
        return size_text(file.stat().st_size)
    except OSError:
        return "not readable"
