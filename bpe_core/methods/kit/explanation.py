"""Classes for the explanation of boundaries, and the explanations for methods that split each word separately."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Protocol

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.methods.kit.merge_tree import Piece
from bpe_core.segmenting.cutting import Allowed, Cutting, Part
from bpe_core.segmenting.segmentation import NO_TOKEN, Segmentation
from bpe_core.segmenting.word_tokens import WordCutter, different_cuts
from bpe_core.support.arrays import Int64s

NO_TREES = "Merge trees are only for tokenizers that split words by merges. This tokenizer does not."
UNKNOWN = ("stuck", "too long", "unknown")  # kinds of explanations at bytes without a token


@dataclass(frozen=True)
class ShownToken:
    text: str
    number: str = ""  # for example the score of the token


@dataclass(frozen=True)
class Way:
    """A row of tokens with a title. It shows, for example, one way to split a word."""

    title: str
    pieces: tuple[ShownToken, ...]
    total: str = ""  # the sum of the tokens' numbers
    step: int | None = None  # the number of steps that the window goes to at a click


@dataclass(frozen=True)
class Explanation:
    kind: str
    is_cut: bool
    sentence: str
    steps: tuple[int, ...] = ()  # the steps in the sentence, from 1, to go to at a click
    ways: tuple[Way, ...] = ()


class Corpus(Protocol):
    """The words that a history was learned from, together with this history."""

    @property
    def words(self) -> WordTable: ...

    @property
    def history(self) -> History: ...


class NoTree(BpeError):
    """An error that is raised if there is no word with a merge tree at an offset."""


class ExplainedWord(Protocol):
    """A word of a text, with its tokens after each step."""

    @property
    def symbols(self) -> Sequence[int]:
        """Return the word's tokens before the first step."""

    @property
    def falls_apart(self) -> bool:
        """Return whether a step may drop a token of the word and so split the token again."""

    def byte_at(self, place: int) -> int:
        """Return the offset in the text at which the symbol with the index `place` begins.

        For the index after the last symbol, return the offset of the word's end.
        """

    def explanation(self, place: int, at: int) -> Explanation:
        """Explain why, after `at` steps, the word is or is not split before the symbol with the index `place`."""

    def pieces(self, at: int) -> list[Piece]:
        """Return every token that the word had up to step `at`. The parts of a token come before the token."""

    def tokens(self, at: int) -> list[Piece]:
        """Return the tokens of the word after `at` steps."""


class ExplainedText(ABC):
    """A text that is split by a history, with the reason for each boundary and the steps of each word."""

    @abstractmethod
    def explanation_at(self, byte: int, at: int) -> Explanation:
        """Explain why, after `at` steps, the text is or is not split before this byte."""

    def word_at(self, byte: int, at: int) -> ExplainedWord:
        """Return the word at a byte. Raise `NoTree` if the word has no merge tree."""
        raise NoTree(NO_TREES)

    def encoding(self, at: int) -> Iterator[Way]:
        """Yield the tokens of each word at first, and after each of the first `at` steps that changes them.

        Yield nothing if the method already shows these steps in its explanation of a boundary.
        """
        yield from ()


# --- Word by word ---------------------------------------------------------------------------

Elsewhere = Literal["pattern", "special", "dropped", "edge"]

ELSEWHERE: dict[str, str] = {
    "pattern": "Two words meet here, and each word is split separately.",
    "special": "A special token is here. Special tokens are never split.",
    "dropped": "These bytes are in no word.",
    "edge": "The text begins or ends here.",
}


@dataclass(frozen=True, eq=False)
class TextWord:
    text: str  # normalized
    origins: Int64s  # for each of its bytes and its end, the offset in the given text

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
        """Return the word in which the boundary before this byte lies.

        If the boundary is not inside a word, return the reason, such as "edge" for the ends of the text.
        """
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


class WordReasons(ExplainedText):
    """The explanations for a text that a method splits word by word."""

    def __init__(self, text: str, history: History, cutting: Cutting, allowed: Allowed, cut: WordCutter) -> None:
        self.history = history
        self._words = TextWords(text, cutting, allowed)
        self._cut = cut
        self._known_ways: dict[int, tuple[Way, ...]] = {}  # by the offset of the word

    @cached_property
    def texts(self) -> list[str]:
        return TokenTexts.of(self.history).text

    def explanation_at(self, byte: int, at: int) -> Explanation:
        """Explain a boundary, and add the tokens of the word after each step that changes them."""
        word = self._words.around(byte)
        explanation = (
            self.in_word(word, byte, at) if isinstance(word, TextWord) else Explanation(word, True, ELSEWHERE[word])
        )
        at_byte = self._words.at(byte)
        start = -1 if at_byte is None else int(at_byte.origins[0])
        if start not in self._known_ways:
            self._known_ways[start] = self._changes_as_ways(byte)
        return replace(explanation, ways=(*explanation.ways, *self._known_ways[start]))

    @abstractmethod
    def in_word(self, word: TextWord, byte: int, at: int) -> Explanation:
        """Explain a boundary inside a word."""

    def changes(self, byte: int) -> list[tuple[int, list[int]]]:
        """Return the steps that change the tokens of the word at the offset `byte`, each with the word's new tokens."""
        word = self._words.at(byte)
        return [] if word is None else [*different_cuts(word.text.encode(), self._cut, len(self.history))]

    def _changes_as_ways(self, byte: int) -> tuple[Way, ...]:
        return tuple(
            Way(f"after {step:,}" if step else "at first", tuple(ShownToken(self.texts[id]) for id in ids), step=step)
            for step, ids in self.changes(byte)
        )


class ByTokens(ExplainedText):
    """The explanations for a method that gives no reasons. They name the tokens on both sides of a boundary."""

    def __init__(self, segmentation: Segmentation, history: History) -> None:
        self._segmentation = segmentation
        self._texts = TokenTexts.of(history).text

    def explanation_at(self, byte: int, at: int) -> Explanation:
        if not 0 < byte < len(self._segmentation.data):
            return Explanation("edge", True, ELSEWHERE["edge"])
        tokens = self._segmentation.tokens_between(byte - 1, byte + 1, at)
        known = [f"“{self._texts[id]}”" for id in tokens.ids.tolist() if id != NO_TOKEN]
        if len(tokens) == 1 and known:
            return Explanation("joined", False, f"The text is not split here: {known[0]} is one token.")
        if len(known) == 2:
            return Explanation("tokens", True, f"The tokens {known[0]} and {known[1]} meet here.")
        return Explanation("dropped", True, ELSEWHERE["dropped"])
