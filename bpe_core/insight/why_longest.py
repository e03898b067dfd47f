"""Why is this text cut here, where the longest token that fits is taken?

Inside a word there are few answers:

    longest     the token before is the longest that fits from its start; every longer one is not there, or not yet
    joined      no cut: a token covers the place
    stuck       nothing fits at some place of the word, so the whole of it is unknown
    too long    the word is longer than the recipe allows, and unknown for that

and elsewhere:

    pattern     words meet here, and each is cut by itself
    special     a special token stands here
    dropped     what stands here belongs to no word
    edge        the text begins or ends here

    >>> from bpe_core.counting.words import WordTable
    >>> from bpe_core.recipes.recipe import Recipe
    >>> from bpe_core.reference.wordpiece import train
    >>> words = WordTable.from_counts({"play": 9, "playing": 5, "sing": 4})
    >>> history = train(words, Recipe.preset("wordpiece", wordpiece_rule="count"))
    >>> why = WhyLongest("playing", history)
    >>> at = next(step.step for step in history if why.texts[step.id] == "play")
    >>> print(why.sentence(why.at_byte(4, at)))
    “play” is the longest token that fits here; “playi” is not in the vocabulary. “playing” is there from step 6 on.
    >>> why.at_byte(4, len(history)).kind
    'joined'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted
from bpe_core.insight.reasons import ELSEWHERE, UNKNOWN, Elsewhere, Explain, Explanation, TextWord, WordReasons
from bpe_core.segmenting.cutting import Allowed, Cutting
from bpe_core.segmenting.word_pieces import LongestPieces
from bpe_core.segmenting.word_tokens import ALWAYS

Kind = Literal["longest", "joined", "stuck", "too long"] | Elsewhere


@dataclass(frozen=True)
class Reason:
    """Why a text is cut at a place after some number of steps, or that it is not."""

    kind: Kind
    token: int | None = None  # the one before the cut, or the one that covers the place
    longer: str = ""  # the text of that token and one character more
    where: str = ""  # the text at which nothing fits
    later: int | None = None  # the longer token that comes first
    since: int | None = None  # after so many steps that one, or the one that covers the place, exists

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps mentioned (1 is the first), to travel to."""
        return (self.since,) if self.since else ()


class WhyLongest(WordReasons):
    """Answers for one text."""

    def __init__(self, text: str, history: History, *, allowed_special: Allowed = ()) -> None:
        self._pieces = LongestPieces(history)
        super().__init__(text, history, Cutting(history.recipe), allowed_special, self._pieces.cut)

    def at_byte(self, byte: int, at: int) -> Reason:
        """Why the text is cut before this byte after so many steps, or that it is not."""
        word = self._words.around(byte)
        return self._in_word(word, byte, at) if isinstance(word, TextWord) else Reason(word)

    def sentence(self, reason: Reason) -> str:
        """The reason, for a person."""
        token = "" if reason.token is None else quoted(self.texts[reason.token])
        later = ""
        if reason.later is not None:
            later = f" {quoted(self.texts[reason.later])} is there from step {reason.since:,} on."
        if reason.kind == "longest":
            longer = quoted(reason.longer)
            return f"{token} is the longest token that fits here; {longer} is not in the vocabulary.{later}"
        if reason.kind == "joined":
            there = "from the beginning" if not reason.since else f"since step {reason.since:,}"
            return f"The text is not cut here: {token}, which is there {there}, is the longest token that fits."
        if reason.kind == "stuck":
            return f"No token fits at {quoted(reason.where)}, so the whole word is {token}.{later}"
        if reason.kind == "too long":
            most = self.history.recipe.longest_word
            return f"The word has more than {most:,} characters, so the whole of it is {token}."
        return ELSEWHERE[reason.kind]

    # --------------------------------------------------------------------------------------

    def _in_word(self, word: TextWord, byte: int, at: int) -> Reason:
        cut = self._pieces.cut(word.text.encode(), at)
        if len(word.text) > self.history.recipe.longest_word:
            return Reason("too long", token=cut.ids[0])
        start = 0
        for id, end in zip(cut.ids, cut.ends, strict=True):
            if id == self._pieces.unknown:
                return self._stuck(word, at)
            if byte < word.origins[end]:
                return Reason("joined", token=id, since=self._birth(word, start, end))
            if byte == word.origins[end]:
                return self._longest(word, start, end, id, at)
            start = end
        raise AssertionError("the tokens of a word cover it")

    def _longest(self, word: TextWord, start: int, end: int, id: int, at: int) -> Reason:
        first, stop = word.characters(start), word.characters(end)
        later, since = self._first_longer(word, first, stop, at)
        mark = self.history.alphabet.continuing.decode() if start else ""
        return Reason("longest", id, longer=mark + word.text[first : stop + 1], later=later, since=since)

    def _first_longer(self, word: TextWord, first: int, stop: int, at: int) -> tuple[int | None, int | None]:
        """Of the tokens from there that are longer, the one that comes first; and when."""
        births = self._pieces.continuing if first else self._pieces.starting
        texts = (word.text[first:end] for end in range(stop + 1, len(word.text) + 1))
        found = [(birth, id) for id, birth in (births[text] for text in texts if text in births) if birth > at]
        return (found and min(found)[1]) or None, (found and min(found)[0]) or None

    def _stuck(self, word: TextWord, at: int) -> Reason:
        """Where nothing fits any more."""
        place, births = 0, self._pieces.starting
        while True:
            ends = range(len(word.text), place, -1)
            fitting = (end for end in ends if births.get(word.text[place:end], (0, ALWAYS))[1] <= at)
            end = next(fitting, None)
            if end is None:
                break
            place, births = end, self._pieces.continuing
        later, since = self._first_longer(word, place, place, at)
        return Reason("stuck", self._pieces.unknown, where=word.text[place:], later=later, since=since)

    def _birth(self, word: TextWord, start: int, end: int) -> int:
        births = self._pieces.continuing if start else self._pieces.starting
        return births[word.text[word.characters(start) : word.characters(end)]][1]


def explain(text: str, history: History, allowed: Allowed) -> Explain:
    """The reasons as explanations, with the tokens of the word after each step that changed them."""
    why = WhyLongest(text, history, allowed_special=allowed)

    def at_byte(byte: int, at: int) -> Explanation:
        reason = why.at_byte(byte, at)
        is_cut = reason.kind not in ("joined", *UNKNOWN)
        return Explanation(reason.kind, is_cut, why.sentence(reason), reason.steps, why.changes_as_ways(byte))

    return at_byte
