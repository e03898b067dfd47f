"""Tests of the JSON files of tiktoken for JavaScript.

The program gives the same ids as tiktoken, including the ids of special tokens.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from bpe_core.errors import FormatError, OutputError
from bpe_core.formats import FORMATS, open_table
from bpe_core.methods.kit.tokenizer import Tokenizer
from tests.core.formats.samples import texts

JSON = FORMATS["tiktoken.json"]
PATTERN = r"'s| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LONGER = [
    b" t",
    b"he",
    b" the",
    b"in",
    b"er",
    "日".encode()[:2],
    "日".encode(),
    b"\n\n",
    b" lower",
]  # that no pair makes
SPECIALS = {"<EOT>": 0, "<META>": 1, "<SOS>": 999}
FIRST = [bytes([byte]) for byte in (*range(33, 256), *range(33))]


def content(**changed: Any) -> bytes:
    rows = [f"! {first} " + " ".join(base64.b64encode(token).decode() for token in tokens) for first, tokens in ROWS]
    whole = {"explicit_n_vocab": 9, "pat_str": PATTERN, "special_tokens": SPECIALS, "bpe_ranks": "\n".join(rows)}
    return json.dumps(whole | changed).encode()


ROWS = [(2, FIRST), (2 + len(FIRST) + 1, LONGER)]  # one rank belongs to no token


def test_a_tiktoken_json_file_gives_the_same_ids_as_tiktoken(tmp_path: Path) -> None:
    tiktoken = pytest.importorskip("tiktoken", reason="the package tiktoken is not installed")
    (tmp_path / "claude.json").write_bytes(content())
    opened = open_table(tmp_path / "claude.json")
    ranks = {token: first + place for first, tokens in ROWS for place, token in enumerate(tokens)}
    theirs = tiktoken.Encoding("x", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens=SPECIALS)
    ours = Tokenizer(opened.history)
    for text in (*texts(), "<META>the lower<EOT> <SOS>", "日本 the\n\n inner"):
        assert opened.numbers_of(ours.encode(text)) == theirs.encode_ordinary(text)
        assert opened.numbers_of(ours.encode(text, allowed_special="all")) == theirs.encode(text, allowed_special="all")
    assert opened.format == "tiktoken.json"
    assert any(note.startswith("1 of the ranks from 0 to") for note in opened.notes)
    peer = JSON.peer(content(), opened.history, "x")
    assert peer is not None
    assert peer("the lower") == opened.numbers_of(ours.encode("the lower"))
    with open(tmp_path / "again", "wb") as file, pytest.raises(OutputError, match="only be read"):
        JSON.write(opened.history, file)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"bpe_ranks": "! 0"}, "bpe_ranks, line 1: there must be one character, a rank"),
        ({"bpe_ranks": "! x IQ=="}, "bpe_ranks, line 1: there must be one character, a rank"),
        ({"bpe_ranks": "! 0 IQ== I"}, "line 1: 'I' is not base64"),
        ({"bpe_ranks": "! 0 IQ=="}, "255 of the 256 bytes have no rank"),
        ({"bpe_ranks": ["IQ=="]}, "bpe_ranks"),
        ({"special_tokens": {"<EOT>": 5}}, "a special token has the id of another"),
        ({"special_tokens": {"<EOT>": -1}}, "the number of the special token '<EOT>'"),
        ({"special_tokens": []}, "special_tokens"),
    ],
)
def test_a_damaged_tiktoken_json_file_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=f"^odd.*{message}"):
        JSON.open(content(**changed), "odd")
