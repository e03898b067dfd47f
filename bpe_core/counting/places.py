"""Folders that counts are written to: on this computer, or behind an address."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from bpe_core.atomic import write_atomically
from bpe_core.errors import OutputError, cause_of
from bpe_core.records import dataclass
from bpe_core.text.reading.addresses import is_address, without_password
from bpe_core.text.reading.opening import sentences, shown


class Place(Protocol):
    """A folder. Whoever looks sees whole files only."""

    @property
    def name(self) -> str:
        """As shown to a person."""
        ...

    def names(self) -> list[str]:
        """Of the files there; none where there is no such folder."""
        ...

    def open(self, name: str) -> BinaryIO: ...

    def writing(self, name: str) -> contextlib.AbstractContextManager[BinaryIO]:
        """A file that is there once all was written; the folder is made for it."""
        ...

    def remove(self, names: Iterable[str]) -> None:
        """These files, and the folder where nothing is left in it."""
        ...


@dataclass(frozen=True)
class LocalPlace:
    """A folder of this computer."""

    path: Path

    @property
    def name(self) -> str:
        return shown(self.path)

    def names(self) -> list[str]:
        if not self.path.is_dir():
            return []
        with sentences(self.name):
            return sorted(path.name for path in self.path.iterdir() if not path.name.startswith("."))

    def open(self, name: str) -> BinaryIO:
        with sentences(shown(self.path / name)):
            return cast(BinaryIO, open(self.path / name, "rb"))

    def writing(self, name: str) -> contextlib.AbstractContextManager[BinaryIO]:
        try:
            self.path.mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError(f"Could not make the folder {self.name}: {cause_of(error)}.") from error
        return write_atomically(self.path / name)

    def remove(self, names: Iterable[str]) -> None:
        for name in names:
            try:
                (self.path / name).unlink(missing_ok=True)
            except OSError as error:
                raise OutputError(f"Could not remove {shown(self.path / name)}: {cause_of(error)}.") from error
        with contextlib.suppress(OSError):
            for half in self.path.glob(".*.part"):  # of a writer that was killed
                half.unlink()
            self.path.rmdir()


def place_of(address: str) -> Place:
    """The folder of that path or address."""
    if not is_address(address):
        return LocalPlace(Path(address))
    from bpe_core.text.reading.remote import RemotePlace  # the way to any network: only when an address is given

    return RemotePlace(without_password(address.rstrip("/")), address.rstrip("/"))


def folder_and_name(address: str) -> tuple[str, str]:
    """
    >>> folder_and_name("s3://bucket/counts.parquet"), folder_and_name("counts.parquet")
    (('s3://bucket', 'counts.parquet'), ('.', 'counts.parquet'))
    """
    if is_address(address):
        folder, _, name = address.rstrip("/").rpartition("/")
        return folder, name
    path = Path(address)
    return str(path.parent), path.name
