"""Tests of tekken.json files of Mistral: opened files keep their ids.

Exported files have the layout that the library of Mistral expects.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from bpe_core.errors import FormatError
from bpe_core.formats import FORMATS, open_table
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.verification.checking import prepare_export
from bpe_core.verification.import_check import check_import
from tests.core.formats.samples import learn_preset, texts

PATTERN = r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def tekken(specials: list[str] | None) -> dict[str, Any]:
    """Return the content of a tekken file with 30 special ids, all bytes and merged tokens.

    The last two tokens are beyond the vocabulary size of the file.
    """
    history = learn_preset("gpt2")
    tokens = [Tokenizer(history).token_bytes(id) for id in range(300)]
    vocab = [{"rank": rank, "token_bytes": base64.b64encode(token).decode()} for rank, token in enumerate(tokens)]
    config = {"pattern": PATTERN, "default_vocab_size": 328, "default_num_special_tokens": 30}
    whole: dict[str, Any] = {"config": config, "vocab": vocab}
    if specials is not None:
        whole["special_tokens"] = [{"rank": rank, "token_str": token} for rank, token in enumerate(specials)]
    return whole


def test_a_tekken_file_is_opened_and_written_with_the_same_ids(tmp_path: Path) -> None:
    tiktoken = pytest.importorskip("tiktoken", reason="the package tiktoken is not installed")
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(tekken(["<unk>", "<s>", "[INST]"])))
    opened = open_table(path)
    assert (opened.format, opened.history.recipe.special_tokens) == ("tekken", ("<unk>", "<s>", "[INST]"))
    assert any("27 of the first 30 ids belong to no token" in note for note in opened.notes)
    ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in tekken(None)["vocab"][:298]}
    theirs = tiktoken.Encoding("theirs", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})
    ours = Tokenizer(opened.history)
    for text in (*texts(), "<s> and [INST]"):
        assert opened.numbers_of(ours.encode(text)) == [30 + id for id in theirs.encode_ordinary(text)]
    special = ours.encode("<s>a", allowed_special="all")
    assert opened.numbers_of(special) == [1, 30 + ord("a")]
    agreement = check_import(path, opened)
    assert agreement is not None
    assert "of" in agreement.sentence
    assert not agreement.differences
    written = prepare_export(opened.history, tmp_path / "again/tekken.json")
    assert written.verification.agrees
    assert written.verification.asked == "tiktoken"
    again = FORMATS["tekken"].open(next(iter(written.files.values())), "again")
    assert again.history.numbers is not None
    assert opened.history.numbers is not None
    assert again.history.numbers.tolist() == opened.history.numbers.tolist()


def test_a_tekken_file_without_special_tokens_gets_the_default_special_tokens_and_a_damaged_file_is_refused() -> None:
    older = FORMATS["tekken"].open(json.dumps(tekken(None)).encode(), "tekken.json")
    assert older.history.recipe.special_tokens[:4] == ("<unk>", "<s>", "</s>", "[INST]")
    assert any("does not list its special tokens" in note for note in older.notes)
    for spoiled, message in (
        (
            {"special_tokens": [{"rank": 30, "token_str": "<s>"}]},
            "special token 1: each special token needs a text and a rank",
        ),
        ({"config": {**tekken(None)["config"], "default_vocab_size": 999}}, "300 other tokens have a rank below"),
        ({"vocab": [{"rank": 0, "token_bytes": "?"}]}, "'\\?' is not base64"),
        ({"vocab": tekken(None)["vocab"][1:299]}, "tokens have a rank below"),
    ):
        with pytest.raises(FormatError, match=message):
            FORMATS["tekken"].open(json.dumps({**tekken(None), **spoiled}).encode(), "tekken.json")


def test_an_exported_tekken_file_gives_the_first_ids_to_special_tokens_and_bytes() -> None:
    history = learn_preset("cl100k", special_tokens=("<s>",))
    numbers = FORMATS["tekken"].numbers(history)
    assert numbers[:256].tolist() == list(range(1_000, 1_256))
    assert numbers[-1] == 0
    assert "one pattern, but this table needs more" in FORMATS["tekken"].refusal(learn_preset("gpt2", lowercase=True))


def test_text_that_the_pattern_of_a_tekken_file_does_not_match_is_reported() -> None:
    whole = tekken(["<unk>"])
    for pattern, is_reported in (("[a-zA-Z]+", True), (PATTERN, False)):
        whole["config"]["pattern"] = pattern
        notes = FORMATS["tekken"].open(json.dumps(whole).encode(), "tekken.json").notes
        assert any("leaves out text that its pattern does not match" in note for note in notes) == is_reported
