"""The text of ids that a user pastes, and the ranges of this text whose ids change.

The ids change in a range if encoding the text again does not give the pasted ids there.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from app.session.run import Run
from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.insight.round_trip import RoundTrip, RoundTrips, listed_ids
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.support.wording import count_text

MOST_COMPARED = 20_000  # ids
MOST_MARKED = 100  # places
MOST_SAID = 3  # places with a reason below the text
_BETWEEN = re.compile(r"[\s,;\[\]()]+")


@dataclass(frozen=True)
class Mark:
    """A range of the decoded text. Encoding the text again gives ids for this range that the user did not type."""

    start: int  # in characters
    stop: int
    sentence: str


@dataclass(frozen=True)
class DecodedIds:
    text: str
    marks: tuple[Mark, ...] = ()
    remark: str = ""


def decode_ids(entered: str, run: Run | None) -> DecodedIds:
    """Return the text of typed or pasted ids.

    If the ids cannot be decoded, the text is a sentence with the reason.

    >>> decode_ids("1 2 x", None).text
    '“x” is not an id. Ids are whole numbers.'
    """
    words = [word for word in _BETWEEN.split(entered) if word]
    for word in words:
        if not (word.isascii() and word.isdigit()):
            return DecodedIds(f"“{word[:20]}” is not an id. Ids are whole numbers.")
    if not words:
        return DecodedIds("")
    if run is None or run.history is None:
        return DecodedIds("There are no tokens yet. Train first.")
    history = run.history
    numbers = [int(word[:19]) for word in words]
    unknown = next((number for number in numbers if number >= history.index_count), None)
    if history.numbers is None and unknown is not None:
        return DecodedIds(f"There is no token {unknown:,}. The ids go from 0 to {history.index_count - 1:,}.")
    try:
        return _decode_and_compare(history, history.indices_of(numbers))
    except BpeError as error:
        return DecodedIds(str(error))


def _decode_and_compare(history: History, indices: Sequence[int]) -> DecodedIds:
    tokenizer = Tokenizer(history)
    text = tokenizer.decode(indices)
    if len(indices) > MOST_COMPARED:
        return DecodedIds(
            text, (), f"More than {MOST_COMPARED:,} ids are not compared here. The command `canonical` compares files."
        )
    trip = RoundTrips(history, way="exact", tokenizer=tokenizer).of(np.array(indices, np.int64))
    if trip.is_canonical:
        return DecodedIds(text)
    marks = tuple(_marks(trip, tokenizer, indices))
    changed = sum(place.stop - place.first for place in trip.places)
    said = [f"Encoding the decoded text again changes {changed:,} of {count_text(len(indices), 'id')}."]
    said += [mark.sentence for mark in marks[:MOST_SAID]]
    if len(trip.places) > MOST_SAID:
        said.append(f"{len(trip.places) - MOST_SAID:,} more of these positions are not listed.")
    return DecodedIds(text, marks, " ".join(said))


def _marks(trip: RoundTrip, tokenizer: Tokenizer, indices: Sequence[int]) -> Iterator[Mark]:
    """Yield marks for the first ranges of the text whose ids change when the text is encoded again.

    If a range ends inside a character, the whole character is marked.
    """
    for place in trip.places[:MOST_MARKED]:
        start, _ = _count_characters(tokenizer.decode_bytes(indices[: place.first]))
        stop, is_inside = _count_characters(tokenizer.decode_bytes(indices[: place.stop]))
        ids = listed_ids(place.encoded) or "nothing"
        yield Mark(start, stop + is_inside, f"At position {place.first:,}: {ids}. {trip.reason(place).sentence}")


def _count_characters(raw: bytes) -> tuple[int, bool]:
    """Return the number of whole characters in bytes, and whether the bytes end inside another character."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return len(decoder.decode(raw)), bool(decoder.getstate()[0])
