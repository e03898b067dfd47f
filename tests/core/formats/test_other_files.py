"""Tests of files that are not tokenizers: the error message says what kind of file it is."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from bpe_core.errors import BpeError
from bpe_core.formats import open_table

WORDS = ["de", "la", "que", "el", "en", "y", "a", "los"]


SPACED = ["  t", "h e", "  a", " t he", "n d", "  w", "e d", " a nd", "o n"]


def llama2_c(tokens: list[str]) -> bytes:
    rows = (struct.pack("<fI", -at, len(token)) + token.encode() for at, token in enumerate(tokens))
    return struct.pack("<I", 27) + b"".join(rows)


def gguf_changed_as_text() -> bytes:
    name = b"tokenizer.ggml.tokens"
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", len(name)) + name
    return head + struct.pack("<IIQ", 9, 4, 90) + "\N{REPLACEMENT CHARACTER}".encode() * 60


@pytest.mark.parametrize(
    ("name", "content", "message", "absent_message"),
    [
        (
            "vocab.txt",
            "\n".join(["[PAD]", "[UNK]", *WORDS, "de la", "a los"]),
            "some tokens hold a space",
            "which is read",
        ),
        ("list.txt", "".join(f"{at}\t'{word}'\n" for at, word in enumerate(WORDS)), "list of ids and tokens", "merges"),
        ("ids.txt", "1 2 3\n4 5 6\n7 8 9\n1 2 3\n5 6 7\n", "only numbers", "a model of YouTokenToMe or"),
        ("model.bin", 'JSON0001{"type": "BPE", "vocab": {"a": 0}, "merges": []}', "remove them", "has learned"),
        (
            "words.json",
            json.dumps({word: at for at, word in enumerate(WORDS)}),
            "whole words has no merges",
            "The counts are in a file",
        ),
        ("tokenizer.pkl", b"\x80\x04\x95abc", "With the program that made it, write", "nothing"),
        ("tokenizer.json", json.dumps({"model": {"vocab": {"a": 0, "b": 1}}}), 'no "type"', "WordPiece"),
        ("old.model", 'word v1\n"\\\\p{L}+"\n400\n0 Ā\n1 ā\n', "older program for BoundlessBPE", "csv"),
        ("bpe.model", "bpe v2\n\\S+\n1\n<end> 276\n20\n116 101\n32 97\n101 110\n", "based on minbpe", "csv"),
        ("merges.bpe", "".join(f"{pair}\r\n" for pair in SPACED), "hold plain spaces", "csv"),
        (
            "words.txt",
            "".join(f"{word},{9 - at}\n" for at, word in enumerate(WORDS)),
            "To learn from its counts",
            "BERT's",
        ),
        ("vocab.txt", "[PAD] 0\n[UNK]  1\nde 9\nla 8\n", "To learn from its counts", "BERT's"),
        ("tokenizer.bin", llama2_c(["<s>", "</s>", " a", "b"]), "llama2.c", "csv"),
        ("tokenizer.gguf", gguf_changed_as_text(), "converted as if it were text", "copied completely"),
    ],
)
def test_opening_a_file_that_is_not_a_table_reports_what_kind_of_file_it_is(
    name: str, content: str | bytes, message: str, absent_message: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BpeError) as refused:
        open_table(path)
    assert message in str(refused.value)
    assert absent_message not in str(refused.value)


def test_merges_of_bytes_are_recognized_in_a_file_without_the_space_symbol(tmp_path: Path) -> None:
    """A file learned from words without spaces has no token with a space, and may have no version line."""
    pairs = ["e s", "l a", "Ã ³", "i Ã³", "c iÃ³", "Ã ±", "a Ã±", "aÃ± os", "o s"]
    path = tmp_path / "es-merges.txt"
    path.write_text("\n".join(sorted(pairs, key=len)), "utf-8")
    assert open_table(path).history.recipe.base == "bytes"
    path.write_text("\n".join(["é t", "t é", "ét é", "l a", "la s", "o s", "e s", "u n", "un a", ""]), "utf-8")
    with pytest.raises(BpeError, match="does not say what begins or ends words"):
        open_table(path)
