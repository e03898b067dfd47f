"""Tests of odd files, names and tables: commands print an error message instead of a traceback, and no small file fills
the memory.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.asking import ask_about
from bpe_core.command_line.main import run
from bpe_core.delivery import chat_template
from bpe_core.errors import BpeError, TooLarge
from bpe_core.figures.painter import draw
from bpe_core.formats import FORMATS
from bpe_core.questions import QUESTIONS, question_named
from bpe_core.studies.pins import Pins
from bpe_core.support import small_files, stopwatch
from bpe_core.support.data_table import read_plainly

TEXT = (Path(__file__).parents[2] / "texts" / "poem.txt").read_text(encoding="utf-8")
PARAMETERS: dict[str, dict[str, Any]] = {
    "look": {"text": "low"}, "why": {"text": "low"}, "paid": {"step": 1}, "token": {"token": "a"},
    "tree": {"text": "low"}, "race": {"steps": (1,)}, "floor": {"seconds": 0.1}, "ways": {"text": "low", "draws": 2},
}  # fmt: skip


@pytest.fixture
def without_steps(tmp_path: Path) -> Path:
    study = bpe.train(["a b c"], "gpt2", vocab_size=256)
    assert len(study.history) == 0
    study.save(tmp_path / "none.csv")
    return tmp_path / "none.csv"


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_every_question_about_a_table_without_steps_ends_in_an_answer_or_an_error_message(
    name: str, without_steps: Path, tmp_path: Path
) -> None:
    study, question = bpe.open(without_steps), question_named(name)
    given: Any = {"one": study, "other": study} if question.studies == (2, 2) else {"one": study}
    for about in (study, study.with_texts(["low lower lowest"])):
        asked = about if question.studies is None else dict.fromkeys(given, about)
        try:
            answer = ask_about(question, asked, **PARAMETERS.get(name, {}))
        except BpeError:
            continue  # a sentence
        if answer.figure is not None:
            draw(answer, tmp_path / "it.svg")


def test_the_steps_command_prints_only_the_size_of_a_table_without_steps(
    without_steps: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["steps", str(without_steps)]) == 0
    assert capsys.readouterr().out == "256 tokens.\n"


@pytest.mark.parametrize(
    "argv",
    [
        ["encode", "--merges", "a\0b", "x"],
        ["train", "a\0b"],
        ["diff", "a\0b", "c\0d"],
        ["export", "--merges", "a\0b", "c\0d.csv"],
        ["steps", "a\0b", "-o", "c\0d.csv"],
        ["train", "--groups-of", "a\0b"],
        ["verify", "a\0b"],
    ],
)
def test_a_nul_character_in_a_file_name_is_reported_in_an_error_message(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(argv) == 1
    errors = capsys.readouterr().err
    assert "cannot be the name of a file" in errors or "cannot be a path" in errors


def test_commands_refuse_recipes_and_plans_and_manifests_beyond_the_size_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(small_files, "LARGEST", 1_000)
    endless = tmp_path / "endless"
    endless.write_bytes(b"\0" * 1_001)
    text = tmp_path / "s.txt"
    text.write_text("low lower")
    for argv in (
        ["train", str(text), "--recipe", str(endless)],
        ["sweep", str(endless)],
        ["repeat", str(endless)],
        ["check", "--pins", str(endless)],
        ["morphemes", "--merges", str(text), "--list", str(endless)],
    ):
        assert run(argv) == 1, argv
        assert "has more than 1,000 bytes, too many for the" in capsys.readouterr().err or argv[0] == "morphemes"


def test_an_endless_device_is_refused_at_the_size_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for content in ("the plan", "the merges"):  # one thing or several
        with pytest.raises(BpeError, match=f"^/dev/zero has more than 268,435,456 bytes, too many for {content}.$"):
            small_files.read_small_file("/dev/zero", content, BpeError)
    monkeypatch.setattr(chat_template, "LARGEST", 100_000)
    with pytest.raises(TooLarge, match="can have 100,000 bytes at most"):
        chat_template.read_chat("/dev/zero")


def test_results_and_certificates_beyond_the_size_limit_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In an earlier version, a link to an endless device was read until the memory was full.

    The name of the link ended with .csv or .json.
    """
    monkeypatch.setattr(small_files, "LARGEST", 1_000)
    for name in ("endless.csv", "endless.tsv", "endless.json"):
        (tmp_path / name).write_text("1\n" * 1_000)
        with pytest.raises(BpeError, match="more than 1,000 bytes"):
            read_plainly(tmp_path / name)
        assert run(["sweep-results", str(tmp_path / name)]) == 1
    (tmp_path / "certificate.json").write_text('{"kind": "floor of a vocabulary size"}' + " " * 1_000)
    assert run(["verify", str(tmp_path / "certificate.json")]) == 1
    assert "is JSON, but not a tokenizer" in capsys.readouterr().err


class RefusingLibrary:
    def __call__(self, *_: Any) -> Any:
        raise RuntimeError("the library does not like it")


def test_a_pin_file_holds_only_the_ids_of_this_program_if_the_library_cannot_load_the_tokenizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bpe.train(["low lower"], "gpt2", vocab_size=258).save(tmp_path / "tokenizer.json")
    monkeypatch.setattr(type(FORMATS["tokenizer.json"]), "loaded_by", RefusingLibrary())
    pins = Pins.of(bpe.open(tmp_path / "tokenizer.json"))
    assert list(pins.ids) == ["bpe-explorer"]


def test_the_digits_right_pattern_is_one_of_the_named_patterns() -> None:
    assert bpe.NAMED_PATTERNS["digits-right"].expression
    assert set(bpe.NAMED_PATTERNS) >= {"gpt2", "cl100k", "digits-right"}


@pytest.mark.parametrize("recipe", [{"recipe": "boundless"}, {"recipe": "unigram", "vocab_size": 150}])
def test_reason_columns_keep_their_order_when_a_run_is_saved_in_a_session(
    recipe: dict[str, Any], tmp_path: Path
) -> None:
    text = tmp_path / "s.txt"
    text.write_text(TEXT)
    preset, size = recipe["recipe"], str(recipe.get("vocab_size", 280))
    asked = ["train", str(text), "--preset", preset, "--vocab-size", size]
    assert run([*asked, "-o", str(tmp_path / "it.bpex")]) == 0
    assert run([*asked, "-o", str(tmp_path / "it.json")]) == 0
    heads = []
    for name in ("it.bpex", "it.json"):
        out = tmp_path / f"{name}.csv"
        assert run(["steps", str(tmp_path / name), "-o", str(out)]) == 0
        heads.append(out.read_bytes())
    assert heads[0] == heads[1]


def test_the_encode_command_warns_about_ids_beyond_the_vocabulary_and_gives_advice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run of Unigram has an id for each seed piece, even for a piece that was dropped."""
    text, ids = tmp_path / "s.txt", tmp_path / "ids.npy"
    text.write_text(TEXT)
    run_of, file = str(tmp_path / "it.bpex"), str(tmp_path / "tokenizer.json")
    assert run(["train", str(text), "--preset", "unigram", "--vocab-size", "150", "-o", run_of]) == 0
    assert run(["encode", "--merges", run_of, str(text), "-o", str(ids)]) == 0
    output, size = capsys.readouterr().err, len(bpe.open(run_of))
    assert int(np.load(ids).max()) >= size
    assert f"although the vocabulary has only {size:,} tokens" in output
    assert run(["export", "--merges", run_of, file]) == 0
    assert run(["encode", "--merges", file, str(text), "-o", str(ids)]) == 0
    assert int(np.load(ids).max()) < size
    assert "the vocabulary has only" not in capsys.readouterr().err


def test_a_jump_of_the_clock_is_not_counted_as_training_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.txt").write_text(TEXT)
    times = itertools.count(0, 15_667)
    monkeypatch.setattr(stopwatch, "time", SimpleNamespace(monotonic=lambda: next(times)))
    monkeypatch.setattr(stopwatch, "LONGEST_SILENCE", 0.01)
    assert run(["train", str(tmp_path / "s.txt"), "--vocab-size", "270", "-o", str(tmp_path / "it.csv")]) == 0
    assert "merges in 0." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "content"),
    [
        (["train", "s.txt", "--recipe"], '{"pattern": "gpt2", "pattern": "cl100k"}'),
        (["check", "--pins"], '{"table": "a", "table": "b"}'),
        (["repeat"], '{"results": [], "results": []}'),
    ],
)
def test_a_repeated_key_in_a_small_json_file_is_refused(
    argv: list[str], content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An earlier version used the last value and showed no message."""
    monkeypatch.chdir(tmp_path)
    Path("s.txt").write_text(TEXT)
    Path("it.json").write_text(content)
    assert run([*argv, "it.json"]) == 1
    assert "occurs twice in one object" in capsys.readouterr().err
