"""Tests that limit the number of files and calls between a source and its counted words.

A call between two functions is counted once, for any number of texts. A call goes back if the file of the called
function was entered before the file of the caller. The tests also limit the number of calls that go back.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bpe_core as bpe

WAY = """
import json, sys
from pathlib import Path
import bpe_core as bpe

PLACE = Path(bpe.__path__[0]).parent
ROOTS = str(PLACE / "bpe_core"), str(PLACE / "app")

def is_ours(code):
    return code.co_filename.startswith(ROOTS) and not code.co_name.startswith("<")  # no loop over a list

def way_of(work):
    entered, moves, begun = {}, {}, {}
    def note(frame, event, _):
        code = frame.f_code
        if event != "call" or not is_ours(code) or id(frame) in begun:  # a generator goes on
            return
        begun[id(frame)] = frame
        entered.setdefault(code.co_filename, len(entered))
        caller = frame.f_back
        while caller is not None and not is_ours(caller.f_code):
            caller = caller.f_back
        if caller is not None and caller.f_code.co_filename != code.co_filename:
            goes_back = entered[code.co_filename] < entered[caller.f_code.co_filename]
            moves.setdefault((caller.f_code, code), goes_back)
    sys.setprofile(note)
    try:
        found = work()
    finally:
        sys.setprofile(None)
    return found, {"files": len(entered), "moves": len(moves), "back": sum(moves.values())}
"""
COUNTING = """
from bpe_core.counting.count_words import count_words
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus

found, recipe = {}, Recipe.preset("gpt2")
for name, place in json.loads(sys.argv[1]).items():
    given = place if isinstance(place, list) else None
    corpus_of = (lambda: Corpus.from_texts(given)) if given else (lambda: Corpus.from_files(place))
    words = count_words(corpus_of(), recipe)
    again, found[name] = way_of(lambda: count_words(corpus_of(), recipe))
    assert list(words) == list(again)
print(json.dumps(found))
"""
# Beside each number, the former number, when modules asked each other for values that are now in a description.
MOST = {
    "text": {"files": 15, "moves": 34, "back": 7},  # 17, 45, 14
    "jsonl": {"files": 18, "moves": 44, "back": 7},  # 20, 58, 15
    "gzip": {"files": 15, "moves": 34, "back": 7},  # 17, 45, 14
    "parquet": {"files": 21, "moves": 59, "back": 5},  # 23, 68, 10
    "texts": {"files": 12, "moves": 22, "back": 3},  # 13, 29, 8
}
LINES = ["the lowest prices", "of low towers", "are lower than those", "of slow ones"] * 9


def path_of_sources(program: str, sources: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Run a program that counts the words of each source.

    For each source, return how many files the work passes through, and how many calls lead from file to file.
    """
    command = [sys.executable, "-c", WAY + program, json.dumps(sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(bpe.__path__[0]).parent)
    calls: dict[str, dict[str, int]] = json.loads(done.stdout)
    return calls


def written_sources(folder: Path) -> dict[str, str]:
    """Write the lines of the test as files of several kinds, and return the path of each file."""
    text = "\n".join(LINES)
    (folder / "a.txt").write_text(text, encoding="utf-8")
    (folder / "a.jsonl").write_text("".join(json.dumps({"text": line}) + "\n" for line in LINES), encoding="utf-8")
    (folder / "a.txt.gz").write_bytes(gzip.compress(text.encode()))
    files = {"text": "a.txt", "jsonl": "a.jsonl", "gzip": "a.txt.gz"}
    return {name: str(folder / file) for name, file in files.items()}


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, int]]:
    folder = tmp_path_factory.mktemp("sources")
    places = written_sources(folder)
    try:
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.table({"text": LINES}), folder / "a.parquet")
        places["parquet"] = str(folder / "a.parquet")
    except ImportError:
        pass
    return path_of_sources(COUNTING, {**places, "texts": LINES})


@pytest.mark.parametrize("name", MOST)
def test_counting_words_from_each_kind_of_text_source_executes_few_source_files(
    ways: dict[str, dict[str, int]], name: str
) -> None:
    if name not in ways:
        pytest.skip("pyarrow is not installed")
    for what, most in MOST[name].items():
        assert 0 < ways[name][what] <= most, what


def test_a_new_corpus_already_stores_its_total_size_and_its_word_lists(tmp_path: Path) -> None:
    words = tmp_path / "words.tsv"
    words.write_text("word\tcount\nlow\t3\n", encoding="utf-8")
    text = tmp_path / "a.txt"
    text.write_text("low lower", encoding="utf-8")
    corpus = bpe.Corpus.from_files([words, text])
    assert {"total_size", "has_texts", "word_lists"} <= vars(corpus).keys()
    assert corpus.total_size == words.stat().st_size + text.stat().st_size
    assert corpus.has_texts
    assert not bpe.Corpus.from_files(words).has_texts
    assert [reader.source.name for reader in corpus.word_lists] == [str(words)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_file_rewritten_in_another_encoding_is_inspected_again_and_reported(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text("low", encoding="utf-8")
    corpus = bpe.Corpus.from_files(path)
    path.write_text("lowest é", encoding=encoding)
    assert "".join(corpus.documents()) == "lowest é"
    assert any("was changed" in str(skipped) for skipped in corpus.skipped)
