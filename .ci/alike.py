"""The check that two pictures of the window are nearly equal: `alike.py PNG PNG`.

It ends with an error if they differ.
"""

from __future__ import annotations

import sys

import numpy as np
from PySide6.QtGui import QImage

MOST_DIFFERENT = 0.002  # of the points: how long it took is a number that is shown


def points(path: str) -> np.ndarray:
    image = QImage(path).convertToFormat(QImage.Format.Format_RGB32)
    return np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), -1).copy()  # the image ends here


def main(path: str, other: str) -> str | None:
    """Return a sentence if the pictures differ in more than a few places, or None."""
    first, second = points(path), points(other)
    if not first.size or first.shape != second.shape:
        return f"One has {first.shape}, the other {second.shape} points."
    share = float((first != second).mean())
    sys.stdout.write(f"{share:.3%} of {first.size:,} points differ\n")
    return None if share <= MOST_DIFFERENT else "The pictures differ."


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
