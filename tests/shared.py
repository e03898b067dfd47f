"""The texts for tests: texts of this project, and real texts if this machine has them.

The project's texts are in `tests/texts`. They are small, in many scripts, and every sentence was written for the
project. Larger texts are made from their words. Real texts, tables of other programs and their results are not part of
the project. They are in `../shared`, or in the folder that the environment variable BPE_SHARED names. The same tests
run on all texts. Without this folder, they run only on the project's texts.
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
    """Return the names of the texts that this machine can read.

    A text of the project, such as "poem", is always among them. "data/raven.txt" is among them if the file exists.
    """
    return [name for name in names if not _is_shared(name) or path_of(name).is_file()]


def path_of(name: str) -> Path:
    """Return the path of a text, or of a table of another program. `here` returns the possible names."""
    return SHARED / name if _is_shared(name) else OWN / f"{name}.txt"


@cache
def text_of(name: str) -> str:
    """Return a text with its original line ends. `here` returns the possible names."""
    if name == "languages":
        return "".join(text_of(script) for script in SCRIPTS)
    if name in MADE:
        return _made("".join(text_of(own) for own in MADE[name]).splitlines(), MADE_CHARACTERS)
    return path_of(name).read_bytes().decode()


def stretches_of(name: str, characters: int) -> str:
    """Return this number of characters from all parts of a text.

    A text in many languages keeps most of its languages.
    """
    whole, each = text_of(name), characters // STRETCHES
    if len(whole) <= characters:
        return whole
    starts = (place * (len(whole) - each) // (STRETCHES - 1) for place in range(STRETCHES))
    return "".join(whole[start : start + each] for start in starts)


def expected(name: str) -> Any:
    """Return a result of the folder `expected/`, for tests of a shared text."""
    return json.loads(text_of(f"expected/{name}"))


def _is_shared(name: str) -> bool:
    return name.startswith(("data/", "expected/"))


def _made(lines: Sequence[str], characters: int) -> str:
    """Return a text of the words in these lines and of new words made from their parts. A few words are frequent."""
    rng = random.Random(characters)
    languages = [_vocabulary(line.split(), COINED // len(lines), rng) for line in lines if line.strip()]
    sentences: list[str] = []
    while characters > 0:
        words, weights = rng.choice(languages)
        sentences.append(" ".join(rng.choices(words, cum_weights=weights, k=rng.randint(3, 30))))
        characters -= len(sentences[-1]) + 1
    return "\n".join(sentences)


def _vocabulary(words: list[str], coined: int, rng: random.Random) -> tuple[list[str], list[float]]:
    """Return the words of a language, and the running sum of their weights.

    The weight of a word is 1 divided by its rank.
    """
    for _ in range(coined):
        first, last = rng.choices(words, k=2)
        words.append(first[: rng.randint(1, 5)] + last[-rng.randint(1, 5) :])
    return words, list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1)))
