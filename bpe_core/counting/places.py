"""Folders that counts are written to: on this computer, or behind an address."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias, cast

from bpe_core.errors import OutputError, cause_of
from bpe_core.support.atomic import write_atomically
from bpe_core.text.reading.opening import is_address, sentences, shown, without_password

if TYPE_CHECKING:
    from bpe_core.text.reading.remote import RemotePlace  # nothing that can reach a network is loaded before its use

Place: TypeAlias = "LocalPlace | RemotePlace"


@dataclass(frozen=True)
class LocalPlace:
    """A folder on this computer in which only whole files can be seen; it is made when the first is written."""

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
        """Remove these files, and the folder if it is empty then."""
        for name in names:
            try:
                (self.path / name).unlink(missing_ok=True)
            except OSError as error:
                raise OutputError(f"Could not remove {shown(self.path / name)}: {cause_of(error)}.") from error
        with contextlib.suppress(OSError):
            for half in self.path.glob(".*.part"):  # left by a writer that was killed
                half.unlink()
            self.path.rmdir()


def place_of(address: str) -> Place:
    if not is_address(address):
        return LocalPlace(Path(address))
    from bpe_core.text.reading.remote import RemotePlace

    return RemotePlace(without_password(address.rstrip("/")), address.rstrip("/"))


def folder_and_name(address: str) -> tuple[str, str]:
    if is_address(address):
        folder, _, name = address.rstrip("/").rpartition("/")
        return folder, name
    path = Path(address)
    return str(path.parent), path.name
