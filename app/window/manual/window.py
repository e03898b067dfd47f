"""The window of the manual: a list of its pages on the left, and a page on the right."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QKeySequence, QPdfWriter, QTextCursor
from PySide6.QtWidgets import QApplication, QDialog, QDockWidget, QListWidget, QListWidgetItem, QTextBrowser, QWidget

from app.window.manual.book import (
    FOLDER,
    Section,
    page_names,
    place_of,
    proposed_path,
    save_page,
    search,
    sections,
    slug,
    text_of,
)
from app.window.parts.dialogs import ask_where_to_save
from app.window.parts.layouts import in_column, in_row
from app.window.parts.page import PagePlace
from app.window.parts.widgets import OneLine, add_key_action, entry, name_widget, push_button
from app.window.parts.zoom import resize_zoomed, set_zoomed

LIST_WIDTH = 230
INDENT = "    "
PAGE = Qt.ItemDataRole.UserRole


class ManualWindow(QDialog):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Manual")
        resize_zoomed(self, 940, 680)
        self.page = ""
        self._before = list[str]()
        self.field = name_widget(entry("Search the manual", can_be_cleared=True), "Search the manual")
        self.list = name_widget(QListWidget(), "Contents")
        set_zoomed(self.list, QWidget.setFixedWidth, LIST_WIDTH)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.text = name_widget(QTextBrowser(), "Page of the manual")
        self.text.setSearchPaths([str(FOLDER)])
        self.text.setOpenLinks(False)
        self.text.document().setDocumentMargin(16)
        self.back = push_button("Back", self._go_back, "Go back to the page before")
        self.save = push_button("Save as PDF …", self._save, "Save the page shown, to print it")
        self.outcome = name_widget(OneLine(), "Where the page is saved")
        close = push_button("Close", self.reject)
        for button in (self.back, self.save, close):
            button.setAutoDefault(False)
        left = in_column(self.field, (self.list, 1))
        in_column((in_row(left, (self.text, 1)), 1), in_row(self.back, (self.outcome, 1), self.save, close), on=self)
        self.field.textChanged.connect(self._list)
        self.field.returnPressed.connect(lambda: self._choose(self.list.item(0)))
        self.list.itemActivated.connect(self._choose)
        self.list.itemClicked.connect(self._choose)
        self.text.anchorClicked.connect(self._follow)
        add_key_action(self, "Find", QKeySequence.StandardKey.Find, self.field.setFocus)
        add_key_action(self, "Back", QKeySequence.StandardKey.Back, self._go_back)
        self._list("")

    def open_at(self, place: str) -> None:
        self.go_to(place)
        self.show()
        self.raise_()
        self.activateWindow()

    def go_to(self, place: str) -> None:
        """Show a place in the manual, such as `ask.md#ties`."""
        if self._place:
            self._before.append(self._place)
        self._show(place)

    @property
    def _place(self) -> str:
        return f"{self.page}#{self._anchor}" if self.page else ""

    def _show(self, place: str) -> None:
        page, _, self._anchor = place.partition("#")
        if page != self.page:
            self.page = page
            self.text.setMarkdown(text_of(page))
        self.back.setEnabled(bool(self._before))
        self._scroll_to(self._anchor)

    def _scroll_to(self, anchor: str) -> None:
        block = self.text.document().begin()
        while anchor and block.isValid():
            if block.blockFormat().headingLevel() and slug(block.text()) == anchor:
                self.text.setTextCursor(QTextCursor(block))
                top = self.text.document().documentLayout().blockBoundingRect(block).top()
                self.text.verticalScrollBar().setValue(round(top))
                return
            block = block.next()
        self.text.moveCursor(QTextCursor.MoveOperation.Start)

    def _go_back(self) -> None:
        if self._before:
            self._show(self._before.pop())

    def _list(self, typed: str) -> None:
        """List the sections that contain the typed text. If no text is typed, list all pages."""
        self.list.clear()
        listed = search(typed) if typed.strip() else [page for page in sections() if page.level == 1]
        for section in listed:
            item = QListWidgetItem(_listed(section, with_page=bool(typed.strip())))
            item.setData(PAGE, section.place)
            self.list.addItem(item)

    def _choose(self, item: QListWidgetItem | None) -> None:
        if item is None:
            return
        self.go_to(item.data(PAGE))
        typed = self.field.text().split()
        if typed and not self.text.find(typed[0]):  # from the heading on
            self.text.moveCursor(QTextCursor.MoveOperation.Start)

    def _follow(self, link: QUrl) -> None:
        place = link.toString()
        if link.scheme():
            QDesktopServices.openUrl(link)
        elif place.startswith("#"):
            self.go_to(self.page + place)
        elif place.partition("#")[0] in page_names():
            self.go_to(place)

    def _save(self) -> None:
        title = "Save this page of the manual"
        filters = {"PDF (*.pdf)": "pdf"}
        path = ask_where_to_save(self, title, proposed_path(self.page), filters)
        if path is not None:
            drawn = QBuffer()
            drawn.open(QBuffer.OpenModeFlag.WriteOnly)
            self.text.document().print_(QPdfWriter(drawn))
            self.outcome.setText(save_page(bytes(drawn.data().data()), path))


def _listed(section: Section, *, with_page: bool) -> str:
    if not with_page or section.level == 1:
        return section.title
    return f"{section.title}\n{INDENT}{next(other.title for other in sections() if other.page == section.page)}"


class Manual:
    """The manual of a window. Its own window is made when the manual is opened for the first time."""

    def __init__(self, parent: QWidget) -> None:
        self._parent = parent
        self.window: ManualWindow | None = None

    def open(self, *titles: str) -> None:
        """Open the section about the part of the window that has the focus.

        If there is no such section, open the section about the first of these titles.
        """
        self.open_at(place_of([*titles_around(QApplication.focusWidget()), *titles]))

    def open_at(self, place: str) -> None:
        self.window = self.window or ManualWindow(self._parent)
        self.window.open_at(place)


def titles_around(widget: QWidget | None) -> list[str]:
    """Return the titles of the pages and docks that contain a widget, the innermost first."""
    titles = []
    while widget is not None:
        if isinstance(widget, PagePlace):
            titles.append(widget.title)
        elif isinstance(widget, QDockWidget):
            titles.append(widget.windowTitle())
        widget = widget.parentWidget()
    return titles
