"""The base class of all pages, and the tabs that hold pages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QImage, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QTabWidget, QWidget

from app.session.selection import ShownHighlight
from app.window.parts.focus_order import insert_focus
from app.window.parts.layouts import in_column
from app.window.parts.lazy_model import Drawn, Exact, LazyModel
from app.window.parts.widgets import scrolling

LEAST_WIDTH = 200  # pixels; wider pages scroll where there is less room


@dataclass(frozen=True)
class Frame:
    """A picture of an animation, with the time for which it is visible."""

    image: QImage
    milliseconds: int


class LazyView(QWidget):
    """A widget that shows a model. The model computes its content only while the widget is visible."""

    def __init__(self, watched: LazyModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.watched = watched
        self._looks = False

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._look(False)

    def _look(self, on: bool) -> None:
        """Tell the model that the widget became visible or hidden. Ignore a call that changes nothing."""
        if on != self._looks:
            self._looks = on
            self.watched.watch(on)


class Page(LazyView):
    """A tab or panel whose content can be saved."""

    save_wanted = Signal()  # save the facts shown to a file
    print_wanted = Signal()  # save them as a picture of a given size
    step_pointed = Signal(int)  # the step under the mouse, or 0
    step_clicked = Signal(int)
    tokens_pointed = Signal(tuple)  # the token or the pair under the mouse, or nothing
    tokens_clicked = Signal(tuple)
    word_pointed = Signal(object)  # the bytes of the word under the mouse, or None
    word_clicked = Signal(bytes)
    is_table = False  # whether it shows nothing but rows

    def table_function(self) -> Exact:
        """Return a function that computes the exact values on the page, for saving them in a file."""
        self.watched.catch_up()
        return self.watched.table_function()

    @property
    def has_figure(self) -> bool:
        """Return whether the figure of the page's answer is printed.

        Otherwise the page is printed as it looks on the screen.
        """
        return self.watched.has_figure

    def figure_function(self) -> Drawn:
        """Return a function that computes the page's figure for printing."""
        return self.watched.figure_function()

    @property
    def widget_to_save(self) -> QWidget:
        return self

    def frames(self) -> Iterable[Frame]:
        """Return the frames of an animation in which the figure grows.

        If the page has no animation, return no frames.
        """
        return ()

    def show_highlight(self, shown: ShownHighlight) -> None:
        """Highlight the token that the user points at in any view."""

    def show_steps(self, first: int, last: int) -> None:
        """Enlarge the figure so that it shows only these steps. Do nothing if the figure is not about steps."""

    def recolor(self) -> None:
        """Take the colours of the palette after the palette has changed."""


class PagePlace(QWidget):
    """A widget for one page. The page is built when the widget becomes visible for the first time."""

    def __init__(self, title: str, build: Callable[[], Page], parent: QWidget | None = None) -> None:
        """Make an empty place for a page. `build` makes the page and puts it into the place."""
        super().__init__(parent)
        self.title = title
        self._build = build
        self._page: Page | None = None
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # keeps the page's place in the focus order
        self._column = in_column(on=self, margins=(0, 0, 0, 0))

    @property
    def page(self) -> Page:
        return self._page or self._build()

    def set_page(self, page: Page, *, scrolls: bool) -> None:
        """Put a page into this place.

        If `scrolls` is true, a wide page gets scroll bars, so that it does not widen the window.
        """
        self._page = page
        is_wide = scrolls and page.minimumSizeHint().width() > LEAST_WIDTH
        content = _scrolling(page, self.title) if is_wide else page
        self._column.addWidget(content)
        content.show()  # the place may be visible already
        insert_focus(self, content)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def showEvent(self, event: QShowEvent) -> None:
        if self._page is None:
            self._build()
        super().showEvent(event)


class PageTabs(QTabWidget):
    """A stack of pages with tabs. Pages are named by their ids."""

    def __init__(self, name: str, places: Mapping[str, PagePlace], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDocumentMode(True)
        self.setAccessibleName(name)
        self.ids = list(places)
        self._places = places
        for place in places.values():
            self.addTab(place, place.title)
        self._seen: list[str] = []  # ids of the pages that were on top, the latest last
        self.currentChanged.connect(lambda _: self._show_top())
        self._show_top()

    @property
    def shown(self) -> str:
        return self.ids[self.currentIndex()]

    @property
    def page(self) -> Page:
        return self._places[self.shown].page

    def show_page(self, id: str) -> None:
        """Show the page with an id. Do nothing if there is no such page."""
        if id in self.ids:
            self.setCurrentIndex(self.ids.index(id))

    def show_only(self, ids: Collection[str], *, has_tabs: bool = True) -> None:
        """Show only the tabs of these pages. The page that was visited last is on top.

        If `has_tabs` is false, hide the tab bar, because another control chooses the page.
        """
        on_top = next((id for id in [*reversed(self._seen), *ids] if id in ids), self.shown)
        self.setTabVisible(self.ids.index(on_top), True)
        self.show_page(on_top)
        for place, id in enumerate(self.ids):
            self.setTabVisible(place, id in ids)
        has_choice = has_tabs and len(ids) > 1
        self.tabBar().setVisible(has_choice)
        # The key Tab would get stuck at a hidden bar.
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if has_choice else Qt.FocusPolicy.NoFocus)

    def _show_top(self) -> None:
        """Remember the page on top, and let only this page determine the minimum size of the stack."""
        for place in self._places.values():
            kind = QSizePolicy.Policy.Preferred if place is self.currentWidget() else QSizePolicy.Policy.Ignored
            place.setSizePolicy(kind, kind)
        self._seen = [id for id in self._seen if id != self.shown] + [self.shown]

    def rename(self, id: str, title: str) -> None:
        if self.tabText(self.ids.index(id)) != title:
            self.setTabText(self.ids.index(id), title)


def _scrolling(page: Page, title: str) -> QWidget:
    area = scrolling(page, title)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return area
