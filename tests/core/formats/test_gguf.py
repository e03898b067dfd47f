"""Tests of tokenizers in GGUF files.

The expected ids come from llama.cpp (b11549), which encoded with the same files.
"""

from __future__ import annotations

import struct
from pathlib import Path
from random import Random
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.errors import FormatError, OutputError, TooLarge
from bpe_core.formats import FORMATS, open_table, write_history
from bpe_core.formats.byte_level import stand_ins, written
from bpe_core.formats.sentencepiece_text import packed
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.text.decoding import LlamaSpaces, text_of
from tests.core.formats.gguf_files import gguf

GGUF = FORMATS["gguf"]
SHOWN = [written(sign.encode()) for sign in "aB1 .'s\né"]
MERGES = ["Ã ©", *(f"{one} {other}" for one in SHOWN for other in SHOWN)]  # so every second border is a border of words
BYTES = [*stand_ins(), *(merge.replace(" ", "", 1) for merge in MERGES), "<|end|>", "<tool>"]
TEXT = "aB1 's.'S a1111111B\n\n  .é  1a\n.. éBa'll\n 1"
SPLIT: dict[tuple[str, ...], str] = {  # by names that llama.cpp splits alike
    ("gpt-2", "granite-docling"): (
        "258 49 289 115 298 83 284 277 277 277 49 66 10 323 288 256 32 286 97 10 297 292 266 39 108 108 10 286 "
    ),
    ("llama3", "chatglm-bpe", "jais-2", "glm5"): (
        "258 49 289 115 298 83 284 277 49 277 49 49 66 327 32 288 256 32 32 49 97 10 297 292 266 39 108 108 10 32 49 "
    ),
    ("qwen2", "seed-coder", "ufakzeka", "laguna", "exaone-moe"): (
        "258 49 289 115 298 83 284 49 49 49 49 49 49 49 66 327 32 288 256 32 32 49 97 10 297 292 266 39 108 "
        "108 10 32 49 "
    ),
    ("deepseek-v3", "joyai-llm", "minicpm5", "hy_v4"): (
        "258 49 289 115 298 83 284 277 49 277 49 49 66 327 32 288 256 287 49 97 10 297 292 266 39 108 108 10 32 49 "
    ),
    ("deepseek-coder", "spark2_5"): (
        "258 49 289 115 298 83 284 49 49 49 49 49 49 49 66 10 10 32 288 256 287 49 97 10 297 292 266 39 108 "
        "108 10 32 49 "
    ),
    ("falcon", "falcon"): (
        "258 49 32 39 115 298 83 284 277 49 277 49 49 66 327 287 46 256 32 286 97 10 297 292 266 39 108 108 10 286 "
    ),
    ("starcoder", "mellum2"): (
        "258 49 289 115 298 83 284 49 49 49 49 49 49 49 66 10 323 288 256 287 49 97 10 297 292 266 39 108 108 323 49 "
    ),
    ("bloom", "gpt3-finnish"): (
        "258 49 289 115 46 39 83 32 259 277 277 49 276 327 287 46 256 32 32 275 10 297 292 66 262 108 108 10 286 "
    ),
    ("viking", "viking"): (
        "258 49 289 115 46 39 83 284 49 49 49 49 49 49 49 66 327 287 46 256 32 32 49 97 10 297 292 66 262 108 "
        "108 10 32 49 "
    ),
    ("tekken", "tekken"): (
        "97 66 49 289 115 298 83 284 49 49 49 49 49 49 49 66 327 32 288 256 32 32 49 97 10 297 292 266 39 108 "
        "108 10 32 49 "
    ),
    ("gpt-4o", "minimax-m2", "granite-embed-multi-97m"): (
        "97 66 49 289 115 298 83 284 277 49 277 49 49 66 327 32 288 256 32 32 49 97 10 297 292 66 262 108 108 10 32 49 "
    ),
    ("superbpe", "superbpe"): (
        "258 49 289 115 298 83 284 49 277 49 277 49 273 10 287 301 287 49 264 297 292 66 262 108 108 323 49 "
    ),
    ("deepseek-llm",): (
        "258 49 289 115 298 83 284 277 277 277 49 66 10 10 32 288 256 287 49 97 10 297 292 266 39 108 108 10 32 49 "
    ),
    ("youtu",): (
        "258 49 289 115 298 83 284 49 49 49 49 49 49 49 66 327 32 288 256 32 32 49 97 10 297 292 66 262 108 "
        "108 10 32 49 "
    ),
    ("tiny_aya",): (
        "258 49 289 115 298 83 284 49 277 49 277 49 66 327 32 288 256 32 32 49 97 10 297 292 66 262 108 108 10 32 49 "
    ),
    ("kimi-k2",): (
        "258 49 289 115 298 83 284 277 49 277 49 49 66 327 32 288 256 32 32 49 97 10 297 292 66 262 108 108 10 32 49 "
    ),
    ("afmoe",): (
        "258 49 289 115 298 83 284 49 277 49 277 49 66 327 32 288 256 32 32 49 97 10 297 292 266 39 108 108 10 32 49 "
    ),
    ("chameleon",): (
        "258 49 32 39 115 46 39 83 284 49 49 49 49 49 49 49 66 10 10 287 46 256 287 49 97 10 46 46 292 266 39 108 108 "
        "10 32 49 "
    ),
    ("default", "default"): (
        "258 49 32 39 115 298 83 284 277 49 277 49 49 66 327 287 46 256 32 32 49 97 10 297 292 266 39 108 108 10 32 49 "
    ),
}


def by_name(name: str, **more: Any) -> dict[str, Any]:
    kinds = [1] * (len(BYTES) - 2) + [3, 4]
    return {"model": "gpt2", "pre": name, "tokens": BYTES, "token_type": kinds, "merges": MERGES, **more}


def ids(data: bytes, texts: list[str], *, special: bool = True) -> list[list[int]]:
    opened = GGUF.open(data, "model.gguf")
    tokenizer = Tokenizer(opened.history)
    return [opened.numbers_of(tokenizer.encode(text, allowed_special="all" if special else ())) for text in texts]


@pytest.mark.parametrize(("names", "expected"), SPLIT.items())
def test_texts_are_split_with_the_pre_tokenizer_that_a_gguf_file_names(names: tuple[str, ...], expected: str) -> None:
    for name in names:
        assert ids(gguf(by_name(name)), [TEXT]) == [list(map(int, expected.split()))]


@pytest.mark.parametrize(("name", "as_a_whole"), [("glm4", True), ("chatglm-bpe", False), ("minicpm5", True)])
def test_some_gguf_pre_tokenizers_do_not_split_a_word_that_is_a_token(name: str, as_a_whole: bool) -> None:
    contents = by_name(name, tokens=[*BYTES, "quite"], token_type=[1] * (len(BYTES) + 1))
    assert (len(ids(gguf(contents), ["quite"])[0]) == 1) == as_a_whole


def test_the_east_asian_letter_pattern_of_a_gguf_file_does_not_match_unicode_spaces() -> None:
    contents = by_name("deepseek-coder", merges=[*MERGES, "Ġ â"], tokens=[*BYTES, "Ġâ"])
    contents["token_type"] = [*contents["token_type"], 1]
    assert ids(gguf(contents), ["x \u2006 y"]) == [[120, len(BYTES), 128, 134, 32, 121]]


def test_user_defined_gguf_tokens_always_divide_a_text_and_special_tokens_divide_a_text_on_request() -> None:
    data, end, tool = gguf(by_name("gpt-2")), BYTES.index("<|end|>"), BYTES.index("<tool>")
    encoded = ids(data, ["a<tool>a<|end|>"])
    assert encoded == [[97, tool, 97, end]]
    assert ids(data, ["<tool>", "<|end|>"], special=False) == [[tool], [60, 124, 101, 110, 100, 124, 62]]


def test_bytes_for_which_a_gguf_file_has_no_token_are_reported_because_llama_cpp_splits_them_differently() -> None:
    lacking = ["<gone>" if place == 11 else text for place, text in enumerate(BYTES)]
    opened = GGUF.open(gguf({**by_name("gpt-2"), "tokens": lacking}), "model.gguf")
    assert any("never in llama.cpp" in note for note in opened.notes)
    assert not any("never in llama.cpp" in note for note in GGUF.open(gguf(by_name("gpt-2")), "model.gguf").notes)


def test_special_tokens_of_a_phi_gguf_file_absorb_the_spaces_after_them() -> None:
    named = by_name("gpt-2")
    data, end = gguf({**named, "general.name": "Phi-3 mini"}), BYTES.index("<|end|>")
    assert ids(data, ["a <|end|>  b"]) == [[97, 32, end, 98]]
    assert ids(gguf(named), ["a <|end|> b"]) == [[97, 32, end, 32, 98]]
    assert any("spaces next to them" in note for note in GGUF.open(data, "model.gguf").notes)


PIECES = ["▁", "a", "b", "▁a", "ab", "▁ab", "aa", "aaa", "<sep>", "  ", "b▁"]
SCORED: dict[str, Any] = {
    "model": "llama",
    "tokens": ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *PIECES],
    "scores": [0.0] * 259 + [-9.0, -9.0, -9.0, -2.0, -1.0, -3.0, -4.0, -4.0, 0.0, 0.0, -5.0],
    "token_type": [2, 3, 3] + [6] * 256 + [1] * 8 + [4, 4, 5],
}
SCORED_TEXTS = ["ab aab", "aaaa aaaaa", "a<sep>a b <sep>", "  a  b", "", "é a", "<s>ab</s> a", "b b", "▁a", "a\n"]
WITH = "264 262 263|262 266 262 266 260|262 267 262 259 269 267|268 262 268 259 261||259 198 172 262|1 264 2 259 262"
WITHOUT = "263 262 263|266 260 262 266 260|260 267 260 259 269 267|268 260 268 261||198 172 262|1 263 2 262"


def numbers(rows: str) -> list[list[int]]:
    return [list(map(int, row.split())) for row in rows.split("|")]


@pytest.mark.parametrize(
    ("blank", "expected"), [(True, f"{WITH}|259 269 261|259 262|262 13"), (False, f"{WITHOUT}|269 261|262|260 13")]
)
def test_gguf_pieces_are_joined_by_score_and_the_space_prefix_option_adds_leading_spaces(
    blank: bool, expected: str
) -> None:
    assert ids(gguf({**SCORED, "add_space_prefix": blank}), SCORED_TEXTS) == numbers(expected)


PROBABLE: dict[str, Any] = {
    "model": "t5",
    "tokens": ["<pad>", "</s>", "<unk>", "▁", "a", "b", "▁a", "ab", "▁ab", "bb", "<x>", "old", "A"],
    "scores": [0.0, 0.0, 0.0, -2.0, -3.0, -3.5, -4.0, -5.0, -6.0, -6.75, 0.0, -1.0, -9.0],
    "token_type": [3, 3, 2] + [1] * 7 + [4, 5, 1],
    "add_space_prefix": True,
    "remove_extra_whitespaces": True,
    "precompiled_charsmap": packed({"A": "a", "＜": "<", "＞": ">"}),
}
PROBABLE_TEXTS = ["ab abb", "  a   b ", "é", "éé a é", "old", "aoldb", "a<x>b", "<unk>a</s> a", "bbb", "aé<x>é", "",
                  "A\na", "＜x＞"]  # fmt: skip


def test_a_unigram_gguf_file_encodes_with_the_most_probable_pieces() -> None:
    expected = "8 8 5|6 3 5|3 2|3 2 6 3 2|3 11|6 11 5|6 10 3 5|2 6 1 6|3 5 9|6 2 10 3 2||6 2 4|3 10"
    assert ids(gguf(PROBABLE), PROBABLE_TEXTS) == numbers(expected)
    assert "with nothing but spaces" in GGUF.open(gguf(PROBABLE), "x").notes[0]


LINES: dict[str, Any] = {
    "model": "gemma4",
    "tokens": [
        *("<pad>", "<eos>", "<bos>", "<unk>", *(f"<0x{byte:02X}>" for byte in range(256))),
        *("▁", "a", "b", "\n", "ab", "▁a", "\n\n", "▁ab", "</s>", "<|tool_response>"),
    ],
    "token_type": [3] * 4 + [6] * 256 + [1] * 9 + [4],
    "merges": ["a b", "▁ a", "▁a b", "\n \n", "▁ ab"],
}


def test_tokens_of_a_gemma_gguf_file_are_joined_only_within_lines() -> None:
    expected = "264 267|261 264 266 263 264|265 260 267|199 173 260 262|1 261 64 51 119 66 262 269|261 263 260 262|"
    texts = ["ab ab", "aab\n\n\nab", " a  ab", "é b", "<eos>a</s>b<|tool_response>", "a\n b", ""]
    assert ids(gguf(LINES), texts) == numbers(expected)
    assert ids(gguf({**LINES, "model": "gpt2", "pre": "sarvam-moe"}), texts) == numbers(expected)


def test_decoding_the_ids_of_a_gemma_gguf_file_restores_spaces_and_single_bytes() -> None:
    """An earlier version did not decode the signs for spaces and bytes, and put a space between all tokens."""
    tokenizer = Tokenizer(GGUF.open(gguf(LINES), "x").history)
    for text in ("ab ab", "aab\n\n\nab", " a  ab", "é b", "a\n b", "日本", ""):
        assert tokenizer.decode(tokenizer.encode(text), way="library") == text


def remove_spaces_as_llama_cpp(text: str) -> str:
    """Remove spaces from a text in three rounds over its characters, as llama.cpp does."""
    kept = [sign for place, sign in enumerate(text) if not (sign == " " and text[place + 1 : place + 2] in [*"?!.,"])]
    cleaned: list[str] = []
    place = 0
    while place < len(kept):
        is_alone = kept[place : place + 3] == [" ", "'", " "]
        cleaned.append("'" if is_alone else kept[place])
        place += 3 if is_alone else 1
    ends = ["'s", "'m", "'re", "'ve"]
    behind = ["".join(cleaned[place + 1 : place + 4]) for place in range(len(cleaned))]
    return "".join(
        sign for sign, rest in zip(cleaned, behind, strict=True) if not (sign == " " and rest.startswith(tuple(ends)))
    )


def test_decoding_a_gguf_file_removes_spaces_before_punctuation_as_llama_cpp_does() -> None:
    chance = Random(1)
    for _ in range(400):
        text = "".join(chance.choices(" ' .,smrevtd", weights=[9, 6, *[1] * 10], k=12))
        assert text_of([LlamaSpaces()], [text]) == remove_spaces_as_llama_cpp(text), text
    for name, expected in (("gpt-2", "a, b's"), ("qwen2", "a , b 's")):
        tokenizer = Tokenizer(GGUF.open(gguf(by_name(name)), "x").history)
        assert tokenizer.decode(tokenizer.encode("a , b 's"), way="library") == expected


def test_decoding_a_bert_gguf_file_puts_a_space_before_words_but_not_before_special_tokens() -> None:
    tokenizer = Tokenizer(GGUF.open(gguf(WORDS), "x").history)
    ids = tokenizer.encode("[CLS]x ba. a", allowed_special="all")
    assert tokenizer.decode(ids, way="library") == "[CLS][UNK] ba. a"
    assert tokenizer.decode(tokenizer.encode("ab ."), way="library") == " ab."


def test_a_letter_added_to_a_gguf_file_as_a_token_is_decoded_as_this_letter_and_not_as_a_byte() -> None:
    contents = by_name("deepseek-coder", token_type=[4 if text in ("Á", "<tool>") else 1 for text in BYTES])
    tokenizer = Tokenizer(GGUF.open(gguf(contents), "x").history)
    assert tokenizer.decode(tokenizer.encode("aÁ é", allowed_special="all"), way="library") == "aÁ é"


def test_gguf_tokens_are_special_if_their_names_are_in_the_list_of_llama_cpp() -> None:
    def found(kind: int, *names: str, **more: Any) -> tuple[list[bool], list[bool]]:
        contents = by_name("gpt-2", **more)
        contents["tokens"], contents["token_type"] = [*BYTES, *names], [*contents["token_type"], *[kind] * len(names)]
        asked, unasked = (ids(gguf(contents), [*names], special=special) for special in (True, False))
        return [len(row) == 1 for row in asked], [len(row) == 1 for row in unasked]

    assert found(1, "</s>", "<MID>") == ([True, True], [False, False])
    assert found(4, "</s>", "<MID>") == ([True, True], [False, False])  # and no longer a person's
    assert found(1, "<MID>", fim_mid_token_id=7)[0] == [False]
    assert found(3, "<|start|>") == ([True], [True])
    assert found(3, "<|call|>", "<|return|>") == ([True, True], [False, False])
    end = [BYTES.index("<|end|>")]
    calling = {**by_name("gpt-2"), "tokens": [*BYTES, "<|calls|>", "<|flush|>"], "token_type": [1] * (len(BYTES) + 2)}
    assert ids(gguf(calling), ["<|end|>"], special=False) == [end]
    either = by_name("gpt-2", tokens=[*BYTES, "<MID>", "<fim_middle>"], token_type=[1] * (len(BYTES) + 2))
    assert any("always treats as special" in note for note in GGUF.open(gguf(either), "x").notes)


WORDS: dict[str, Any] = {
    "model": "bert",
    "tokens": [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "▁a",
        "a",
        "b",
        "▁b",
        "▁ab",
        "▁é",
        "e",
        "▁e",
        "▁ᄀ",
        "▁.",
        "▁$",
        "▁人",
        "▁ς",
        "▁σ",
    ],
    "token_type": [3] * 4 + [1] * 14,
    "unknown_token_id": 1,
}
WORD_TEXTS = ["aab ba. a$b", "a\x0bb\x0c.", "é e\u0301 É", "가 각b", "人a人", "Σ ς Σa", "a" * 150, "abx b",
              "a\u093eb \u0488a", "[CLS] [cls] a", "\u200bab\u00ad", "a\u3000b\u2028a"]  # fmt: skip
LONG = " ".join(["4", *["5"] * 149])


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, "4 5 6 7 5 13 4 14 7|4 7 13|11 11 11|12 12 6|15 4 15|17 16 17 5|L|1 7|8 4|2 1 1 1 4|8|4 7 4"),
        (
            {"normalizer.lowercase": False, "normalizer.strip_accents": False},
            "4 5 6 7 5 13 4 14 7|4 7 13|9 1 1|1 1|15 4 15|1 16 1|L|1 7|1 1|2 1 1 1 4|8|4 7 4",
        ),
    ],
)
def test_a_bert_gguf_file_splits_words_as_llama_cpp_does(chosen: dict[str, bool], expected: str) -> None:
    assert ids(gguf({**WORDS, **chosen}), WORD_TEXTS) == numbers(expected.replace("L", LONG))


def test_opening_a_gguf_file_reports_that_newer_unicode_characters_may_be_split_differently() -> None:
    for contents, is_said in ((WORDS, True), (by_name("deepseek-v3"), True), (by_name("gpt-2"), True), (SCORED, False)):
        assert any("newer than Unicode 15" in note for note in GGUF.open(gguf(contents), "x").notes) == is_said


def test_a_gguf_model_is_opened_from_its_metadata_and_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf(SCORED, version=2) + bytes(5_000))
    opened = open_table(path)
    assert opened.numbers_of(Tokenizer(opened.history).encode("ab aab")) == [264, 262, 263]
    with pytest.raises(OutputError, match="only be read"):
        write_history(opened.history, tmp_path / "again.gguf")


SOUND = gguf(by_name("gpt-2"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (SOUND[:300], "The file was not copied completely"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "of version 1"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**60), "reads at most 100,000"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**63), "more bytes, but"),
        (b"GGUF" + struct.pack("<IQQQsI", 3, 0, 1, 1, b"x", 13), "the unknown type 13"),
        (b"GGUF" + struct.pack("<IQQQsIIQ", 3, 0, 1, 1, b"x", 9, 9, 1) + bytes(12), "lists of lists"),
        (gguf(by_name("whitespace")), "with the pre-tokenizer 'whitespace', which this program does not know"),
        (gguf({**SCORED, "model": "plamo2"}), "of the kind 'plamo2'; this program reads llama, gpt2, gemma4, bert, t5"),
        (gguf({**SCORED, "scores": [1.0]}), "270 tokens, but 270 different texts, 270 kinds and 1 score\\."),
        (gguf({**SCORED, "tokens": ["a"] * 270}), "270 tokens, but 1 different text,"),
        (gguf({"model": "llama", "tokens": ["a", "b"]}), "256 of the 256 bytes have no token"),
        (gguf({"model": "gpt2"}), "without a tokenizer"),
        (gguf({**SCORED, "tokens": 5}), "must be a list"),
        (gguf({**SCORED, "add_space_prefix": 1}), "must be true or false"),
        (gguf({**WORDS, "unknown_token_id": 99}), '"unk_token" is missing'),
    ],
)
def test_invalid_gguf_files_are_refused_with_an_error_message(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.gguf"
    path.write_bytes(data)
    with pytest.raises((FormatError, TooLarge), match=message):
        open_table(path)


def test_exporting_a_table_as_sentencepiece_is_refused_if_the_model_would_join_other_pieces(tmp_path: Path) -> None:
    """SentencePiece joins any two neighbours whose joined text is a piece.

    The table joins only the pairs of its merges.
    """
    letters = [f"{left}{right}" for left in "abcdfgijkl" for right in "mnopqrstuv"]
    more = [*"abcdfgijklmnopqrstuv"]
    table = {
        **LINES,
        "tokens": [*LINES["tokens"][:260], "▁", "h", "e", "he", "▁h", "▁he", "\n", *more, *letters],
        "token_type": [3] * 4 + [6] * 256 + [1] * (7 + len(more) + len(letters)),
        "merges": ["h e", "▁ h", "▁h e", *(f"{pair[0]} {pair[1]}" for pair in letters)],
    }
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf(table))
    study = bpe.open(path)
    assert [study.names[id] for id in study.encode(" he")] == ["▁", "he"]
    losses = FORMATS["sentencepiece"].can_hold(study.history)
    assert any("For 1 token these two tokens cannot be found again" in sentence for sentence in losses)
    with pytest.raises(OutputError, match="not verified"):
        study.save(tmp_path / "a.spm.model")
    assert not (tmp_path / "a.spm.model").exists()


@pytest.mark.parametrize("byte", [4, 8, 16, 24], ids=["version", "tensors", "values", "length of the first name"])
def test_a_gguf_file_that_was_converted_as_text_is_refused_with_this_reason_whatever_number_changed(byte: int) -> None:
    """A changed number of values was reported as too many values, and a changed version as an unknown version."""
    content = bytearray(gguf({**WORDS, "scores": [-1.5] * len(WORDS["tokens"])}))
    content[byte] = 0xE9
    with pytest.raises(FormatError, match="converted as if it were text"):
        FORMATS["gguf"].open(bytes(content).decode("utf-8", "replace").encode(), "changed.gguf")
