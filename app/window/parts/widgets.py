"""The small widgets that many topics use.

The properties of widgets are set by methods, not by keyword arguments. In a Turkish locale, PySide finds no keyword
that contains the letter i.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QAction, QHelpEvent, QKeySequence, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QToolButton,
    QToolTip,
    QWidget,
)

from app.window.parts.icons import icon
from app.window.parts.theme import fixed_font
from app.window.parts.wording import tip
from app.window.parts.zoom import adapt_to_zoom, zoomed

Widget = TypeVar("Widget", bound=QWidget)


def name_widget(widget: Widget, name: str, meaning: str = "") -> Widget:
    """Give a widget a name for screen readers. If `meaning` is not empty, it becomes the tip. Return the widget."""
    widget.setAccessibleName(name)
    if meaning:
        widget.setToolTip(tip(meaning))
    return widget


def label(text: str = "") -> QLabel:
    """Return a label that shows a text literally. Names and tokens may look like markup."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    return made


def paragraph(text: str = "") -> QLabel:
    """Return a label that wraps its text."""
    made = label(text)
    made.setWordWrap(True)
    return made


def muted_label(text: str = "") -> QLabel:
    made = paragraph(text)
    made.setForegroundRole(QPalette.ColorRole.PlaceholderText)
    return made


def selectable(text: QLabel, *, by_keyboard: bool = False) -> QLabel:
    by_mouse = Qt.TextInteractionFlag.TextSelectableByMouse
    by_key = Qt.TextInteractionFlag.TextSelectableByKeyboard
    text.setTextInteractionFlags(by_mouse | by_key if by_keyboard else by_mouse)
    return text


def scale_font(widget: Widget, times: float, *, bold: bool = False) -> Widget:
    """Scale the font of a widget, and return the widget."""

    def scale(widget: QWidget) -> None:
        font = widget.font()
        font.setPointSizeF(times * QApplication.font(widget).pointSizeF())
        font.setBold(bold)
        widget.setFont(font)

    return adapt_to_zoom(widget, scale)


def use_fixed_font(widget: Widget, times: float = 1.0) -> Widget:
    """Show a widget in the font of tokens, at `times` the usual text size. Return the widget."""
    return adapt_to_zoom(
        widget, lambda widget: widget.setFont(fixed_font(times * QApplication.font(widget).pointSizeF()))
    )


def keep_room_for(widget: Widget, text: str, beside: int = 0) -> Widget:
    """Make a widget at least as wide as a text plus `beside` pixels. Return the widget."""
    return adapt_to_zoom(
        widget,
        lambda widget: widget.setMinimumWidth(widget.fontMetrics().horizontalAdvance(text) + zoomed(beside)),
    )


def keep_lines(widget: Widget, lines: int) -> Widget:
    """Make a widget at least `lines` lines of text high, so that the widgets below it never move. Return the widget."""
    return adapt_to_zoom(widget, lambda widget: widget.setMinimumHeight(lines * widget.fontMetrics().lineSpacing()))


class OneLine(QLabel):
    """A label with a single line that never makes its window wider.

    A long text is shortened. The tip shows the whole text.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        room = self.contentsRect()
        metrics = self.fontMetrics()
        with QPainter(self) as painter:
            text = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, int(self.alignment()) | int(Qt.TextFlag.TextSingleLine), text)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and not self.toolTip():
            if self.fontMetrics().horizontalAdvance(self.text()) > self.contentsRect().width():
                QToolTip.showText(event.globalPos(), tip(self.text()), self)
            return True
        return super().event(event)


def entry(hint: str = "", *, can_be_cleared: bool = False) -> QLineEdit:
    line = QLineEdit()
    line.setPlaceholderText(hint)
    line.setClearButtonEnabled(can_be_cleared)
    return line


def push_button(title: str, act: Callable[[], object], meaning: str = "") -> QPushButton:
    button = QPushButton(title)
    button.setToolTip(tip(meaning))
    button.clicked.connect(lambda: act())
    return button


def flat_button(title: str, act: Callable[[], object] = lambda: None, meaning: str = "") -> QPushButton:
    button = push_button(title, act, meaning)
    button.setFlat(True)
    return button


def small_button(sign: str, meaning: str, act: Callable[[], object] = lambda: None) -> QToolButton:
    """Return a button without a frame that shows a sign. Its tip explains the button."""
    button = QToolButton()
    button.setText(sign)
    button.setAutoRaise(True)
    button.clicked.connect(lambda: act())
    return name_widget(button, meaning, meaning)


class IconButton(QToolButton):
    """A button without a frame that shows an icon in the colours of the palette. Its tip explains the button."""

    def __init__(self, icon_name: str, meaning: str, act: Callable[[], object] = lambda: None) -> None:
        super().__init__()
        self.setObjectName(icon_name)
        self.setAutoRaise(True)
        name_widget(self, meaning, meaning)
        self.clicked.connect(lambda: act())
        adapt_to_zoom(self, IconButton.draw)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.draw()

    def draw(self) -> None:
        self.setIcon(icon(self.objectName(), self.palette()))


def action_button(action: QAction, *, with_text: bool = False) -> QToolButton:
    button = QToolButton()
    button.setAutoRaise(True)
    button.setDefaultAction(action)
    if with_text:
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    return button


def add_tick(menu: QMenu, title: str, is_on: bool, act: Callable[[], object]) -> QAction:
    """Add an entry with a tick to a menu. The title is shown literally, even if it contains "&"."""
    action = menu.addAction(title.replace("&", "&&"))
    action.setCheckable(True)
    action.setChecked(is_on)
    action.triggered.connect(lambda _: act())
    return action


def filled_menu(title: str, parent: QWidget, fill: Callable[[QMenu], None], nothing: str = "") -> QMenu:
    """Return a menu that `fill` fills each time the menu opens. An empty menu shows the text `nothing`."""
    menu = QMenu(title, parent)

    def fill_anew() -> None:
        menu.clear()
        fill(menu)
        if menu.isEmpty() and nothing:
            menu.addAction(nothing).setEnabled(False)

    menu.aboutToShow.connect(fill_anew)
    return menu


def add_entry(menu: QMenu, title: str, act: Callable[[], object]) -> None:
    """Add an entry to a menu. The title is shown literally, even if it contains "&"."""
    menu.addAction(title.replace("&", "&&")).triggered.connect(lambda _: act())


def add_key_action(view: QWidget, title: str, key: QKeySequence.StandardKey | str, act: Callable[[], object]) -> None:
    """Add an entry to the context menu of a view. Its key works while the view has the focus."""
    action = QAction(title, view)
    action.setShortcut(QKeySequence(key))
    action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
    action.triggered.connect(lambda _=False: act())
    view.addAction(action)


def fixed_text(name: str) -> QPlainTextEdit:
    text = name_widget(QPlainTextEdit(), name)
    text.setReadOnly(True)
    return use_fixed_font(text)


def scrolling(inside: QWidget, name: str) -> QScrollArea:
    """Return a view without a frame that contains the widget `inside` and can scroll it."""
    area = name_widget(QScrollArea(), name)
    area.setWidgetResizable(True)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setWidget(inside)
    return area


class ProgressBar(QProgressBar):
    """A progress bar that is painted together with the window.

    Qt's own progress bar repaints the whole window immediately at each new value.
    """

    def __init__(self, most: int = 100, *, with_text: bool = True) -> None:
        super().__init__()
        self.setMaximum(most)
        self.setTextVisible(with_text)

    def setValue(self, value: int) -> None:
        if value != self.value():
            self.setUpdatesEnabled(False)
            super().setValue(value)
            self.setUpdatesEnabled(True)  # asks for a later repaint


class LinkedText(QLabel):
    """A label with rich text that wraps. The Tab key moves from link to link, and Enter opens a link."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )

    def changeEvent(self, event: QEvent) -> None:
        """Draw the links again after the palette has changed, because a QLabel would keep their old colour."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            text = self.text()
            self.clear()
            self.setText(text)
