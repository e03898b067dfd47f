"""The encoding of standard input, line by line. The answer to a line is printed as soon as the line arrives."""

from __future__ import annotations

import argparse
import codecs
import json
import sys
from collections.abc import Callable, Iterator
from typing import BinaryIO, Literal

from bpe_core.errors import EncodingError
from bpe_core.history.token_texts import TokenTexts
from bpe_core.segmenting.cutting import ALLOWED
from bpe_core.studies.study import Study
from bpe_core.support.escaped_bytes import escape

AT_ONCE = 1 << 18  # the largest number of bytes that are read together
ON_INVALID: dict[str, Literal["strict", "replace", "ignore"]] = {
    "strict": "strict",
    "replace": "replace",
    "skip": "ignore",
}


def encode_lines(study: Study, at: int, options: argparse.Namespace) -> None:
    """Encode each line of standard input. For each line, print its ids, its tokens, or both as JSON."""
    shown = _way_to_show(study, options)
    for texts in _decoded(lines_of(sys.stdin.buffer), options.encoding or "utf-8", options.on_invalid):
        ids, offsets = study.encode_batch(texts, at=at, allowed_special=ALLOWED[options.specials])
        edges = [*offsets[: len(texts)].tolist(), len(ids)]
        numbers = ids.tolist()
        for place in range(len(texts)):
            print(shown(numbers[edges[place] : edges[place + 1]]))
        sys.stdout.flush()


def lines_of(stream: BinaryIO) -> Iterator[list[bytes]]:
    r"""Yield the lines that have arrived, as lists of lines. The line ends are removed.

    The last line is also yielded if no line end follows it.

    >>> import io
    >>> list(lines_of(io.BytesIO(b"low\r\n\nlower")))
    [[b'low', b''], [b'lower']]
    """
    held: list[bytes] = []  # the pieces of an incomplete line
    while data := stream.read1(AT_ONCE):  # type: ignore[attr-defined]  # every stream of a file has this method
        head, *rest = data.split(b"\n")
        held.append(head)
        if rest:
            yield [line.removesuffix(b"\r") for line in (b"".join(held), *rest[:-1])]
            held = [rest[-1]]
    if last := b"".join(held):
        yield [last]


def _decoded(lines: Iterator[list[bytes]], encoding: str, on_invalid: str) -> Iterator[list[str]]:
    try:
        is_alike = "\n".encode(codecs.lookup(encoding).name) == b"\n"
    except LookupError as error:
        raise EncodingError(f"There is no encoding called {encoding!r}. Choose another, such as utf-8.") from error
    if not is_alike:
        raise EncodingError(f"Lines cannot be split in {encoding}. Convert the text to UTF-8 first.")
    number = 0
    for some in lines:
        texts = []
        for line in some:
            number += 1
            try:
                texts.append(line.decode(encoding, ON_INVALID[on_invalid]))
            except UnicodeDecodeError as error:
                raise EncodingError(
                    f"Line {number:,} of standard input is not {encoding}: the byte 0x{line[error.start]:02X} at "
                    f"offset {error.start:,} begins no valid character. With --on-invalid replace, U+FFFD replaces "
                    "such bytes."
                ) from error
        yield texts


def _way_to_show(study: Study, options: argparse.Namespace) -> Callable[[list[int]], str]:
    if not (options.json or options.pieces):
        return lambda ids: " ".join(map(str, ids))
    names = TokenTexts.of(study.history, escape).text if options.json else study.inside.by_index.texts.text

    def in_words(ids: list[int]) -> str:
        tokens = [names[index] for index in study.history.indices_of(ids)]
        if options.json:
            return json.dumps({"ids": ids, "tokens": tokens}, ensure_ascii=False)
        return " | ".join(tokens)

    return in_words
