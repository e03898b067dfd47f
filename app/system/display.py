"""Functions that check whether a window can open on this computer.

The check runs before Qt is loaded, because Qt may be missing, or may abort the process.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
from importlib.util import find_spec

WITHOUT_A_WINDOW = "work without a window: `bpe-explorer --help` lists the commands."
MISSING_SCREEN = (
    "No window can be opened without a screen: neither DISPLAY nor WAYLAND_DISPLAY is set. Log in to a desktop, use "
    f"`ssh -X`, or {WITHOUT_A_WINDOW}"
)
# The modules that the window imports, each with its package.
PACKAGES = {
    "numpy": "numpy",
    "regex": "regex",
    "PySide6": "PySide6-Essentials",
    "shiboken6": "shiboken6",
    "pyqtgraph": "pyqtgraph",
}
# The libraries that Qt's X11 plugin needs and a bare system may lack, each with its Debian package.
X11_LIBRARIES = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
# The libraries that every kind of Qt window needs.
COMMON_LIBRARIES = {
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libfontconfig.so.1": "libfontconfig1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libdbus-1.so.3": "libdbus-1-3",
}


def why_no_window() -> str:
    """Return a sentence with the reason why no window can open, or an empty string if a window can open."""
    return _not_installed() or (_no_screen() if sys.platform.startswith("linux") else "") or _not_loadable()


def _not_installed() -> str:
    missing = " ".join(package for module, package in PACKAGES.items() if not _is_installed(module))
    return missing and f"The window is not installed here: pip install {missing}. Or {WITHOUT_A_WINDOW}"


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:
        return False


def _not_loadable() -> str:
    try:
        importlib.import_module("PySide6.QtWidgets")
    except ImportError as error:
        return f"Qt is installed here but cannot be loaded: {error}. Install Qt again, or {WITHOUT_A_WINDOW}"
    return ""


def _no_screen() -> str:
    platform = os.environ.get("QT_QPA_PLATFORM", "").split(":")[0].split(";")[0]
    on_wayland = bool(os.environ.get("WAYLAND_DISPLAY"))
    on_x11 = bool(os.environ.get("DISPLAY"))
    if not platform and not on_wayland and not on_x11:
        return MISSING_SCREEN
    uses_x11 = platform == "xcb" or (not platform and not on_wayland)
    missing = _missing(COMMON_LIBRARIES) + (_missing(X11_LIBRARIES) if uses_x11 else [])
    if missing:
        packages = " ".join(missing)
        return f"Libraries that the window needs are missing. On Debian or Ubuntu: sudo apt install {packages}"
    if uses_x11 and not _x11_answers():
        return f"The screen {os.environ.get('DISPLAY', '')!r} named by DISPLAY does not answer."
    return ""


def _missing(libraries: dict[str, str]) -> list[str]:
    missing = []
    for library, package in libraries.items():
        try:
            ctypes.CDLL(library)
        except OSError:
            missing.append(package)
    return missing


def _x11_answers() -> bool:
    """Return whether the X server accepts a connection. Without a connection, Qt would abort the process.

    If the library for the check is missing, return True. Then the check is left to Qt.
    """
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True  # leave the decision to Qt
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
    xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(None, None)
    has_error = bool(xcb.xcb_connection_has_error(connection))
    xcb.xcb_disconnect(connection)
    return not has_error
