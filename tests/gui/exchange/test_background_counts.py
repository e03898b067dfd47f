"""Tests of counts that the window starts in other processes.

Such a count continues after the window is closed, and another window lists it.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.settings import data_folder
from app.window.exchange import counts as counting
from app.wiring import Program
from bpe_core.counting import background
from bpe_core.counting.background import CountStatus
from bpe_core.counting.count_words import count_words
from bpe_core.text.corpus import Corpus
from tests.gui.conftest import WAIT, settle


def test_counting_in_the_background_writes_a_file_of_counts_that_becomes_the_corpus(
    qtbot: QtBot, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, model = program.session, program.exchanging.counts
    settle(qtbot, program)
    text, recipe = session.corpus.texts.value[0].text, session.recipe.value
    program.actions["count_apart"].trigger()
    dialog = program.exchanging.count_dialog
    assert dialog is not None
    for by, memory, name, refusal in (
        (0, "", "", "First choose a file"),
        (0, "", "counts.csv", "must end in .parquet"),
        (2, "", "counts.parquet", "address of the cluster's scheduler"),
        (0, "much", "counts.parquet", "not a memory size"),
    ):
        dialog.by.setCurrentIndex(by)
        dialog.memory.setText(memory)
        dialog.output.setText(name)
        dialog.begin.click()
        assert refusal in dialog.refusal.text()
    output = tmp_path / "counts.parquet"
    dialog.memory.clear()
    dialog.output.setText(str(output))
    dialog.begin.click()
    assert not dialog.refusal.text()
    qtbot.waitUntil(lambda: [status.state for status in model.known.values()] == ["done"], timeout=WAIT)
    assert "of them different" in dialog.status.text()
    assert f"The counts are in {output}" in program.messages.sentence.text()
    assert list(count_words(Corpus.from_files(output), recipe)) == list(count_words(Corpus.from_texts([text]), recipe))
    dialog.open_button.click()
    qtbot.waitUntil(lambda: session.corpus.texts.value[0].path == output, timeout=WAIT)
    dialog.forget_button.click()
    assert not model.known

    folder = data_folder() / "counts"
    path = folder / "20200101-000000-0.json"
    going = CountStatus("s3://bucket/<counts>", "counting", "adding up", 1, 4, "parts", "http://a:2/status")
    with monkeypatch.context() as patch:
        patch.setattr(background, "counts_in", lambda folder: {path: going})
        model.read_status_files()
        qtbot.waitUntil(lambda: 'href="http://a:2/status"' in dialog.status.text(), timeout=WAIT)
        assert "Adding up: 1 of 4 parts" in dialog.status.text()
        assert "s3://bucket/&lt;counts&gt;" in dialog.status.text()
        assert counting.share(going) == 0.925
        dialog.stop_button.click()
        assert path.with_suffix(".stop").exists()
    background.remove_count(path)
    values = asdict(replace(going, state="starting")) | {"began": 0.0}  # as another version tells it
    path.write_text(json.dumps(values), encoding="utf-8")
    assert background.counts_in(folder)[path].is_under_way, "it may still be on its way"
    os.utime(path, (time.time() - 60,) * 2)
    model.read_status_files()
    qtbot.waitUntil(
        lambda: "perhaps because another program stopped it" in program.messages.sentence.text(), timeout=WAIT
    )
    dialog.close()
    assert program.exchanging.count_dialog is None
