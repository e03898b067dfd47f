"""The number of our files and calls that a text goes through, so that no new layer goes unseen."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import bpe_core as bpe

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

table, text = sys.argv[1:]
bpe.open(table)
study, opened = path_of(lambda: bpe.open(table))
ids, first = path_of(lambda: study.encode(text))
again, warm = path_of(lambda: study.encode(text))
assert ids == again and study.decode(ids) == text
print(json.dumps({"open": opened, "first": first, "warm": warm, "tokens": len(ids)}))
"""
MOST = {  # files and calls
    "open": (24, 300),
    "first": (14, 110),
    "warm": (8, 40),
}
TEXT = "low prices, 2024"


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    table = tmp_path_factory.mktemp("table") / "tokenizer.json"
    words = "the lowest prices of low towers are lower than those of slow ones in winter, 2023 or 2024 "
    special = ["<s>", "</s>", "<pad>", "<mask>"]
    bpe.train([words * 9], "gpt2", merges=60, special_tokens=special, spelled_specials="matched").save(table)
    command = [sys.executable, "-c", COUNTING, str(table), TEXT]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(bpe.__path__[0]).parent)
    found: dict[str, list[int]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("work", MOST)
def test_a_text_goes_through_few_files_and_calls(paths: dict[str, list[int]], work: str) -> None:
    most_files, most_calls = MOST[work]
    files, calls = paths[work]
    assert 0 < files <= most_files
    assert 0 < calls <= most_calls
