"""Tests of tables in which each token is twice as long as the token before it.

Even a table of a few lines has tokens whose text is larger than any memory. No command may crash with such a
table.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.writing import write_session
from tests.core.session_file.sessions import RECIPES, run_of, session
from tests.limited import run_with_limits

MEMORY = 4 * 2**30  # of addresses; two thirds of that the libraries reserve without touching it
SECONDS = 60  # of computing
LONG = bool(os.environ.get("BPE_LONG"))
MERGES = (17, 21, 26, 30, 64) if LONG else (15, 64)
EXPORTS = (".csv", ".md", ".parquet", ".tiktoken", ".minbpe.model", ".spm.model", "tokenizer.json", "merges.txt")


def model(folder: Path, merges: int) -> Path:
    path = folder / f"{merges}.minbpe.model"
    pairs = "".join(f"{id} {id}\n" for id in (97, *range(256, 255 + merges)))
    path.write_text(f"minbpe v1\n\n0\n{pairs}")
    return path


def save_run(folder: Path, merges: int) -> Path:
    """Write a session, and return its path.

    Its run has `merges` merges, and each merge doubles the longest token.
    """
    recipe = Recipe.preset("raw-bytes", merges=merges)
    pairs = [(id, id) for id in (97, *range(256, 255 + merges))]
    history = History.from_pairs(recipe, Alphabet.of_bytes(), pairs)
    run = replace(run_of(RECIPES[0]), recipe=recipe, history=history, words=None, symbol_counts=np.zeros(256, np.int64))
    path = folder / f"{merges}.bpex"
    write_session(replace(session(run), text="a" * 5000, bookmarks=()), path)
    return path


def commands(table: Path, folder: Path, merges: int) -> list[list[str]]:
    """Return all commands to test, with their arguments for a table of `merges` merges."""
    text = folder / "text.txt"
    text.write_text("aaaa aaaaaaaa aaaaaaaaaaaaaaaa low " * 50)
    last, middle = 255 + merges, 255 + merges // 2
    on_text = ["--corpus", str(text), "--merges", str(table)]
    return [
        ["decode", str(last), "--merges", str(table)],
        ["decode", *[str(middle)] * 50, "--merges", str(table)],
        ["encode", "a" * 1000, "--merges", str(table)],
        ["why", "aaaa aaaaaaa", "--merges", str(table)],
        ["token", f"#{last}", *on_text],
        ["token", f"#{middle}", *on_text],
        ["race", "--step", str(merges), *on_text],
        ["sizes", *on_text],
        ["ties", *on_text],
        ["diff", str(table), str(table)],
        ["report", str(table), "--output", str(folder / "report.html")],
        *(["export", str(folder / f"out{ending}"), "--merges", str(table)] for ending in EXPORTS),
    ]


@pytest.mark.parametrize("merges", MERGES)
def test_every_command_handles_a_tokenizer_whose_tokens_double_in_length_or_reports_an_error(
    tmp_path: Path, merges: int
) -> None:
    asked = commands(model(tmp_path, merges), tmp_path, merges)
    done = run_with_limits("tests.e2e.command_sequence", json.dumps(asked), memory=MEMORY, seconds=SECONDS)
    assert done.returncode == 0, done.stderr[-2000:]
    for command, (code, said, _) in zip(asked, json.loads(done.stdout), strict=True):
        assert code in (0, 1), (command[:2], code, said[-2000:])
        assert len(said) < 1000, (command[:2], said[-2000:])


@pytest.mark.parametrize("merges", MERGES)
def test_a_report_about_tokens_that_double_in_length_is_written_or_refused_without_a_traceback(
    tmp_path: Path, merges: int
) -> None:
    done = run_with_limits(
        "bpe_core", "report", str(save_run(tmp_path, merges)), "--output", str(tmp_path / "report.html")
    )
    assert done.returncode in (0, 1), done.stderr[-2000:]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("make", "merges"),
    [(make, merges) for make in (model, save_run) for merges in MERGES if LONG or merges == 64],
)
def test_the_window_opens_a_table_whose_tokens_double_in_length_and_closes_within_seconds(
    tmp_path: Path, make: Callable[[Path, int], Path], merges: int
) -> None:
    settings = {"BPE_EXPLORER_SETTINGS": str(tmp_path / "settings.ini"), "QT_QPA_PLATFORM": "offscreen"}
    path = make(tmp_path, merges)
    done = run_with_limits("tests.e2e.open_and_close", "50", str(path), memory=MEMORY, seconds=SECONDS, **settings)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    shown, closed = done.stdout.splitlines()
    assert f"{merges} merges" in shown or "bytes" in shown, shown
    assert float(closed.removeprefix("closed in ").removesuffix(" seconds")) < 8, closed
