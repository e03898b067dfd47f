"""Tests with a run of each method. At its first, middle and last step, every page shows something."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest
from PySide6.QtWidgets import QDialog, QFileDialog, QLabel
from pytestqt.qtbot import QtBot

from app.session.run import Phase
from app.window.charts.figure_view import FigureView
from app.window.pages import PAGES
from app.window.questions.why.page import WhyPage
from app.wiring import Program
from bpe_core.formats import FORMATS
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting import word_tokens
from tests.conftest import EXPLORES
from tests.gui.conftest import WAIT, begin_session, settle, wait_for_phase, wait_for_rest
from tests.gui.sessions.saving import open_session, save_as, table
from tests.gui.small_run import group_texts
from tests.gui.tables import exact_rows

TEXT = "the lowest price is lower than the last one, and the lowest of the low is the lowest. " * 3


def recipe_of(method: str) -> Recipe:
    """Return a recipe for a method. Its number of merges is small enough for a short text."""
    name = next(name for name in PRESETS if Recipe.preset(name).method == method)
    return Recipe.preset(name, min_frequency=2, merges=12)


@pytest.fixture(scope="module", params=METHODS)
def trained_window(request: pytest.FixtureRequest, only_window: Program) -> Program:
    """Return the shared window with a finished run of a method."""
    qtbot = QtBot(request)
    program = begin_session(qtbot, only_window)
    program.session.corpus.replace_by_text("a few words", TEXT)
    program.token_text.set_text(TEXT[:90])
    program.session.recipe.put_quietly(recipe_of(request.param))
    group_texts(program)
    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    run = program.session.runs.shown
    assert run is not None
    assert run.learned > 3, run.sentence
    return program


def texts_on(program: Program, page: str) -> str:
    """Return all texts that a page shows in labels and in drawings."""
    shown = program.pages.page(next(row for row in PAGES if row.id == page))
    labels = [label.text() for label in shown.findChildren(QLabel) if label.isVisibleTo(shown)]
    drawn = [widget.accessibleDescription() for widget in (shown, *shown.findChildren(FigureView))]
    return " ".join([*labels, *(str(cell) for row in exact_rows(shown) for cell in row), *drawn])


def test_every_page_of_the_window_shows_some_text_for_a_run_of_each_method(
    qtbot: QtBot, trained_window: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_tokens, "CUT_AT_ONCE", 0)  # so that words are cut background, as those of a long text
    trained_window.messages.forget()  # what another test was told
    end, run = trained_window.session.cursor.end, trained_window.session.runs.shown
    assert run is not None
    assert run.history is not None
    for number, at in enumerate((0, end // 2, end) if EXPLORES else (end // 2, end)):
        trained_window.session.cursor.go_to(at)
        settle(qtbot, trained_window)
        ids = trained_window.token_text.ids_in(0, trained_window.token_text.byte_length)
        assert ids == Tokenizer(run.history).encode(trained_window.token_text.text(), at=at)
        wait_for_rest(qtbot, trained_window)
        trained_window.text_panel.editor.caret_placed.emit(6)
        for row in PAGES:
            # Each page at one of two moments, by its own name: another page more changes nothing for this one.
            if not EXPLORES and crc32(f"{row.id} by {run.recipe.method}".encode()) % 2 != number:
                continue
            trained_window.window.set_stage(row.id if row.tabs == "centre" else "")
            (trained_window.charts if row.tabs == "charts" else trained_window.inspector).show_page(row.id)
            wait_for_rest(qtbot, trained_window)
            assert texts_on(trained_window, row.id).strip(), f"{row.id} at {at}"
    trained_window.window.set_stage("")
    assert not trained_window.messages.isVisible(), trained_window.messages.sentence.text()


def test_a_run_of_each_method_is_saved_and_opened_unchanged_and_can_be_written_as_a_report_page(
    qtbot: QtBot,
    trained_window: Program,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    new_session: Callable[[], Program],
) -> None:
    path = tmp_path / "one.bpex"
    rows = table(trained_window)
    trained_window.session.cursor.go_to(3)
    settle(qtbot, trained_window)
    ids = trained_window.token_text.ids_in(0, trained_window.token_text.byte_length)
    save_as(qtbot, trained_window, path, monkeypatch)
    again = new_session()
    open_session(qtbot, again, path)
    assert table(again) == rows
    assert again.token_text.text() == trained_window.token_text.text()
    settle(qtbot, again)
    assert again.token_text.ids_in(0, again.token_text.byte_length) == ids
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "page.html"), ""))
    trained_window.actions["report"].trigger()
    qtbot.waitUntil(lambda: "Wrote the report" in trained_window.messages.sentence.text(), timeout=WAIT)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "run.html"), ""))
    trained_window.actions["share"].trigger()
    qtbot.waitUntil(lambda: "Wrote the page" in trained_window.messages.sentence.text(), timeout=WAIT)
    assert 'id="data"' in (tmp_path / "run.html").read_text(encoding="utf-8")
    run = trained_window.session.runs.shown
    assert run is not None
    assert html.escape(METHODS[run.recipe.method].title) in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_reasons_for_boundaries_use_the_terms_of_the_method(qtbot: QtBot, trained_window: Program) -> None:
    page, run = trained_window.pages[WhyPage], trained_window.session.runs.shown
    assert run is not None
    trained_window.window.show_room("ask")
    trained_window.inspector.show_page("why")
    seen = set()
    for at in (0, run.learned // 2, run.learned):
        trained_window.session.cursor.go_to(at)
        settle(qtbot, trained_window)
        for byte in range(2, 12):
            page.model.look_at(byte)
            wait_for_rest(qtbot, trained_window)
            assert page.reason.text().endswith("."), page.reason.text()
            seen.add(page.reason.text())
            if page.model.place is not None:
                edges = {int(edge) for edge in trained_window.token_text.edges()}
                assert page.model.place.is_cut == (byte in edges)
    assert len(seen) > 2


def test_the_window_uses_the_name_that_a_method_gives_its_steps_and_explains_refused_formats(
    qtbot: QtBot, trained_window: Program
) -> None:
    run = trained_window.session.runs.shown
    assert run is not None
    assert run.history is not None
    step = run.wording.step
    trained_window.bookmarks.toggle_here()
    trained_window.actions["export"].trigger()
    trained_window.actions["encode"].trigger()
    dialog = trained_window.exchanging.export_dialog
    assert dialog is not None
    actions = [trained_window.actions[name] for name in ("copy_tsv", "find", "step", "back", "go_to", "paid", "export")]
    said = [label for action in actions for label in (action.text(), action.toolTip())]
    said += [label.text() for box in trained_window.window.findChildren(QDialog) for label in box.findChildren(QLabel)]
    said += [trained_window.window.docks["merges"].windowTitle(), trained_window.bookmarks.index(0).data()]
    assert sum(step in text.lower() for text in said) > 8
    assert step == "merge" or not [text for text in said if "merge" in text.lower()]
    for name, format in FORMATS.written.items():
        with qtbot.waitSignal(trained_window.exchanging.export.refused, timeout=WAIT) as refused:
            dialog.format.setCurrentIndex(dialog.format.findData(name))
            dialog._begin_anew()
        assert refused.args == [format.refusal(run.history)]
        assert dialog.begin.isEnabled() == (refused.args == [""])
        assert html.escape(refused.args[0]) in dialog.outcome.text()
