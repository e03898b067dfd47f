"""The tests of plug-ins.

The methods, formats, patterns and questions of a plug-in work as if the program contained them.

A plug-in with an error is reported by its name and left out.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from bpe_core.support.fingerprints import fingerprint_of
from tests.shared import PATIENCE, ROOT

EXAMPLE = ROOT / "tests" / "plugin_example"
TEXT = "anna sees anna and otto\nlevel by level\n" * 9
LEFT_OUT = (
    "The plug-in bpe (methods, from bpe-explorer-example) is left out: another plug-in has the same name.",
    "The plug-in unclosed (patterns, from bpe-explorer-example) is left out: The pattern '(' is not a valid",
    "The plug-in missing (questions, from bpe-explorer-example) is left out: No module named 'bpe_example.missing'.",
)

ONE_FILE = """
from dataclasses import dataclass

from bpe_core.asking import Answer, Question
from bpe_core.support.data_table import DataTable
from bpe_core.text.patterns import NamedPattern

print("its code runs")
PATTERNS = {"halves": NamedPattern(r"[^.]*\\\\.|[^.]+", "Sentences.")}
QUESTIONS = {"one_file": __name__}

@dataclass(frozen=True)
class OneFile(Question):
    "Count the tokens."

    def answer(self, study, work):
        return Answer(DataTable({}), (f"{len(study)} tokens.",))
"""

# What the window offers, with the plug-ins' messages.
IN_THE_WINDOW = """
from PySide6.QtWidgets import QApplication
from app.settings import Settings
from app.window.pages import PAGES
from app.window.recipe.recipe_form import OPTIONS
from app.wiring import build

application = QApplication([])
program = build(application, Settings())
told = []
program.session.background.noticed.connect(lambda notice: told.append(notice.details))
program.session.warm_up()
while program.session.background.is_busy("formats"):
    application.processEvents()
print([row.id for row in PAGES if row.id in ("palindromes", "missing")], [o.value for o in OPTIONS["pattern"]], told)
program.form.choose_method("chains")
print([name for name in ("link", "side") if program.form.applies(name)], program.form.preset)
print(program.recipe_panel.field("link").text(), [box.itemText(0) for box in [program.recipe_panel.field("side")]])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that contains the installed example plug-in, a plug-in file and a text file."""
    folder = tmp_path_factory.mktemp("plug-ins")
    shutil.copytree(EXAMPLE / "bpe_example", folder / "site" / "bpe_example")
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    metadata = folder / "site" / "bpe_explorer_example-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = project["entry-points"].items()
    lines = [f"[{group}]\n" + "".join(f"{name} = {at}\n" for name, at in rows.items()) for group, rows in groups]
    (metadata / "entry_points.txt").write_text("".join(lines))
    (folder / "text.txt").write_text(TEXT)
    (folder / "one_file.py").write_text(ONE_FILE)
    return folder


def run(folder: Path, *arguments: str, fails: bool = False) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(folder / "site")]),
        "QT_QPA_PLATFORM": "offscreen",
        "BPE_EXPLORER_SETTINGS": str(folder / "settings.ini"),
    }
    done = subprocess.run(
        [sys.executable, "-P", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode != 0) == fails, done.stderr
    return done


def program(folder: Path, *arguments: str, fails: bool = False) -> subprocess.CompletedProcess[str]:
    return run(folder, "-m", "app", *arguments, fails=fails)


def commands(folder: Path, *lines: str) -> list[str]:
    """Run all commands in one process, and return the printed text of each command."""
    asked = json.dumps([line.split() for line in lines])
    done = json.loads(run(folder, "-m", "tests.e2e.command_sequence", asked).stdout)
    for line, (code, said, _) in zip(lines, done, strict=True):
        assert code == 0, (line, said)
    return [printed for _, _, printed in done]


def test_plug_in_methods_and_formats_and_patterns_and_questions_work_like_built_in_ones(folder: Path) -> None:
    _, ids, answer, _, _, *more = commands(
        folder,
        "train text.txt --method chains --pattern lines --merges 30 -o c.json",
        "encode --merges c.json anna sees",
        "palindromes c.json --least 3 --json",
        "train text.txt --merges 30 -o bpe.csv",
        "convert bpe.csv bpe.ids",
        "token lev --merges c.json --corpus text.txt",
        "ways c.json levels",
    )
    assert "It is a chain of 2 links." in more[0]
    assert "longest" in more[1]
    assert "fewest" not in more[1]
    assert json.loads(answer)["rows"] == [{"token_text": "lev"}] or json.loads(answer)["sentences"]
    assert (folder / "bpe.ids").read_text().startswith("pairs of ids\n")
    text, back = commands(folder, f"decode --merges c.json {ids}", "convert bpe.ids again.csv")
    assert text.split() == ["anna", "sees"]
    assert "does not tell how text is split" in back


def test_a_table_stores_the_expression_of_a_plug_in_pattern_as_a_custom_pattern(folder: Path) -> None:
    program(folder, "train", "text.txt", "--pattern", "lines", "--merges", "9", "-o", "lines.json")
    recipe = json.loads((folder / "lines.json").read_text(encoding="utf-8"))["recipe"]
    assert (recipe["pattern"], recipe["custom_pattern"]) == ("custom", r"[^\n]*\n|[^\n]+")


def test_broken_plug_ins_are_left_out_and_named_in_a_warning(folder: Path) -> None:
    done = program(folder, "doctor", "--json")
    facts = json.loads(done.stdout)["plug-ins"]
    brought = {name: source for name, source in facts.items() if not name.startswith("left out")}
    assert brought == dict.fromkeys(
        ("method chains", "format id-pairs", "pattern lines", "question palindromes"), "bpe-explorer-example"
    )
    for sentence in LEFT_OUT:
        assert sentence in done.stderr
        assert any(sentence in value for value in facts.values())


def test_the_words_command_loads_no_plug_in_because_it_needs_none(folder: Path) -> None:
    assert program(folder, "words", "low", "lower").stderr == ""


def test_plug_ins_work_from_python_and_in_the_window(folder: Path) -> None:
    asked = "import bpe_core as bpe; print(bpe.palindromes(bpe.train(['abba abba'], merges=3)).sentences)"
    assert "read the same" in run(folder, "-c", asked).stdout
    said = run(folder, "-c", IN_THE_WINDOW).stdout
    assert said.startswith("['palindromes'] ['gpt2'")
    assert "'lines'" in said
    assert "The plug-in missing" in said
    assert said.splitlines()[-2:] == ["['link', 'side'] chains", "1 symbols ['either side']"]


def test_a_plug_in_method_adds_its_own_training_options_and_reasons_and_merge_trees(folder: Path) -> None:
    assert "--link N" in program(folder, "train", "--help").stdout
    learned, why, tree, _ = commands(
        folder,
        "train text.txt --method chains --link 2 --merges 30 -o linked.json",
        "why anna --merges linked.json --all",
        "tree linked.json --text anna --json",
        "report linked.json -o linked.html",
    )
    assert " links in " in learned
    assert "Links have at most 2 symbols." in why
    assert json.loads(tree)["rows"]
    assert "links" in (folder / "linked.html").read_text(encoding="utf-8")
    assert json.loads((folder / "linked.json").read_text(encoding="utf-8"))["recipe"]["link"] == 2
    refused = program(folder, "train", "text.txt", "--link", "2", fails=True).stderr
    assert "--link applies only to Chains: choose --method chains. Otherwise leave --link out." in refused


def test_code_of_a_plug_in_file_runs_only_after_the_user_agrees(folder: Path) -> None:
    done = program(folder, "--plugin", "one_file.py", "train", "text.txt", "--pattern", "halves", fails=True)
    assert "its code will run" in done.stderr
    assert "its code runs" not in done.stdout
    words = ("train", "text.txt", "--merges", "5", "--pattern", "halves", "--plugin=one_file.py", "--yes")
    assert "its code runs" in program(folder, *words, "--output", "five.csv").stdout
    assert "261 tokens." in program(folder, "one-file", "five.csv", "--plugin", "one_file.py", "--yes").stdout
    assert "halves" in program(folder, "train", "text.txt", "--pattern", "halves", fails=True).stderr


def test_a_manifest_names_the_plug_ins_that_made_the_file(folder: Path) -> None:
    with_file = ("--plugin", "one_file.py", "--yes")
    words = ("train", "text.txt", "--merges", "5", "--pattern", "halves", "-o", "halves.csv", "--manifest", "how.json")
    program(folder, *words, *with_file)
    plugins = json.loads((folder / "how.json").read_text(encoding="utf-8"))["plugins"]
    assert plugins == {"one_file.py": fingerprint_of(folder / "one_file.py")[1]}
    assert (
        "The result was made with the plug-in one_file.py" in program(folder, "repeat", "how.json", fails=True).stderr
    )
    assert "identical" in program(folder, "repeat", "how.json", *with_file).stdout
    _, repeated, _ = commands(
        folder,
        "train text.txt --method chains --merges 9 -o c2.json --manifest c.how",
        "repeat c.how",
        "convert halves.csv halves.ids --manifest ids.how",
    )
    assert "identical" in repeated
    for name in ("c.how", "ids.how"):
        plugins = json.loads((folder / name).read_text(encoding="utf-8"))["plugins"]
        assert plugins == {"bpe-explorer-example": "1.0"}


@pytest.mark.parametrize("file", ["missing.py", "text.txt", "nothing.py", "broken.py"])
def test_an_unusable_plug_in_file_is_reported_in_one_line(folder: Path, file: str) -> None:
    (folder / "nothing.py").write_text("x = 1\n")
    (folder / "broken.py").write_text("import nowhere_at_all\n")
    done = program(folder, "words", "low", "--plugin", file, "--yes", fails=True)
    assert len(done.stderr.splitlines()) == 1
    assert file in done.stderr


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="only there a terminal can be played")
@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1)])
def test_a_command_asks_in_the_terminal_before_it_runs_a_plug_in_file(folder: Path, answer: str, code: int) -> None:
    ours, theirs = os.openpty()
    try:
        os.write(ours, answer.encode())
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-P", "-m", "bpe_core", "--plugin", "one_file.py", "words", "low"]
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=theirs,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == code
    assert "Run it? [y/N]" in done.stderr
    assert ("its code runs" in done.stdout) == (code == 0)


CHECKED = """
import bpe_core as bpe
from bpe_core.methods.registry import METHODS
print(len(bpe.check_method(METHODS["chains"])))
"""


def test_the_method_of_the_example_plug_in_passes_the_conformance_check(folder: Path) -> None:
    assert int(run(folder, "-c", CHECKED).stdout) >= 11
