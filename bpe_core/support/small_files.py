"""The reader of small text files that people write, such as plans, lists and templates."""

from __future__ import annotations

from pathlib import Path

from bpe_core.errors import BpeError, cause_of

LARGEST = 2**28  # bytes; a list of a million words takes a tenth of them


def read_small_bytes(path: Path | str, what: str, error: type[BpeError]) -> bytes:
    """Return the bytes of a whole file. Raise `error` if the file is too large or cannot be read.

    `what` is the name of the content in messages, such as "the plan".
    """
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as trouble:
        raise error(f"Could not read {what} {path}: {cause_of(trouble)}.") from trouble
    if len(data) > LARGEST:
        raise error(f"{path} has more than {LARGEST:,} bytes, too many for {what}.")
    return data


def read_small_file(path: Path | str, what: str, error: type[BpeError]) -> str:
    """Return the text of a file in UTF-8. Raise `error` if the file is too large or cannot be read.

    `what` is the name of the content in messages, such as "the plan".
    """
    try:
        data = read_small_bytes(path, what, error)
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as trouble:
        raise error(
            f"Could not read {what} {path}: the file is not UTF-8 text (at byte {trouble.start:,})."
        ) from trouble
    except ValueError as trouble:
        raise error(f"{str(path)!r} cannot be the name of a file.") from trouble
