"""Tests of WordPiece in vocab.txt and tokenizer.json.

The library `tokenizers` loads our files with the same ids, and we load its files.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.errors import FormatError, OutputError
from bpe_core.formats import FORMATS, OpenedTable, all_formats, format_for, open_table
from bpe_core.formats.base import no_sidecar_files
from bpe_core.formats.bert_vocabulary import tokens_at_once, tokens_line_by_line
from bpe_core.history.alphabet import LaidSymbols, Symbol
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.parts import SplittingChoices, Symbols
from bpe_core.verification.checking import prepare_export
from tests.core.formats.samples import content, encode, languages, learn_preset, lines, texts
from tests.shared import SCRIPTS, text_of

VOCABULARY, TOKENIZER_JSON = FORMATS["vocab.txt"], FORMATS["tokenizer.json"]
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

RECIPES: dict[str, dict[str, Any]] = {
    "bert": dict(preset="bert", vocab_size=None),
    "cased": dict(preset="bert", vocab_size=None, lowercase=False, strip_accents=False, final_sigma=True),
    "score": dict(preset="wordpiece", vocab_size=None),
    "blanks": dict(preset="wordpiece", vocab_size=None, pattern="whitespace", special_tokens=("<|end|>",)),
    "gpt2, NFKC": dict(preset="bert", vocab_size=None, pattern="gpt2", unicode_form="NFKC", marker_text="@@"),
}
every_recipe = pytest.mark.parametrize("choices", RECIPES.values(), ids=RECIPES)


@cache
def train_library_tokenizer(lowercase: bool, strip_accents: bool | None = None) -> Any:
    """Return a small tokenizer like the tokenizer of BERT, trained by `tokenizers`."""
    tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
    made = tokenizers.BertWordPieceTokenizer(lowercase=lowercase, strip_accents=strip_accents)
    made.train_from_iterator(
        [languages()], vocab_size=2_500, min_frequency=2, special_tokens=SPECIALS, show_progress=False
    )
    return made


def vocabulary_of(tokenizer: Any) -> bytes:
    numbered = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    return "".join(f"{text}\n" for text, _ in numbered).encode()


def check_same_numbers(opened: OpenedTable, asked: Any) -> None:
    for text in (*texts(), *lines(), "a[UNK]b [UNK]"):
        ours = opened.numbers_of(encode(opened.history, text))
        assert ours == asked.encode(text, add_special_tokens=False).ids, text[:80]


# --- Files of theirs --------------------------------------------------------------------


def test_a_long_vocab_txt_recognized_by_its_name_is_read_completely(tmp_path: Path) -> None:
    tokens = ["<unk>", *(f"{number:012}" for number in range(90_000))]
    (tmp_path / "vocab.txt").write_text("".join(f"{token}\n" for token in tokens))
    (tmp_path / "tokenizer_config.json").write_text('{"unk_token": "<unk>"}')
    assert (tmp_path / "vocab.txt").stat().st_size > all_formats.LOOK
    opened = open_table(tmp_path / "vocab.txt")
    assert opened.numbers_of(encode(opened.history, tokens[-1])) == [len(tokens) - 1]


@pytest.mark.parametrize(("lowercase", "accents"), [(True, None), (True, False), (False, None), (False, True)])
def test_a_wordpiece_tokenizer_json_gives_the_same_ids_as_in_the_tokenizers_library(
    lowercase: bool, accents: bool | None
) -> None:
    asked = train_library_tokenizer(lowercase, accents)
    data = asked.to_str().encode()
    assert TOKENIZER_JSON.recognizes(data)
    opened = TOKENIZER_JSON.open(data, "tokenizer.json")
    assert opened.notes == ()
    check_same_numbers(opened, asked)


@pytest.mark.parametrize(("lowercase", "accents"), [(True, None), (True, False), (False, None)])
@pytest.mark.parametrize("is_configured", [True, False], ids=["told", "guessed"])
def test_a_vocab_txt_file_is_opened_with_the_ids_of_the_tokenizers_library(
    lowercase: bool, accents: bool | None, is_configured: bool
) -> None:
    asked = train_library_tokenizer(lowercase, accents)
    config = json.dumps({"do_lower_case": lowercase, "strip_accents": accents, "cls_token": "[CLS]"}).encode()
    beside = {"tokenizer_config.json": config}.get if is_configured else no_sidecar_files
    data = vocabulary_of(asked)
    assert VOCABULARY.recognizes(data)
    opened = VOCABULARY.open(data, "vocab.txt", beside)
    assert ["tokenizer_config.json" in note for note in opened.notes] == ([] if is_configured else [True])
    assert opened.history.numbers is not None
    names = [
        *(symbol.text.decode() for symbol in opened.history.alphabet.symbols),
        *opened.history.recipe.special_tokens,
    ]
    assert {name: asked.token_to_id(name) for name in names} == dict(
        zip(names, opened.history.numbers.tolist(), strict=True)
    )
    check_same_numbers(opened, asked)


def test_a_vocab_txt_converted_to_tokenizer_json_and_back_keeps_its_ids(tmp_path: Path) -> None:
    """The vocabulary contains an empty line, which is no token."""
    asked = train_library_tokenizer(True)
    (tmp_path / "vocab.txt").write_bytes(vocabulary_of(asked).replace(b"[CLS]\n", b"\n[CLS]\n"))
    first = open_table(tmp_path / "vocab.txt")
    for name in ("tokenizer.json", "vocab.txt"):
        before = open_table(tmp_path / "vocab.txt")
        prepared = prepare_export(before.history, tmp_path / name)
        assert prepared.verification.agrees, prepared.verification.differences
        assert not any("other ids" in sentence for sentence in prepared.verification.cannot_hold)
        prepared.put_in_place()
        back = open_table(tmp_path / name)
        for text in texts()[:8]:
            assert back.numbers_of(encode(back.history, text)) == first.numbers_of(encode(first.history, text))
    assert (tmp_path / "vocab.txt").read_bytes().startswith(b"[PAD]\n[UNK]\n[unused2]\n[CLS]\n")


# --- Files of ours ----------------------------------------------------------------------


@every_recipe
def test_the_tokenizers_library_loads_our_wordpiece_tokenizer_json_with_the_same_ids(choices: dict[str, Any]) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
    history = learn_preset(**choices)
    asked = tokenizers.Tokenizer.from_buffer(content(history, "tokenizer.json"))
    numbers = TOKENIZER_JSON.numbers(history)
    for text in (*texts(), *lines()):
        assert numbers[encode(history, text)].tolist() == asked.encode(text).ids, text[:80]


@pytest.mark.parametrize("steps", [0, 100, 400])
def test_a_wordpiece_vocabulary_can_be_exported_after_any_step(steps: int, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
    history = learn_preset(**RECIPES["bert"])
    prepared = prepare_export(history, tmp_path / "vocab.txt", merges=steps)
    assert prepared.verification.agrees, prepared.verification.differences
    prepared.put_in_place()
    asked = tokenizers.BertWordPieceTokenizer(str(tmp_path / "vocab.txt"), lowercase=True)
    assert asked.get_vocab_size() == history.vocabulary_size_at(steps)
    first = history.first(steps)
    numbers, ours = VOCABULARY.numbers(first), Tokenizer(first)
    for text in texts():
        if "[UNK]" not in text:
            assert numbers[ours.encode(text)].tolist() == asked.encode(text, add_special_tokens=False).ids, text[:80]


@pytest.mark.parametrize("format", ["vocab.txt", "tokenizer.json"])
@every_recipe
def test_an_exported_wordpiece_vocabulary_is_read_back_unchanged(choices: dict[str, Any], format: str) -> None:
    history = learn_preset(**choices)
    if FORMATS[format].impossible(history):
        pytest.skip("a vocabulary of lines cannot store it")
    verification = prepare_export(history, "ours", format=format_for(format)).verification
    assert verification.agrees, verification.differences
    renumbered = any("other ids" in sentence for sentence in verification.cannot_hold)
    assert renumbered == bool(history.recipe.special_tokens), "they come first there"
    if format == "tokenizer.json":
        back = TOKENIZER_JSON.open(content(history, format), "tokenizer.json")
        changed = back.history.recipe.differing(history.recipe, SplittingChoices, Symbols)
        assert changed == (["older_unicode"] if history.recipe.pattern == "gpt2" else []), changed


@pytest.mark.parametrize(
    ("changes", "format", "sentence"),
    [
        ({"marker_text": "@@"}, "vocab.txt", "vocab.txt marks tokens inside a word with ##; this table uses '@@'"),
        ({"pattern": "gpt2"}, "vocab.txt", "cannot hold the space or line break in these"),
        ({}, "merges.txt", "merges.txt holds only merges of pairs, .* WordPiece: choose vocab.txt, tokenizer.json"),
        ({}, "sentencepiece", "choose vocab.txt, tokenizer.json or a table such as csv, or save it as a session"),
    ],
)
def test_exporting_a_wordpiece_recipe_that_the_format_cannot_hold_is_refused(
    changes: dict[str, str], format: str, sentence: str
) -> None:
    with pytest.raises(OutputError, match=sentence):
        content(learn_preset("bert", vocab_size=None, merges=50, **changes), format)


def test_exporting_merges_as_vocab_txt_is_refused() -> None:
    said = r"vocab\.txt holds only the tokens of WordPiece, .* Byte-pair encoding: choose"
    with pytest.raises(OutputError, match=said):
        content(learn_preset("gpt2", merges=5), "vocab.txt")


def test_tables_without_merges_are_compared_by_their_tokens(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The commands print the ids of the tokenizer's file."""
    (tmp_path / "vocab.txt").write_bytes(SMALL)
    (tmp_path / "other-vocab.txt").write_bytes(SMALL + b"##ba\n")
    first, same, other = (str(tmp_path / name) for name in ("vocab.txt", "tokenizer.json", "other-vocab.txt"))
    assert run(["convert", first, same]) == 0
    assert run(["diff", first, same]) == 0
    assert "The tables hold the same tokens." in capsys.readouterr().out
    assert run(["diff", first, other, "abba"]) == 3
    assert "The tables hold different tokens" in capsys.readouterr().out
    assert run(["encode", "ab [CLS]", "--allow-special", "--merges", same]) == 0
    assert capsys.readouterr().out == "9 2\n"
    assert run(["decode", "9", "10", "--merges", first]) == 0
    assert capsys.readouterr().out.strip() == "abab"
    assert run(["convert", first, str(tmp_path / "merges.txt")]) == 1
    assert "choose vocab.txt, tokenizer.json or a table" in capsys.readouterr().err


def test_exporting_vocab_txt_reports_what_the_file_cannot_hold() -> None:
    history = learn_preset(
        "bert", vocab_size=None, merges=20, longest_word=50, special_tokens=("[PAD]", "<s>"), unit="line"
    )
    losses = " ".join(VOCABULARY.can_hold(history))
    for word in ("do_lower_case=True, strip_accents=True", "more than 50 characters", "'<s>'", "each line"):
        assert word in losses, word


# --- Files beside it, and damage --------------------------------------------------------


SMALL = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n##a\n##b\nab\n##ab\n"


def small(data: bytes = SMALL, **config: object) -> OpenedTable:
    beside = {"tokenizer_config.json": json.dumps(config).encode()}
    return VOCABULARY.open(data, "odd.txt", beside.get if config else no_sidecar_files)


def test_tokenizer_config_json_beside_vocab_txt_is_used_and_unknown_entries_are_reported() -> None:
    opened = small(
        do_lower_case=False, do_basic_tokenize=False,
        added_tokens_decoder={"11": {"content": "<new>"}, "2": {"content": "[CLS]"}},
    )  # fmt: skip
    assert (opened.history.recipe.lowercase, opened.history.recipe.strip_accents) == (False, False)
    assert opened.numbers_of(encode(opened.history, "ab<new>[CLS]abab")) == [9, 11, 2, 9, 10]
    assert any("do_basic_tokenize" in note for note in opened.notes)


@pytest.mark.parametrize("lowercase", [True, False])
def test_a_vocab_txt_that_keeps_chinese_characters_inside_words_encodes_like_the_tokenizers_library(
    lowercase: bool,
) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
    data = vocabulary_of(train_library_tokenizer(lowercase)) + "##\u4eba\n##\u6c11\n".encode()
    vocabulary = {text: number for number, text in enumerate(data.decode().split("\n")[:-1])}
    asked = tokenizers.BertWordPieceTokenizer(vocabulary, handle_chinese_chars=False, lowercase=lowercase)
    settings = {"do_lower_case": lowercase, "tokenize_chinese_chars": False}
    opened = VOCABULARY.open(data, "vocab.txt", {"tokenizer_config.json": json.dumps(settings).encode()}.get)
    assert not opened.notes
    for text in (*texts(), "\u4eba\u6c11 the\u4eba"):
        ids = asked.encode(text, add_special_tokens=False).ids
        assert opened.numbers_of(encode(opened.history, text)) == ids, text[:80]


def test_a_token_listed_twice_in_vocab_txt_has_the_later_id_and_unusual_spaces_stay_in_tokens() -> None:
    opened = small(b"[UNK]\na\n##b\na\na\xc2\xa0\n##c\xe3\x80\x80d\n", do_lower_case=True)
    assert opened.numbers_of(encode(opened.history, "ab a\u00a0")) == [3, 2, 3]
    assert any("1 token occurs twice" in note and "“a”" in note for note in opened.notes)


def test_wordpiece_tokens_without_a_continuing_prefix_get_the_same_ids_as_in_the_tokenizers_library() -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
    whole = json.loads(content(learn_preset("bert", vocab_size=None, merges=30), "tokenizer.json"))
    texts_of = dict.fromkeys(text.removeprefix("##") for text in whole["model"]["vocab"])
    whole["model"] |= {"vocab": {text: number for number, text in enumerate(texts_of)}, "continuing_subword_prefix": ""}
    whole["added_tokens"] = []
    data = json.dumps(whole).encode()
    theirs, opened = tokenizers.Tokenizer.from_buffer(data), TOKENIZER_JSON.open(data, "x")
    again = tokenizers.Tokenizer.from_buffer(content(opened.history, "tokenizer.json"))
    assert not opened.notes
    for text in texts():
        ids = theirs.encode(text).ids
        assert opened.numbers_of(encode(opened.history, text)) == ids == again.encode(text).ids, text[:80]


def test_wordpiece_tokens_that_share_an_id_are_reported() -> None:
    whole = json.loads(content(learn_preset("bert", vocab_size=None, merges=3), "tokenizer.json"))
    vocabulary = whole["model"]["vocab"]
    vocabulary["b"] = vocabulary["a"]
    opened = TOKENIZER_JSON.open(json.dumps(whole).encode(), "x")
    assert any("the id of another token" in note and "“b”" in note for note in opened.notes)
    assert opened.numbers_of(encode(opened.history, "b a")) == [vocabulary["a"]] * 2


def test_a_wordpiece_file_without_its_unknown_token_keeps_the_ids_of_other_tokens() -> None:
    whole = json.loads(content(learn_preset("bert", vocab_size=None, merges=3), "tokenizer.json"))
    whole["model"]["unk_token"] = "<unk>"
    vocabulary, opened = whole["model"]["vocab"], TOKENIZER_JSON.open(json.dumps(whole).encode(), "x")
    assert any("lacks '<unk>'" in note for note in opened.notes)
    known = opened.numbers_of(encode(opened.history, "a"))
    assert known == [vocabulary["a"]]
    assert opened.numbers_of(encode(opened.history, "a \u2603")) == [*known, -1]
    assert json.loads(content(opened.history, "tokenizer.json"))["model"]["vocab"] == vocabulary


def test_a_wordpiece_token_may_contain_characters_that_have_no_token_of_their_own() -> None:
    opened = small(b"[UNK]\na\n##ba\n", do_lower_case=True)
    assert opened.numbers_of(encode(opened.history, "aba ab")) == [1, 2, 0]


def test_special_tokens_of_vocab_txt_are_those_named_in_its_configuration() -> None:
    # The configuration of the Chinese OFA model has this form.
    names = {"pad_token": "<pad>", "sep_token": {"content": "</s>"}, "cls_token": None}
    opened = small(SMALL + b"<pad>\n</s>\n", **names)
    assert opened.history.recipe.special_tokens == ("[MASK]", "<pad>", "</s>")
    assert opened.numbers_of(encode(opened.history, "a</s>b<pad>[MASK]")) == [5, 12, 6, 11, 4]
    assert opened.numbers_of(encode(opened.history, "[SEP]")) == [1, 1, 1]  # a bracket, a word, a bracket


@pytest.mark.parametrize(
    ("data", "config", "sentence"),
    [
        (SMALL.replace(b"[UNK]\n", b""), {}, r"odd\.txt: the token “\[UNK\]” for words that cannot"),
        (SMALL + b"a b\n", {}, r"odd\.txt, line 12: there must be one token and no space"),
        (SMALL + b"\xff\n", {}, r"odd\.txt, line 12: the bytes from byte 1 on are not UTF-8"),
        (SMALL, {"unk_token": "<unk>"}, r"the token “<unk>” for words"),
        (SMALL, {"unk_token": 5}, r"a special token must be a text"),
        (SMALL, {"unk_token": ""}, r"a special token is empty"),
        (SMALL, {"do_lower_case": "yes"}, r'"do_lower_case" must be true, false or null'),
        (SMALL, {"added_tokens_decoder": {"3": {"content": "a"}}}, r"'a' has the id 3, but .* id is 5"),
        (SMALL, {"added_tokens_decoder": {"5": {"content": "new"}}}, r"'new' has the id 5, but .* belongs to 'a'"),
        (SMALL, {"added_tokens_decoder": {"x": {"content": "new"}}}, r"the id of 'new' must be a whole number"),
    ],
)
def test_a_damaged_vocab_txt_is_refused(data: bytes, config: dict[str, object], sentence: str) -> None:
    with pytest.raises(FormatError, match=sentence):
        small(data, **config)


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("unk_token", None, r'"unk_token" is missing or empty'),
        ("max_input_chars_per_word", 0, r'"max_input_chars_per_word" must be a whole number of at least 1'),
        ("max_input_chars_per_word", "9", r'"max_input_chars_per_word" must be a whole number of at least 1'),
        ("vocab", [], r'"vocab" must be an object'),
        ("vocab", {"[UNK]": 0, "": 1}, r"the token with the id 1 is empty"),
        ("type", "Gage", r"holds a Gage model; this program reads BPE, WordPiece"),
    ],
)
def test_a_damaged_wordpiece_model_in_tokenizer_json_is_refused(key: str, value: object, sentence: str) -> None:
    whole = json.loads(content(learn_preset("bert", vocab_size=None, merges=3), "tokenizer.json"))
    whole["model"][key] = value
    with pytest.raises(FormatError, match=sentence):
        TOKENIZER_JSON.open(json.dumps(whole).encode(), "odd.json")


@pytest.mark.parametrize("text", ["plain words\n", "a\nb\nc\n", "", "## A title\n\ntext\n", "#version: 0.2\n##a\n"])
def test_texts_that_are_not_vocabularies_are_not_recognized_as_vocab_txt(text: str) -> None:
    assert not VOCABULARY.recognizes(text.encode())


def test_sample_texts_of_this_project_are_not_recognized_as_vocab_txt() -> None:
    assert not any(VOCABULARY.recognizes(text_of(name).encode()) for name in SCRIPTS)


def test_a_vocab_txt_without_continuing_tokens_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("a\nb\n")
    with pytest.raises(FormatError, match=re.escape("“[UNK]” for words that cannot be split")):
        open_table(tmp_path / "vocab.txt")


def test_opening_a_vocab_txt_warns_if_its_tokenizer_class_splits_texts_differently() -> None:
    data = b"[UNK]\nM\nK\n"
    alone = VOCABULARY.open(data, "vocab.txt")
    assert any("No token begins with ##" in note for note in alone.notes)
    assert not any("No token begins" in note for note in VOCABULARY.open(data + b"##V\n", "vocab.txt").notes)
    for named, is_other in (
        ("EsmTokenizer", True),
        ("BertJapaneseTokenizer", True),
        ("DistilBertTokenizerFast", False),
    ):
        config = json.dumps({"tokenizer_class": named, "do_lower_case": False}).encode()
        opened = VOCABULARY.open(data, "vocab.txt", {"tokenizer_config.json": config}.get)
        assert any(f"names {named}" in note for note in opened.notes) == is_other


LINES = st.text("ab#é漢\u0301 \t\r", max_size=4)


@given(st.lists(LINES, max_size=8), st.sampled_from(["\n", "\r\n", ""]), st.binary(max_size=2))
def test_reading_a_wordpiece_file_at_once_and_line_by_line_gives_the_same_tokens(
    lines: list[str], end: str, behind: bytes
) -> None:
    data = "\n".join(lines).encode() + end.encode() + behind
    at_once = tokens_at_once(data)
    if at_once is None:
        return
    tokens, twice = tokens_line_by_line(data, "vocab.txt")
    assert [*at_once.texts] == [*tokens.texts]
    assert at_once.numbers.tolist() == tokens.numbers.tolist()
    assert twice == []


def test_tokens_are_read_all_at_once_only_if_the_lines_are_distinct_and_valid_and_have_no_blanks() -> None:
    assert tokens_at_once(b"low\nnew\n") is not None
    for data in (b"low\nlow\n", b"low \n", b"low\r\nnew\r\n", b"\xef\xbb\xbflow\n", b"low\n\xff\n"):
        assert tokens_at_once(data) is None


def test_opening_a_vocabulary_makes_no_object_for_each_token(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("[UNK]\n" + "\n".join(f"low{number}\n##{number}" for number in range(10, 9_000)) + "\nl\n##l\n")
    for _ in range(2):  # from the file, and then from the store
        alphabet = bpe.open(path).history.alphabet
        assert isinstance(alphabet.given, LaidSymbols)
        assert "_symbols" not in vars(alphabet.given)
        assert (len(alphabet), alphabet.seed_count) == (3 + 2 * 8_990, 2 * 8_990)
        assert alphabet.symbols[:3] == (
            Symbol(b"[UNK]", b"[UNK]", "unknown"),
            Symbol(b"l", b"l", "character"),
            Symbol(b"##l", b"l", "continuation"),
        )
        assert alphabet.symbols[4] == Symbol(b"##10", b"10", "seed")
