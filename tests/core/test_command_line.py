"""The commands: what they print, where they write, and how they end."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bpe_core.command_line.commands import COMMANDS
from bpe_core.command_line.main import run
from bpe_core.command_line.progress_bar import TerminalBar, bar_line
from bpe_core.formats import read_history
from bpe_core.presets import PRESETS
from bpe_core.progress import Progress
from bpe_core.recipe import Recipe
from tests.shared import ROOT

TEXT = "the lowest price is lower than the last one\n"

posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows delivers Ctrl-C in another way")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def table(tmp_path: Path, text: Path) -> Path:
    path = tmp_path / "merges.csv"
    assert run(["train", str(text), "--preset", "english", "--output", str(path), "--quiet"]) == 0
    return path


def program(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [sys.executable, "-m", "bpe_core", *arguments], capture_output=True, encoding="utf-8", cwd=ROOT, **options
    )


# --- train ------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "tsv", "json"])
def test_train_writes_a_table_that_reads_back(text: Path, tmp_path: Path, ending: str) -> None:
    output = tmp_path / f"merges.{ending}"
    assert run(["train", str(text), "--preset", "english", "--vocab-size", "300", "--output", str(output)]) == 0
    history = read_history(output)
    assert history.recipe == Recipe.preset("english", vocab_size=300)
    assert [(merge.left, merge.right, merge.count) for merge in history][:2] == [(116, 104, 3), (32, 108, 3)]
    assert (len(history), history.end_reason) == (7, "too rare")


def test_train_tells_what_it_did(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "merges.csv"
    assert run(["train", str(text), "--preset", "english", "--output", str(output)]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("Learned 7 merges in ")
    assert "a vocabulary of 263" in told.out
    assert "No pair occurs as often as the minimum frequency any more." in told.out
    assert told.out.endswith(f"Wrote {output}.\n")
    assert told.err == ""  # not a terminal: no progress


def test_quiet_means_quiet(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert capsys.readouterr() == ("", "")


def test_train_sums_up_as_json(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = str(tmp_path / "merges.json")
    assert run(["train", str(text), "--preset", "english", "--output", output, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary.pop("seconds") >= 0
    assert summary == {
        "output": output,
        "merges": 7,
        "vocabulary_size": 263,
        "end_reason": "too rare",
        "tokens_at_start": len(TEXT),
        "tokens_left": len(TEXT) - 3 - 3 - 2 * 5,
    }


def test_train_without_output_prints_the_merges(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train", str(text), "--preset", "english", "--merges", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        "1 t + h → th 3 times, as often as ␣ + l",
        "2 ␣ + l → ␣l 3 times",
    ]


def test_train_without_output_prints_json(text: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["train", str(text), "--preset", "english", "--merges", "2", "--json"]) == 0
    whole = json.loads(capsysbinary.readouterr().out)
    assert [merge["token"] for merge in whole["merges"]] == ["th", " l"]


def test_every_choice_reaches_the_recipe(text: Path, tmp_path: Path) -> None:
    output = tmp_path / "merges.json"
    choices = ["--vocab-size", "270", "--min-frequency", "1", "--ties", "largest-text", "--regex", r"\w+|\W"]
    specials = ["--special", "<|end|>", "--special", "price"]
    assert run(["train", str(text), "--preset", "cl100k", *choices, *specials, "--output", str(output)]) == 0
    assert read_history(output).recipe == Recipe.preset(
        "cl100k",
        vocab_size=270,
        min_frequency=1,
        ties="largest-text",
        pattern="custom",
        custom_pattern=r"\w+|\W",
        special_tokens=("<|end|>", "price"),
    )


def test_a_recipe_file_is_followed_and_can_be_changed(text: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.json"
    recipe.write_text(Recipe.preset("words", marker="glued").to_json())
    output = tmp_path / "merges.json"
    assert run(["train", str(text), "--recipe", str(recipe), "--merges", "3", "--output", str(output)]) == 0
    assert read_history(output).recipe == Recipe.preset("words", marker="glued", merges=3)


def test_rows_of_a_field_with_bad_ones_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"body": "ab ab"}\n{"text": "ab"}\n{"body": "ab"}\n')
    output = tmp_path / "merges.csv"
    arguments = ["train", str(rows), "--preset", "words", "--field", "body", "--output", str(output)]
    assert run(arguments) == 1
    assert "line 2" in capsys.readouterr().err
    assert not output.exists()
    assert run([*arguments, "--on-bad-row", "skip"]) == 0
    assert [merge.count for merge in read_history(output)] == [3]
    assert "line 2" in capsys.readouterr().err


def test_only_included_files_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "one.txt").write_text("ab ab")
    (tmp_path / "texts" / "two.md").write_text("cd cd cd")
    output = tmp_path / "merges.json"
    assert (
        run(["train", str(tmp_path / "texts"), "--include", "*.txt", "--preset", "words", "--output", str(output)]) == 0
    )
    assert [merge.count for merge in read_history(output)] == [2]


# --- encode, decode ---------------------------------------------------------------------


def test_encode_prints_ids(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["encode", "--merges", str(table), "the", "lowest"]) == 0
    assert capsys.readouterr().out == "258 261 262\n"


def test_encode_at_a_merge(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["encode", "--merges", str(table), "--at", "1", "--pieces", "the lowest"]) == 0
    assert capsys.readouterr().out == "th | e | ␣ | l | o | w | e | s | t\n"
    assert run(["encode", "--merges", str(table), "--at", "8", "the"]) == 1
    assert "holds 7 merges" in capsys.readouterr().err


def test_encode_as_json(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["encode", "--merges", str(table), "--json", "the é"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "ids": [258, 32, 195, 169],
        "tokens": ["the", " ", "<0xC3>", "<0xA9>"],
    }


def test_special_tokens_count_only_when_allowed(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = str(tmp_path / "merges.csv")
    assert run(["train", str(text), "--merges", "0", "--special", "<|end|>", "--output", output, "--quiet"]) == 0
    assert run(["encode", "--merges", output, "a<|end|>"]) == 0
    assert run(["encode", "--merges", output, "--allow-special", "a<|end|>"]) == 0
    assert capsys.readouterr().out == "97 60 124 101 110 100 124 62\n97 256\n"


@pytest.mark.parametrize("special", [[], ["--allow-special"]])
def test_what_is_encoded_decodes_byte_for_byte(table: Path, special: list[str]) -> None:
    text = TEXT + "日本 \u2028 <0x41>\r\n\n  \x00"
    encoded = program("encode", "--merges", str(table), *special, input=text)
    assert (encoded.returncode, encoded.stderr) == (0, "")
    decoded = subprocess.run(
        [sys.executable, "-m", "bpe_core", "decode", "--merges", str(table)],
        input=encoded.stdout.encode(),
        capture_output=True,
        cwd=ROOT,
    )
    assert decoded.stdout == text.encode()


def test_decode_as_json_shows_half_characters(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["decode", "--merges", str(table), "--json", "258", "195"]) == 0
    assert json.loads(capsys.readouterr().out) == {"text": "the\ufffd", "bytes": "74 68 65 c3"}


@pytest.mark.parametrize("ids", ["999", "-- -1", "1e3", "9" * 30])
def test_decode_refuses_what_is_no_id(table: Path, ids: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["decode", "--merges", str(table), *ids.split()]) == 1
    complaint = capsys.readouterr().err
    assert complaint.startswith("bpe-explorer: ")
    assert complaint.count("\n") == 1


# --- words, presets ---------------------------------------------------------------------


def test_words_are_merged_step_by_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["words", "low", "lower", "lowest", "--apply", "lowly"]) == 0
    assert [line.strip() for line in capsys.readouterr().out.splitlines() if line] == [
        "start  l o w | l o w e r | l o w e s t",
        "1  l + o → lo                        3 times, as often as o + w",
        "lo w | lo w e r | lo w e s t",
        "2  lo + w → low                      3 times",
        "low | low e r | low e s t",
        "3  low + e → lowe                    2 times",
        "low | lowe r | lowe s t",
        "No pair occurs as often as the minimum frequency any more.",
        "lowly → low l y   (y: in none of the words above)",
    ]


def test_words_with_counts_and_a_marker(capsys: pytest.CaptureFixture[str]) -> None:
    toy = ["low=5", "lower=2", "newest=6", "widest=3"]
    assert run(["words", *toy, "--marker", "symbol", "--merges", "6", "--json", "--apply", "newer"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert [merge["token"] for merge in whole["merges"]] == ["es", "est", "est</w>", "lo", "low", "ne"]
    assert [merge["count"] for merge in whole["merges"]] == [9, 9, 9, 7, 7, 6]
    assert whole["words"] == {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    assert whole["merges"][-1]["words"] == "low </w> | low e r </w> | ne w est</w> | w i d est</w>"
    assert whole["applied"] == {"newer": ["ne", "w", "e", "r", "</w>"]}


def test_presets_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["presets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(PRESETS)
    assert all(preset.explanation in line for line, preset in zip(lines, PRESETS.values(), strict=True))


@pytest.mark.parametrize("name", PRESETS)
def test_a_printed_preset_is_a_recipe(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["presets", name]) == 0
    assert Recipe.from_json(capsys.readouterr().out) == Recipe.preset(name)


def test_presets_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["presets", "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert {name: Recipe.from_dict(one["recipe"]) for name, one in whole.items()} == {
        name: Recipe.preset(name) for name in PRESETS
    }


# --- What goes wrong --------------------------------------------------------------------

MISTAKES = [
    (["train", "gone.txt", "--output", "x.csv"], "gone.txt"),
    (["train", "text.txt", "--output", "x.docx"], "end it in one of .csv, .tsv, .json"),
    (["train", "text.txt", "--output", "nowhere/x.csv"], "the folder nowhere does not exist"),
    (["train", "text.txt", "--output", "folder.csv"], "it is a folder"),
    (["train", "text.txt", "--vocab-size", "10"], "smaller than the 256 bytes"),
    (["train", "text.txt", "--regex", "("], "not a valid regular expression"),
    (["train", "text.txt", "--regex", "a", "--pattern", "gpt2"], "not both"),
    (["train", "text.txt", "--recipe", "gone.json"], "Could not read the recipe gone.json"),
    (["train", "text.txt", "--recipe", "text.txt"], "text.txt: The recipe is not valid JSON"),
    (["train", "text.txt", "--recipe", "latin.txt"], "not UTF-8"),
    (["train", "latin.txt"], "latin.txt"),
    (["train", "text.txt", "--encoding", "klingon"], "klingon"),
    (["encode", "--merges", "gone.csv", "x"], "Could not read gone.csv"),
    (["encode", "--merges", "text.txt", "x"], "text.txt is not a merge table"),
    (["decode", "--merges", "text.txt", "x"], "'x' is not a token id"),
    (["words", "low", "--merges", "-1"], "merges must be at least 0"),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES, ids=lambda value: str(value)[:50])
def test_a_mistake_is_one_sentence_and_exit_code_1(
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
    told = capsys.readouterr()
    assert told.out == ""
    assert sentence in told.err
    assert told.err.startswith("bpe-explorer: ")
    assert told.err.count("\n") == 1
    assert not Path("x.csv").exists()


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
def test_arguments_that_make_no_command_are_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert "usage: bpe-explorer" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_each_help_teaches_by_examples_that_parse(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "examples:" in shown
    assert f"bpe-explorer {command}" in shown


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("bpe-explorer ")


@posix_only
def test_a_reader_who_leaves_is_no_error(tmp_path: Path) -> None:
    many = tmp_path / "many.txt"
    many.write_text(" ".join(f"{i:b}" for i in range(3_000)))
    command = f"{sys.executable} -m bpe_core train {many} --preset words --quiet | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT)
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_a_terminal_without_the_characters_gets_escapes() -> None:
    done = program("words", "low", "low", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "l + o \\u2192 lo" in done.stdout


# --- In any thread ---------------------------------------------------------------------


def test_commands_run_in_any_thread(text: Path, tmp_path: Path) -> None:
    codes: list[int] = []
    arguments = ["train", str(text), "--preset", "english", "--output", str(tmp_path / "x.csv"), "--quiet"]
    thread = threading.Thread(target=lambda: codes.append(run(arguments)))
    thread.start()
    thread.join()
    assert codes == [0]


# --- The progress bar -------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_draws_on_a_terminal_only() -> None:
    plain, terminal = io.StringIO(), Terminal()
    for stream in (plain, terminal):
        bar = TerminalBar(stream)
        bar(Progress("counting", 10_000_000, 20_000_000, "bytes", "a.txt"))
        bar.clear()
    assert plain.getvalue() == ""
    assert "10.0 of 20.0 MB" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_the_bar_does_not_draw_a_thousand_times_a_second() -> None:
    terminal = Terminal()
    bar = TerminalBar(terminal)
    for done in range(1_000):
        bar(Progress("training", done, 1_000, "merges"))
    bar(Progress("training", 1_000, 1_000, "merges"))
    assert terminal.getvalue().count("\r") < 50
    assert terminal.getvalue().endswith("\r\x1b[K")  # finished: the line is empty again


def test_the_bar_without_a_known_end_tells_how_far_it_is() -> None:
    assert bar_line(Progress("counting", 5_000_000, None, "bytes", "standard input"), 2_500_000) == (
        "counting  5.0 MB  2.5 MB/s  standard input"
    )


def test_the_bar_tells_hours() -> None:
    assert bar_line(Progress("training", 1, 7_201, "merges"), 1.0).endswith("2:00:00 left")


# --- Start ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [(["--help"], {"numpy", "regex", "bpe_core.recipe"}), (["presets"], {"numba", "llvmlite", "bpe_core.kernels.jit"})],
)
def test_only_what_is_asked_for_is_loaded(arguments: list[str], unwanted: set[str]) -> None:
    script = f"from bpe_core.command_line.main import run; run({arguments})"
    script += "; import sys; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not unwanted & set(done.stderr.split())


def test_every_command_has_a_line_and_a_file() -> None:
    folder = ROOT / "bpe_core" / "command_line" / "commands"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(COMMANDS)
