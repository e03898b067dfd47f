"""Tests of the sentences that describe how two tables differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from bpe_core.questions import ask
from bpe_core.studies.making import open_study

tokenizers = pytest.importorskip("tokenizers")


def test_the_diff_question_describes_different_pre_tokenizers_without_python_syntax(tmp_path: Path) -> None:
    studies = []
    for name, step in (("a", "Whitespace"), ("b", "WhitespaceSplit")):
        other = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
        other.pre_tokenizer = getattr(tokenizers.pre_tokenizers, step)()
        trainer = tokenizers.trainers.BpeTrainer(vocab_size=40, show_progress=False, special_tokens=["<unk>"])
        other.train_from_iterator(["isn't isn't isn't it? it? it?"] * 3, trainer)
        other.save(str(tmp_path / f"{name}.json"))
        studies.append(open_study(tmp_path / f"{name}.json"))
    answer = ask(dict(zip("ab", studies, strict=True)), "diff")
    sentences = " ".join(answer.sentences)
    assert "in the other" in sentences
    for sign in ("(content=", "=False", "()", "\\", "',"):
        assert sign not in sentences
