"""The texts for tests: the texts of this project, and larger real texts if this machine has them.

The project's texts are in `tests/texts`. They are small and in many scripts, and every sentence was written for the
project. Real texts, and the tables and results of other programs, are not part of the project. They are in `../shared`,
or in the folder that the environment variable BPE_SHARED names. If this folder exists, tests also use its texts.
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


def available_texts(*names: str) -> list[str]:
    """Return the names of the texts that exist on this machine.

    A text of the project, such as "poem", always exists. "data/raven.txt" is returned only if there is such a file.
    """
    return [name for name in names if not _is_shared(name) or path_of(name).is_file()]


def path_of(name: str) -> Path:
    """Return the path of a text, or of a table that another program made.

    `available_texts` returns the possible names.
    """
    return SHARED / name if _is_shared(name) else OWN / f"{name}.txt"


@cache
def text_of(name: str) -> str:
    """Return a text with its original line ends. `available_texts` returns the possible names."""
    if name == "languages":
        return "".join(text_of(script) for script in SCRIPTS)
    if name in MADE:
        return made_text(name, MADE_CHARACTERS, COINED)
    return path_of(name).read_bytes().decode()


def made_text(name: str, characters: int, coined: int) -> str:
    """Return a random text of about `characters` characters.

    Its words come from the project's texts that MADE lists under `name`. `coined` new words are added.
    """
    return _random_text("".join(text_of(own) for own in MADE[name]).splitlines(), characters, coined)


def samples_of(name: str, characters: int) -> str:
    """Return about `characters` characters, taken from several places of a text. Return a shorter text unchanged.

    So samples of a text in many languages contain most of these languages.
    """
    whole, each = text_of(name), characters // STRETCHES
    if len(whole) <= characters:
        return whole
    starts = (place * (len(whole) - each) // (STRETCHES - 1) for place in range(STRETCHES))
    return "".join(whole[start : start + each] for start in starts)


def expected(name: str) -> Any:
    """Return an expected result from the file `name` in the folder `expected/` of the shared texts."""
    return json.loads(text_of(f"expected/{name}"))


def _is_shared(name: str) -> bool:
    return name.startswith(("data/", "expected/"))


def _random_text(lines: Sequence[str], characters: int, coined: int) -> str:
    """Return a random text with the words of these lines, and with new words made from parts of these words.

    As in real texts, a few words are frequent.
    """
    rng = random.Random(characters)
    languages = [_vocabulary(line.split(), coined // len(lines), rng) for line in lines if line.strip()]
    sentences: list[str] = []
    while characters > 0:
        words, weights = rng.choice(languages)
        sentences.append(" ".join(rng.choices(words, cum_weights=weights, k=rng.randint(3, 30))))
        characters -= len(sentences[-1]) + 1
    return "\n".join(sentences)


def _vocabulary(words: list[str], coined: int, rng: random.Random) -> tuple[list[str], list[float]]:
    """Add new words to the words of a language. Each new word is made from parts of two words.

    Return all words and their cumulative weights. The weight of a word is 1 divided by its rank. A cumulative
    weight is the sum of the weights up to this word.
    """
    for _ in range(coined):
        first, last = rng.choices(words, k=2)
        words.append(first[: rng.randint(1, 5)] + last[-rng.randint(1, 5) :])
    return words, list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1)))
