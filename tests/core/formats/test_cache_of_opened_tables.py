"""Tests of the cache of opened tables.

A table from the cache equals the table from the file. An outdated table in the cache is never used.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.errors import OutputError
from bpe_core.formats import FORMATS, all_formats, kept_openings
from bpe_core.formats.all_formats import open_table
from bpe_core.formats.base import Format, OpenedTable
from bpe_core.history.packed import packed
from bpe_core.methods.registry import METHODS
from bpe_core.support import version
from bpe_core.support.kept_results import KeptResults
from bpe_core.support.plugins import Registry
from tests.core.formats.hugging_face_tokenizers import KINDS
from tests.core.test_pickles import train_preset
from tests.shared import ROOT, text_of


@pytest.fixture(autouse=True)
def every_opening_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_openings, "base", lambda: tmp_path / "cache")
    monkeypatch.setattr(all_formats, "KEPT_FROM", 0)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list of format names, which grows by one name whenever a format reads a file."""
    names: list[str] = []
    opening = Format.open

    def noted(self: Format, *given: object) -> OpenedTable:
        names.append(self.name)
        return opening(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Format, "open", noted)
    return names


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.tiktoken"
    bpe.train([text_of("prose")], "gpt2", merges=300).save(path)
    return path


def stored_files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache/opened").iterdir())


def assert_equal(first: OpenedTable, second: OpenedTable) -> None:
    assert packed(first.history) == packed(second.history)
    assert first.format == second.format
    assert first.notes == second.notes
    assert [type(note) for note in first.notes] == [type(note) for note in second.notes]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_tokenizer_json_is_the_same_when_opened_from_the_cache(
    kind: str, tmp_path: Path, readings: list[str]
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(KINDS[kind]()), "utf-8")
    first = open_table(path)
    second = open_table(path)
    assert readings == ["tokenizer.json"]
    assert_equal(first, second)


@pytest.mark.parametrize("name", sorted(set(FORMATS.written) - {"markdown"}))
def test_a_table_in_any_written_format_is_the_same_when_opened_again_from_the_cache(
    name: str, tmp_path: Path, readings: list[str]
) -> None:
    written = 0
    for preset in ("gpt2", "words", "sentencepiece-like", "wordpiece", "unigram", "boundless"):
        study = train_preset(preset)
        path = tmp_path / f"{preset}{FORMATS.rows[name].endings[0]}"
        if not METHODS[study.history.recipe.method].fits(FORMATS[name]):
            continue
        try:
            study.save(path, format=name)
        except OutputError:
            continue  # the format cannot hold this recipe
        first = open_table(path)
        readings.clear()
        assert_equal(first, open_table(path))
        assert readings == []
        written += 1
    assert written or name in ("tekken", "rwkv")  # which hold only what their own libraries learned


def test_a_table_from_the_cache_gives_the_same_ids(table: Path) -> None:
    text = text_of("prose")[:2_000]
    first = bpe.open(table)
    second = bpe.open(table)
    assert second.encode(text) == first.encode(text)
    assert second.decode(second.encode(text)) == text
    assert second.notes == first.notes


def test_with_machine_code_a_sentencepiece_model_is_stored_only_if_it_is_ten_times_larger_than_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "table.model"
    train_preset("sentencepiece-like").save(model)
    ranks = tmp_path / "table.tiktoken"
    train_preset("gpt2").save(ranks)
    monkeypatch.setattr(all_formats, "is_loaded", lambda: True)
    monkeypatch.setattr(all_formats, "KEPT_FROM", model.stat().st_size // 5)
    open_table(model)
    assert not (tmp_path / "cache/opened").exists()
    monkeypatch.setattr(all_formats, "KEPT_FROM", ranks.stat().st_size // 5)
    open_table(ranks)
    assert len(stored_files(tmp_path)) == 1
    monkeypatch.setattr(all_formats, "KEPT_FROM", model.stat().st_size // 10)
    open_table(model)
    assert len(stored_files(tmp_path)) == 2


def test_without_loaded_machine_code_a_sentencepiece_model_is_stored_like_any_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "table.model"
    train_preset("sentencepiece-like").save(model)
    monkeypatch.setattr(all_formats, "is_loaded", lambda: False)
    monkeypatch.setattr(all_formats, "KEPT_FROM", model.stat().st_size // 5)
    open_table(model)
    assert len(stored_files(tmp_path)) == 1


def test_a_changed_file_is_read_again_instead_of_being_taken_from_the_cache(table: Path, readings: list[str]) -> None:
    first = open_table(table)
    lines = table.read_bytes().splitlines(keepends=True)
    table.write_bytes(b"".join(lines[:-1]))
    assert len(open_table(table).history) == len(first.history) - 1
    assert readings == ["tiktoken", "tiktoken"]


def test_a_file_is_read_again_when_its_sidecar_file_changes(tmp_path: Path, readings: list[str]) -> None:
    bpe.train([text_of("prose")], "gpt2", merges=50).save(tmp_path / "merges.txt")
    readings.clear()
    first = open_table(tmp_path / "merges.txt")
    assert (tmp_path / "vocab.json").is_file()
    vocabulary = json.loads((tmp_path / "vocab.json").read_bytes())
    moved = {token: id + 1_000 for token, id in vocabulary.items()}
    (tmp_path / "vocab.json").write_text(json.dumps(moved), "utf-8")
    second = open_table(tmp_path / "merges.txt")
    assert second.numbers_of([0]) == [first.numbers_of([0])[0] + 1_000]
    assert readings == ["merges.txt", "merges.txt"]


def test_a_file_is_read_again_after_the_source_code_of_the_program_is_edited(
    table: Path, readings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_table(table)
    monkeypatch.setattr(kept_openings, "program_state", lambda: "edited")
    open_table(table)
    assert readings == ["tiktoken", "tiktoken"]


def test_a_source_file_with_a_new_modification_time_changes_the_hash_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "module.py"
    source.write_text("answer = 1", "utf-8")
    monkeypatch.setattr(version, "_PACKAGE", tmp_path)
    before = version.program_state.__wrapped__()
    os.utime(source, ns=(1, 1))
    assert version.program_state.__wrapped__() != before


def test_a_file_is_read_again_when_a_different_version_of_regex_is_installed(
    table: Path, readings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_table(table)
    monkeypatch.setattr(kept_openings, "package_state", lambda package: f"another {package}")
    open_table(table)
    assert readings == ["tiktoken", "tiktoken"]


def test_a_file_that_changes_while_it_is_opened_is_not_cached(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = table.read_bytes().splitlines(keepends=True)
    opening = Format.open

    def changing(self: Format, *given: object) -> OpenedTable:
        opened = opening(self, *given)  # type: ignore[arg-type]
        table.write_bytes(b"".join(lines[:-1]))
        return opened

    monkeypatch.setattr(Format, "open", changing)
    assert len(open_table(table).history) == len(lines) - 256
    assert not (tmp_path / "cache/opened").exists()


def test_a_very_large_file_is_read_again_after_it_changes(
    table: Path, readings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_openings, "MOST_HASHED", 100)
    monkeypatch.setattr(kept_openings, "PART", 100)
    open_table(table)
    open_table(table)
    assert readings == ["tiktoken"]
    os.utime(table, ns=(1, 1))
    open_table(table)
    assert readings == ["tiktoken", "tiktoken"]


def test_no_table_is_cached_while_a_plug_in_adds_formats(
    table: Path, tmp_path: Path, readings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_table(table)
    monkeypatch.setattr(Registry, "from_plugins", {"mine": FORMATS.rows["csv"]})
    open_table(table)
    open_table(table)
    assert readings == ["tiktoken", "tiktoken", "tiktoken"]
    assert len(stored_files(tmp_path)) == 1


def test_opening_a_cached_table_imports_no_reader_and_no_libraries_for_compressed_files(
    table: Path, tmp_path: Path
) -> None:
    open_table(table)
    script = f"""
import sys
import numpy
before = {{*sys.modules}}
from pathlib import Path
from bpe_core.formats import all_formats, kept_openings
kept_openings.base = lambda: Path({str(tmp_path / "cache")!r})
all_formats.KEPT_FROM = 0
opened = all_formats.open_table({str(table)!r})
unwanted = ("tiktoken_ranks", "merges_pair", "recovering", "transformers_beside")
print(len(opened.history), *(name for name in unwanted if f"bpe_core.formats.{{name}}" in sys.modules))
print(*(name for name in ("lzma", "shutil", "string", "tempfile") if name in {{*sys.modules}} - before))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == [str(len(open_table(table).history))]


@pytest.mark.parametrize("place", [0, 10, 40, -1])
def test_a_damaged_cache_file_is_discarded_and_replaced(
    table: Path, tmp_path: Path, readings: list[str], place: int
) -> None:
    first = open_table(table)
    (stored,) = stored_files(tmp_path)
    content = bytearray(stored.read_bytes())
    content[place] ^= 1
    stored.write_bytes(content)
    assert_equal(open_table(table), first)
    assert readings == ["tiktoken", "tiktoken"]
    assert_equal(open_table(table), first)
    assert readings == ["tiktoken", "tiktoken"]


def test_a_truncated_cache_file_is_discarded(table: Path, tmp_path: Path) -> None:
    first = open_table(table)
    (stored,) = stored_files(tmp_path)
    for length in (0, 5, 31, 32, 33, 200):
        stored.write_bytes(stored.read_bytes()[:length])
        assert_equal(open_table(table), first)


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such permissions")
def test_other_users_cannot_read_the_cache_of_opened_tables(table: Path, tmp_path: Path) -> None:
    open_table(table)
    assert (tmp_path / "cache/opened").stat().st_mode & 0o077 == 0


def test_a_file_opens_even_if_no_cache_file_can_be_written(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file, no folder", "utf-8")
    monkeypatch.setattr(kept_openings, "base", lambda: blocked)
    assert_equal(open_table(table), open_table(table))
    assert blocked.is_file()


def test_the_table_of_a_small_file_is_not_cached(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_formats, "KEPT_FROM", 100_000)
    open_table(table)
    assert not (tmp_path / "cache/opened").exists()


def test_the_least_recently_used_cached_tables_are_removed_first(tmp_path: Path) -> None:
    kept = KeptResults(tmp_path / "results", most_files=3, most_bytes=1_000)
    for moment, name in enumerate("abc"):
        kept.store(name, b"result")
        os.utime(tmp_path / "results" / name, (moment, moment))
    assert kept.read("a") == b"result"  # which makes it the newest
    kept.store("d", b"result")
    assert [name for name in "abcd" if kept.read(name)] == ["a", "c", "d"]


def test_the_total_size_of_the_cached_tables_stays_below_the_limit(tmp_path: Path) -> None:
    kept = KeptResults(tmp_path / "results", most_files=100, most_bytes=1_000)
    for name in "abcdef":
        kept.store(name, bytes(400))
    assert sum(file.stat().st_size for file in (tmp_path / "results").iterdir()) <= 1_000
    kept.store("large", bytes(2_000))
    assert kept.read("large") is None
