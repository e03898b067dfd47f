"""The default texts of the benchmarks.

They are real texts in `../shared`. Each missing text is replaced by a text of random words.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.shared import SHARED, made_text

TRAINED, HELD_OUT, ENCODED = "wikitext2-train-unk.txt", "wikitext2-test.raw.txt", "wikitext2-valid.raw.txt"
LANGUAGES = "udhr-languages.txt"
# The made text in place of each real text, and its characters. The texts of equal words differ, as their sizes differ.
MADE_INSTEAD = {
    TRAINED: ("made/english", 10_000_000),
    HELD_OUT: ("made/english", 1_200_000),
    ENCODED: ("made/english", 1_100_000),
    LANGUAGES: ("made/languages", 3_000_000),
}
COINED = 100_000  # words that are no words, in each made text

_folder = TemporaryDirectory(prefix="bpe-explorer-texts-")


@cache
def default_text(name: str) -> Path:
    """Return the path of a text.

    If the real text is missing, write a text of random words instead, and print a message about it.
    """
    real = SHARED / "data" / name
    if real.is_file():
        return real
    made = Path(_folder.name, f"made-instead-of-{name}")
    made.write_text(made_text(*MADE_INSTEAD[name], COINED), encoding="utf-8", newline="")
    print(f"There is no {real} (BPE_SHARED names another folder), so a text of random words is measured.", flush=True)
    return made


def existing_text(named: Path | None) -> Path:
    """Return the path of the given text, or of the default text if none is given.

    End the program if the text does not exist.
    """
    path = (named or default_text(TRAINED)).resolve()
    if not path.is_file():
        sys.exit(f"There is no text {path}.")
    return path
