"""What stands in front of the blocks of a file, and behind them."""

from __future__ import annotations

from pathlib import Path

from bpe_core.errors import OutputError

MAGIC = b"BPEGAGE"
VERSION = 1
SIZE_OF_HEAD, SIZE_OF_CHECKSUM = 16, 4
SIZE_OF_NUMBER = 8


def head(length: int) -> bytes:
    """The beginning of a file whose original is so long."""
    return MAGIC + bytes([VERSION]) + length.to_bytes(SIZE_OF_NUMBER, "big")


def checksum(crc: int) -> bytes:
    return crc.to_bytes(SIZE_OF_CHECKSUM, "big")


def refuse_to_overwrite(source: Path, target: Path) -> None:
    """What is read must still be there when all is done, and what comes of it cannot take its place."""
    if target.exists() and source.exists() and target.samefile(source):
        raise OutputError(f"{target} is the file that is read; choose another name for what is written.")
