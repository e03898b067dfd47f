"""Numbered lines out of blocks, none longer than memory allows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bpe_core.errors import CorpusError
from bpe_core.text.reading.source import TextBlock

LONGEST_LINE = 64 * 1024 * 1024  # bytes; parsing takes some ten times that


class NumberedLines:
    """The lines of a file with their line ends; `number` and `bytes_read` tell where reading is."""

    def __init__(self, blocks: Iterable[TextBlock], name: str, longest: int = LONGEST_LINE) -> None:
        self._blocks = blocks
        self._name = name
        self._longest = longest
        self.number = 0
        self.bytes_read = 0

    def __iter__(self) -> Iterator[bytes]:
        begun: list[bytes] = []  # parts of a line whose end has not come yet
        begun_length = 0
        for block in self._blocks:
            self.bytes_read = block.bytes_read
            *ended, rest = bytes(block.data).split(b"\n")
            for line in ended:
                self.number += 1
                if begun:
                    line = b"".join([*begun, line])
                    begun, begun_length = [], 0
                yield line + b"\n"
            if rest:
                begun.append(rest)
                begun_length += len(rest)
            if begun_length > self._longest:
                raise CorpusError(
                    f"{self._name}, line {self.number + 1:,} is longer than {self._longest // 2**20:,} MB. "
                    "Is it really one row a line? Plain text can be of any length."
                )
        if begun:
            self.number += 1
            yield b"".join(begun)
