"""Functions that export widgets and drawings as pictures: PNG, animated PNG, SVG and PDF."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QMarginsF, QPoint, QSize, QSizeF, Qt
from PySide6.QtGui import QFontInfo, QImage, QPageSize, QPaintDevice, QPainter, QPalette, QPdfWriter
from PySide6.QtSvg import QSvgGenerator, QSvgRenderer
from PySide6.QtWidgets import QWidget

from app.window.parts.page import Frame
from app.window.parts.theme import palette_for
from bpe_core.figures.png import FOR_EVER, SIGNATURE, chunk, chunks_of

DOTS_AN_INCH = 300  # dots per inch of a picture for print
SCREEN_DOTS_AN_INCH = 96
MILLIMETRES, POINTS = 25.4, 72.0  # millimetres and points in an inch
SCALE = 2  # pixels of a saved picture for each on screen


def picture_of(widget: QWidget) -> QImage:
    image = QImage(widget.size() * SCALE, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(SCALE)
    image.fill(widget.palette().base().color())
    widget.render(image, QPoint())
    return image


def save_png(widget: QWidget, path: Path) -> bool:
    return path.write_bytes(_png(picture_of(widget))) > 0


def save_svg(widget: QWidget, path: Path) -> bool:
    def draw(buffer: QBuffer) -> bool:
        generator = _sized(QSvgGenerator(), widget)
        generator.setOutputDevice(buffer)
        return _is_drawn(generator, lambda painter: widget.render(painter, QPoint()))

    return path.write_bytes(_made_in_memory(draw)) > 0


def save_pdf(widget: QWidget, path: Path) -> bool:
    """Save a widget as a PDF file, in its size on the screen. Return whether that worked."""

    def draw(buffer: QBuffer) -> bool:
        writer = _pdf_writer(buffer, QSizeF(widget.size()) * (MILLIMETRES / SCREEN_DOTS_AN_INCH))
        writer.setResolution(SCREEN_DOTS_AN_INCH)
        return _is_drawn(writer, lambda painter: widget.render(painter, QPoint()))

    return path.write_bytes(_made_in_memory(draw)) > 0


def _made_in_memory(make: Callable[[QBuffer], bool]) -> bytes:
    """Return the content of a file that Qt makes in memory, or nothing if Qt cannot make it.

    Qt never writes such a file itself, because it does not report that a disk is full.
    """
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    return bytes(buffer.data().data()) if make(buffer) else b""


def _sized(generator: QSvgGenerator, widget: QWidget) -> QSvgGenerator:
    generator.setSize(widget.size())
    generator.setViewBox(widget.rect())
    generator.setTitle(widget.accessibleName())
    return generator


def _pdf_writer(buffer: QBuffer, millimetres: QSizeF) -> QPdfWriter:
    writer = QPdfWriter(buffer)
    writer.setPageSize(QPageSize(millimetres, QPageSize.Unit.Millimeter))
    writer.setPageMargins(QMarginsF())
    writer.setCreator("BPE Explorer")
    return writer


def _is_drawn(device: QPaintDevice, draw: Callable[[QPainter], object]) -> bool:
    painter = QPainter()
    if not painter.begin(device):
        return False
    draw(painter)
    return painter.end()


def save_animated(frames: Sequence[Frame], path: Path) -> bool:
    """Save the frames of an animation as an animated PNG file. Return whether that worked."""
    pngs = [_png(frame.image) for frame in frames]
    return path.write_bytes(animated_png(pngs, [frame.milliseconds for frame in frames])) > 0


def _png(image: QImage) -> bytes:
    return _made_in_memory(lambda buffer: image.save(buffer, "PNG"))  # type: ignore[call-overload]


# --- For print --------------------------------------------------------------------------


def drawing_of(widget: QWidget, width: float, height: float, text: float, *, is_dark: bool) -> bytes:
    """Return a widget as an SVG drawing for print.

    Width and height are in millimetres, and the size of the texts is in points. The widget itself stays as it is.
    """
    unit = QFontInfo(widget.font()).pixelSize() / text * POINTS / MILLIMETRES  # pixels a millimetre
    size = widget.size()
    palette = widget.palette()
    had_one = widget.testAttribute(Qt.WidgetAttribute.WA_SetPalette)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    try:
        widget.setUpdatesEnabled(False)
        widget.setPalette(palette_for("dark" if is_dark else "light"))
        least = widget.minimumSizeHint()  # a widget that needs more room is drawn smaller
        unit *= max(1.0, least.width() / (width * unit), least.height() / (height * unit))
        widget.resize(QSize(round(width * unit), round(height * unit)))
        with QPainter(_sized(generator, widget)) as painter:
            painter.fillRect(widget.rect(), widget.palette().base())
            widget.render(painter, QPoint())
    finally:
        widget.resize(size)
        widget.setPalette(palette if had_one else QPalette())
        widget.setUpdatesEnabled(True)
    drawn = bytes(data.data()).decode()
    sides = f'width="{width:g}mm" height="{height:g}mm"'
    return re.sub(r'width="[^"]*" height="[^"]*"', sides, drawn, count=1).encode()


def write_drawing(drawn: bytes, width: float, height: float, path: Path, kind: str) -> bool:
    """Write an SVG drawing to an .svg, .pdf or .png file.

    Return whether that worked. Width and height are in millimetres.
    """
    if kind == ".svg":
        return path.write_bytes(drawn) == len(drawn)
    renderer = QSvgRenderer(QByteArray(drawn))
    if kind == ".pdf":
        size = QSizeF(width, height)
        drawn = _made_in_memory(lambda buffer: _is_drawn(_pdf_writer(buffer, size), renderer.render))
        return path.write_bytes(drawn) > 0
    dots = QSize(*(round(side * DOTS_AN_INCH / MILLIMETRES) for side in (width, height)))
    image = QImage(dots, QImage.Format.Format_RGB32)
    metre = round(1000 * DOTS_AN_INCH / MILLIMETRES)
    image.setDotsPerMeterX(metre)
    image.setDotsPerMeterY(metre)
    with QPainter(image) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        renderer.render(painter)
    return path.write_bytes(_png(image)) > 0


def animated_png(pngs: Sequence[bytes], milliseconds: Sequence[int]) -> bytes:
    """Return an animated PNG file that is made of PNG files of the same size and kind.

    Each frame is visible for its own number of milliseconds.

    An animation needs three more kinds of chunks. `acTL` holds the number of pictures. `fcTL` is before each picture,
    and says how long it is visible. `fdAT` holds the data of a picture, for all pictures except the first. `fcTL` and
    `fdAT` chunks are numbered together.
    """
    parts = [SIGNATURE]
    number = 0
    for place, (png, pause) in enumerate(zip(pngs, milliseconds, strict=True)):
        chunks = list(chunks_of(png))
        header = next(data for kind, data in chunks if kind == b"IHDR")
        if place == 0:
            parts += [chunk(b"IHDR", header), chunk(b"acTL", struct.pack(">II", len(pngs), FOR_EVER))]
        width, height = struct.unpack(">II", header[:8])
        control = struct.pack(">IIIIIHHBB", number, width, height, 0, 0, pause, 1000, 0, 0)
        parts.append(chunk(b"fcTL", control))
        number += 1
        for kind, data in chunks:
            if kind == b"IDAT" and place == 0:
                parts.append(chunk(b"IDAT", data))
            elif kind == b"IDAT":
                parts.append(chunk(b"fdAT", struct.pack(">I", number) + data))
                number += 1
    parts.append(chunk(b"IEND", b""))
    return b"".join(parts)
