"""The base class of file objects that read from another file object."""

from __future__ import annotations

import io
from typing import Any

from bpe_core.support.former_names import former_classes


class WrappedFile(io.RawIOBase):
    """A file object that reads from another file object. If it is closed, the other file object is closed, too."""

    def __init__(self, raw: Any) -> None:
        super().__init__()
        self.raw = raw

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self.raw.seekable())

    def readinto(self, buffer: Any) -> int:
        data = self.raw.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self.raw.seek(offset, whence))

    def tell(self) -> int:
        return int(self.raw.tell())

    def close(self) -> None:
        super().close()
        self.raw.close()


__getattr__ = former_classes(__name__, Wrapped="WrappedFile")
