"""Charts of commands as .pdf and .png: drawn by Qt, without a window and without a screen."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def render(drawn: bytes, width: float, height: float, path: Path) -> str:
    """Write a drawing of that size in millimetres; what is missing for that, or nothing."""
    if sys.platform.startswith("linux"):
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from app.system.display import why_no_window

    if reason := why_no_window():
        return reason
    from PySide6.QtGui import QGuiApplication

    from app.window.parts.pictures import write_drawing  # only now is it certain that Qt is there
    from bpe_core.support.atomic import replace_atomically

    application = QGuiApplication.instance() or QGuiApplication(sys.argv[:1])
    with replace_atomically(path) as beside:
        is_written = write_drawing(drawn, width, height, beside, path.suffix.lower())
        if not is_written:
            raise OSError("not all of it could be written")
    del application
    return ""
