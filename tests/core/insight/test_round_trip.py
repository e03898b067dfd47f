"""Tests of ids that are decoded and encoded again.

The same ids must change as in the libraries. A second computation checks each reason for a change.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

from bpe_core.errors import TooLarge
from bpe_core.formats import FORMATS
from bpe_core.insight import round_trip
from bpe_core.insight.round_trip import Place, Reason, RoundTrip, RoundTrips
from bpe_core.methods.kit.histories import has_ranks
from bpe_core.segmenting.cutting import Cutting
from bpe_core.studies.making import train
from bpe_core.studies.study import Study
from tests.conftest import EXPLORES
from tests.core.formats.hugging_face_tokenizers import KINDS, by_bytes, metaspace, sentencepiece_model
from tests.core.formats.samples import texts
from tests.shared import text_of

ALWAYS = ("phi", "bert", "llama 2", "characters of words")
ROWS = 10_000 if EXPLORES else 150
SPACES_BACK = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ],
}


@cache
def file_of(kind: str) -> bytes:
    """Return the bytes of a tokenizer.json with a decoder that fits its model."""
    whole = {**KINDS[kind]()}
    if whole["model"].get("end_of_word_suffix"):
        whole["decoder"] = {"type": "BPEDecoder", "suffix": "</w>"}
    elif whole["model"]["type"] == "WordPiece":
        whole["decoder"] = {"type": "WordPiece", "prefix": "##", "cleanup": True}
    elif whole["model"].get("byte_fallback"):
        whole["decoder"] = SPACES_BACK
    else:
        whole["decoder"] = by_bytes() if "ByteLevel" in json.dumps(whole["pre_tokenizer"]) else metaspace()
    return json.dumps(whole).encode()


def rows_of_ids(real: list[list[int]], known: list[int], seed: int = 5) -> Iterator[list[int]]:
    """Yield lists of ids: random ids, ids of real texts, and ids of real texts with one id replaced by random ids."""
    chance = Random(seed)
    for number in range(ROWS):
        ids = chance.choice(real)
        start = chance.randrange(len(ids))
        ids = ids[start : start + chance.randint(1, 40)]
        place = chance.randrange(len(ids))
        other = [chance.choice(known) for _ in range(chance.randint(1, 6))]
        yield (other, ids, ids[:place] + other[:2] + ids[place + 1 :])[number % 3]


def check_reason(trip: RoundTrip, trips: RoundTrips, place: Place, reason: Reason) -> None:
    """Check the reason that is given for a change of ids. The check uses an independent computation."""
    history = trips.history
    given = [int(index) for index in trip.given[place.first : place.stop]]
    encoded = [int(index) for index in trip.encoded[place.first_encoded : place.stop_encoded]]
    before, after = (b"".join(trips.bytes_of[index] for index in ids) for ids in (given, encoded))
    data = trip.text.encode()
    if reason.kind in ("merge", "splitting", "other way", "same text"):
        assert before == after
    if reason.kind == "merge" and reason.step is not None and "joins" in reason.sentence and has_ranks(history):
        assert reason.byte is not None
        segmentation = trips.tokenizer.segmentation(trip.text, allowed_special=trips.allowed)
        assert reason.byte in segmentation.edges(reason.step - 1)
        assert reason.byte not in segmentation.edges(reason.step)
    elif reason.kind == "splitting":
        cutting = Cutting(history.recipe)
        parts = [*cutting.parts(trip.text, cutting.allowed(trips.allowed))]
        starts = {int(part.origins[start]) for part in parts for _, start in cutting.placed_words(part.text)}
        assert reason.byte in starts
    elif reason.kind == "bytes":
        with pytest.raises(UnicodeDecodeError):
            before.decode()
        assert "�" in trip.text
    elif reason.kind == "normalization":
        assert trips.normalized(before.decode(errors="replace")) != before.decode(errors="replace")
    elif reason.kind == "special":
        assert any(map(trips.tokenizer.is_special, (*given, *encoded)))
    elif reason.kind == "unknown":
        assert history.alphabet.unknown_id in (*given, *encoded)
    elif reason.kind == "marker":
        assert before.replace(b" ", b"") == after.replace(b" ", b"")
    elif reason.kind == "decoding":
        assert before != after
    assert before or after
    assert data or not after


def check(trips: RoundTrips, ids: list[int], text: str, again: list[int]) -> set[str]:
    """Check a round trip against the text and the ids of the original library.

    Return the kinds of the reasons why ids changed.
    """
    trip = trips.of(np.array(trips.history.indices_of(ids)))
    assert trip.text == text, ids
    assert trip.is_canonical is (again == ids), ids
    assert bool(trip.places) is not trip.is_canonical
    patched = list(ids)
    kinds: set[str] = set()
    for place in reversed(trip.places):
        patched[place.first : place.stop] = [-1 if id is None else id for id in place.encoded]
        reason = trip.reason(place)
        check_reason(trip, trips, place, reason)
        kinds.add(reason.kind)
    assert patched == again
    return kinds


@pytest.mark.parametrize("kind", KINDS if EXPLORES else ALWAYS)
def test_round_trips_of_ids_match_the_tokenizers_library_and_have_correct_reasons(kind: str) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
    pytest.importorskip("sentencepiece", reason="the package sentencepiece is not installed")
    data = file_of(kind)
    theirs = tokenizers.Tokenizer.from_buffer(data)
    study = Study(FORMATS["tokenizer.json"].open(data, kind).history)
    trips = RoundTrips(study.history, allowed="all")

    def encoded(text: str) -> list[int]:
        library_ids: list[int] = theirs.encode(text, add_special_tokens=False).ids
        return library_ids

    real = [ids for text in texts()[:: 1 if EXPLORES else 4] if (ids := encoded(text[:1_000]))]
    kinds = set()
    for ids in rows_of_ids(real, sorted(study.inside.names)):
        text = theirs.decode(ids, skip_special_tokens=False)
        kinds |= check(trips, ids, text, encoded(text))
    assert kinds


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_decoding_ids_and_encoding_the_text_again_gives_the_same_result_as_sentencepiece(kind: str) -> None:
    sentencepiece = pytest.importorskip("sentencepiece", reason="the package sentencepiece is not installed")
    data = sentencepiece_model(kind, byte_fallback=True)
    theirs = sentencepiece.SentencePieceProcessor(model_proto=data)
    study = Study(FORMATS["sentencepiece"].open(data, "trained.model").history)
    trips = RoundTrips(study.history)
    real = [ids for text in texts()[::4] if (ids := theirs.encode(text[:1_000]))]
    for ids in rows_of_ids(real, list(range(theirs.get_piece_size()))):
        text = theirs.decode(ids)
        check(trips, ids, text, theirs.encode(text))


def test_decoding_ids_and_encoding_the_text_again_gives_the_same_result_as_tiktoken() -> None:
    tiktoken = pytest.importorskip("tiktoken", reason="the package tiktoken is not installed")
    study = train(text_of("code") * 2, "gpt2", vocab_size=600)
    pattern = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    ranks = {raw: id for id, raw in study.tokens.items()}
    theirs = tiktoken.Encoding("own", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    trips = RoundTrips(study.history)
    real = [ids for text in texts()[::4] if (ids := theirs.encode(text[:1_000]))]
    kinds = set()
    for ids in rows_of_ids(real, sorted(ranks.values())):
        text = theirs.decode(ids)
        kinds |= check(trips, ids, text, theirs.encode(text))
    assert {"merge", "splitting", "bytes"} <= kinds


def test_dividing_a_long_row_of_ids_does_not_change_the_reported_positions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = train(text_of("prose")[:5_000], "gpt2", vocab_size=300)
    trips = RoundTrips(study.history)
    chance = Random(2)
    ids = [id for id in study.encode(text_of("prose")[:3_000]) for id in (id, 101)[: chance.choice((1, 1, 1, 2))]]
    whole = [place.first for place in trips.of(np.array(ids)).places]
    monkeypatch.setattr(round_trip, "PIECE", 64)
    pieces = [*trips.pieces(np.array(ids))]
    assert len(pieces) > 10
    assert [first + place.first for first, trip in pieces for place in trip.places] == whole


def small() -> Any:
    return train("the theme of the thesis", "gpt2", merges=8, special_tokens=("<end>",))


def test_if_a_text_spells_a_special_token_the_reason_for_its_different_ids_mentions_this_token() -> None:
    study = small()
    trips = RoundTrips(study.history, allowed="all")
    trip = trips.of(np.array([*b"<end>"]))
    assert [trip.reason(place).sentence for place in trip.places] == ["The text spells the special token “<end>”."]


def test_a_row_of_ids_whose_text_cannot_be_divided_is_refused_only_if_it_needs_too_much_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = train("the theme of the thesis", "sentencepiece-like", merges=8)
    trips = RoundTrips(study.history)
    ids = np.array(study.encode("the theme of the thesis"))
    monkeypatch.setattr(round_trip, "PIECE", 2)
    assert [(first, len(trip.given)) for first, trip in trips.pieces(ids)] == [(0, len(ids))]
    monkeypatch.setenv("BPE_EXPLORER_MEMORY", "1")
    monkeypatch.setattr(round_trip, "BYTES_AN_ID", 1 << 30)
    with pytest.raises(TooLarge, match=r"A row of ids whose text cannot be divided needs about .* Give shorter rows\."):
        [*trips.pieces(ids)]
