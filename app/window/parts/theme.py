"""The light and the dark theme.

They use Qt's style Fusion and this program's own palettes, so they look the same on every platform.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from app.window.parts.zoom import USUAL, adapt_all, set_zoom, zoom_percent, zoomed
from bpe_core.figures.sheet import DARK, LIGHT, Inks

Role = QPalette.ColorRole
Group = QPalette.ColorGroup

COLOURS = {  # light, dark
    Role.Window: ("#f4f5f7", "#20242b"),
    Role.WindowText: ("#1d232b", "#e4e8ed"),
    Role.Base: (LIGHT.ground, DARK.ground),
    Role.AlternateBase: ("#f8f9fb", "#1c2026"),
    Role.Text: ("#1d232b", "#e4e8ed"),
    Role.PlaceholderText: (LIGHT.text, DARK.text),
    Role.Button: ("#fbfbfc", "#2a2f38"),
    Role.ButtonText: ("#1d232b", "#e4e8ed"),
    Role.BrightText: ("#ffffff", "#ffffff"),
    Role.ToolTipBase: ("#1d232b", "#e4e8ed"),
    Role.ToolTipText: ("#f4f5f7", "#20242b"),
    Role.Highlight: ("#2b6cb8", "#4a8fdc"),
    Role.HighlightedText: ("#ffffff", "#ffffff"),
    Role.Link: ("#1f64b0", "#7ab3f2"),
    Role.Light: ("#ffffff", "#3a414c"),
    Role.Midlight: ("#eceef1", "#2a2f38"),
    Role.Mid: ("#d5d9de", "#363c46"),
    Role.Dark: ("#b4bac2", "#14161a"),
    Role.Shadow: ("#9aa2ad", "#0d0f12"),
    Role.Accent: ("#2b6cb8", "#4a8fdc"),
}
DISABLED = ("#a3abb6", "#5f6875")

STYLE = """
QAbstractButton { icon-size: 16px; }
QToolBar { icon-size: 18px; }
QToolBar { border: none; spacing: 6px; padding: 6px 10px; background: palette(window); }
QToolBar#main { border-bottom: 1px solid palette(mid); }
QToolBar#time { border-top: 1px solid palette(mid); padding: 2px 10px; }
QMainWindow::separator { background: palette(window); width: 5px; height: 5px; }
QMainWindow::separator:hover { background: palette(mid); }
QHeaderView::section { background: palette(base); border: none; border-bottom: 1px solid palette(mid);
                       padding: 5px 6px; color: palette(placeholder-text); }
QTableView, QListView, QPlainTextEdit { border: 1px solid palette(mid); border-radius: 4px; }
QTabBar::tab { padding: 6px 9px; border: none; border-bottom: 2px solid transparent;
               color: palette(placeholder-text); }
QTabBar::tab:selected { border-bottom: 2px solid palette(highlight); color: palette(text); }
QTabBar::tab:hover { color: palette(text); }
QTabWidget::pane { border: none; border-top: 1px solid palette(mid); }
QCheckBox::indicator:unchecked { width: 12px; height: 12px; border: 1px solid palette(placeholder-text);
                                 border-radius: 2px; background: palette(base); }
QScrollBar { background: palette(midlight); border: none; margin: 0; }
QScrollBar:vertical { width: 12px; }
QScrollBar:horizontal { height: 12px; }
QScrollBar::handle { background: palette(placeholder-text); border-radius: 4px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 24px; }
QScrollBar::handle:horizontal { min-width: 24px; }
QScrollBar::handle:hover { background: palette(text); }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: none; }
QStatusBar { border-top: 1px solid palette(mid); }
QStatusBar::item { border: none; }
QDialog#find_anything { border: 1px solid palette(dark); }
QToolTip { border: none; padding: 5px; color: palette(tooltip-text); background: palette(tooltip-base); }
"""
PIXELS = re.compile(r"\b(\d+)px")


@dataclass(frozen=True)
class Shades:
    """The colours that Qt's palettes lack. People with colour blindness can distinguish them."""

    is_dark: bool
    muted: QColor
    hairline: QColor
    bar: QColor
    bar_next: QColor
    bar_tied: QColor
    curve: QColor
    error: QColor
    error_ground: QColor
    note_ground: QColor
    mark_ground: QColor  # the ground of the row of the moment shown


def is_dark(palette: QPalette) -> bool:
    return palette.color(Role.Window).lightness() < 128


def inks_of(palette: QPalette) -> Inks:
    """Return the colours of figures for a light or a dark palette."""
    return DARK if is_dark(palette) else LIGHT


def shades_of(palette: QPalette) -> Shades:
    """Return the additional colours for a light or a dark palette."""
    inks = inks_of(palette)
    others = _DARK_SHADES if inks is DARK else _LIGHT_SHADES
    return Shades(
        inks is DARK, *map(QColor, (inks.text, inks.hairline, inks.bar, inks.next, inks.tied)), *map(QColor, others)
    )


_LIGHT_SHADES = ("#2b6cb8", "#b3261e", "#fbe9e7", "#e8f0fa", "#e6effa")
_DARK_SHADES = ("#6caaf0", "#ff8a80", "#43282a", "#253345", "#26374d")


class Theme(QObject):
    """An object that sets the palette of the application. `choice` is "light", "dark" or "system"."""

    changed = Signal()

    def __init__(self, choice: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.choice = choice
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        self._application = application
        application.setStyleSheet("")
        application.setStyle("Fusion")
        self._apply()
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._system_changed)
        application.screenAdded.connect(lambda _: self.changed.emit())  # icons are drawn for each screen

    def apply_style(self) -> None:
        """Apply the style sheet.

        Call this after all parts have been built, because a style sheet makes building slow.
        """
        self._application.setStyleSheet(PIXELS.sub(lambda size: f"{zoomed(int(size[1]))}px", STYLE))

    def choose(self, choice: str) -> None:
        self.choice = choice
        self._application.setStyleSheet("")  # prevents a new style for each change
        self._apply()
        self._apply_style_again()  # palette colours in rules are resolved only when the sheet is set

    def set_zoom(self, percent: int) -> None:
        """Set the zoom of all windows. The style sheet and all drawings change with it."""
        set_zoom(percent)  # first: a style sheet that is set later restores the fonts of before
        self._application.setStyleSheet("")
        self._apply_style_again()

    def _apply_style_again(self) -> None:
        self.apply_style()
        adapt_all()
        self.changed.emit()

    @property
    def is_dark(self) -> bool:
        if self.choice == "system":
            return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return self.choice == "dark"

    def _system_changed(self) -> None:
        if self.choice == "system":
            self.choose("system")

    def _apply(self) -> None:
        self._application.setPalette(palette_for("dark" if self.is_dark else "light"))


def palette_for(kind: str) -> QPalette:
    palette = QPalette()
    place = int(kind == "dark")
    for role, colours in COLOURS.items():
        palette.setColor(role, QColor(colours[place]))
    for role in (Role.WindowText, Role.Text, Role.ButtonText, Role.Highlight):
        palette.setColor(Group.Disabled, role, QColor(DISABLED[place]))
    return palette


def fixed_font(points: float | None = None) -> QFont:
    """Return the system's fixed-width font, in which tokens and bytes are shown."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setPointSizeF(font.pointSizeF() * zoom_percent() / USUAL if points is None else points)
    return font
