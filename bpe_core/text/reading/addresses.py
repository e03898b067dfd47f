"""What is an address, and what a path: told without looking at anything."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(://|::)")  # of two letters at least: C: is a disk


def is_address(place: str) -> bool:
    """Whether this leads to another place than the folders of this computer.

    >>> is_address("s3://bucket/a.jsonl"), is_address("zip://a.txt::b.zip"), is_address("C://a.txt")
    (True, True, False)
    """
    return _ADDRESS.match(place) is not None


def without_password(address: str) -> str:
    """An address as it may be shown and kept.

    >>> without_password("ftp://anna:secret@example.org/a.txt")
    'ftp://anna@example.org/a.txt'
    """
    return re.sub(r"(://[^/@:\s]*):[^/@\s]*@", r"\1@", address)
