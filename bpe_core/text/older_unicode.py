"""The characters that differ between today's Unicode and the older version that tokenizer libraries use.

A tokenizer must split as its file says, with any version of Python. So this module lists the newer characters. In the
older version they are not assigned.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import regex

Number = TypeVar("Number", bound=np.generic)

_LATER_MARKS = (
    "5c8-5c9 7fd 897-89f 8ca-8d3 9fe afa-aff b53-b55 c04 c3c cf3 d00 d3b-d3c d81 eba ece 1715 180f 1abf-1af0 1cf7 "
    "1df6-1dfa a82c a8ff 10d24-10d27 10d69-10d6d 10eab-10eac 10ecb-10ecf 10ef0-10eff 10f46-10f50 10f82-10f85 "
    "11070 11073-11074 110c2 11145-11146 111c9 111ce-111cf 11241 1133b 113b8-113c0 113c2 113c5 113c7-113ca "
    "113cc-113d0 113d2 113e1-113e2 1145e 1182c-1183a 11930-11935 11937-11938 1193b-1193e 11940 11942-11943 "
    "119d1-119d7 119da-119e0 119e4 11a01-11a0a 11a33-11a39 11a3b-11a3e 11a47 11a51-11a5b 11a8a-11a99 11b60-11b67 "
    "11d31-11d36 11d3a 11d3c-11d3d 11d3f-11d45 11d47 11d8a-11d8e 11d90-11d91 11d93-11d97 11df0 11ef3-11ef6 "
    "11f00-11f01 11f03 11f34-11f3a 11f3e-11f42 11f5a 13440 13447-13455 1611e-1612f 16f4f 16f7f-16f87 16fe4 "
    "16ff0-16ff1 1cf00-1cf2d 1cf30-1cf46 1d127-1d128 1d250-1d252 1d25b-1d25c 1d25f 1d280-1d281 1e08f 1e130-1e136 "
    "1e2ae 1e2ec-1e2ef 1e4ec-1e4ef 1e5ee-1e5ef 1e6e3 1e6e6 1e6ee-1e6ef 1e6f5 "
)
_LATER_MARKS_WITHOUT_WIDTH = (
    "5c8-5c9 7fd 897-89f 8ca-8e1 9fe afa-aff b53-b55 c04 c3c d00 d3b-d3c d81 eba ece 180f 1885-1886 1abf-1af0 "
    "1df6-1dfb a82c a8c5 a8ff a9bd 10d24-10d27 10d69-10d6d 10eab-10eac 10ecb-10ecf 10ef0-10eff 10f46-10f50 "
    "10f82-10f85 11070 11073-11074 110c2 111c9 111cf 1123e 11241 1133b 113bb-113c0 113ce 113d0 113d2 113e1-113e2 "
    "11438-1143f 11442-11444 11446 1145e 1182f-11837 11839-1183a 1193b-1193c 1193e 11943 119d4-119d7 119da-119db "
    "119e0 11a01-11a0a 11a33-11a38 11a3b-11a3e 11a47 11a51-11a56 11a59-11a5b 11a8a-11a96 11a98-11a99 11b60 "
    "11b62-11b64 11b66 11c30-11c36 11c38-11c3d 11c3f 11c92-11ca7 11caa-11cb0 11cb2-11cb3 11cb5-11cb6 11d31-11d36 "
    "11d3a 11d3c-11d3d 11d3f-11d45 11d47 11d90-11d91 11d95 11d97 11df0 11ef3-11ef4 11f00-11f01 11f36-11f3a 11f40 "
    "11f42 11f5a 13440 13447-13455 1611e-16129 1612d-1612f 16f4f 16fe4 1cf00-1cf2d 1cf30-1cf46 1d127-1d128 "
    "1d25b-1d25c 1e000-1e006 1e008-1e018 1e01b-1e021 1e023-1e024 1e026-1e02a 1e08f 1e130-1e136 1e2ae 1e2ec-1e2ef "
    "1e4ec-1e4ef 1e5ee-1e5ef 1e6e3 1e6e6 1e6ee-1e6ef 1e6f5 1e944-1e94a "
)
_LATER_PUNCTUATION = (
    "61d 9fd a76 c77 c84 1b4e-1b4f 1b7d-1b7f 2e43-2e4f 2e52-2e5d 2e60-2e63 10d6e 10ead 10ed0 10f55-10f59 "
    "10f86-10f89 113d4-113d5 113d7-113d8 1144b-1144f 1145a-1145b 1145d 11660-1166c 116b9 1183b 11944-11946 119e2 "
    "11a3f-11a46 11a9a-11a9c 11a9e-11aa2 11b00-11b09 11be1 11c41-11c45 11c70-11c71 11ef7-11ef8 11f43-11f4f 11fff "
    "12ff1-12ff2 16d6d-16d6f 16e97-16e9a 16fe2 1e5ff 1e95e-1e95f "
)
_LATER_NUMBERS = "1246f 12475-1247f 12550-12686"
_FORMER_PUNCTUATION = "166d 111c9"
PUNCTUATION = r"[\p{P}$+<=>\^`|\~]"
_LATER_PARTS = "32ff a7f2-a7f4 ab69 10781-10785 10787-107b0 107b2-107ba 11938 16ff0-16ff1 1f16c 1fbf0-1fbf9"
_LATER_CONTROLS = "890-891 8e2 110cd 13430-1343f"

_LATER = (
    "558 58b-58c 5c8-5c9 88f b53-b54 c5c cdc 1acf-1af0 208f 209d-209f 20c1-20c4 2b96 2e60-2e63 a7ce-a7cf a7d2 a7d4 "
    "a7dd a7e2 a7f1 ab6c-ab6d fbc3-fbd2 fd90-fd91 fdc8-fdce 107bb-107bf 10940-10959 10ec5-10ec7 10ec9-10eee "
    "10ef0-10efb 11b0a 11b60-11b67 11db0-11ddb 11de0-11de9 11df0-11df1 1246f 12475-1247f 12550-12686 16ea0-16eb8 "
    "16ebb-16ed3 16ff2-16ff6 187f8-187ff 18cd6-18cda 18d09-18d20 18d80-18df2 18e00-19191 191a0-191d2 1b123-1b128 "
    "1b168 1ccfa-1ccfc 1ceba-1ced0 1ced2-1ced4 1cedd-1cefd 1d127-1d128 1d1eb-1d1ff 1d250-1d281 1d6a6 1db00-1db1c "
    "1df1f-1df24 1df2b-1df81 1df90-1df96 1dfcd-1dfff 1e6c0-1e6de 1e6e0-1e6f5 1e6fe-1e6ff 1f1ae 1f6d8-1f6d9 "
    "1f777-1f77a 1f7da-1f7db 1f7f1-1f7ff 1f8d0-1f8d8 1fa54-1fa57 1fa8a-1fa8e 1fac8 1facc-1facd 1fadd 1faea-1faeb "
    "1faef 1faf9-1fafa 1fbfa 2b73a-2b73f 2b81e 2cea2-2cead 323b0-33479 3d000-3fc3f"
)
NO_CHARACTER = "\u0378"  # unassigned in Unicode
_FORMERLY = {"\u0295": "\u0296"}  # another category in the older version: the category of U+0296


def _set(ranges: str) -> str:
    ends = (codes.split("-") for codes in ranges.split())
    return "".join(f"\\U{int(codes[0], 16):08X}-\\U{int(codes[-1], 16):08X}" for codes in ends)


# Newer punctuation marks, former punctuation marks, and an expression for all marks of the older version, which needs
# no set operations.
LATER_PUNCTUATION = _set(_LATER_PUNCTUATION)
FORMER_PUNCTUATION = _set(_FORMER_PUNCTUATION)
PUNCTUATION_MARKS = rf"(?:(?![{LATER_PUNCTUATION}]){PUNCTUATION}|[{FORMER_PUNCTUATION}])"
NUMBERS = rf"(?:(?![{_set(_LATER_NUMBERS)}])\p{{N}})"  # from tables a little newer than the others


@cache
def _compiled(characters: str, later: str, also: str = "") -> regex.Pattern[str]:
    import regex  # takes a while to load

    return regex.compile(f"[[{characters}--[{_set(later)}]]{_set(also)}]", regex.V1)


def marks() -> regex.Pattern[str]:
    return _compiled(r"\p{M}", _LATER_MARKS, "1cf2-1cf3")


def marks_without_width() -> regex.Pattern[str]:
    return _compiled(r"\p{Mn}", _LATER_MARKS_WITHOUT_WIDTH, "1734 1171e")


def punctuation() -> regex.Pattern[str]:
    return _compiled(PUNCTUATION, _LATER_PUNCTUATION, _FORMER_PUNCTUATION)


def controls() -> regex.Pattern[str]:
    """Return a pattern that matches one control, format or private-use character, or U+FFFD.

    It does not match a tab or the end of a line.
    """
    return _compiled(r"[\p{Cc}\p{Cf}\p{Co}\ufffd]", _LATER_CONTROLS + " 9-a d")


def replace_newer(text: str, expression: str = "") -> str:
    r"""Replace each newer character with a character that the older version of Unicode does not assign.

    If `expression` has a range such as `[a-z]` that contains the newer character, the range also contains the
    replacement.

    >>> [ascii(replace_newer("\u0b53", named)) for named in ("", "[\u0b00-\u0b7f]")]
    ["'\\u0378'", "'\\u0b04'"]
    """
    if text.isascii() or characters_treated_differently().isdisjoint(set(text)):
        return text
    return text.translate(_replacements(expression))


def with_older_values(values: npt.NDArray[Number], expression: str) -> npt.NDArray[Number]:
    """Return a copy of `values` in which each newer character has the value of its replacement.

    `values` has one value for each code point. `replace_newer` describes the newer characters and their
    replacements.
    """
    values = values.copy()
    seen_as = _replacements(expression)
    values[[*seen_as]] = values[[*map(ord, seen_as.values())]]
    return values


_NEWER_MARKS = "1acf-1add 1ae0-1aeb"


def with_known_marks(text: str) -> str:
    """Replace some newer combining marks by the older mark U+0300.

    Hugging Face's library treats these newer characters as marks, too.
    """
    marks = characters(_NEWER_MARKS)
    if text.isascii() or marks.isdisjoint(set(text)):
        return text
    return "".join("\u0300" if character in marks else character for character in text)


_NAMED = re.compile(r"\\U([0-9A-Fa-f]{8})|\\u([0-9A-Fa-f]{4})|([^\0-\x7f])")


@lru_cache(maxsize=64)
def _replacements(expression: str) -> dict[int, str]:
    """Return a replacement for each character that an older version of Unicode lacks. The keys are code points.

    Today's `regex` treats the replacement as the older version of Unicode treats the character. A range in the
    expression contains either both characters or neither of them.
    """
    seen_as = dict.fromkeys(_codes(_LATER), NO_CHARACTER) | {ord(new): old for new, old in _FORMERLY.items()}
    named = {ord(plain) if plain else int(long or short, 16) for long, short, plain in _NAMED.findall(expression)}
    if not named:
        return seen_as
    borders = sorted({0, 0x110000} | named | {code + 1 for code in named})
    place = {code: bisect(borders, code) for code in (*seen_as, *map(ord, seen_as.values()))}
    near = {there: _unassigned(borders[there - 1], borders[there]) for there in {place[code] for code in seen_as}}
    same_side = {code: old if place[ord(old)] == place[code] else near[place[code]] for code, old in seen_as.items()}
    return {code: old for code, old in same_side.items() if old}  # a character without a replacement stays as it is


@cache
def _unassigned(start: int, stop: int) -> str:
    """Return the first character from `start` up to `stop` that is not assigned in Unicode.

    Return an empty string if all characters in this range are assigned.
    """
    import regex  # takes a while to load

    is_free = regex.compile(r"\p{Cn}").match
    return next((chr(code) for code in range(start, stop) if is_free(chr(code))), "")


@cache
def characters_treated_differently() -> frozenset[str]:
    """Return the characters whose properties differ between today's Unicode and the older version."""
    return later() | _FORMERLY.keys()


@cache
def later() -> frozenset[str]:
    return characters(_LATER)


def characters(ranges: str) -> frozenset[str]:
    return frozenset(map(chr, _codes(ranges)))


def _codes(ranges: str) -> Iterator[int]:
    ends = (codes.split("-") for codes in ranges.split())
    return chain.from_iterable(range(int(codes[0], 16), int(codes[-1], 16) + 1) for codes in ends)


@cache
def without_form() -> frozenset[str]:
    """Return the characters that have a decomposition or a combining class only in newer versions of Unicode."""
    return characters(_LATER_MARKS + _LATER_PARTS)
