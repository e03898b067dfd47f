"""The check of a picture of the window: `not_blank.py PNG`.

It ends with an error if the picture is missing or blank.
"""

from __future__ import annotations

import sys

from PySide6.QtGui import QImage

FEWEST_COLOURS = 40  # text, tokens and charts have hundreds; an empty window has a handful


def main(path: str) -> str | None:
    """Return a sentence about what is wrong with the picture, or None if nothing is wrong."""
    image = QImage(path)
    if image.isNull():
        return f"{path} is no picture."
    points = ((x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3))
    colours = len({image.pixel(x, y) for x, y in points})
    sys.stdout.write(f"{image.width()} x {image.height()} pixels, {colours} colours\n")
    if image.width() < 640 or image.height() < 400:
        return "The picture is smaller than a window."
    return None if colours >= FEWEST_COLOURS else "The picture is blank, or nearly so."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
