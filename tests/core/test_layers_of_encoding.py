"""Tests that limit the number of files and functions through which a text passes. So a new layer is noticed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import bpe_core as bpe
from bpe_core.kernels.readiness import is_ready

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
    other = bpe.open(table)
    other.encode("low prices " * before)  # loads what the path needs
    other.encode(text)
    study, opened = path_of(lambda: bpe.open(table))
    ids, first = path_of(lambda: study.encode(text))
    study.encode(text)
    again, warm = path_of(lambda: study.encode(text))
    assert ids == again
    found[name] = {"open": opened, "first": first, "warm": warm}
print(json.dumps(found))
"""
MOST = {  # files and calls
    "open": (22, 305),
    "first": (11, 130),  # by the specification, which follows each word merge by merge
    "warm": (7, 40),
}
TEXT = "low prices, 2024"
LOADED_BY = 20_000  # repeated words, which are worth loading kernels
WORDS = "the lowest prices of low towers are lower than those of slow ones in winter, 2023 or 2024 at the café "
SPECIAL = ["<s>", "</s>", "<pad>", "<mask>"]


class Kind(NamedTuple):
    """A preset with choices for training a table, and a text that the table encodes."""

    preset: str
    choices: dict[str, Any]
    text: str


BY_STEPS = "words by steps of the file"
BESIDE = "a configuration beside"
GPT2: dict[str, Any] = {"merges": 60, "special_tokens": SPECIAL, "spelled_specials": "matched"}
OWN_PATTERN = {"merges": 60, "pattern": "custom", "custom_pattern": r"\p{L}+|\s+|[^\p{L}\s]+"}
KINDS = {
    "as it is": Kind("gpt2", GPT2, TEXT),
    "beyond ASCII": Kind("gpt2", GPT2, "the café"),
    "a special token": Kind("gpt2", GPT2, "low<mask>"),
    "small letters": Kind("gpt2", {"merges": 60, "lowercase": True}, "Low prices"),
    "a form of Unicode": Kind("gpt2", {"merges": 60, "unicode_form": "NFC"}, TEXT),
    "lines": Kind("superbpe", {"vocab_size": 300}, TEXT),
    "pieces": Kind("sentencepiece-like", {"vocab_size": 300}, TEXT),
    "a pattern of one's own": Kind("gpt2", OWN_PATTERN, TEXT),
    "best paths": Kind("unigram", {"vocab_size": 40}, TEXT),
    "the longest that fits": Kind("wordpiece", {"vocab_size": 60}, TEXT),
    BY_STEPS: Kind("gpt2", GPT2, TEXT),
    "as BERT": Kind("bert", {"vocab_size": 60}, TEXT),
    BESIDE: Kind("gpt2", GPT2, TEXT),
}
MOST_FILES = {"open": 24, "first": 14, "warm": 8}  # of a table of any kind
MOST_CALLS = 40  # of a warm text


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


def _folder_with_configuration(parent: Path) -> Path:
    folder = parent / "beside"
    folder.mkdir()
    configuration = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 1024}
    (folder / "tokenizer_config.json").write_text(json.dumps(configuration), encoding="utf-8")
    return folder


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
        if name == BESIDE:
            table = table.rename(_folder_with_configuration(folder) / "tokenizer.json")
        paths_by_name[name] = (str(table), kind.text)
    return json.dumps(paths_by_name)


@pytest.fixture(scope="module")
def plain_paths(tables: str) -> dict[str, dict[str, list[int]]]:
    paths_by_file: dict[str, dict[str, list[int]]] = _run(ENCODING, tables, "0")
    return paths_by_file


@pytest.fixture(scope="module")
def paths_by_kernels(tables: str) -> dict[str, dict[str, list[int]]]:
    if not is_ready():
        pytest.skip("there is no machine code")
    paths_by_file: dict[str, dict[str, list[int]]] = _run(ENCODING, tables, str(LOADED_BY), plainly=False)
    return paths_by_file


def assert_is_short(path: dict[str, list[int]]) -> None:
    assert {work: files for work, (files, _) in path.items() if not 0 < files <= MOST_FILES[work]} == {}
    assert 0 < path["warm"][1] <= MOST_CALLS


@pytest.mark.parametrize("work", MOST)
def test_encoding_a_text_executes_code_from_few_source_files_and_functions(
    paths: dict[str, list[int]], work: str
) -> None:
    most_files, most_calls = MOST[work]
    files, calls = paths[work]
    assert 0 < files <= most_files
    assert 0 < calls <= most_calls


@pytest.mark.parametrize("name", KINDS)
def test_encoding_in_plain_python_executes_few_source_files_for_every_kind_of_table(
    plain_paths: dict[str, dict[str, list[int]]], name: str
) -> None:
    assert_is_short(plain_paths[name])


@pytest.mark.parametrize("name", KINDS)
def test_encoding_with_kernels_runs_code_of_few_source_files_for_every_kind_of_table(
    paths_by_kernels: dict[str, dict[str, list[int]]], name: str
) -> None:
    assert_is_short(paths_by_kernels[name])
