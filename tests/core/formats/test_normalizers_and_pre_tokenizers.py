"""Tests of the normalizers and pre-tokenizers of a tokenizer.json.

They give the same ids as the library, in whatever order they are combined.
"""

from __future__ import annotations

import base64
import json
import struct
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from bpe_core.formats import FORMATS, open_table
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.characters import FORMS
from bpe_core.text.preparation.steps import as_json, read_step
from bpe_core.verification.import_check import check_import

tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")

TOKENIZER_JSON = FORMATS["tokenizer.json"]
WORDS = "low lower lowest 12 2024 naïve Café camelCase x86_64 end-to-end it's ﬁne ½ １２ 人人 Ünïcode e\u0301 ▁"
TRICKY = "aeléE 12½²'’-_.,▁\u0301\u0323\t\n\r \u00a0\u3000İΣßﬁ①人カﾞ한😀<m>Ġ\u200d\ufeff\u0000\u0c5c"
PARTS = [*WORDS.split(), *TRICKY, "<m>", "É!", "é!", "a b", "<s>", "NEW", " ", "  "]
TEXTS = st.lists(st.sampled_from(PARTS) | st.characters(blacklist_categories=["Cs"]), max_size=14).map("".join)
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
EXPRESSIONS = [
    r"\s+", r"\w+|[^\w\s]+", r"[0-9][0-9][0-9]", r"\p{N}{1,2}+", r"a|x*", r"(?=[A-Z])", r"^.|$",
    r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
]  # fmt: skip


def charsmap() -> str:
    """Return a table of replaced characters as SentencePiece stores it: a trie with one byte per level, in base64."""
    texts, units = b"", {}

    def unit(base: int, label: int, leaf: bool) -> int:
        return (base << 10) | (1 << 8 if leaf else 0) | label

    # ① becomes 1: a path of its three bytes, then the place of the text.
    key, place = "①".encode(), 0
    bases = (256, 512, 768, 1024)
    units[0] = bases[0] << 10
    for level, byte in enumerate(key):
        units[bases[level] ^ byte] = unit((bases[level] ^ byte) ^ bases[level + 1], byte, level == len(key) - 1)
    units[bases[3]] = place | 1 << 31
    texts += b"1\0"
    size = max(units) + 1
    data = struct.pack(f"<I{size}I", 4 * size, *(units.get(i, 0) for i in range(size))) + texts
    return base64.b64encode(data).decode()


@cache
def train_tokenizer(kind: str) -> dict[str, Any]:
    """Return the JSON object of a small tokenizer whose symbols are bytes, or characters with a marker for spaces."""
    made = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token=None if kind == "bytes" else "<unk>"))
    pre = tokenizers.pre_tokenizers
    made.pre_tokenizer = pre.ByteLevel() if kind == "bytes" else pre.Metaspace()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>"] if kind == "bytes" else ["<unk>", "<s>"],
        initial_alphabet=pre.ByteLevel.alphabet() if kind == "bytes" else [*"▁Ġé12"],
        show_progress=False,
    )
    made.train_from_iterator([WORDS] * 3, trainer)
    content: dict[str, Any] = json.loads(made.to_str())
    content["decoder"] = content["post_processor"] = None
    return content


def patterns() -> st.SearchStrategy[dict[str, str]]:
    return st.one_of(
        st.sampled_from([" ", "-", "l", "  "]).map(lambda text: {"String": text}),
        st.sampled_from(EXPRESSIONS).map(lambda text: {"Regex": text}),
    )


flags = st.booleans()
NORMALIZERS = st.one_of(
    st.sampled_from([{"type": kind} for kind in (*FORMS, "Lowercase", "StripAccents", "Nmt")]),
    st.builds(lambda left, right: {"type": "Strip", "strip_left": left, "strip_right": right}, flags, flags),
    st.just({"type": "Prepend", "prepend": "▁"}),
    st.just({"type": "Precompiled", "precompiled_charsmap": charsmap()}),
    st.builds(lambda found, new: {"type": "Replace", "pattern": found, "content": new}, patterns(),
              st.sampled_from(["", "▁", "xy", " "])),
    st.builds(
        lambda clean, chinese, accents, lower: {"type": "BertNormalizer", "clean_text": clean,
                                                "handle_chinese_chars": chinese, "strip_accents": accents,
                                                "lowercase": lower},
        flags, flags, st.sampled_from([None, True, False]), flags),
)  # fmt: skip
METASPACE = st.builds(
    lambda scheme, split: {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split},
    st.sampled_from(["always", "first", "never"]), flags)  # fmt: skip
CUTS = st.one_of(
    st.builds(lambda found, how, invert: {"type": "Split", "pattern": found, "behavior": how, "invert": invert},
              patterns(), st.sampled_from(BEHAVIORS), flags),
    st.builds(lambda one: {"type": "Digits", "individual_digits": one}, flags),
    st.builds(lambda how: {"type": "Punctuation", "behavior": how}, st.sampled_from(BEHAVIORS)),
    st.sampled_from([{"type": "Whitespace"}, {"type": "WhitespaceSplit"}, {"type": "BertPreTokenizer"},
                     {"type": "UnicodeScripts"}, {"type": "CharDelimiterSplit", "delimiter": "l"}]),
)  # fmt: skip
ADDED = st.builds(
    lambda content, *chosen: {"content": content, **dict(zip(
        ("single_word", "lstrip", "rstrip", "normalized", "special"), chosen, strict=True))},
    st.sampled_from(["<m>", "NEW", "É!", "a b"]), flags, flags, flags, flags, flags)  # fmt: skip


@st.composite
def files(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["bytes", "characters"]))
    whole: dict[str, Any] = json.loads(json.dumps(train_tokenizer(kind)))
    cuts = draw(st.lists(CUTS if kind == "bytes" else CUTS | METASPACE, max_size=3))
    if kind == "bytes":
        level = {"type": "ByteLevel", "add_prefix_space": draw(flags), "trim_offsets": True, "use_regex": draw(flags)}
        cuts.insert(draw(st.integers(0, len(cuts))), level)
    changes = draw(st.lists(NORMALIZERS, max_size=3))
    whole["normalizer"] = {"type": "Sequence", "normalizers": changes} if changes else None
    whole["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": cuts} if cuts else None
    added = draw(st.lists(ADDED, max_size=2, unique_by=lambda token: token["content"]))
    known = whole["model"]["vocab"]
    free = len(known)
    for token in added:
        number = known.get(token["content"], free)
        free += number == free
        whole["added_tokens"].append({"id": number, **token})
    return whole


def call_or_skip(asked: Callable[[], Any]) -> Any:
    """Return the result of a call of the library `tokenizers`, or skip the example if the library panics.

    The library panics if it looks for a token that begins or ends inside a byte character, such as `Ġ`.
    """
    try:
        return asked()
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        reject()


@given(files(), st.lists(TEXTS, min_size=1, max_size=3))
def test_any_normalizers_and_pre_tokenizers_give_the_same_ids_as_in_the_tokenizers_library(
    whole: dict[str, Any], texts: list[str]
) -> None:
    asked = call_or_skip(lambda: tokenizers.Tokenizer.from_str(json.dumps(whole)))
    opened = TOKENIZER_JSON.open(json.dumps(whole).encode(), "odd.json")
    assert not any("step" in note for note in opened.notes)
    recipe = opened.history.recipe
    assert Recipe.from_json(recipe.to_json()) == recipe
    assert all(read_step(as_json(step)) == step and step.words for step in recipe.preparation)
    tokenizer = Tokenizer(opened.history)
    for text in texts:
        ids = tokenizer.encode(text, allowed_special="all")
        assert opened.numbers_of(ids) == call_or_skip(partial(asked.encode, text, add_special_tokens=False)).ids
        spans = tokenizer.spans(text, allowed_special="all")
        assert [id for _, _, id in spans] == [id for id in ids if id in {spanned_id for _, _, spanned_id in spans}]
        places = [place for start, stop, _ in spans for place in (start, stop)]
        assert places == sorted(places)
        assert all(0 <= place <= len(text.encode()) for place in places)


def test_the_function_check_import_compares_an_opened_file_with_its_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file vocab.json contains tokens that are also keys of a tokenizer.json, such as `model`."""
    whole = json.loads(json.dumps(train_tokenizer("bytes")))
    whole["model"]["dropout"] = 1.0  # the library then leaves out every merge
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(whole), encoding="utf-8")
    check = check_import(path, open_table(path))
    assert check is not None
    assert 0 < check.agreeing < check.texts
    assert check.sentence.startswith(
        f"agrees with tokenizers on {check.agreeing} of {check.texts} texts by encode(text"
    )
    assert "special tokens matched; for the other texts the library gives other ids" in check.sentence
    assert any("in tokenizers" in note for note in check.notes)
    vocabulary = whole["model"]["vocab"] | {"model": 1_000, "vocab": 1_001}
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    merges = "\n".join(" ".join(pair) for pair in whole["model"]["merges"])
    (tmp_path / "merges.txt").write_text(f"\ufeff#version: 0.2\n{merges}\n", encoding="utf-8")
    for name in ("vocab.json", "merges.txt"):
        opened = open_table(tmp_path / name)
        check = check_import(tmp_path / name, opened)
        assert check is not None
        assert check.sentence == f"agrees with tokenizers on {check.texts} of {check.texts} texts by encode(word)"
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    check = check_import(path, open_table(path))
    assert check is not None
    assert "not installed" in check.sentence


def test_an_added_token_that_is_also_in_the_model_vocabulary_gets_the_same_id_as_in_the_library() -> None:
    whole = json.loads(json.dumps(train_tokenizer("characters")))
    added = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    whole["added_tokens"].append({"id": whole["model"]["vocab"]["o"], "content": "o", **added})
    whole["pre_tokenizer"] = {"type": "Whitespace"}
    opened = TOKENIZER_JSON.open(json.dumps(whole).encode(), "odd.json")
    assert not any("made by no merge" in note for note in opened.notes)
    without = {**whole, "added_tokens": whole["added_tokens"][:-1]}
    plain = TOKENIZER_JSON.open(json.dumps(without).encode(), "plain.json")
    ours, theirs = Tokenizer(opened.history), Tokenizer(plain.history)
    assert opened.numbers_of(ours.encode("low lower", allowed_special=())) == plain.numbers_of(
        theirs.encode("low lower")
    )
    asked = tokenizers.Tokenizer.from_str(json.dumps(whole)).encode("low lower").ids
    assert opened.numbers_of(ours.encode("low lower", allowed_special="all")) == asked
