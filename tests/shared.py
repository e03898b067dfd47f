"""The texts for tests: the project's own, and real ones where they exist.

Its own lie in `tests/texts`, small and in many scripts, every sentence written for it; larger ones are made of their
words. Real texts, tables of others and what independent programs made of them are no part of the project: they lie in
`../shared`, or in the folder that the environment variable BPE_SHARED names. The same tests run on both; where that
folder is missing, on the project's own alone.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

PATIENCE = 600.0  # seconds until a test gives up on another process; a busy machine gets the time it needs
ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("BPE_SHARED") or ROOT.parent / "shared")
OWN = ROOT / "tests/texts"

SCRIPTS = (
    "latin", "cyrillic", "greek", "arabic", "hebrew", "indic", "thai", "japanese", "chinese", "korean", "further",
    "emoji",
)  # fmt: skip
MADE = {"made/english": ("prose", "poem", "code"), "made/languages": SCRIPTS}
MADE_CHARACTERS = 300_000
STRETCHES = 20  # of a text that is too long to be read whole
COINED = 5_000  # words that are no words, shared out among the languages


def here(*names: str) -> list[str]:
    """Return the texts of these that this machine can read: "poem" always, "data/raven.txt" where it is."""
    return [name for name in names if not _is_shared(name) or path_of(name).is_file()]


def path_of(name: str) -> Path:
    """The file of a text, or of a table of others, that is `here`."""
    return SHARED / name if _is_shared(name) else OWN / f"{name}.txt"


@cache
def text_of(name: str) -> str:
    """A text that is `here`, with the line ends it has."""
    if name == "languages":
        return "".join(text_of(script) for script in SCRIPTS)
    if name in MADE:
        return _made("".join(text_of(own) for own in MADE[name]).splitlines(), MADE_CHARACTERS)
    return path_of(name).read_bytes().decode()


def stretches_of(name: str, characters: int) -> str:
    """Take this many characters from all parts of a text that is `here`: one in many languages keeps most of them."""
    whole, each = text_of(name), characters // STRETCHES
    if len(whole) <= characters:
        return whole
    starts = (place * (len(whole) - each) // (STRETCHES - 1) for place in range(STRETCHES))
    return "".join(whole[start : start + each] for start in starts)


def expected(name: str) -> Any:
    """One of the results in `expected/`, for tests of a shared text that is `here`."""
    return json.loads(text_of(f"expected/{name}"))


def _is_shared(name: str) -> bool:
    return name.startswith(("data/", "expected/"))


def _made(lines: Sequence[str], characters: int) -> str:
    """A text of these lines' words and of words made of their parts; a few occur often, most hardly ever."""
    rng = random.Random(characters)
    languages = [_vocabulary(line.split(), COINED // len(lines), rng) for line in lines if line.strip()]
    found: list[str] = []
    while characters > 0:
        words, weights = rng.choice(languages)
        found.append(" ".join(rng.choices(words, cum_weights=weights, k=rng.randint(3, 30))))
        characters -= len(found[-1]) + 1
    return "\n".join(found)


def _vocabulary(words: list[str], coined: int, rng: random.Random) -> tuple[list[str], list[float]]:
    """The words of a language, with what each adds to the sum of all before it; the rank of a word is its rarity."""
    for _ in range(coined):
        first, last = rng.choices(words, k=2)
        words.append(first[: rng.randint(1, 5)] + last[-rng.randint(1, 5) :])
    return words, list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1)))
