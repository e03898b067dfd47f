"""The splitting of a normalized text into words with the package `regex`.

The compiled scanner is faster, and must give the same words as this module. It needs a table that is made from the
pattern. If this table cannot be made for a pattern, only this module can split texts.

>>> from bpe_core.recipes.recipe import Recipe
>>> list(split_words("It's 12 o'clock", Recipe.preset("gpt2")))
['It', "'s", ' 12', ' o', "'", 'clock']
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import chain
from typing import TYPE_CHECKING

from bpe_core.errors import PatternError
from bpe_core.recipes.parts import CUSTOM_PATTERN
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.older_unicode import characters_treated_differently, replace_newer
from bpe_core.text.patterns import NAMED_PATTERNS, WHOLE_NUMBERS, compile_custom
from bpe_core.text.specials import parts_of

if TYPE_CHECKING:  # imported late: few recipes need these, and ASCII texts need no `regex` with named patterns
    import regex

    from bpe_core.text.preparation.steps import WordSplitter

PATIENCE = 3.0  # seconds without a result before a pattern counts as catastrophic
PATIENT_BYTES = 20_000_000  # characters that allow one more second, as a match may be rare
MATCHES_A_ROUND = 1_000
SHORT = 100_000  # characters of a text that is split in one call, in half the time
SHOWN = 60  # characters of a text quoted in an error


def split_words(text: str, recipe: Recipe) -> Iterator[str]:
    return Splitter(recipe).words(text)


class Splitter:
    """An object that splits documents as a recipe says. It records whether the pattern has matched in any document."""

    def __init__(self, recipe: Recipe, *, specials: tuple[str, ...] | None = None, patience: float = PATIENCE) -> None:
        """Prepare a splitter for a recipe. `specials` replaces the special tokens of the recipe."""
        self._recipe = recipe
        self._specials = recipe.special_tokens if specials is None else specials
        self._patience = patience
        self._steps = _steps(recipe) if recipe.splits_by_steps else None
        named = None if recipe.pattern == CUSTOM_PATTERN else NAMED_PATTERNS[recipe.pattern]
        self._is_custom = named is None
        self._custom = compile_custom(recipe.custom_pattern) if named is None else None
        self._expression = "" if named is None else named.expression
        self._is_one_unit = not (self._specials or self._steps or recipe.unit == "line")
        self.has_matched = False
        self._has_seen_text = False

    @cached_property
    def _pattern(self) -> regex.Pattern[str]:
        if self._custom is not None:
            return self._custom
        import regex

        return regex.compile(self._expression)

    @cached_property
    def _unknown_characters(self) -> frozenset[str]:
        """Return the characters that the pattern does not know, because it uses an older version of Unicode."""
        return characters_treated_differently() if self._recipe.older_unicode else frozenset()

    @cached_property
    def _pattern_in_ascii(self) -> re.Pattern[str]:
        return compiled_for_ascii(self._expression)

    def words(self, text: str) -> Iterator[str]:
        """Split one normalized document into words.

        Special tokens belong to no word. With the unit "line", each line with its newline is a separate text. Text that
        a custom pattern does not match also becomes words. If the operations of a tokenizer file split between the
        bytes of a character, these bytes are escaped.
        """
        if not self._is_one_unit:
            return self._words_of_units(text)
        return self._custom_words(text) if self._is_custom else self._named_words(text)

    def _words_of_units(self, text: str) -> Iterator[str]:
        place = 0
        words_of = self._custom_words if self._is_custom else self._named_words
        for part, is_special in parts_of(text, self._specials) if self._specials or not text else ((text, False),):
            if self._steps is not None and not is_special:
                yield from self._steps.texts_of_words(part, place)
            elif not is_special:
                for unit in lines_of(part) if self._recipe.unit == "line" else (part,):
                    yield from words_of(unit)
            place += len(part)

    def check_has_matched(self) -> None:
        """Raise PatternError if the pattern has matched nowhere. Such a pattern is probably a mistake.

        Call this after all documents.
        """
        if self._has_seen_text and not self.has_matched:
            raise PatternError(
                f"The pattern '{self._recipe.custom_pattern}' matches nothing in this text, so it splits nothing; "
                "choose another pattern."
            )

    def _named_words(self, text: str) -> Iterator[str]:
        # The named patterns take linear time, so they need no time limit; the window stays usable without the GIL.
        if text.isascii():
            pattern = self._pattern_in_ascii
            return iter(pattern.findall(text)) if len(text) < SHORT else (match[0] for match in pattern.finditer(text))
        if len(text) < SHORT and self._unknown_characters.isdisjoint(text):
            return iter(self._pattern.findall(text, concurrent=True))
        matches = self._pattern.finditer(self._in_older_unicode(text), concurrent=True)
        return (text[match.start() : match.end()] for match in matches)

    def _in_older_unicode(self, text: str) -> str:
        """Replace the characters that are unknown in the older version of Unicode that a pattern uses.

        If the pattern uses the current version, return the text unchanged.
        """
        if not self._recipe.older_unicode or text.isascii():
            return text
        return replace_newer(text, self._pattern.pattern)

    def _custom_words(self, text: str) -> Iterator[str]:
        self._has_seen_text = self._has_seen_text or bool(text)
        words, end = self._next_words(text, 0)
        return iter(words) if end == len(text) else chain(words, self._further_words(text, end))

    def _further_words(self, text: str, end: int) -> Iterator[str]:
        while end < len(text):
            words, end = self._next_words(text, end)
            yield from words

    def _next_words(self, text: str, end: int) -> tuple[list[str], int]:
        """Return the next words after the offset `end`, and the end of the last of these words."""
        words: list[str] = []
        spans = self._next_matches(text, end)
        for start, stop in spans:
            if start > end:
                words.append(text[end:start])
            words.append(text[start:stop])
            end = stop
        self.has_matched = self.has_matched or bool(spans)
        if len(spans) < MATCHES_A_ROUND and end < len(text):
            words.append(text[end:])
            end = len(text)
        return words, end

    def _next_matches(self, text: str, end: int) -> list[tuple[int, int]]:
        """Return the next matches from the offset `end` on, at most `MATCHES_A_ROUND`. Empty matches are left out.

        Each call has its own time limit, so a caller may pause between two calls.
        """
        patience = self._patience + len(text) / PATIENT_BYTES
        spans: list[tuple[int, int]] = []
        text = self._in_older_unicode(text)
        try:
            for match in self._pattern.finditer(text, end, concurrent=True, timeout=patience):
                start, stop = match.span()
                if start < end or stop < start:
                    raise PatternError(
                        f"The pattern '{self._recipe.custom_pattern}' moves backwards in the text; "
                        "do not use \\K inside a lookahead or lookbehind."
                    )
                if stop > start:
                    spans.append((start, stop))
                    end = stop
                if len(spans) == MATCHES_A_ROUND:
                    break
        except TimeoutError as error:
            raise PatternError(
                f"The pattern '{self._recipe.custom_pattern}' took more than {patience:.0f} seconds on the text "
                f"{_beginning(text[end:])!r}. A repetition inside a repetition, such as (a+)+, is the usual cause."
            ) from error
        except MemoryError as error:  # `regex` stops at a gigabyte
            raise PatternError(
                f"The pattern '{self._recipe.custom_pattern}' needs too much memory on the text "
                f"{_beginning(text[end:])!r}, because of a very long match. Make the repetition of a group possessive, "
                "such as (?:a|b)++, or split line by line."
            ) from error
        return spans


def _steps(recipe: Recipe) -> WordSplitter:
    from bpe_core.text.preparation.steps import preparing

    return preparing(recipe.preparation, shows_bytes=recipe.shows_bytes)


def _beginning(text: str) -> str:
    return text[:SHOWN] + ("…" if len(text) > SHOWN else "")


def lines_of(text: str) -> Iterator[str]:
    r"""Yield the lines of a text with their newlines. Only the character \n ends a line."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def part_without_table(recipe: Recipe) -> str:
    """Return the part of a custom pattern that no table can express. Return an empty string if there is no such part.

    Only `regex` can match such a pattern, and it splits up to a hundred times slower.
    """
    if recipe.pattern != "custom" or recipe.splits_by_steps:
        return ""
    from bpe_core.text.scanner import why_no_table

    return why_no_table(WHOLE_NUMBERS.get(recipe.custom_pattern, recipe.custom_pattern), recipe.unit)


# The ASCII characters of the classes in named patterns
_IN_ASCII = {"L": "A-Za-z", "Lu": "A-Z", "Ll": "a-z", "N": "0-9", "P": r"!-#%-*,-/:;?@\[-\]_{}"}
_IN_ASCII |= dict.fromkeys(("Lt", "Lm", "Lo", "M"), "")


@cache
def compiled_for_ascii(expression: str) -> re.Pattern[str]:
    """Compile an expression for ASCII texts with the module `re`, which needs half the time of `regex`.

    `expression` is a named pattern or a part of a named pattern.

    >>> compiled_for_ascii(NAMED_PATTERNS["gpt2"].expression).findall("It's 12 o'clock")
    ['It', "'s", ' 12', ' o', "'", 'clock']
    """

    def known(match: re.Match[str]) -> str:
        if match["alone"]:
            return f"[{_IN_ASCII[match['alone']]}]"
        return re.sub(r"\\p\{(\w+)\}", lambda letters: _IN_ASCII[letters[1]], match[0])

    return re.compile(re.sub(r"\[[^]]*\]|\\p\{(?P<alone>\w+)\}", known, expression), re.ASCII)
