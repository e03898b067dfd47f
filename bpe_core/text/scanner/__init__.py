"""Where the named patterns cut a text, without regular expressions: one small table for each.

    kinds.py          what a pattern can tell a character to be
    machine.py        how a description becomes a table, and how the table is read
    gpt2.py  cl100k.py  o200k.py  english.py  bert.py  simple.py       the descriptions
    contractions.py  blanks.py                                what several of them share

The tables are plain arrays; `bpe_core.kernels.scan` reads them at full speed.

    >>> table_for("gpt2").cuts(b"It's  12 o'clock")
    [0, 2, 4, 5, 8, 10, 11, 16]
"""

from __future__ import annotations

from functools import cache

from bpe_core.text.patterns import NAMED_PATTERNS
from bpe_core.text.scanner import bert, cl100k, english, gpt2, o200k, simple
from bpe_core.text.scanner.machine import ScanTable, StepFunction, by_line

__all__ = ["ScanTable", "table_for"]

_DESCRIPTIONS: dict[str, StepFunction] = {
    "gpt2": gpt2.step,
    "cl100k": cl100k.step,
    "o200k": o200k.step,
    "english": english.step,
    "whitespace": simple.whitespace,
    "bert": bert.step,
    "none": simple.none,
}


@cache
def table_for(pattern: str, unit: str = "file") -> ScanTable | None:
    """The table of a named pattern for that unit of text; None for a person's own pattern."""
    step = _DESCRIPTIONS.get(pattern)
    if step is None:
        return None
    return ScanTable.of(
        by_line(step) if unit == "line" else step, drops_blanks=NAMED_PATTERNS[pattern].drops_whitespace
    )
