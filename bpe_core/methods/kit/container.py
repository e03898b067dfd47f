"""The interface of a method that compresses files, and the report about a compressed file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bpe_core.errors import BpeError
from bpe_core.methods.kit.method import Method
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import ALONE, Work


@dataclass(frozen=True)
class Report:
    original_size: int
    compressed_size: int  # bytes of the whole file
    blocks: int
    replaced_pairs: int  # the sum over all blocks
    table_bytes: int
    data_bytes: int
    full_blocks: int  # blocks with all 256 bytes, so that no byte was free


class Container(Protocol):
    """The interface for compressing and expanding files. A module can implement it."""

    ENDING: str  # the ending of compressed files' names
    ABOUT: str  # how files are compressed, for people
    NOTHING_PAYS: str  # why nothing could be replaced, in a sentence

    def compress_file(
        self, path: Path | str, output: Path | str, recipe: Recipe | None = None, *, work: Work = ALONE
    ) -> Report:
        """Compress the file `path` into the file `output`.

        An existing output is replaced only after the work is done.
        """

    def expand_file(self, path: Path | str, output: Path | str, *, work: Work = ALONE) -> int:
        """Expand the file `path` into the file `output` and return the number of bytes written.

        Raise an error if the compressed file is damaged.
        """


def compressing_method() -> Method:
    """Return the first registered method that compresses files. Raise BpeError if there is none."""
    for method in METHODS.values():
        if isinstance(method, Method) and method.container is not None:
            return method
    raise BpeError("No installed method can compress files.")


def container() -> Container:
    interface = compressing_method().container
    assert interface is not None
    return interface
