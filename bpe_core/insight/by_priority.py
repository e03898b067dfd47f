"""The reasons for the boundaries inside a word, if a table joins pairs by merge priority.

A boundary has one of these reasons:

    joined      no boundary: the two tokens that met here were joined
    whole       no boundary: the whole word is one token, whatever pairs it contains
    later       the two tokens that meet here would be joined, but their token does not exist yet
    taken       a pair that met here would have been joined, but one of its tokens was joined to another neighbour first
    never       no pair that ever met here can be joined
    hidden      the two tokens were joined, but the merged token has no id, so it is split again
    tokens      the word is too long to follow pair by pair
    symbol      no boundary: the bytes here belong to one base symbol, or are left out
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from bpe_core.history.history import History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.methods.kit.explanation import ELSEWHERE, ExplainedText, Explanation, ShownToken, TextWord, TextWords, Way
from bpe_core.segmenting.by_priority import JoinedWords
from bpe_core.segmenting.cutting import Allowed, Cutting

LONGEST_TRACED = 400  # symbols of a word
MOST_WAYS = 40  # states of a word that are shown


@dataclass(frozen=True)
class PairAtBoundary:
    left: int
    right: int
    joins_to: int | None  # the token that they become once it exists


@dataclass(frozen=True)
class Trace:
    ends: list[int]  # the ends of the base symbols, in bytes
    states: list[list[tuple[int, int]]]  # after each join: the tokens, and the ends of each in symbols
    met: dict[int, list[PairAtBoundary]]  # for each boundary, counted in symbols, the pairs that met there in order
    joined_at: dict[int, int]  # for each boundary, the join that removed it


class WhyPriority(ExplainedText):
    def __init__(self, text: str, history: History, allowed: Allowed) -> None:
        self._joined = JoinedWords(history)
        self._words = TextWords(text, self._joined.cutting(Cutting(history.recipe)), allowed)
        self._base = len(history.alphabet)
        self._texts = TokenTexts.of(history).text

    def explanation_at(self, byte: int, at: int) -> Explanation:
        word = self._words.around(byte)
        if not isinstance(word, TextWord):
            return Explanation(word, True, ELSEWHERE[word])
        raw = word.text.encode()
        cut = self._joined.cut(raw, at)
        ends = [int(word.origins[end]) for end in cut.ends]
        is_cut = byte in ends
        symbols, widths = self._joined.spelled(raw)
        spelled = list(accumulate(widths))
        if len(cut.ids) == 1 and len(symbols) > 1 and self._joined.is_whole(raw, at):
            whole_sentence = f"The text is not split here: the word is the token {self._name(*cut.ids)}."
            return Explanation("whole", False, whole_sentence)
        if len(symbols) > LONGEST_TRACED:
            return self._by_tokens(cut.ids, ends, byte)
        place = next((i for i, end in enumerate(spelled, 1) if int(word.origins[end]) == byte), None)
        if place is None:
            return Explanation("symbol", False, "There is no boundary here: these bytes belong to one base symbol.")
        trace = self._trace(symbols, spelled, at)
        kind, sentence, steps = self._reason(trace, place, at)
        if is_cut and place in trace.joined_at:
            kind = "hidden"
            sentence += (
                "But the merged token has no id, and it does not become part of a longer token here, so it is split "
                "again."
            )
        return Explanation(kind, is_cut, sentence, steps, self._ways(trace))

    def _name(self, id: int) -> str:
        return f"“{self._texts[id]}”"

    def _by_tokens(self, ids: object, ends: list[int], byte: int) -> Explanation:
        tokens = [int(id) for id in np.asarray(ids).tolist()]
        index = int(np.searchsorted(ends, byte))
        if index < len(ends) - 1 and ends[index] == byte:
            both = f"{self._name(tokens[index])} and {self._name(tokens[index + 1])}"
            return Explanation(
                "tokens", True, f"The tokens {both} meet here. The word is too long for a pair-by-pair explanation."
            )
        return Explanation("joined", False, f"The text is not split here: {self._name(tokens[index])} is one token.")

    def _trace(self, symbols: list[int], ends: list[int], at: int) -> Trace:
        tokens = [(id, place) for place, id in enumerate(symbols, 1)]
        trace = Trace(ends, [list(tokens)], {}, {})
        limit = self._base + at
        while True:
            ready = []
            for i, ((left, place), (right, _)) in enumerate(pairwise(tokens)):
                join = self._joined.find(left << 32 | right)
                meeting = PairAtBoundary(left, right, None if join is None else join[1])
                known = trace.met.setdefault(place, [])
                if meeting not in known[-1:]:
                    known.append(meeting)
                if join is not None and join[1] < limit:
                    ready.append((join[0], i, join[1]))
            if not ready:
                return trace
            _, i, token = min(ready)
            trace.joined_at[tokens[i][1]] = len(trace.states)
            tokens[i : i + 2] = [(token, tokens[i + 1][1])]
            trace.states.append(list(tokens))

    def _reason(self, trace: Trace, place: int, at: int) -> tuple[str, str, tuple[int, ...]]:
        met = trace.met.get(place, [])
        if not met:
            return "symbol", "There is no boundary here: these bytes are left out.", ()
        last = met[-1]
        pair = f"{self._name(last.left)} and {self._name(last.right)}"
        if place in trace.joined_at:
            return (
                "joined",
                f"{pair} are merged here, by the {_ordinal(trace.joined_at[place])} merge in this word.",
                (),
            )
        if last.joins_to is not None:
            step = last.joins_to - self._base + 1
            return (
                "later",
                f"{pair} would be merged here, but {self._name(last.joins_to)} is learned only at step {step:,}.",
                (step,),
            )
        missed = next(
            (meeting for meeting in met[:-1] if meeting.joins_to is not None and meeting.joins_to < self._base + at),
            None,
        )
        if missed is not None:
            both = f"{self._name(missed.left)} and {self._name(missed.right)}"
            return (
                "taken",
                f"{both} could have been merged here, but one of the two was merged with another token before.",
                (),
            )
        return "never", f"{pair} meet here, but this table has no merge for this pair.", ()

    def _ways(self, trace: Trace) -> tuple[Way, ...]:
        return tuple(
            Way(f"after {number:,}" if number else "at first", tuple(ShownToken(self._texts[id]) for id, _ in tokens))
            for number, tokens in enumerate(trace.states[:MOST_WAYS])
        )


def _ordinal(number: int) -> str:
    """Return an ordinal number in English.

    >>> [_ordinal(number) for number in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number:,}{ending}"
