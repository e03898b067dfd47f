"""Tests of commands that write a changed table and a map from old ids to new ids: they write both files or neither."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.command_line import writing_tables
from bpe_core.command_line.main import run
from bpe_core.errors import OutputError
from bpe_core.support.atomic import all_or_none
from tests.shared import ROOT

POEM = str(ROOT / "tests" / "texts" / "poem.txt")
CODE = str(ROOT / "tests" / "texts" / "code.txt")
# Each command, and the ending of the file that the command writes.
COMMANDS = {
    "extend": ("extend old.json --corpus {code} --by 9 -o", ".tokenizer.json"),
    "extend a session": ("extend old.json --corpus {code} --by 9 -o", ".bpex"),
    "trim": ("trim old.json --remove 270,280 -o", ".csv"),
    "merge": ("merge old.json other.csv -o", ".tokenizer.json"),
    "convert": ("convert old.json", ".tiktoken"),
    "convert to two files": ("convert old.json", ".merges.txt"),
    "export": ("export --merges old.json --at 9", ".csv"),
    "replace": ("replace old.json --corpus {code} --swap 9 -o", ".tokenizer.json"),
}
ENDINGS = (".csv", ".json", ".parquet", ".npz")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    bpe.train(Path(POEM), "gpt2", vocab_size=300, special_tokens=("<|end|>",)).save(folder / "old.tokenizer.json")
    (folder / "old.tokenizer.json").rename(folder / "old.json")
    bpe.train(Path(CODE), "gpt2", vocab_size=290).save(folder / "other.csv")
    return folder


@pytest.mark.parametrize("place", range(len(COMMANDS)), ids=[*COMMANDS])
def test_each_editing_command_can_write_the_id_map_of_its_new_table(
    place: int, tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tables)
    command, ending = [*COMMANDS.values()][place]
    out, path = f"{tmp_path}/new{ending}", tmp_path / f"map{ENDINGS[place % len(ENDINGS)]}"
    assert run([*command.format(code=CODE).split(), out, "--map", str(path)]) == 0, capsys.readouterr().err
    id_map = bpe.IdMap.of(bpe.open("old.json"), bpe.open(out))
    assert id_map.difference(bpe.read_id_map(path)) == ""


def test_a_table_is_not_written_if_its_id_map_cannot_be_written(
    tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "old.csv").write_text("as before", encoding="utf-8")

    def full(*_: object) -> None:
        raise OutputError("Could not write the map: the disk is full.")

    monkeypatch.setattr(writing_tables, "write_id_map", full)
    for out in ("old.csv", "new/"):
        words = ["trim", f"{tables}/old.json", "--remove", "270", "-o", f"{tmp_path}/{out}", "--to", "csv"]
        assert run([*words, "--map", f"{tmp_path}/map.csv"]) == 1
        assert "the disk is full" in capsys.readouterr().err
        assert [path.name for path in tmp_path.iterdir()] == ["old.csv"]
        assert (tmp_path / "old.csv").read_text(encoding="utf-8") == "as before"


def test_files_written_together_appear_only_when_all_of_them_are_complete(tmp_path: Path) -> None:
    first, second = tmp_path / "one.csv", tmp_path / "other.csv"
    table = bpe.DataTable({"step": [1]})
    with all_or_none(first, second):
        bpe.write_data(table, first)
        bpe.write_data(table, second)
        assert not first.exists()
        assert not second.exists()
    assert first.read_bytes() == second.read_bytes()


def test_overwriting_an_input_file_or_the_result_with_an_id_map_is_refused(
    tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = str(tables / "old.json")
    table = ["trim", old, "--remove", "270", "-o", f"{tmp_path}/new.csv"]
    cases = {
        "Choose another name": [*table, "--map", old],
        "is the result itself": [*table, "--map", f"{tmp_path}/new.csv"],
        "map.txt must end in one of": [*table, "--map", f"{tmp_path}/map.txt"],
    }
    for message, words in cases.items():
        assert run(words) != 0
        assert message in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []
    assert json.loads(Path(old).read_bytes())["model"]
