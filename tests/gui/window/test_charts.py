"""Tests that save and copy the charts of the window."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from functools import partial
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.window.charts import wiring as charts
from app.window.parts.pictures import drawing_of, write_drawing
from app.wiring import Program
from bpe_core.command_line.main import run
from bpe_core.figures.from_table import ranks_chart
from bpe_core.figures.painter import picture
from bpe_core.figures.sheet import Paper
from bpe_core.support.data_table import DataTable
from tests.gui.conftest import WAIT, Train, wait_for_rest, wait_for_sentence
from tests.gui.small_run import small
from tests.gui.tables import exact_rows

FULL = Path("/dev/full")

pytestmark = pytest.mark.usefixtures("only_window")


def test_a_chart_can_be_saved_as_a_bitmap_or_a_vector_drawing_or_a_data_file(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(program)
    train(program)
    chosen: list[Path] = []
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(chosen[-1]), ""))
    for tab in range(4):
        program.charts.setCurrentIndex(tab)
        wait_for_rest(qtbot, program)
        for ending in ("png", "svg", *(("csv", "tsv", "json", "parquet") if tab < 2 else ())):
            chosen.append(tmp_path / f"chart {tab}.{ending}")
            program.actions["save_chart"].trigger()
            wait_for_sentence(qtbot, program, str(chosen[-1]))
    for path in chosen:
        if path.suffix == ".png":
            assert colors_in(QImage(str(path))) > 3
        elif path.suffix == ".svg":
            assert "<path" in path.read_text() or "<rect" in path.read_text()
        elif path.suffix == ".json":
            check_exact(program, path)


def check_exact(program: Program, path: Path) -> None:
    """Check that all formats of a saved chart contain the same values.

    The chart of ranks contains every token in use.
    """
    rows = json.loads(path.read_text(encoding="utf-8"))
    assert len(rows) > 3
    assert parquet.read_table(path.with_suffix(".parquet")).to_pylist() == rows
    for ending, separator in ((".csv", ","), (".tsv", "\t")):
        with path.with_suffix(ending).open(encoding="utf-8", newline="") as file:
            cells = list(csv.DictReader(file, delimiter=separator))
        assert cells == [{key: "" if cell is None else str(cell) for key, cell in row.items()} for row in rows]
    run = program.session.runs.shown
    assert run is not None
    if "rank" in rows[0]:
        assert run.history is not None
        counts = run.history.token_counts(run.symbol_counts).tolist()
        assert [row["count"] for row in rows] == sorted(filter(None, counts), reverse=True)
        assert all(counts[row["id"]] == row["count"] for row in rows)
        assert run.names is not None
        assert all(bytes.fromhex(row["hex"]) == run.names.raw[row["id"]] for row in rows)


def test_a_chart_that_cannot_be_saved_leaves_the_old_file_unchanged(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "chart.png"
    path.write_bytes(b"precious")
    monkeypatch.setattr(charts, "save_png", lambda page, beside: bool(beside.write_bytes(b"half")) and False)
    assert charts.save(program.charts.page, path).sentence.startswith("The chart could not be saved.")
    assert (path.read_bytes(), len(list(tmp_path.glob("*chart*")))) == (b"precious", 1)
    assert "No such file" in charts.save(program.charts.page, tmp_path / "no" / "chart.svg").sentence


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a file that is always on a full disk")
@pytest.mark.parametrize("kind", [".png", ".svg", ".pdf"])
def test_a_picture_that_does_not_fit_on_the_disk_is_not_reported_as_saved(program: Program, kind: str) -> None:
    page = program.charts.page.widget_to_save
    drawn = drawing_of(page, 90, 60, 8, is_dark=False)
    with pytest.raises(OSError, match="No space left"):
        charts.save_picture(page, kind, FULL)
    with pytest.raises(OSError, match="No space left"):
        write_drawing(drawn, 90, 60, FULL, kind)


def test_a_chart_saved_right_after_a_step_shows_that_step(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    program.charts.show_page("ranks")
    wait_for_rest(qtbot, program)
    at_the_end = exact_rows(program.charts.page)
    program.session.cursor.go_to(9)
    program.session.cursor.go_to(2)
    early = exact_rows(program.charts.page)
    assert early != at_the_end
    wait_for_rest(qtbot, program)
    assert exact_rows(program.charts.page) == early


def test_charts_saved_for_print_have_the_requested_size(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(program)
    train(program)
    for page in ("ranks", "pairs"):
        program.charts.show_page(page)
        wait_for_rest(qtbot, program)
        before = program.charts.page.size(), program.charts.page.palette()
        for kind in ("svg", "pdf", "png"):
            path = tmp_path / f"{page}.{kind}"
            monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, path=path: (str(path), ""))
            program.actions["print_chart"].trigger()
            dialog = program.charting.print_dialog
            dialog.width_box.setValue(84)
            dialog.height_box.setValue(60)
            dialog.save.click()
            wait_for_rest(qtbot, program)
            assert str(path) in program.messages.sentence.text()
        assert 'width="84mm" height="60mm"' in (tmp_path / f"{page}.svg").read_text(encoding="utf-8")
        image = QImage(str(tmp_path / f"{page}.png"))
        assert (image.width(), image.height()) == (round(84 * 300 / 25.4), round(60 * 300 / 25.4))
        assert colors_in(image) > 3
        assert image.pixelColor(2, 2).lightness() > 240
        box = re.search(rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)", (tmp_path / f"{page}.pdf").read_bytes())
        assert box is not None
        assert [float(side) for side in box.groups()] == pytest.approx([84 * 72 / 25.4, 60 * 72 / 25.4], abs=1)
        program.messages.close_button.click()  # which took its room from the chart
        qtbot.waitUntil(partial(lambda size: program.charts.page.size() == size, before[0]), timeout=WAIT)
        assert program.charts.page.palette() == before[1]
    table = DataTable({"rank": [], "count": []})
    assert picture(ranks_chart(table), Paper.of_millimetres(84, 60, 8))  # what is empty is drawn, too


def test_a_figure_for_print_has_the_same_rows_and_caption_as_a_figure_written_by_the_ranks_command(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(program)
    train(program)
    program.charts.show_page("ranks")
    wait_for_rest(qtbot, program)
    session = tmp_path / "book.bpex"
    with qtbot.waitSignal(program.filing.document.saved, timeout=WAIT):
        program.filing.document.save(session)
    path = tmp_path / "ranks.svg"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    with qtbot.waitSignal(program.charting.saved, timeout=WAIT) as saved:
        program.actions["print_chart"].trigger()
        program.charting.print_dialog.caption.setChecked(True)
        program.charting.print_dialog.save.click()
    assert "--paper" in saved.args[0]
    beside = [path.with_suffix(".csv"), path.with_suffix(".tex")]
    of_window = [file.read_text(encoding="utf-8") for file in beside]
    for file in (path, *beside):
        file.unlink()
    text = tmp_path / "text.txt"
    text.write_bytes("".join(source.text for source in program.session.corpus.texts.value).encode())
    assert run(["ranks", str(session), "--corpus", str(text), "-o", str(path), "--paper"]) == 0
    assert [file.read_text(encoding="utf-8") for file in beside] == of_window
    assert "ties first-seen" in of_window[1]
    assert hashlib.sha256(text.read_bytes()).hexdigest()[:16] in of_window[1]


def test_a_chart_is_copied_to_the_clipboard_as_a_picture(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    program.actions["copy_chart"].trigger()
    assert colors_in(QGuiApplication.clipboard().image()) > 3


def colors_in(image: QImage) -> int:
    return len({image.pixel(x, y) for x in range(0, image.width(), 7) for y in range(0, image.height(), 3)})
