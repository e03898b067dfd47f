"""Sentences about files that are no tables: each says what is so, and nothing that is not."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from bpe_core.errors import BpeError
from bpe_core.formats import open_table

WORDS = ["de", "la", "que", "el", "en", "y", "a", "los"]


def gguf_changed_as_text() -> bytes:
    name = b"tokenizer.ggml.tokens"
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", len(name)) + name
    return head + struct.pack("<IIQ", 9, 4, 90) + "\N{REPLACEMENT CHARACTER}".encode() * 60


@pytest.mark.parametrize(
    ("name", "content", "said", "unsaid"),
    [
        (
            "vocab.txt",
            "\n".join(["[PAD]", "[UNK]", *WORDS, "de la", "a los"]),
            ("some tokens hold a space"),
            "which is read",
        ),
        ("list.txt", "".join(f"{at}\t'{word}'\n" for at, word in enumerate(WORDS)), "list of ids and tokens", "merges"),
        ("ids.txt", "1 2 3\n4 5 6\n7 8 9\n1 2 3\n5 6 7\n", "only numbers", "a model of YouTokenToMe or"),
        ("model.bin", 'JSON0001{"type": "BPE", "vocab": {"a": 0}, "merges": []}', "remove them", "has learned"),
        (
            "words.json",
            json.dumps({word: at for at, word in enumerate(WORDS)}),
            "whole words has none",
            "The counts are in a file",
        ),
        ("tokenizer.pkl", b"\x80\x04\x95abc", "With the program that made it, write", "nothing"),
        ("tokenizer.json", json.dumps({"model": {"vocab": {"a": 0, "b": 1}}}), 'no "type"', "WordPiece"),
        ("tokenizer.gguf", gguf_changed_as_text(), "converted like a text", "copied whole"),
    ],
)
def test_a_sentence_says_what_is_so(name: str, content: str | bytes, said: str, unsaid: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BpeError) as refused:
        open_table(path)
    assert said in str(refused.value)
    assert unsaid not in str(refused.value)
