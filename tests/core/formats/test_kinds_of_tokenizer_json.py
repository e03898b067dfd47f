"""Tests of the kinds of tokenizer.json in published models: the program and the library give the same ids.

With the profile "explore" all kinds are tested on all lines of all texts.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from bpe_core.errors import FormatError
from bpe_core.formats import FORMATS
from bpe_core.formats.base import own_numbers
from bpe_core.methods.kit.tokenizer import Tokenizer
from tests.conftest import EXPLORES
from tests.core.formats.hugging_face_tokenizers import (
    KINDS,
    QWEN,
    added_token,
    bert_like,
    bpe,
    by_bytes,
    in_sequence,
    metaspace,
    replace_step,
    split,
    word_level,
    wordpiece,
)
from tests.core.formats.samples import texts
from tests.core.formats.test_merge_priorities import random_texts
from tests.shared import available_texts, text_of

tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
pytest.importorskip("sentencepiece", reason="the package sentencepiece is not installed")

JSON = FORMATS["tokenizer.json"]
ALWAYS = ("qwen", "deepseek", "gpt neox", "starcoder", "falcon", "roberta", "clip", "bert", "characters of words",
          "xlm roberta", "llama 2", "llama of transformers 5", "unigram of bytes", "without bytes",
          "gemma", "word level", "unigram over bytes", "wordpiece of signs", "by scripts")  # fmt: skip
ODD = (
    "  a  b ", "▁ ▁a▁", "<0x41> x <unk>y[UNK]<unk>", "\n\n\n x\t\t\ty", "<mask>  a  <mask>", " <|im_start|> <tool>x",
    "<s>a</s> <|endoftext|> <|0.02|>", "12345 1,234.5 ①② １２", "don't WE'LL", "``quoted''",
    "##. (##,; ##) ##\u1dce,", "  カタカナ語ー Привет\u0301, \u0589a",
    "\u1c89x ꟋꟌ Ꟛ ΑΣ İ",
    "\U00010d50\U00016ea0 \u1c8a", "a\u061db \u2e5dc\U00011f43\u166d \u0897\u0891x", "\U0002b820a\ufa6e人",
    "w\u1663\U0001c925\U00019024\u038e\x0b\ue22b\u2156", "\x0c\xbd  \U00012647 \U00011de5\U000124761",
)  # fmt: skip


@cache
def lines() -> tuple[str, ...]:
    """Return lines in many languages, known hard cases, and lines of random characters."""
    whole = [
        line for name in available_texts("languages", "data/udhr-languages.txt") for line in text_of(name).split("\n")
    ]
    chosen = whole if EXPLORES else whole[:: max(1, len(whole) // 40)]
    return (*chosen, *(text[:200] for text in texts()[::2]), *random_texts(2_000 if EXPLORES else 20), *ODD)


@pytest.mark.parametrize("kind", KINDS if EXPLORES else ALWAYS)
def test_each_kind_of_tokenizer_json_keeps_the_library_ids_when_opened_and_written(kind: str) -> None:
    data = json.dumps(KINDS[kind]()).encode()
    theirs = tokenizers.Tokenizer.from_buffer(data)
    opened = JSON.open(data, kind)
    assert not any("do not have" in note for note in opened.notes)
    file = io.BytesIO()
    JSON.write(opened.history, file)
    again = tokenizers.Tokenizer.from_buffer(file.getvalue())
    tokenizer = Tokenizer(opened.history)
    spelled = "<0x41>" if any("<0x41>" in note for note in opened.notes) else "\0"  # a note reports the byte token
    given = [line.replace(spelled, "") for line in (*lines(), "\n".join(lines()))]
    together, edges = tokenizer.encode_batch(given, allowed_special="all")
    for text, (start, stop) in zip(given, pairwise(edges), strict=True):
        ids = theirs.encode(text, add_special_tokens=False).ids
        assert opened.numbers_of(together[start:stop].tolist()) == ids, text
        assert opened.numbers_of(tokenizer.encode(text, allowed_special="all")) == ids, text
        assert again.encode(text, add_special_tokens=False).ids == ids, text
        for skip in (False, True):
            decoded = theirs.decode(ids, skip_special_tokens=skip)
            assert tokenizer.decode(opened.history.indices_of(ids), way="library", skip_special=skip) == decoded, text
            assert again.decode(ids, skip_special_tokens=skip) == decoded, text


Whole = dict[str, Any]


def change_scores(model: Whole, new: Callable[[float], float]) -> None:
    model["vocab"] = [[text, new(score)] for text, score in model["vocab"]]


# An option of a model, and a kind of file that has the option.
SWITCHED: dict[str, tuple[str, Callable[[Whole], Any]]] = {
    "no unknown token": ("characters of words", lambda model: model.update(unk_token=None)),
    "another unknown token": ("characters of words", lambda model: model.update(unk_token="the</w>")),
    "unknown joined": ("characters of words", lambda model: model.update(fuse_unk=True)),
    "whole words": ("bert-like", lambda model: model.update(ignore_merges=True)),
    "merges in any order": ("qwen", lambda model: Random(4).shuffle(model["merges"])),
    "merges as texts": ("qwen", lambda model: model.update(merges=[" ".join(pair) for pair in model["merges"]])),
    "unknown apart": ("llama 2", lambda model: model.update(fuse_unk=False)),
    "no bytes for the unknown": ("llama 2", lambda model: model.update(byte_fallback=False)),
    "short words only": ("bert", lambda model: model.update(max_input_chars_per_word=4)),
    "no type": ("xlm roberta", lambda model: model.pop("type")),
    "rounded scores": (
        "t5",
        lambda model: model.update(vocab=[[text, round(score)] for text, score in model["vocab"]]),
    ),
    "equal scores": (
        "albert",
        lambda model: model.update(vocab=[[text, min(-1, score)] for text, score in model["vocab"]]),
    ),
    "scores of zero": (
        "unigram over bytes",
        lambda model: model.update(vocab=[[text, 0] for text, _ in model["vocab"]]),
    ),
}


@pytest.mark.parametrize("option", SWITCHED)
def test_a_tokenizer_json_with_a_changed_model_option_gives_the_same_ids_as_in_the_tokenizers_library(
    option: str,
) -> None:
    kind, switch = SWITCHED[option]
    whole = json.loads(json.dumps(bert_like() if kind == "bert-like" else KINDS[kind]()))
    switch(whole["model"])
    data = json.dumps(whole).encode()
    theirs, opened = tokenizers.Tokenizer.from_buffer(data), JSON.open(data, option)
    file = io.BytesIO()
    JSON.write(opened.history, file)
    again, tokenizer = tokenizers.Tokenizer.from_buffer(file.getvalue()), Tokenizer(opened.history)
    for text in lines()[::2]:
        ids = theirs.encode(text, add_special_tokens=False).ids
        assert opened.numbers_of(tokenizer.encode(text, allowed_special="all")) == ids, text
        assert again.encode(text, add_special_tokens=False).ids == ids, text


@pytest.mark.parametrize("unknown", ["<unk>", None])
def test_a_character_that_has_a_token_only_for_word_ends_is_unknown_inside_words(unknown: str | None) -> None:
    tokens = ["<unk>", "l", "o", "w</w>", "</w>", "lo", "e", "e</w>", "low</w>"]
    merges = [["l", "o"], ["e", "</w>"], ["lo", "w</w>"]]  # one merge makes a token that is a base symbol already
    made = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token=unknown, end_of_word_suffix="</w>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    whole = json.loads(made.to_str())
    whole["model"] |= {"vocab": {token: number for number, token in enumerate(tokens)}, "merges": merges}
    data = json.dumps(whole).encode()
    theirs, opened = tokenizers.Tokenizer.from_buffer(data), JSON.open(data, "x")
    for text in ("low", "wow", "lowe ew", "wwe</w> lo", "</w>e", "loww w"):
        assert opened.numbers_of(Tokenizer(opened.history).encode(text)) == theirs.encode(text).ids


@pytest.mark.parametrize("kind", ["qwen", "word level", "bert", "xlm roberta", "llama 2", "clip"])
def test_added_tokens_get_the_ids_that_their_library_gives_them(kind: str) -> None:
    """The library computes the ids of added tokens from the size of the vocabulary, and ignores the ids in the file.

    Two added tokens may then share an id.
    """
    whole = json.loads(json.dumps(KINDS[kind]()))
    vocabulary = whole["model"]["vocab"]
    size, (piece, last) = len(vocabulary), [text if isinstance(text, str) else text[0] for text in vocabulary][40:42]
    if isinstance(vocabulary, dict):
        vocabulary[last] = size + 1  # behind a gap
    first, second, third = (
        added_token(3, "<one>"),
        added_token(size + 70, "<two>", special=False),
        added_token(0, "<three>", rstrip=True),
    )
    again = [added_token(5, ""), added_token(9, piece), added_token(size + 3, "<one>", lstrip=True)]
    whole["added_tokens"] += [first, second, *again, third]
    data = json.dumps(whole).encode()
    theirs, opened = tokenizers.Tokenizer.from_buffer(data), JSON.open(data, "x")
    file = io.BytesIO()
    JSON.write(opened.history, file)
    rewritten, tokenizer = tokenizers.Tokenizer.from_buffer(file.getvalue()), Tokenizer(opened.history)
    for text in ("a <one> b", "<two><three>  z", f" {piece} the", "<one><one>", f"x {last} the"):
        ids = theirs.encode(text, add_special_tokens=False).ids
        assert opened.numbers_of(tokenizer.encode(text, allowed_special="all")) == ids, text
        assert rewritten.encode(text, add_special_tokens=False).ids == ids, text
        for skip in (False, True):
            decoded = theirs.decode(ids, skip_special_tokens=skip)
            assert tokenizer.decode(opened.history.indices_of(ids), way="library", skip_special=skip) == decoded
    assert any("not the ids in the file: “<one>”, “<two>”" in note for note in opened.notes)
    assert any("shares its id" in note or "share their id" in note for note in opened.notes) == isinstance(
        vocabulary, dict
    )


@pytest.mark.parametrize("is_added", [True, False])
@pytest.mark.parametrize("kind", ["albert", "t5"])
def test_text_that_becomes_a_token_name_by_normalization_gets_the_same_ids_as_in_the_tokenizers_library(
    kind: str, is_added: bool
) -> None:
    whole = json.loads(json.dumps(KINDS[kind]()))
    if not is_added:
        whole["added_tokens"] = [token for token in whole["added_tokens"] if token["content"] != "<unk>"]
    data = json.dumps(whole).encode()
    theirs, opened, file = tokenizers.Tokenizer.from_buffer(data), JSON.open(data, "x"), io.BytesIO()
    assert not any("spells" in note for note in opened.notes)
    assert not JSON.can_hold(opened.history)
    JSON.write(opened.history, file)
    again, tokenizer = tokenizers.Tokenizer.from_buffer(file.getvalue()), Tokenizer(opened.history)
    for text in (
        "<UNK> b",
        "<PAD>s",
        "\uff1cunk\uff1e \u2603",
        "<u\u200bnk>",
        "<unk>",
        "a</S>b",
        "\u2603<UNK><unk>\u2603",
    ):
        ids = theirs.encode(text, add_special_tokens=False).ids
        assert opened.numbers_of(tokenizer.encode(text, allowed_special="all")) == ids, text
        assert again.encode(text, add_special_tokens=False).ids == ids, text


def test_bytes_without_a_token_become_the_unknown_token_as_in_the_tokenizers_library() -> None:
    whole = json.loads(json.dumps(KINDS["gpt neox"]()))
    model, letters = whole["model"], "ĀāĂăâĠ"
    lacking = {text: number for text, number in model["vocab"].items() if set(text) & set(letters)}
    model["vocab"] = {text: number for text, number in model["vocab"].items() if text not in lacking}
    model["merges"] = [pair for pair in model["merges"] if not set("".join(pair)) & set(letters)]
    model["unk_token"] = "<|padding|>"
    data = json.dumps(whole).encode()
    theirs, opened, file = tokenizers.Tokenizer.from_buffer(data), JSON.open(data, "x"), io.BytesIO()
    assert any("they become <|padding|>" in note for note in opened.notes)
    JSON.write(opened.history, file)
    again, tokenizer = tokenizers.Tokenizer.from_buffer(file.getvalue()), Tokenizer(opened.history)
    for text in lines()[::4]:
        ids = theirs.encode(text, add_special_tokens=False).ids
        assert opened.numbers_of(tokenizer.encode(text, allowed_special="all")) == ids, text
        assert again.encode(text, add_special_tokens=False).ids == ids, text
        for skip in (False, True):
            decoded = theirs.decode(ids, skip_special_tokens=skip)
            assert tokenizer.decode(opened.history.indices_of(ids), way="library", skip_special=skip) == decoded
    model["fuse_unk"] = True
    assert any("so ids can differ" in note for note in JSON.open(json.dumps(whole).encode(), "x").notes)


@pytest.mark.parametrize("kind", ["word level", "characters of words"])
def test_an_unknown_token_that_is_only_an_added_token_is_encoded_and_decoded_as_in_the_tokenizers_library(
    kind: str,
) -> None:
    whole = json.loads(json.dumps(KINDS[kind]()))
    del whole["model"]["vocab"]["<unk>"]
    data = json.dumps(whole).encode()
    theirs, opened = tokenizers.Tokenizer.from_buffer(data), JSON.open(data, kind)
    assert any(
        "refuses texts with unknown characters. In this program such characters become that added token" in note
        for note in opened.notes
    )
    tokenizer = Tokenizer(opened.history)
    for text in ("<unk>", "the <unk> the"):
        ids = theirs.encode(text).ids
        assert opened.numbers_of(tokenizer.encode(text, allowed_special="all")) == ids
        decoded = theirs.decode(ids, skip_special_tokens=False)
        assert tokenizer.decode(opened.history.indices_of(ids), way="library") == decoded


@pytest.mark.parametrize(
    ("kind", "text", "how"),
    [
        ("word level", "the", {"single_word": True}),
        ("bert", "##s", {}),
        ("bert", "the", {"single_word": True}),
        ("characters of words", "e", {"single_word": True}),
        ("qwen", "e", {"single_word": True}),
        ("xlm roberta", "e", {"single_word": True}),
    ],
)
def test_texts_with_an_added_token_inside_words_get_the_same_ids_as_in_the_tokenizers_library(
    kind: str, text: str, how: dict[str, bool]
) -> None:
    whole = json.loads(json.dumps(KINDS[kind]()))
    vocabulary = whole["model"]["vocab"]
    texts_of = [entry if isinstance(entry, str) else entry[0] for entry in vocabulary]
    whole["added_tokens"].append(added_token(texts_of.index(text), text, **how))
    data = json.dumps(whole).encode()
    theirs, opened, file = tokenizers.Tokenizer.from_buffer(data), JSON.open(data, "x"), io.BytesIO()
    JSON.write(opened.history, file)
    again, tokenizer = tokenizers.Tokenizer.from_buffer(file.getvalue()), Tokenizer(opened.history)
    for line in (*lines()[::4], "the thes es e seas sthe", "e\u0301e the_ _the the\u0301"):
        ids = theirs.encode(line, add_special_tokens=False).ids
        assert opened.numbers_of(tokenizer.encode(line, allowed_special="all")) == ids, line
        assert again.encode(line, add_special_tokens=False).ids == ids, line
        for skip in (False, True):
            decoded = theirs.decode(ids, skip_special_tokens=skip)
            assert tokenizer.decode(opened.history.indices_of(ids), way="library", skip_special=skip) == decoded, line


@pytest.mark.parametrize("place", [30, "unknown"])
def test_encoding_uses_the_last_of_two_equal_unigram_pieces(place: int | str) -> None:
    whole = json.loads(json.dumps(KINDS["t5"]()))
    pieces = whole["model"]["vocab"]
    pieces.append([pieces[whole["model"]["unk_id"] if place == "unknown" else place][0], -5.0])
    whole["added_tokens"].append(added_token(3, "<behind>"))
    data = json.dumps(whole).encode()
    theirs, opened = tokenizers.Tokenizer.from_buffer(data), JSON.open(data, "x")
    assert any("1 piece occurs several times" in note for note in opened.notes)
    for line in (*lines()[::8], "the <unk> <behind> \u2603"):
        ids = theirs.encode(line, add_special_tokens=False).ids
        assert opened.numbers_of(Tokenizer(opened.history).encode(line, allowed_special="all")) == ids, line


def test_byte_tokens_without_a_byte_conversion_in_the_file_are_reported_on_opening() -> None:
    bare = json.dumps({**KINDS["qwen"](), "pre_tokenizer": None}).encode()
    assert any("although no operation of the file says so" in note for note in JSON.open(bare, "x").notes)


def test_byte_characters_are_read_as_letters_if_the_vocabulary_contains_a_plain_space() -> None:
    whole = json.loads(json.dumps({**KINDS["qwen"](), "pre_tokenizer": None}))
    whole["model"]["vocab"] |= {" ": 5_000, "\n": 5_001}
    data = json.dumps(whole).encode()
    theirs, opened = tokenizers.Tokenizer.from_buffer(data), JSON.open(data, "x")
    tokenizer = Tokenizer(opened.history)
    for line in (*lines()[::8], "two lines\nand a space"):
        ids = theirs.encode(line, add_special_tokens=False).ids
        assert opened.numbers_of(tokenizer.encode(line)) == ids, line


def test_byte_characters_are_read_as_letters_if_the_pre_tokenizer_splits_at_spaces() -> None:
    cuts: list[Whole] = [{"type": "Whitespace"}]
    whole = bpe([], cuts, bytes_first=True, specials=("<unk>",), unk_token="<unk>")
    data = json.dumps(whole).encode()
    theirs, opened = tokenizers.Tokenizer.from_buffer(data), JSON.open(data, "letters")
    for text in ("ĠĊĀ low", "é a\tb", *lines()[:20]):
        assert opened.numbers_of(Tokenizer(opened.history).encode(text)) == theirs.encode(text).ids, text


@pytest.mark.parametrize("unknown", ["the", "##s"])
def test_words_beginning_with_the_wordpiece_unknown_token_get_the_ids_of_the_tokenizers_library(unknown: str) -> None:
    whole = wordpiece([], [{"type": "WhitespaceSplit"}])
    whole["model"]["unk_token"] = unknown
    theirs, opened = tokenizers.Tokenizer.from_str(json.dumps(whole)), JSON.open(json.dumps(whole).encode(), "x")
    assert not opened.notes
    assert not JSON.can_hold(opened.history)
    tokenizer = Tokenizer(opened.history)
    for text in (*lines()[::4], "the thes theys xs seas ##s ##sea a##s"):
        ids = theirs.encode(text, add_special_tokens=False).ids
        assert opened.numbers_of(tokenizer.encode(text, allowed_special="all")) == ids, text


@pytest.mark.parametrize("special", [False, True])
def test_an_added_token_matched_in_normalized_text_is_decoded_in_normalized_form(special: bool) -> None:
    whole = KINDS["llama 2"]()
    whole["added_tokens"][0]["normalized"] = True
    whole["added_tokens"].append(added_token(len(whole["model"]["vocab"]), "a b", special=special, normalized=True))
    data = json.dumps(whole).encode()
    theirs, opened = tokenizers.Tokenizer.from_buffer(data), JSON.open(data, "x").history
    ids = [*theirs.encode("see a b", add_special_tokens=False).ids, 0, 1]
    for skip in (False, True):
        decoded = theirs.decode(ids, skip_special_tokens=skip)
        assert "\u2581a\u2581b" in decoded
        assert Tokenizer(opened).decode(opened.indices_of(ids), way="library", skip_special=skip) == decoded


@pytest.mark.parametrize("cuts", [[], [split(QWEN)], [{"type": "WhitespaceSplit"}]])
def test_text_normalized_to_bytes_before_splitting_gets_the_same_ids_as_in_the_tokenizers_library(
    cuts: list[Whole],
) -> None:
    whole = {
        **KINDS["qwen"](),
        "normalizer": {"type": "ByteLevel"},
        "pre_tokenizer": in_sequence(cuts, "pretokenizers"),
    }
    data = json.dumps(whole).encode()
    theirs, opened, file = tokenizers.Tokenizer.from_buffer(data), JSON.open(data, "x"), io.BytesIO()
    JSON.write(opened.history, file)
    again, tokenizer = tokenizers.Tokenizer.from_buffer(file.getvalue()), Tokenizer(opened.history)
    for text in lines()[::4]:
        ids = theirs.encode(text, add_special_tokens=False).ids
        assert opened.numbers_of(tokenizer.encode(text, allowed_special="all")) == ids, text
        assert again.encode(text, add_special_tokens=False).ids == ids, text


def test_converting_text_to_bytes_twice_is_refused_and_added_tokens_matched_as_bytes_are_reported() -> None:
    whole = {**KINDS["qwen"](), "normalizer": {"type": "ByteLevel"}, "pre_tokenizer": by_bytes(cuts=True)}
    with pytest.raises(FormatError, match="turns text into bytes twice"):
        JSON.open(json.dumps(whole).encode(), "x")
    whole["pre_tokenizer"] = None
    whole["added_tokens"].append(added_token(len(whole["model"]["vocab"]) + 2, "É!", normalized=True))
    assert any("in the bytes by the file" in note for note in JSON.open(json.dumps(whole).encode(), "x").notes)


def test_normalizing_to_bytes_next_to_an_added_token_gives_the_ids_of_the_tokenizers_library() -> None:
    whole = word_level() | {"normalizer": {"type": "ByteLevel"}}
    whole["added_tokens"].append(added_token(len(whole["model"]["vocab"]), "</s>", normalized=True, rstrip=True))
    data = json.dumps(whole).encode()
    theirs, opened = tokenizers.Tokenizer.from_buffer(data), JSON.open(data, "x")
    for text in ("<s>a</s> <|endoftext|>", "the</s> the"):
        ids = theirs.encode(text, add_special_tokens=False).ids
        assert opened.numbers_of(Tokenizer(opened.history).encode(text, allowed_special="all")) == ids


SPACES = [replace_step("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"}]
DECODERS = (
    None, by_bytes(), metaspace(), metaspace("first"), metaspace("never"), {"type": "Fuse"}, {"type": "ByteFallback"},
    {"type": "WordPiece", "prefix": "##", "cleanup": True}, {"type": "WordPiece", "prefix": "##", "cleanup": False},
    {"type": "BPEDecoder", "suffix": "</w>"}, {"type": "BPEDecoder", "suffix": "e"},
    {"type": "CTC", "pad_token": "e", "word_delimiter_token": "t", "cleanup": True},
    {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": False},
    {"type": "Sequence", "decoders": [*SPACES, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
    {"type": "Sequence", "decoders": [replace_step("[a-c]+", "*", regex=True), *SPACES]},
)  # fmt: skip


@pytest.mark.parametrize("place", range(len(DECODERS)))
def test_each_kind_of_decoder_in_tokenizer_json_gives_the_same_texts_as_the_tokenizers_library(place: int) -> None:
    chance = Random(place)
    for kind in ("clip", "bert", "xlm roberta", "llama 2"):
        data = json.dumps({**KINDS[kind](), "decoder": DECODERS[place]}).encode()
        theirs, opened = tokenizers.Tokenizer.from_buffer(data), JSON.open(data, kind).history
        file = io.BytesIO()
        JSON.write(opened, file)
        again, tokenizer = tokenizers.Tokenizer.from_buffer(file.getvalue()), Tokenizer(opened)
        known = own_numbers(opened)[own_numbers(opened) >= 0].tolist()
        rows = [theirs.encode(text, add_special_tokens=False).ids for text in ODD]
        for ids in (*rows, *(chance.sample(known, 9) for _ in range(20))):
            for skip in (False, True):
                decoded = theirs.decode(ids, skip_special_tokens=skip)
                assert tokenizer.decode(opened.indices_of(ids), way="library", skip_special=skip) == decoded
                assert again.decode(ids, skip_special_tokens=skip) == decoded


def test_opening_a_file_reports_an_unknown_kind_of_decoder() -> None:
    data = json.dumps({**word_level(), "decoder": {"type": "Rot13"}}).encode()
    assert any("decodes by an operation that this program does not support, so texts can differ: Rot13" in note
               for note in JSON.open(data, "x").notes)  # fmt: skip
