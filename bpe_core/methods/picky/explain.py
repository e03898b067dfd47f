"""The reasons for the boundaries inside words, for methods that drop tokens.

In such a method, a later step may split a token that an earlier step made.

The reasons are found from the tokens of a word after each step. In a method with superwords, a run of
neighbouring words is treated as one word. Inside a word, a boundary has one of these reasons:

    joined      the word is not split here: a step joins two tokens, perhaps not for the first time
    fell        a step dropped the token that covered the boundary
    later       a later step joins the two tokens that meet here
    missed      a step joins a pair of these tokens, but the two tokens did not meet here at this step
    never       no step joins the two tokens that meet here
    tokens      the word is too long for this explanation
    symbol      the boundary is inside the bytes of one character
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from bpe_core.history.history import NOTHING, History, Pair
from bpe_core.methods.kit.dropping_words import DroppingWords
from bpe_core.methods.kit.explanation import Explanation, NoTree, TextWord, WordReasons
from bpe_core.methods.kit.merge_tree import Piece
from bpe_core.segmenting.cutting import Allowed, Cutting
from bpe_core.segmenting.word_tokens import WordCutter

LONGEST_FOLLOWED = 400  # bytes of a word
NO_WORD = "There is no word at this place of the text. Choose a different place."
TOO_LONG = (
    f"If tokens are dropped, merge trees are drawn only for words of at most {LONGEST_FOLLOWED} bytes, and this word "
    "is longer."
)
Span = tuple[int, int]


@dataclass(frozen=True)
class Event:
    """An effect of a step at a boundary: two tokens are joined there, or a token is split there."""

    step: int
    left: int
    right: int  # NOTHING if the token `left` is split here

    @property
    def joins(self) -> bool:
        return self.right != NOTHING


class WordThroughSteps:
    """A word with its tokens after each step that changes them. Positions in the word are counted in base symbols."""

    def __init__(self, word: bytes, cut: WordCutter, inside: DroppingWords, steps: int) -> None:
        self.starts = inside.starts(word)  # the byte of each symbol, and the end
        self.states: list[tuple[int, list[int]]] = []  # (step, tokens of the word from that step on)
        self.events: dict[int, list[Event]] = {place: [] for place in range(1, len(self.starts) - 1)}
        self._fallen: list[Piece] = []
        self._there: dict[Span, Piece] = {}
        at = 0
        before = dict[Span, int]()
        while at <= steps:
            word_cut = cut(word, at)
            now = dict(zip(pairwise([0, *inside.stops(word_cut.ids)]), word_cut.ids, strict=True))
            if now != before:
                self.states.append((at, list(word_cut.ids)))
                self._note_events(at, before, now)
                self._note_pieces(at, now)
            at = word_cut.until
            before = now

    @property
    def pieces(self) -> list[Piece]:
        """Return all pieces that the word has at any step. A piece comes after the parts that it was made of."""
        return sorted([*self._fallen, *self._there.values()], key=lambda piece: (piece.stop, -piece.start, piece.step))

    def _note_events(self, at: int, before: dict[Span, int], now: dict[Span, int]) -> None:
        old, new = ({stop: (start, stop) for start, stop in spans} for spans in (before, now))
        starts = {start: (start, stop) for start, stop in before}
        for place in (old.keys() - new.keys()) if before else ():
            self.events[place].append(Event(at, before[old[place]], before[starts[place]]))
        for place in (new.keys() - old.keys()) if before else ():
            fallen = next(span for span in before if span[0] < place < span[1])
            self.events[place].append(Event(at, before[fallen], NOTHING))

    def _note_pieces(self, at: int, now: dict[Span, int]) -> None:
        """Record the tokens that a step made or split.

        A token that becomes a part of a larger token stays recorded.
        """
        stops = [stop for _, stop in now]
        starts = [start for start, _ in now]
        for span, piece in list(self._there.items()):
            if starts[bisect_left(stops, span[1])] > span[0]:
                self._fallen.append(replace(piece, until=at))
                del self._there[span]
        for span, id in now.items():
            self._there.setdefault(span, Piece(id, *span, at))


@dataclass(frozen=True)
class WordWithStates:
    """A word of a text, with its tokens after each step that changes them."""

    text: WhyDropping
    word: TextWord
    followed: WordThroughSteps

    @property
    def symbols(self) -> Sequence[int]:
        return self.followed.states[0][1]

    @property
    def falls_apart(self) -> bool:
        return True

    def byte_at(self, place: int) -> int:
        return int(self.word.origins[self.followed.starts[place]])

    def explanation(self, place: int, at: int) -> Explanation:
        return self.text.before_symbol(self.word, place, at)

    def pieces(self, at: int) -> list[Piece]:
        return [piece for piece in self.followed.pieces if piece.step <= at]

    def tokens(self, at: int) -> list[Piece]:
        there = [piece for piece in self.followed.pieces if piece.is_there(at)]
        inside = {place for piece in there for place in range(piece.start + 1, piece.stop)}
        return [piece for piece in there if piece.start not in inside and piece.stop not in inside]


class WhyDropping(WordReasons):
    """The explanations of a text's boundaries, for a method that drops tokens and splits each word separately."""

    def __init__(self, text: str, history: History, allowed: Allowed = None) -> None:
        cut, self._inside = self._cutter_of(history)
        super().__init__(text, history, Cutting(history.recipe), allowed, cut)
        self._known: dict[bytes, WordThroughSteps] = {}

    def _cutter_of(self, history: History) -> tuple[WordCutter, DroppingWords]:
        inside = DroppingWords(history)
        return inside.cut, inside

    def word_at(self, byte: int, at: int) -> WordWithStates:
        word = self._words.at(byte)
        if word is None:
            raise NoTree(NO_WORD)
        if (followed := self.followed(word)) is None:
            raise NoTree(TOO_LONG)
        return WordWithStates(self, word, followed)

    def followed(self, word: TextWord) -> WordThroughSteps | None:
        """Return the word with its tokens after each step that changes them. Return None if the word is too long."""
        raw = word.text.encode()
        if len(raw) > LONGEST_FOLLOWED:
            return None
        if raw not in self._known:
            self._known[raw] = WordThroughSteps(raw, self._cut, self._inside, len(self.history))
        return self._known[raw]

    def changes(self, byte: int) -> list[tuple[int, list[int]]]:
        word = self._words.at(byte)
        followed = None if word is None else self.followed(word)
        return [] if followed is None else followed.states

    def in_word(self, word: TextWord, byte: int, at: int) -> Explanation:
        place = int(np.searchsorted(word.origins, byte))
        starts = self._inside.starts(word.text.encode())
        if word.origins[place] != byte or place not in starts:
            return Explanation("symbol", False, "There is no boundary here: these bytes belong to one character.")
        return self.before_symbol(word, starts.index(place), at)

    def before_symbol(self, word: TextWord, place: int, at: int) -> Explanation:
        """Explain the boundary before the base symbol with the index `place`. The index must not be 0."""
        raw = word.text.encode()
        ids = list(self._cut(raw, at).ids)
        stops = self._inside.stops(ids)
        is_cut = place in stops
        followed = self.followed(word)
        if followed is None:
            sentence = "The tokens of a word meet here" if is_cut else "The text is not split here"
            return Explanation("tokens", is_cut, f"{sentence}. The word is too long for a step-by-step explanation.")
        events = followed.events[place]
        past = [event for event in events if event.step <= at]
        coming = next((event for event in events if event.step > at and event.joins), None)
        if past:
            return self._changed(past, coming)
        if coming is not None:
            return Explanation(
                "later", True, f"{self._pair(coming)} is only learned later, as step {coming.step:,}.", (coming.step,)
            )
        index = stops.index(place)
        return self.explain_never((ids[index], ids[index + 1]), raw, followed.starts[place])

    def _changed(self, past: list[Event], coming: Event | None) -> Explanation:
        """Explain a boundary that earlier steps have changed.

        `past` holds the events at this boundary up to the step shown, with the latest event last. `coming` is the next
        merge there, or None if there is none.
        """
        last = past[-1]
        fall = next((event for event in reversed(past) if not event.joins), None)
        if last.joins:
            sentence = f"The text is not split here: step {last.step:,} joins {self._pair(last)}."
            steps = (last.step,)
            if fall is not None:
                sentence += f" Before that, step {fall.step:,} dropped {self.texts[fall.left]} and split it again here."
            return Explanation("joined", False, sentence, steps if fall is None else (*steps, fall.step))
        sentence = f"Step {last.step:,} dropped {self.texts[last.left]} and split it again here."
        steps = (last.step,)
        if coming is None:
            return Explanation("fell", True, f"{sentence} No later step merges here.", steps)
        return Explanation(
            "fell", True, f"{sentence} Later, step {coming.step:,} joins {self._pair(coming)}.", (*steps, coming.step)
        )

    def explain_never(self, pair: Pair, word: bytes, place: int) -> Explanation:
        """Explain a boundary of this word at which no step joins two tokens."""
        named = " + ".join(self.texts[half] for half in pair)
        step = self._steps.get(pair)
        if step is None:
            return Explanation("never", True, f"{named} was never learned.")
        sentence = f"{named} is merged by step {step:,}, but at that step these two tokens do not meet here."
        return Explanation("missed", True, sentence, (step,))

    def _pair(self, event: Event) -> str:
        return f"{self.texts[event.left]} + {self.texts[event.right]}"

    @cached_property
    def _steps(self) -> dict[Pair, int]:
        """Return a dictionary from each pair to the last step that joins it."""
        pairs = zip(self.history.columns.left.tolist(), self.history.columns.right.tolist(), strict=True)
        return {pair: step for step, pair in enumerate(pairs, start=1)}
