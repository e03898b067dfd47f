"""Tests of Unigram in .model and tokenizer.json files: the libraries load our files with the same ids, and we load
theirs.
"""

from __future__ import annotations

import io
import json
import math
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bpe_core.errors import FormatError, OutputError
from bpe_core.formats import FORMATS, OpenedTable, open_table
from bpe_core.formats.base import NO_NUMBER
from bpe_core.formats.sentencepiece_fields import bytes_field, float_field, varint_field
from bpe_core.history.columns import DROPPED
from bpe_core.recipes.parts import SplittingChoices, Symbols
from bpe_core.verification.checking import prepare_export
from tests.core.formats.samples import content, encode, languages, learn_text, lines, texts
from tests.machine_code import machine_code

MODEL, TOKENIZER_JSON = FORMATS["sentencepiece"], FORMATS["tokenizer.json"]
TRAINED = 20_000  # characters

RECIPES: dict[str, dict[str, Any]] = {
    "plain": dict(unicode_form=""),
    "NFKC": dict(),
    "bytes": dict(unknown="bytes", alphabet_limit=150, special_tokens=("<s>", "</s>")),
    "cleaned": dict(unicode_form="", lowercase=True, final_sigma=False, strip_accents=True, alphabet_limit=200),
}
every_recipe = pytest.mark.parametrize("choices", RECIPES.values(), ids=RECIPES)


def history_of(choices: dict[str, Any], merges: int = 1_000) -> Any:
    return learn_text(languages()[:TRAINED], "unigram", vocab_size=None, merges=merges, **choices)


@cache
def sentencepiece_model(normalization: str = "nfkc", **said: Any) -> bytes:
    sentencepiece = pytest.importorskip("sentencepiece", reason="the package sentencepiece is not installed")
    trained = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(languages()[:TRAINED].split("\n")),
        model_writer=trained,
        model_type="unigram",
        normalization_rule_name=normalization,
        minloglevel=2,
        **{"vocab_size": 1_500, "character_coverage": 0.999, **said},
    )
    return trained.getvalue()


@cache
def their_json(byte_fallback: bool = False) -> str:
    tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
    made = tokenizers.Tokenizer(tokenizers.models.Unigram())
    made.normalizer = tokenizers.normalizers.NFKC()
    pre = tokenizers.pre_tokenizers
    made.pre_tokenizer = pre.Sequence([pre.WhitespaceSplit(), pre.Metaspace()])
    specials = ["<pad>", "<unk>", "</s>"]
    trainer = tokenizers.trainers.UnigramTrainer(
        vocab_size=2_000, special_tokens=specials, unk_token="<unk>", show_progress=False
    )
    made.train_from_iterator(languages()[:TRAINED].split("\n"), trainer)
    return str(made.to_str())


def without_known_changes(text: str) -> str:
    """Change a text as the export report announces.

    The changes concern unknown characters, spaces and accents.
    """
    return " ".join(unicodedata.normalize("NFC", text).replace("<unk>", "unk").replace("▁", "_").split())


# --- Files of theirs --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("normalization", "choices"),
    [
        ("identity", {}),
        ("nfkc", {"byte_fallback": True, "vocab_size": 1_800}),
        ("nfkc", {"user_defined_symbols": "<new>", "control_symbols": "<cls>", "unk_id": 3, "pad_id": 0}),
        ("nfkc", {"unk_piece": "⁇", "hard_vocab_limit": False}),
    ],
    ids=["identity", "bytes", "symbols", "another unknown"],
)
def test_a_unigram_model_of_sentencepiece_is_opened_with_the_ids_of_the_library(
    normalization: str, choices: dict[str, Any]
) -> None:
    sentencepiece = pytest.importorskip("sentencepiece", reason="the package sentencepiece is not installed")
    data = sentencepiece_model(normalization, **choices)
    asked = sentencepiece.SentencePieceProcessor(model_proto=data)
    assert MODEL.recognizes(data)
    opened = MODEL.open(data, "theirs.model")
    assert opened.history.scores is not None
    for text in (*texts(), *lines()):
        ours = opened.numbers_of(encode(opened.history, without_known_changes(text)))
        assert ours == asked.encode(without_known_changes(text)), text[:80]


def test_opening_and_using_a_unigram_model_creates_no_symbol_objects(tmp_path: Path) -> None:
    """Making an object for each of a quarter of a million pieces takes longer than reading all pieces."""
    pytest.importorskip("sentencepiece", reason="the package sentencepiece is not installed")
    (tmp_path / "theirs.model").write_bytes(sentencepiece_model("identity"))
    history = open_table(tmp_path / "theirs.model").history
    with machine_code(is_used=True):
        assert encode(history, "the lowest price")
    assert not {"symbols", "decoded"} & vars(history.alphabet).keys()


def test_a_unigram_tokenizer_json_gives_the_same_ids_as_in_the_tokenizers_library() -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
    asked = tokenizers.Tokenizer.from_str(their_json())
    opened = TOKENIZER_JSON.open(their_json().encode(), "tokenizer.json")
    assert opened.notes == ()
    for text in (*texts(), *lines()):
        ours = opened.numbers_of(encode(opened.history, without_known_changes(text)))
        assert ours == asked.encode(without_known_changes(text)).ids, text[:80]


def test_a_unigram_model_converted_to_tokenizer_json_and_back_keeps_its_ids(tmp_path: Path) -> None:
    data = sentencepiece_model("nfkc", control_symbols="<cls>", byte_fallback=True, vocab_size=1_800)
    (tmp_path / "theirs.model").write_bytes(data)
    first = open_table(tmp_path / "theirs.model")
    before = first
    for name in ("tokenizer.json", "back.model"):
        prepared = prepare_export(before.history, tmp_path / name)
        assert prepared.verification.agrees, prepared.verification.differences
        assert not any("other ids" in sentence for sentence in prepared.verification.cannot_hold)
        prepared.put_in_place()
        before = open_table(tmp_path / name)
    assert np.array_equal(first.history.numbers, before.history.numbers)  # type: ignore[arg-type]
    assert first.history.alphabet == before.history.alphabet


# --- Files of ours ----------------------------------------------------------------------


@pytest.mark.parametrize("format", ["sentencepiece", "tokenizer.json"])
@every_recipe
def test_an_exported_unigram_model_is_read_back_and_verified_by_the_library_of_its_format(
    choices: dict[str, Any], format: str
) -> None:
    history = history_of(choices)
    verification = prepare_export(
        history, "ours", format=FORMATS[format], text="\n".join((*texts(), *lines()))
    ).verification
    assert verification.agrees, verification.differences
    assert verification.asked == pytest.importorskip(FORMATS[format].peer_name).__name__
    assert any("other ids" in sentence for sentence in verification.cannot_hold)
    back = FORMATS[format].open(content(history, format), "ours")
    assert back.history.recipe.differing(history.recipe, SplittingChoices, Symbols) in ([], ["alphabet_limit"])
    assert back.history.index_count == history.vocabulary_size
    scores, before = back.history.scores, history.scores
    assert scores is not None
    assert before is not None
    assert sorted(scores.at(0)) == sorted(score for score in before.at(1_000) if score > DROPPED)


@pytest.mark.parametrize("steps", [0, 500])
def test_a_unigram_model_can_be_exported_after_any_step(steps: int) -> None:
    """At first many splits are equally probable, and any of them is accepted."""
    verification = prepare_export(history_of(RECIPES["plain"]), "ours", format=MODEL, merges=steps).verification
    assert verification.agrees, verification.differences


@pytest.mark.parametrize(
    ("format", "sentence"),
    [
        (
            "merges.txt",
            "merges.txt holds only merges of pairs, .* Unigram: choose sentencepiece, tokenizer.json or a table",
        ),
        ("parquet", "parquet holds only merges of pairs, .* Unigram: .* such as csv, or save it as a session"),
        ("vocab.txt", "vocab.txt holds only the tokens of WordPiece"),
    ],
)
def test_exporting_a_unigram_model_is_refused_if_the_format_cannot_hold_unigram_models(
    format: str, sentence: str
) -> None:
    with pytest.raises(OutputError, match=sentence):
        content(history_of(RECIPES["plain"]), format)


# --- Damage -----------------------------------------------------------------------------


def piece(text: str, score: float = -1.0, kind: int = 1) -> bytes:
    return bytes_field(1, bytes_field(1, text.encode()) + float_field(2, score) + varint_field(3, kind))


UNIGRAM = bytes_field(2, varint_field(3, 1))
UNKNOWN = piece("<unk>", 0, 2)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (piece("a") + UNIGRAM, r"odd: 0 pieces are for unknown characters; a Unigram model has exactly one"),
        (piece("a") + UNKNOWN + piece("?", 0, 2) + UNIGRAM, r"odd: 2 pieces are for unknown characters"),
        (UNKNOWN + piece("a", math.nan) + UNIGRAM, r"odd, byte 16: a piece has no text, no finite score"),
        (UNKNOWN + piece("a", -math.inf) + UNIGRAM, r"odd, byte 16: a piece has no text, no finite score"),
        (UNKNOWN + piece("a") + piece("a") + UNIGRAM, r"odd, piece 2: the text 'a' occurs twice"),
        (UNKNOWN + UNIGRAM, r"odd: the model has no pieces"),
        (UNKNOWN + piece("a") + bytes_field(2, varint_field(3, 5)), r"odd holds a model of the kind 5"),
        (piece("a") + bytes_field(2, varint_field(3, 3)), r"0 pieces are for unknown characters; a model of words has"),
        (
            UNKNOWN + piece("a") + bytes_field(2, varint_field(35, 1)),
            r"odd: the model splits unknown characters into bytes, but",
        ),
        ((UNKNOWN + piece("a"))[:-3], r"odd, byte 16: a field claims"),
    ],
)
def test_a_damaged_unigram_model_of_sentencepiece_is_refused(data: bytes, sentence: str) -> None:
    with pytest.raises(FormatError, match=sentence):
        MODEL.open(data, "odd")


def test_unigram_pieces_of_every_kind_get_the_same_ids_as_in_sentencepiece() -> None:
    pieces = [UNKNOWN, piece("▁"), piece("a"), piece("▁ab"), piece("a▁a"), piece("gone", kind=5), piece("now", kind=4)]
    opened = MODEL.open(b"".join(pieces) + UNIGRAM, "odd")
    assert opened.notes == ()
    assert opened.numbers_of(encode(opened.history, "ab b a a now")) == [3, 1, 0, 1, 4, 1, 6]


def open_changed_file(**model: object) -> OpenedTable:
    whole = json.loads(content(history_of(RECIPES["plain"]), "tokenizer.json"))
    whole["pre_tokenizer"] = model.pop("pre_tokenizer", whole["pre_tokenizer"])
    whole["normalizer"] = model.pop("normalizer", whole["normalizer"])
    whole["model"] |= model
    return TOKENIZER_JSON.open(json.dumps(whole).encode(), "odd.json")


A, UNK = ["a", -1.0], ["<unk>", 0.0]


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ({"unk_id": 10**6}, r'odd\.json: "unk_id" is 1,000,000, but the ids of pieces go from 0 to'),
        ({"unk_id": "0"}, r'"unk_id" must be a whole number'),
        ({"vocab": [UNK, ["", -1.0]]}, r"odd\.json, piece 1: the text of the piece is empty"),
        ({"vocab": [UNK, ["a", math.nan]]}, r"piece 1: the log-probability nan is not a finite number"),
        ({"vocab": [UNK, ["a", 1e300]]}, r"piece 1: the log-probability 1e\+300"),
        ({"vocab": [UNK, ["a", "b"]]}, r"piece 1: the log-probability b"),
        ({"vocab": [UNK, "a"]}, r"piece 1: there must be a text and its log-probability"),
        ({"vocab": {"a": 1}}, r'"vocab" must be a list'),
        ({"vocab": [UNK]}, r"odd\.json: the model has no pieces"),
    ],
)
def test_a_damaged_list_of_unigram_pieces_in_tokenizer_json_is_refused(model: dict[str, object], sentence: str) -> None:
    with pytest.raises(FormatError, match=sentence):
        open_changed_file(**model)


def test_unknown_characters_get_no_id_from_a_unigram_file_without_an_unknown_token() -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
    model = {
        "type": "Unigram",
        "unk_id": None,
        "vocab": [["[UNK]", 0.0], A, ["b", -1.5], ["ab", -2.0], ["<unk>", -9.0]],
    }
    data = json.dumps({"version": "1.0", "added_tokens": [], "model": model}).encode()
    theirs, opened = tokenizers.Tokenizer.from_buffer(data), TOKENIZER_JSON.open(data, "odd.json")
    assert any("names no unknown token" in note for note in opened.notes)
    for text in ("abba", "aab", ""):
        assert opened.numbers_of(encode(opened.history, text)) == theirs.encode(text).ids
    assert opened.numbers_of(encode(opened.history, "axb")) == [1, NO_NUMBER, 2]
    with pytest.raises(Exception, match="unk_id"):
        theirs.encode("axb")


def test_normalizers_without_a_matching_recipe_choice_work_as_in_the_tokenizers_library() -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
    whole = json.loads(their_json())
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True}
    steps = [
        {"type": "Precompiled", "precompiled_charsmap": ""},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
    ]
    whole |= {"pre_tokenizer": metaspace, "normalizer": {"type": "Sequence", "normalizers": steps}}
    opened = TOKENIZER_JSON.open(json.dumps(whole).encode(), "odd.json")
    assert not any("step" in note for note in opened.notes)
    whole["normalizer"] = {"type": "Sequence", "normalizers": steps[1:]}  # an empty table is none
    asked = tokenizers.Tokenizer.from_str(json.dumps(whole))
    for text in ("  two   blanks and\nlines", "▁signs▁ of  blanks", "</s> begins", *list(texts())[:200]):
        ours = opened.numbers_of(encode(opened.history, text))
        library_ids = asked.encode(text).ids
        assert ours == library_ids, text[:80]
