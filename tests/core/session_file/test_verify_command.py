"""Tests of `bpe-explorer verify`: valid and damaged files, and the exit codes."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bpe_core.command_line.main import run
from bpe_core.counting.words import WordTable
from bpe_core.session_file.writing import write_session
from tests.core.session_file.sessions import RECIPES, run_of, session

TABLE = Path(__file__).parents[1] / "before" / "gpt2.table.csv"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_session(session(run_of(RECIPES[0]), run_of(RECIPES[4], 2)), tmp_path / "one.bpex")
    return tmp_path / "one.bpex"


@pytest.fixture
def damaged_session(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE merges SET count = count + 1 WHERE run = 2 AND step = 3")
    return path


def test_the_verify_command_accepts_a_valid_session_and_a_table(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = path.read_bytes()
    assert run(["verify", str(path), str(TABLE)]) == 0
    output = capsys.readouterr().out
    assert f"{path}: sound, a session" in output
    assert "run 2: " in output
    assert f"{TABLE}: sound, a table (csv) of 30 merges" in output
    assert path.read_bytes() == before


def test_the_verify_command_reports_a_damaged_session(
    damaged_session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["verify", str(damaged_session)]) == 1
    printed = capsys.readouterr()
    assert "(run 2: the learned steps from step 1 on): a stored checksum differs" in printed.err
    assert "Open an older copy of the file" in printed.err
    assert printed.out == ""


def test_the_verify_command_reports_a_session_whose_beginning_is_damaged(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path.write_bytes(bytes(16) + path.read_bytes()[16:])
    assert run(["verify", str(path)]) == 1
    printed = capsys.readouterr()
    assert f"{path} is not a session of BPE Explorer, or its beginning is damaged." in printed.err


def test_the_verify_command_reports_damage_as_json(damaged_session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", str(damaged_session), "--json"]) == 1
    (report,) = json.loads(capsys.readouterr().out)
    assert report["sound"] is False
    assert report["found"] == []
    assert "(run 2: the learned steps from step 1 on): a stored checksum differs" in report["what"]


def test_the_verify_command_reports_a_database_with_empty_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.bpex").write_bytes(b"SQLite format 3\0" + bytes(9000))
    assert run(["verify", str(tmp_path / "one.bpex")]) == 1
    assert "is damaged" in capsys.readouterr().err


def test_the_verify_command_reports_damaged_tables_and_missing_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "merges.csv").write_bytes(TABLE.read_bytes()[:-40] + b"x,y")
    for name in ("merges.csv", "nowhere.csv", "nowhere.bpex"):
        assert run(["verify", str(tmp_path / name)]) == 1
        assert name in capsys.readouterr().err


def test_the_verify_command_checks_saved_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, table = tmp_path / "words.npz", WordTable.from_counts({f"word{number}": number for number in range(1, 300)})
    table.save(path)
    assert run(["verify", str(path)]) == 0
    assert "sound, the counts of 44,850 words, 299 different" in capsys.readouterr().out
    whole, chosen = path.read_bytes(), random.Random(1)
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[chosen.randrange(len(whole))] ^= 1 << chosen.randrange(8)
        path.write_bytes(bytes(damaged) if chosen.random() < 0.8 else whole[: chosen.randrange(4, len(whole))])
        if run(["verify", str(path)]) == 0:  # the changed byte belongs to no checked number, for example to a date
            assert list(WordTable.load(path)) == list(table)
