"""Tests of the warning about very long words. A person must be able to read it even in the smallest window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.wiring import Program
from tests.gui.conftest import WAIT


@pytest.mark.parametrize("size", [(1280, 800), (1000, 640)])
def test_the_warning_about_very_long_words_is_visible_in_full_at_any_window_size(
    qtbot: QtBot, new_program: Callable[..., Program], tmp_path: Path, size: tuple[int, int]
) -> None:
    path = tmp_path / "no blanks.txt"
    path.write_text("没有空格的很长的，一句话。" * 400, encoding="utf-8")
    program = new_program(path)
    program.window.show_room("build")
    program.window.resize(*size)
    program.form.choose_preset("english")
    warning = program.corpus_panel.warning
    qtbot.waitUntil(warning.isVisible, timeout=WAIT)
    assert "gpt2 or cl100k" in warning.text()

    def is_whole() -> None:
        seen = warning.visibleRegion().boundingRect()
        assert seen.height() >= warning.heightForWidth(warning.width())

    qtbot.waitUntil(is_whole, timeout=WAIT)
    assert program.corpus_panel.list.viewport().height() >= 40
    program.form.choose_preset("gpt2")
    qtbot.waitUntil(lambda: not warning.isVisible(), timeout=WAIT)
