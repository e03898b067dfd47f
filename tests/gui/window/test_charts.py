"""The charts of the window, saved and copied."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.window.charts import wiring as charts
from app.wiring import Program
from tests.gui.conftest import rest
from tests.gui.window.small_run import Train, small

pytestmark = pytest.mark.usefixtures("only_window")


def test_saving_a_chart(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(program)
    train(program)
    chosen: list[Path] = []
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(chosen[-1]), ""))
    for tab in range(4):
        program.charts.setCurrentIndex(tab)
        rest(qtbot, program)
        for ending in ("png", "svg", "csv"):
            chosen.append(tmp_path / f"chart {tab}.{ending}")
            program.actions["save_chart"].trigger()
            assert str(chosen[-1]) in program.messages.sentence.text()
    for path in chosen:
        if path.suffix == ".png":
            assert colors_in(QImage(str(path))) > 3
        elif path.suffix == ".svg":
            assert "<path" in path.read_text() or "<rect" in path.read_text()
        else:
            table = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
            assert len(table) > 3
            assert len({len(row) for row in table}) == 1


def test_a_chart_that_cannot_be_saved_leaves_what_was_there(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "chart.png"
    path.write_bytes(b"precious")
    monkeypatch.setattr(charts, "save_png", lambda page, beside: bool(beside.write_bytes(b"half")) and False)
    assert charts.save(program.charts.page, path).sentence.startswith("The chart could not be saved.")
    assert (path.read_bytes(), len(list(tmp_path.glob("*chart*")))) == (b"precious", 1)
    assert "No such file" in charts.save(program.charts.page, tmp_path / "no" / "chart.csv").sentence


def test_a_chart_is_kept_as_of_the_moment_shown_however_soon(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    program.charts.show_page("ranks")
    rest(qtbot, program)
    at_the_end = program.charts.page.as_table()
    program.session.cursor.go_to(9)
    program.session.cursor.go_to(2)
    early = program.charts.page.as_table()
    assert early != at_the_end
    rest(qtbot, program)
    assert program.charts.page.as_table() == early


def test_copying_a_chart(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    program.actions["copy_chart"].trigger()
    assert colors_in(QGuiApplication.clipboard().image()) > 3


def colors_in(image: QImage) -> int:
    return len({image.pixel(x, y) for x in range(0, image.width(), 7) for y in range(0, image.height(), 3)})
