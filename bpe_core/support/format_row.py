"""The row of a format in the list of all formats, which is there before anything of the format is loaded."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """The row of a format: its purpose, its module, and the endings of its files."""

    explanation: str  # one line for menus and --help
    module: str  # that holds its Format
    endings: tuple[str, ...]
    only_read: bool = False  # so that no files of it are written
    mark: bytes = b""  # with which all its files begin; what begins otherwise is not asked of it
    sign: bytes = b""  # which all its files hold in their first part; what lacks it is not asked of it
    purpose: str = ""  # what a person writes it for: "for" and a program, or a table and what reads it
