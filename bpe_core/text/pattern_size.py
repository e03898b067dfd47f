"""How large a regular expression becomes when it is compiled, known before it is compiled.

`regex` writes out what must be repeated: `(a{9}){9}` as 81 copies, `(?:a+)+` as four. A few levels of that
fill any memory. So sizes are multiplied where repetitions are nested and added where they stand side by side.
"""

from __future__ import annotations

import math
import re

LONGEST = 10_000  # characters; compiling many groups takes the square of their number
LARGEST = 200_000  # parts after writing out: measured, at most half a second and 110 MB

_PART = re.compile(
    r"""
    (?P<name>\\[pPN]\{[A-Za-z^][\w^:=&./\ -]*\})  # \p{Lu}, no count
    | \\.
    | (?P<set>\[\^?\]?(?:\\.|[^]\\])*+\])
    | (?P<count>\{(?=[0-9,])(?P<least>[0-9]*)(?P<range>,[0-9]*)?\}|[?*+])[?+]?
    | (?P<open>\(\??)
    | (?P<close>\))
    | .
    """,
    re.DOTALL | re.VERBOSE | re.ASCII,
)
# Where comments, nested sets or blanks that mean nothing may stand, groups are not told apart with certainty.
_UNCLEAR = re.compile(r"\(\?[A-Za-z0-9]*[xV]|\(\?\#|\[:")
_ANY_COUNT = re.compile(r"\{(?P<least>[\s0-9]*)(?P<comment>\#)?|[)}](?:\s|\#[^\n]*\n)*\+")


def is_too_large(expression: str) -> bool:
    """Whether compiling would take more time or memory than a pattern is worth.

    >>> is_too_large(r"\\p{N}{1,3}|(?:[a-z]{2,9})+"), is_too_large("(((((((a{9}){9}){9}){9}){9}){9}){9}){9}")
    (False, True)
    """
    return len(expression) > LONGEST or written_out(expression) > LARGEST


def written_out(expression: str) -> float:
    """How many parts the expression has when its repetitions are written out; rather too many than too few.

    >>> written_out("abc"), written_out("a{9}"), written_out("(?:ab){9}c{0,9}")
    (3, 10, 41)
    """
    if _UNCLEAR.search(expression):
        return _at_most(expression)
    outer: list[int] = []  # the sizes of what stands before each open group
    size = last = 0  # of the sequence without its last part, and of that part
    for part in _PART.finditer(expression):
        if part["open"]:
            outer.append(size + last)
            size = last = 0
        elif part["close"]:
            last += size + 1
            size = outer.pop() if outer else 0
        elif part["count"]:
            last *= _copies(part)
        elif part[0] in "{[":  # perhaps an approximate match, which may be repeated in its turn; or an open set
            return _at_most(expression)
        else:
            size, last = size + last, 1
    return sum(outer) + size + last


def _copies(part: re.Match[str]) -> int:
    """How often a quantifier writes out what stands before it: as often as it must match, and once for more."""
    least = {"?": 0, "*": 0, "+": 1}.get(part["count"])
    if least is None:
        least = _number(part["least"])
        if least == 1 and not part["range"]:
            return 1
    return least + 1


def _at_most(expression: str) -> float:
    """As if every repetition of the expression stood inside every other."""
    copies = [len(expression)]
    for count in _ANY_COUNT.finditer(expression):
        if count["comment"]:
            return math.inf
        copies.append(2 if count["least"] is None else _number("".join(count["least"].split())) + 1)
    return math.prod(copies)


def _number(digits: str) -> int:
    return int(digits[:19] or 0)
