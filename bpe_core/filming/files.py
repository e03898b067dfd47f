"""Functions that write moving pictures to files. Pillow writes PNG and GIF, and ffmpeg writes MP4."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from PIL import Image

from bpe_core.errors import OutputError
from bpe_core.filming.fonts import Colour

Numbers = npt.NDArray[np.uint8]  # colours as numbers
Frames = Iterable[tuple[Image.Image, int]]  # each with the milliseconds that it is shown

COLOURS = 96  # colours of a film, besides the transparent one
UNKNOWN = 255  # a number that no colour has
OVER = 1  # the picture of a PNG file is put over the one before
KEEP = 1  # the picture of a GIF file stays when the next one is put on it
FOR_EVER = 0  # how many times a film is played
NO_FFMPEG = "MP4 films need ffmpeg, which was not found. Install it, or end the name in .gif or .png."


def write_moving(
    frames: Iterable[Image.Image],
    milliseconds: Sequence[int],
    samples: Sequence[Image.Image],
    file: BinaryIO,
    kind: str,
) -> None:
    """Write an animated PNG or GIF file. Its colours are the most frequent colours of the samples."""
    first, *others = changes(frames, frequent_colours(samples))
    way = {"blend": OVER} if kind == "PNG" else {"disposal": KEEP, "optimize": False}
    first.save(file, kind, save_all=True, append_images=others, duration=[*milliseconds], loop=FOR_EVER, **way)


def changes(frames: Iterable[Image.Image], colours: Sequence[Colour]) -> Iterator[Image.Image]:
    """Yield the frames in the given colours only.

    In all frames but the first, parts that did not change are transparent.
    """
    palette = _Palette(colours)
    before: Numbers | None = None
    for frame in frames:
        now = palette.numbers(frame)
        changed = now if before is None else np.where(now == before, np.uint8(len(colours)), now)
        picture = Image.fromarray(changed)
        picture.putpalette([channel for colour in (*colours, (0, 0, 0)) for channel in colour])
        picture.info["transparency"] = len(colours)
        yield picture
        before = now


class _Palette:
    """A palette of colours. Each colour of a frame is replaced by the nearest colour of the palette.

    Pillow's own search for the nearest colour is less exact, and it would change plain backgrounds.
    """

    def __init__(self, colours: Sequence[Colour]) -> None:
        self._colours = np.array(colours, np.int64)
        self._number_of: Numbers = np.full(1 << 24, UNKNOWN, np.uint8)

    def numbers(self, frame: Image.Image) -> Numbers:
        red, green, blue = np.moveaxis(np.asarray(frame, np.int64), 2, 0)
        packed = red << 16 | green << 8 | blue
        unknown = np.unique(packed[self._number_of[packed] == UNKNOWN])
        parts = np.stack((unknown >> 16, unknown >> 8 & 255, unknown & 255), axis=1)
        away = ((parts[:, None] - self._colours) ** 2).sum(axis=2)
        self._number_of[unknown] = away.argmin(axis=1)
        numbers: Numbers = self._number_of[packed]
        return numbers


def frequent_colours(samples: Sequence[Image.Image]) -> list[Colour]:
    """Return the colours that occur most often in the sample pictures.

    A film uses only these colours. Every other colour is replaced by the nearest of them.
    """
    counted = Counter[Colour]()
    for sample in samples:
        for count, colour in sample.getcolors(sample.width * sample.height) or ():
            if isinstance(colour, tuple):
                red, green, blue = colour
                counted[red, green, blue] += count
    return [colour for colour, _ in counted.most_common(COLOURS)]


def write_mp4(frames: Frames, width: int, height: int, path: Path, milliseconds: int) -> None:
    """Write a film with the program ffmpeg, with a picture every `milliseconds`.

    A picture that is shown longer is repeated.
    """
    program = shutil.which("ffmpeg")
    if program is None:
        raise OutputError(NO_FFMPEG)
    given = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"1000/{milliseconds}", "-i", "-"]
    made = ["-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4", "-y", str(path)]
    command = [program, "-hide_banner", "-loglevel", "error", *given, *made]
    ffmpeg = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert ffmpeg.stdin is not None
    assert ffmpeg.stderr is not None
    try:
        try:
            for picture, shown in frames:
                for _ in range(round(shown / milliseconds)):
                    ffmpeg.stdin.write(picture.tobytes())
        except BrokenPipeError:
            pass  # ffmpeg has ended before the film and printed the reason
        with suppress(OSError):
            ffmpeg.stdin.close()
        said = ffmpeg.stderr.read().decode(errors="replace").strip()
        if ffmpeg.wait():
            why = said.splitlines()[-1] if said else "it does not say why"
            raise OutputError(f"ffmpeg could not make the film: {why}")
    finally:
        ffmpeg.kill()
        ffmpeg.wait()
        with suppress(OSError):
            ffmpeg.stdin.close()
        ffmpeg.stderr.close()
