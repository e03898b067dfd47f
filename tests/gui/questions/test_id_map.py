"""Tests of the page that maps the ids of a chosen run to the ids of the run shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

import bpe_core as bpe
from app.session.manifests import run_of_session
from app.session.repeat_code import as_python
from app.window.pages import ID_MAP
from app.window.questions.id_map.model import NO_SECOND
from app.wiring import Program
from bpe_core.editing.extending import extend
from bpe_core.editing.id_map import IdMap
from bpe_core.editing.id_map_file import read_id_map
from bpe_core.editing.trimming import trim
from bpe_core.history.history import History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.text.corpus import Corpus
from tests.gui.questions.conftest import MERGES, OTHER, wait_for_answers

pytestmark = pytest.mark.usefixtures("only_window")
SIZE = 256 + MERGES


def facts_shown(qtbot: QtBot, program: Program) -> object:
    wait_for_answers(qtbot, program)
    answer = program.pages.page(ID_MAP).model.answer
    return None if answer is None else answer.facts


def test_the_id_map_page_maps_ids_of_the_chosen_run_to_ids_of_the_shown_run(
    qtbot: QtBot, trained_window: Program
) -> None:
    trained_window.charts.show_page("idmap")
    page = trained_window.pages.page(ID_MAP)
    assert facts_shown(qtbot, trained_window) is None
    assert page.sentence.text() == NO_SECOND
    assert not page.old.isEnabled()
    runs = trained_window.session.runs
    (first,) = runs.all
    assert first.history is not None

    def add(history: History) -> int:
        return runs.add_table(history, TokenTexts.of(history), "", parent=first.number).number

    extended = add(extend(Corpus.from_texts([OTHER * 3 + "slow sloth"] * 2), first.history, 10).history)
    assert facts_shown(qtbot, trained_window) == {"kept": SIZE, "same_id": SIZE, "added": 10, "gone": 0}
    assert page.old.currentData() == first.number
    assert page.rows.rowCount() == SIZE + 10
    assert page.model.cell(page.rows.place(0), 0) == f"{SIZE}", "new tokens come first"
    assert page.figure.isVisible()
    assert page.model.command[:3] == ("idmap", run_of_session(first.number), run_of_session(extended))

    asked = page.model.current_question
    assert asked is not None
    lines = as_python(asked[0], page.model.opens_in_python, None)
    assert f"bpe.open('session.bpex#{first.number}')" in lines
    assert f"bpe.open('session.bpex#{extended}')" in lines
    assert "answer = bpe.idmap(*studies.values())" in lines

    add(trim(first.history, [300], needed="lose").history)
    assert facts_shown(qtbot, trained_window) != {"kept": SIZE, "same_id": SIZE, "added": 10, "gone": 0}
    assert page.old.count() == 2
    page.old.setCurrentIndex(page.old.findData(extended))
    page.old.activated.emit(page.old.currentIndex())
    facts = facts_shown(qtbot, trained_window)
    assert isinstance(facts, dict)
    assert facts["gone"] > 10


def test_the_save_button_of_the_id_map_page_writes_the_arrays_of_the_map(
    qtbot: QtBot, trained_window: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained_window.charts.show_page("idmap")
    page = trained_window.pages.page(ID_MAP)
    (first,) = trained_window.session.runs.all
    assert first.history is not None
    longer = extend(Corpus.from_texts([OTHER * 3 + "slow sloth"] * 2), first.history, 10).history
    trained_window.session.runs.add_table(longer, TokenTexts.of(longer), "", parent=first.number)
    wait_for_answers(qtbot, trained_window)
    offered: list[dict[str, str]] = []

    def ask(parent: object, title: str, proposal: str, filters: dict[str, str]) -> Path:
        offered.append(filters)
        return tmp_path / "map.npz"

    monkeypatch.setattr("app.window.charts.wiring.ask_where_to_save", ask)
    page.save.click()
    wait_for_answers(qtbot, trained_window)
    assert offered[0]["Arrays for NumPy (*.npz)"] == "npz"
    written = read_id_map(str(tmp_path / "map.npz"))
    assert IdMap.of(bpe.Study(first.history), bpe.Study(longer)).difference(written) == ""
