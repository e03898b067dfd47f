"""A plain text file: one document, its blocks passed on as they are."""

from __future__ import annotations

from collections.abc import Iterator

from bpe_core.text.reading.blocks import text_blocks
from bpe_core.text.reading.skipped import SkipLog
from bpe_core.text.reading.source import DocumentPiece, ReadingOptions, Source


def pieces(source: Source, options: ReadingOptions, size: int, log: SkipLog) -> Iterator[DocumentPiece]:
    """The blocks of the file, read one ahead so that the last can be marked."""
    blocks = text_blocks(source, options, size, log)
    held = next(blocks, None)
    if held is None:
        return  # all of it was invalid and left out
    for block in blocks:
        yield DocumentPiece(held.data, False, held.bytes_read)
        held = block
    yield DocumentPiece(held.data, True, held.bytes_read)
