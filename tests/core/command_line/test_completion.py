"""Tests of the completion scripts: they name every command and option, and each shell accepts its script."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from bpe_core.command_line.commands import COMMANDS
from bpe_core.command_line.main import run
from bpe_core.command_line.parser import command_questions
from bpe_core.recipes.presets import PRESETS
from tests.shared import PATIENCE

SHELLS = ("bash", "zsh", "fish")
ASK = 'COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); _bpe_explorer; printf "%s\\n" "${{COMPREPLY[@]}}"\n'


def script(shell: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert run(["completion", shell]) == 0
    place = folder / f"it.{shell}"
    place.write_text(capsys.readouterr().out)
    return place


@pytest.mark.parametrize("shell", SHELLS)
def test_the_completion_script_of_a_shell_names_every_command_and_its_arguments(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    completion = script(shell, tmp_path, capsys).read_text()
    assert all(name in completion for name in (*COMMANDS, *command_questions()))
    assert all(name in completion for name in PRESETS)
    options = ("min-frequency", "manifest", "what-if") if shell == "fish" else ("--min-frequency", "--manifest")
    assert all(name in completion for name in options)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_completion_script_of_a_shell_has_valid_syntax(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, shell_path = script(shell, tmp_path, capsys), shutil.which(shell)
    if shell_path is None:
        pytest.skip(f"{shell} is not here")
    done = subprocess.run([shell_path, "-n", str(place)], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("bpe-explorer tra", ["train"]),
        ("bpe-explorer train --min-f", ["--min-frequency"]),
        ("bpe-explorer train --preset o2", ["o200k"]),
        ("bpe-explorer train --preset = o2", ["o200k"]),
        ("bpe-explorer encode --specials ''", ["all", "none"]),
        ("bpe-explorer completion ''", ["bash", "zsh", "fish"]),
        ("bpe-explorer ties --what-", ["--what-if"]),
        ("bpe-explorer train book", [""]),  # a file, which the shell itself completes
    ],
)
def test_the_bash_completion_script_completes_commands_and_arguments(
    words: str, completed: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = f"source {script('bash', tmp_path, capsys)}\n{ASK.format(words=words)}"
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout.split("\n")[:-1] == completed
