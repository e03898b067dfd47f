"""Tests of the search field, which finds actions, files, lessons, tokens and merges."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.session.run import Phase
from app.settings import RECENT_FILES
from app.window.find_anything.find_box import FindBox
from app.window.find_anything.search import EXACT, RunSearch, best_hits
from app.window.help_dialog import keys_dialog
from app.wiring import Program
from tests.gui.conftest import WAIT, Train
from tests.gui.histories import random_history, run_with
from tests.gui.small_run import small

pytestmark = pytest.mark.usefixtures("only_window")


def open_search(program: Program) -> FindBox:
    program.actions["find_anything"].trigger()
    return program.finding.box


def titles(box: FindBox, typed: str) -> list[str]:
    box.field.setText(typed)
    return [hit.title for hit in box.model.rows]


def choose(box: FindBox, typed: str) -> None:
    box.field.setText(typed)
    QTest.keyClick(box.field, Qt.Key.Key_Return)


def test_the_search_finds_actions_and_files_and_lessons_and_tokens_and_steps(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path
) -> None:
    program.settings.put(RECENT_FILES, [str(tmp_path / "lately opened.txt")])
    box = open_search(program)
    assert titles(box, "open te")[0] == "Open Texts …"
    assert titles(box, "lately")[0].endswith("lately opened.txt")
    assert "Dark" in titles(box, "theme da")
    assert titles(box, "no such thing at all") == []
    assert box.nothing.isVisible()
    assert titles(box, "copy ref") == [], "there is no moment to refer to yet"
    assert box.nothing.text().startswith("The action Copy Reference is not possible now.")
    box.reject()
    small(program, 300)
    train(program)
    history = program.session.runs.shown.history  # type: ignore[union-attr]
    assert history is not None

    choose(open_search(program), "#7")
    assert program.session.cursor.position == 7
    token = history.indices[19]
    names = program.session.runs.shown.names  # type: ignore[union-attr]
    assert names is not None
    left, right = (names.text[part] for part in history.pair(19))
    assert names.text[token] in titles(open_search(program), f"{left} {right}")
    choose(program.finding.box, names.text[token])
    assert program.session.cursor.position == 20
    assert program.token.facts is not None
    assert program.token.facts.id == token
    assert program.inspector.shown == "token"

    choose(open_search(program), "lesson first merge")
    assert program.course.lesson is not None
    assert program.course.lesson.title == "The first merge, by hand"
    program.course.leave()


def test_the_search_finds_methods_and_recipes_and_pages_by_name(qtbot: QtBot, program: Program) -> None:
    box = open_search(program)
    assert titles(box, "forb")[0].startswith("Forbid This")
    assert titles(box, "ranks")[0] == "How often is each token used?"
    assert "Which pairs lost?" in titles(box, "pairs lost")
    assert "Why here?" in titles(box, "why")
    assert "gpt2" in titles(box, "gpt")
    small(program, 300)
    choose(box, "unigram")
    runs = program.session.runs
    qtbot.waitUntil(lambda: runs.shown is not None and runs.shown.phase is Phase.ENDED, timeout=WAIT)
    assert runs.shown is not None
    assert runs.shown.recipe.method == "unigram"
    choose(open_search(program), "compression")
    assert program.charts.shown == "compression"


@pytest.mark.parametrize(
    ("typed", "title"),
    [
        ("minimum count", "Minimum count"),
        ("premium", "Parity premium"),
        ("fertility", "Tokens per word"),
        ("dark mode", "Dark"),
        ("zoom", "Larger Text"),
        ("speed", "Speed"),
        ("regular expression", "Split by"),
        ("leaving no trace", "Leaving no trace"),
    ],
)
def test_the_search_finds_recipe_fields_and_measures_and_pages_and_display_options(
    program: Program, typed: str, title: str
) -> None:
    assert title in titles(open_search(program), typed)


def test_the_search_lists_only_actions_that_are_available(program: Program) -> None:
    hits = [hit for search in program.finding.searches(None) for _, hit in search("")]
    shown = [hit.title for hit in hits]
    in_menus = {hit.title for hit in hits if hit.kind not in ("Manual", "Measure, in Compare", "Field of the recipe")}
    assert not {"None", "None yet", *(title for title, _ in program.actions.disabled_actions())} & in_menus
    assert not [title for title in shown if title.startswith("Kept for")]
    learned_by = [
        hit.title.casefold() for hit in hits if hit.kind in ("Train with this method", "Train with this recipe")
    ]
    assert len(learned_by) == len({*learned_by})


def test_choosing_a_search_result_opens_its_place_in_the_window(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program, 300)
    train(program)
    choose(open_search(program), "minimum count")
    assert program.window.room == "build"
    assert program.window.focusWidget() is program.recipe_panel.field("min_frequency")
    choose(open_search(program), "parity premium")
    assert (program.window.room, program.charts.shown) == ("compare", "benchmark")
    choose(open_search(program), "delete run")
    assert program.session.runs.all == []
    program.session.undo.undo()
    assert len(program.session.runs.all) == 1
    choose(open_search(program), "leaving no trace")
    assert program.manual.window is not None
    assert program.manual.window.isVisible()
    program.manual.window.close()


def test_the_search_lists_exact_tokens_first_and_then_tokens_that_begin_with_the_text() -> None:
    search = RunSearch(run_with(random_history(3_000)), lambda step: None, lambda token: None)
    ranks = sorted(rank for rank, _ in search("th"))
    titles_found = [hit.title for hit in best_hits("th", [search])]
    assert titles_found
    assert all("th" in title for title in titles_found)
    written_so = [title for title, rank in zip(titles_found, ranks, strict=True) if rank == EXACT]
    assert all(title.strip("␣") == "th" for title in written_so)
    begins = [title.lstrip("␣").startswith("th") for title in titles_found]
    assert begins == sorted(begins, reverse=True)


def test_arrow_keys_move_through_search_results_and_escape_leaves_the_session_unchanged(program: Program) -> None:
    box = open_search(program)
    box.field.setText("open")
    QTest.keyClick(box.field, Qt.Key.Key_Down)
    assert box.list.currentIndex().row() == 1
    QTest.keyClick(box.field, Qt.Key.Key_Up)
    assert box.list.currentIndex().row() == 0
    QTest.keyClick(box.field, Qt.Key.Key_Escape)
    assert not program.session.undo.canUndo()


def test_the_search_hides_merges_while_a_lesson_asks_to_predict_the_merge(
    program: Program, monkeypatch: pytest.MonkeyPatch, train: Train
) -> None:
    small(program, 270)
    train(program)
    assert titles(open_search(program), "3")[0] == "Go to merge 3"
    program.finding.box.reject()
    monkeypatch.setattr(type(program.course), "is_predicting", property(lambda _: True))
    assert "Go to merge 3" not in titles(open_search(program), "3")


def test_the_list_of_shortcuts_shows_the_shortcut_of_each_action(program: Program) -> None:
    dialog = keys_dialog(program.window)
    text = dialog.findChildren(type(program.corpus_panel.totals))[0].text()
    for keys in ("Ctrl+K or Ctrl+Shift+P", "F5", "F11", "Ctrl+Tab"):
        assert keys in text
    dialog.reject()


def test_the_full_screen_action_turns_full_screen_on_and_off(program: Program) -> None:
    program.actions["full_screen"].trigger()
    assert program.window.isFullScreen()
    program.actions["full_screen"].trigger()
    assert not program.window.isFullScreen()
