"""Functions that put noise into texts: typing errors, capital letters, similar letters, missing or doubled spaces.

Each kind of noise changes a share of the words of a text. The same seed makes the same changes.

>>> noisy("one two", KINDS["capitals"], share=1.0, seed=0)
'ONE TWO'
>>> noisy("one two", KINDS["missing spaces"], share=1.0, seed=0)
'onetwo'
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

Change = Callable[[str, Random], str]

_WORD = re.compile(r"\S+")
_SPACE = re.compile(r"(?<=\S) (?=\S)")
_LINE_END = re.compile(r"(?<!\r)\n")
_FIRST_WIDE = 0xFF01  # the full-width exclamation mark; those after it are in the order of ASCII
_BOLD = {"A": 0x1D400, "a": 0x1D41A}  # the first mathematical bold letters
_LOOK_ALIKES = str.maketrans("aceopxyABCEHKMOPTX", "асеорхуАВСЕНКМОРТХ")  # Latin letters, and Cyrillic ones


@dataclass(frozen=True)
class NoiseKind:
    """A kind of noise: a pattern that finds the places that may change, and a function that changes such a place."""

    meaning: str
    places: re.Pattern[str]  # the places that may change
    change: Change


def noisy(text: str, kind: NoiseKind, *, share: float, seed: int) -> str:
    """Return the text with noise of one kind.

    The kind of noise determines which places of the text may change. Each of these places changes with the
    probability `share`, and `seed` is the seed of the random choices.
    """
    random = Random(seed)

    def changed(place: re.Match[str]) -> str:
        return kind.change(place[0], random) if random.random() < share else place[0]

    return kind.places.sub(changed, text)


def _with_typing_error(word: str, random: Random) -> str:
    """Return the word with one typing error: a letter is dropped, doubled, or swapped with the next letter."""
    place = random.randrange(len(word))
    error = random.choice(("drop", "double", "swap"))
    if error == "drop" and len(word) > 1:
        return word[:place] + word[place + 1 :]
    if error == "swap" and place + 1 < len(word):
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return word[:place] + word[place] + word[place:]


def _without_diacritics(word: str, random: Random) -> str:
    apart = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(sign for sign in apart if unicodedata.category(sign) != "Mn"))


def _full_width(word: str, random: Random) -> str:
    return "".join(chr(ord(sign) - 0x21 + _FIRST_WIDE) if "!" <= sign <= "~" else sign for sign in word)


def _mathematical(word: str, random: Random) -> str:
    return "".join(map(_bold, word))


def _bold(letter: str) -> str:
    if "A" <= letter <= "Z":
        return chr(_BOLD["A"] + ord(letter) - ord("A"))
    if "a" <= letter <= "z":
        return chr(_BOLD["a"] + ord(letter) - ord("a"))
    return letter


KINDS: Mapping[str, NoiseKind] = {
    "typing errors": NoiseKind("a letter is dropped, doubled or swapped with the next", _WORD, _with_typing_error),
    "capitals": NoiseKind("a word is in capital letters", _WORD, lambda word, _: word.upper()),
    "small letters": NoiseKind("a word is in small letters", _WORD, lambda word, _: word.lower()),
    "no diacritics": NoiseKind("accents and other marks are left out", _WORD, _without_diacritics),
    "full width": NoiseKind("letters and signs have their full-width forms", _WORD, _full_width),
    "mathematical letters": NoiseKind("letters have their mathematical bold forms", _WORD, _mathematical),
    "look-alikes": NoiseKind(
        "Latin letters are replaced by Cyrillic ones", _WORD, lambda word, _: word.translate(_LOOK_ALIKES)
    ),
    "doubled spaces": NoiseKind("a space is doubled", _SPACE, lambda space, _: "  "),
    "missing spaces": NoiseKind("a space is left out", _SPACE, lambda space, _: ""),
    "line ends": NoiseKind("a line ends with CR and LF", _LINE_END, lambda end, _: "\r\n"),
}
