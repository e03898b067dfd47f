"""A normalized text becomes words by an expression: the plain path, and the only one where there is no table.

>>> from bpe_core.recipe import Recipe
>>> list(split_words("It's 12 o'clock", Recipe.preset("gpt2")))
['It', "'s", ' 12', ' o', "'", 'clock']
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from bpe_core.errors import PatternError
from bpe_core.recipe import Recipe
from bpe_core.text.older_unicode import without_later
from bpe_core.text.patterns import NAMED_PATTERNS, compile_custom, in_ascii
from bpe_core.text.specials import parts_of

if TYPE_CHECKING:
    import regex

    from bpe_core.text.preparation.preparing import Preparing

PATIENCE = 3.0  # seconds of computing without a result, before a pattern counts as catastrophic
PATIENT_BYTES = 20_000_000  # one more second for each of these: a rare match far away is no catastrophe
MATCHES_A_ROUND = 1_000
SHORT = 100_000  # characters of a text that is split at once, which takes half the time
SHOWN = 60  # characters of an offending text


def split_words(text: str, recipe: Recipe) -> Iterator[str]:
    """The words of one normalized document, in order."""
    return Splitter(recipe).words(text)


def _steps_of(recipe: Recipe) -> Preparing:
    from bpe_core.text.preparation.preparing import preparing  # loads all steps there are, which few recipes have

    return preparing(recipe.preparation)


class Splitter:
    """Splits document after document by one recipe, and knows whether its pattern ever matched."""

    def __init__(self, recipe: Recipe, *, patience: float = PATIENCE) -> None:
        self._recipe = recipe
        self._patience = patience
        self._steps = _steps_of(recipe) if recipe.splits_by_steps else None
        self._is_custom = recipe.pattern not in NAMED_PATTERNS
        self._custom = compile_custom(recipe.custom_pattern) if self._is_custom else None
        self._has_matched = False
        self._has_seen_text = False

    @cached_property
    def _pattern(self) -> regex.Pattern[str]:
        if self._custom is not None:
            return self._custom
        import regex  # takes a while to load, and where there is a table, or only ids, nobody needs it

        return regex.compile(NAMED_PATTERNS[self._recipe.pattern].expression)

    def words(self, text: str) -> Iterator[str]:
        """The words of one normalized document.

        Special tokens are boundaries and belong to no word. With the unit "line", each line is a
        text of its own, its newline included. What a person's own pattern does not match stands as
        words between the matches, so that nothing is lost; matches of no length are ignored. Steps of a file may
        cut inside characters: a byte that is no whole one stands there as Python escapes it.
        """
        split = self._custom_words if self._is_custom else self._named_words
        if self._steps is not None:
            yield from self._words_by_steps(self._steps, text)
            return
        for part, is_special in parts_of(text, self._recipe.special_tokens):
            if is_special:
                continue
            for unit in lines_of(part) if self._recipe.unit == "line" else (part,):
                yield from split(unit)

    def _words_by_steps(self, steps: Preparing, text: str) -> Iterator[str]:
        place = 0
        for part, is_special in parts_of(text, self._recipe.special_tokens):
            if not is_special:
                yield from steps.texts_of_words(part, place)
            place += len(part)

    @property
    def has_matched(self) -> bool:
        return self._has_matched

    def check_it_matched(self) -> None:
        """Call this after all documents: a pattern that never matched is surely not what was meant."""
        if self._has_seen_text and not self._has_matched:
            raise PatternError(
                f"The pattern '{self._recipe.custom_pattern}' matches nothing in this text, so it would never be split."
            )

    def _named_words(self, text: str) -> Iterator[str]:
        # The named patterns take linear time, so they need no clock; without the GIL the window stays alive.
        if text.isascii():
            pattern = in_ascii(NAMED_PATTERNS[self._recipe.pattern].expression)
            return iter(pattern.findall(text)) if len(text) < SHORT else (found[0] for found in pattern.finditer(text))
        if len(text) < SHORT and not self._recipe.older_unicode:
            return iter(self._pattern.findall(text, concurrent=True))
        found = self._pattern.finditer(self._as_known(text), concurrent=True)
        return (text[match.start() : match.end()] for match in found)

    def _as_known(self, text: str) -> str:
        """What the pattern looks at: as many characters, of which some are none where the recipe says so."""
        return without_later(text) if self._recipe.older_unicode else text

    def _custom_words(self, text: str) -> Iterator[str]:
        self._has_seen_text = self._has_seen_text or bool(text)
        end = 0
        for start, stop in self._custom_matches(text):
            if start > end:
                yield text[end:start]
            yield text[start:stop]
            end = stop
        if end < len(text):
            yield text[end:]

    def _custom_matches(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the pattern matches something, in order."""
        end = 0
        while spans := self._next_matches(text, end):
            self._has_matched = True
            yield from spans
            if len(spans) < MATCHES_A_ROUND:
                return
            end = spans[-1][1]

    def _next_matches(self, text: str, end: int) -> list[tuple[int, int]]:
        """The first matches from `end` on. Each round has a clock of its own, which no caller's pause can run down."""
        patience = self._patience + len(text) / PATIENT_BYTES
        spans: list[tuple[int, int]] = []
        text = self._as_known(text)
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
            raise PatternError(self._took_too_long(text[end:], patience)) from error
        except MemoryError as error:  # `regex` itself stops at a gigabyte
            raise PatternError(self._remembers_too_much(text[end:])) from error
        return spans

    def _took_too_long(self, text: str, patience: float) -> str:
        return (
            f"The pattern '{self._recipe.custom_pattern}' took more than {patience:.0f} seconds on the text "
            f"{_beginning(text)!r}. A repetition inside a repetition, such as (a+)+, is the usual cause."
        )

    def _remembers_too_much(self, text: str) -> str:
        return (
            f"The pattern '{self._recipe.custom_pattern}' needs too much memory on the text {_beginning(text)!r}: "
            "for a very long match it remembers at each place what else could have matched. "
            "Write a repetition of a group as possessive, such as (?:a|b)++, or split line by line."
        )


def _beginning(text: str) -> str:
    return text[:SHOWN] + ("…" if len(text) > SHOWN else "")


def lines_of(text: str) -> Iterator[str]:
    """The lines of a text with their newlines; only \\n ends a line.

    >>> list(lines_of("low\\r\\n\\nlower"))
    ['low\\r\\n', '\\n', 'lower']
    """
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end
