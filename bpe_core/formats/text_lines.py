"""Files of lines that only a line feed ends: a token each, or a pair, as in merges.txt and subword-nmt's codes."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from bpe_core.errors import FormatError
from bpe_core.formats.written_merges import WrittenMerges, halves
from bpe_core.support.found_once import once

VERSION = "#version"
LONGEST_LINE = 2**20  # bytes
LOOK = 100_000  # bytes that tell whether there is a pair a line


def read_pairs(data: bytes, name: str) -> tuple[WrittenMerges, str]:
    """The merges of a whole file, and its version line, which may be missing."""
    return once("pairs", data, lambda: _read_pairs(data, name))


def _read_pairs(data: bytes, name: str) -> tuple[WrittenMerges, str]:
    if (at_once := _read_at_once(data)) is not None:
        return at_once
    rows: list[tuple[str, str, int]] = []
    version = ""
    for number, text in enumerate(lines_of(data, name), start=1):
        if number == 1 and _is_version(text):
            version = _version_in(text)
        elif text:
            parts = text.split(" ")
            if len(parts) != 2 or not all(parts):
                raise FormatError(
                    f"{name}, line {number:,}: there must be two tokens with one blank between, not {text[:80]!r}. "
                    "A token that holds a blank or a line break cannot be written in such a file."
                )
            rows.append((parts[0], parts[1], number))
    return WrittenMerges([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]), version


def _read_at_once(data: bytes) -> tuple[WrittenMerges, str] | None:
    """The same where every line is as most programs write it; None where each must be looked at by itself."""
    try:
        lines = data.decode("utf-8-sig").removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        return None
    version = _version_in(lines[0]) if _is_version(lines[0]) else ""
    parts = halves(lines[bool(version) :])
    if parts is None or b"\r" in data or 4 * max(map(len, lines)) > LONGEST_LINE:
        return None
    return WrittenMerges(*parts, range(1 + bool(version), 1 + len(lines))), version


def _is_version(line: str) -> bool:
    return VERSION in line and len(line.split(" ")) == 2


def _version_in(line: str) -> str:
    """Before it CLIP's file has its own name."""
    return line[line.index(VERSION) :].strip()


def pairs_at_the_beginning(data: bytes) -> list[tuple[str, str]]:
    """The pairs of the first lines, below a version; none where one of them is no pair."""
    whole, _, _ = data[:LOOK].rpartition(b"\n")  # the last line may be cut
    head = (whole or data[:LOOK]).removeprefix(codecs.BOM_UTF8)
    try:
        lines = [line.removesuffix("\r") for line in head.decode().split("\n")]
    except UnicodeDecodeError:
        return []
    parts = [line.split(" ") for line in lines[VERSION in lines[0] :] if line]
    return [(one[0], one[1]) for one in parts] if all(len(one) == 2 and all(one) for one in parts) else []


def lines_of(data: bytes, name: str) -> Iterator[str]:
    """The lines of a whole file without their ends."""
    for number, line in enumerate(data.split(b"\n"), start=1):
        yield _decoded(line.removesuffix(b"\r"), number, name)


def _decoded(line: bytes, number: int, name: str) -> str:
    if len(line) > LONGEST_LINE:
        raise FormatError(f"{name}, line {number:,}: {len(line):,} bytes are too many for one.")
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        place = f"{name}, line {number:,}"
        raise FormatError(f"{place}: the bytes at place {error.start + 1} of the line are not UTF-8.") from error
