"""Files of any kind that a method makes smaller, and what such a method brings."""

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
    compressed_size: int  # of the whole file
    blocks: int
    replaced_pairs: int  # of all blocks together
    table_bytes: int
    data_bytes: int
    full_blocks: int  # in which all 256 bytes occur, so that none was free to stand for a pair


class Container(Protocol):
    """A way to compress files and to expand them again; a module will do."""

    ENDING: str  # of the names of compressed files
    NOTHING_PAYS: str  # why nothing could be replaced, in a sentence

    def compress_file(
        self, path: Path | str, output: Path | str, recipe: Recipe | None = None, *, work: Work = ALONE
    ) -> Report:
        """Compress from file to file; whatever was at `output` stays there until all is done."""

    def expand_file(self, path: Path | str, output: Path | str, *, work: Work = ALONE) -> int:
        """Expand from file to file, unless something is wrong; return how many bytes were written."""


def compressing_method() -> Method:
    """Return the method that compresses files; of several the first in lists."""
    for method in METHODS.values():
        if isinstance(method, Method) and method.container is not None:
            return method
    raise BpeError("No method that is installed compresses files.")


def container() -> Container:
    found = compressing_method().container
    assert found is not None
    return found
