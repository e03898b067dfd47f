"""Tests of the explanation of encoding by merge priority: the explanation agrees with the encoder."""

from __future__ import annotations

import numpy as np

from bpe_core.formats import FORMATS
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.history.joining import MergePriorities, PairRows
from bpe_core.insight.explanation import explain
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe

# th, the, ␣the, ow, low, lowe, we
PAIRS = [(116, 104), (256, 101), (32, 257), (111, 119), (108, 259), (260, 101), (119, 101)]
ROWS = [(260, 101, 261), (257, 32, 258), (116, 104, 256), (32, 257, 258), (108, 259, 260), (111, 119, 259),
        (119, 101, 262), (256, 101, 257)]  # fmt: skip


def history(*, whole_words: bool = False) -> History:
    rows = PairRows(*np.array(ROWS, np.int64).T)
    return History.from_pairs(
        Recipe.preset("gpt2"), Alphabet.of_bytes(), PAIRS, MergePriorities(pairs=rows, whole_words=whole_words)
    )


def test_reasons_for_boundaries_with_merge_priorities_agree_with_the_splits_at_every_step() -> None:
    for table in (history(), history(whole_words=True)):
        tokenizer = Tokenizer(table)
        for text in ("the low lower", "lowé  the", "", "xowe"):
            explanation_at = explain(text, table, ()).explanation_at
            for at in range(len(table) + 1):
                edges = {0, len(text.encode())}.union(*(span[:2] for span in tokenizer.spans(text, at)))
                for byte in range(len(text.encode()) + 1):
                    explanation = explanation_at(byte, at)
                    assert explanation.is_cut == (byte in edges), (text, at, byte, explanation)
                    assert all(1 <= step <= len(table) for step in explanation.steps)


def test_each_reason_for_a_boundary_is_a_sentence_if_the_table_has_merge_priorities() -> None:
    explanation_at = explain("the lower", history(), ()).explanation_at
    assert [explanation_at(byte, 7).kind for byte in (1, 2, 3, 8)] == ["joined", "joined", "pattern", "never"]
    assert explain("xowe", history(), ()).explanation_at(3, 7).kind == "taken"
    assert explanation_at(1, 0).kind == "later"
    assert [piece.text for piece in explanation_at(1, 7).ways[1].pieces] == ["th", "e"]
    assert explain("the", history(whole_words=True), ()).explanation_at(1, 7).kind == "whole"
    long = explain("the" * 200, history(), ()).explanation_at
    assert "too long for a pair-by-pair explanation" in long(3, 7).sentence
    assert FORMATS["csv"].refusal(history()).startswith("csv cannot store merge priorities")
