"""Tests of merges.txt with vocab.json: the library `tokenizers` loads our files, and our program opens its files
with the same ids.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bpe_core.errors import FormatError, OutputError
from bpe_core.formats import FORMATS, all_formats, byte_level, open_table
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from bpe_core.text.patterns import NAMED_PATTERNS
from tests.core.formats.samples import (
    content,
    encode,
    files,
    languages,
    learn_preset,
    same_merges,
    texts,
    write_and_open,
)
from tests.core.learning import train

PAIR = FORMATS["merges.txt"]


def test_the_tokenizers_library_loads_our_merges_and_vocabulary_files_with_the_same_ids(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
    history = learn_preset("gpt2")
    for name, data in files(history, "merges.txt", "merges.txt").items():
        (tmp_path / name).write_bytes(data)
    model = tokenizers.models.BPE.from_file(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    theirs = tokenizers.Tokenizer(model)
    pre = tokenizers.pre_tokenizers
    expression = tokenizers.Regex(NAMED_PATTERNS["gpt2"].expression)
    theirs.pre_tokenizer = pre.Sequence(
        [pre.Split(expression, "isolated"), pre.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    for text in texts():
        assert encode(history, text) == theirs.encode(text).ids, text[:80]


def test_a_merges_file_with_a_vocabulary_file_beside_it_is_opened_with_the_ids_of_the_tokenizers_library(
    tmp_path: Path,
) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    theirs.train_from_iterator([languages()], trainer)
    theirs.model.save(str(tmp_path))
    merges = tmp_path / "merges.txt"  # older versions of the file begin with this line
    merges.write_text(merges.read_text("utf-8").replace("0.2", "0.2 - Trained by `huggingface/tokenizers`", 1), "utf-8")
    opened = open_table(merges)
    assert opened.format == "merges.txt"
    for text in texts():
        assert opened.numbers_of(encode(opened.history, text)) == theirs.encode(text).ids, text[:80]
    by_vocabulary = open_table(tmp_path / "vocab.json")
    assert same_merges(by_vocabulary.history, opened.history)


@pytest.mark.parametrize(
    ("preset", "changes"),
    [
        ("gpt2", {"special_tokens": ("<|end|>",)}),
        ("words", {"marker": "glued"}),
        ("words", {}),
        ("sentencepiece-like", {"vocab_size": None}),
    ],
)
def test_an_exported_merges_file_with_a_vocabulary_file_is_read_back_with_equal_merges(
    preset: str, changes: dict[str, Any]
) -> None:
    history = learn_preset(preset, **changes)
    back = write_and_open(history, "merges.txt", "merges.txt")
    assert same_merges(back.history, history)
    assert back.history.numbers is None


def test_tokens_of_a_merges_file_without_a_vocabulary_are_numbered_as_in_gpt2() -> None:
    history = learn_preset("gpt2", ties="byte-alphabet")
    back = PAIR.open(content(history, "merges.txt"), "merges.txt")
    assert any("no vocab.json" in note for note in back.notes)
    ours, theirs = Tokenizer(history), Tokenizer(back.history)
    for text in texts():
        assert [ours.token_bytes(id) for id in ours.encode(text)] == [
            theirs.token_bytes(id) for id in theirs.encode(text)
        ]


def test_exporting_a_character_token_with_a_space_as_merges_txt_is_refused() -> None:
    history = learn_preset("words", pattern="none", marker="none", merges=30)
    with pytest.raises(OutputError, match="cannot hold the space or line break"):
        content(history, "merges.txt")


def test_only_a_line_feed_ends_a_line_of_merges_txt() -> None:
    """Other line separators of Unicode may occur in a token of characters."""
    separators = "\u2028\u2029\u0085\x0b\x0c\x1c\x1e"
    recipe = Recipe.preset("words", pattern="custom", custom_pattern="[^ ]+", marker="none", merges=20)
    history = train(Corpus.from_texts([f"a{separators}b", f"a{separators}b"]), recipe)
    back = write_and_open(history, "merges.txt", "merges.txt")
    assert same_merges(back.history, history)
    assert max(len(Tokenizer(back.history).token_bytes(merge.index)) for merge in back.history) > 8


DAMAGE = [
    ("#version: 0.2\nt h e\n", r"merges\.txt, line 2: there must be two tokens"),
    ("#version: 0.2\nt h\n\nth  e\n", r"merges\.txt, line 4: there must be two tokens"),
    ("#version: 0.2\nth e\nt h\n", r"merges\.txt, line 2: the merge uses “th”, but no earlier merge makes this token"),
]


@pytest.mark.parametrize(("text", "sentence"), DAMAGE)
def test_a_damaged_merges_file_is_refused_with_a_line_number(text: str, sentence: str) -> None:
    with pytest.raises(FormatError, match=sentence):
        PAIR.open(text.encode(), "merges.txt")


def test_a_merge_listed_twice_in_merges_txt_is_used_once_and_reported() -> None:
    opened = PAIR.open(b"#version: 0.2\nt h\nt h\n", "merges.txt")
    assert len(opened.history) == 1
    assert any("1 merge never happens" in note for note in opened.notes)


@pytest.mark.parametrize(
    ("vocabulary", "sentence"),
    [
        ({"t": 0, "h": 1}, r"merges\.txt, line 2: the token 'th' is not in the vocabulary"),
        ({"t": 0, "h": 0, "th": 1}, r"two tokens have the id 0: 't' and 'h'"),
        ({"t": 0, "h": -1, "th": 1}, r"must be a whole number from 0"),
    ],
)
def test_a_vocabulary_file_that_does_not_fit_its_merges_is_refused(vocabulary: dict[str, int], sentence: str) -> None:
    beside = {"vocab.json": json.dumps(vocabulary).encode()}
    with pytest.raises(FormatError, match=sentence):
        PAIR.open(b"#version: 0.2\nt h\n", "merges.txt", beside.get)


def test_opening_a_vocabulary_without_a_merges_file_says_where_to_put_the_merges_file() -> None:
    with pytest.raises(FormatError, match=r"put their file, such as merges\.txt, into the same folder"):
        PAIR.open(b'{"t": 0, "h": 1}', "vocab.json")


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["a", "##b", "##c", "[UNK]"], "write a vocab.txt"),
        (["Ġa", "Ġb", "Ġc", "d", "e", "f", "g", "h", "##"], r"such as merges\.txt"),  # which is not WordPiece's
        (["a@@", "b", "</s>"], "in a separate file of codes"),
        (["▁a", "▁", "b", "bc"], "the .model or .spm"),
        (["a", "b", "|", "[PAD]", "<unk>"], "of single characters"),
        (["<|im_start|>", "<|im_end|>", "[MASK]"], "only special tokens"),
    ],
)
def test_a_vocabulary_file_without_merges_is_recognized_by_its_tokens_and_refused(
    tokens: list[str], message: str
) -> None:
    data = json.dumps({token: number for number, token in enumerate(tokens)}).encode()
    assert PAIR.recognizes(data)
    with pytest.raises(FormatError, match=message):
        PAIR.open(data, "vocab.json")


def test_merges_that_do_not_fit_the_vocabulary_are_refused_with_the_names_of_both_files() -> None:
    beside = {"encoder.json": b'{"t": 0, "h": 1}'}
    with pytest.raises(
        FormatError, match=r"^in/vocab\.bpe, line 2: .* the vocabulary, in/encoder\.json: the two files"
    ):
        PAIR.open(b"#version: 0.2\nt h\n", "in/vocab.bpe", beside.get)


@pytest.mark.parametrize(("unknown", "expected"), [("<unk>", [2, 4, 2]), ("[UNK]", [2, 4, 2]), ("", [2, 2])])
def test_characters_without_a_token_become_the_unknown_token_if_there_is_one_and_are_left_out_otherwise(
    unknown: str, expected: list[int]
) -> None:
    numbers = {"a": 0, "b": 1, "ab": 2, "c": 3} | ({unknown: 4} if unknown else {})
    opened = PAIR.open(b"#version: 0.2\na b\n", "merges.txt", {"vocab.json": json.dumps(numbers).encode()}.get)
    assert opened.numbers_of(encode(opened.history, "ab?ab")) == expected
    assert any("left out" in note for note in opened.notes) == (not unknown)
    if unknown:  # which libraries look for, as for each special token
        assert opened.numbers_of(Tokenizer(opened.history).encode(f"ab{unknown}c", allowed_special="all")) == [2, 4, 3]


def test_a_vocabulary_of_accented_latin_letters_is_not_read_as_bytes(tmp_path: Path) -> None:
    letters = [chr(code) for code in (*range(0x21, 0x7F), *range(0xA1, 0x100)) if code != 0xAD]
    (tmp_path / "merges.txt").write_text("#version: 0.2\n_ t\né e\n", "utf-8")
    (tmp_path / "vocab.json").write_text(json.dumps({text: id for id, text in enumerate([*letters, "_t", "ée"])}))
    opened = open_table(tmp_path / "merges.txt")
    assert (opened.history.recipe.base, len(encode(opened.history, "éeé"))) == ("characters", 2)


@pytest.mark.parametrize(("known", "config"), [(200, "{}"), (150, '{"tokenizer_class": "GPT2Tokenizer"}')])
def test_a_byte_vocabulary_without_a_token_for_the_space_is_read_as_bytes(
    known: int, config: str, tmp_path: Path
) -> None:
    printed = [text for text in byte_level.stand_ins() if text != "Ġ"]
    letters = list(dict.fromkeys([*byte_level.written("日本".encode()), *printed]))[:known]
    first, second = letters[:2]
    (tmp_path / "merges.txt").write_text(f"#version: 0.2\n{first} {second}\n", "utf-8")
    (tmp_path / "tokenizer_config.json").write_text(config, "utf-8")
    (tmp_path / "vocab.json").write_text(json.dumps({text: id for id, text in enumerate([*letters, first + second])}))
    opened = open_table(tmp_path / "merges.txt")
    assert opened.numbers_of(encode(opened.history, "日 本"))[0] == known
    assert len(encode(opened.history, "日 本")) > 3


def test_a_byte_vocabulary_with_only_english_letters_is_read_as_bytes(tmp_path: Path) -> None:
    """A trainer without the full byte alphabet has tokens only for the bytes that its texts contain."""
    library = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
    theirs = library.Tokenizer(library.models.BPE())
    theirs.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = library.trainers.BpeTrainer(vocab_size=40, show_progress=False)
    theirs.train_from_iterator(["The cat that sat on the mat\n", "the thin hat of the cat"], trainer)
    theirs.model.save(str(tmp_path))
    opened = open_table(tmp_path / "merges.txt")
    assert opened.history.recipe.base == "bytes"
    assert any("left out of texts" in note for note in opened.notes)
    for text in ("the cat sat", " The  hat\n\n", "that café the", "ĠĠthe", "日 the mat"):
        assert opened.numbers_of(encode(opened.history, text)) == theirs.encode(text).ids, text


def test_a_long_merges_file_without_a_header_is_read_completely_if_a_vocabulary_file_is_present(tmp_path: Path) -> None:
    letters = "가나다라마"
    word = "하" + letters * 180
    merges = [(word[:length], word[length]) for length in range(1, len(word))]
    (tmp_path / "merges.txt").write_text("".join(f"{left} {right}\n" for left, right in merges), "utf-8")
    assert (tmp_path / "merges.txt").stat().st_size > all_formats.LOOK
    tokens = [*letters, "하", *(left + right for left, right in merges)]
    (tmp_path / "vocab.json").write_text(json.dumps({text: id for id, text in enumerate(tokens)}))
    opened = open_table(tmp_path / "merges.txt")
    assert opened.numbers_of(encode(opened.history, word)) == [len(tokens) - 1]


def test_a_merges_file_without_merges_is_opened(tmp_path: Path) -> None:
    bare = "#version: 0.2\n"
    (tmp_path / "vocab.json").write_text('{"a": 0, "b": 1}')
    (tmp_path / "merges.txt").write_text(bare)
    for name in ("merges.txt", "vocab.json"):
        opened = open_table(tmp_path / name)
        assert (opened.format, opened.numbers_of(encode(opened.history, "bab"))) == ("merges.txt", [1, 0, 1])
    codes = FORMATS["subword-nmt"]
    assert codes.peer(bare.encode(), codes.read(bare.encode(), "codes"), "codes") is None


def test_a_wordpiece_vocabulary_in_json_is_recognized_and_refused_with_advice(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text('{"[UNK]": 0, "a": 1, "##b": 2}', "utf-8")
    with pytest.raises(FormatError, match=r"write a vocab\.txt"):
        open_table(tmp_path / "vocab.json")


def test_tokens_of_added_tokens_json_that_do_not_match_the_opened_table_are_reported(tmp_path: Path) -> None:
    merges = tmp_path / "merges.txt"
    for name, data in files(learn_preset("gpt2", special_tokens=("<|end|>",)), "merges.txt", "merges.txt").items():
        (tmp_path / name).write_bytes(data)
    assert not any("added_tokens" in note for note in open_table(merges).notes)
    (tmp_path / "added_tokens.json").write_text('{"<|end|>": 9, "<|im_start|>": 10}', "utf-8")
    (one_note,) = [note for note in open_table(merges).notes if "added_tokens.json" in note]
    assert one_note.startswith("1 token in added_tokens.json in its folder is matched with")
    assert "<|im_start|>" in one_note
    (tmp_path / "added_tokens.json").write_text("{", "utf-8")
    assert any("damaged" in note for note in open_table(merges).notes)
