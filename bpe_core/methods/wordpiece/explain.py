"""The reasons for boundaries of a method that chooses the longest token that fits.

A boundary inside a word has one of these reasons:

    longest     the token before is the longest that fits; every longer token is missing or is learned later
    joined      no split: a token covers the boundary
    stuck       no token fits somewhere in the word, so the whole word is unknown
    too long    the word is longer than the recipe allows, and therefore unknown

    >>> from bpe_core.counting.words import WordTable
    >>> from bpe_core.recipes.recipe import Recipe
    >>> from bpe_core.methods.wordpiece.reference import train
    >>> words = WordTable.from_counts({"play": 9, "playing": 5, "sing": 4})
    >>> history = train(words, Recipe.preset("wordpiece", wordpiece_rule="count"))
    >>> print(WhyLongest("playing", history).explanation_at(4, 5).sentence)
    “play” is the longest token that fits here; “playi” is not in the vocabulary. “playing” is learned at step 6.
"""

from __future__ import annotations

from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted
from bpe_core.insight.ways import Ways
from bpe_core.methods.kit.explanation import Explanation, TextWord, WordReasons
from bpe_core.methods.wordpiece.cut import LongestPieces
from bpe_core.segmenting.cutting import Allowed, Cutting
from bpe_core.support.wording import count_text


class ByteWord(TextWord):
    """A word in which offsets are counted in bytes instead of characters."""

    def characters(self, byte: int) -> int:
        return byte


class WhyLongest(WordReasons):
    def __init__(self, text: str, history: History, allowed: Allowed = None) -> None:
        self._pieces = LongestPieces(history)
        super().__init__(text, history, Cutting(history.recipe), allowed, self._pieces.cut)

    def in_word(self, word: TextWord, byte: int, at: int) -> Explanation:
        cut = self._pieces.cut(word.text.encode(), at)
        most = self.history.recipe.longest_word
        if self.history.recipe.lists_bytes:
            word = ByteWord(word.text.encode().decode(self._pieces.encoding), word.origins)
        if len(word.text) > most:
            sentence = (
                f"The word has more than {count_text(most, 'character')}, so the whole word is "
                f"{self._quoted(cut.ids[0])}."
            )
            return Explanation("too long", False, sentence)
        start = 0
        for id, end in zip(cut.ids, cut.ends, strict=True):
            if id == self._pieces.unknown:
                return self._stuck(word, at)
            if byte < word.origins[end]:
                return self._joined(id)
            if byte == word.origins[end]:
                return self._longest(word, start, end, id, at)
            start = end
        raise AssertionError("the tokens of a word cover the whole word")

    def _joined(self, id: int) -> Explanation:
        since = self._pieces.birth(id)
        there = f"since step {since:,}" if since else "from the beginning"
        sentence = (
            f"The text is not split here: {self._quoted(id)}, in the vocabulary {there}, is the longest token that "
            "fits."
        )
        return Explanation("joined", False, sentence, (since,) if since else ())

    def _longest(self, word: TextWord, start: int, end: int, id: int, at: int) -> Explanation:
        first = word.characters(start)
        stop = word.characters(end)
        mark = self.history.alphabet.continuing if start else b""
        longer = quoted(mark + word.text[first : stop + 1].encode(self._pieces.encoding))
        later, steps = self._first_longer(word, first, stop, at)
        sentence = f"{self._quoted(id)} is the longest token that fits here; {longer} is not in the vocabulary.{later}"
        return Explanation("longest", True, sentence, steps)

    def _stuck(self, word: TextWord, at: int) -> Explanation:
        place = 0
        ids = self._pieces.starting
        birth = self._pieces.birth
        while True:
            texts = ((end, word.text[place:end]) for end in range(len(word.text), place, -1))
            end = next((end for end, text in texts if text in ids and birth(ids[text]) <= at), None)
            if end is None:
                break
            place = end
            ids = self._pieces.continuing
        later, steps = self._first_longer(word, place, place, at)
        unknown = self._quoted(self._pieces.unknown)
        sentence = f"No token fits at {quoted(word.text[place:])}, so the whole word is {unknown}.{later}"
        return Explanation("stuck", False, sentence, steps)

    def _first_longer(self, word: TextWord, first: int, stop: int, at: int) -> tuple[str, tuple[int, ...]]:
        ids = self._pieces.continuing if first else self._pieces.starting
        birth = self._pieces.birth
        texts = (word.text[first:end] for end in range(stop + 1, len(word.text) + 1))
        longer = [(birth(ids[text]), ids[text]) for text in texts if text in ids and birth(ids[text]) > at]
        if not longer:
            return "", ()
        since, later = min(longer)
        return f" {self._quoted(later)} is learned at step {since:,}.", (since,)

    def _quoted(self, id: int) -> str:
        return quoted(self.texts[id])


class WholeWordWays(Ways):
    """The ways to split a word. The whole word becomes one unknown token if any part of it is unknown."""

    def symbols(self, word: bytes) -> list[int]:
        if self.unknown is not None and self.own(word) == (self.unknown,):
            return [self.unknown]
        return super().symbols(word)
