"""Tests of tokenizers in the Hugging Face cache, which are opened by name and downloaded only if absent."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.errors import FormatError
from bpe_core.formats import hugging_face_cache as cache
from bpe_core.formats import open_table
from bpe_core.support.fingerprints import fingerprint_of
from tests.hub import FakeHub

STUDY = bpe.train(["low lower lowest"], "gpt2", merges=3, min_frequency=1)


def put(folder: Path, name: str, commit: str = "abc", branch: str = "main") -> Path:
    repository = folder / f"models--{name.replace('/', '--')}"
    (repository / "refs").mkdir(parents=True, exist_ok=True)
    (repository / "refs" / branch).write_text(commit)
    place = repository / "snapshots" / commit
    place.mkdir(parents=True)
    STUDY.save(place / "tokenizer.json")
    return place / "tokenizer.json"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)  # so nothing is downloaded
    return tmp_path


def test_the_hugging_face_cache_folder_is_found_by_the_environment_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/anna")
    monkeypatch.setenv("USERPROFILE", "/home/anna")
    for variable in ("XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE"):
        monkeypatch.delenv(variable, raising=False)
    assert cache.folder() == Path("/home/anna/.cache/huggingface/hub")
    monkeypatch.setenv("XDG_CACHE_HOME", "/c")
    assert cache.folder() == Path("/c/huggingface/hub")
    monkeypatch.setenv("HF_HOME", "~/hf")
    assert cache.folder() == Path("/home/anna/hf/hub")
    monkeypatch.setenv("HF_HUB_CACHE", "$HF_HOME/mine")
    assert cache.folder() == Path("/home/anna/hf/mine")


def test_tokenizers_in_the_hugging_face_cache_are_listed_and_can_be_opened_by_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(folder, "somebody/small")
    put(folder, "old")
    (folder / "models--somebody--empty" / "snapshots" / "abc").mkdir(parents=True)
    (folder / "datasets--somebody--texts").mkdir()
    assert [tokenizer.typed for tokenizer in cache.cached_tokenizers()] == ["hf:old", "hf:somebody/small"]
    assert run(["import", "--list"]) == 0
    assert "hf:somebody/small  tokenizer.json" in capsys.readouterr().out
    for name in ("hf:somebody/small", "hf:small", "hf:old"):
        assert bpe.open(name).encode("lowest") == STUDY.encode("lowest")
    assert run(["verify", "hf:somebody/small"]) == 0
    assert run(["import", "hf:old"]) == 0
    assert "3 merges" in capsys.readouterr().out


def test_a_cached_tokenizer_is_opened_at_a_branch_or_a_commit_or_at_its_newest_revision(folder: Path) -> None:
    main, other = put(folder, "a/b"), put(folder, "a/b", "def", "second")
    assert cache.located("hf:a/b") == main
    assert cache.located("hf:a/b@second") == cache.located("hf:a/b@def") == other
    (folder / "models--a--b" / "refs" / "main").unlink()
    assert cache.located("hf:a/b") in (main, other)


@pytest.mark.parametrize("name", ["hf:", "hf:..", "hf:../x", "hf:a/b/c", "hf:a b", "hf:a/..", "hf:a@../../x"])
def test_invalid_names_of_cached_tokenizers_are_refused(name: str) -> None:
    with pytest.raises(FormatError, match="not the name of a tokenizer"):
        cache.located(name)


@pytest.mark.parametrize(
    "address", ["https://host/tokenizer.json", "s3://bucket/merges.txt", "http://me:secret@host/x"]
)
def test_a_message_about_a_refused_address_of_a_tokenizer_hides_the_password(address: str) -> None:
    with pytest.raises(FormatError, match=r"://\S+ is an address, and a tokenizer is opened only from") as refused:
        bpe.open(address)
    assert "secret" not in str(refused.value)


def test_a_short_name_that_fits_several_cached_tokenizers_is_refused(folder: Path) -> None:
    put(folder, "a/small")
    put(folder, "b/small")
    with pytest.raises(FormatError, match="hf:a/small, hf:b/small"):
        cache.located("hf:small")


def test_a_tokenizer_missing_from_the_cache_is_downloaded_or_refused_with_an_error_message(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FormatError, match=r"pip install 'bpe-explorer\[hub\]'"):
        bpe.open("hf:somebody/new")
    content = put(folder, "somebody/source").read_bytes()
    hub = FakeHub({"somebody/new": {"tokenizer.json": content}})
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    assert len(bpe.open("hf:somebody/new")) == len(STUDY)
    bpe.open("hf:somebody/new")
    assert hub.downloaded == [("somebody/new", "tokenizer.json")]  # the second time, the tokenizer is in the cache
    assert cache.cached_tokenizers()
    assert hub.asked == ["somebody/new"]
    with pytest.raises(FormatError, match="could not be fetched: 404"):
        bpe.open("hf:somebody/other")


def test_an_existing_file_takes_precedence_over_a_cached_tokenizer_of_the_same_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sys.platform == "win32":
        pytest.skip("no file has a colon in its name there")
    monkeypatch.chdir(folder)
    Path("hf:mine").write_text("x")
    assert cache.located("hf:mine") == Path("hf:mine")


def test_a_manifest_stores_the_fingerprint_of_a_cached_tokenizer_and_can_be_repeated_offline(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = put(folder, "somebody/small")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert run(["steps", "hf:small", "-o", "steps.csv", "--manifest", "how.json"]) == 0
    (kept,) = json.loads(Path("how.json").read_text(encoding="utf-8"))["inputs"]
    assert kept == {"path": "hf:small", "bytes": file.stat().st_size, "sha256": fingerprint_of(file)[1]}
    assert run(["repeat", "how.json"]) == 0
    assert "identical" in capsys.readouterr().out
    bpe.train(["high higher"], "gpt2", merges=3, min_frequency=1).save(file)
    assert run(["repeat", "how.json"]) == 1
    assert "hf:small has changed since" in capsys.readouterr().err
    file.unlink()
    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(snapshot_download=None))
    assert run(["repeat", "how.json"]) == 1
    assert "not in the Hugging Face cache" in capsys.readouterr().err


def test_opening_a_folder_opens_the_tokenizer_file_in_the_folder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = put(folder, "somebody/small")
    assert open_table(file.parent).history.pairs() == open_table(file).history.pairs()
    assert run(["import", str(file.parent)]) == 0
    assert "Agrees with tokenizers" in capsys.readouterr().out
    with pytest.raises(FormatError, match=r"is a folder without any of tokenizer\.json, .* Name the file"):
        open_table(folder)
