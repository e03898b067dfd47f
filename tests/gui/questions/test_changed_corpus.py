"""Tests of a text file that changes while the window reads it. The window reports the change and continues."""

from __future__ import annotations

import ast
import threading
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.session.background import Notice
from app.session.run import Phase
from app.window.pages import SIZES
from app.wiring import Program
from bpe_core.text.reading.opening import ByteStream
from tests.gui.conftest import settle, wait_for_phase
from tests.gui.questions.conftest import MERGES, wait_for_answers
from tests.shared import ROOT

pytestmark = pytest.mark.usefixtures("only_window")

WARNING = "was changed while it was read"


def test_each_question_that_reads_a_changed_file_reports_the_change(
    qtbot: QtBot, trained_window: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notices: list[Notice] = []
    trained_window.session.background.noticed.connect(notices.append)
    trained_window.inspector.show_page("token")
    wait_for_answers(qtbot, trained_window)
    monkeypatch.setattr(ByteStream, "has_changed", True)
    trained_window.token.look_at(256 + 5)
    wait_for_answers(qtbot, trained_window)
    assert [WARNING in notice.sentence for notice in notices] == [True], "by the lines of a token"
    (tmp_path / "unseen.txt").write_text("an unseen text", encoding="utf-8")
    trained_window.pages.page(SIZES).form.choose_files("held_out", str(tmp_path / "unseen.txt"))
    trained_window.actions["sizes"].trigger()
    wait_for_answers(qtbot, trained_window)
    assert f"{tmp_path / 'unseen.txt'} {WARNING}, so its old and new text may be mixed." in [
        n.sentence for n in notices
    ]
    notices.clear()
    trained_window.exchanging.encoding.start([], 5, None, tmp_path / "ids.npy")
    wait_for_answers(qtbot, trained_window)
    assert [notice.details.count(WARNING) for notice in notices] == [2], "of each of the two texts"
    trained_window.session.cursor.go_to(MERGES // 2)
    trained_window.inspector.show_page("token")
    trained_window.token.look_at(256 + 3)
    wait_for_answers(qtbot, trained_window)
    notices.clear()
    trained_window.session.cursor.go_to(MERGES - 10)
    wait_for_answers(qtbot, trained_window)
    assert not notices, "what follows the time cursor does not say it at every step"


def test_training_still_learns_from_a_text_file_that_grows_while_it_is_counted(
    qtbot: QtBot, trained_window: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    growing, fill = tmp_path / "one.txt", ByteStream.fill
    notices: list[Notice] = []
    trained_window.session.background.noticed.connect(notices.append)

    def fill_and_grow(stream: ByteStream, buffer: memoryview) -> int:
        if not notices and threading.current_thread().name.endswith("counts"):  # others read it, too, and would say so
            with growing.open("a", encoding="utf-8") as end:
                end.write(" and more")
        return fill(stream, buffer)

    monkeypatch.setattr(ByteStream, "fill", fill_and_grow)
    assert trained_window.form.choose(pattern="cl100k")
    trained_window.actions["main"].trigger()
    wait_for_phase(qtbot, trained_window, Phase.ENDED)
    settle(qtbot, trained_window)
    run = trained_window.session.runs.shown
    assert run is not None
    assert run.learned == MERGES
    # Once for each time it was counted: until the first is reported, it grows under the next as well.
    assert {WARNING in notice.sentence for notice in notices} == {True}
    wait_for_answers(qtbot, trained_window)
    known = run.fingerprints[run.sources[0].number]
    assert known.size < growing.stat().st_size, "as it was when reading began: opened again, it will be found changed"


def test_window_code_reads_a_corpus_only_through_the_reading_module() -> None:
    """Other code would not report a file that is changed while it is read."""
    readers = {"from_files", "to_count"}  # what is given in memory changes for nobody
    files = set()
    for path in (ROOT / "app").rglob("*.py"):
        names = {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
        if names & readers:
            files.add(path.name)
    assert files == {"corpus_texts.py", "counts.py"}  # the latter hands them to a process of its own
