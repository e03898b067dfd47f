"""The row of a format in the list of all formats. The row exists before the module of the format is loaded."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """The row of a format: its purpose, its module, and the endings of its files."""

    explanation: str  # a line for menus and --help
    module: str  # the module that holds its Format
    endings: tuple[str, ...]
    only_read: bool = False  # so that no files of it are written
    mark: bytes = b""  # bytes with which all its files begin; other files are not offered to it
    sign: bytes = b""  # bytes that all its files hold near the beginning; other files are not offered to it
    purpose: str = ""  # what a person writes it for: "for" and a program, or a table and what reads it
