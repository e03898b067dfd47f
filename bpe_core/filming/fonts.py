"""The fonts of this computer, and the choice of a font for each character of a film.

The font that a user names is tried first, then the usual font of the system, and then any font with the character. If
the computer has no fonts, a font that comes with Pillow draws the ASCII characters.
"""

from __future__ import annotations

import shutil
import subprocess
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from bpe_core.errors import BpeError, cause_of

Colour = tuple[int, int, int]

EM = 64  # pixels of the size at which widths are measured
STRIKES = (109, 160, 136, 128, 96, 64, 32)  # the sizes of pictures of emoji
NO_CHARACTER = "\uffff"  # a character that no font holds: its picture shows how a font draws missing characters
BLANK, NOTHING = 0.3, 0.6  # share of the size: the width of a blank, and the room for a character that no font holds
INSTEAD = {"␣": "_", "▁": "_", "⏎": "/", "⇥": ">", "−": "-", "…": "..."}
JOINERS = ("Mn", "Me", "Cf")  # kinds of characters that are only seen by their effect on their neighbours
FONTCONFIG = "fc-match"
LONGEST_ASKED = 10  # seconds
MOST_ASKED = 60  # times that the system may be asked for a font
# Fonts for systems without fontconfig: those of Windows and macOS, and free ones, by the names of their files.
USUAL = ("segoeui.ttf", "Arial.ttf", "Helvetica.ttc", "DejaVuSans.ttf", "NotoSans-Regular.ttf")
FURTHER = (
    *("seguisym.ttf", "seguiemj.ttf", "YuGothM.ttc", "msyh.ttc", "malgun.ttf", "Nirmala.ttc", "Nirmala.ttf"),
    *("LeelawUI.ttf", "ebrima.ttf", "gadugi.ttf", "Arial Unicode.ttf", "Apple Symbols.ttf", "Apple Color Emoji.ttc"),
    *("Hiragino Sans GB.ttc", "AppleSDGothicNeo.ttc", "GeezaPro.ttc", "Kohinoor.ttc", "Thonburi.ttc"),
    *("NotoSansCJK-Regular.ttc", "NotoSansArabic-Regular.ttf", "NotoColorEmoji.ttf"),
)


class Face:
    """A font that draws texts of any size.

    Some fonts, such as emoji fonts, hold pictures of a single size. These pictures are scaled.
    """

    def __init__(self, open_at: Callable[[float], ImageFont.FreeTypeFont]) -> None:
        self._open = cache(open_at)
        self._strike: int | None = None
        try:
            self._open(EM)
        except OSError:
            self._strike = self._only_size()
        self._drawn: dict[tuple[str, float], Image.Image] = {}
        self._missing = bytes(self._measured.getmask(NO_CHARACTER))

    @classmethod
    def of_file(cls, name: str, index: int = 0) -> Face | None:
        try:
            return cls(lambda size: ImageFont.truetype(name, size, index))
        except (OSError, ValueError):
            return None

    @classmethod
    def bundled(cls) -> Face | None:
        font = ImageFont.load_default(EM)
        if not isinstance(font, ImageFont.FreeTypeFont):  # a Pillow that was built without FreeType
            return None
        return cls(lambda size: font.font_variant(size=size))

    def _only_size(self) -> int:
        for size in STRIKES:
            try:
                self._open(size)
            except OSError:
                continue
            return size
        raise OSError("the font has no size")

    @property
    def _measured(self) -> ImageFont.FreeTypeFont:
        return self._open(EM if self._strike is None else self._strike)

    def holds(self, grapheme: str) -> bool:
        seen = [character for character in grapheme if unicodedata.category(character) not in JOINERS]
        return bool(seen) and all(bytes(self._measured.getmask(character)) != self._missing for character in seen)

    def width(self, text: str) -> float:
        """Return the width of a text as a multiple of the text size."""
        return self._measured.getlength(text) / (EM if self._strike is None else self._strike)

    def draw(
        self, image: Image.Image, x: float, baseline: float, text: str, size: float, colour: Colour, *, is_bold: bool
    ) -> None:
        if self._strike is None:
            ImageDraw.Draw(image).text(
                (x, baseline),
                text,
                fill=colour,
                font=self._open(size),
                anchor="ls",
                stroke_width=int(is_bold),
                embedded_color=True,
            )
            return
        font = self._measured
        scale = size / self._strike
        left, top, right, bottom = font.getbbox(text, anchor="ls")
        if (text, size) not in self._drawn:
            picture = Image.new("RGBA", (int(right - left), int(bottom - top)))
            ImageDraw.Draw(picture).text((-left, -top), text, font=font, anchor="ls", embedded_color=True)
            room = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
            self._drawn[text, size] = picture.resize(room)
        picture = self._drawn[text, size]
        image.paste(picture, (round(x + left * scale), round(baseline + top * scale)), picture)


class Fonts:
    """The fonts in use. If none of them has a character, further fonts are searched for this character."""

    def __init__(self, chosen: Path | None = None) -> None:
        self._known = dict[str, tuple[str, Face | None]]()
        self._asked = 0
        self._further = iter(FURTHER)
        first = [] if chosen is None else [_chosen(chosen)]
        usual = _recommended_font("ab") or next(_of_names(iter(USUAL)), None)
        self._faces = [face for face in (*first, usual, Face.bundled()) if face is not None]

    def text_and_font(self, grapheme: str) -> tuple[str, Face | None]:
        """Return the text that is drawn for a character, and the font that draws it.

        If no font has the character, the font is None and the character is invisible.
        """
        if grapheme not in self._known:
            text_and_face = grapheme, self._face(grapheme)
            if text_and_face[1] is None and grapheme in INSTEAD:
                text_and_face = INSTEAD[grapheme], self._face(INSTEAD[grapheme])
            self._known[grapheme] = text_and_face
        return self._known[grapheme]

    def width(self, grapheme: str) -> float:
        """Return the width of a character as a multiple of the text size.

        `grapheme` is a character that a reader sees.
        """
        if grapheme.isspace():
            return 0.0 if grapheme == "\n" else BLANK
        shown, face = self.text_and_font(grapheme)
        return NOTHING if face is None else face.width(shown)

    def is_missing(self, grapheme: str) -> bool:
        return not grapheme.isspace() and self.text_and_font(grapheme)[1] is None

    def _face(self, grapheme: str) -> Face | None:
        if grapheme.isspace():
            return None
        for face in self._faces:
            if face.holds(grapheme):
                return face
        for face in self._more(grapheme):
            self._faces.append(face)
            if face.holds(grapheme):
                return face
        return None

    def _more(self, grapheme: str) -> Iterator[Face]:
        if shutil.which(FONTCONFIG) is None:
            yield from _of_names(self._further)
        elif self._asked < MOST_ASKED:
            self._asked += 1
            face = _recommended_font(grapheme)
            if face is not None and face not in self._faces:
                yield face


def _chosen(path: Path) -> Face:
    try:
        return Face(lambda size: ImageFont.truetype(str(path), size))
    except (OSError, ValueError) as error:
        raise BpeError(f"{path} cannot be read as a font: {cause_of(error)}. Name a .ttf or .otf file.") from error


def _of_names(names: Iterator[str]) -> Iterator[Face]:
    return (face for face in map(Face.of_file, names) if face is not None)


def _recommended_font(text: str) -> Face | None:
    """Return the font that fontconfig recommends for the characters of a text, or None if it recommends no font.

    The recommended font may lack the characters.
    """
    program = shutil.which(FONTCONFIG)
    if program is None:
        return None
    wanted = " ".join(f"{ord(character):x}" for character in text)
    command = [program, "--format=%{file}\n%{index}", f"sans:charset={wanted}"]
    try:
        said = subprocess.run(command, capture_output=True, timeout=LONGEST_ASKED, check=True).stdout
        name, index = said.decode(errors="surrogateescape").split("\n")
        return _opened(name, int(index))
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


_opened = cache(Face.of_file)
