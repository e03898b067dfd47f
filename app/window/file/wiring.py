"""The File menu's part of the window: saving, opening, bringing back, and the name in the title."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMenu, QMessageBox

from app.session.document import Document, Then
from app.session.leftovers import RULE, Leftover
from app.session.notices import Answer, Notice
from app.session.session import Session
from app.settings import LAST_FOLDER, data_folder
from app.system.file_type import claim_sessions
from app.window.main_window import Frame
from app.window.merges.model import MergeTableModel
from app.window.pages import LAB, Pages
from app.window.parts.dialogs import (
    REPORT_FILTERS,
    SESSION_FILTERS,
    ask_before_leaving,
    ask_for_session,
    ask_where_to_save,
)
from app.window.parts.page import PageTabs
from app.window.parts.wording import count_text
from app.window.text.model import TokenTextModel
from bpe_core.session_file import EXTENSION, View

LARGEST_SIZE = 10_000  # pixels


class Filing(QObject):
    """Connects the session's document with the window."""

    def __init__(
        self,
        session: Session,
        frame: Frame,
        text: TokenTextModel,
        merges: MergeTableModel,
        charts: PageTabs,
        pages: Pages,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        window, actions, messages = frame.window, frame.actions, frame.messages
        self._session, self._window, self._messages, self._settings = session, window, messages, frame.settings
        self._text, self._merges, self._charts, self._pages = text, merges, charts, pages
        self._actions = actions
        self._was_saved_to_leave = False
        window.may_close = partial(self._may_leave, window.close)
        self.document = document = Document(session, data_folder(), self._layout, self)
        self.recover_menu = QMenu("&Unsaved Sessions", window)
        self.recover_menu.aboutToShow.connect(self._fill_recover_menu)
        actions.menus["file"].insertMenu(actions["save"], self.recover_menu)
        actions["new_session"].triggered.connect(lambda: self.new())
        actions["open_session"].triggered.connect(self._ask_and_open)
        actions["save"].triggered.connect(lambda: self.save())
        actions["report"].triggered.connect(self.report)
        actions["save_as"].triggered.connect(lambda: self.save_as())
        actions["claim_sessions"].triggered.connect(self._claim_sessions)
        document.changed.connect(self._show_name)
        document.opened.connect(self._show_opened)
        document.saved.connect(self._remember)
        document.reported.connect(self._show_reported)
        document.noticed.connect(messages.show_notice)
        document.recovery_wanted.connect(self.recover)
        document.elsewhere_wanted.connect(lambda: self.save_as())
        self._show_name()

    def new(self) -> None:
        if self._may_leave(self.new):
            self.document.new()

    def open(self, path: Path) -> None:
        self._remember(path)
        if self._may_leave(partial(self.open, path)):
            self.document.open(path)

    def recover(self, path: Path) -> None:
        if self._may_leave(partial(self.recover, path)):
            self.document.recover(path)

    def bring_back(self, leftover: Leftover) -> None:
        if self._may_leave(partial(self.bring_back, leftover)):
            self.document.open_leftover(leftover)

    def open_first(self, paths: Sequence[Path]) -> None:
        """A window holds one session; of the others it says so."""
        self.open(paths[0])
        if len(paths) > 1:
            names = ", ".join(path.name for path in paths[1:])
            sentence = f"A window holds one session: {paths[0].name} is opened. Start BPE Explorer again for {names}."
            self._messages.show_notice(Notice(sentence, is_error=False))

    def save(self, *, then: Then = lambda: None) -> None:
        """To the session's own file; where it has none yet, the person is asked."""
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
        """Ask where, and write the page about the run that is shown."""
        run = self._session.runs.shown
        if run is None or run.history is None:
            self._messages.show_notice(Notice("There is nothing to report yet: train first.", is_error=False))
            return
        name = "report" if self.document.path is None else self.document.path.stem
        proposal = Path(self._settings.get(LAST_FOLDER)) / f"{name}.html"
        path = ask_where_to_save(self._window, "Write a report", str(proposal), REPORT_FILTERS)
        if path is not None:
            self.document.report(path)

    def offer_to_recover(self) -> None:
        """Look for what an earlier window left unsaved, and say so in the message bar."""
        leftovers = self.document.leftovers
        leftovers.changed.connect(self._offer, Qt.ConnectionType.SingleShotConnection)
        leftovers.look()

    def close(self) -> None:
        self.document.close()

    def _show_reported(self, path: Path) -> None:
        url = QUrl.fromLocalFile(str(path.absolute()))
        answer = Answer("Open It", lambda: QDesktopServices.openUrl(url))
        self._messages.show_notice(Notice(f"Wrote the report to {path}.", is_error=False, answers=(answer,)))

    def _claim_sessions(self) -> None:
        self._messages.show_notice(Notice(claim_sessions(), is_error=False))

    # Leaving, opening and bringing back

    def _may_leave(self, again: Then) -> bool:
        """Whether this session may make place; where it would be lost, the person says. Once it is saved, `again`."""
        was_saved, self._was_saved_to_leave = self._was_saved_to_leave, False
        why = "" if was_saved else self.document.secure()
        if not why:
            return True
        chosen = ask_before_leaving(self._window, why)
        if chosen == QMessageBox.StandardButton.Save:
            self.save(then=partial(self._leave_saved, again))
        return chosen == QMessageBox.StandardButton.Discard

    def _leave_saved(self, again: Then) -> None:
        """Without asking anew for what was learned since."""
        self._was_saved_to_leave = True
        again()

    def _ask_and_open(self) -> None:
        path = ask_for_session(self._window, self._settings.get(LAST_FOLDER))
        if path is not None:
            self.open(path)

    def _remember(self, path: Path) -> None:
        self._settings.add_recent([str(path.absolute())])
        self._settings.put(LAST_FOLDER, str(path.absolute().parent))

    def _offer(self) -> None:
        if not self.document.leftovers.all:
            return
        newest = self.document.leftovers.all[0]
        others = len(self.document.leftovers.all) - 1
        more = f" {count_text(others, 'older one')} can be found under File > Unsaved Sessions." if others else ""
        self._messages.show_notice(
            Notice(
                f"The last session was {_how_it_ended(newest)}: {title_of(newest)}.{more}",
                newest.damage,
                is_error=False,
                can_wait=True,
                answers=(
                    Answer(
                        "Bring It Back" if not newest.damage else "Save What Can Be", lambda: self.bring_back(newest)
                    ),
                    Answer("Throw It Away", lambda: self.document.leftovers.remove(newest)),
                ),
            )
        )

    def _fill_recover_menu(self) -> None:
        self.recover_menu.clear()
        for leftover in self.document.leftovers.all:
            action = self.recover_menu.addAction(title_of(leftover))
            action.triggered.connect(lambda _, one=leftover: self.bring_back(one))
        if self.recover_menu.isEmpty():
            self.recover_menu.addAction("None").setEnabled(False)
        self.recover_menu.addSeparator().setEnabled(False)
        self.recover_menu.addAction(RULE).setEnabled(False)
        self.document.leftovers.look()  # for the next time

    # What the window shows

    def _show_name(self) -> None:
        self._window.setWindowTitle(f"{self.document.name}[*] – BPE Explorer")
        self._window.setWindowModified(self.document.is_modified)
        self._window.setWindowFilePath("" if self.document.path is None else str(self.document.path))

    def _layout(self) -> dict[str, Any]:
        """How the window is arranged, in values that anybody can read."""
        docks, lab = self._window.arrangement(), self._pages.known(LAB)
        return {
            "docks": dict(docks.is_open),
            "sizes": {name: list(size) for name, size in docks.sizes.items()},
            "centre": self._window.centre.sizes(),
            "chart": self._charts.shown,
            "sort": [self._merges.sort_column, self._merges.sort_descending],
            "lab": ({} if lab is None else lab.model.kept()) | {"open": self._window.stage == "lab"},
        }

    def _show_opened(self, view: View) -> None:
        self._text.set_text(self._session.text.value)
        self._actions["lab"].setChecked(False)  # while the docks are arranged
        self._arrange(view.layout)
        self._open_lab(view.layout.get("lab"))

    def _open_lab(self, kept: object) -> None:
        """With the runs that were in it."""
        had_any = isinstance(kept, dict) and any(value not in (None, False) for value in kept.values())
        if had_any or self._pages.known(LAB) is not None:
            self._pages.page(LAB).model.restore(kept)
        self._actions["lab"].setChecked(isinstance(kept, dict) and kept.get("open") is True)

    def _arrange(self, layout: Mapping[str, Any]) -> None:
        """As far as the values make sense: they may come from a stranger."""
        docks, centre, chart, sort = (layout.get(key) for key in ("docks", "centre", "chart", "sort"))
        if isinstance(docks, dict):
            is_open = self._by_id(docks)
            for id, dock in self._window.docks.items():
                dock.setVisible(is_open.get(id) is not False)
        self._resize_docks(layout.get("sizes"))
        if isinstance(centre, list) and len(centre) == 2 and all(type(size) is int for size in centre):
            self._window.centre.setSizes([min(max(0, size), LARGEST_SIZE) for size in centre])
        if type(chart) is int and 0 <= chart < len(self._charts.ids):  # so it was written once
            chart = self._charts.ids[chart]
        if isinstance(chart, str):
            self._charts.show_page(chart)
        if isinstance(sort, list) and len(sort) == 2 and sort[0] in range(self._merges.columnCount()):
            order = Qt.SortOrder.DescendingOrder if sort[1] is True else Qt.SortOrder.AscendingOrder
            self._merges.sort(sort[0], order)

    def _by_id(self, told: dict[str, Any]) -> dict[str, Any]:
        """What is told of each dock; their titles were written once."""
        ids = {dock.windowTitle(): id for id, dock in self._window.docks.items()}
        return {ids.get(name, name): value for name, value in told.items()}

    def _resize_docks(self, sizes: object) -> None:
        """As large as they were, and before the others of their group."""
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


def _is_size(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(n) is int and 0 < n < LARGEST_SIZE for n in value)


def title_of(leftover: Leftover) -> str:
    """What is known about an unsaved session, in a line."""
    summary, when = leftover.summary, f"{leftover.written.astimezone():%d %b %Y, %H:%M}"
    if summary is None:
        return f"a damaged copy, {when}"
    what = Path(summary.saved_as).name if summary.saved_as else ", ".join(summary.texts[:2]) or "a text"
    return f"{what}, {count_text(summary.merges, 'step')}, {when}"


def _how_it_ended(leftover: Leftover) -> str:
    if leftover.summary is None:
        return "not saved, and the copy that was kept of it is damaged"
    return "closed before it was saved" if leftover.summary.was_closed else "not saved when BPE Explorer ended"
