"""Names of tokens from left to right, whatever script they hold: signs and halves stand where they belong."""

from __future__ import annotations

import re

MARK = "\N{LEFT-TO-RIGHT MARK}"  # invisible
# The blocks of Unicode that are kept for scripts from right to left.
_FROM_THE_RIGHT = re.compile(
    "[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_SIGNS = re.compile(r"<0x[0-9A-F]{2}>| \+ ")


def from_the_left(text: str) -> str:
    """For what is painted, not for what is copied.

    Without the marks, the sign of a byte that follows a Hebrew letter would be torn apart, and two
    Hebrew halves of a pair would change places. Letters within a token keep their own direction.

    >>> from_the_left("␣a + <0xD7>")
    '␣a + <0xD7>'
    >>> ascii(from_the_left("\\u05e9<0xD7>"))
    "'\\\\u200e\\\\u05e9\\\\u200e<0xD7>\\\\u200e'"
    """
    if not _FROM_THE_RIGHT.search(text):
        return text
    return MARK + _SIGNS.sub(lambda sign: f"{MARK}{sign[0]}{MARK}", text)
