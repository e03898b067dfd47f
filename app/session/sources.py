"""The texts a corpus is made of, in their order."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path

from app.worker.counting import Text

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Source:
    """A file or a text given directly. Its number is its identity, however it is moved about."""

    name: str
    path: Path | None = None
    text: str = field(default="", repr=False)
    encoding: str | None = None
    number: int = field(default_factory=lambda: next(_numbers))

    @property
    def size(self) -> int | None:
        """In bytes; None for a file that cannot be looked at."""
        if self.path is None:
            return len(self.text.encode())
        try:
            return self.path.stat().st_size
        except OSError:
            return None

    def file_state(self) -> tuple[int, int] | None:
        """Size and time of a file as it is now; None for a text given directly or a file that is gone."""
        if self.path is None:
            return None
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns

    def as_text(self) -> Text:
        """What the counting job is given; the key changes when the file does."""
        return Text(key=self._key(), path=self.path, text=self.text, encoding=self.encoding)

    def _key(self) -> Hashable:
        return self.number if self.path is None else (self.path, self.file_state(), self.encoding)


Sources = tuple[Source, ...]


def with_files(sources: Sources, paths: tuple[Path, ...]) -> Sources:
    """The sources and those files that are not among them yet.

    >>> some = with_files((), (Path("a.txt"), Path("b.txt")))
    >>> [source.name for source in with_files(some, (Path("b.txt"), Path("c.txt")))]
    ['a.txt', 'b.txt', 'c.txt']
    """
    known = {source.path for source in sources}
    fresh = [path for path in dict.fromkeys(paths) if path not in known]
    return sources + tuple(Source(path.name, path=path) for path in fresh)


def without(sources: Sources, numbers: set[int]) -> Sources:
    return tuple(source for source in sources if source.number not in numbers)


def moved(sources: Sources, number: int, place: int) -> Sources:
    """The source of that number at another place, the others closing up."""
    chosen = [source for source in sources if source.number == number]
    others = without(sources, {number})
    return others[:place] + tuple(chosen) + others[place:]
