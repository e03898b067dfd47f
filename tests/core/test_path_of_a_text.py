"""The number of our files and calls that a text goes through, so that no new layer goes unseen."""

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
bpe.open(table)
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
    study = bpe.open(table)
    study.encode("low prices " * before)
    for _ in range(3):
        ids = study.encode(text)
    again, found[name] = path_of(lambda: study.encode(text))
    assert ids == again
print(json.dumps(found))
"""
MOST = {  # files and calls
    "open": (24, 300),
    "first": (14, 110),
    "warm": (8, 40),
}
TEXT = "low prices, 2024"
WORDS = "the lowest prices of low towers are lower than those of slow ones in winter, 2023 or 2024 at the café "
SPECIAL = ["<s>", "</s>", "<pad>", "<mask>"]


class Kind(NamedTuple):
    """A table, a text for it, and how many files a warm encoding of that may enter, without and with machine code."""

    preset: str
    choices: dict[str, Any]
    text: str
    most_plainly: int
    most_by_kernels: int


BY_STEPS = "words by steps of the file"
GPT2: dict[str, Any] = {"merges": 60, "special_tokens": SPECIAL, "spelled_specials": "matched"}
KINDS = {
    "as it is": Kind("gpt2", GPT2, TEXT, 8, 8),
    "beyond ASCII": Kind("gpt2", GPT2, "the café", 8, 8),
    "a special token": Kind("gpt2", GPT2, "low<mask>", 9, 9),  # which are looked for by `text/specials.py`
    "small letters": Kind("gpt2", {"merges": 60, "lowercase": True}, "Low prices", 9, 9),  # `text/characters.py`
    "a form of Unicode": Kind("gpt2", {"merges": 60, "unicode_form": "NFC"}, TEXT, 9, 8),  # `text/characters.py`
    "lines": Kind("superbpe", {"vocab_size": 300}, TEXT, 8, 9),
    "pieces": Kind("sentencepiece-like", {"vocab_size": 300}, TEXT, 9, 8),  # which are of a form of Unicode
    "best paths": Kind("unigram", {"vocab_size": 40}, TEXT, 9, 8),
    "the longest that fits": Kind("wordpiece", {"vocab_size": 60}, TEXT, 8, 8),
    BY_STEPS: Kind("gpt2", GPT2, TEXT, 12, 15),  # in `text/preparation`; for kernels the words are laid end to end
    "as BERT": Kind("bert", {"vocab_size": 60}, TEXT, 9, 8),  # cleans texts
}
MOST_CALLS_OF_OTHERS = 40
MOST_CALLS = {"lines": 90, "a special token": 50, BY_STEPS: 120}  # many for each run, part or word


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
    found: dict[str, list[int]] = _run(OPENING, str(table), TEXT)
    return found


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("tables")
    found = {}
    for name, kind in KINDS.items():
        table = folder / f"{name}.tokenizer.json"
        bpe.train([WORDS * 9], kind.preset, **kind.choices).save(table)
        if name == BY_STEPS:
            whole = json.loads(table.read_bytes())
            whole["pre_tokenizer"] = {"type": "ByteLevel", "add_prefix_space": True, "use_regex": True}
            table.write_text(json.dumps(whole), encoding="utf-8")
        found[name] = (str(table), kind.text)
    return json.dumps(found)


@pytest.fixture(scope="module")
def plain_paths(tables: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = _run(ENCODING, tables, "0")
    return found


@pytest.fixture(scope="module")
def paths_by_kernels(tables: str) -> dict[str, list[int]]:
    if not ready():
        pytest.skip("there is no machine code")
    found: dict[str, list[int]] = _run(ENCODING, tables, str(LEAST), plainly=False)
    return found


@pytest.mark.parametrize("work", MOST)
def test_a_text_goes_through_few_files_and_calls(paths: dict[str, list[int]], work: str) -> None:
    most_files, most_calls = MOST[work]
    files, calls = paths[work]
    assert 0 < files <= most_files
    assert 0 < calls <= most_calls


@pytest.mark.parametrize("name", KINDS)
def test_a_text_goes_through_few_files_whatever_the_table_is(plain_paths: dict[str, list[int]], name: str) -> None:
    files, calls = plain_paths[name]
    assert 0 < files <= KINDS[name].most_plainly
    assert 0 < calls <= (MOST_CALLS[BY_STEPS] if name == BY_STEPS else MOST_CALLS_OF_OTHERS)


@pytest.mark.parametrize("name", KINDS)
def test_a_text_goes_through_few_files_by_kernels(paths_by_kernels: dict[str, list[int]], name: str) -> None:
    files, calls = paths_by_kernels[name]
    assert 0 < files <= KINDS[name].most_by_kernels
    assert 0 < calls <= MOST_CALLS.get(name, MOST_CALLS_OF_OTHERS)
