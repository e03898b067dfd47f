"""Tests of the option `--json`: every command prints JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bpe_core.command_line.commands import COMMANDS
from bpe_core.command_line.declared import DeclaredArguments
from bpe_core.command_line.main import run
from bpe_core.command_line.parser import command_named, command_questions

OTHER_OUTPUT = ("completion", "follow")  # a script for a shell; lines of JSON, whatever the options are


@pytest.mark.parametrize("command", [*COMMANDS, *command_questions()])
def test_every_command_has_the_json_option(command: str) -> None:
    assert command in OTHER_OUTPUT or "--json" in DeclaredArguments(command_named(command).add_arguments).options


def test_commands_report_the_written_files_as_json(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(*arguments: str, code: int = 0) -> dict[str, object]:
        assert run([*arguments, "--json"]) == code
        report = json.loads(capsys.readouterr().out)
        assert isinstance(report, dict)
        return report

    monkeypatch.chdir(tmp_path)
    assert told("report", str(table), "-o", "it.html") == {"output": "it.html"}
    assert told("share", str(table), "-o", "page.html") == {"output": "page.html", "notes": []}
    assert told("share", "--lesson", "ties", "-o", "class.html")["output"] == "class.html"
    pinned = told("pin", str(table), "-o", "it.pins.json")
    assert (pinned["output"], pinned["libraries"]) == ("it.pins.json", ["bpe-explorer"])
    pytest.importorskip("PIL")
    film = told("film", str(table), "--to", "2", "--seconds", "1", "--size", "chat", "-o", "film.gif")
    assert film["output"] == "film.gif"


def test_the_repeat_command_reports_its_comparison_as_json(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["steps", str(table), "-o", "steps.csv", "--manifest", "steps.json"]) == 0
    capsys.readouterr()
    assert run(["repeat", "steps.json", "--json"]) == 0
    sentence = "steps.csv: identical, byte for byte."
    result = {"path": "steps.csv", "is_same": True, "sentence": sentence}
    assert json.loads(capsys.readouterr().out) == {"is_same": True, "notes": [], "results": [result]}
    manifest = Path("steps.json")
    content = json.loads(manifest.read_text())
    content["results"][0]["sha256"] = "0" * 64
    manifest.write_text(json.dumps(content))
    assert run(["repeat", "steps.json", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["is_same"] is False
