"""Tests of the sentence about a run whose largest id is not smaller than the size of its vocabulary."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.errors import LargeIdsWarning
from bpe_core.questions import ask
from tests.shared import text_of

TEXT = text_of("prose")[:3_000]
SENTENCE = r"These ids go up to {:,}, although the vocabulary has only 100 tokens"
CALLS: dict[str, Callable[[bpe.Study, Path], object]] = {
    "encode": lambda study, folder: study.encode("low"),
    "encode a list": lambda study, folder: study.encode(["low"]),
    "encode_batch": lambda study, folder: study.encode_batch(["low"]),
    "encode_to_numpy": lambda study, folder: study.encode_to_numpy("low"),
    "spans": lambda study, folder: study.spans("low"),
    "encode_documents": lambda study, folder: bpe.encode_documents(study, ["low"], folder / "shards"),
}


@pytest.fixture(scope="module")
def history() -> bpe.History:
    return bpe.train(TEXT, "unigram", vocab_size=100).history


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_python_warning_reports_ids_larger_than_the_vocabulary(
    name: str, history: bpe.History, tmp_path: Path
) -> None:
    study = bpe.Study(history)
    with pytest.warns(LargeIdsWarning, match=SENTENCE.format(history.index_count - 1)) as told:
        CALLS[name](study, tmp_path)
    assert told[0].filename == __file__, "the warning names the line of the person"


def test_a_study_warns_about_large_ids_only_once(history: bpe.History) -> None:
    study = bpe.Study(history)
    with pytest.warns(LargeIdsWarning):
        study.encode("low")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study.encode("lower")


@pytest.mark.parametrize("question", ["lab", "noise"])
def test_no_python_warning_appears_about_ids_that_a_question_only_counts(question: str, history: bpe.History) -> None:
    study = bpe.Study(history).with_texts([TEXT])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ask({"one": study}, question).sentences


@pytest.mark.parametrize("choices", [{"method": "bpe"}, {"method": "wordpiece"}], ids=["bpe", "wordpiece"])
def test_no_python_warning_appears_about_ids_of_methods_that_only_join_tokens(choices: Any, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bpe.train(TEXT, merges=9, **choices).encode("low")


def test_the_file_of_a_run_with_large_ids_has_ids_without_gaps(history: bpe.History, tmp_path: Path) -> None:
    path = tmp_path / "unigram.tokenizer.json"
    bpe.save(bpe.Study(history), path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ids = bpe.open(path).encode(TEXT)
    assert max(ids) < 100


@pytest.fixture
def session(tmp_path: Path) -> str:
    text = tmp_path / "text.txt"
    text.write_text(TEXT)
    path = tmp_path / "unigram.bpex"
    assert run(["train", str(text), "--method", "unigram", "--vocab-size", "100", "-o", str(path)]) == 0
    return str(path)


@pytest.mark.parametrize(
    "arguments",
    [
        ["low lower"],
        ["low", "--json"],
        ["--lines"],
        ["text.txt", "-o", "ids.npy"],
        ["text.txt", "-o", "ids.npy", "--json"],
        ["text.txt", "--documents", "-o", "shards"],
    ],
    ids=" ".join,
)
def test_the_encode_command_reports_ids_that_are_larger_than_the_vocabulary(
    arguments: list[str],
    session: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"low\nlower\n")))
    largest = bpe.open(session).history.index_count - 1
    capsys.readouterr()
    assert run(["encode", "--merges", session, *arguments]) == 0
    printed = capsys.readouterr()
    assert printed.err.count(SENTENCE.format(largest)) == 1
    assert "These ids" not in printed.out, "scripts read only ids from standard output"
    if "--json" in arguments:
        json.loads(printed.out)
    if "ids.npy" in arguments:
        assert np.load("ids.npy").max() >= 100
