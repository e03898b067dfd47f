"""What every file format of a merge table can do: the face behind which each has its own file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import BinaryIO, ClassVar

from bpe_core.history import MergeHistory
from bpe_core.progress import ProgressReport, ignore_progress


class Format(ABC):
    """One kind of file. It has no state: one object serves everybody."""

    name: ClassVar[str]  # as a person names it: "csv"
    extension: ClassVar[str]  # with its dot: ".csv"
    explanation: ClassVar[str]  # one line for menus and --help

    @abstractmethod
    def can_hold(self, history: MergeHistory) -> list[str]:
        """What this format cannot hold of the history, a sentence each; empty: everything."""

    @abstractmethod
    def write(
        self,
        history: MergeHistory,
        file: BinaryIO,
        *,
        merges: int | None = None,
        progress: ProgressReport = ignore_progress,
    ) -> None:
        """Write the first `merges` merges (all if not said), row by row.

        `progress` is called now and then; whatever it raises ends the writing.
        """

    @abstractmethod
    def recognizes(self, data: bytes) -> bool:
        """Whether a file of this content is of this kind, judged by its marks alone."""

    @abstractmethod
    def read(self, data: bytes, name: str) -> MergeHistory:
        """The history a whole file holds; `name` is what errors call it.

        Anything that is not exactly what a sound file holds raises a FormatError that says
        where; time and memory stay in proportion to the size of the file.
        """
