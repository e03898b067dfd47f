"""Tests that imported files keep their ids in every command, after more merges, and in exported files."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import pytest

from bpe_core.command_line.main import run
from bpe_core.formats import FORMATS, open_table
from bpe_core.history.token_texts import written
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.verification import import_check, sampling
from tests.core.formats.hugging_face_tokenizers import KINDS
from tests.core.formats.samples import learn_preset
from tests.shared import text_of

tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
TEXT = "hello  world,   lower\n\n the lowest price <|endoftext|>"


def test_added_tokens_after_the_vocabulary_keep_their_ids_in_every_written_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BPE_EXPLORER_CACHE", str(tmp_path / "cache"))
    path, text, ids = tmp_path / "neox.tokenizer.json", tmp_path / "text.txt", tmp_path / "ids.npy"
    path.write_text(json.dumps(KINDS["gpt neox"]()), encoding="utf-8")
    text.write_text(TEXT, encoding="utf-8")
    asked = tokenizers.Tokenizer.from_file(str(path))
    expected = asked.encode(TEXT, add_special_tokens=False).ids
    assert run(["encode", "--merges", str(path), str(text), "--allow-special", "--output", str(ids)]) == 0
    printed = capsys.readouterr()
    assert f"{path.name} agrees with tokenizers on" in printed.err
    assert np.load(ids).tolist() == expected
    assert run(["encode", "--merges", str(path), "--allow-special", TEXT]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""  # known agreement is not reported again
    assert [int(id) for id in printed.out.split()] == expected
    again = tmp_path / "again.tokenizer.json"
    assert run(["convert", str(path), str(again)]) == 0
    assert tokenizers.Tokenizer.from_file(str(again)).get_vocab() == asked.get_vocab()

    # After fewer merges all tokens so far have the same ids, and special tokens keep their ids, too.
    fewer = tmp_path / "fewer.tokenizer.json"
    assert run(["export", "--merges", str(path), "--at", "200", str(fewer)]) == 0
    vocabulary = tokenizers.Tokenizer.from_file(str(fewer)).get_vocab()
    assert len(vocabulary) == len(asked.get_vocab()) - len(open_table(path).history) + 200
    assert vocabulary.items() <= asked.get_vocab().items()


@pytest.fixture(autouse=True)
def _few_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "WANTED_WORDS", 200)
    monkeypatch.setattr(import_check, "TEXTS", 40)


def test_files_converted_from_tiktoken_ranks_have_the_ids_of_the_ranks(tmp_path: Path) -> None:
    """The bytes have shuffled ranks, as in cl100k. Some tokens are named like keys of a tokenizer.json."""
    order = np.random.default_rng(3).permutation(256).tolist()
    history = learn_preset("cl100k", merges=100)
    made = [text for text in written(history)[256:] if text not in (b"mo", b"voc")]
    tokens = [
        *(bytes([byte]) for byte in order),
        *made,
        b"mo",
        b"de",
        b"mode",
        b"model",
        b"vo",
        b"voc",
        b"ab",
        b"vocab",
    ]
    ranks = {token: rank for rank, token in enumerate(dict.fromkeys(tokens))}
    path = tmp_path / "small.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items()))
    first = open_table(path)
    text = "the model's vocabulary, voc mode " + "".join(made[place].decode(errors="ignore") for place in range(50))
    expected = first.numbers_of(Tokenizer(first.history).encode(text))
    for name in ("small.tokenizer.json", "vocab.json", "merges.txt"):
        if name != "merges.txt":  # the file is written beside merges.txt
            assert run(["convert", str(path), str(tmp_path / name)]) == 0
        back = open_table(tmp_path / name)
        assert back.numbers_of(Tokenizer(back.history).encode(text)) == expected, name
        agreement = import_check.check_import(tmp_path / name, back)
        assert agreement is not None
        assert agreement.agreeing == agreement.texts > 0


def test_the_max_token_length_in_an_export_report_gives_the_same_limit_in_the_tokenizers_library() -> None:
    history = learn_preset("gpt2", merges=40, max_token_length=4)
    note = next(sentence for sentence in FORMATS["tokenizer.json"].can_hold(history) if "max_token_length" in sentence)
    assert "4 symbols" in note
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    longest = int(note.partition("max_token_length=")[2].rstrip("."))
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=2_000, max_token_length=longest, show_progress=False)
    theirs.train_from_iterator([text_of("poem")], trainer)
    assert max(map(len, theirs.get_vocab())) == 4 == max(map(len, written(history)))
