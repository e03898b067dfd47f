"""Tests of tokenizer.json: the library `tokenizers` loads our files with the same ids, and we load its files."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from bpe_core.errors import FormatError, OutputError
from bpe_core.formats import FORMATS, OpenedTable
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.text.patterns import NAMED_PATTERNS
from tests.core.formats.samples import content, encode, languages, learn_preset, same_merges, texts, write_and_open

tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")

TOKENIZER_JSON = FORMATS["tokenizer.json"]

RECIPES = {
    "gpt2": dict(preset="gpt2", special_tokens=("<|end|>", "<|end|>more")),
    "cl100k": dict(preset="cl100k", special_tokens=("<|end|>",)),
    "o200k": dict(preset="o200k"),
    "english, line by line": dict(preset="english"),
    "raw bytes": dict(preset="raw-bytes", merges=60),
    "own pattern": dict(preset="gpt2", pattern="custom", custom_pattern=r"\p{L}+|\p{N}"),
    "characters": dict(preset="words"),
    "characters, glued": dict(preset="words", marker="glued"),
    "characters and bytes": dict(preset="words", unknown="bytes", alphabet_limit=60),
    "▁ before words, NFKC": dict(preset="sentencepiece-like", vocab_size=None),
    "cleaned": dict(preset="clean-words", marker="none", strip_marks="“’|\\"),
    "NFC, lower case": dict(preset="gpt2", unicode_form="NFC", lowercase=True),
}
every_recipe = pytest.mark.parametrize("choices", RECIPES.values(), ids=RECIPES)


@every_recipe
def test_the_tokenizers_library_loads_our_tokenizer_json_with_the_same_ids(choices: dict[str, Any]) -> None:
    history = learn_preset(**choices)
    theirs = tokenizers.Tokenizer.from_buffer(content(history, "tokenizer.json"))
    ours = Tokenizer(history)
    for text in texts():
        assert ours.encode(text, allowed_special="all") == theirs.encode(text).ids, text[:80]


@every_recipe
def test_an_exported_tokenizer_json_is_read_back_with_its_recipe_choices(choices: dict[str, Any]) -> None:
    history = learn_preset(**choices)
    back = write_and_open(history, "tokenizer.json")
    assert back.history.numbers is None
    assert same_merges(back.history, history)
    for choice in ("pattern", "custom_pattern", "unit", "special_tokens", "base", "marker", "marker_text", "unknown",
                   "lowercase", "strip_ascii_punctuation", "strip_marks", "unicode_form"):  # fmt: skip
        assert getattr(back.history.recipe, choice) == getattr(history.recipe, choice), choice


def test_special_tokens_inside_words_are_found_as_in_the_tokenizers_library() -> None:
    history = learn_preset(**RECIPES["gpt2"])  # type: ignore[arg-type]
    theirs = tokenizers.Tokenizer.from_buffer(content(history, "tokenizer.json"))
    text = "low<|end|>low <|end|>more<|end|"
    assert encode(history, text) == theirs.encode(text).ids
    assert theirs.token_to_id("<|end|>") == len(history) + 256


def test_the_tokenizers_library_restores_an_encoded_text_with_our_tokenizer_json() -> None:
    for choices in ("gpt2", "▁ before words, NFKC"):
        theirs = tokenizers.Tokenizer.from_buffer(content(learn_preset(**RECIPES[choices]), "tokenizer.json"))  # type: ignore[arg-type]
        assert theirs.decode(theirs.encode("all human beings").ids) == "all human beings"


# --- Files of theirs --------------------------------------------------------------------


def byte_level(add_prefix_space: bool = False) -> Any:
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    return made


def split(expression: str) -> Any:
    pre = tokenizers.pre_tokenizers
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = pre.Sequence(
        [pre.Split(tokenizers.Regex(expression), "isolated"), pre.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    return made


def characters() -> Any:
    made = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    made.normalizer = tokenizers.normalizers.Sequence(
        [tokenizers.normalizers.NFKC(), tokenizers.normalizers.Lowercase()]
    )
    return made


def train_with_word_ends() -> Any:
    made = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return made


def train_with_continuing_prefix(in_bytes: bool = False, **ends: str) -> Any:
    made = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>", continuing_subword_prefix="##", **ends))
    pre = tokenizers.pre_tokenizers
    made.pre_tokenizer = pre.ByteLevel(add_prefix_space=False) if in_bytes else pre.BertPreTokenizer()
    return made


THEIRS = {"ByteLevel": byte_level, "Split": lambda: split(NAMED_PATTERNS["o200k"].expression),
          "characters": characters, "glued": train_with_word_ends, "continued": train_with_continuing_prefix,
          "continued over bytes": lambda: train_with_continuing_prefix(in_bytes=True),
          "continued, glued": lambda: train_with_continuing_prefix(end_of_word_suffix="</w>")}  # fmt: skip


def marks_of(kind: str) -> dict[str, str]:
    marks = {"end_of_word_suffix": "</w>"} if "glued" in kind else {}
    return marks | ({"continuing_subword_prefix": "##"} if "continued" in kind else {})


@pytest.mark.parametrize("kind", ["glued", "continued", "continued, glued"])
def test_tokens_of_words_with_marks_have_the_places_of_the_tokenizers_library(kind: str) -> None:
    theirs = THEIRS[kind]()
    trainer = tokenizers.trainers.BpeTrainer(special_tokens=["<unk>"], show_progress=False, **marks_of(kind))
    theirs.train_from_iterator([languages()], trainer)
    opened = TOKENIZER_JSON.open(theirs.to_str().encode(), "tokenizer.json")
    text = "the lowest of the löw one"
    places = [(start, stop) for _, start, stop, _, _ in Tokenizer(opened.history).token_spans(text)]
    assert places == theirs.encode(text).offsets


@pytest.mark.parametrize("kind", THEIRS)
def test_tokenizer_json_files_trained_by_the_tokenizers_library_keep_their_ids(kind: str) -> None:
    theirs = THEIRS[kind]()
    specials = ["<|endoftext|>"] if kind in ("ByteLevel", "Split") else ["<unk>", "<s>", "</s>"]
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=700,
        special_tokens=specials,  # the trainer numbers special tokens first, and the engine numbers them last
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet() if len(specials) == 1 else [],
        show_progress=False,
        **marks_of(kind),
    )
    theirs.train_from_iterator([languages()], trainer)
    opened = TOKENIZER_JSON.open(theirs.to_str().encode(), "tokenizer.json")
    assert opened.history.numbers is not None
    for text in (*texts(), "a<unk>b <unk>", "##a a##b</w> #"):
        assert opened.numbers_of(encode(opened.history, text)) == theirs.encode(text).ids, text[:80]


def test_tokens_with_a_continuing_prefix_are_joined_as_in_the_tokenizers_library() -> None:
    chance = Random(3)
    base = {text: number for number, text in enumerate(("?", *"ab#", "##a", "##b", "###"))}
    for _ in range(40):
        vocabulary = dict(base)
        merges: list[tuple[str, str]] = []
        for _ in range(8):
            left = chance.choice(list(vocabulary)[1:])
            right = chance.choice([text for text in vocabulary if text.startswith("##") and text != "##"])
            vocabulary.setdefault(left + right[2:], len(vocabulary))
            merges.append((left, right))
        chance.shuffle(merges)
        model = tokenizers.models.BPE(
            vocabulary, merges, unk_token="?", continuing_subword_prefix="##", fuse_unk=chance.random() < 0.5
        )
        theirs = tokenizers.Tokenizer(model)
        history = TOKENIZER_JSON.open(theirs.to_str().encode(), "x").history
        again = TOKENIZER_JSON.open(content(history, "tokenizer.json"), "x").history
        for text in ("".join(chance.choices("ab#x", k=length)) for length in range(1, 12)):
            ids = theirs.encode(text).ids
            assert history.numbers_of(encode(history, text)).tolist() == ids, (merges, text)
            assert again.numbers_of(encode(again, text)).tolist() == ids, (merges, text)


def test_byte_fallback_together_with_a_continuing_prefix_is_refused() -> None:
    whole = json.loads(train_with_continuing_prefix().to_str())
    whole["model"] |= {"byte_fallback": True, "vocab": {"<unk>": 0, "<0x41>": 1, "a": 2, "##a": 3}}
    with pytest.raises(FormatError, match=r"unknown characters into bytes .* Its library turns this mark into bytes"):
        open_json(whole)


def test_a_tokenizer_json_with_each_merge_written_as_one_string_is_read() -> None:
    whole = json.loads(content(learn_preset("gpt2"), "tokenizer.json"))
    whole["model"]["merges"] = [" ".join(pair) for pair in whole["model"]["merges"]]
    assert same_merges(open_json(whole).history, learn_preset("gpt2"))


def test_a_token_made_by_several_merges_gets_the_same_ids_as_in_the_tokenizers_library() -> None:
    """Files converted from ranks, such as tiktoken's, contain several merges that make the same token.

    Only one of these merges is ever used.
    """
    whole = json.loads(content(learn_preset("words", merges=0), "tokenizer.json"))
    model = whole["model"]
    for text in ("th", "he", "the"):
        model["vocab"][text] = len(model["vocab"])
    model["merges"] = [["h", "e"], ["t", "h"], ["th", "e"], ["t", "he"]]
    opened = open_json(whole)
    theirs = tokenizers.Tokenizer.from_buffer(json.dumps(whole).encode())
    assert any("2 merges" in note or "1 merge " in note for note in opened.notes)
    for text in ("the", "th", "he", "athe"):
        assert opened.numbers_of(encode(opened.history, text)) == theirs.encode(text).ids


def test_opening_a_tokenizer_json_reports_options_that_a_recipe_cannot_hold() -> None:
    whole = json.loads(byte_level().to_str())
    whole["model"]["dropout"] = 0.1
    whole["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [{"type": "Haiku"}, whole["pre_tokenizer"]]}
    whole["padding"] = {"strategy": "BatchLongest"}
    whole["post_processor"] = {"type": "ByteLevel"}
    notes = " ".join(open_json(whole).notes)
    for word in ("dropout", "Haiku", "add special tokens to a text", "padding"):
        assert word in notes, word


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a sequence"])
@pytest.mark.parametrize("times", [0, 1, 2])
def test_opening_a_tokenizer_json_reports_a_template_that_does_not_hold_the_text_exactly_once(
    times: int, inside: bool
) -> None:
    """The library follows such a template even if it adds no special tokens."""
    whole = json.loads(content(learn_preset("gpt2", merges=3), "tokenizer.json"))
    text = {"Sequence": {"id": "A", "type_id": 0}}
    template = {"type": "TemplateProcessing", "single": times * [text], "pair": [], "special_tokens": {}}
    whole["post_processor"] = {"type": "Sequence", "processors": [template]} if inside else template
    opened = open_json(whole)
    theirs = tokenizers.Tokenizer.from_buffer(json.dumps(whole).encode())
    is_alike = theirs.encode("the", add_special_tokens=False).ids == opened.numbers_of(encode(opened.history, "the"))
    assert is_alike == (times == 1)
    assert any("does not hold the text exactly once" in note for note in opened.notes) != is_alike


@pytest.mark.parametrize("marker", ["symbol", "prefix"])
def test_exporting_a_marker_that_tokenizer_json_cannot_hold_is_refused(marker: str) -> None:
    history = learn_preset("gpt2", marker=marker, merges=3)
    with pytest.raises(OutputError, match=r"marker|separate symbol"):
        content(history, "tokenizer.json")


# --- Damage -----------------------------------------------------------------------------


def open_json(whole: Any) -> OpenedTable:
    return TOKENIZER_JSON.open(json.dumps(whole).encode(), "odd.json")


DAMAGE = [
    (("model", "merges"), [["t", "zz"]], r"merge 1: the token 'zz' is not in the vocabulary"),
    (("model", "merges"), [["t", "h", "e"]], r"merge 1: there must be two tokens"),
    (("model", "merges"), [["t", 5]], r"merge 1: there must be two tokens"),
    (("model", "merges"), ["th"], r"merge 1: there must be two tokens"),
    (("model", "merges"), {"t": "h"}, r'"merges" is missing or not a list'),
    (("model", "merges"), [["\ud800", "h"]], r"half of a surrogate pair"),
    (("model", "vocab"), ["t", "h"], r'"vocab" must be an object'),
    (("model", "vocab", "t"), -1, r"the id of 't' must be a whole number from 0"),
    (("model", "vocab", "t"), 2**40, r"the id of 't' must be a whole number from 0"),
    (("model", "vocab", "t"), 1.5, r"the id of 't' must be a whole number"),
    (("model", "vocab", "t"), True, r"the id of 't' must be a whole number"),
    (("model", "type"), "WordPieces", r"holds a WordPieces model; this program reads BPE, WordPiece"),
    (("model", "type"), 7, r'"type" must be a text'),
    (("model",), [], r'"model" must be an object'),
    (("model", "continuing_subword_prefix"), "##", r"no token of one character has this mark"),
    (("added_tokens",), [7], r"added token 1: there must be an object"),
    (("added_tokens",), [{"content": "a", "id": "7"}], r"added token 1: its id must be a whole number"),
    (("added_tokens",), [{"id": 7}], r"added token 1: the text of the token is missing"),
    (("normalizer",), [], r'"normalizer" must be an object'),
    (("pre_tokenizer",), {"type": "Sequence", "pretokenizers": 5}, r'"pretokenizers" must be a list'),
    (("pre_tokenizer",), {"type": "Sequence", "pretokenizers": [5]}, r"must be a list of at most"),
    (
        ("pre_tokenizer",),
        {"type": "Split", "pattern": {"Regex": 5}},
        r'its "pattern" is missing or has the wrong type',
    ),
]


@pytest.mark.parametrize(("path", "value", "sentence"), DAMAGE, ids=lambda value: repr(value)[:50])
def test_a_damaged_tokenizer_json_is_refused_with_the_position_of_the_damage(
    path: tuple[str, ...], value: object, sentence: str
) -> None:
    whole = json.loads(content(learn_preset("words", merges=3), "tokenizer.json"))
    whole["model"]["vocab"] |= {
        text: 10_000 + i for i, text in enumerate(("th", "the")) if text not in whole["model"]["vocab"]
    }
    inside = whole
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    with pytest.raises(FormatError, match=sentence):
        open_json(whole)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b'{"model": {"vocab": ' + b"[" * 500_000, r"odd\.json: this JSON is nested too deeply"),
        (b'{"model": {"vocab": {"a": 1, "a": "b"}}}', r"odd\.json: the entry 'a' occurs twice"),
        (b'{"model": {"vocab": {"a": ' + b"9" * 10_000 + b"}}}", r"odd\.json: this JSON is nested too deeply"),
        (b'{"model": \n{"vocab": }}', r"odd\.json, line 2, column 11: this is not valid JSON"),
        (b'{"model": {"vocab": {"\xff": 1}}}', r"odd\.json: the bytes from byte 23 on are not UTF-8"),
    ],
)
def test_a_tokenizer_json_file_that_is_not_valid_json_is_refused(data: bytes, sentence: str) -> None:
    assert TOKENIZER_JSON.recognizes(data)
    with pytest.raises(FormatError, match=sentence):
        TOKENIZER_JSON.open(data, "odd.json")
