"""Texts as Python strings: those given in memory, and the fields of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from bpe_core.errors import CorpusError, EncodingError
from bpe_core.text.reading.skipped import SkipLog
from bpe_core.text.reading.source import DocumentPiece, OnInvalid, Source
from bpe_core.text.reading.utf8 import cut_points


def encoded(text: str, on_invalid: OnInvalid = "strict") -> bytes:
    """A string as UTF-8. Half a surrogate pair, which Python strings may hold, is not text.

    >>> encoded("n\\ud800", "skip"), encoded("n\\ud800", "replace")
    (b'n', b'n\\xef\\xbf\\xbd')
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        if on_invalid == "skip":
            return text.encode("utf-8", "ignore")
        if on_invalid == "replace":
            mended = "".join("\N{REPLACEMENT CHARACTER}" if "\ud800" <= c <= "\udfff" else c for c in text)
            return mended.encode()
        raise EncodingError(
            f"character {error.start + 1:,} is half of a surrogate pair (U+{ord(text[error.start]):04X}), "
            "which is not text; choose to replace or skip it"
        ) from error


def pieces_of(text: bytes, size: int, bytes_read: int) -> Iterator[DocumentPiece]:
    """One document that is in memory already; an empty one has no pieces."""
    if not text:
        return
    cuts = cut_points(text, max(size, 4))
    for start, stop in pairwise(cuts):
        yield DocumentPiece(text[start:stop], stop == len(text), bytes_read)


class TextsReader:
    """Each string is a document of its own."""

    def __init__(self, texts: Iterable[str], on_invalid: OnInvalid) -> None:
        if isinstance(texts, (str, bytes)):
            raise CorpusError("Give a list of texts; a single one goes into brackets: [text].")
        self._texts = texts
        self._on_invalid = on_invalid
        self._only_once = iter(texts) is texts
        self._was_read = False
        size = None if not isinstance(texts, (list, tuple)) else sum(map(_stored_size, texts))
        self.source = Source("texts", None, size, "texts")

    def pieces(self, size: int, log: SkipLog) -> Iterator[DocumentPiece]:
        if self._only_once and self._was_read:
            raise CorpusError(
                "These texts came from an iterator and have been read already; give a list to read them again."
            )
        self._was_read = True
        done = 0
        for number, text in enumerate(self._texts, start=1):
            if not isinstance(text, str):
                raise CorpusError(f"Text {number:,} is of the type {type(text).__name__}; texts must be strings.")
            done += _stored_size(text)
            yield from pieces_of(self._encoded(text, number, log), size, done)

    def _encoded(self, text: str, number: int, log: SkipLog) -> bytes:
        try:
            return encoded(text)
        except EncodingError as error:
            if self._on_invalid == "strict":
                raise EncodingError(f"Text {number:,}: {error}.") from error
            log.add(self.source.name, f"text {number:,}: {error}")
            return encoded(text, self._on_invalid)


def _stored_size(text: object) -> int:
    if not isinstance(text, str):
        return 0  # refused when its turn comes
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
