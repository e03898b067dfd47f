"""From a stream of bytes to blocks of valid UTF-8, whatever encoding the file has.

UTF-8 is passed on as it is read: checked, but neither decoded nor copied.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

import numpy as np

from bpe_core.errors import EncodingError
from bpe_core.text.reading.beginning import HEAD_LENGTH, refuse_empty_or_binary
from bpe_core.text.reading.opening import ByteStream, open_stream
from bpe_core.text.reading.skipped import SkipLog
from bpe_core.text.reading.source import Bytes, OnInvalid, ReadingOptions, Source, TextBlock
from bpe_core.text.reading.utf8 import first_invalid, whole_characters

_SMALLEST_BLOCK = 64  # room for what was left of the block before, and then some
_PYTHON_ERRORS: dict[OnInvalid, str] = {"strict": "strict", "replace": "replace", "skip": "ignore"}


def text_blocks(source: Source, options: ReadingOptions, size: int, log: SkipLog) -> Iterator[TextBlock]:
    """The text of a file in blocks of about `size` bytes, without its byte order mark."""
    if source.size is not None and not source.compression:
        size = min(size, source.size + 1)  # one more than a small file has, so that the first block shows its end
    size = max(size, _SMALLEST_BLOCK)
    with open_stream(source) as stream:
        encoding = source.encoding
        if encoding is None or source.span is None:  # of a span it is known from the beginning of its file
            encoding = refuse_empty_or_binary(source.name, stream.head(HEAD_LENGTH), options.encoding)
        try:
            if encoding in ("utf-8", "utf-8-sig"):
                yield from _utf8_blocks(stream, source, options.on_invalid, size, log)
            else:
                yield from _decoded_blocks(stream, source, encoding, options.on_invalid, size, log)
        finally:  # of who reads no further, too
            if stream.has_changed:
                log.add(
                    source.name, f"{source.name} was changed while it was read; what was read of it may be a mixture."
                )


def _utf8_blocks(
    stream: ByteStream, source: Source, on_invalid: OnInvalid, size: int, log: SkipLog
) -> Iterator[TextBlock]:
    rest = b""  # a character that the end of the last block cut
    start = 0 if source.span is None else source.span.start  # where the block stands in the file
    at_end = False
    while not at_end:
        buffer = _new_buffer(size)
        buffer[: len(rest)] = rest
        filled = len(rest) + stream.fill(buffer[len(rest) :])
        at_end = filled < size
        end = filled if at_end else whole_characters(buffer[:filled])
        data: Bytes = buffer[:end]
        bad = first_invalid(data)
        if bad >= 0:
            data = _mended(data, bad, start, source, on_invalid, log)
        if start == 0 and data[:3] == codecs.BOM_UTF8:
            data = data[3:]
        if len(data):
            yield TextBlock(data, stream.bytes_read)
        rest = bytes(buffer[end:filled])
        start += end


def _new_buffer(size: int) -> memoryview:
    """A fresh one for each block, since others may still be reading the last; NumPy does not spend time zeroing it."""
    return np.empty(size, np.uint8).data


def _mended(data: Bytes, bad: int, start: int, source: Source, on_invalid: OnInvalid, log: SkipLog) -> bytes:
    """Invalid UTF-8 with its bad bytes replaced or left out, and that reported; or refused."""
    offset = start + bad
    if on_invalid == "strict":
        raise EncodingError(_not_text(source, "UTF-8", f"byte 0x{data[bad]:02X}", offset))
    mended = str(data, "utf-8", _PYTHON_ERRORS[on_invalid]).encode()
    if on_invalid == "skip":
        count, what = len(data) - len(mended), "bytes that are not UTF-8 left out"
    else:
        mark = "\N{REPLACEMENT CHARACTER}".encode()
        count, what = (
            mended.count(mark) - bytes(data).count(mark),
            "places that are not UTF-8 replaced by \N{REPLACEMENT CHARACTER}",
        )
    log.add(source.name, f"{count:,} {what}, the first at byte {offset:,}", count)
    return mended


def _decoded_blocks(
    stream: ByteStream, source: Source, encoding: str, on_invalid: OnInvalid, size: int, log: SkipLog
) -> Iterator[TextBlock]:
    decoder = _Decoder(source, encoding, on_invalid, log)
    at_start, at_end = True, False
    while not at_end:
        buffer = _new_buffer(size)
        filled = stream.fill(buffer)
        at_end = filled < size
        text = decoder.decode(bytes(buffer[:filled]), at_end)
        if text and at_start:
            at_start = False
            text = text.removeprefix("\ufeff")
        if text:  # some odd encodings can spell half a surrogate pair, which UTF-8 cannot
            yield TextBlock(text.encode("utf-8", "replace"), stream.bytes_read)


class _Decoder:
    """Decodes block by block; from the first invalid byte on in the way the person chose."""

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
        except UnicodeDecodeError as error:
            # The object is what was kept of earlier blocks and this one: it ends where reading has come to.
            offset = self._read - len(error.object) + error.start
            reason = f"{error.reason}, byte 0x{error.object[error.start]:02X}"
            problem = EncodingError(_not_text(self._source, self._encoding, reason, offset))
            problem.__cause__ = error
        except UnicodeError as error:  # UTF-16 without a byte order mark, punycode and the like
            reason = str(error)
            offset = max(0, self._read - len(data))
            problem = EncodingError(_not_text(self._source, self._encoding, reason, offset))
            problem.__cause__ = error
        if self._on_invalid == "strict":
            raise problem
        deed = "replaced by \N{REPLACEMENT CHARACTER}" if self._on_invalid == "replace" else "left out"
        what = f"bytes that are not {self._encoding} are {deed}, the first at byte {offset:,} ({reason})"
        self._log.add(self._source.name, what)
        self._decoder.setstate(before)
        self._decoder.errors = _PYTHON_ERRORS[self._on_invalid]
        return self._decoder.decode(data, at_end)


def _not_text(source: Source, encoding: str, what: str, offset: int) -> str:
    inside = " of the decompressed text" if source.compression else ""
    return (
        f"{source.name} is not valid {encoding}: {what} at offset {offset:,}{inside}. "
        "Give the encoding it was written in (such as cp1252), or choose to replace or skip invalid bytes."
    )
