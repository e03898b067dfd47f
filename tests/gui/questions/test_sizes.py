"""Every size measured for every text, of the corpus and held out, with the real engine."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.window.questions.sizes.page import SizesPage
from app.wiring import Program
from bpe_core import Tokenizer
from bpe_core.measures.bits_per_byte import bits_per_byte, tenth_apart
from bpe_core.measures.size_curves import renyi_efficiency
from tests.gui.conftest import WAIT
from tests.gui.questions.conftest import LEFT, MERGES, NO_KEY, ONE, OTHER, Train, answered, ranked_words

pytestmark = pytest.mark.usefixtures("only_window")


def test_a_held_out_text_is_named_before_training(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_out = tmp_path / "unseen.txt"
    held_out.write_text(OTHER, encoding="utf-8")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(held_out), ""))
    program.actions["hold_out"].trigger()
    assert program.charts.page is program.pages[SizesPage]
    assert "unseen.txt" in program.pages[SizesPage].held_out.text()
    assert program.form.choose(vocab_size=300)
    train(program)
    answered(qtbot, program)
    qtbot.waitUntil(lambda: program.pages[SizesPage].model.facts is not None, timeout=WAIT)
    assert program.pages[SizesPage].model.names == ["training text", "held out: unseen.txt"]
    tokens = Tokenizer(ranked_words(program).history).encode(OTHER)
    here = dict(program.pages[SizesPage].model.here)
    assert math.isclose(here["held out: unseen.txt"], len(OTHER.encode()) / len(tokens))
    button = program.pages[SizesPage].held_out
    button.click()
    assert button.menu_of_named is not None
    button.menu_of_named.actions()[1].trigger()
    button.menu_of_named.close()
    answered(qtbot, program)
    qtbot.waitUntil(lambda: program.pages[SizesPage].model.names == ["training text"], timeout=WAIT)
    assert "unseen" not in button.text()


def test_a_held_out_text_that_is_gone_takes_nothing_else_along(qtbot: QtBot, learned: Program, tmp_path: Path) -> None:
    gone = tmp_path / "gone.txt"
    gone.write_text("soon gone", encoding="utf-8")
    learned.pages[SizesPage].hold_out(gone)
    gone.unlink()
    sentences: list[str] = []
    learned.pages[SizesPage].model.failed.connect(sentences.append)
    learned.actions["sizes"].trigger()
    qtbot.waitUntil(lambda: bool(sentences), timeout=WAIT)
    assert "gone.txt does not exist" in sentences[0]
    assert learned.pages[SizesPage].model.names == ["training text", "one.txt", "other.txt"]


def test_every_size_is_measured_for_every_text(qtbot: QtBot, learned: Program) -> None:
    learned.actions["sizes"].trigger()
    answered(qtbot, learned)
    sizes, panel, history = learned.pages[SizesPage].model, learned.pages[SizesPage], ranked_words(learned).history
    assert sizes.names == ["training text", "one.txt", "other.txt"]
    tokenizer = Tokenizer(history)
    for at in (0, 33, MERGES):
        learned.session.cursor.go_to(at)
        answered(qtbot, learned)
        for text, name in ((ONE, "one.txt"), (OTHER, "other.txt")):
            ids = tokenizer.encode(text, at=at)
            counts = np.bincount(ids)
            wanted = {
                "Bytes per token": len(text.encode()) / len(ids),
                "Rényi efficiency": renyi_efficiency(counts.tolist()),
                "Vocabulary in use": np.count_nonzero(counts) / (256 + at),
            }
            for row in range(panel.measure.count()):
                panel.measure.setCurrentIndex(row)
                title = panel.measure.currentText()
                if title in wanted:
                    assert math.isclose(dict(sizes.here)[name], wanted[title], rel_tol=1e-9), (title, name, at)
    assert "Σ" in panel.measure.itemData(2, Qt.ItemDataRole.ToolTipRole)
    assert "would do" not in panel.told.text()  # that takes a vocabulary of twice the bytes
    assert "for code" in panel.advice.text()
    panel.measure.setCurrentIndex(panel.measure.findText("Held-out bits per byte"))
    answered(qtbot, learned)
    assert sizes.facts is not None
    run = learned.session.runs.shown
    assert run is not None
    assert run.words is not None
    told = bits_per_byte(*tenth_apart(run.words), history)
    assert [name for name, _ in sizes.here] == ["a tenth of the training text"]
    assert math.isclose(sizes.here[0][1], told.bits[-1])
    least = told.sizes[told.bits.argmin()]
    qtbot.waitUntil(lambda: f"The least with <b>{least:,}</b> tokens" in panel.told.text(), timeout=WAIT)
    assert list(sizes.exact()(lambda: False).columns["bits_per_byte"]) == told.bits.tolist()
    panel.measure.setCurrentIndex(0)
    sizes.show_text("other.txt", on=False)
    assert [line.name for line in sizes.lines.lines] == ["training text", "one.txt"]
    assert "other.txt" not in panel.told.text()
    qtbot.mouseClick(panel.chart, LEFT, NO_KEY, QPoint(panel.chart.width() // 2, 60))
    assert 0 < learned.session.cursor.position < MERGES
