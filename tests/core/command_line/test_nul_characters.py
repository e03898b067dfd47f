"""Tests of commands with a NUL character, or a link to itself, in any argument.

Each command prints an error message and no traceback.
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

import pytest

from bpe_core.command_line.commands import COMMANDS, exercise
from bpe_core.command_line.main import run
from bpe_core.command_line.parser import command_questions, declared_by, names_files
from bpe_core.filming import film
from bpe_core.filming.choices import SIZES, Size
from bpe_core.text import articles

TABLES = ("table", "tables", "merges", "input", "first", "second", "source")
NUL = "a\0b"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(SIZES, "readme", Size(200, 120, 8))  # a film is drawn for each option that takes any word
    monkeypatch.setattr(film, "USUAL_SECONDS", 1.0)
    for made in ("STORIES", "ARTICLES"):
        monkeypatch.setattr(exercise, made, 10)  # the exercise trains on them for each option that takes any word
    monkeypatch.setattr(articles, "STEMS", 180)  # most of the words would be invented for nothing
    Path("t.txt").write_text("low lower lowest newest\n" * 40)
    assert run(["train", "t.txt", "--vocab-size", "262", "-o", "m.csv", "--quiet"]) == 0
    return tmp_path


def usual_value(action: argparse.Action) -> str:
    """Return a value that the argument accepts."""
    if action.dest in TABLES:
        return "m.csv"
    if action.choices:
        return str(next(iter(action.choices)))
    return "t.txt" if names_files(action) or action.dest in ("files", "texts") else "x"


def words(command: str, chosen: argparse.Action, given: str) -> list[str]:
    """Return a command line with a given value of the chosen argument and usual values of the other arguments."""
    arguments = [command]
    for action in declared_by(command).actions:
        if action is chosen:
            arguments += [*action.option_strings[-1:], given, *(["x"] if isinstance(action.metavar, tuple) else [])]
        elif not action.option_strings and action.nargs not in ("?", "*"):
            arguments.append(usual_value(action))
        elif action.dest == "once":
            arguments.append(action.option_strings[0])  # without it, the command waits for a file
        elif action.option_strings and action.required:
            arguments += [action.option_strings[0], usual_value(action)]
    return arguments


def run_with(command: str, chosen: argparse.Action, given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a command with a given value of the chosen argument, and check that it ends with an exit code."""
    asked = words(command, chosen, given)
    if "m.csv" not in asked and chosen.dest not in ("merges", *TABLES) and command in command_questions():
        asked += ["m.csv"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x")))
    assert run(asked) in (0, 1, 2, 3), asked


@pytest.mark.parametrize("command", [*COMMANDS, *command_questions()])
def test_a_nul_character_in_any_argument_causes_no_traceback(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for action in declared_by(command).actions:
        if action.nargs == 0 or (command, action.dest) == ("doctor", "prepare"):
            continue
        run_with(command, action, NUL, monkeypatch)
        assert "\0" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "asked",
    [
        "extend m.csv --corpus t.txt --by 2 -o LINK",
        "extend m.csv --corpus LINK --by 2 -o new.csv",
        "trim m.csv --least-used 1 --corpus t.txt -o LINK",
        "trim m.csv --least-used 1 --corpus t.txt -o new.csv --map LINK",
        "export --merges m.csv LINK",
        "export --merges LINK new.csv",
        "convert m.csv LINK --to tokenizer.json",
        "count t.txt -o LINK",
        "encode --documents t.txt --merges m.csv -o LINK",
        "train t.txt --vocab-size 262 -o LINK",
        "train --groups-of LINK",
        "repeat LINK",
        "verify LINK",
    ],
)
@pytest.mark.parametrize("link", ["loop", "loop/", "loop/m.csv"])
def test_a_link_to_itself_as_the_name_of_a_file_or_folder_causes_no_traceback(
    asked: str, link: str, folder: Path
) -> None:
    Path("loop").symlink_to("loop")
    assert run(asked.replace("LINK", link).split()) in (0, 1, 2), asked
