"""What the first bytes of a file tell: its encoding, or that it is not text at all."""

from __future__ import annotations

import codecs

from bpe_core.errors import CorpusError, EncodingError

HEAD_LENGTH = 64 * 1024

_BYTE_ORDER_MARKS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_KNOWN_BEGINNINGS = (
    (b"\x1f\x8b", "gzip data; let its name end in .gz"),
    (b"BZh", "bzip2 data; let its name end in .bz2"),
    (b"\xfd7zXZ\x00", "xz data; let its name end in .xz"),
    (b"\x28\xb5\x2f\xfd", "zstd data; let its name end in .zst"),
    (b"PK\x03\x04", "an office document; extract its text first; or a zip archive, whose name must end in .zip"),
    (b"%PDF-", "a PDF document; extract its text first"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\x00", "a database; export its text first"),
    (b"PAR1", "a Parquet table; let its name end in .parquet"),
    (b"ARROW1", "an Arrow table; let its name end in .arrow"),
)


class NotText(CorpusError):
    """A file that holds no text at all; among others it is passed over."""


def encoding_of(head: bytes, named: str | None) -> str:
    """The encoding a file is read with: its byte order mark, else the one named, else UTF-8.

    >>> encoding_of(b"\\xff\\xfea\\x00", None), encoding_of(b"abc", "cp1252"), encoding_of(b"abc", None)
    ('utf-16', 'cp1252', 'utf-8')
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return encoding
    return checked_encoding(named) if named else "utf-8"


def checked_encoding(named: str) -> str:
    """The usual name of an encoding; an unknown one is refused."""
    try:
        "".encode(named)  # also refuses codecs that are no encodings of text, such as rot13
        codecs.getincrementaldecoder(named)
        return codecs.lookup(named).name
    except (LookupError, UnicodeError, ValueError) as error:
        raise EncodingError(
            f"There is no encoding named {named!r}; well-known ones are "
            "utf-8, utf-16, cp1252, latin-1, shift_jis and gb18030."
        ) from error


def why_not_text(head: bytes, encoding: str, named: str | None) -> str:
    """Why these cannot be the first bytes of a text, as the end of a sentence; or nothing.

    An encoding that a person named, or that a byte order mark tells, may hold any byte.

    >>> why_not_text(b"%PDF-1.7 ...", "utf-8", None)
    'it looks like a PDF document; extract its text first'
    >>> why_not_text(b"plain words", "utf-8", None)
    ''
    """
    if named or encoding != "utf-8":
        return ""
    for beginning, description in _KNOWN_BEGINNINGS:
        if head.startswith(beginning):
            return f"it looks like {description}"
    zero = head.find(b"\0")
    if zero >= 0:
        return (
            f"byte {zero:,} is zero, which text does not contain; if it is text in UTF-16 or UTF-32, give the encoding"
        )
    return ""


def refuse_empty_or_binary(name: str, head: bytes, named: str | None) -> str:
    """The encoding to read with, once the first bytes have been found to be text."""
    if not head or head in (mark for mark, _ in _BYTE_ORDER_MARKS):
        raise NotText(f"{name} is empty: there is no text in it.")
    encoding = encoding_of(head, named)
    reason = why_not_text(head, encoding, named)
    if reason:
        raise NotText(f"{name} is not a text file: {reason}.")
    return encoding
