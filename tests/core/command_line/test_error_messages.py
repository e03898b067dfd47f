"""Tests of mistakes with commands: each mistake gives an error message of one sentence, and the right exit code."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bpe_core.command_line.commands import COMMANDS, GROUPS
from bpe_core.command_line.main import run
from bpe_core.command_line.parser import command_questions, grouped_questions
from bpe_core.errors import BpeError
from bpe_core.questions import question_named
from bpe_core.support.subjects import SUBJECTS
from tests.core.command_line.conftest import program
from tests.shared import ROOT

posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows delivers Ctrl-C in another way, and has no such shell")


MISTAKES = [
    (["train", "gone.txt", "--output", "x.csv"], "gone.txt"),
    (["train", "text.txt", "--output", "x.docx"], "End the name in one of .csv, .tsv, .json"),
    (["train", "text.txt", "--output", "nowhere/x.csv"], "the folder nowhere does not exist"),
    (["train", "text.txt", "--output", "folder.csv"], "it is a folder"),
    (["train", "text.txt", "--output", f"{'x' * 300}.csv"], "File name too long"),
    (["train", "text.txt", "--output", "x.csv", "--manifest", "x" * 300], "File name too long"),
    (["train", "text.txt", "--vocab-size", "10"], "smaller than the 256 bytes"),
    (["train", "text.txt", "--regex", "("], "not a valid regular expression"),
    (["train", "text.txt", "--regex", "a", "--pattern", "gpt2"], "not both"),
    (["train", "text.txt", "--recipe", "gone.json"], "Could not read the recipe gone.json"),
    (["train", "text.txt", "--recipe", "text.txt"], "text.txt: The recipe is not valid JSON"),
    (["train", "text.txt", "--recipe", "latin.txt"], "Could not read the recipe latin.txt: the file is not UTF-8"),
    (["train", "latin.txt"], "latin.txt"),
    (["train", "text.txt", "--encoding", "klingon"], "klingon"),
    (["encode", "--merges", "gone.csv", "x"], "Could not read gone.csv"),
    (["encode", "--merges", "text.txt", "x"], "text.txt is not a merge table"),
    (["decode", "--merges", "text.txt", "x"], "'x' is not a token id"),
    (["words", "low", "--merges", "-1"], "merges must be at least 0"),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES, ids=lambda value: str(value)[:50])
def test_a_command_reports_a_mistake_in_one_sentence_and_exits_with_code_1(
    tmp_path: Path,
    text: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("latin.txt").write_bytes("naïve".encode("latin-1"))
    Path("folder.csv").mkdir()
    assert run(arguments) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert sentence in printed.err
    assert printed.err.startswith("bpe-explorer: ")
    assert printed.err.count("\n") == 1
    assert not Path("x.csv").exists()


@pytest.mark.parametrize("question", ["ties", "compression", "check"])
def test_a_question_that_needs_no_texts_still_reports_that_a_given_text_file_is_missing(
    question: str, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([question, str(table), "--corpus", "gone.txt"]) == 1
    assert "gone.txt does not exist." in capsys.readouterr().err


def test_an_export_to_a_file_with_the_name_of_a_session_is_refused(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", "--merges", str(table), "run.bpex"]) == 1
    assert "run.bpex is the name of a session." in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["train"],
        ["train", "x", "--preset", "gpt9"],
        ["train", "x", "--vocab-size", "many"],
        ["train", "x", "--vocab-size", "300", "--merges", "5"],
        ["encode", "text"],
        ["words", "caf\udce9"],
    ],
)
def test_invalid_command_arguments_end_with_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert "usage: bpe-explorer" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_has_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "examples:" in shown
    assert f"bpe-explorer {command}" in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["trian", "book.txt"], "there is no command 'trian'; did you mean train?"),
        (["wyh", "low"], "there is no command 'wyh'; did you mean why?"),
        (["chart", "rcae", "m.csv"], "there is no command 'rcae'; did you mean race?"),
        (["fly"], "there is no command 'fly'; bpe-explorer --help lists them"),
        (["train", "x", "--vocabsize", "300"], "train has no option --vocabsize; did you mean --vocab-size?"),
        (["why", "x", "--merges", "m.csv", "--stepps"], "why has no option --stepps; did you mean --steps?"),
        (["train", "x", "--wut=3"], "train has no option --wut; train --help lists them"),
        (["--quiet", "train", "x"], "write --quiet behind train"),
    ],
)
def test_the_error_for_a_mistyped_command_line_suggests_a_correction(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert capsys.readouterr().err.endswith(f"error: {sentence}\n")


def test_a_mistyped_question_name_is_corrected_in_the_message() -> None:
    with pytest.raises(BpeError, match=r"There is no question 'wyh'; did you mean why\? The questions are audit, "):
        question_named("wyh")


def test_the_help_lists_every_command_in_its_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    questions = grouped_questions()
    assert sorted(name for group in questions.values() for name in group) == command_questions()
    assert [*questions] == [f"Questions about {subject}" for subject in SUBJECTS]
    for title, commands in {**GROUPS, **questions}.items():
        listed = shown.partition(f"\n{title.lower()}:\n")[2].partition("\n\n")[0]
        names = [line.split()[0] for line in listed.splitlines() if not line.startswith("   ")]
        assert names == [*commands]


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_option_prints_the_version(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([flag]) == 0
    assert capsys.readouterr().out.startswith("bpe-explorer ")


@posix_only
def test_closing_the_output_pipe_causes_no_error_message(tmp_path: Path) -> None:
    long_text = tmp_path / "many.txt"
    long_text.write_text(" ".join(f"{i:b}" for i in range(3_000)))
    command = f"{sys.executable} -m bpe_core train {long_text} --preset words --quiet | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT)
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_characters_that_an_ascii_terminal_cannot_show_are_printed_as_escapes() -> None:
    done = program("words", "low", "low", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "l + o \\u2192 lo" in done.stdout


def run_with_redirection(redirection: str) -> tuple[int, str]:
    """Return the exit code and the error output of a command whose output is redirected."""
    command = f"{shlex.quote(sys.executable)} -m bpe_core presets {redirection}"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False, cwd=ROOT)
    return done.returncode, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
def test_a_full_disk_is_reported_when_a_command_writes_its_output() -> None:
    code, errors = run_with_redirection("> /dev/full")
    assert (code, errors.count("\n")) == (1, 1)
    assert "The output could not be written completely: No space left on device." in errors


@posix_only
def test_a_command_with_closed_standard_output_prints_nothing() -> None:
    assert run_with_redirection(">&-") == (0, "")


def test_the_headings_of_an_answer_without_rows_are_printed(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["steps", "--merges", str(table), "--most", "0"]) == 0
    heading, more = capsys.readouterr().out.splitlines()[-2:]
    assert heading.split()[0] == "step"
    assert more.endswith("more rows; -o writes all rows.")
