"""Tests that count the files and calls of the project that a text passes through, so that a new layer is noticed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import bpe_core as bpe
from bpe_core.kernels.readiness import LEAST, ready

COUNTING = """
import json, sys
import bpe_core as bpe

ROOT = str(bpe.__path__[0])
INLINED = ("<module>", "<listcomp>", "<dictcomp>", "<setcomp>")  # newer releases of Python make no calls of these

def path_of(work):
    files, calls = set(), 0
    def note(frame, event, _):
        nonlocal calls
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOT) and code.co_name not in INLINED:
            files.add(code.co_filename)
            calls += 1
    sys.setprofile(note)
    try:
        found = work()
    finally:
        sys.setprofile(None)
    return found, [len(files), calls]
"""
OPENING = """
table, text = sys.argv[1:]
bpe.open(table).encode(text)  # loads what the path needs
study, opened = path_of(lambda: bpe.open(table))
ids, first = path_of(lambda: study.encode(text))
again, warm = path_of(lambda: study.encode(text))
assert ids == again and study.decode(ids) == text
print(json.dumps({"open": opened, "first": first, "warm": warm, "tokens": len(ids)}))
"""
ENCODING = """
tables, before = json.loads(sys.argv[1]), int(sys.argv[2])
found = {}
for name, (table, text) in tables.items():
    bpe.open(table).encode(text)  # loads what the path needs
    study, opened = path_of(lambda: bpe.open(table))
    if before:
        study.encode("low prices " * before)
    ids, first = path_of(lambda: study.encode(text))
    study.encode(text)
    again, warm = path_of(lambda: study.encode(text))
    assert ids == again
    found[name] = {"open": opened, "first": first, "warm": warm}
print(json.dumps(found))
"""
MOST = {  # files and calls
    "open": (23, 300),
    "first": (11, 130),  # by the specification, which follows each word merge by merge
    "warm": (7, 40),
}
TEXT = "low prices, 2024"
WORDS = "the lowest prices of low towers are lower than those of slow ones in winter, 2023 or 2024 at the café "
SPECIAL = ["<s>", "</s>", "<pad>", "<mask>"]


class Kind(NamedTuple):
    """A table, a text for the table, and the largest number of files that encoding may enter."""

    preset: str
    choices: dict[str, Any]
    text: str
    most_to_open: int
    most_at_first: int
    most_plainly: int  # by later texts
    most_by_kernels: int


BY_STEPS = "words by steps of the file"
GPT2: dict[str, Any] = {"merges": 60, "special_tokens": SPECIAL, "spelled_specials": "matched"}
OWN_PATTERN = {"merges": 60, "pattern": "custom", "custom_pattern": r"\p{L}+|\s+|[^\p{L}\s]+"}
KINDS = {
    "as it is": Kind("gpt2", GPT2, TEXT, 23, 11, 7, 7),
    "beyond ASCII": Kind("gpt2", GPT2, "the café", 23, 11, 7, 7),
    "a special token": Kind("gpt2", GPT2, "low<mask>", 23, 12, 8, 8),  # which are looked for by `text/specials.py`
    "small letters": Kind("gpt2", {"merges": 60, "lowercase": True}, "Low prices", 23, 13, 8, 7),  # by `characters.py`
    "a form of Unicode": Kind("gpt2", {"merges": 60, "unicode_form": "NFC"}, TEXT, 23, 13, 8, 7),
    "lines": Kind("superbpe", {"vocab_size": 300}, TEXT, 23, 11, 7, 8),
    "pieces": Kind("sentencepiece-like", {"vocab_size": 300}, TEXT, 23, 13, 8, 7),  # which are of a form of Unicode
    "a pattern of one's own": Kind("gpt2", OWN_PATTERN, TEXT, 24, 12, 7, 7),
    "best paths": Kind("unigram", {"vocab_size": 40}, TEXT, 26, 17, 8, 7),  # methods look at the scores to know theirs
    "the longest that fits": Kind("wordpiece", {"vocab_size": 60}, TEXT, 23, 15, 7, 7),
    BY_STEPS: Kind("gpt2", GPT2, TEXT, 21, 16, 11, 14),  # in `text/preparation`; for kernels words are laid end to end
    "as BERT": Kind("bert", {"vocab_size": 60}, TEXT, 23, 17, 8, 7),
}
MOST_CALLS_OF_OTHERS = 40
MOST_CALLS = {"lines": 90, "a special token": 50, BY_STEPS: 120}  # many for each run, part or word
MOST_CALLS_PLAINLY = {"a pattern of one's own": 52, BY_STEPS: 120}


def _run(program: str, *arguments: str, plainly: bool = True) -> Any:
    # What tests check at each call of a kernel belongs to no path.
    environment = {**os.environ, "BPE_EXPLORER_PLAIN": "1" if plainly else "", "BPE_EXPLORER_CHECK_KERNELS": ""}
    done = subprocess.run(
        [sys.executable, "-c", COUNTING + program, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(bpe.__path__[0]).parent,
        env=environment,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    table = tmp_path_factory.mktemp("table") / "tokenizer.json"
    bpe.train([WORDS * 9], "gpt2", **GPT2).save(table)
    paths_by_file: dict[str, list[int]] = _run(OPENING, str(table), TEXT)
    return paths_by_file


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("tables")
    paths_by_name = {}
    for name, kind in KINDS.items():
        table = folder / f"{name}.tokenizer.json"
        bpe.train([WORDS * 9], kind.preset, **kind.choices).save(table)
        if name == BY_STEPS:
            whole = json.loads(table.read_bytes())
            whole["pre_tokenizer"] = {"type": "ByteLevel", "add_prefix_space": True, "use_regex": True}
            table.write_text(json.dumps(whole), encoding="utf-8")
        paths_by_name[name] = (str(table), kind.text)
    return json.dumps(paths_by_name)


@pytest.fixture(scope="module")
def plain_paths(tables: str) -> dict[str, dict[str, list[int]]]:
    paths_by_file: dict[str, dict[str, list[int]]] = _run(ENCODING, tables, "0")
    return paths_by_file


@pytest.fixture(scope="module")
def paths_by_kernels(tables: str) -> dict[str, dict[str, list[int]]]:
    if not ready():
        pytest.skip("there is no machine code")
    paths_by_file: dict[str, dict[str, list[int]]] = _run(ENCODING, tables, str(LEAST), plainly=False)
    return paths_by_file


@pytest.mark.parametrize("work", MOST)
def test_encoding_a_text_calls_through_few_files_and_functions(paths: dict[str, list[int]], work: str) -> None:
    most_files, most_calls = MOST[work]
    files, calls = paths[work]
    assert 0 < files <= most_files
    assert 0 < calls <= most_calls


@pytest.mark.parametrize("name", KINDS)
def test_plain_python_encodes_with_every_kind_of_table_through_few_files(
    plain_paths: dict[str, dict[str, list[int]]], name: str
) -> None:
    path, kind = plain_paths[name], KINDS[name]
    assert 0 < path["open"][0] <= kind.most_to_open
    assert 0 < path["first"][0] <= kind.most_at_first
    files, calls = path["warm"]
    assert 0 < files <= KINDS[name].most_plainly
    assert 0 < calls <= MOST_CALLS_PLAINLY.get(name, MOST_CALLS_OF_OTHERS)


@pytest.mark.parametrize("name", KINDS)
def test_kernels_encode_with_every_kind_of_table_through_few_files(
    paths_by_kernels: dict[str, dict[str, list[int]]], name: str
) -> None:
    files, calls = paths_by_kernels[name]["warm"]
    assert 0 < files <= KINDS[name].most_by_kernels
    assert 0 < calls <= MOST_CALLS.get(name, MOST_CALLS_OF_OTHERS)
