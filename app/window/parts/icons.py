"""The icons. They are SVG drawings whose colour is replaced by that of the palette."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer

from resources import icon_svg

DRAWN_IN = "#000"  # the colour in the files
SIZES = (16, 20, 32, 48, 64)


def icon(name: str, palette: QPalette) -> QIcon:
    normal = palette.color(QPalette.ColorRole.ButtonText).name()
    disabled = palette.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.ButtonText).name()
    return _icon(name, normal, disabled)


def colored_icon(name: str, color: QColor) -> QIcon:
    return _icon(name, color.name(), color.name())


def app_icon() -> QIcon:
    """Return the icon of the program, in its own colours."""
    icon = QIcon()
    for size in (16, 32, 48, 64, 128, 256):
        icon.addPixmap(_drawn(icon_svg("app"), size))
    return icon


@lru_cache(maxsize=256)
def _icon(name: str, normal: str, disabled: str) -> QIcon:
    svg = icon_svg(name)
    icon = QIcon()
    for size in SIZES:
        icon.addPixmap(_drawn(svg.replace(DRAWN_IN, normal), size), QIcon.Mode.Normal)
        icon.addPixmap(_drawn(svg.replace(DRAWN_IN, disabled), size), QIcon.Mode.Disabled)
    return icon


def _drawn(svg: str, size: int) -> QPixmap:
    pixmap = QPixmap(QSize(size, size))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(svg.encode())).render(painter, QRectF(0, 0, size, size))
    painter.end()
    return pixmap
