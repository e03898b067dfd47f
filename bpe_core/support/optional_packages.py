"""The packages that the program needs only for some kinds of files.

A package is imported when such a file is used. If the package is missing, an error says so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Gets a drawing in SVG, its width and height in millimetres, and the path of a .pdf or .png file. Returns what is
# missing for that, or an empty string.
Renderer = Callable[[bytes, float, float, Path], str]

MISSING_PYARROW = "needs the package pyarrow, which is not installed: pip install 'bpe-explorer[parquet]'."

MISSING_PILLOW = "needs the package Pillow, which is not installed: pip install 'bpe-explorer[film]'."

MISSING_JINJA = "needs the package jinja2, which is not installed: pip install 'bpe-explorer[chat]'."

MISSING_CLUSTER = "needs the packages of a cluster, which are not installed: pip install 'bpe-explorer[cluster]'."

MISSING_HUB = "needs the package huggingface_hub, which is not installed: pip install 'bpe-explorer[hub]'."

MISSING_CONSOLE = "needs the package qtconsole, which is not installed: pip install 'bpe-explorer[console]'."


STANDARD_OUTPUT = 1  # the number of its file
MISSING_HIGHS = "needs the package highspy, which is not installed: pip install 'bpe-explorer[mixture]'."


def pyarrow_or_none() -> Any:
    """Return the package pyarrow, or None if it is missing.

    The package is large. So call this function only for files that need the package, such as Parquet files.
    """
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        return None
    return pyarrow


def has_pillow() -> bool:
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        return False
    return True


def has_jinja() -> bool:
    try:
        import jinja2  # noqa: F401
    except ImportError:
        return False
    return True


def quiet_solver_or_none() -> Any:
    """Return a solver for linear programs, with its output turned off. Return None if highspy is not installed."""
    try:
        import highspy
    except ImportError:
        return None
    make: Any = highspy.Highs
    with no_print():  # it prints its version when it is made, before that can be turned off
        solver = make()
    solver.silent()
    return solver


@contextmanager
def no_print() -> Iterator[None]:
    """Suppress the standard output until the `with` block ends, even the output of code that is not in Python."""
    if sys.stdout is None:  # a window without a terminal
        yield
        return
    sys.stdout.flush()
    kept = os.dup(STANDARD_OUTPUT)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, STANDARD_OUTPUT)
        yield
    finally:
        os.dup2(kept, STANDARD_OUTPUT)
        os.close(kept)
        os.close(nowhere)


def distributed_or_none() -> Any:
    try:
        import distributed
    except ImportError:
        return None
    return distributed


_renderers: list[tuple[Renderer, str]] = []
_windows: list[Callable[[], dict[str, str]]] = []
ENGINE = "bpe_core"


def offer_renderer(renderer: Renderer, program: str) -> None:
    """Give the engine a function of the window that converts drawings to other formats.

    The engine has no such function of its own. `program` is the name of the module that runs the whole program.
    The engine returns this name from its function `program()`.
    """
    _renderers[:] = [(renderer, program)]


def offer_window(facts: Callable[[], dict[str, str]]) -> None:
    """Give the engine a function that returns facts about the window.

    The engine needs this function because it does not import the window. A fact is, for example, whether the window can
    be opened on this computer.
    """
    _windows[:] = [facts]


def window_facts() -> dict[str, str]:
    """Return facts about the window: whether it can be opened, and where its settings are."""
    return _windows[0]() if _windows else {"can be opened": "not known: this is the engine without its window"}


def renderer_or_none() -> Renderer | None:
    return _renderers[0][0] if _renderers else None


def program() -> str:
    """Return the name of the module that runs a command in a separate process.

    It is the name of the whole program, or of the engine if there is no window.
    """
    return _renderers[0][1] if _renderers else ENGINE
