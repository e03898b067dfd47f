"""Tests of the shelf, which lists tokenizers of well-known models. A tokenizer is downloaded only on request."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.errors import Cancelled, FormatError
from bpe_core.formats import hugging_face_cache as cache
from bpe_core.formats import shelf as shelf_module
from bpe_core.formats.hugging_face_cache import Offer, fetch, offer_of
from bpe_core.formats.shelf import KNOWN, entry_named, shelf
from bpe_core.support.progress import Progress, Work
from tests.hub import FakeHub, put, serve_hub
from tests.shared import ROOT

STUDY = bpe.train(["low lower lowest"], "gpt2", merges=5, min_frequency=1)
GPT2 = "openai-community/gpt2"
PYTHON = sys.executable  # before a test replaces it


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "program" / "bpe-explorer"))
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)  # so nothing is downloaded
    return tmp_path / "hub"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the content of a small tokenizer.json."""
    path = tmp_path_factory.mktemp("saved") / "tokenizer.json"
    STUDY.save(path)
    return path.read_bytes()


def test_the_shelf_lists_known_tokenizers_even_if_no_tokenizer_is_on_the_computer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert [(entry.title, entry.file) for entry in shelf()] == [(known.title, None) for known in KNOWN]
    assert run(["shelf"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == 'GPT-2    about 1.4 MB, MIT, not on this computer; fetch it with: shelf --fetch "GPT-2"'
    assert "size not known" in lines[1], "GPT-4o"
    assert run(["shelf", "Tom"]) == 0
    assert "There is no tokenizer on this computer yet" in capsys.readouterr().out


def test_the_shelf_lists_tokenizers_in_the_hub_cache_and_next_to_the_program_and_in_a_chosen_folder(
    tmp_path: Path, saved: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = put(GPT2, {"tokenizer.json": saved}) / "tokenizer.json"
    put("somebody/small", {"tokenizer.json": saved})
    beside = tmp_path / "program" / "tokenizers" / "google-t5--t5-small"
    own = tmp_path / "own"
    for place in (beside, own / "gpt-4o", own / "empty"):
        place.mkdir(parents=True)
    for path in (beside / "tokenizer.json", own / "gpt-4o" / "tokenizer.json", own / "mine.json"):
        path.write_bytes(saved)
    (own / "tokenizer_config.json").write_text("{}")
    (own / "notes.pdf").write_text("no tokenizer")
    assert {entry.title: entry.place for entry in shelf(own)} == {
        "GPT-2": "in the Hugging Face cache",
        "GPT-4o": "in your folder",
        "Llama 3": "",
        "BERT": "",
        "T5": "beside the program",
        "mine": "in your folder",
        "somebody/small": "in the Hugging Face cache",
    }
    assert entry_named(shelf(), "gpt2").file == cached
    assert entry_named(shelf(), "GPT-2").bytes == len(saved)
    monkeypatch.setenv(shelf_module.OWN_FOLDER, str(own))
    assert entry_named(shelf(), "mine").file == own / "mine.json"


def test_a_tokenizer_is_found_by_its_title_or_its_hub_name() -> None:
    for name in ("Llama 3", "llama3", "hf:NousResearch/Meta-Llama-3-8B", "Meta-Llama-3-8B"):
        assert entry_named(shelf(), name).title == "Llama 3"
    with pytest.raises(FormatError, match=r"no tokenizer GPT-3; did you mean GPT-2\?"):
        entry_named(shelf(), "GPT-3")


def test_the_shelf_command_shows_the_tokens_that_each_library_makes(
    saved: bytes, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    file = put(GPT2, {"tokenizer.json": saved}) / "tokenizer.json"
    (tmp_path / "bad.json").write_text("{")
    assert run(["shelf", "lowest", "--json", "--folder", str(tmp_path)]) == 0
    by_title = {row["title"]: row for row in json.loads(capsys.readouterr().out)}
    expected = tokenizers.Tokenizer.from_file(str(file)).encode("lowest")
    assert by_title["GPT-2"]["ids"] == expected.ids
    assert by_title["GPT-2"]["tokens"] == expected.tokens
    assert by_title["bad"]["tokens"] is None
    assert "bad.json" in by_title["bad"]["error"]
    assert "Llama 3" not in by_title, "which is not here"
    assert run(["shelf", "lowest"]) == 0
    count = f"{len(expected.ids)} token{'s' * (len(expected.ids) > 1)}"
    assert capsys.readouterr().out.strip() == f"GPT-2  {count}: {' | '.join(expected.tokens)}"


def test_the_shelf_command_counts_unknown_tokens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "small").mkdir()
    study = bpe.train(["low lower lowest"], "bert", merges=3, min_frequency=1)
    study.save(tmp_path / "small" / "vocab.txt")
    assert run(["shelf", "low Ж", "--folder", str(tmp_path)]) == 0
    assert "1 unknown" in capsys.readouterr().out


def test_the_shelf_lists_a_downloaded_tokenizer_with_its_size_and_licence(
    saved: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"README.md": b"x" * 10_000, "merges.txt": b"x" * 10_000, "tokenizer.json": saved, "config.json": b"{}"}
    hub = FakeHub({GPT2: files})
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    assert run(["shelf"]) == 0
    assert run(["shelf", "lowest"]) == 0
    assert (hub.asked, hub.downloaded) == ([], []), "nothing is asked before a person wants it"
    assert run(["shelf", "lowest", "--fetch", "gpt-2"]) == 0
    printed = capsys.readouterr()
    size = (len(saved) + 2) / 1e6
    assert f"Fetching GPT-2 (hf:{GPT2}): {size:.1f} MB, licence mit." in printed.err
    assert "GPT-2  " in printed.out
    assert hub.downloaded == [(GPT2, "tokenizer.json"), (GPT2, "config.json")], "only what opening needs"
    assert run(["shelf", "--fetch", "GPT-2"]) == 0
    assert "is already on this computer" in capsys.readouterr().err
    assert hub.asked == [GPT2]


def test_downloading_a_tokenizer_reports_the_number_of_loaded_bytes_and_can_be_cancelled(
    saved: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = FakeHub({GPT2: {"tokenizer.json": saved, "config.json": b"{}"}})
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    reports = list[Progress]()
    offer = offer_of(GPT2)
    assert offer.size == len(saved) + 2
    with pytest.raises(Cancelled):
        fetch(offer, Work(reports.append, cancelled=lambda: bool(reports)))
    assert [(report.done, report.total) for report in reports] == [(len(saved) // 2, offer.size)]
    assert (hub.downloaded, shelf()[0].file) == ([], None)
    fetch(offer, Work(reports.append))
    assert (reports[-1].done, reports[-1].unit) == (offer.size, "bytes")


def test_vocab_json_is_downloaded_only_together_with_merges_txt(monkeypatch: pytest.MonkeyPatch) -> None:
    both = {"merges.txt": b"m", "vocab.json": b"v", "original/tokenizer.model": b"o"}
    hub = FakeHub({"a/merges": both, "a/whole": both | {"tokenizer.json": b"t"}, "a/none": {"model.bin": b"w"}})
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    assert offer_of("a/merges").files == ("merges.txt", "vocab.json")
    assert offer_of("a/whole").files == ("tokenizer.json",)
    with pytest.raises(FormatError, match="no tokenizer that this program reads"):
        offer_of("a/none")


def test_a_download_with_an_unexpected_size_or_licence_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def offer(size: int, licence: str) -> Offer:
        return Offer("a/b", "", ("tokenizer.json",), (size,), licence)

    llama = entry_named(shelf(), "Llama 3")
    assert llama.agrees_with_offer(offer(9_085_657, "llama3"))
    assert not llama.agrees_with_offer(offer(90_000_000, "llama3"))
    assert not llama.agrees_with_offer(offer(9_085_657, "apache-2.0"))
    assert not llama.agrees_with_offer(offer(9_085_657, ""))
    assert not entry_named(shelf(), "GPT-4o").agrees_with_offer(offer(1, "mit")), "the shelf gives no size"
    hub = FakeHub({"a/b": {"tokenizer.json": b"t"}}, "other", license_name="llama3")
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    assert offer_of("a/b").licence == "llama3"


def test_downloading_without_huggingface_hub_says_how_to_install_the_package(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["shelf", "--fetch", "T5"]) == 1
    assert "pip install 'bpe-explorer[hub]'" in capsys.readouterr().err


def test_the_huggingface_hub_package_downloads_a_tokenizer_from_a_server(saved: bytes, cache_folder: Path) -> None:
    files = {"tokenizer.json": saved, "config.json": b"{}", "model.safetensors": b"w" * 1_000_000}
    command = [PYTHON, "-m", "bpe_core", "shelf", "lowest", "--fetch", "GPT-2"]
    with serve_hub(GPT2, files, "mit") as (address, requested):
        environment = os.environ | {"HF_ENDPOINT": address, "HF_HUB_CACHE": str(cache_folder)}
        result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "licence mit" in result.stderr
    assert "GPT-2  " in result.stdout
    assert any(path.endswith("/tokenizer.json") for path in requested)
    assert not any("safetensors" in path for path in requested)
    assert cache.located(f"hf:{GPT2}").read_bytes() == saved
