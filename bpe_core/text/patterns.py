"""The named pre-tokenization patterns, and the check of a person's own.

A pattern cuts text into words; merges never cross a cut. `bpe_core.text.scanner` makes of its expression
a table, which is proved to cut where `regex` does.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from bpe_core.errors import PatternError, RecipeError
from bpe_core.records import dataclass
from bpe_core.text.older_unicode import FORMER_PUNCTUATION, LATER_PUNCTUATION, PUNCTUATION_MARKS

if TYPE_CHECKING:
    import regex

# The blocks of Chinese characters as tokenizers sets them apart for BERT, whose own begin one of them at 2B820.
IDEOGRAPHS = tuple(
    range(first, last + 1)
    for first, last in (
        (0x3400, 0x4DBF),
        (0x4E00, 0x9FFF),
        (0xF900, 0xFAFF),
        (0x20000, 0x2A6DF),
        (0x2A700, 0x2B73F),
        (0x2B740, 0x2B81F),
        (0x2B920, 0x2CEAF),
        (0x2F800, 0x2FA1F),
    )
)

_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_IDEOGRAPHS = "".join(f"{chr(block.start)}-{chr(block.stop - 1)}" for block in IDEOGRAPHS)
_MARKS = r"\p{P}$+<=>^`|~"


@dataclass(frozen=True)
class NamedPattern:
    """A pattern that many use."""

    expression: str  # for the `regex` package
    explanation: str
    drops_whitespace: bool = False  # the blanks between words belong to no word


NAMED_PATTERNS: dict[str, NamedPattern] = {
    "gpt2": NamedPattern(
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        "Letters, digits or other signs, each with one leading space; English contractions apart.",
    ),
    "cl100k": NamedPattern(
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        "As GPT-2, with digits in groups of three and one sign allowed before a word.",
    ),
    "o200k": NamedPattern(
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}"
        rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        "As cl100k, cutting where a capital follows small letters; contractions stay with their word.",
    ),
    "english": NamedPattern(
        r"'s|'t|'re|'ve|'m|'ll|'d|\s?[A-Za-z]+|\s?\d+|\s?[^A-Za-z\d\s]+|\s+",
        "ASCII letters, digits or other signs, each with one leading blank.",
    ),
    "whitespace": NamedPattern(
        r"\S+",
        "Whatever stands between blanks; the blanks themselves are dropped.",
        drops_whitespace=True,
    ),
    "bert": NamedPattern(
        rf"[{_IDEOGRAPHS}]|{PUNCTUATION_MARKS}"
        rf"|(?:[^\s{_MARKS}{_IDEOGRAPHS}{FORMER_PUNCTUATION}]|[{LATER_PUNCTUATION}])+",
        "What stands between blanks, each punctuation mark and each Chinese character apart; the blanks are dropped.",
        drops_whitespace=True,
    ),
    "none": NamedPattern(r"(?s:.+)", "No splitting: the whole text is one sequence."),
}


# What the classes that they name hold of ASCII.
_IN_ASCII = {"L": "A-Za-z", "Lu": "A-Z", "Ll": "a-z", "N": "0-9", "P": r"!-#%-*,-/:;?@\[-\]_{}"}
_IN_ASCII |= dict.fromkeys(("Lt", "Lm", "Lo", "M"), "")


@cache
def in_ascii(expression: str) -> re.Pattern[str]:
    """What a named pattern, or a part of one, matches in texts that are ASCII alone.

    The standard library tells that in half the time, and `regex` takes longer to load than most such texts to split.

    >>> in_ascii(NAMED_PATTERNS["gpt2"].expression).findall("It's 12 o'clock")
    ['It', "'s", ' 12', ' o', "'", 'clock']
    """

    def known(found: re.Match[str]) -> str:
        if found["alone"]:
            return f"[{_IN_ASCII[found['alone']]}]"
        return re.sub(r"\\p\{(\w+)\}", lambda one: _IN_ASCII[one[1]], found[0])

    return re.compile(re.sub(r"\[[^]]*\]|\\p\{(?P<alone>\w+)\}", known, expression), re.ASCII)


def check_pattern(pattern: str, custom: str) -> None:
    """Refuse an unknown name, or an own expression that does not compile or matches nothing at all."""
    if pattern in NAMED_PATTERNS:
        if custom:
            raise RecipeError(f"The recipe names the pattern {pattern!r} and gives another one; choose one of them.")
        return
    if pattern != "custom":
        raise RecipeError(f"There is no pattern {pattern!r}; there are {', '.join(NAMED_PATTERNS)} and custom.")
    if not custom:
        raise PatternError("Write the regular expression that splits the text into words.")
    compile_custom(custom)


def compile_custom(custom: str) -> regex.Pattern[str]:
    """The person's own expression, compiled; a sentence that shows the place where it is wrong."""
    import regex  # the named patterns are only told

    from bpe_core.text.pattern_size import is_too_large

    too_large = f"The pattern '{custom[:80]}' is too large or too deeply nested."
    if is_too_large(custom):
        raise PatternError(too_large)
    try:
        compiled = regex.compile(custom)
    except regex.error as error:
        place = "" if error.pos is None else f" at character {error.pos + 1}"
        raise PatternError(f"The pattern '{custom}' is not a valid regular expression{place}: {error.msg}.") from error
    except (RecursionError, OverflowError, MemoryError) as error:
        raise PatternError(too_large) from error
    if compiled.flags & regex.REVERSE:
        raise PatternError(f"The pattern '{custom}' matches from the end backwards; leave out (?r).")
    return compiled
