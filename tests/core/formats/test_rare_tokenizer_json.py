"""Tests of small tokenizer.json files that contain options which few files use."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from bpe_core.errors import FormatError
from bpe_core.formats import FORMATS
from bpe_core.methods.kit.tokenizer import Tokenizer
from tests.core.formats.hugging_face_tokenizers import (
    Step,
    Whole,
    added_token,
    as_bert,
    by_bytes,
    in_sequence,
    metaspace,
    precompiled,
    replace_step,
    split,
)

tokenizers = pytest.importorskip("tokenizers")
JSON = FORMATS["tokenizer.json"]

ALPHABET = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
SPACES: Step = {"type": "WhitespaceSplit"}
SIGNS: Step = {"type": "Punctuation", "behavior": "Isolated"}
BERT: Step = {"type": "BertPreTokenizer"}
LOWER: Step = {"type": "Lowercase"}


def whole(model: Whole, changes: list[Step], cuts: list[Step], *tokens: Step, decoder: Step | None = None) -> Whole:
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": list(tokens),
        "normalizer": in_sequence(changes, "normalizers"), "pre_tokenizer": in_sequence(cuts, "pretokenizers"),
        "post_processor": None, "decoder": decoder, "model": model,
    }  # fmt: skip


def ids_by_token(*tokens: str) -> dict[str, int]:
    return {token: number for number, token in enumerate(tokens)}


def wordpiece(*tokens: str, unknown: str = "<unk>", marker: str = "##") -> Whole:
    return {"type": "WordPiece", "unk_token": unknown, "continuing_subword_prefix": marker,
            "max_input_chars_per_word": 100, "vocab": ids_by_token(*tokens)}  # fmt: skip


def bpe(vocabulary: dict[str, int], *merges: str, **how: Any) -> Whole:
    return {"type": "BPE", "unk_token": None, "vocab": vocabulary, "merges": [pair.split() for pair in merges], **how}


WORDS = wordpiece("<unk>", "a", "b", "##a", "##b", "##ab", "ab", "#", "##c")
HAN = wordpiece("<unk>", "人", "ab", "a", "##b")
BYTES = ids_by_token(*(f"<0x{byte:02X}>" for byte in range(256)))
WITHOUT_TAB = ids_by_token(
    "\t", "▁", "a", "b", "ab", *"ĠĊĀ", *(one for one in BYTES if one not in ("<0x09>", "<0xFF>"))
)
ENDS = ids_by_token("<unk>", "a", "b", "b</w>", " ", "ab", "ab</w>", "a</w>", " b")
LATER = (
    "\u0b13\u0b53\u0b54\u0b55 \u0b78",
    "\U0001faea\U0001fa8a\u2b96\U0001f1ae",
    "\ua7dc\ua7dda\ua7dd",
    "a\u0cdc\u05c8\U00010940",
)
LETTERS = ids_by_token("<unk>", "e", "a", "b", " ", "ab")

# The rare content of each file, and texts that reveal the content.
FILES: dict[str, tuple[Whole, tuple[str, ...]]] = {
    "a word begins with the mark": (whole(WORDS, [], [SPACES]), ("##a ##abb ##c c a##a ##", "###a ##ab##")),
    "a range holds characters of a later Unicode": (
        whole(
            bpe(ids_by_token(*ALPHABET)),
            [replace_step("[^ -ÿ\u0b00-\u0b7f\U0001f000-\U0001ffff\ua7dd]", "-", regex=True),
            replace_step("\ua7dd", "+")],
            [by_bytes()],
        ),
        LATER,
    ),
    "a letter that no sign is behind a backslash": (
        whole(bpe(LETTERS), [], [split(r"[\U0001f300-\U0001f5ff\x4]|\x62\U|[\j-\q]")]),
        ("abU0 e", "ABU\U0001f300 \U0001f4af01f3", "jklmn\\U\x04 ox4"),
    ),
    "a byte ends words": (
        whole(
            bpe(ids_by_token(*ALPHABET, *(one + "Ġ" for one in ALPHABET), "ab", "abĠ"), "a b", "a bĠ",
            ignore_merges=True),
            [], [{"type": "Whitespace"}, by_bytes()],
        ),
        ("ab aab", "abĠ aĠ Ġ ĠĠ", "éa"),
    ),
    "brackets and dashes in sets": (
        whole(bpe(LETTERS), [replace_step(r"[&[-]a]|[x[y]-z]|[&&\d]|[^&&b]e|[^\[^ -z]", "b", regex=True)], []),
        ("a & - + ' e0 xyz ee", "be-[^{é"),
    ),
    "a repetition that may be missing": (
        whole(bpe(LETTERS), [replace_step(r"a{2}?\u0062{1,2}?|\u0020{2}+", "e", regex=True)], []),
        ("aab abb aaabb b", "ab{2}?   b    "),
    ),
    "a whole word beside Chinese characters": (
        whole(HAN, [as_bert(lowercase=False)], [BERT], added_token(5, "abb", single_word=True, normalized=True)),
        ("人abb人", "abb人abb", "人 abb人", "abb"),
    ),
    "a space beside Chinese characters": (
        whole(HAN, [as_bert(lowercase=False)], [BERT], added_token(5, "\t", normalized=True)),
        ("人ab 人\ta", "人\t人", "人人 a\tb"),
    ),
    "the unknown token is a piece": (
        whole(
            wordpiece("e", "##n", "n", unknown="e"), [{"type": "NFD"}, {"type": "StripAccents"}], [],
            added_token(0, "e")
        ),
        ("\u1ec1n", "n\u00e9", "en", "x"),
    ),
    "the unknown token continues words": (
        whole(wordpiece("a", "##b", unknown="##b"), [], [SPACES]),
        ("ab abb b c ##b ac",),
    ),
    "an added token continues words": (
        whole(wordpiece("<unk>", "▁t", "er", marker=""), [], [metaspace()], added_token(2, "er", single_word=True)),
        ("ter er ther", "t", "erter"),
    ),
    "an added token lies or begins in one that is passed over": (
        whole(
            {**wordpiece("<unk>", "x", "yz", "z"), "type": "WordLevel"}, [], [SPACES],
            added_token(1, "x"), added_token(2, "yz"), added_token(4, " x y", single_word=True, special=False),
        ),
        ("z x y", "z x yz", "z x y x yz"),
    ),
    "an added token is a word that begins with a blank": (
        whole(wordpiece("<unk>", "▁the", "the"), [], [metaspace("first")], added_token(1, "▁the")),
        ("the the", "▁the the", "x"),
    ),
    "a text spells a byte of what is unknown": (
        whole(
            {"type": "Unigram", "unk_id": 0, "byte_fallback": True,
             "vocab": [["<unk>", 0.0], ["a", -1.0], *([byte, -3.0] for byte in BYTES)]},
            [], [], added_token(0, "<unk>"), decoder={"type": "ByteFallback"},
        ),
        ("<0x41>a<0x0a>", "é<0xC3><0xA9><unk>", "<<0x00>>"),
    ),
    "a text is one word, and its end is marked": (
        whole(bpe(ENDS, "a b", "a b</w>", unk_token="<unk>", end_of_word_suffix="</w>"), [LOWER], []),
        ("ab a b", "a\nB", "b  ab", " ", ""),
    ),
    "a merge makes a letter that is marked at the end of words": (
        whole(
            bpe(ids_by_token("<unk>", *"abcd_", "a_", "b_", "_a_", "c_a_", "c_a_d"), "a _", "_ a_", "c _a_", "c_a_ d",
                unk_token="<unk>", end_of_word_suffix="_"),
            [], [SPACES],
        ),
        ("c_a_d c_a b_a_", " ".join(["bc_a_db", "a_", "_a_", "c_a_dc_a"] * 40), "c_a_d" * 30),
    ),
    "a line is one word, and its end is marked": (
        whole(
            bpe(ENDS, "a b", "a b</w>", unk_token="<unk>", end_of_word_suffix="</w>"),
            [], [split(r"[^\n]*\n|[^\n]+")],
        ),
        ("ab a b\nab", "a\nb"),
    ),
    "bytes are marked at the end of words, and some are unknown there": (
        whole(
            bpe(ids_by_token("<unk>", *ALPHABET[40:90], "e</w>", "ab", "a", "b", "b</w>", "ab</w>"), "a b", "a b</w>",
                unk_token="<unk>", end_of_word_suffix="</w>"),
            [], [by_bytes(cuts=True)], added_token(0, "<unk>"), decoder=by_bytes(),
        ),
        ("ab be éb x!", "a<unk>b\n", "eab  e"),
    ),
    "a decoded token becomes empty before an expression that finds nothing": (
        whole(
            bpe({"▁": 0, "a": 1}), [], [],
            decoder=in_sequence([metaspace(), replace_step("x*", "-", regex=True)], "decoders"),
        ),
        ("▁a", "a▁", "▁"),
    ),
    "an added token is a word only behind another sign": (
        whole(
            {**wordpiece("<unk>", " ", "\n"), "type": "WordLevel"},
            [{"type": "Prepend", "prepend": "\n"}, replace_step(r"[^\s]", "-", regex=True)],
            [{"type": "UnicodeScripts"}, {"type": "Punctuation", "behavior": "Removed"}],
            added_token(1, " ", normalized=True),
        ),
        ("a ", "a", " a b"),
    ),
    "an added token that is no piece is spelled by changed words": (
        whole(WORDS, [as_bert(lowercase=True)], [SPACES], added_token(9, "e\u0301")),
        ("E\u0301 a", "e\u0301", "\u00e9"),
    ),
    "an earlier token with the number is what is looked for in the changed text": (
        whole(
            bpe({"a": 0, "b": 3, "c": 2}), [LOWER], [], added_token(1, "XY", normalized=True),
            added_token(3, "b", normalized=True)
        ),
        ("xyb", "XY a B", "b"),
    ),
    "the last token with a number says how it is found": (
        whole(
            bpe({"a": 0, "b": 3, "c": 2}), [], [],
            added_token(1, "xy"), added_token(3, "b", single_word=True, special=False)
        ),
        ("xyb", "b a", "b b"),
    ),
    "a token behind the vocabulary has a number below others": (
        whole({**WORDS, "vocab": {"<unk>": 11, "b": 15, "a": 13}}, [], [], added_token(9, "b"), added_token(9, "##c")),
        ("ac", "b##c"),
    ),
    # The letters of the file look like bytes, as in the tokenizer of Gemini.
    "bytes that no text becomes have no token": (
        whole(bpe(WITHOUT_TAB, "a b", byte_fallback=True, fuse_unk=True), [replace_step(" ", "▁")], []),
        ("a\tab\n ab", "é人\U0001f600", "ĠĊĀ a", "\x08\x7f"),
    ),
    "a token takes the spaces of the next one": (
        whole(bpe(LETTERS, unk_token="<unk>"), [], [], added_token(6, "a ", rstrip=True), added_token(7, "   ")),
        ("a     ", "a    b", "a   ", "   a   b"),
    ),
    "a token takes the spaces of itself": (
        whole(bpe(LETTERS, unk_token="<unk>"), [], [], added_token(4, " ", rstrip=True)),
        ("  ", " a   b ", "    "),
    ),
    "a token takes spaces on both sides": (
        whole(bpe(LETTERS), [], [], added_token(6, "  ", lstrip=True, rstrip=True)),
        ("    ", "a    b", "a  b"),
    ),
    "a token is special once and not once more": (
        whole(bpe(LETTERS), [], [], added_token(6, "</s>"), added_token(6, "</s>", special=False)),
        ("a</s>b", "</s>"),
    ),
    "the unknown token is a letter": (whole(bpe(LETTERS, "a b", unk_token="e"), [], []), ("xabe", "e", "exab")),
    "the unknown token ends words": (
        whole(bpe(ids_by_token("a", "b</w>", "c</w>"), unk_token="b</w>", end_of_word_suffix="</w>"), [], [SPACES]),
        ("ab ac ad b", "xb"),
    ),
    "what is unknown is left out, and a token is called so": (
        whole(
            bpe({"e": 1, "a": 0, "b": 4}), [], [],
            added_token(0, "<unk>", rstrip=True), added_token(3, "ы", single_word=True)
        ),
        ("a<unk>b", "aыb ы", "<unk>"),
    ),
    "characters become longer and are joined over what they came from": (
        whole(bpe(LETTERS | {"bab": 6, "abab": 7}, "a b", "ab ab"), [replace_step("  ", "ab")], []),
        ("    e", "  e  ", "      "),
    ),
    "Chinese characters of a token are set apart": (
        whole(WORDS, [as_bert(lowercase=True)], [{"type": "BertPreTokenizer"}],
            added_token(9, "中文", normalized=True)),
        ("a中文b", "中文"),
    ),
    "numbers are the ids": (
        whole(wordpiece("<unk>", "a", "<s>", "</s>"), [], [SPACES], added_token(3, "</s>"), added_token(2, "<s>")),
        ("a <s> b</s>",),
    ),
    "a line begins behind a line break but the last": (
        whole(bpe(LETTERS), [replace_step("^", "ab", regex=True)], [], added_token(6, "<s>")),
        ("b\nb", "\n", "b\n\n<s>\nb", ""),
    ),
    "a whole word is a special token when it is changed": (
        whole(bpe(LETTERS | {"<s>": 6}, ignore_merges=True), [LOWER], [SPACES], added_token(6, "<s>")),
        ("<S> a<S>", "<s>b"),
    ),
    "a special token is spelled by the bytes of another text": (
        whole(wordpiece("<unk>", "É", "##£"), [], [by_bytes(cuts=True)], added_token(1, "É")),
        ("\u0263", "É", "É£"),
    ),
    "the unknown token has no entry": (
        whole(bpe({"a": 4, "b": 9}, unk_token="<unk>"), [], [], added_token(2, "<s>")),
        ("ab<s>",),
    ),
    "no byte has an entry": (
        whole(bpe({"Ġa": 0}, ignore_merges=True), [], [by_bytes()], decoder=by_bytes()), ("a", " a a")
    ),
    "what begins a text is left out": (
        whole(bpe({"▁": 0, "x": 1, "▁x": 2}, "▁ x"), [precompiled()], [metaspace("first", cuts=False)]),
        ("\x7fx", "x\x7f", "\x7f\x7f", " \x7fx"),
    ),
    "a token that words of several parts hold": (
        whole(wordpiece("<unk>", "é", "##x", "▁"), [], [metaspace("first"), {"type": "Whitespace"}],
              added_token(1, "é", single_word=True)),
        ("éx é", "x éx"),
    ),
    "a token of a space beside Chinese characters": (
        whole(WORDS, [as_bert(lowercase=True)], [{"type": "BertPreTokenizer"}], added_token(9, " ", normalized=True)),
        ("文", "a文 b"),
    ),
    "two added tokens share their number": (
        whole(bpe({"a": 0, "b": 3, "ab": 4}, "a b"), [], [], added_token(3, "</s>"), added_token(3, "b")),
        ("</s>ab</s>", "b"),
    ),
    "some signs are parts of words, but not in sets": (
        whole(WORDS, [], [split(r"\w+|[^\w\s]+", "Removed", invert=True)]),
        ("a\x7f\xb2", "\xb2", "\x7f\xb9b", "a\xb2b"),
    ),
    "a letter was another kind of letter": (
        whole(bpe(LETTERS, unk_token="<unk>", fuse_unk=True), [], [split(r"\p{Lo}"), split(r"\p{Ll}")]),
        ("\u0294\u0295\u0295\u0296", "a\u0295"),
    ),
    "one character becomes several and a word begins in them": (
        whole(wordpiece("<unk>", "(", ")", "a", "##)", "▁(", "▁a"), [precompiled()], [SIGNS, metaspace("first")]),
        ("\u2474", "\u249c", "a \u2474"),
    ),
    "words begin and end inside characters": (
        whole(bpe(ids_by_token(*ALPHABET)), [{"type": "NFD"}], [by_bytes(cuts=True), {"type": "BertPreTokenizer"}],
              decoder=by_bytes()),
        ("\u09cb", "a\u00e9\u00e7 \ud55c"),
    ),
    "marks are composed with the one before": (
        whole(bpe(LETTERS | {"▁": 7}), [{"type": "NFC"}], [split(r"\p{L}"), metaspace("first")]),
        ("a\u0323\u0301 b", "b\u0301\u0323", "\u0344a"),
    ),
    "several letters are one where case is ignored": (
        whole(bpe(LETTERS | {"s": 7, "ß": 8, "i": 9, "A": 10}), [], [split("(?i)ss|[aß]+|i|e(?=b)", "Removed")]),
        ("ss ß sß bSſs", "iIıİ", "aAssa e eb", "i\u0307b"),
    ),
    "properties keep their case": (
        whole(bpe(LETTERS | {"A": 7}), [], [split(r"(?i:b\p{Lu}|[\p{Lu}&&[^b]]e|\P{Word}\H)", "Removed")]),
        ("bab bAb ae Ae be", " e \u200dx"),
    ),
    "a token that only a put sign makes": (
        whole(wordpiece("<unk>", "▁le", "le", marker=""), [], [{"type": "FixedLength", "length": 2}, metaspace()],
              added_token(1, "▁le")),
        ("le", "lelele", "▁le"),
    ),
    "the second of three entries takes the number of the others": (
        whole(
            bpe({"<s>": 1}), [], [],
            added_token(1, "<s>"), added_token(15, "</s>"), added_token(3, "<s>", single_word=True)
        ),
        ("</s>a<s>", "a <s>"),
    ),
    "a letter behind one of another kind": (
        whole(bpe(LETTERS), [], [split(r"(?<=\p{Lm})"), split("(?i)e", "MergedWithPrevious")]), ("b\u02b0a E abEeb",)
    ),
    "a mark is newer than most tables": (
        whole(bpe(LETTERS | {"2": 8}, unk_token="<unk>"), [precompiled()], []), ("\xb2\u1adb", "\xb2\u1aecb")
    ),
    "an entry is empty": (whole(bpe({"a": 0, "": 5}), [], [], added_token(2, "<s>")), ("xa<s>", "x")),
    "a space replaces nothing": (
        whole(WORDS, [], [SPACES], decoder={"type": "BPEDecoder", "suffix": ""}), ("ab ab", "a##b")
    ),
    "no step of decoding": (
        whole(bpe(LETTERS), [], [], decoder={"type": "Sequence", "decoders": []}), ("abab",)
    ),
    "bytes, and a token of them": (
        whole(bpe(LETTERS | {"Ġ": 9, "Ġa": 10}, "Ġ a"), [], [by_bytes(cuts=True)], added_token(10, "Ġa"),
              decoder=by_bytes()),
        ("a a", "Ġa a"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("rare", FILES)
def test_a_tokenizer_json_with_rare_content_is_opened_and_written_with_equal_ids(rare: str) -> None:
    made, texts = FILES[rare]
    data = json.dumps(made).encode()
    theirs, opened, file = tokenizers.Tokenizer.from_buffer(data), JSON.open(data, rare), io.BytesIO()
    assert not any("can differ" in note for note in opened.notes)
    assert not JSON.can_hold(opened.history)
    JSON.write(opened.history, file)
    again, tokenizer, compiled = (
        tokenizers.Tokenizer.from_buffer(file.getvalue()),
        *map(Tokenizer, [opened.history] * 2),
    )
    compiled.expect(1_000_000)
    for text in texts:
        ids = theirs.encode(text, add_special_tokens=False).ids
        assert opened.numbers_of(tokenizer.encode(text, allowed_special="all")) == ids, text
        assert opened.numbers_of([id for _, _, id in tokenizer.spans(text, allowed_special="all")]) == ids, text
        assert opened.numbers_of(compiled.encode(text, allowed_special="all")) == ids, text
        assert again.encode(text, add_special_tokens=False).ids == ids, text
        for skip in (False, True):
            decoded = theirs.decode(ids, skip_special_tokens=skip)
            assert tokenizer.decode(opened.history.indices_of(ids), way="library", skip_special=skip) == decoded
            assert again.decode(ids, skip_special_tokens=skip) == decoded


# These files open exactly. A note reports the content that cannot be written.
SAID_OF_WRITING: dict[str, tuple[Whole, tuple[str, ...]]] = {
    "a range that words have holds characters of a later Unicode": (
        whole(
            bpe(ids_by_token(*ALPHABET, "à¬", "ðŁ"), "à ¬", "ð Ł"),
            [],
            [split("[\u0b00-\u0b7f]+|[\U0001f300-\U0001fbff]+|\\p{L}+|\\P{L}"), by_bytes()],
        ),
        LATER,
    ),
    "the unknown token is added, and another one has its number": (
        whole(
            {**wordpiece("te", "e", unknown="e"), "type": "WordLevel"} | {"vocab": {"te": 2, "e": 3}},
            [],
            [SPACES],
            added_token(9, "e"),
            added_token(9, "<s>"),
            added_token(9, "<t>"),
        ),
        ("te e x", "e<s><t>"),
    ),
    "changed texts spell a token that is listed because of its number": (
        whole(
            bpe({"A": 3, "b": 4, "c": 5}), [LOWER], [], added_token(9, "x"), added_token(9, "A"), added_token(9, "a")
        ),
        ("Ab", "xab"),
    ),
    "a piece is there twice and nothing is called unknown": (
        whole({"type": "Unigram", "unk_id": 0, "vocab": [["e", 0.0], ["e", -3.0]]}, [], [], added_token(5, "<unk>")),
        ("<unk>e", "xe"),
    ),
}


@pytest.mark.parametrize("rare", SAID_OF_WRITING)
def test_a_tokenizer_json_that_cannot_be_written_exactly_is_opened_with_equal_ids(rare: str) -> None:
    made, texts = SAID_OF_WRITING[rare]
    data = json.dumps(made).encode()
    theirs, opened = tokenizers.Tokenizer.from_buffer(data), JSON.open(data, rare)
    assert not any("can differ" in note for note in opened.notes)
    assert JSON.can_hold(opened.history)
    for text in texts:
        ids = theirs.encode(text, add_special_tokens=False).ids
        assert opened.numbers_of(Tokenizer(opened.history).encode(text, allowed_special="all")) == ids, text


SAID: dict[str, tuple[Whole, str]] = {
    "the unknown token is joined": (
        whole(bpe(LETTERS | {"e ": 6}, "e " + " ", unk_token="e") | {"merges": [["e", " "]]}, [], []),
        "library may merge 'e' for an unknown character with neighbouring",
    ),
    "some bytes are missing": (
        whole(bpe(LETTERS | {"<0x41>": 6}, byte_fallback=True, unk_token="<unk>"), [], []),
        "no token for some of these bytes",
    ),
    "bytes of the end of a word": (
        whole(bpe(BYTES, byte_fallback=True, end_of_word_suffix="</w>"), [], [SPACES]),
        "becomes bytes, and so does the marker",
    ),
    "older tables of visible characters": (
        whole(bpe(LETTERS), [], [split(r"\X")]),
        "older tables of visible characters",
    ),
    "line breaks that are looked back for": (
        whole(bpe(LETTERS), [], [split(r"(?<!\R)a")]),
        "matches line breaks",
    ),
    "something is put where nothing was": (
        whole(bpe(LETTERS), [replace_step("x?", "-", regex=True), LOWER], []),
        "After a replacement of an empty match",
    ),
    "something is put between all characters": (
        whole(bpe(LETTERS), [replace_step("", "a")], [by_bytes()]),
        "After a replacement of an empty match",
    ),
    "pictures": (whole(bpe(LETTERS), [], [split(r"\p{Extended_Pictographic}")]), "older tables of visible characters"),
    "the unknown token is spelled once the text is changed": (
        whole(
            {"type": "Unigram", "unk_id": 0, "byte_fallback": True,
             "vocab": [["<unk>", 0.0], *([byte, -3.0] for byte in BYTES)]},
            [LOWER], [], added_token(0, "<unk>"),
        ),
        "A word '<unk>' next to unknown characters becomes bytes",
    ),
    "the unknown token is found only between words": (
        whole(
            {"type": "Unigram", "unk_id": 0, "byte_fallback": True,
             "vocab": [["<unk>", 0.0], *([byte, -3.0] for byte in BYTES)]},
            [], [], added_token(0, "<unk>", single_word=True),
        ),
        "A word '<unk>' next to unknown characters becomes bytes",
    ),
    "the unknown token is joined with itself to a piece": (
        whole(
            {"type": "Unigram", "unk_id": 0, "vocab": [["a", -1.0], ["aa", -9.0], ["b", -1.0]]}, [], [],
        ),
        "uses “aa”",
    ),
    "a token becomes nothing": (
        whole(bpe(LETTERS), [replace_step("a", "")], [], added_token(2, "a", normalized=True)),
        "becomes empty in the normalized text",
    ),
    "a token is shown as an earlier one": (
        whole(bpe(LETTERS), [LOWER], [], added_token(6, "AB", normalized=True), added_token(6, "AB")),
        "decode another token instead",
    ),
    "tokens become alike": (
        whole(bpe(LETTERS), [LOWER], [], added_token(6, "AB", normalized=True), added_token(7, "Ab", normalized=True)),
        "are equal to another added token",
    ),
}  # fmt: skip


@pytest.mark.parametrize("rare", SAID)
def test_opening_a_tokenizer_json_warns_if_the_ids_can_differ_from_those_of_the_tokenizers_library(rare: str) -> None:
    made, sentence = SAID[rare]
    opened = JSON.open(json.dumps(made).encode(), rare)
    assert any(sentence in note for note in opened.notes)
    if rare.startswith(("a token becomes", "tokens become")):
        assert any(sentence in reported for reported in JSON.can_hold(opened.history))


def test_a_tokenizer_json_that_turns_text_into_bytes_twice_is_refused() -> None:
    with pytest.raises(FormatError, match="turns text into bytes twice"):
        JSON.open(json.dumps(whole(bpe({"Ġ": 1}), [], [by_bytes(cuts=True), by_bytes()])).encode(), "x")


def test_a_case_insensitive_pattern_gives_the_same_tokens_in_a_long_batch_as_in_a_single_text() -> None:
    made = whole(bpe(LETTERS | {"E": 6}), [], [split("(?i)e", "MergedWithPrevious")])
    opened, texts = JSON.open(json.dumps(made).encode(), "x"), ["abEaeb"] * 800
    ids, edges = Tokenizer(opened.history).encode_batch(texts)
    alone = Tokenizer(opened.history).encode(texts[0])
    assert ids[edges[7] : edges[8]].tolist() == list(alone)


def test_exporting_warns_about_a_text_that_the_written_file_would_turn_into_a_token() -> None:
    made = whole(bpe({"  ": 152}), [], [by_bytes()], added_token(158, "<", single_word=True))
    history = JSON.open(json.dumps(made).encode(), "x").history
    assert any("In this format the text < becomes the special token" in sentence for sentence in JSON.can_hold(history))


def test_exporting_warns_that_the_tokenizers_library_would_merge_the_unknown_token_with_neighbouring_tokens() -> None:
    history = JSON.open(json.dumps(SAID["the unknown token is joined"][0]).encode(), "x").history
    assert any("merge with its neighbours" in sentence for sentence in JSON.can_hold(history))
