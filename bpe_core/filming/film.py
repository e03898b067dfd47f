"""The film of a run, or of two side by side.

film({"ours": study, "theirs": bpe.open("tokenizer.json")}, "duel.gif", text="the lowest price")
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bpe_core.errors import BpeError, OutputError
from bpe_core.figures.coloured_text import SAMPLE
from bpe_core.filming.canvas import Pixels
from bpe_core.filming.files import write_gif, write_mp4, write_png
from bpe_core.filming.run import MILLISECONDS, FilmedRun, Stretch
from bpe_core.filming.scene import SIZES, Scene
from bpe_core.methods.listing import METHODS
from bpe_core.report import Report
from bpe_core.studies.study import Study
from bpe_core.support.atomic import replace_atomically, write_atomically
from bpe_core.support.progress import ALONE, Progress, Work

USUAL_SECONDS, LONGEST_SECONDS = 20.0, 120.0
FIRST_STAYS, LAST_STAYS = 10, 25  # times as long as the others
MOST_RUNS = 2
MOST_TEXT = 2_000  # characters
ENDINGS = (".png", ".apng", ".gif", ".mp4")


def film(
    given: Any,
    path: Path | str,
    *,
    text: str = "",
    title: str = "",
    size: str = "readme",
    first: int | None = None,
    last: int | None = None,
    seconds: float | None = None,
    dark: bool = False,
    work: Work = ALONE,
) -> None:
    """Write the film of a run, or of two by their names, as .png, .gif or .mp4.

    It shows the first twenty seconds, or the stretch between two steps; of two runs, between two sizes.
    """
    several = given if isinstance(given, Mapping) else {"": given}
    runs = [(name, Study.of(one)) for name, one in several.items()]
    write_film(runs, path, FilmChoices(text, title, size, first, last, seconds, dark), work)


def film_report(report: Report, path: Path | str, *others: Report, work: Work = ALONE, **choices: Any) -> None:
    runs = [(one.title, one.study) for one in (report, *others)]
    write_film(runs, path, FilmChoices(report.text, **choices), work)


@dataclass(frozen=True)
class FilmChoices:
    """How a film is wanted."""

    text: str = ""
    title: str = ""
    size: str = "readme"
    first: int | None = None  # a step; of two runs, a size
    last: int | None = None
    seconds: float | None = None
    dark: bool = False

    def check(self) -> None:
        if self.seconds is not None and not 1 <= self.seconds <= LONGEST_SECONDS:
            raise BpeError(f"A film takes 1 to {LONGEST_SECONDS:g} seconds, not {self.seconds:g}.")
        if self.size not in SIZES:
            raise BpeError(f"The sizes of films are {', '.join(SIZES)}, not {self.size}.")


def write_film(runs: Sequence[tuple[str, Study]], path: Path | str, choices: FilmChoices, work: Work = ALONE) -> None:
    ending = checked_ending(path)
    if not 1 <= len(runs) <= MOST_RUNS:
        raise BpeError(f"A film shows one run or two, not {len(runs):,}.")
    choices.check()
    text = (choices.text.strip() or SAMPLE)[:MOST_TEXT].encode(errors="replace").decode()
    named = [(name or study.name or METHODS[study.history.recipe.method].title, study) for name, study in runs]
    filmed = [FilmedRun(name, study, text, work) for name, study in named]
    stretch = Stretch.of(filmed, choices.first, choices.last, choices.seconds, USUAL_SECONDS)
    title = choices.title or " and ".join(name for name, _ in named)
    scene = Scene(filmed, stretch, title, SIZES[choices.size], is_dark=choices.dark)
    frames = _frames(scene, work)
    wide, high = scene.size.width, scene.size.height
    if ending == ".mp4":
        with replace_atomically(path) as beside:
            write_mp4(frames, wide, high, beside, MILLISECONDS)
        return
    with write_atomically(path) as file:
        (write_gif if ending == ".gif" else write_png)(frames, wide, high, file)


def checked_ending(path: Path | str) -> str:
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise OutputError(f"A film is written as {', '.join(ENDINGS)}; end the name {path} in one of them.")
    return ending


def _frames(scene: Scene, work: Work) -> Iterator[tuple[Pixels, int]]:
    places = scene.stretch.places
    drawn: tuple[int, Pixels] | None = None
    for number, place in enumerate(places):
        work.check()
        work.progress(Progress("filming", number, len(places), "frames"))
        if drawn is None or drawn[0] != place:
            drawn = place, scene.frame(place).pixels
        stays = FIRST_STAYS if not number else LAST_STAYS if number == len(places) - 1 else 1
        yield drawn[1], stays * MILLISECONDS
