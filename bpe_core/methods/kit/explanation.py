"""The parts of every explanation of a cut, and the answers of methods that cut word by word."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from bpe_core.history.history import History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.segmenting.cutting import Allowed, Cutting, Part
from bpe_core.segmenting.segmentation import NO_TOKEN, Segmentation
from bpe_core.segmenting.word_tokens import WordCutter, different_cuts
from bpe_core.support.arrays import Int64s

UNKNOWN = ("stuck", "too long", "unknown")  # kinds of places at bytes without a token


@dataclass(frozen=True)
class ShownToken:
    text: str
    number: str = ""  # such as what it costs


@dataclass(frozen=True)
class Way:
    """Some tokens in a row, such as one way to cut a word."""

    title: str
    pieces: tuple[ShownToken, ...]
    total: str = ""  # of their numbers
    step: int | None = None  # the number of steps after which it is so, to travel to


@dataclass(frozen=True)
class Explanation:
    kind: str
    is_cut: bool
    sentence: str
    steps: tuple[int, ...] = ()  # steps in the sentence, to travel to; 1 is the first
    ways: tuple[Way, ...] = ()


Explain = Callable[[int, int], Explanation]  # by the byte of the text behind the place, and the number of steps


# --- Word by word ---------------------------------------------------------------------------

Elsewhere = Literal["pattern", "special", "dropped", "edge"]

ELSEWHERE: dict[str, str] = {
    "pattern": "Words meet here, and each word is split by itself.",
    "special": "A special token is here, which is never split.",
    "dropped": "These bytes belong to no word.",
    "edge": "The text begins or ends here.",
}


@dataclass(frozen=True, eq=False)
class TextWord:
    text: str  # normalized
    origins: Int64s  # for each of its bytes, and its end: the byte of the given text

    def characters(self, byte: int) -> int:
        return len(self.text.encode()[:byte].decode())


class TextWords:
    def __init__(self, text: str, cutting: Cutting, allowed_special: Allowed) -> None:
        self._length = len(text.encode())
        self._specials: list[tuple[int, int]] = []
        self.words: list[TextWord] = []
        for part in cutting.parts(text, cutting.allowed(allowed_special)):
            self._enter(part, cutting)

    def at(self, byte: int) -> TextWord | None:
        index = int(np.searchsorted(self._starts, byte, side="right")) - 1
        return self.words[index] if index >= 0 and byte < self.words[index].origins[-1] else None

    def around(self, byte: int) -> TextWord | Elsewhere:
        """Return the word inside which a byte begins, or why there is none."""
        if byte <= 0 or byte >= self._length:
            return "edge"
        if any(start <= byte <= stop for start, stop in self._specials):
            return "special"
        word = self.at(byte)
        if word is not None and byte != word.origins[0]:
            return word
        borders = {int(word.origins[end]) for word in self.words for end in (0, -1)}
        return "pattern" if byte in borders else "dropped"

    def _enter(self, part: Part, cutting: Cutting) -> None:
        if part.special is not None:
            self._specials.append((int(part.origins[0]), int(part.origins[-1])))
            return
        for raw, start in cutting.placed_words(part.text):
            self.words.append(TextWord(raw.decode(errors="replace"), part.origins[start : start + len(raw) + 1]))

    @cached_property
    def _starts(self) -> Int64s:
        return np.array([word.origins[0] for word in self.words], np.int64)


class WordReasons:
    """The answers for one text of a method that cuts every word by itself."""

    def __init__(self, text: str, history: History, cutting: Cutting, allowed: Allowed, cut: WordCutter) -> None:
        self.history = history
        self._words = TextWords(text, cutting, allowed)
        self._cut = cut
        self._known_ways: dict[int, tuple[Way, ...]] = {}  # by where a word begins

    @cached_property
    def texts(self) -> list[str]:
        return TokenTexts.of(self.history).text

    def at_byte(self, byte: int, at: int) -> Explanation:
        """Say why the text is or is not cut before this byte after `at` steps, and how its word was cut when."""
        word = self._words.around(byte)
        found = self.in_word(word, byte, at) if isinstance(word, TextWord) else Explanation(word, True, ELSEWHERE[word])
        at_byte = self._words.at(byte)
        start = -1 if at_byte is None else int(at_byte.origins[0])
        if start not in self._known_ways:
            self._known_ways[start] = self._changes_as_ways(byte)
        return replace(found, ways=(*found.ways, *self._known_ways[start]))

    @abstractmethod
    def in_word(self, word: TextWord, byte: int, at: int) -> Explanation:
        """Explain a place inside a word."""

    def changes(self, byte: int) -> list[tuple[int, list[int]]]:
        """Return the tokens of the word at a byte, by the numbers of steps after which they change."""
        word = self._words.at(byte)
        return [] if word is None else [*different_cuts(word.text.encode(), self._cut, len(self.history))]

    def _changes_as_ways(self, byte: int) -> tuple[Way, ...]:
        return tuple(
            Way(f"after {step:,}" if step else "at first", tuple(ShownToken(self.texts[id]) for id in ids), step=step)
            for step, ids in self.changes(byte)
        )


def by_tokens(segmentation: Segmentation, history: History) -> Explain:
    """Explain places by nothing but the tokens that meet there."""
    texts, length = TokenTexts.of(history).text, len(segmentation.data)

    def at_byte(byte: int, at: int) -> Explanation:
        if not 0 < byte < length:
            return Explanation("edge", True, "The text begins or ends here.")
        found = segmentation.tokens_between(byte - 1, byte + 1, at)
        known = [f"“{texts[id]}”" for id in found.ids.tolist() if id != NO_TOKEN]
        if len(found) == 1 and known:
            return Explanation("joined", False, f"The text is not split here: {known[0]} is one token.")
        if len(known) == 2:
            return Explanation("tokens", True, f"The tokens {known[0]} and {known[1]} meet here.")
        return Explanation("dropped", True, "These bytes belong to no word.")

    return at_byte
