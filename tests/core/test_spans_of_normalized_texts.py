"""Tests of token spans in texts that are normalized before splitting.

The library `tokenizers` gives the same spans. A span is the range of the original text to which a token belongs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bpe_core.studies.making import open_study

tokenizers = pytest.importorskip("tokenizers")


@pytest.mark.parametrize("text", ["ﯻ", "½", "ﬃ", "㌔", "é", "ﬁ"])
@pytest.mark.parametrize("model", ["bytes", "pieces"])
def test_each_token_of_a_character_that_normalizes_to_several_characters_spans_the_original_character(
    model: str, text: str, tmp_path: Path
) -> None:
    """In an earlier version, only the last of these tokens had a span that was not empty."""
    steps, path = tokenizers.pre_tokenizers, tmp_path / "tokenizer.json"
    if model == "bytes":
        other, alphabet = tokenizers.Tokenizer(tokenizers.models.BPE()), steps.ByteLevel.alphabet()
        other.pre_tokenizer = steps.ByteLevel(add_prefix_space=False, use_regex=False)
        trainer = tokenizers.trainers.BpeTrainer(vocab_size=270, show_progress=False, initial_alphabet=alphabet)
    else:
        other = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
        other.pre_tokenizer = steps.Whitespace()
        signs = [*"abfixy12é⁄キロئى"]
        trainer = tokenizers.trainers.WordPieceTrainer(
            vocab_size=60, show_progress=False, special_tokens=["[UNK]"], initial_alphabet=signs
        )
    other.normalizer = tokenizers.normalizers.NFKC()
    other.train_from_iterator(["a b f i fi x y 1 2 12 é", "12é⁄キロئى fx aff iff"] * 9, trainer)
    other.save(str(path))
    expected = other.encode(text)
    spans = open_study(path).spans(text)
    assert [span.id for span in spans] == expected.ids
    assert [(span.start, span.stop) for span in spans] == expected.offsets
    for span in spans:
        assert text.encode()[span.first_byte : span.end_byte].decode() in text


@pytest.mark.parametrize("model", ["joined", "whole words"])
def test_a_token_that_ends_inside_a_normalized_character_spans_the_whole_original_character(
    model: str, tmp_path: Path
) -> None:
    """In an earlier version, the span of "af" in "aﬁb" ended before the ligature."""
    steps, path = tokenizers.pre_tokenizers, tmp_path / "tokenizer.json"
    vocabulary = {text: number for number, text in enumerate(["?", *"afibx12⁄", "af", "xaf", "ib"])}
    if model == "joined":
        merges = [("a", "f"), ("i", "b"), ("x", "af")]
        other = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, merges, unk_token="?"))
    else:
        other = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="?"))
    other.pre_tokenizer, other.normalizer = steps.Whitespace(), tokenizers.normalizers.NFKD()
    other.save(str(path))
    study = open_study(path)
    for text in ("aﬁb", "xaﬁb aﬁ", "ß½a", "a½b", "ﬁﬁ", "xaﬁbxa"):
        expected = other.encode(text)
        spans = study.spans(text)
        assert [span.id for span in spans] == expected.ids
        assert [(span.start, span.stop) for span in spans] == expected.offsets, text
        assert all(text.encode()[span.first_byte : span.end_byte].decode() in text for span in spans)
