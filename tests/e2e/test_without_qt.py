"""Tests of the program on a computer without Qt.

Every command must work, and opening the window must name the missing package.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.system import display
from bpe_core.command_line.commands import COMMANDS
from bpe_core.command_line.parser import command_questions
from tests.shared import PATIENCE, ROOT

TEXT = "so it was and so it is and so it shall be\n" * 30

# Run at the start of every Python that has it on its path; what it imports itself must be there anywhere.
NOT_INSTALLED = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"PySide6", "shiboken6", "pyqtgraph"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""
BROKEN = "raise ImportError('libQt6Core.so.6: cannot open shared object file')\n"

EXAMPLES = {
    "train": "text.txt --merges 20 --output again.csv",
    "encode": "--merges merges.csv so",
    "decode": "--merges merges.csv 115 111",
    "export": "--merges merges.csv tokenizer.json",
    "folder": ".",
    "convert": "merges.csv merges.tsv",
    "diff": "merges.csv merges.csv so",
    "audit": "merges.csv --corpus text.txt",
    "extend": "merges.csv --corpus text.txt --by 2 --output extended.csv",
    "merge": "merges.csv extended.csv --output both.csv",
    "trim": "merges.csv --remove 265 --output trimmed.csv",
    "replace": "merges.csv --corpus other.txt --swap 1 --output swapped.csv",
    "idmap": "merges.csv trimmed.csv",
    "specials": "merges.csv --add <pad> --output padded.csv",
    "lab": "merges.csv merges.tsv --text so --corpus text.txt",
    "canonical": "merges.csv 115 111",
    "ends": "merges.csv --corpus text.txt",
    "exercise": "text.txt --sizes 300",
    "grade": "result.txt --corpus text.txt --as hf",
    "noise": "merges.csv --corpus text.txt",
    "why": "--merges merges.csv so",
    "ties": "--merges merges.csv",
    "twins": "merges.csv",
    "languages": "merges.csv --parallel",
    "floor": "text.txt --sizes 280 --seconds 1",
    "token": "so --merges merges.csv --corpus text.txt",
    "race": "--merges merges.csv --corpus text.txt --step 3",
    "sizes": "--merges merges.csv --corpus text.txt",
    "chart": "ranks merges.csv --corpus text.txt --output ranks.svg --manifest ranks.json",
    "repeat": "ranks.json",
    "benchmark": "merges.csv --texts text.txt",
    "ranks": "merges.csv --corpus text.txt",
    "lengths": "merges.csv",
    "compression": "merges.csv",
    "pairs": "merges.csv --corpus text.txt --at 3",
    "tree": "merges.csv --text so",
    "steps": "merges.csv",
    "curves": "merges.csv --corpus text.txt",
    "blocks": "gage.bpex",
    "supermerges": "boundless.bpex",
    "morphemes": "merges.csv",
    "sweep": "plan.toml --output swept.csv",
    "sweep-results": "swept.csv",
    "count": "text.txt --output counts.parquet",
    "branch": "merges.csv --corpus text.txt --forbid s+o@3 --output branched.csv",
    "paid": "--merges merges.csv --corpus text.txt --step 3",
    "share": "merges.csv --text so --output run.html",
    "report": "merges.csv --text so --output report.html",
    "film": "merges.csv --text so --seconds 1 --output film.gif",
    "compress": "text.txt --output small.gage",
    "expand": "small.gage --output back.txt",
    "words": "low lower lowest",
    "verify": "merges.csv",
    "check": "merges.csv --corpus text.txt",
    "pin": "merges.csv",
    "doctor": "",
    "completion": "bash",
    "look": "merges.csv so",
    "ways": "merges.csv so",
    "mixture": "merges.csv --group one text.txt --group other other.txt",
    "bench": "merges.csv --texts text.txt",
    "import": "--list",
    "chat": "model chat.json",
    "presets": "",
    "shelf": "so",
    "follow": "gage.bpex --once",
    "scripts": "merges.csv",
    "forms": "merges.csv --corpus text.txt",
    "lorenz": "merges.csv --parallel",
    "overlap": "merges.csv --group en text.txt --group de other.txt",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a text and its merges.

    The folder `absent` in it imitates an installation without PySide6. The folder `broken` imitates an installation
    with a broken PySide6.
    """
    folder = tmp_path_factory.mktemp("without qt")
    for name, file, content in [
        ("absent", "sitecustomize.py", NOT_INSTALLED),
        ("broken", "PySide6/__init__.py", BROKEN),
    ]:
        (folder / name / file).parent.mkdir(parents=True)
        (folder / name / file).write_text(content)
    (folder / "text.txt").write_text(TEXT)
    (folder / "other.txt").write_text("und so war es und so ist es\n" * 30)
    (folder / "result.txt").write_text("Ġ i\ns o\n", encoding="utf-8")
    plan = 'sizes = [258]\ncorpora = {it = ["text.txt"]}\nrecipes = {bytes = {preset = "gpt2"}}'
    (folder / "plan.toml").write_text(plan)
    done = run(folder, "absent", "train", "text.txt", "--merges", "10", "--output", "merges.csv")
    assert done.returncode == 0, done.stderr
    done = run(folder, "absent", "export", "--merges", "merges.csv", "model/")
    assert done.returncode == 0, done.stderr
    (folder / "model" / "chat_template.jinja").write_text("{{ messages[0].content }}")
    (folder / "chat.json").write_text('[{"role": "user", "content": "so it was"}]')
    for preset in ("gage", "boundless"):
        done = run(folder, "absent", "train", "text.txt", "--preset", preset, "--output", f"{preset}.bpex")
        assert done.returncode == 0, done.stderr
    return folder


def run(folder: Path, without: str, *arguments: str, module: str = "app") -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(folder / without), str(ROOT)])
    environment = os.environ | {"PYTHONPATH": paths, "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )


def test_importing_qt_fails_if_its_absence_is_simulated(folder: Path) -> None:
    for without in ("absent", "broken"):
        done = run(folder, without, module="PySide6.QtCore")
        assert done.returncode == 1
        assert "PySide6" in done.stderr


@pytest.mark.parametrize("module", ["app", "bpe_core"])
def test_the_help_option_works_without_qt(folder: Path, module: str) -> None:
    done = run(folder, "absent", "--help", module=module)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in COMMANDS)


def test_every_command_works_without_qt(folder: Path) -> None:
    assert {*COMMANDS, *command_questions()} <= {*EXAMPLES}
    asked = [[command, *words.split()] for command, words in EXAMPLES.items()]
    done = run(folder, "absent", json.dumps(asked), module="tests.e2e.command_sequence")
    assert done.returncode == 0, done.stderr
    for command, (code, said, _) in zip(EXAMPLES, json.loads(done.stdout), strict=True):
        assert code == 0, (command, said)


def test_without_qt_the_engine_prints_paths_of_reference_pages_that_exist(folder: Path) -> None:
    done = run(folder, "absent", module="bpe_core")
    assert done.returncode == 0, done.stderr
    named = [
        Path(line.split("    ")[0].strip()) for line in done.stdout.splitlines() if "reference" in line or ".md" in line
    ]
    assert len(named) == 2
    assert all(path.is_file() for path in named)


def test_a_command_of_the_engine_works_without_qt(folder: Path) -> None:
    done = run(folder, "absent", "words", "low", "lower", module="bpe_core")
    assert done.returncode == 0, done.stderr
    assert "l + o" in done.stdout


@pytest.mark.parametrize(
    ("without", "message"),
    [("absent", "pip install PySide6-Essentials shiboken6 pyqtgraph"), ("broken", "libQt6Core.so.6: cannot open")],
)
@pytest.mark.parametrize("arguments", [(), ("text.txt",), ("--screenshot", "window.png")])
def test_starting_the_window_without_qt_reports_the_missing_package(
    folder: Path, without: str, message: str, arguments: tuple[str, ...]
) -> None:
    done = run(folder, without, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "bpe-explorer --help" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere Qt brings what it needs")
def test_missing_system_libraries_are_named_with_the_packages_that_hold_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert display.why_no_window() == ""
    monkeypatch.setitem(display.COMMON_LIBRARIES, "libabsent.so.1", "libabsent1")
    assert display.why_no_window().endswith("sudo apt install libabsent1")
