"""Tests of session files from strangers. They can neither block the window nor make it read other files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.session import corpus_texts
from app.session.merge_filter import MergeFilter
from app.wiring import Program
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.values import Fingerprint, SavedRun, SavedSession, SavedSource, View
from bpe_core.session_file.writing import write_session
from tests.gui.conftest import WAIT
from tests.gui.sessions.saving import open_session


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no such pipes")
def test_a_session_whose_corpus_file_is_a_pipe_does_not_block_the_window(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    source = SavedSource("pipe.txt", path=str(tmp_path / "pipe.txt"))
    write_session(SavedSession(Recipe.preset("gpt2"), (source,)), tmp_path / "one.bpex")
    open_session(qtbot, program, tmp_path / "one.bpex")

    def shown_sentence() -> str:
        roles = range(Qt.ItemDataRole.UserRole + 8)
        return "\n".join(str(program.corpus.data(program.corpus.index(0), role)) for role in roles)

    qtbot.waitUntil(lambda: "is a pipe or a device" in shown_sentence(), timeout=WAIT)


def test_opening_a_session_does_not_read_a_corpus_file_on_another_computer(
    qtbot: QtBot, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking for the file would contact the other computer.

    In this test the file is local, so that a read is noticed.
    """
    path = tmp_path / r"\\other\share\a.txt"
    path.write_text("low lower lowest", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(corpus_texts, "PATHS_REACH_FAR", True)
    known = Fingerprint(path.stat().st_size - 1, 0)
    run = SavedRun(1, Recipe.preset("gpt2"), (SavedSource("a.txt", path=path.name, fingerprint=known),))
    source = SavedSource("a.txt", path=path.name)
    write_session(SavedSession(Recipe.preset("gpt2"), (source,), runs=(run,)), tmp_path / "one.bpex")
    open_session(qtbot, program, tmp_path / "one.bpex")
    (opened,) = program.session.corpus.texts.value
    assert opened.path == Path(path.name)
    assert opened.size is None

    def shown_sentence() -> str:
        roles = range(Qt.ItemDataRole.UserRole + 8)
        return "\n".join(str(program.corpus.data(program.corpus.index(0), role)) for role in roles)

    qtbot.waitUntil(lambda: "is on another computer" in shown_sentence(), timeout=WAIT)
    assert "changed" not in program.messages.sentence.text()
    program.session.corpus.add_paths([Path(path.name)])
    qtbot.waitUntil(lambda: "another computer" not in shown_sentence(), timeout=WAIT)
    (added,) = program.session.corpus.texts.value
    assert not added.refused


@pytest.mark.parametrize(
    "layout",
    [
        {"docks": [], "centre": {}, "chart": "two", "sort": "up"},
        {"docks": {"Corpus": 3, "\0": None}, "centre": [10**30, -5], "chart": 10**30, "sort": [10**30, 1]},
        {"docks": {}, "sizes": {"Merges": [10**30, 1], "Recipe": [-1, 5], "Corpus": "x", "Nothing": [1, 1]}},
        {
            "docks": {"Corpus": {}},
            "sizes": {"Merges": [9_999, 9_999], "Inspector": [1, 1]},
            "centre": [1.5, True],
            "chart": -1,
            "sort": [[], {}],
        },
        {"docks": None, "centre": [None, None], "chart": 1.5, "sort": [1.0, None], "more": [[[[]]]]},
    ],
)
def test_a_session_with_an_invalid_layout_opens_with_the_default_layout(
    qtbot: QtBot, program: Program, tmp_path: Path, layout: dict[str, object]
) -> None:
    hostile = {"needle": 5, "kind": "regex", "ties_only": "yes", "min_length": 10**30}
    saved = SavedSession(Recipe.preset("gpt2"), text="a b", filter=hostile, view=View(layout=layout))
    write_session(saved, tmp_path / "one.bpex")
    open_session(qtbot, program, tmp_path / "one.bpex")
    assert program.token_text.text() == "a b"
    assert program.merges.filter == MergeFilter()
    assert all(size >= 0 for size in program.window.centre.sizes())


@pytest.mark.parametrize(
    ("layout", "chart"),
    [
        ({"room": "compare", "chart": "duel"}, "lab"),
        ({"room": "ask", "chart": "curves"}, "curves"),
        ({"room": "compare", "chart": "compare", "lab": {"runs": None, "size": None, "open": True}}, "lab"),
    ],
)
def test_a_session_whose_layout_names_a_comparison_tab_of_an_older_version_opens(
    qtbot: QtBot, program: Program, tmp_path: Path, layout: dict[str, object], chart: str
) -> None:
    saved = SavedSession(Recipe.preset("gpt2"), text="a b", view=View(layout=layout))
    write_session(saved, tmp_path / "one.bpex")
    open_session(qtbot, program, tmp_path / "one.bpex")
    assert (program.window.room, program.charts.shown) == (layout["room"], chart)
    assert program.time_bar.isVisible() == (layout["room"] == "ask")
