"""Tests of the command `repeat`: it makes a result again and reports whether the new result is identical."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bpe_core.command_line.commands.repeat import OF_PDF
from bpe_core.command_line.main import run
from bpe_core.command_line.manifest import VERSION, CommandRecord, Manifest, captured_output

BUT_FOR = {
    "benchmark": "identical except for the time that the command took",
    "sweep": "identical except for the places of its texts, and when they were last changed",
}
PLAN = 'sizes = [260, 265]\n[corpora]\nbook = ["book.txt"]\n[recipes.bytes]\npreset = "gpt2"\n'
TEXT = "the lowest price is lower than the last one, and the widest of the low is the lowest. " * 4


def test_every_command_can_be_repeated_from_its_manifest_after_its_folder_was_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    monkeypatch.chdir(here)
    for name in ("book.txt", "other.txt"):
        Path(name).write_text(TEXT + name, encoding="utf-8")
    groups = ["--group", "one", "book.txt", "--group", "two", str(here / "other.txt"), "--weights", "one=3", "two=1"]
    asked = {
        "train": ["train", *groups, "--merges", "20", "--output", str(here / "merges.csv")],
        "chart": ["chart", "ranks", "merges.csv", "--corpus", "book.txt", "-o", "ranks.json"],
        "sizes": ["sizes", "--merges", "merges.csv", "--corpus", "book.txt", "--csv"],
        "benchmark": ["benchmark", "merges.csv", "--parallel", "-o", "figures.csv"],
        "words": ["count", "book.txt", "--list", "words.csv"],
        "folder": ["export", "--merges", "merges.csv", str(here / "folder") + "/"],
        "session": ["train", "book.txt", "--merges", "20", "--output", "runs.bpex"],
        "branch": ["branch", "runs.bpex", "--forbid", "t+h@1", "-o", "both.bpex"],
        # This command ends with exit code 3.
        "diff": ["diff", "both.bpex#1", str(here / "both.bpex") + "#2", "-o", "differing.csv"],
        "lab": ["chart", "lab", "both.bpex#2", "both.bpex#1", "-o", "lab.svg"],
        "curves": ["chart", "curves", "both.bpex", "--corpus", "book.txt", "-o", "curves.csv"],
        "compress": ["compress", "other.txt"],
        "expand": ["expand", "other.txt.gage", "-o", "again.txt"],
        "verify": ["verify", "both.bpex", "merges.csv"],
        "ids": ["encode", "--merges", "merges.csv", "other.txt", "-o", "ids.npy"],
        "sweep": ["sweep", "plan.toml", "-o", "all.bpex"],
    }
    Path("plan.toml").write_text(PLAN, encoding="utf-8")
    told_by_code = {"diff": 3}
    for name, command in asked.items():
        code = run([*command, "--manifest", f"{name}.manifest.json"])
        assert code == told_by_code.get(name, 0), capsys.readouterr().err
    assert run(["why", "--merges", "merges.csv", "--manifest", "why.json"]) == 1
    assert "standard input" in capsys.readouterr().err
    assert run(["ties", "--merges", "both.bpex#7"]) == 1
    assert "no run 7" in capsys.readouterr().err
    ids = json.loads(Path("ids.manifest.json").read_text(encoding="utf-8"))
    assert "other.txt" in {file["path"] for file in ids["inputs"]}
    report = json.loads(Path("chart.manifest.json").read_text(encoding="utf-8"))
    assert {file["path"] for file in report["inputs"]} == {"book.txt", "merges.csv"}
    assert report["recipes"]["merges.csv"]["merges"] == 20
    assert str(tmp_path) not in "".join(path.read_text(encoding="utf-8") for path in here.glob("*.manifest.json"))
    trained = json.loads(Path("train.manifest.json").read_text(encoding="utf-8"))
    assert "one" in json.dumps(trained["recipes"]["merges.csv"]["mixture"])

    shutil.move(here, there)
    monkeypatch.chdir(tmp_path)
    for name in asked:
        capsys.readouterr()
        assert run(["repeat", f"there/{name}.manifest.json"]) == 0, capsys.readouterr()
        report = capsys.readouterr().out
        assert BUT_FOR.get(name, "identical, byte for byte") in report
        monkeypatch.setattr("bpe_core.command_line.commands.repeat.subprocess.run", _run_in_this_process)
    _check_old_manifest(there, capsys)


def test_repeating_a_manifest_reports_a_changed_manifest_and_changed_or_missing_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bpe_core.command_line.commands.repeat.subprocess.run", _run_in_this_process)
    there = tmp_path / "there"
    there.mkdir()
    monkeypatch.chdir(there)
    Path("book.txt").write_text(TEXT, encoding="utf-8")
    assert run(["train", "book.txt", "--merges", "20", "--output", "merges.csv"]) == 0
    chart = ["chart", "ranks", "merges.csv", "--corpus", "book.txt", "-o", "ranks.json"]
    assert run([*chart, "--manifest", "chart.manifest.json"]) == 0
    monkeypatch.chdir(tmp_path)
    report = json.loads((there / "chart.manifest.json").read_text(encoding="utf-8"))
    report["results"][0]["sha256"] = "0" * 64
    _check_repeat(
        there,
        report,
        "ranks.json: differs, but the first difference is unknown, because the earlier result has been",
        capsys,
    )
    for change, sentence in (
        ({"version": VERSION + 1}, "newer version"),
        ({"results": [{"path": "other.json", "bytes": 0, "sha256": ""}]}, "would write ranks.json"),
        ({"arguments": ["doctor"]}, "no command"),
        ({"arguments": ["compress", "book.txt"]}, "would write book.txt.gage"),
        ({"arguments": 5}, "not a manifest"),
    ):
        _check_repeat(there, {**report, **change}, sentence, capsys)
    (there / "book.txt").write_text(TEXT[1:], encoding="utf-8")
    _check_repeat(there, report, "book.txt has changed", capsys)
    (there / "book.txt").unlink()
    _check_repeat(there, report, "book.txt is missing", capsys)
    assert run(["repeat", "nowhere.json"]) == 1


def test_the_repeat_command_suggests_the_rounds_option_for_a_search_with_a_time_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bpe_core.command_line.commands.repeat.subprocess.run", _run_in_this_process)
    monkeypatch.chdir(tmp_path)
    Path("book.txt").write_text(TEXT, encoding="utf-8")
    floor = ["floor", "book.txt", "--sizes", "270", "--alone", "--seconds", "0.1", "-o", "floor.csv"]
    for limit, is_named in (([], True), (["--rounds", "2"], False)):
        assert run([*floor, *limit, "--manifest", "floor.json"]) == 0
        report = json.loads(Path("floor.json").read_text(encoding="utf-8"))
        report["results"][0]["sha256"] = "0" * 64
        Path("floor.json").write_text(json.dumps(report), encoding="utf-8")
        capsys.readouterr()
        assert run(["repeat", "floor.json"]) == 1
        assert ("A search with --rounds" in capsys.readouterr().out) == is_named


def _check_old_manifest(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Check that `repeat` ignores a wrong checksum in an old manifest and reports it in a new manifest."""
    sizes = json.loads((folder / "sizes.manifest.json").read_text(encoding="utf-8"))
    sizes["results"][0]["sha256"] = "0" * 64
    (folder / "before.json").write_text(json.dumps({**sizes, "version": 1}), encoding="utf-8")
    assert run(["repeat", str(folder / "before.json")]) == 0
    assert "this version lays out the result in another way" in capsys.readouterr().out
    (folder / "before.json").write_text(json.dumps(sizes), encoding="utf-8")
    assert run(["repeat", str(folder / "before.json")]) == 1


RUN = subprocess.run


def _run_in_this_process(call: list[str], cwd: Path | None = None, **given: Any) -> Any:
    """Run a command in this process, because starting a process for each command takes long.

    If there is no folder, the call is a call of git, and runs in its own process.
    """
    if cwd is None:
        return RUN(call, **given)  # of git
    printed = io.StringIO()
    with contextlib.chdir(cwd), contextlib.redirect_stdout(printed):
        code = run(call[3:])
    return SimpleNamespace(returncode=code, stdout=printed.getvalue().encode())


def test_dates_and_ids_in_a_pdf_are_ignored_when_results_are_compared() -> None:
    first, second = (
        f"%PDF 10 0 obj /CreationDate (D:2026{n}01120000Z) <xmp:CreateDate>2026-{n}-01T12:00:00Z</xmp:CreateDate> "
        f"uuid:367be971-2ad8-4f27-988b-8c3f492137{n} /ID [ <{n}aa> <{n}aa> ] 1 0 0 1 7 5 cm".encode()
        for n in ("10", "11")
    )
    assert OF_PDF.sub(b"", first) == OF_PDF.sub(b"", second)
    assert OF_PDF.sub(b"", first) != OF_PDF.sub(b"", second.replace(b"7 5 cm", b"7 6 cm"))


def _check_repeat(folder: Path, manifest: object, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "changed.json").write_text(json.dumps(manifest), encoding="utf-8")
    capsys.readouterr()
    assert run(["repeat", str(folder / "changed.json")]) == 1
    printed = capsys.readouterr()
    assert sentence in printed.out + printed.err


def test_repeating_a_command_from_a_manifest_that_names_the_address_of_a_cluster_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("book.txt").write_text(TEXT, encoding="utf-8")
    assert run(["count", "book.txt", "-o", "counts.parquet", "--manifest", "how.json"]) == 0
    manifest = json.loads(Path("how.json").read_text(encoding="utf-8"))
    manifest["arguments"] += ["--on", "tcp://127.0.0.1:9"]
    Path("how.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert run(["repeat", "how.json"]) == 1
    assert (
        "The manifest uses the cluster tcp://127.0.0.1:9, which could run any code on this computer"
    ) in capsys.readouterr().err


def test_the_repeat_command_writes_a_manifest_only_if_the_existing_file_equals_the_new_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The older manifest stays until the command has made the same file. A failed command writes no manifest."""
    monkeypatch.chdir(tmp_path)
    Path("book.txt").write_text(TEXT, encoding="utf-8")
    train = ["train", "book.txt", "--merges", "5", "--output", "merges.csv"]
    assert run([*train, "--quiet"]) == 0
    asked = ["repeat", "how.json", "--made-by", *train]
    was_there: list[bool] = []

    def noted(*given: Any, **named: Any) -> Any:
        was_there.append(Path("how.json").exists())
        return _run_in_this_process(*given, **named)

    monkeypatch.setattr("bpe_core.command_line.commands.repeat.subprocess.run", noted)
    assert run(asked) == 0, capsys.readouterr()
    assert was_there
    assert not any(was_there)
    proved = Path("how.json").read_bytes()
    Path("merges.csv").write_text("another", encoding="utf-8")
    assert run(asked) == 1
    assert "merges.csv: differs" in capsys.readouterr().out
    assert Path("how.json").read_bytes() == proved


@pytest.mark.parametrize(("signals", "is_new"), [(1, True), (2, False)])
def test_a_signal_while_a_manifest_is_written_leaves_a_result_and_a_manifest_of_the_same_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], signals: int, is_new: bool
) -> None:
    """The first Ctrl-C lets the command finish the manifest. The second discards the new result."""
    monkeypatch.chdir(tmp_path)
    # Tests that run in the background inherit an ignored Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    Path("book.txt").write_text(TEXT, encoding="utf-8")
    train = ["train", "book.txt", "--output", "merges.csv", "--quiet", "--manifest", "how.json", "--merges"]
    assert run([*train, "5"]) == 0
    old = Path("merges.csv").read_bytes(), Path("how.json").read_bytes()
    assert run([*train, "6", "--recipe", "missing.json"]) == 1, "so nothing is written"
    assert old == (Path("merges.csv").read_bytes(), Path("how.json").read_bytes())
    write = CommandRecord.write

    def write_while_asked_to_stop(record: CommandRecord, manifest: Manifest) -> None:
        for _ in range(signals):
            signal.raise_signal(signal.SIGINT)
        write(record, manifest)

    with monkeypatch.context() as patch:
        patch.setattr(CommandRecord, "write", write_while_asked_to_stop)
        assert run([*train, "6"]) == 130
    assert ("nothing was written" in capsys.readouterr().err) is not is_new
    after_signal = Path("merges.csv").read_bytes(), Path("how.json").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["book.txt", "how.json", "merges.csv"]
    assert run([*train, "6"]) == 0
    new = Path("merges.csv").read_bytes(), Path("how.json").read_bytes()
    assert old[0] != new[0]
    assert after_signal == (new if is_new else old)


def test_an_overlong_input_name_is_reported_even_if_a_manifest_is_requested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["convert", "x" * 5_000, "merges.csv", "--manifest", "how.json"]) == 1
    assert "name too long" in capsys.readouterr().err


def test_a_manifest_that_cannot_be_written_does_not_discard_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The disk becomes full when the result is complete."""
    monkeypatch.chdir(tmp_path)
    Path("book.txt").write_text(TEXT, encoding="utf-8")
    train = ["train", "book.txt", "--output", "merges.csv", "--quiet", "--manifest", "how.json", "--merges"]
    assert run([*train, "5"]) == 0
    old = Path("merges.csv").read_bytes()

    def fill_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("bpe_core.command_line.manifest.asdict", fill_disk)
        assert run([*train, "6"]) == 1
    message = "Could not write how.json: No space left on device. The result itself is complete, but has no manifest."
    assert capsys.readouterr().err == f"bpe-explorer: {message}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["book.txt", "merges.csv"]
    assert Path("merges.csv").read_bytes() != old


def test_repeating_a_manifest_reports_a_result_that_another_command_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command without `--manifest` does not know that a manifest describes the old file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bpe_core.command_line.commands.repeat.subprocess.run", _run_in_this_process)
    Path("book.txt").write_text(TEXT, encoding="utf-8")
    for merges, manifest in (("5", ["--manifest", "how.json"]), ("6", [])):
        assert run(["train", "book.txt", "--merges", merges, "--output", "merges.csv", "--quiet", *manifest]) == 0
    assert run(["repeat", "how.json"]) == 1
    output = capsys.readouterr().out
    assert "merges.csv: the result has the checksum of the manifest, but the existing file differs." in output
    Path("merges.csv").unlink()
    assert run(["repeat", "how.json"]) == 0, "who has the manifest and its texts alone can make it"


def test_a_command_with_a_manifest_exits_without_an_error_if_its_output_pipe_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Python closes the copy of the standard output before it deletes the copy.

    If closing the copy also flushed the standard output, Python would print an error.
    """

    class Unread(io.StringIO):
        def flush(self) -> None:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Unread())
    with captured_output():
        copy = sys.stdout
    copy.close()
    assert not sys.stdout.closed
