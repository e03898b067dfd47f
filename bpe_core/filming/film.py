"""The film of a run, or of two runs side by side.

film({"ours": study, "theirs": bpe.open("tokenizer.json")}, "duel.gif", text="the lowest price")
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bpe_core.errors import BpeError, OutputError
from bpe_core.figures.coloured_text import SAMPLE
from bpe_core.filming.choices import SIZES, USUAL_SECONDS, FilmChoices, checked_ending
from bpe_core.filming.run import MILLISECONDS, FilmedRun, FilmMoments
from bpe_core.methods.registry import METHODS
from bpe_core.report import Report
from bpe_core.studies.study import Study
from bpe_core.support.atomic import replace_atomically, write_atomically
from bpe_core.support.limits import check_room
from bpe_core.support.optional_packages import MISSING_PILLOW, has_pillow
from bpe_core.support.progress import ALONE, Progress, Work

if TYPE_CHECKING:  # Pillow is loaded when a film is drawn
    from PIL.Image import Image

    from bpe_core.filming.scene import Scene

FIRST_STAYS, LAST_STAYS = 10, 25  # how many times longer these frames are shown than other frames
MOST_RUNS = 2
MOST_TEXT = 2_000  # characters
NAMED = 3  # characters that no font has
SAMPLED = 5  # frames from which the colours of all are chosen


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
    font: Path | str | None = None,
    work: Work = ALONE,
) -> None:
    """Write the film of a run, or of two runs side by side, as .png, .gif or .mp4.

    Parameters
    ----------
    given
        A study, or a dictionary that gives names to two studies.
    path
        The name of the file. Its ending chooses the format.
    text
        The text that the film splits into tokens. By default this is a short sample.
    title
        The title above the film. By default this is the names of the runs.
    size
        The size of the picture: "readme", "chat" or "slide".
    first, last
        The first and the last step that the film shows. For two runs, these are vocabulary sizes.
    seconds
        The length of the film, from 1 to 120 seconds. By default the film has at most twenty seconds.
    dark
        Whether the film has light letters on a dark background.
    font
        A font file for the letters.
    work
        The callbacks that receive the progress and may cancel the work.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import bpe_core as bpe
    >>> study = bpe.train("low low lower", "gpt2", vocab_size=258)
    >>> with TemporaryDirectory() as folder:
    ...     film(study, Path(folder, "run.gif"), text="lower", seconds=1)
    ...     Path(folder, "run.gif").read_bytes()[:6]
    b'GIF89a'
    """
    several = given if isinstance(given, Mapping) else {"": given}
    runs = [(name, Study.of(learned)) for name, learned in several.items()]
    chosen = None if font is None else Path(font)
    write_film(runs, path, FilmChoices(text, title, size, first, last, seconds, dark, chosen), work)


def film_report(
    report: Report, path: Path | str, *others: Report, work: Work = ALONE, **choices: Any
) -> tuple[str, ...]:
    runs = [(run.title, run.study) for run in (report, *others)]
    return write_film(runs, path, FilmChoices(report.text, **choices), work)


def write_film(
    runs: Sequence[tuple[str, Study]], path: Path | str, choices: FilmChoices, work: Work = ALONE
) -> tuple[str, ...]:
    """Write the film. Return a sentence about each flaw of the film, such as characters that no font has."""
    ending = checked_ending(path)
    if not 1 <= len(runs) <= MOST_RUNS:
        raise BpeError(f"A film shows one run or two, not {len(runs):,}.")
    choices.check()
    if not has_pillow():
        raise OutputError(f"A film {MISSING_PILLOW}")
    from bpe_core.filming.files import write_mp4
    from bpe_core.filming.fonts import Fonts
    from bpe_core.filming.scene import Scene

    text = (choices.text.strip() or SAMPLE)[:MOST_TEXT].encode(errors="replace").decode()
    named = [(name or study.name or METHODS[study.history.recipe.method].title, study) for name, study in runs]
    filmed = [FilmedRun(name, study, text, work) for name, study in named]
    stretch = FilmMoments.of(filmed, choices.first, choices.last, choices.seconds, USUAL_SECONDS)
    title = choices.title or " and ".join(name for name, _ in named)
    scene = Scene(filmed, stretch, title, SIZES[choices.size], Fonts(choices.font), is_dark=choices.dark)
    frames = _frames(scene, work)
    shown = _durations(scene)
    if ending == ".mp4":
        with replace_atomically(path) as beside:
            write_mp4(zip(frames, shown, strict=True), scene.size.width, scene.size.height, beside, MILLISECONDS)
    else:
        _write_moving(scene, frames, shown, path, "GIF" if ending == ".gif" else "PNG")
    return (*_ends_early(stretch, choices), *_lacks_fonts(scene.missing), *_lacks_layout(text))


def _write_moving(scene: Scene, frames: Iterator[Image], shown: Sequence[int], path: Path | str, kind: str) -> None:
    from bpe_core.filming.files import write_moving

    places = scene.stretch.places
    size = scene.size.width * scene.size.height
    # Pillow holds all frames until the end
    check_room(size * len({*places}), "The film", "Make it shorter or smaller.")
    samples = [scene.frame(places[i * (len(places) - 1) // (SAMPLED - 1)]).image for i in range(SAMPLED)]
    with write_atomically(path) as file:
        write_moving(frames, shown, samples, file, kind)


def _ends_early(stretch: FilmMoments, choices: FilmChoices) -> Iterator[str]:
    last = stretch.places[-1]
    if choices.last is None and last < stretch.most:
        what = "size" if stretch.is_by_size else "step"
        yield (
            f"The film ends at {what} {last:,} of {stretch.most:,}. To show the whole run, choose more seconds, or "
            f"{what} {stretch.most:,} as the end."
        )


def _lacks_fonts(missing: Sequence[str]) -> Iterator[str]:
    if missing:
        names = ", ".join(unicodedata.name(grapheme[0], f"U+{ord(grapheme[0]):04X}") for grapheme in missing[:NAMED])
        yield (
            f"No font on this computer has {len(missing):,} of the characters of the text, such as {names}. These "
            "characters are left out. Install a font that has these characters, or name a font with --font."
        )


def _lacks_layout(text: str) -> Iterator[str]:
    from PIL import features

    from bpe_core.filming.canvas import is_from_right

    if any(map(is_from_right, text.split())) and not features.check("raqm"):
        yield (
            "The Pillow of this computer lacks the library raqm: letters of scripts from right to left are in the "
            "wrong order, and Arabic letters are not connected. Install Pillow with raqm, or the library libfribidi."
        )


def _durations(scene: Scene) -> list[int]:
    """Return how long each distinct moment is shown, in milliseconds."""
    shown = [MILLISECONDS * len(list(alike)) for _, alike in groupby(scene.stretch.places)]
    shown[0] += MILLISECONDS * (FIRST_STAYS - 1)
    shown[-1] += MILLISECONDS * (LAST_STAYS - 1)
    return shown


def _frames(scene: Scene, work: Work) -> Iterator[Image]:
    places = [place for place, _ in groupby(scene.stretch.places)]
    for number, place in enumerate(places):
        work.check()
        work.progress(Progress("filming", number, len(places), "frames"))
        yield scene.frame(place).image
