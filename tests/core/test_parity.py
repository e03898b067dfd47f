"""The plain reference of parity-aware byte-pair encoding, beside the trainer of tokenizers."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import regex

from bpe_core.reference.parity import Parity, parity
from bpe_core.text.patterns import NAMED_PATTERNS
from bpe_core.text.stand_ins import stand_ins

TEXTS = Path(__file__).parents[1] / "texts"
LINES = [(TEXTS / f"{name}.txt").read_text(encoding="utf-8").splitlines() for name in ("latin", "greek", "cyrillic")]
TRAIN, DEV = [lines[::2] for lines in LINES], [lines[1::2] for lines in LINES]
WAYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "dev": ({}, {}),
    "all together first": ({"global_merges": 40}, {"global_merges": 40}),
    "a minimum": ({"least": 2}, {"min_frequency": 2}),
    "ratios": ({"ratio": (1.0, 1.5, 2.0)}, {"ratio": [1.0, 1.5, 2.0]}),
    "a window of 10": ({"window": 10}, {"variant": "window", "window_size": 10}),
    "a narrow window": ({"window": 16, "alpha": 1.2}, {"variant": "window", "window_size": 16, "alpha": 1.2}),
}


def words_of(lines: list[str]) -> dict[bytes, int]:
    expression = NAMED_PATTERNS["gpt2"].expression
    return Counter(word.encode() for line in lines for word in regex.findall(expression, line))


@pytest.mark.parametrize("way", WAYS)
def test_its_merges_are_those_of_tokenizers(way: str) -> None:
    tokenizers = pytest.importorskip("tokenizers", minversion="0.23")
    ours, theirs = WAYS[way]
    dev = [] if "ratio" in ours else DEV
    other = tokenizers.Tokenizer(tokenizers.models.BPE())
    other.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.ParityBpeTrainer(num_merges=120, show_progress=False, **theirs)
    more = {"dev_iterators": [list(lines) for lines in dev]} if dev else {}
    trainer.train_from_iterator(other, train_iterators=[list(lines) for lines in TRAIN], **more)
    expected = [tuple(pair) for pair in json.loads(other.to_str())["model"]["merges"]]
    served = parity([words_of(lines) for lines in TRAIN], [words_of(lines) for lines in dev], Parity(120, **ours))
    written = list(stand_ins())
    for one in served:
        written.append(written[one.left] + written[one.right])
    assert [(written[one.left], written[one.right]) for one in served] == expected
    assert len(expected) == 120
    assert (served[0].language is None) == (way == "all together first")


def test_each_merge_serves_the_language_with_the_longest_text() -> None:
    served = parity([{b"aab": 9}, {b"xyz": 1}], [{b"aab": 1}, {b"xyzxyz": 1}], Parity(9))
    assert [one.language for one in served] == [1, 1, 0, 0]
