"""The script of a character, such as Latin or Cyrillic, as Unicode defines it."""

from __future__ import annotations

import sys
from functools import cache

import regex

from bpe_core.text.scripts import SCRIPT_NAMES

OTHER = "Other"  # a script that is not in the list


@cache
def script_of(character: str) -> str:
    """Return the name of a character's script. Digits and punctuation belong to the script Common.

    >>> script_of("é"), script_of("я"), script_of("東"), script_of("3")
    ('Latin', 'Cyrillic', 'Han', 'Common')
    """
    matched = _scripts().match(character)
    return OTHER if matched is None else str(matched.lastgroup)


@cache
def _scripts() -> regex.Pattern[str]:
    return regex.compile("|".join(rf"(?P<{name}>\p{{Script={name}}})" for name in SCRIPT_NAMES))


@cache
def characters_of_script(script: str) -> int:
    """Return the number of characters of a script in Unicode.

    >>> characters_of_script("Thai")
    86
    """
    if script == OTHER:
        return 0
    return len(regex.findall(rf"\p{{Script={script}}}", _all_characters()))


@cache
def _all_characters() -> str:
    surrogates = range(0xD800, 0xE000)
    return "".join(chr(code) for code in range(sys.maxunicode + 1) if code not in surrogates)
