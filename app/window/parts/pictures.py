"""A widget as a picture: PNG, animated or not, or SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QPoint
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from app.window.parts.apng import animated
from app.window.parts.page import Frame

SCALE = 2  # pixels of a saved picture for each on screen


def picture_of(widget: QWidget) -> QImage:
    image = QImage(widget.size() * SCALE, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(SCALE)
    image.fill(widget.palette().base().color())
    widget.render(image, QPoint())
    return image


def save_png(widget: QWidget, path: Path) -> bool:
    return picture_of(widget).save(str(path), "PNG")  # type: ignore[call-overload]


def save_svg(widget: QWidget, path: Path) -> bool:
    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(widget.size())
    generator.setViewBox(widget.rect())
    generator.setTitle(widget.accessibleName())
    painter = QPainter()
    if not painter.begin(generator):
        return False
    widget.render(painter, QPoint())
    return painter.end()


def save_animated(frames: Sequence[Frame], path: Path) -> bool:
    """As a PNG file that plays."""
    pngs = [_png(frame.image) for frame in frames]
    return path.write_bytes(animated(pngs, [frame.milliseconds for frame in frames])) > 0


def _png(image: QImage) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(data.data())
