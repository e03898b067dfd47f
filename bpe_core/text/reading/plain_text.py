"""The reader of plain text. Files of any encoding become blocks of valid UTF-8, and the blocks become documents.

UTF-8 is checked, but neither decoded nor copied.
"""

from __future__ import annotations

import codecs
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager

import numpy as np

from bpe_core.errors import CorpusError, EncodingError
from bpe_core.text.reading.opening import HEAD_LENGTH, ByteStream, open_stream, refuse_empty_or_binary
from bpe_core.text.reading.source import Bytes, Chunk, OnInvalid, ReadingOptions, SkipLog, Source
from bpe_core.text.reading.utf8 import PYTHON_ERRORS, encode_utf8, first_invalid, pieces_of, whole_characters

LONGEST_LINE = 64 * 1024 * 1024  # bytes; parsing takes some ten times as much memory
_SMALLEST_BLOCK = 64  # room for the rest of the block before, and some more


def pieces(source: Source, options: ReadingOptions, size: int, log: SkipLog) -> Iterator[Chunk]:
    """Yield a file as one document in blocks. The last block is marked as the end of the document.

    One block is read ahead, so that the last block is known.
    """
    held: Chunk | None = None
    for block in text_blocks(source, options, size, log):
        if held is not None:
            yield held
        held = block
    if held is not None:  # otherwise the whole block was invalid and left out
        yield held._replace(ends_document=True)


@contextmanager
def numbered_lines(source: Source, options: ReadingOptions, size: int, log: SkipLog) -> Iterator[NumberedLines]:
    """Open a file for a `with` block, which receives an iterator over the lines of the file.

    The file is closed at the end of the block, even if an error occurs in the block.
    """
    with closing(text_blocks(source, options, size, log)) as blocks:
        yield NumberedLines(blocks, source.name)


class NumberedLines:
    """The lines of a file with their line ends.

    `number` is the number of the current line. `bytes_read` is the offset in the file up to which the lines were read.
    `block` holds whole lines, and `place` is the offset in `block` at which the next line begins.
    """

    def __init__(self, blocks: Iterable[Chunk], name: str, longest: int = LONGEST_LINE) -> None:
        self._name = name
        self._longest = longest
        self._whole_lines = self._in_whole_lines(blocks)
        self.number = self.bytes_read = self.place = 0
        self.block = b""

    def __iter__(self) -> Iterator[bytes]:
        while self.has_more():
            end = self.block.find(b"\n", self.place) + 1 or len(self.block)
            line = self.block[self.place : end]
            self.move_to(end, 1)
            yield line

    def has_more(self) -> bool:
        """Return whether there is a next line. If there is, `block` holds this line."""
        while self.place == len(self.block):
            block = next(self._whole_lines, None)
            if block is None:
                return False
            self.block = block
            self.place = 0
        return True

    def move_to(self, place: int, lines: int) -> None:
        """Move to the offset `place` of the block, after so many lines."""
        self.place = place
        self.number += lines

    def _in_whole_lines(self, blocks: Iterable[Chunk]) -> Iterator[bytes]:
        begun: list[bytes] = []  # parts of a line whose end has not come yet
        begun_length = 0
        for block in blocks:
            self.bytes_read = block.bytes_read
            data = bytes(block.data)
            end = data.rfind(b"\n") + 1
            if end:
                yield b"".join([*begun, memoryview(data)[:end]])
                begun = []
                begun_length = 0
            begun.append(data[end:])
            begun_length += len(data) - end
            if begun_length > self._longest:
                raise CorpusError(
                    f"{self._name}, line {self.number + 1:,} is longer than {self._longest // 2**20:,} MB. Check "
                    "that each line is one row; plain text may have longer lines."
                )
        yield b"".join(begun)


def text_blocks(source: Source, options: ReadingOptions, size: int, log: SkipLog) -> Generator[Chunk]:
    """Yield the text of a file in blocks of about `size` bytes, without its byte order mark."""
    if source.size is not None and not source.compression:
        size = min(size, source.size + 1)  # one byte more than a small file has, so that the first block shows its end
    size = max(size, _SMALLEST_BLOCK)
    with open_stream(source) as stream:
        encoding = source.encoding
        if encoding is None or (stream.has_changed and source.span is None):  # since its beginning was looked at
            head = stream.head(HEAD_LENGTH)
            encoding = refuse_empty_or_binary(source.name, head, options.encoding, binary=options.on_invalid == "keep")
        try:
            if encoding in ("utf-8", "utf-8-sig"):
                yield from _utf8_blocks(stream, source, options.on_invalid, size, log)
            else:
                yield from _decoded_blocks(stream, source, encoding, options.on_invalid, size, log)
        finally:  # also for a reader that stops early
            if stream.has_changed:
                log.add_change(source.name)


def _utf8_blocks(stream: ByteStream, source: Source, on_invalid: OnInvalid, size: int, log: SkipLog) -> Iterator[Chunk]:
    rest = b""  # a character cut by the end of the last block
    start = 0 if source.span is None else source.span.start  # of the block, in the file
    at_end = False
    while not at_end:
        buffer = _new_buffer(size)
        buffer[: len(rest)] = rest
        filled = len(rest) + stream.fill(buffer[len(rest) :])
        at_end = filled < size
        end = filled if at_end else whole_characters(buffer[:filled])
        data: Bytes = buffer[:end]
        bad = first_invalid(data) if on_invalid != "keep" else -1
        if bad >= 0:
            data = _mended(data, bad, start, source, on_invalid, log)
        if start == 0 and data[:3] == codecs.BOM_UTF8:
            data = data[3:]
        if len(data):
            yield Chunk(data, False, stream.bytes_read)
        rest = bytes(buffer[end:filled])
        start += end


def _new_buffer(size: int) -> memoryview:
    """Return a new buffer of `size` bytes. The bytes are not set to zero, which saves time.

    Each block needs a new buffer, because other threads may still read the previous block.
    """
    return np.empty(size, np.uint8).data


def _mended(data: Bytes, bad: int, start: int, source: Source, on_invalid: OnInvalid, log: SkipLog) -> bytes:
    """Return the text with the invalid bytes replaced or left out, and report this.

    In strict mode raise EncodingError.
    """
    offset = start + bad
    if on_invalid == "strict":
        raise EncodingError(_not_text(source, "UTF-8", f"byte 0x{data[bad]:02X}", offset))
    mended = str(data, "utf-8", PYTHON_ERRORS[on_invalid]).encode()
    if on_invalid == "skip":
        count = len(data) - len(mended)
        what = "bytes that are not UTF-8 left out"
    else:
        mark = "\N{REPLACEMENT CHARACTER}"
        count = mended.count(mark.encode()) - bytes(data).count(mark.encode())
        what = f"places that are not UTF-8 replaced by {mark}"
    log.add(source.name, f"{count:,} {what}, the first at byte {offset:,}", count)
    return mended


def _decoded_blocks(
    stream: ByteStream, source: Source, encoding: str, on_invalid: OnInvalid, size: int, log: SkipLog
) -> Iterator[Chunk]:
    decoder = _Decoder(source, encoding, on_invalid, log)
    at_start = True
    at_end = False
    while not at_end:
        buffer = _new_buffer(size)
        filled = stream.fill(buffer)
        at_end = filled < size
        text = decoder.decode(bytes(buffer[:filled]), at_end)
        if text and at_start:
            at_start = False
            text = text.removeprefix("\ufeff")
        if text:  # some odd encodings can spell a lone surrogate, which UTF-8 cannot
            yield Chunk(text.encode("utf-8", "replace"), False, stream.bytes_read)


class _Decoder:
    def __init__(self, source: Source, encoding: str, on_invalid: OnInvalid, log: SkipLog) -> None:
        self._source = source
        self._encoding = encoding
        self._on_invalid = on_invalid
        self._log = log
        self._decoder = codecs.getincrementaldecoder(encoding)("strict")
        self._read = 0

    def decode(self, data: bytes, at_end: bool) -> str:
        self._read += len(data)
        before = self._decoder.getstate()
        try:
            return self._decoder.decode(data, at_end)
        except UnicodeError as error:
            if isinstance(error, UnicodeDecodeError):
                # The object is the rest of earlier blocks with this one: it ends at the current offset.
                offset = self._read - len(error.object) + error.start
                reason = f"{error.reason}, byte 0x{error.object[error.start]:02X}"
            else:  # UTF-16 without a byte order mark, punycode and the like
                offset = max(0, self._read - len(data))
                reason = str(error)
            if self._on_invalid == "strict":
                raise EncodingError(_not_text(self._source, self._encoding, reason, offset)) from error
        deed = "replaced by \N{REPLACEMENT CHARACTER}" if self._on_invalid == "replace" else "left out"
        what = f"bytes that are not {self._encoding} are {deed}, the first at byte {offset:,} ({reason})"
        self._log.add(self._source.name, what)
        self._decoder.setstate(before)
        self._decoder.errors = PYTHON_ERRORS[self._on_invalid]
        return self._decoder.decode(data, at_end)


def _not_text(source: Source, encoding: str, what: str, offset: int) -> str:
    inside = " of the decompressed text" if source.compression else ""
    return (
        f"{source.name} is not valid {encoding}: {what} at offset {offset:,}{inside}. "
        "Give the encoding it was written in (such as cp1252), or choose to replace or skip invalid bytes."
    )


class TextsReader:
    """A reader of texts in memory. Each string is a document."""

    def __init__(self, texts: Iterable[str], on_invalid: OnInvalid) -> None:
        if isinstance(texts, (str, bytes)):
            raise CorpusError("Give a list of texts; put a single text into brackets: [text].")
        self._texts = texts
        self._on_invalid = on_invalid
        self._only_once = iter(texts) is texts
        self._was_read = False
        size = None if not isinstance(texts, (list, tuple)) else sum(map(_stored_size, texts))
        self.source = Source("texts", None, size, "texts")

    def pieces(self, size: int, log: SkipLog) -> Iterator[Chunk]:
        if self._only_once and self._was_read:
            again = "give a list to read the texts again"
            raise CorpusError(f"These texts came from an iterator and have been read already; {again}.")
        self._was_read = True
        done = 0
        for number, text in enumerate(self._texts, start=1):
            if not isinstance(text, str):
                raise CorpusError(f"Text {number:,} is of the type {type(text).__name__}; texts must be strings.")
            done += _stored_size(text)
            yield from pieces_of(self._encoded(text, number, log), size, done)

    def _encoded(self, text: str, number: int, log: SkipLog) -> bytes:
        try:
            return encode_utf8(text)
        except EncodingError as error:
            if self._on_invalid == "strict":
                raise EncodingError(f"Text {number:,}: {error}.") from error
            log.add(self.source.name, f"text {number:,}: {error}")
            return encode_utf8(text, self._on_invalid)


def _stored_size(text: object) -> int:
    if not isinstance(text, str):
        return 0  # refused when its turn comes
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
