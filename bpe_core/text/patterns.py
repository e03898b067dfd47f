"""The named patterns that split texts into words, and the check of a custom pattern.

Merges never cross the end of a word. `bpe_core.text.scanner` turns the expression of a pattern into a table. The table
always splits at the same places as `regex`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_core.errors import PatternError, RecipeError
from bpe_core.support.plugins import Registry
from bpe_core.text.older_unicode import FORMER_PUNCTUATION, LATER_PUNCTUATION, PUNCTUATION_MARKS

if TYPE_CHECKING:
    import regex

# The blocks of Chinese characters that tokenizers sets apart for BERT; in BERT itself one block begins at 2B820.
IDEOGRAPHS = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f"
)

_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_MARKS = r"\p{P}$+<=>^`|~"
_SMALL, _CAPITAL = (rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}{letters}" for letters in (f"*{_LOWER}+", f"+{_LOWER}*"))
_WORD = f"{_SMALL}{_CONTRACTION}|{_CAPITAL}{_CONTRACTION}"
_NO_WORD = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"


# The text that superwords never hold: digits, several signs in a row, and all blanks but the last before a word
NO_SUPERWORD = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"


@dataclass(frozen=True)
class NamedPattern:
    expression: str  # for the `regex` package
    explanation: str
    drops_whitespace: bool = False  # blanks between words belong to no word


_OWN = {
    "gpt2": NamedPattern(
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        "Letters, digits or other signs, each with one leading space. The endings of English contractions, such as "
        "'s, are separate words.",
    ),
    "cl100k": NamedPattern(
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        "Like GPT-2, with digits in groups of three and one sign allowed before a word.",
    ),
    "o200k": NamedPattern(
        f"{_WORD}|{_NO_WORD}",
        "Like cl100k, but a capital letter after a small letter begins a new word. Contractions stay with their word.",
    ),
    "o200k-apart": NamedPattern(
        f"{_SMALL}|{_CAPITAL}|{_NO_WORD}",
        "Like o200k, but contractions are separate words.",
    ),
    "english": NamedPattern(
        r"'s|'t|'re|'ve|'m|'ll|'d|\s?[A-Za-z]+|\s?\d+|\s?[^A-Za-z\d\s]+|\s+",
        "ASCII letters, digits or other signs, each with one leading space.",
    ),
    "whitespace": NamedPattern(r"\S+", "The text between white space. White space is dropped.", drops_whitespace=True),
    "bert": NamedPattern(
        rf"[{IDEOGRAPHS}]|{PUNCTUATION_MARKS}"
        rf"|(?:[^\s{_MARKS}{IDEOGRAPHS}{FORMER_PUNCTUATION}]|[{LATER_PUNCTUATION}])+",
        (
            "The text between white space, with each punctuation mark and Chinese character separate. White "
            "space is dropped."
        ),
        drops_whitespace=True,
    ),
    "superwords": NamedPattern(
        rf"{NO_SUPERWORD}|(?:\p{{L}}|[^\S ]| ?[^\s\p{{L}}\p{{N}}](?![^\s\p{{L}}\p{{N}}])| (?=[\p{{L}}\p{{N}}]))+",
        "Runs of words with the spaces, single signs and line ends between them. All other text is split separately.",
    ),
    "word-runs": NamedPattern(
        f"(?:{_WORD})+|{_NO_WORD}",
        "Like o200k, but neighbouring words with letters stay together. Digits and signs end such a run of words.",
    ),
    "none": NamedPattern(r"(?s:.+)", "The text is not split: the whole text is one sequence."),
}


def _check(name: str, pattern: NamedPattern) -> None:
    if not isinstance(pattern, NamedPattern) or pattern.drops_whitespace:
        raise PatternError("a pattern must be a NamedPattern that drops no white space")
    compile_custom(pattern.expression)


NAMED_PATTERNS = Registry("patterns", _OWN, _check)


# Patterns that a recipe keeps as a custom expression: no table of the scanner can look ahead as far as they do.
SPELLED_OUT = {
    "digits-right": NamedPattern(
        _OWN["cl100k"].expression.replace(r"\p{N}{1,3}+", r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"),
        "Like cl100k, but digits are in groups of three from the right, as people write numbers: 1 234 567.",
    ),
}


# An expression that finds the same words but leaves numbers whole, so that a table exists; see `counting.borders`.
WHOLE_NUMBERS = {SPELLED_OUT["digits-right"].expression: _OWN["cl100k"].expression.replace(r"\p{N}{1,3}+", r"\p{N}++")}


def stored_pattern(pattern: str, custom: str) -> tuple[str, str]:
    """Return the name and the custom expression that a recipe stores for a pattern.

    If the pattern comes from a plug-in or is listed in `SPELLED_OUT`, the recipe stores its expression under the name
    "custom". So files can be read without the plug-in. Raise RecipeError if the name is unknown. Raise PatternError if
    the custom expression is missing or does not compile.
    """
    if pattern in SPELLED_OUT:
        custom = custom or SPELLED_OUT[pattern].expression
        pattern = "custom"
    elif pattern not in (*_OWN, "custom") and pattern in NAMED_PATTERNS:
        custom = custom or NAMED_PATTERNS[pattern].expression
        pattern = "custom"
    if pattern == "custom":
        if not custom:
            raise PatternError("Write the regular expression that splits the text into words.")
        compile_custom(custom)
    elif pattern not in NAMED_PATTERNS:
        raise RecipeError(f"There is no pattern {pattern!r}; the patterns are {', '.join(NAMED_PATTERNS)} and custom.")
    elif custom:
        raise RecipeError(
            f"The recipe names the pattern {pattern!r} and also holds a custom pattern; keep one of them."
        )
    return pattern, custom


def compile_custom(custom: str) -> regex.Pattern[str]:
    """Compile a custom expression.

    Raise PatternError if the expression is not valid, is too large, or matches backwards. If a mistake has a known
    position, the message shows it.
    """
    import regex  # takes a while to load

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


# The size of an expression once it is compiled, known before. `regex` writes out what must be repeated: `(a{9}){9}` as
# 81 copies, `(?:a+)+` as four. A few levels of that fill any memory. So sizes are multiplied for nested repetitions,
# and added for parts side by side.

LONGEST = 10_000  # characters; the time to compile many groups grows with the square of their number
LARGEST = 200_000  # parts after writing out: at most half a second and 110 MB, as measured

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
# With comments, nested sets or ignored blanks, groups cannot be recognized with certainty.
_UNCLEAR = re.compile(r"\(\?[A-Za-z0-9]*[xV]|\(\?\#|\[:")
_ANY_COUNT = re.compile(r"\{(?P<least>[\s0-9]*)(?P<comment>\#)?|[)}](?:\s|\#[^\n]*\n)*\+")


def is_too_large(expression: str) -> bool:
    """Return whether compiling the pattern would take too much time or memory."""
    return len(expression) > LONGEST or size_written_out(expression) > LARGEST


def size_written_out(expression: str) -> float:
    """Return the size of an expression after each repetition is written out, as a number of parts.

    If the size cannot be determined, the function returns an upper limit.

    >>> size_written_out("abc"), size_written_out("a{9}"), size_written_out("(?:ab){9}c{0,9}")
    (3, 10, 41)
    """
    if _UNCLEAR.search(expression):
        return _size_limit(expression)
    outer: list[int] = []  # the sizes before each open group
    size = last = 0  # the size of the sequence without its last part, and of that part
    for part in _PART.finditer(expression):
        if part["open"]:
            outer.append(size + last)
            size = last = 0
        elif part["close"]:
            last += size + 1
            size = outer.pop() if outer else 0
        elif part["count"]:
            last *= _copies(part)
        elif part[0] in "{[":  # perhaps an approximate match, which may itself be repeated; or an open set
            return _size_limit(expression)
        else:
            size = size + last
            last = 1
    return sum(outer) + size + last


def _copies(part: re.Match[str]) -> int:
    """Return how many copies of a part there are if its quantifier is written out.

    This is one copy for each required match, and one more copy for the matches that may follow. The quantifier `{1}`
    needs only one copy.
    """
    least = {"?": 0, "*": 0, "+": 1}.get(part["count"])
    if least is None:
        least = _number(part["least"])
        if least == 1 and not part["range"]:
            return 1
    return least + 1


def _size_limit(expression: str) -> float:
    """Return an upper limit for the size of an expression.

    The limit is computed as if all repetitions were nested.
    """
    copies = [len(expression)]
    for count in _ANY_COUNT.finditer(expression):
        if count["comment"]:
            return math.inf
        copies.append(2 if count["least"] is None else _number("".join(count["least"].split())) + 1)
    return math.prod(copies)


def _number(digits: str) -> int:
    return int(digits[:19] or 0)
