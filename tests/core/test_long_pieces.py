"""Tests of a vocabulary with one piece of thousands of characters.

Other texts are encoded as fast as if the vocabulary did not contain this piece.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bpe_core.formats import open_table
from bpe_core.methods.kit.lattices import edges_of, lengths_of
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.wordpiece.cut import LongestPieces

LONG = 3_000
WORD = "a" * 2_000


class CountingDict(dict[Any, Any]):
    """A dictionary that counts how often a key is looked up."""

    looked_for = 0

    def get(self, key: Any, default: Any = None) -> Any:
        self.looked_for += 1
        return super().get(key, default)


def test_wordpiece_looks_up_only_texts_of_a_length_that_some_token_has(tmp_path: Path) -> None:
    texts = ["[UNK]", "a", "##a", "a" * LONG + "b", "##" + "a" * LONG + "b"]
    model: dict[str, Any] = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##"}
    model |= {"max_input_chars_per_word": 10 * LONG, "vocab": {text: id for id, text in enumerate(texts)}}
    table = tmp_path / "tokenizer.json"
    table.write_text(json.dumps({"version": "1.0", "model": model, "pre_tokenizer": {"type": "BertPreTokenizer"}}))
    history = open_table(table).history
    pieces = LongestPieces(history)
    pieces.starting, pieces.continuing = counting = CountingDict(pieces.starting), CountingDict(pieces.continuing)
    assert pieces.cut(WORD.encode(), 0).ids == Tokenizer(history).encode(WORD)
    assert sum(counted.looked_for for counted in counting) == len(WORD)
    assert pieces.cut(b"a" * LONG + b"b", 0).ids == [3]


def test_unigram_looks_up_only_texts_whose_length_occurs_among_its_pieces() -> None:
    seeds: Mapping[tuple[int, ...], int] = CountingDict({(0, 0): 2, (0,) * LONG + (1,): 3})
    symbols = [0] * len(WORD)
    edges = [edges_of(symbols, here, lengths_of(seeds), seeds) for here in range(len(symbols))]
    assert edges == [[(1, 0), (2, 2)]] * (len(WORD) - 1) + [[(1, 0)]]
    assert isinstance(seeds, CountingDict)
    assert seeds.looked_for == len(WORD) - 1
