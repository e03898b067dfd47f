"""Tests of random combinations of the parts of a tokenizer.json.

If a file opens without a warning, its ids must be the same as in the library `tokenizers`.
"""

from __future__ import annotations

import json
from random import Random

import pytest

from bpe_core.errors import FormatError
from bpe_core.formats import FORMATS
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.text.preparation.pieces import BEHAVIORS
from bpe_core.text.preparation.pre_tokenizers import Split
from tests.conftest import EXPLORES
from tests.core.formats.hugging_face_tokenizers import (
    Step,
    Whole,
    added_token,
    as_bert,
    by_bytes,
    digits,
    in_sequence,
    metaspace,
    precompiled,
    replace_step,
    split,
    split_at,
)  # fmt: skip

tokenizers = pytest.importorskip("tokenizers")
JSON = FORMATS["tokenizer.json"]

PIECES = [
    "a",
    "b",
    "e",
    "t",
    "h",
    "▁",
    "Ġ",
    " ",
    "th",
    "the",
    "▁the",
    "Ġthe",
    "ab",
    "##b",
    "##e",
    "é",
    "中",
    "1",
    ".",
    "É",
]
MERGES = ["t h", "th e", "a b", "▁ the", "Ġ the"]
ODD = ["the", "The", "THE", "ab", "e\u0301", "é", "É", "中文", "12", "...", " ", "  ", "\t", "\n", "\u00a0", "\x7f",
       "▁", "<s>", "<S>", "<unk>", "##b", "한", "\u09cb", "\u200d", "x", "İ", "ﬁ"]  # fmt: skip
TOKENS = ["<s>", "the", "  ", "é", "ab", "中", "<unk>", "##b"]
DECODERS: list[Step | None] = [None, by_bytes(), metaspace(), {"type": "WordPiece", "prefix": "##", "cleanup": True}]


def change(chance: Random) -> Step:
    plain: list[Step] = [{"type": kind} for kind in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt")]
    others = [as_bert(lowercase=chance.random() < 0.5), replace_step(" ", "▁"), replace_step(r"\s+", " ", regex=True),
              {"type": "Prepend", "prepend": "▁"}, {"type": "Strip", "strip_left": True, "strip_right": False},
              precompiled()]  # fmt: skip
    return chance.choice([*plain, *others, *others])


def cut(chance: Random) -> Step:
    behavior, cuts = chance.choice(BEHAVIORS), chance.random() < 0.5
    plain: list[Step] = [{"type": kind} for kind in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer")]
    return chance.choice([
        *plain, digits(alone=cuts), by_bytes(blank=cuts, cuts=chance.random() < 0.5), split_at(" ", behavior),
        metaspace(chance.choice(["always", "first", "never"]), cuts=cuts),
        {"type": "Punctuation", "behavior": behavior},
        split(chance.choice([r"\w+|[^\w\s]+", r"\p{N}", "^", "th|t"]), behavior, invert=cuts),
    ])  # fmt: skip


def model(chance: Random) -> Whole:
    kind = chance.choice(["BPE", "WordPiece", "WordLevel", "Unigram"])
    texts = ["<unk>", *chance.sample(PIECES, 16)]
    numbers: Whole = {text: number for number, text in enumerate(texts)}
    if kind == "Unigram":
        scores = [[text, 0.0 if text == "<unk>" else -chance.random() * 9] for text in texts]
        return {"type": kind, "unk_id": 0, "vocab": scores}
    if kind == "BPE":
        known = [pair for pair in MERGES if {*pair.split(), pair.replace(" ", "")} <= numbers.keys()]
        unknown, fuses = chance.choice([None, "<unk>"]), chance.random() < 0.3
        return {"type": kind, "unk_token": unknown, "fuse_unk": fuses, "ignore_merges": chance.random() < 0.3,
                "vocab": numbers, "merges": known}  # fmt: skip
    more = {"continuing_subword_prefix": "##", "max_input_chars_per_word": 9} if kind == "WordPiece" else {}
    return {"type": kind, "unk_token": "<unk>", "vocab": numbers, **more}


def whole(chance: Random) -> Whole:
    tokens = [
        added_token(17 + place, content, special=chance.random() < 0.5, normalized=chance.random() < 0.4,
              lstrip=chance.random() < 0.2, rstrip=chance.random() < 0.3, single_word=chance.random() < 0.2)
        for place, content in enumerate(chance.sample(TOKENS, chance.randrange(4)))
    ]  # fmt: skip
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": tokens, "post_processor": None,
        "normalizer": in_sequence([change(chance) for _ in range(chance.randrange(3))], "normalizers"),
        "pre_tokenizer": in_sequence([cut(chance) for _ in range(chance.randrange(3))], "pretokenizers"),
        "decoder": chance.choice(DECODERS), "model": model(chance),
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(200 if EXPLORES else 2))
def test_random_tokenizer_json_files_give_the_ids_of_the_library_unless_a_note_reports_differences(seed: int) -> None:
    chance, compared = Random(seed), 0
    for _ in range(30):
        made = whole(chance)
        data = json.dumps(made).encode()
        theirs = tokenizers.Tokenizer.from_buffer(data)
        try:
            opened = JSON.open(data, "x")
        except FormatError:  # text that would be turned into bytes twice
            continue
        if any("can differ" in note or "here" in note for note in opened.notes):
            continue
        compared += 1
        tokenizer = Tokenizer(opened.history)
        texts = ["".join(chance.choices(ODD, k=chance.randrange(1, 9))) for _ in range(12)]
        batch, offsets = tokenizer.encode_batch(texts, allowed_special="all")
        for place, text in enumerate(texts):
            ids = theirs.encode(text, add_special_tokens=False).ids
            context = (json.dumps(made, ensure_ascii=False)[-3_000:], text)
            assert opened.numbers_of(tokenizer.encode(text, allowed_special="all")) == ids, context
            assert opened.numbers_of(batch[offsets[place] : offsets[place + 1]]) == ids, context
            assert tokenizer.file_ids(text, listed=True) == ids, context
            if place % 4 == 0:
                assert opened.numbers_of([id for _, _, id in tokenizer.spans(text, allowed_special="all")]) == ids, (
                    context
                )
            decoded = theirs.decode(ids, skip_special_tokens=False)
            assert tokenizer.decode(opened.history.indices_of(ids), way="library") == decoded, context
    assert compared > 10


LETTERS = [
    "s",
    "S",
    "ß",
    "ſ",
    "ẞ",
    "f",
    "ﬁ",
    "ﬀ",
    "i",
    "I",
    "İ",
    "ı",
    "k",
    "K",
    "å",
    "Å",
    "σ",
    "ς",
    "ŉ",
    "ʼn",
    "ǰ",
    "\u0307",
]
PARTS = [
    "[%s]",
    "[^%s]",
    "(?:%s)+",
    "%s?",
    "[a-z%s]",
    "[^a-k%s]",
    "(?-i:%s)",
    "(?<=%s)",
    r"\p{Lu}%s",
    r"[\p{Ll}&&[^%s]]",
    r"(?=\w)%s",
]


@pytest.mark.parametrize("seed", range(40 if EXPLORES else 1))
def test_random_case_insensitive_patterns_split_text_as_in_the_tokenizers_library(seed: int) -> None:
    chance = Random(seed)
    for _ in range(60):
        parts = [
            chance.choice(["%s", *PARTS]) % "".join(chance.choices(LETTERS, k=chance.choice((1, 1, 2)))) for _ in "ab"
        ]
        pattern = chance.choice(["(?i)%s", "(?i:%s)", "f(?i:%s)"]) % chance.choice(["", "|"]).join(parts)
        theirs = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
        for _ in range(6):
            text = "".join(chance.choices(LETTERS, k=chance.randrange(1, 9)))
            split_parts = [part for part, _ in theirs.pre_tokenize_str(text)]
            assert Split(pattern, True, "Isolated").texts(text) == split_parts, (pattern, text)


MEMBERS = [r"\s", r"\S", r"\d", r"\D", r"\w", r"\W", r"\p{L}", r"\P{L}", r"\p{N}", "a", "1-3", r"\n", r"\]", "é"]


@pytest.mark.parametrize("seed", range(40 if EXPLORES else 1))
def test_patterns_with_random_character_sets_split_text_as_in_the_tokenizers_library(seed: int) -> None:
    chance, text = Random(seed), "ab aé 12x]\n_B"
    for _ in range(300):
        members = "".join(chance.choices(MEMBERS, k=chance.randrange(1, 5)))
        pattern = chance.choice(["", "(?i)"]) + f"[^{members}]" + chance.choice(["", "+"]) + chance.choice(["", "|b"])
        theirs = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
        parts = [part for part, _ in theirs.pre_tokenize_str(text)]
        assert Split(pattern, True, "Isolated").texts(text) == parts, pattern
