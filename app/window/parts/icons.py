"""The icons. An icon is an SVG drawing that takes its colour from the palette.

An icon is drawn in exactly the sizes that the window shows, because a scaled icon is blurred, and drawings in many
sizes take memory.
"""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.window.parts.zoom import zoomed
from resources import icon_svg

DRAWN_IN = "#000"  # the colour in the files
SIZES = (16, 18, 20)  # at 100 percent: in menus and on buttons, in toolbars, and beside lessons


def icon(name: str, palette: QPalette) -> QIcon:
    """Return an icon for the current zoom and screens. Call this function again when the zoom or a screen changes."""
    normal = palette.color(QPalette.ColorRole.ButtonText).name()
    disabled = palette.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.ButtonText).name()
    return _icon(name, normal, disabled, _sizes())


def colored_icon(name: str, color: QColor) -> QIcon:
    return _icon(name, color.name(), color.name(), _sizes())


def colored_picture(name: str, color: QColor, size: int) -> QPixmap:
    """Return an icon as a square picture.

    `size` is its width in device-independent pixels. On a high-resolution screen, the picture has more pixels.
    """
    scale = _resolutions()[-1]
    picture = QPixmap(_drawn(icon_svg(name).replace(DRAWN_IN, color.name()), round(size * scale)))
    picture.setDevicePixelRatio(scale)
    return picture


def app_icon() -> QIcon:
    """Return the icon of the program, in its own colours."""
    icon = QIcon()
    for size in (16, 32, 48, 64, 128, 256):
        icon.addPixmap(_drawn(icon_svg("app"), size))
    return icon


def _resolutions() -> list[float]:
    """Return the device pixel ratios of all screens, in ascending order."""
    return sorted({screen.devicePixelRatio() for screen in QGuiApplication.screens()})


def _sizes() -> tuple[int, ...]:
    """Return all sizes in which icons are shown, in physical pixels, for the resolutions of all screens.

    Each size of an icon is multiplied by the zoom. Icons in menus are not zoomed, so the result also has the original
    sizes.
    """
    shown = {*SIZES, *map(zoomed, SIZES)}
    return tuple(sorted({round(size * scale) for size in shown for scale in _resolutions()}))


@lru_cache(maxsize=256)
def _icon(name: str, normal: str, disabled: str, sizes: tuple[int, ...]) -> QIcon:
    svg = icon_svg(name)
    icon = QIcon()
    for size in sizes:
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
