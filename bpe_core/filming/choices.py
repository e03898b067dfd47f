"""The choices of a film: its text, its size and its steps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bpe_core.errors import BpeError, OutputError

USUAL_SECONDS = 20.0
LONGEST_SECONDS = 120.0
ENDINGS = (".png", ".apng", ".gif", ".mp4")


class Size(NamedTuple):
    width: int
    height: int
    letters: int  # pixels of the small text


SIZES = {"readme": Size(800, 420, 15), "chat": Size(540, 540, 15), "slide": Size(1280, 720, 25)}


@dataclass(frozen=True)
class FilmChoices:
    text: str = ""
    title: str = ""
    size: str = "readme"
    first: int | None = None  # a step; for two runs, a size
    last: int | None = None
    seconds: float | None = None
    dark: bool = False
    font: Path | None = None  # a font file for the letters

    def check(self) -> None:
        if self.seconds is not None and not 1 <= self.seconds <= LONGEST_SECONDS:
            raise BpeError(f"A film takes 1 to {LONGEST_SECONDS:g} seconds, not {self.seconds:g}.")
        if self.size not in SIZES:
            raise BpeError(f"There is no film size {self.size}. The sizes are {', '.join(SIZES)}.")


def checked_ending(path: Path | str) -> str:
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise OutputError(f"The name {path} must end in one of {', '.join(ENDINGS)}.")
    return ending
