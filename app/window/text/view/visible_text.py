"""What is laid out in the place of a stretch of text, so that nothing in it stays unseen.

A control or invisible character becomes an empty box that its name is painted into; of
several blanks in a row each but the last becomes one that may begin a row, so that a long
run of them stays in sight. Positions are mapped both ways: characters of the text on one
side, UTF-16 units of what Qt lays out on the other.

    >>> visible = VisibleText("a\\x00b")
    >>> visible.units_of(2), visible.character_of(4), [box.label for box in visible.boxes]
    (4, 2, ['NUL'])
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from dataclasses import dataclass

_ROOM = "\u2007"  # figure space: as wide as a digit, never broken from its neighbour
_BLANK_AMONG_BLANKS = "\u00a0\u200b"  # does not hang over the edge of a row, yet lets one end behind it
LABEL_SCALE = 0.68  # a box's name is written this much smaller than the text

_HIDDEN = "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u180e\u200b\u2028\u2029\u2060-\u2064\ufeff\ufff9-\ufffc"
_JOINERS_AND_DIRECTIONS = "\u034f\u061c\u200c-\u200f\u202a-\u202e\u2066-\u206f\ufe00-\ufe0f\U000e0000-\U000e0fff"
_BOXED = re.compile(f"[{_HIDDEN}]")
_BOXED_ON_REQUEST = re.compile(f"[{_HIDDEN}{_JOINERS_AND_DIRECTIONS}]")
_COUNTS_UNLIKE = re.compile("[\U00010000-\U0010ffff]| (?= )")
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)

_C0_NAMES = "NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC"
_NAMES = {
    **{chr(code): name for code, name in enumerate(f"{_C0_NAMES} FS GS RS US".split())},
    "\x7f": "DEL",
    "\x85": "NEL",
    "\u00ad": "SHY",
    "\u034f": "CGJ",
    "\u061c": "ALM",
    "\u200b": "ZWSP",
    "\u200c": "ZWNJ",
    "\u200d": "ZWJ",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u2028": "LS",
    "\u2029": "PS",
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2060": "WJ",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
    "\ufeff": "BOM",
    "\ufffc": "OBJ",
    **{chr(0xFE00 + i): f"VS{i + 1}" for i in range(16)},
}


def name_of(character: str) -> str:
    """The short name an invisible character is shown by."""
    return _NAMES.get(character, f"U+{ord(character):04X}")


@dataclass(frozen=True)
class Box:
    """A character shown by its name: where it stands, and in how many units of room."""

    character: int
    units: int
    label: str


class VisibleText:
    """One stretch of text without its newline, as it is laid out, with what an input method composes in it."""

    def __init__(self, source: str, *, all_invisible: bool = False, composed: str = "", composed_at: int = 0) -> None:
        self.source = source
        self.boxes: list[Box] = []
        self.composed_at = 0  # the unit at which what is composed begins
        self._starts: list[int] | None = None  # None where both sides count alike
        boxed = _BOXED_ON_REQUEST if all_invisible else _BOXED
        if composed or _COUNTS_UNLIKE.search(source) or boxed.search(source):
            self.text = self._replaced(boxed, composed, composed_at)
        else:
            self.text = source
        self.is_right_to_left = _RIGHT_TO_LEFT.search(self.text) is not None

    def units_of(self, character: int) -> int:
        """The first unit of what stands for a character."""
        return character if self._starts is None else self._starts[character]

    def character_of(self, unit: int) -> int:
        """The character that a unit stands for."""
        if self._starts is None:
            return unit
        return min(max(0, bisect_right(self._starts, unit) - 1), len(self.source))

    def _replaced(self, boxed: re.Pattern[str], composed: str, composed_at: int) -> str:
        parts: list[str] = []
        starts: list[int] = []
        unit = 0
        for index, character in enumerate(self.source):
            if composed and index == composed_at:
                self.composed_at = unit
                parts.append(composed)
                unit += utf16_length(composed)
            starts.append(unit)
            if character == " " and self.source[index + 1 : index + 2] == " ":
                shown = _BLANK_AMONG_BLANKS
            elif boxed.match(character):
                shown = self._boxed(index, character)
            else:
                shown = character
                unit += character > "\uffff"
            parts.append(shown)
            unit += len(shown)
        if composed_at >= len(self.source):
            self.composed_at = unit
            parts.append(composed)
            unit += utf16_length(composed)
        starts.append(unit)
        self._starts = starts
        return "".join(parts)

    def _boxed(self, index: int, character: str) -> str:
        label = name_of(character)
        units = max(2, math.ceil(LABEL_SCALE * len(label) + 0.7))
        self.boxes.append(Box(index, units, label))
        return _ROOM * units


def utf16_length(text: str) -> int:
    """Qt counts characters beyond U+FFFF twice.

    >>> utf16_length("a😀")
    3
    """
    return len(text) + sum(character > "\uffff" for character in text)


def reads_right_to_left(line: str) -> bool:
    """Whether the first letter of a line that has a direction goes to the left."""
    for character in line:
        if character.isalpha():
            return _RIGHT_TO_LEFT.match(character) is not None
    return False
