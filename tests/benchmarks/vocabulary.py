"""The vocabulary with which all libraries encode: first the 256 bytes, then the merges."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

Pair = tuple[int, int]


@dataclass(frozen=True)
class Vocabulary:
    """A vocabulary of bytes and merges. For every library, byte b has the id b, and merge i the id 256 + i."""

    pairs: tuple[Pair, ...]
    trained_on: Path | None  # the text, for libraries that can use only their own vocabularies

    @cached_property
    def tokens(self) -> list[bytes]:
        tokens = [bytes([byte]) for byte in range(256)]
        for left, right in self.pairs:
            tokens.append(tokens[left] + tokens[right])
        return tokens

    def save(self, path: Path) -> None:
        text = None if self.trained_on is None else str(self.trained_on)
        path.write_text(json.dumps({"pairs": self.pairs, "trained_on": text}))

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        saved = json.loads(path.read_text())
        text = saved["trained_on"]
        return cls(tuple((left, right) for left, right in saved["pairs"]), None if text is None else Path(text))

    @classmethod
    def from_gpt2_file(cls, path: Path) -> Vocabulary:
        """Return the vocabulary with the merges of GPT-2's file vocab.bpe."""
        byte_of = {character: byte for byte, character in enumerate(printable_bytes())}
        id_of = {bytes([byte]): byte for byte in range(256)}
        pairs = []
        for line in path.read_text(encoding="utf-8").split("\n")[1:]:
            if line:
                left, right = (bytes(byte_of[character] for character in part) for part in line.split(" "))
                pairs.append((id_of[left], id_of[right]))
                id_of[left + right] = 256 + len(pairs) - 1
        return cls(tuple(pairs), None)

    def as_hugging_face(self) -> str:
        """Return the vocabulary as the text of a tokenizer.json."""
        stand_in = printable_bytes()
        written = ["".join(stand_in[byte] for byte in token) for token in self.tokens]
        byte_level: dict[str, Any] = {
            "type": "ByteLevel",
            "add_prefix_space": False,
            "trim_offsets": True,
            "use_regex": True,
        }
        model = {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {token: id for id, token in reversed(list(enumerate(written)))},
            "merges": [[written[left], written[right]] for left, right in self.pairs],
        }
        whole: dict[str, Any] = {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "normalizer": None,
            "pre_tokenizer": byte_level,
            "post_processor": None,
            "decoder": byte_level,
            "model": model,
        }
        return json.dumps(whole)

    def as_tiktoken(self) -> str:
        """Return the vocabulary as the text of a .tiktoken file."""
        return "".join(f"{base64.b64encode(token).decode()} {id}\n" for id, token in enumerate(self.tokens))


def printable_bytes() -> list[str]:
    """Return the printable character of each byte in Hugging Face's byte-level files."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]
