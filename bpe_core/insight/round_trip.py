"""A comparison of ids with the result of decoding and encoding them again.

Each difference gets a reason.

    >>> from bpe_core.history.alphabet import Alphabet
    >>> from bpe_core.recipes.recipe import Recipe
    >>> pairs = [(116, 104), (256, 101)]  # t+h, th+e
    >>> trips = RoundTrips(History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs))
    >>> found = trips.of(np.array([116, 104, 101, 32, 257]))
    >>> [(one.first, one.stop, one.encoded) for one in found.places]
    [(0, 3, (257,))]
    >>> found.reason(found.places[0]).sentence
    'Merge 1 joins t + h.'

The given tokens and the new tokens form two rows, which are compared from the beginning. A place begins where the
rows differ. It ends where both rows have the same bytes again, or where both have the same ids again if decoding
changed the bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal, get_args

import numpy as np

from bpe_core.history.history import NO_NUMBER, History
from bpe_core.history.token_texts import TokenBytes, TokenTexts, is_text, quoted
from bpe_core.insight.explanation import explain
from bpe_core.methods.kit.explanation import ExplainedText, Explanation
from bpe_core.methods.kit.tokenizer import Tokenizer, Way
from bpe_core.methods.registry import METHODS
from bpe_core.segmenting.cutting import ALLOWED, Allowed
from bpe_core.splitting.normalization import normalizer
from bpe_core.splitting.safe_cuts import SafeCuts
from bpe_core.support.arrays import Int64s
from bpe_core.support.limits import check_room

Kind = Literal[
    "merge", "other way", "splitting", "special", "bytes", "normalization", "decoding", "marker", "same text", "unknown"
]
KINDS: dict[Kind, str] = {
    "merge": "A merge would have joined these tokens.",
    "other way": "The tokenizer prefers another way to split the word.",
    "splitting": "The text is split into words here.",
    "special": "The text spells a special token, or decoding does not give a special token back.",
    "bytes": "The bytes are not valid UTF-8.",
    "normalization": "The text is changed before it is split.",
    "decoding": "Decoding changes the text.",
    "marker": "The marker of the beginning or end of a word differs.",
    "same text": "Another token has the same text.",
    "unknown": "The unknown token has no text.",
}
assert {*KINDS} == {*get_args(Kind)}

# Kinds of explanations that speak of the ends of words.
BETWEEN_WORDS = ("pattern", "words", "marker", "apart", "special", "dropped", "edge")
NOT_SPLIT = "The text is not split here: "  # begins sentences about places inside a token
SEARCHED = (16, 256, 4_096)  # ids in which the same ids are searched after a change of the text
PIECE = 1 << 16  # ids of a long row that are looked at together
UNDIVIDED = "A row of ids whose text cannot be divided"
SHORTER_ROWS = "Give shorter rows."
BYTES_AN_ID = 100  # bytes of memory for each id of a row that cannot be divided
NO_TEXT = "\N{REPLACEMENT CHARACTER}".encode()  # what decoding shows for bytes that are no text
NEAR = 8  # ids between places that belong together
MOST_LISTED = 8  # ids in a sentence
ALIKE = 2  # ids in a row that show that both are at the same place again


@dataclass(frozen=True)
class Place:
    """A place in a sequence of ids: neighbouring ids that change when they are decoded and encoded again."""

    first: int  # the index of the first id, and after the last
    stop: int
    first_encoded: int
    stop_encoded: int
    encoded: tuple[int | None, ...]  # the ids of the file that encoding gives; None if the file has none

    @property
    def is_one_sided(self) -> bool:
        return self.first == self.stop or self.first_encoded == self.stop_encoded


@dataclass(frozen=True)
class Reason:
    kind: Kind
    sentence: str
    step: int | None = None  # the step in the sentence, from 1
    byte: int | None = None  # the offset in the decoded text that the sentence is about


class RoundTrips:
    """A tokenizer that decodes ids to a text and encodes the text again."""

    def __init__(
        self, history: History, *, way: Way = "library", allowed: Allowed = None, tokenizer: Tokenizer | None = None
    ) -> None:
        self.history = history
        self.way: Way = way
        self.allowed = allowed
        self.tokenizer = tokenizer or Tokenizer(history)
        self.bytes_of = TokenBytes(history)
        self._numbers = history.numbers_of(np.arange(history.index_count))

    @cached_property
    def names(self) -> Sequence[str]:
        return TokenTexts.of(self.history).text

    @property
    def marks_words(self) -> bool:
        recipe = self.history.recipe
        return recipe.marker != "none" or bool(self.history.alphabet.continuing) or bool(recipe.preparation)

    @cached_property
    def normalized(self) -> Callable[[str], str]:
        return normalizer(self.history.recipe)

    def of(self, indices: Int64s) -> RoundTrip:
        """Decode the tokens with the given indices, and encode the text again.

        Return the given tokens together with the new tokens.
        """
        return RoundTrip(self, indices, self.tokenizer.decode(indices.tolist(), way=self.way))

    def pieces(self, indices: Int64s) -> Iterator[tuple[int, RoundTrip]]:
        """Yield the round trips of independent pieces of a long sequence, each with the index at which the piece
        begins."""
        first = 0
        length = PIECE
        while len(indices) - first > length:
            stop = first + self._independent(indices[first : first + length])
            if stop > first:
                yield first, self.of(indices[first:stop])
                first = stop
                length = PIECE
            else:
                length = 2 * length
                check_room(BYTES_AN_ID * min(length, len(indices) - first), UNDIVIDED, SHORTER_ROWS)
        if first < len(indices) or not first:
            yield first, self.of(indices[first:])

    def _independent(self, indices: Int64s) -> int:
        """Return how many of the first tokens in `indices` can be decoded and encoded again without the later tokens.

        Return 0 if the sequence cannot be divided anywhere.
        """
        raws = [self.bytes_of[index] for index in indices.tolist()]
        ends = np.cumsum([len(raw) for raw in raws])
        common = np.intersect1d(ends, self._safe_cuts.places(b"".join(raws)))
        return int(np.searchsorted(ends, common[-1], side="right")) if len(common) else 0

    @cached_property
    def _safe_cuts(self) -> SafeCuts:
        recipe = self.history.recipe
        if recipe.marker != "none" or recipe.usual_decoding != (recipe.decoding or recipe.usual_decoding):
            return SafeCuts(np.zeros((256, 256), np.bool_))
        return SafeCuts.of(recipe)

    def numbers(self, indices: Int64s) -> Int64s:
        """Return the id that each index has in the file. A token without an id has NO_NUMBER."""
        numbers: Int64s = self._numbers[indices]
        return numbers


def first_difference(history: History, indices: Sequence[int], *, way: Way, tokenizer: Tokenizer) -> str:
    """Return a sentence about the first tokens that change when the tokens are decoded and the text is encoded again.

    Return an empty string if no token changes. The text is encoded in two ways: with the usual choice of special
    tokens, and with all special tokens allowed. If one of these two ways gives back the same tokens, no token counts as
    changed.
    """
    sentence = ""
    for allowed in (None, ALLOWED["all"]):
        trips = RoundTrips(history, way=way, allowed=allowed, tokenizer=tokenizer)
        different = next(
            ((first, trip) for first, trip in trips.pieces(np.array(indices, np.int64)) if trip.places), None
        )
        if different is None:
            return ""
        if not sentence:
            first, trip = different
            place = trip.places[0]
            ids = listed_ids(trips.numbers(trip.given[place.first : place.stop]).tolist())
            instead = f"{listed_ids(place.encoded)} instead of {ids}"
            reason = trip.reason(place).sentence
            sentence = f"Encoding this text gives other ids. At position {first + place.first:,}, {instead}. {reason}"
    return sentence


def listed_ids(ids: Sequence[int | None]) -> str:
    """Return the first ids separated by spaces, for a sentence."""
    some = " ".join("none" if id is None else str(id) for id in ids[:MOST_LISTED])
    return some + " …" * (len(ids) > MOST_LISTED)


class RoundTrip:
    """The given tokens, their decoded text, and the tokens that encoding gives for this text."""

    def __init__(self, trips: RoundTrips, indices: Int64s, text: str) -> None:
        self._trips = trips
        self.given = indices
        self.text = text
        self.encoded = trips.tokenizer.encode_to_array(text, allowed_special=trips.allowed).astype(np.int64)

    @cached_property
    def is_canonical(self) -> bool:
        trips = self._trips
        return np.array_equal(trips.numbers(self.given), trips.numbers(self.encoded))

    @cached_property
    def kept(self) -> int:
        """Return the number of ids before the first difference between the given ids and the new ids."""
        numbers = self._trips.numbers
        length = min(len(self.given), len(self.encoded))
        differs = numbers(self.given[:length]) != numbers(self.encoded[:length])
        return int(differs.argmax()) if differs.any() else length

    @cached_property
    def places(self) -> list[Place]:
        return [] if self.is_canonical else [*map(self._with_ids, self._joined_places())]

    def _joined_places(self) -> list[Place]:
        """Return the places where the given tokens and the newly encoded tokens differ.

        At some places, only one of the two sequences has tokens. Such a place is combined with another place near it.
        The equal tokens between the two places match only by chance, for example because a letter occurs twice.
        """
        places: list[Place] = []
        for place in self._places():
            if places and place.first - places[-1].stop <= NEAR and (place.is_one_sided or places[-1].is_one_sided):
                before = places.pop()
                place = self._place(before.first, place.stop, before.first_encoded, place.stop_encoded)
            places.append(place)
        return places

    def _with_ids(self, place: Place) -> Place:
        """Return a place that contains at least one given id and one new id.

        A place is a range of the given ids and a range of the new ids. If one of the ranges is empty, extend both by
        a neighbouring id that is equal in the given and the new ids.
        """
        if not place.is_one_sided:
            return place
        if place.first and place.first_encoded:
            return self._place(place.first - 1, place.stop, place.first_encoded - 1, place.stop_encoded)
        stop = min(place.stop + 1, len(self.given))
        return self._place(place.first, stop, place.first_encoded, min(place.stop_encoded + 1, len(self.encoded)))

    def _place(self, first: int, stop: int, first_encoded: int, stop_encoded: int) -> Place:
        numbers = self._trips.numbers(self.encoded[first_encoded:stop_encoded]).tolist()
        encoded = tuple(None if number == NO_NUMBER else number for number in numbers)
        return Place(first, stop, first_encoded, stop_encoded, encoded)

    def _places(self) -> Iterator[Place]:
        given = self._trips.numbers(self.given).tolist()
        encoded = self._trips.numbers(self.encoded).tolist()
        first = self.kept
        first_encoded = self.kept
        while first < len(given) or first_encoded < len(encoded):
            if first < len(given) and first_encoded < len(encoded) and given[first] == encoded[first_encoded]:
                first += 1
                first_encoded += 1
                continue
            stop, stop_encoded = self._end(first, first_encoded, given, encoded)
            yield self._place(first, stop, first_encoded, stop_encoded)
            first = stop
            first_encoded = stop_encoded

    def _end(self, first: int, first_encoded: int, given: list[int], encoded: list[int]) -> tuple[int, int]:
        """Return where a difference between `given` and `encoded` ends: an index in each of the two lists.

        The difference begins at the index `first` of `given`, and at the index `first_encoded` of `encoded`.
        """
        stop = first
        stop_encoded = first_encoded
        ours = b""
        theirs = b""
        while ours.startswith(theirs) or theirs.startswith(ours):
            if len(ours) <= len(theirs) and stop < len(given):
                ours += self._bytes(self.given, stop)
                stop += 1
            elif stop_encoded < len(encoded):
                theirs += self._bytes(self.encoded, stop_encoded)
                stop_encoded += 1
            else:
                break
            if ours == theirs and stop_encoded > first_encoded:
                return stop, stop_encoded
        return _next_equal_ids(first, first_encoded, given, encoded)

    def _bytes(self, indices: Int64s, place: int) -> bytes:
        return self._trips.bytes_of[int(indices[place])]

    def _joined(self, indices: Int64s, first: int, stop: int) -> bytes:
        return b"".join(self._bytes(indices, place) for place in range(first, stop))

    # -- reasons ---------------------------------------------------------------------------

    def reason(self, place: Place) -> Reason:
        """Return the reason why encoding does not reproduce the given ids at a place."""
        trips = self._trips
        given = self.given[place.first : place.stop].tolist()
        encoded = self.encoded[place.first_encoded : place.stop_encoded].tolist()
        about_specials = self._about_specials(given, encoded)
        if about_specials is not None:
            return about_specials
        unknown = trips.history.alphabet.unknown_id
        if unknown is not None and unknown in given:
            return Reason(
                "unknown", f"{self._name(unknown)} replaces unknown text, and decoding cannot restore the text."
            )
        if unknown is not None and unknown in encoded:
            return Reason("unknown", f"No token has this text, so encoding gives {self._name(unknown)}.")
        before = self._joined(self.given, place.first, place.stop)
        after = self._joined(self.encoded, place.first_encoded, place.stop_encoded)
        if before == after and len(given) == len(encoded) == 1:
            return self._about_twins(given[0], encoded[0])
        if before == after:
            return self._about_boundaries(place)
        if not is_text(before) and NO_TEXT in self._bytes_of_text(place, around=len(NO_TEXT) - 1):
            return Reason("bytes", f"{quoted(before)} is not a text in UTF-8, so decoding shows �.")
        if before.replace(b" ", b"") == after.replace(b" ", b"") and trips.marks_words:
            return Reason("marker", f"Encoding gives {quoted(after)} here, but the ids stand for {quoted(before)}.")
        return self._about_change(place, before, after)

    def _name(self, index: int) -> str:
        return f"“{self._trips.names[index]}”"

    def _about_specials(self, given: list[int], encoded: list[int]) -> Reason | None:
        is_special = self._trips.tokenizer.is_special
        spelled = next((token for token in encoded if is_special(token) and token not in given), None)
        if spelled is not None:
            return Reason("special", f"The text spells the special token {self._name(spelled)}.")
        lost = next((token for token in given if is_special(token)), None)
        if lost is None:
            return None
        named = self._name(lost)
        if self._trips.bytes_of[lost].decode(errors="replace") in self.text:
            return Reason("special", f"The special token {named} is read as ordinary text.")
        return Reason("special", f"Decoding leaves out the special token {named}.")

    def _about_twins(self, given: int, encoded: int) -> Reason:
        continuing = {self._begins(token) for token in (given, encoded)}
        if len(continuing) > 1:
            sentence = f"Encoding gives {self._name(encoded)} here, but the ids stand for {self._name(given)}."
            return Reason("marker", sentence)
        return Reason("same text", f"{self._name(encoded)} has the same text, and encoding uses that token.")

    def _begins(self, index: int) -> bool:
        """Return whether the token can only begin a word, like a token without `##` in BERT's vocabulary."""
        continuing = self._trips.history.alphabet.continuing
        return bool(continuing) and not self._trips.names[index].encode().startswith(continuing)

    def _about_boundaries(self, place: Place) -> Reason:
        """Return the reason why encoding sets different token boundaries at a place than the given tokens."""
        lengths = [len(self._bytes(self.given, item)) for item in range(place.first, place.stop)]
        end = int(self._spans[place.stop_encoded - 1, 1])
        start = end - sum(lengths)
        given = {start + edge for edge in accumulate(lengths)} - {end}
        spans = self._spans[place.first_encoded : place.stop_encoded]
        encoded = {*spans[:-1, 1].tolist()} - {end}
        across = [(byte, self._explained(byte)) for byte in sorted(encoded - given)]
        split = next(((byte, item) for byte, item in across if item.kind in BETWEEN_WORDS), None)
        if split is not None:
            return Reason("splitting", split[1].sentence, byte=split[0])
        joined = [(byte, self._explained(byte)) for byte in sorted(given - encoded)]
        last = len(self._trips.history) + 1
        first = min(joined, key=lambda item: item[1].steps or (last,), default=None) or next(iter(across), None)
        if first is None:
            return Reason("other way", "Encoding gives other ids here.")
        return self._of_explanation(*first)

    def _of_explanation(self, byte: int, explanation: Explanation) -> Reason:
        step = next(iter(explanation.steps), None)
        history = self._trips.history
        by_merges = history.joining is not None or not METHODS[history.recipe.method].looks_tokens_up
        kind: Kind = "merge" if by_merges else "other way"
        said = explanation.sentence.removeprefix(NOT_SPLIT)
        return Reason(kind, said[:1].upper() + said[1:], step, byte)

    def _about_change(self, place: Place, before: bytes, after: bytes) -> Reason:
        text = before.decode(errors="replace")
        changed = self._trips.normalized(text)
        if changed != text:
            return Reason("normalization", f"{quoted(text)} becomes {quoted(changed)} before it is split.")
        return Reason("decoding", f"Decoding gives {quoted(self._bytes_of_text(place))} for {quoted(before)}.")

    def _bytes_of_text(self, place: Place, around: int = 0) -> bytes:
        """Return the bytes of the decoded text at a place, with `around` more bytes on both sides."""
        spans = self._spans[place.first_encoded : place.stop_encoded]
        return self._data[max(0, int(spans[0, 0]) - around) : int(spans[-1, 1]) + around] if len(spans) else b""

    @cached_property
    def _data(self) -> bytes:
        return self.text.encode()

    @cached_property
    def _spans(self) -> Int64s:
        """Return a row for each token of the encoded text.

        A row holds the offset of the token's first byte, the offset of its end, and its index.
        """
        trips = self._trips
        segmentation = trips.tokenizer.segmentation(self.text, allowed_special=trips.allowed)
        return segmentation.tokens(len(trips.history)).spans()

    @cached_property
    def _why(self) -> ExplainedText:
        return explain(self.text, self._trips.history, self._trips.allowed)

    def _explained(self, byte: int) -> Explanation:
        return self._why.explanation_at(byte, len(self._trips.history))


def _next_equal_ids(first: int, first_encoded: int, given: list[int], encoded: list[int]) -> tuple[int, int]:
    """Return an index in `given` and an index in `encoded` from which both lists continue with the same ids.

    The search begins at the indices `first` and `first_encoded`, and the nearest indices are returned. If there are
    none, return the lengths of both lists.
    """
    ends = len(given), len(encoded)
    for reach in SEARCHED:
        places: dict[tuple[int, ...], int] = {}
        for place in range(min(first_encoded + reach, len(encoded)), first_encoded - 1, -1):
            places[tuple(encoded[place : place + ALIKE])] = place
        best = ends
        for place in range(first, min(first + reach, len(given)) + 1):
            other = places.get(tuple(given[place : place + ALIKE]))
            if other is not None and place + other < sum(best) and (place, other) != (first, first_encoded):
                best = place, other
        if best != ends:
            return best
    return ends
