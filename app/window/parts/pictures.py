"""A widget as a picture: PNG, SVG, or what it shows as CSV."""

from __future__ import annotations

import csv
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

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


def save_csv(rows: list[tuple[str, ...]], path: Path) -> bool:
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
    except OSError:
        return False
    return True
