"""Tests of the animation of a step in the text: when it begins, where it is visible, and how it ends."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from app.session.playing import Step
from app.window.text.view.editor import TokenTextEdit
from app.window.text.view.ids_view import IdsGrid
from app.window.text.view.step_event import changes_between
from tests.gui.text.conftest import LANGUAGES

cuts = st.sets(st.integers(1, 19)).map(lambda inside: np.array(sorted({0, 20, *inside}), np.int64))


@given(cuts, cuts)
def test_an_animated_step_moves_only_the_changed_ranges_of_the_text(before: np.ndarray, after: np.ndarray) -> None:
    changes = changes_between(before, after)
    inner_before = {edge for was, _ in changes for edge in was[1:-1]}
    inner_after = {edge for _, now in changes for edge in now[1:-1]}
    assert set(before.tolist()) - set(after.tolist()) == inner_before
    assert set(after.tolist()) - set(before.tolist()) == inner_after
    for was, now in changes:
        assert (was[0], was[-1]) == (now[0], now[-1])


@pytest.mark.parametrize(("before", "after"), [(21, 22), (42, 41)])
def test_the_last_frame_of_an_animated_step_equals_the_text_drawn_without_animation(
    qtbot: QtBot, show_editor: Callable[..., TokenTextEdit], before: int, after: int
) -> None:
    editor = show_editor(LANGUAGES * 3, cursor=before)
    model = editor.model
    was, now = (model.tokens_between(0, model.byte_length, at).edges for at in (before, after))
    assert len(was) != len(now)
    editor.show_step(Step(before, after, 0.3))
    model.set_cursor(after)
    assert editor.motion.is_under_way
    early = editor.viewport().grab().toImage()
    qtbot.waitUntil(lambda: not editor.motion.is_under_way)
    late = editor.viewport().grab().toImage()
    assert early != late
    editor.viewport().update()
    model.tokens_changed.emit()  # such as when the same tokens are found again: it is seen once
    assert editor.viewport().grab().toImage() == late
    fresh = show_editor(LANGUAGES * 3, cursor=after)
    assert late == fresh.viewport().grab().toImage()


def test_an_edit_or_a_scroll_or_a_cursor_move_ends_the_animation_of_a_step(
    qtbot: QtBot, show_editor: Callable[..., TokenTextEdit]
) -> None:
    editor = show_editor(LANGUAGES * 3, cursor=21)
    for deed in (
        lambda: editor.model.replace(0, 0, "x"),
        lambda: editor.verticalScrollBar().setValue(30),
        lambda: editor.model.set_cursor(70),
    ):
        editor.model.set_cursor(21)
        editor.show_step(Step(21, 22, 30.0))
        editor.model.set_cursor(22)
        assert editor.motion.is_under_way
        deed()
        assert not editor.motion.is_under_way


def test_a_step_that_changes_no_visible_token_starts_no_animation(show_editor: Callable[..., TokenTextEdit]) -> None:
    editor = show_editor("a\n" * 10, cursor=20)
    editor.show_step(Step(20, 20, 30.0))
    assert not editor.motion.is_under_way


def test_ids_of_joined_tokens_move_together_in_the_id_grid(
    qtbot: QtBot, show_editor: Callable[..., TokenTextEdit]
) -> None:
    editor = show_editor(LANGUAGES, cursor=21)
    model = editor.model
    grid = IdsGrid(model)
    qtbot.addWidget(grid)
    grid.resize(300, 300)
    grid.show()
    grid.show_step(Step(21, 22, 0.3))
    model.set_cursor(22)
    assert grid.motion.is_under_way
    early = grid.viewport().grab().toImage()
    qtbot.waitUntil(lambda: not grid.motion.is_under_way)
    late = grid.viewport().grab().toImage()
    assert early != late
    grid.viewport().update()
    assert grid.viewport().grab().toImage() == late
