"""Pictures that move, as files: PNG and GIF written here, MP4 by ffmpeg.

Each picture after the first holds the smallest box in which something changed; in it, what stayed is see-through.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.errors import OutputError
from bpe_core.figures.png import FOR_EVER, SIGNATURE, chunk
from bpe_core.filming.canvas import Pixels

Indices = npt.NDArray[np.uint8]
Packed = npt.NDArray[np.int32]  # red, green and blue in one number
Frames = Iterable[tuple[Pixels, int]]  # each with the milliseconds it is shown

COLOURS = 256
KEEP, OVER = 0, 1  # what becomes of a picture of a PNG file, and how the next is put on it
CLEAR, END_OF_IMAGE, LAST_CODE = 256, 257, 4095  # of GIF
NO_FFMPEG = "A film as MP4 is made by ffmpeg, which was not found here. Install it, or end the name in .gif or .png."


class Change(NamedTuple):
    """What a picture changes: numbers of colours in a box, and how long it is shown."""

    left: int
    top: int
    indices: Indices
    milliseconds: int


class Palette:
    """The colours in the order they were met, the first one see-through. Where there are too many, the nearest."""

    def __init__(self) -> None:
        self.colours = [(0, 0, 0)]
        self._number_of: dict[int, int] = {}

    def indices(self, packed: Packed) -> Indices:
        found, where = np.unique(packed, return_inverse=True)
        numbers: Indices = np.array([self._number(colour) for colour in found.tolist()], np.uint8)
        indices: Indices = numbers[where]
        return indices

    def _number(self, packed: int) -> int:
        if packed not in self._number_of:
            colour = packed >> 16, packed >> 8 & 255, packed & 255
            if len(self.colours) < COLOURS:
                self._number_of[packed] = len(self.colours)
                self.colours.append(colour)
            else:
                away = (np.array(self.colours[1:]) - colour) ** 2
                self._number_of[packed] = 1 + int(away.sum(axis=1).argmin())
        return self._number_of[packed]

    def as_bytes(self) -> bytes:
        return bytes(part for colour in self.colours for part in colour).ljust(3 * COLOURS, b"\0")


def changes(frames: Frames, palette: Palette) -> Iterator[Change]:
    """Yield what changes; a picture equal to the one before it makes that one stay longer."""
    before: Packed | None = None
    waiting: Change | None = None
    for pixels, milliseconds in frames:
        packed = _packed(pixels)
        differs = np.ones(packed.shape, np.bool_) if before is None else packed != before
        rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
        if waiting is not None and not len(rows):
            waiting = waiting._replace(milliseconds=waiting.milliseconds + milliseconds)
            continue
        if waiting is not None:
            yield waiting
        box = slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)
        indices = np.zeros(differs[box].shape, np.uint8)
        indices[differs[box]] = palette.indices(packed[box][differs[box]])
        waiting = Change(box[1].start, box[0].start, indices, milliseconds)
        before = packed
    if waiting is not None:
        yield waiting


def _packed(pixels: Pixels) -> Packed:
    red, green, blue = (pixels[..., channel].astype(np.int32) for channel in range(3))
    return red << 16 | green << 8 | blue


def write_png(frames: Frames, width: int, height: int, file: BinaryIO) -> None:
    """Write a PNG file that plays. Who knows no animation sees the first picture."""
    palette, parts, number, many = Palette(), list[bytes](), 0, 0
    for change in changes(frames, palette):
        box = change.indices.shape[1], change.indices.shape[0], change.left, change.top
        control = struct.pack(">IIIIIHHBB", number, *box, change.milliseconds, 1000, KEEP, OVER)
        plain = np.pad(change.indices, ((0, 0), (1, 0)))  # each row begins with the kind of its filter, none
        data = zlib.compress(plain.tobytes(), 9)
        parts.append(chunk(b"fcTL", control))
        parts.append(chunk(b"fdAT", struct.pack(">I", number + 1) + data) if many else chunk(b"IDAT", data))
        number += 2 if many else 1
        many += 1
    file.write(SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)))
    file.write(chunk(b"acTL", struct.pack(">II", many, FOR_EVER)))
    file.write(chunk(b"PLTE", palette.as_bytes()) + chunk(b"tRNS", b"\0"))
    file.writelines(parts)
    file.write(chunk(b"IEND", b""))


def write_gif(frames: Frames, width: int, height: int, file: BinaryIO) -> None:
    palette, parts = Palette(), list[bytes]()
    for change in changes(frames, palette):
        high, wide = change.indices.shape
        hundredths = round(change.milliseconds / 10)
        parts.append(
            struct.pack("<BBBBHBB", 0x21, 0xF9, 4, 0b101, hundredths, 0, 0)
        )  # keep it; number 0 is see-through
        parts.append(struct.pack("<BHHHHBB", 0x2C, change.left, change.top, wide, high, 0, 8))
        packed = squeezed(change.indices.tobytes())
        blocks = (packed[start : start + 255] for start in range(0, len(packed), 255))
        parts += [bytes([len(block)]) + block for block in blocks]
        parts.append(b"\0")
    file.write(b"GIF89a" + struct.pack("<HHBBB", width, height, 0b11110111, 0, 0) + palette.as_bytes())
    file.write(b"\x21\xff\x0bNETSCAPE2.0\x03\x01" + struct.pack("<H", FOR_EVER) + b"\0")
    file.writelines(parts)
    file.write(b"\x3b")


def squeezed(data: bytes) -> bytes:
    """Compress numbers as GIF does, by Lempel, Ziv and Welch: codes of 9 to 12 bits, the lowest bit first.

    Runs of zeros, which are most of a change, are looked up by their length.
    """
    packed, waiting, bits, width = bytearray(), CLEAR, 9, 9
    known, zeros, following = dict[int, int](), [0], END_OF_IMAGE + 1  # of a code and the byte behind it, the code
    others = np.append(np.flatnonzero(np.frombuffer(data, np.uint8)), len(data)).tolist()
    place, other = 0, 0
    while place < len(data):
        while others[other] < place:
            other += 1
        length = min(others[other] - place, len(zeros))
        code = zeros[length - 1] if length else data[place]
        place += length or 1
        while place < len(data) and (longer := known.get(code << 8 | data[place])) is not None:
            code, place = longer, place + 1
        waiting |= code << bits
        bits += width
        if place < len(data) and following <= LAST_CODE:
            known[code << 8 | data[place]] = following
            if code == zeros[-1] and not data[place]:
                zeros.append(following)
            width += following == 1 << width
            following += 1
        elif place < len(data):
            waiting |= CLEAR << bits
            bits += width
            known, zeros, following, width = {}, [0], END_OF_IMAGE + 1, 9
        while bits >= 8:
            packed.append(waiting & 255)
            waiting, bits = waiting >> 8, bits - 8
    waiting |= END_OF_IMAGE << bits
    return bytes(packed) + waiting.to_bytes((bits + width + 7) // 8, "little")


def write_mp4(frames: Frames, width: int, height: int, path: Path, milliseconds: int) -> None:
    """Let ffmpeg write it, a picture every `milliseconds`."""
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
            for pixels, shown in frames:
                for _ in range(round(shown / milliseconds)):
                    ffmpeg.stdin.write(pixels.tobytes())
        except BrokenPipeError:
            pass  # it has ended before the film, and says why
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
