"""The facts about a format that are known before its module is loaded."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """An entry in the list of all formats: the purpose of a format, its module, and the endings of its files."""

    explanation: str  # a line for menus and --help
    module: str  # the module that holds its Format
    endings: tuple[str, ...]
    only_read: bool = False  # so that no files of it are written
    mark: bytes = b""  # bytes with which all its files begin; other files are not offered to it
    sign: bytes = b""  # bytes that all its files hold near the beginning; other files are not offered to it
    first: bytes = b""  # the first byte of all its files, after spaces; other files are not searched for the sign
    purpose: str = ""  # what a user writes it for: "for" and a program, or a table and what reads it
    is_quick: bool = False  # whether machine code opens a file in little more time than its stored table takes
