"""The reader of plain text. Files of any encoding become blocks of valid UTF-8. Blocks become documents.

Text in UTF-8 is checked, but it is neither decoded nor copied.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

import numpy as np

from bpe_core.errors import CorpusError, EncodingError
from bpe_core.support.wording import count_text
from bpe_core.text.reading.opening import (
    HEAD_LENGTH,
    ByteStream,
    encoding_of,
    open_stream,
    refuse_empty_or_binary,
    why_not_text,
)
from bpe_core.text.reading.source import Bytes, Chunk, OnInvalid, ReadingOptions, SkipLog, Source
from bpe_core.text.reading.utf8 import PYTHON_ERRORS, encode_utf8, first_invalid, length_of_whole_characters, pieces_of

LONGEST_LINE = 64 * 1024 * 1024  # bytes; parsing takes some ten times as much memory
_SMALLEST_BLOCK = 64  # room for the rest of the block before, and some more
_SEARCHED = 1 << 12  # bytes that are searched for a line end at a time
_AT_ONCE = 1 << 16  # bytes of lines that Python reads


def pieces(source: Source, options: ReadingOptions, size: int, log: SkipLog) -> Iterator[Chunk]:
    """Yield a file as one document in blocks. The last block is marked as the end of the document.

    The function reads one block ahead, so that it knows the last block.
    """
    held: Chunk | None = None
    for block in text_blocks(source, options, size, log):
        if held is not None:
            yield held
        held = block
    if held is not None:  # otherwise the whole block was invalid and left out
        yield held._replace(ends_document=True)


def is_plain_text(source: Source) -> bool:
    """Return whether a source is read as one text, without decompression."""
    return source.kind == "text" and not source.compression


def is_valid_text(data: bytes, encoding: str | None) -> bool:
    """Return whether the bytes of a whole file are text in UTF-8, without a byte order mark. Such bytes need no change.

    `encoding` is the encoding that a user named, or None.
    """
    if not data or encoding is not None or encoding_of(data, None) != "utf-8":
        return False
    return not why_not_text(data[:HEAD_LENGTH], "utf-8", None) and first_invalid(data) < 0


@contextmanager
def numbered_lines(source: Source, options: ReadingOptions, size: int, log: SkipLog) -> Iterator[NumberedLines]:
    """Open a file for a `with` block, which receives an iterator over the lines of the file.

    The file is closed at the end of the block, even if an error occurs in the block.
    """
    check = Utf8Check.of(source, options, log)
    with closing(text_blocks(source, options, size, log, length_of_whole_lines, checked_later=check)) as blocks:
        yield NumberedLines(blocks, source.name, check=check)


class NumberedLines:
    """The lines of a file with their line ends.

    `number` is the number of the current line. `bytes_read` is the offset in the file up to which the lines were read.
    `block` holds whole lines, and `place` is the offset in `block` at which the next line begins.

    Each line that the iterator yields is valid UTF-8. A caller that reads `block` itself must check what it reads.
    """

    def __init__(
        self, blocks: Iterable[Chunk], name: str, longest: int = LONGEST_LINE, check: Utf8Check | None = None
    ) -> None:
        self._name = name
        self._longest = longest
        self._check = check
        self._whole_lines = self._in_whole_lines(blocks)
        self.number = self.bytes_read = self.place = 0
        self.block: Bytes = b""
        self._start = 0  # the offset of the block in the text
        self._rest: Bytes = b""  # the lines after the block that were read with it
        self._rest_start = 0

    def __iter__(self) -> Iterator[bytes]:
        while self.has_more():
            block = self.block if isinstance(self.block, bytes) else self._beginning_as_bytes()
            end = block.find(b"\n", self.place) + 1 or len(block)
            line = block[self.place : end]
            self.move_to(end, 1)
            yield line

    def has_more(self) -> bool:
        """Return whether there is another line. If there is, `block` contains this line after the call."""
        while self.place == len(self.block):
            if len(self._rest):
                self._start = self._rest_start
                self.block = self._rest
                self._rest = b""
            else:
                following = next(self._whole_lines, None)
                if following is None:
                    return False
                self._start, self.block = following
            self.place = 0
        return True

    def _beginning_as_bytes(self) -> bytes:
        """Replace `block` with its next lines, and return the new block.

        The new block consists of bytes that can be searched and are valid UTF-8. Lines that were read before are
        removed. Lines after the new block are kept, and become the next block.
        """
        left = memoryview(self.block)[self.place :]
        length = length_after_last_line_end(left[:_AT_ONCE]) or len(left)
        block = bytes(left[:length])
        self._start += self.place
        if self._check is not None:
            block = bytes(self._check.checked(block, self._start))
        self.block = block
        self._rest = left[length:]
        self._rest_start = self._start + length
        self.place = 0
        return block

    def move_to(self, place: int, lines: int) -> None:
        """Move to the offset `place` in the block. `lines` is the number of lines that were passed."""
        self.place = place
        self.number += lines

    def _in_whole_lines(self, blocks: Iterable[Chunk]) -> Iterator[tuple[int, memoryview]]:
        """Yield blocks of whole lines, each with its offset in the text."""
        start = 0
        begun: list[bytes] = []  # parts of a line whose end has not come yet
        begun_length = 0
        for block in blocks:
            self.bytes_read = block.bytes_read
            data = memoryview(block.data)
            end = length_after_last_line_end(data)
            if end:
                yield start, memoryview(b"".join([*begun, data[:end]])) if begun_length else data[:end]
                start += begun_length + end
                begun = []
                begun_length = 0
            begun.append(bytes(data[end:]))
            begun_length += len(data) - end
            if begun_length > self._longest:
                raise CorpusError(
                    f"{self._name}, line {self.number + 1:,} is longer than {self._longest // 2**20:,} MB. Check "
                    "that each line is one row; plain text may have longer lines."
                )
        yield start, memoryview(b"".join(begun))


def length_after_last_line_end(data: memoryview) -> int:
    """Return the length of the data up to its last line end. Return 0 if no line ends in the data.

    >>> length_after_last_line_end(memoryview(b"low\\nlower"))
    4
    """
    stop = len(data)
    while stop:
        start = max(0, stop - _SEARCHED)
        found = bytes(data[start:stop]).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        stop = start
    return 0


def length_of_whole_lines(data: memoryview) -> int:
    """Return the number of bytes up to the last line end in `data`, including the line end.

    If there is no line end, return the number of bytes up to the end of the last whole character.
    """
    return length_after_last_line_end(data) or length_of_whole_characters(data)


def text_blocks(
    source: Source,
    options: ReadingOptions,
    size: int,
    log: SkipLog,
    length_to_pass_on: Callable[[memoryview], int] = length_of_whole_characters,
    checked_later: Utf8Check | None = None,
) -> Generator[Chunk]:
    """Yield the text of a file in blocks of about `size` bytes, without its byte order mark.

    In UTF-8, a block ends where `length_to_pass_on` says. The bytes after this length begin the next block. If
    `checked_later` is given, the blocks need not be valid UTF-8, and the caller must check them with
    `checked_later`.
    """
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
                check = checked_later or Utf8Check.of(source, options, log)
                yield from _utf8_blocks(stream, check, size, length_to_pass_on, checks_now=checked_later is None)
            else:
                yield from _decoded_blocks(stream, source, encoding, options.on_invalid, size, log)
        finally:  # also for a reader that stops early
            if stream.has_changed:
                log.add_change(source.name)


def _utf8_blocks(
    stream: ByteStream,
    check: Utf8Check,
    size: int,
    length_to_pass_on: Callable[[memoryview], int],
    *,
    checks_now: bool,
) -> Iterator[Chunk]:
    rest = b""  # a character or a line cut by the end of the last block
    start = 0  # of the block, in the text
    is_first = check.text_start == 0  # whether a byte order mark may come
    at_end = False
    while not at_end:
        buffer = _new_buffer(size)
        buffer[: len(rest)] = rest
        filled = len(rest) + stream.fill(buffer[len(rest) :])
        at_end = filled < size
        end = filled if at_end else length_to_pass_on(buffer[:filled])
        data: Bytes = buffer[:end]
        if is_first and data[:3] == codecs.BOM_UTF8:
            check.text_start = 3
            data = data[3:]
        is_first = False
        length = len(data)
        if checks_now:
            data = check.checked(data, start)
        if len(data):
            yield Chunk(data, False, stream.bytes_read)
        rest = bytes(buffer[end:filled])
        start += length


def _new_buffer(size: int) -> memoryview:
    """Return a new buffer of `size` bytes. The bytes are not set to zero, which saves time.

    Each block needs a new buffer, because other threads may still read the previous block.
    """
    return np.empty(size, np.uint8).data


@dataclass
class Utf8Check:
    """A checker of UTF-8 texts. It repairs an invalid text or raises an error, depending on the options."""

    source: Source
    on_invalid: OnInvalid
    log: SkipLog
    text_start: int  # the offset of the text in its file

    @classmethod
    def of(cls, source: Source, options: ReadingOptions, log: SkipLog) -> Utf8Check:
        return cls(source, options.on_invalid, log, 0 if source.span is None else source.span.start)

    def checked(self, data: Bytes, start: int) -> Bytes:
        """Return a part of the text, repaired if it is not valid. `start` is the offset of the part in the text.

        A repair replaces invalid bytes or leaves them out, and is reported in the log. If `on_invalid` is "keep",
        nothing is repaired. If it is "strict", raise EncodingError for an invalid byte.
        """
        bad = first_invalid(data) if self.on_invalid != "keep" else -1
        if bad < 0:
            return data
        offset = self.text_start + start + bad
        if self.on_invalid == "strict":
            raise EncodingError(_not_text(self.source, "UTF-8", f"byte 0x{data[bad]:02X}", offset))
        mended = str(data, "utf-8", PYTHON_ERRORS[self.on_invalid]).encode()
        if self.on_invalid == "skip":
            count = len(data) - len(mended)
            what = count_text(count, "byte that is not UTF-8 was left out", "bytes that are not UTF-8 were left out")
        else:
            mark = "\N{REPLACEMENT CHARACTER}"
            count = mended.count(mark.encode()) - bytes(data).count(mark.encode())
            places = count_text(count, "place that is not UTF-8 was", "places that are not UTF-8 were")
            what = f"{places} replaced by {mark}"
        self.log.add(self.source.name, f"{what}, the first at byte {offset:,}", count)
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
            if self._on_invalid in ("strict", "keep"):  # no byte of this encoding can be kept in UTF-8
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
