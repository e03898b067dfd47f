"""Tests of YouTokenToMe models: the package (1.0.6) and its published algorithm give the same ids and texts."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.errors import FormatError, OutputError
from bpe_core.formats import FORMATS, open_table
from bpe_core.methods.kit.tokenizer import Tokenizer

YTTM, JSON = FORMATS["youtokentome"], FORMATS["tokenizer.json"]
CHARACTERS = {
    "h": 10,
    "e": 5,
    "日": 13,
    "r": 8,
    "本": 12,
    "w": 7,
    "o": 9,
    "t": 6,
    "ï": 15,
    "l": 11,
    "▁": 4,
    "v": 16,
    "n": 14,
}
RULES = [
    (4, 6, 17), (9, 7, 18), (5, 8, 19), (17, 10, 20), (20, 5, 21), (11, 18, 22), (4, 22, 23), (23, 19, 24),
    (13, 12, 25), (4, 25, 26), (23, 5, 27), (18, 19, 28), (27, 6, 29), (17, 28, 30), (21, 14, 31), (20, 19, 32),
    (32, 5, 33), (4, 19, 34), (4, 14, 35), (15, 16, 36), (36, 5, 37), (35, 37, 38),
]  # fmt: skip
SPECIALS = "1 0 2 3"
ASKED = {  # of the package
    "the lowest": ([21, 27, 1, 6], "the lowe<UNK>t"),
    "  lower▁tower\t日本日本 ": ([24, 30, 26, 25], "lower tower 日本日本"),
    "xyz thex quxthe": ([4, 1, 21, 1, 4, 1, 6, 10, 5], "<UNK> the<UNK> <UNK>the"),
    "": ([], ""),
    "\u00a0the\u3000low": ([4, 1, 6, 10, 5, 1, 22], "<UNK>the<UNK>low"),
    "<UNK> the": ([4, 1, 21], "<UNK> the"),
    "▁": ([], ""),
    "the\nthe\x1cthe\x0bthe": ([21, 21, 1, 6, 10, 5, 21], "the the<UNK>the the"),
}


def model(specials: str = SPECIALS) -> bytes:
    rows = [f"{ord(character)} {number}" for character, number in CHARACTERS.items()]
    rows += [" ".join(map(str, rule)) for rule in RULES]
    return "\n".join([f"{len(CHARACTERS)} {len(RULES)}", *rows, specials, ""]).encode()


def encode_by_the_rule(text: str) -> list[int]:
    ids_so_far: list[int] = []
    for word in "".join(" " if symbol in "\t\n\v\f\r▁" else symbol for symbol in text).split(" "):
        ids = [CHARACTERS["▁"], *(CHARACTERS.get(symbol, 1) for symbol in word)] if word else []
        ids = [symbol for place, symbol in enumerate(ids) if symbol != 1 or ids[place - 1] != 1]
        for left, right, both in RULES:
            place = 0
            while place + 1 < len(ids):
                if ids[place : place + 2] == [left, right]:
                    ids[place : place + 2] = [both]
                place += 1
        ids_so_far += ids
    return ids_so_far


FOUND = YTTM.open(model(), "small.yttm")
PLAIN = Tokenizer(FOUND.history)


def test_a_youtokentome_model_encodes_and_decodes_by_the_rules_of_the_youtokentome_package(tmp_path: Path) -> None:
    (tmp_path / "bpe.model").write_bytes(model())
    opened = open_table(tmp_path / "bpe.model")
    assert (opened.format, opened.notes, opened.history.index_count) == ("youtokentome", (), 39)
    ids, ends = Tokenizer(opened.history).encode_batch(list(ASKED), threads=1)
    for place, (text, (asked, read)) in enumerate(ASKED.items()):
        assert encode_by_the_rule(text) == asked
        assert opened.numbers_of(PLAIN.encode(text)) == asked
        assert opened.numbers_of(ids[ends[place] : ends[place + 1]].tolist()) == asked
        assert PLAIN.decode(opened.history.indices_of(asked), way="library") == read


@settings(max_examples=60)
@given(st.lists(st.sampled_from([*CHARACTERS, " ", "\t", "the", "lower", "日本", "x", "\u00a0", "\x85"])).map("".join))
def test_a_youtokentome_model_encodes_any_text_by_the_published_rule(text: str) -> None:
    assert FOUND.numbers_of(PLAIN.encode(text)) == encode_by_the_rule(text)


def test_a_youtokentome_model_can_be_exported_as_tokenizer_json_only() -> None:
    file = io.BytesIO()
    JSON.write(FOUND.history, file)
    again = JSON.open(file.getvalue(), "tokenizer.json")
    tokenizers = pytest.importorskip("tokenizers")
    library = tokenizers.Tokenizer.from_buffer(file.getvalue())
    for text in ASKED:
        assert again.numbers_of(Tokenizer(again.history).encode(text)) == encode_by_the_rule(text)
        assert library.encode(text, add_special_tokens=False).ids == encode_by_the_rule(text)
    with pytest.raises(OutputError, match="only be read"):
        YTTM.write(FOUND.history, file)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"\n4 6 17\n", b"\n4 99 17\n", "line 15: the line merges the token 99"),
        (b"\n4 6 17\n", b"\n17 6 17\n", "line 15: the line merges the token 17"),
        (b"\n9 7 18\n", b"\n9 7\n", "line 16: there must be 3 numbers"),
        (b"\n9 7 18\n", b"\n9 7 17\n", "two tokens have the same id"),
        (b"\n9 7 18\n", b"\n4 6 18\n", "line 16: the step merges the same pair"),
        (b"\n118 16\n", b"\n104 16\n", "a character occurs twice"),
        (b"\n118 16\n", b"\n55296 16\n", "not the number of a character"),
        (b"\n1 0 2 3\n", b"\n", "must be 4 numbers"),
        (b"\n1 0 2 3\n", b"\n1 x 2 3\n", "must be 4 numbers"),
    ],
)
def test_a_damaged_youtokentome_model_is_refused_with_the_position_of_the_damage(
    old: bytes, new: bytes, message: str
) -> None:
    with pytest.raises(FormatError, match=f"^odd.*{message}"):
        YTTM.open(model().replace(old, new), "odd")


def test_opening_a_youtokentome_model_reports_that_the_library_leaves_out_the_token_with_id_0() -> None:
    ids = FOUND.history.recipe.special_tokens
    assert ids == ("<PAD>", "<BOS>", "<EOS>")
    without = YTTM.open(model("-1 -1 -1 -1"), "none")
    assert (without.history.recipe.special_tokens, without.notes) == ((), ())
    zero = model("1 2 3 -1").replace(b"\n9601 4\n", b"\n9601 0\n").replace(b"\n4 ", b"\n0 ")
    assert any("the token with the id 0" in note for note in YTTM.open(zero, "zero").notes)
