"""Tests of the question `canonical`, which asks whether encoding a text again gives the same ids.

The ids come from files, rows or chat turns.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.errors import BpeError, Cancelled
from bpe_core.support.foreign import MOST_VALUES
from bpe_core.support.progress import Work
from bpe_core.text.reading import id_rows

STUDY = bpe.train("the theme of the thesis, the others", "gpt2", merges=8)
THE = STUDY.encode("the")


def test_the_canonical_question_names_the_merge_that_was_not_applied_to_single_letters() -> None:
    answer = bpe.canonical(STUDY, [116, 104, 101])
    assert answer.facts["canonical_share"] == 0.0
    (row,) = answer.table.records()
    assert (row["place"], row["ids"], row["kind"], row["step"]) == (0, "116 104 101", "merge", 1)
    assert row["encoded"] == " ".join(map(str, THE))
    assert bpe.canonical(STUDY, THE).facts["canonical_share"] == 1.0


def test_the_same_rows_of_ids_are_read_from_every_kind_of_file(tmp_path: Path) -> None:
    rows = [[*b"the"], STUDY.encode("the others")]
    width = max(map(len, rows))
    padded = [row + [32] * (width - len(row)) for row in rows]
    np.save(tmp_path / "a.npy", np.array(padded, np.uint16))
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, padded)), encoding="utf-8")
    parts = [{"prompt_ids": row[:1], "mask": [1], "response_ids": row[1:]} for row in padded]
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, parts)), encoding="utf-8")
    (tmp_path / "d.txt").write_text("\n".join(" ".join(map(str, row)) for row in padded), encoding="utf-8")
    (tmp_path / "e.jsonl").write_text("\n".join(json.dumps([[id] for id in row]) for row in padded), encoding="utf-8")
    pq.write_table(pa.table({"input_ids": padded, "text": ["x", "y"]}), tmp_path / "f.parquet")
    columns = {name: [row[name] for row in parts] for name in parts[0]}
    pq.write_table(pa.table(columns), tmp_path / "g.parquet")
    answer = bpe.canonical(STUDY, [str(path) for path in sorted(tmp_path.iterdir())])
    by_file: dict[str, list[tuple[object, ...]]] = {}
    for row in answer.table.records():
        by_file.setdefault(row["file"], []).append((row["row"], row["place"], row["ids"], row["encoded"]))
    assert len(by_file) == 7
    assert all(rows == next(iter(by_file.values())) for rows in by_file.values())
    assert {file["canonical_share"] for file in answer.facts["files"]} == {answer.facts["canonical_share"]}


def test_binary_integers_of_each_supported_width_are_read_as_one_list_of_ids(tmp_path: Path) -> None:
    expected = bpe.canonical(STUDY, [*b"the"]).table.records()
    path = tmp_path / "ids.bin"
    for width in (1, 2, 4, 8):
        np.array([*b"the"], f"<u{width}").tofile(path)
        rows = bpe.canonical(STUDY, [str(path)], id_bytes=width).table.records()
        assert [{**row, "file": ""} for row in rows] == [{**row, "file": ""} for row in expected]
    for wrong, sentence in ((0, "does not say how many bytes"), (3, "not 3; it is one of 1, 2, 4, 8")):
        with pytest.raises(BpeError, match=sentence):
            bpe.canonical(STUDY, [str(path)], id_bytes=wrong)
    path.write_bytes(b"odd")
    with pytest.raises(BpeError, match="3 bytes, which is not a multiple of 2"):
        bpe.canonical(STUDY, [str(path)], id_bytes=2)


def test_the_canonical_question_compares_chats_that_keep_their_ids_with_chats_encoded_again_at_each_turn(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rollouts.jsonl"
    path.write_text(json.dumps([[116], [104, 101], STUDY.encode(" others")]), encoding="utf-8")
    answer = bpe.canonical(STUDY, [str(path)])
    # After the first turn the token `t` stays. After the second turn `the` is one token for the whole answer.
    assert answer.facts["turns"] == {"passed_on": 1 + len(THE), "again": len(THE)}
    assert any("between turns computes" in sentence for sentence in answer.sentences)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.jsonl", b"[1, 2]\n[1, -2]\n", "a.jsonl, line 2: “-2” is not a token id. Ids are whole numbers from 0 on."),
        ("a.jsonl", b"[1, 2.5]\n", "a.jsonl, line 1: “2.5” is not a token id."),
        ("a.jsonl", b"[true]\n", "a.jsonl, line 1: “True” is not a token id."),
        ("a.jsonl", b"[null]\n", "a.jsonl, line 1: “None” is not a token id."),
        ("a.jsonl", b"[1, [2]]\n", "a.jsonl, line 1: “[2]” is not a token id."),
        ("a.jsonl", b'{"text": "x"}\n', "a.jsonl, line 1 has no field with a known name for ids, only 'text'."),
        ("a.jsonl", b"[1, 2\n", "a.jsonl, line 1 is not valid JSON from column 6 on"),
        ("a.jsonl", b"[1, 2,]\n", "a.jsonl, line 1 is not valid JSON from column"),
        ("a.jsonl", b"[1 2]\n", "a.jsonl, line 1 is not valid JSON from column"),
        ("a.jsonl", b"[01]\n", "a.jsonl, line 1 is not valid JSON from column"),
        ("a.jsonl", b"[1000000000000000000]\n", "a.jsonl, line 1: “1000000000000000000” is not a token id."),
        ("a.txt", b"1 2\n3 x\n", "a.txt, line 2: “x” is not a token id."),
        ("a.txt", b"1 99999\n", "a.txt, row 1: There is no token 99,999; the ids go from 0 to 259."),
        ("a.parquet", b"PAR1 damaged", "a.parquet is a damaged Parquet file"),
        ("a.npy", b"\x93NUMPY damaged", "a.npy is not an array of NumPy, or is damaged"),
        ("a.txt", b"\n\n", "There are no ids: give them"),
    ],
)
def test_files_without_valid_rows_of_ids_are_refused_with_an_error_message(
    tmp_path: Path, name: str, content: bytes, sentence: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BpeError) as refused:
        bpe.canonical(STUDY, [str(tmp_path / name)])
    assert sentence in str(refused.value).replace(f"{tmp_path}/", "")


@pytest.mark.parametrize("array", [np.array([1.5]), np.zeros((1, 1, 1), np.int32), np.array([-1])])
def test_arrays_of_values_that_are_not_ids_are_refused(tmp_path: Path, array: object) -> None:
    np.save(tmp_path / "a.npy", array)  # type: ignore[arg-type]
    with pytest.raises(BpeError, match=r"cannot be ids|There is no token -1"):
        bpe.canonical(STUDY, [str(tmp_path / "a.npy")])


def test_a_json_lines_row_may_hold_more_ids_than_the_usual_limit_of_json_values(tmp_path: Path) -> None:
    count = MOST_VALUES + 2
    (tmp_path / "a.jsonl").write_text("[ 7 " + ", 12" * (count - 2) + ",0]\n")
    (row,) = id_rows.rows_of_file(str(tmp_path / "a.jsonl"))
    assert row.ids[[0, 1, -2, -1]].tolist() == [7, 12, 12, 0]
    assert len(row.ids) == count


def test_the_canonical_question_refuses_a_line_that_is_too_long_and_can_be_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("1 " * 100, encoding="utf-8")
    with pytest.raises(Cancelled):
        bpe.canonical(STUDY, [str(path)], work=Work(cancelled=lambda: True))
    monkeypatch.setattr(id_rows, "LONGEST_LINE", 50)
    with pytest.raises(BpeError, match="line 1 is longer than"):
        bpe.canonical(STUDY, [str(path)])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-5"], "“-5” is not a token id"),
        (["1.5"], "“1.5” is not a token id"),
        (["264"], "There is no token 264"),
        (["10" * 20], "is not a token id"),
        (["missing.npy"], "missing.npy: No such file"),
    ],
)
def test_the_canonical_command_refuses_arguments_other_than_ids(
    words: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    STUDY.save(tmp_path / "t.csv")
    assert run(["canonical", str(tmp_path / "t.csv"), *words]) == 1
    assert sentence in capsys.readouterr().err


def test_the_canonical_command_answers_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    STUDY.save(tmp_path / "t.csv")
    assert run(["canonical", str(tmp_path / "t.csv"), "116", "104", "101", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["canonical_share"] == report["facts"]["canonical_share"] == 0.0
    assert {"place", "ids", "encoded", "reason"} <= {*report["rows"][0]}


def test_the_canonical_question_says_whether_two_tokens_can_ever_be_neighbours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    STUDY.save(tmp_path / "t.csv")
    assert (
        run(["canonical", str(tmp_path / "t.csv"), "--pair", "t", "h", "--pair", "h", "h", "--drawn", "50", "--json"])
        == 0
    )
    report = json.loads(capsys.readouterr().out)
    assert [row["kind"] for row in report["rows"][:2]] == ["together", "together"]
    assert sum(report["pairs"].values()) == len(report["rows"]) == 52
    assert "of 50 pairs drawn can never be side by side" in report["sentences"][-1]
    with pytest.raises(BpeError, match="number of pairs to draw"):
        bpe.canonical(STUDY, drawn=-1)
    raw = bpe.train("aabb aabb", "raw-bytes", merges=2)
    answer = bpe.canonical(raw, pairs=[("a", "a"), ("b", "a")])
    assert answer.columns["kind"] == ["never", "together"]
    assert answer.sentences[0].startswith("a + a: the two tokens are never side by side. Merge ")
