"""Tests of the player. It starts by itself after a training, and stops when a person does anything else."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.session.playing import EVENT_SECONDS, LEAST_EVENT_SECONDS, WHOLE_SECONDS, Schedule, Step, steps_without_idle
from app.session.run import Phase
from app.settings import PLAYS, Settings
from app.window.text.colours import Rarity
from app.window.text.encoder import steps_that_change
from app.window.text.view.palette import TokenPalette
from app.window.text.view.text_panel import ScaleLegend
from app.window.time.step_in_words import words_of_step
from app.wiring import Program
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.registry import METHODS
from tests.gui.conftest import WAIT, Train, settle, wait_for_phase
from tests.gui.small_run import group_texts, moments, rows, small

Key = Qt.Key


@given(steps=st.integers(1, 40_000), start=st.integers(0, 99), speed=st.sampled_from([None, None, 1.0, 30.0]))
def test_a_playback_schedule_begins_slowly_and_reaches_the_last_step_on_time(
    steps: int, start: int, speed: float | None
) -> None:
    schedule = Schedule(start, start + steps, speed)
    places = [schedule.place(schedule.seconds * share / 50) for share in range(51)]
    assert places[0] == start
    assert places[-1] == start + steps
    assert places == sorted(places)
    if speed is None:
        assert schedule.seconds <= WHOLE_SECONDS
        assert schedule.pace(0) == 1
        strides = [after - before for before, after in pairwise(places)]
        assert all(b >= a - 1e-6 for a, b in pairwise(strides[:-1]))


@pytest.fixture
def player(settings: Settings, long_time_limit: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Switch the player on, which is also the default. Let it play a whole run in less than a second."""
    settings.put(PLAYS, True)
    monkeypatch.setattr("app.session.playing.WHOLE_SECONDS", 1.0)


def states(program: Program) -> str:
    playing = program.session.playing
    return "playing" if playing.is_playing else "paused" if playing.is_paused else "nothing"


def test_the_train_button_trains_the_whole_run_and_then_plays_it_from_the_first_step(
    qtbot: QtBot, player: None, program: Program
) -> None:
    playing, cursor = program.session.playing, program.session.cursor
    small(program)
    seen: list[int] = []
    cursor.moved.connect(seen.append)
    program.actions["main"].trigger()
    qtbot.waitUntil(lambda: playing.is_playing, timeout=WAIT)
    assert program.session.runs.shown is not None
    assert program.session.runs.shown.phase is Phase.ENDED
    assert rows(program) == 64  # all of it can be used
    assert cursor.position < 5
    assert program.actions["play"].iconText() == "Pause"
    assert program.actions["skip"].isEnabled()
    assert "Nothing is" not in program.actions["skip"].toolTip()
    qtbot.waitUntil(lambda: not playing.is_playing, timeout=WAIT)
    assert seen == sorted(seen)
    assert len(seen) > 2  # it moves on by the clock, so a busy machine shows fewer steps
    assert cursor.live
    assert moments(program) == (64, 64, 64, 64)
    assert program.actions["play"].iconText() == "Replay"
    assert not program.actions["skip"].isEnabled()
    assert "Press Play first" in program.actions["skip"].toolTip(), "it says why it cannot be pressed"


LEAST_CHANGES = {"mingram": 5, "best": 5}  # it drops a tenth of few tokens; by the other methods more changes


@pytest.mark.usefixtures("only_window")
@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("dropping", "adding")])
def test_playing_the_sample_with_each_method_shows_changes_without_long_pauses(
    qtbot: QtBot, program: Program, train: Train, method: str
) -> None:
    program.form.choose_method(method)
    group_texts(program)
    train(program)
    run, text = program.session.runs.shown, program.token_text.text()
    assert run is not None
    assert run.history is not None
    changes = steps_that_change(run.history, text)
    assert len(changes) >= LEAST_CHANGES.get(method, 20)
    tokenizer = Tokenizer(run.history)
    assert all(tokenizer.encode(text, at=at) != tokenizer.encode(text, at=at - 1) for at in changes)
    places = steps_without_idle(changes, 0, len(run.history))
    assert {0, *changes} <= {*places}
    schedule = Schedule(0, len(places) - 1)
    assert schedule.seconds >= 5
    marks = [places.index(place) for place in sorted({0, *changes, len(run.history)})]
    assert all(schedule.seconds_to(b) - schedule.seconds_to(a) <= 2.01 for a, b in pairwise(marks))


@given(steps=st.integers(1, 4_000), speed=st.sampled_from([None, 1.0, 30.0]), share=st.floats(0, 1))
def test_a_playback_schedule_reaches_each_step_at_the_predicted_time(
    steps: int, speed: float | None, share: float
) -> None:
    schedule, step = Schedule(3, 3 + steps, speed), 3 + int(share * steps)
    assert schedule.place(schedule.seconds_to(step)) == pytest.approx(step, rel=1e-6)


def test_playing_skips_and_reports_steps_that_do_not_change_the_text(
    qtbot: QtBot, program: Program, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.session.playing.WHOLE_SECONDS", 3.0)
    monkeypatch.setattr("app.session.playing.LONGEST_IDLE", 0.2)
    program.form.choose_method("unigram")
    train(program)
    seen, caption = list[int](), program.caption
    program.actions["play"].trigger()
    program.session.cursor.moved.connect(seen.append)
    qtbot.waitUntil(lambda: "do not change this text, and are skipped" in caption.accessibleName(), timeout=WAIT)
    skipped = re.match(r"Drops (\d+) to 3\d\d do not change", caption.accessibleName())
    assert skipped is not None
    assert int(skipped[1]) < 100  # a slow machine skips later
    assert len(seen) < 10
    assert seen[-1] > 200
    program.session.playing.pause_for_person()
    assert "skipped" not in caption.accessibleName()
    rested = program.session.cursor.position
    program.token_text.replace(0, 0, "The ")
    settle(qtbot, program)
    program.actions["play"].trigger()
    assert program.session.cursor.position == rested, "it goes on, for the new text"


def test_playing_can_be_paused_or_skipped_and_stops_when_the_user_does_something_else(
    qtbot: QtBot, player: None, program: Program
) -> None:
    playing, cursor, table = program.session.playing, program.session.cursor, program.merge_panel.table
    small(program)
    program.actions["main"].trigger()
    qtbot.waitUntil(lambda: cursor.position > 1, timeout=WAIT)
    qtbot.keyClick(table, Key.Key_Space)
    assert states(program) == "paused"
    rested = cursor.position
    assert 1 < rested < 64
    qtbot.keyClick(table, Key.Key_Space)
    qtbot.waitUntil(lambda: cursor.position > max(rested, 7), timeout=WAIT)
    cursor.go_to(7)  # whoever chooses a moment has it
    assert states(program) == "nothing"
    playing.play()
    program.token_text.replace(0, 0, "The ")
    assert states(program) == "paused"
    assert cursor.position == 7
    playing.play()
    assert table.rowAt(0) < 20, "the first steps are in sight"
    program.actions["skip"].trigger()
    assert states(program) == "nothing"
    assert cursor.live
    assert table.is_at_end, "the merge of the moment is in sight"
    program.actions["new_run"].trigger()
    qtbot.waitUntil(lambda: playing.is_playing, timeout=WAIT)
    program.actions["find"].trigger()
    assert states(program) == "paused"


@pytest.mark.parametrize("reason", ["switched off", "slow", "large", "busy"])
def test_training_shows_the_last_step_immediately_when_the_steps_are_not_played(
    qtbot: QtBot, player: None, program: Program, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    small(program, 270)
    if reason == "switched off":
        program.actions["plays"].trigger()
    elif reason == "slow":
        program.speed.slider.setValue(60)
    elif reason == "large":
        monkeypatch.setattr("app.session.playing.SMALL_TOKENS", 100)
    program.actions["main"].trigger()
    if reason == "busy":
        qtbot.waitUntil(lambda: rows(program) == 14, timeout=WAIT)
        program.token_text.replace(0, 0, "x")
        program.session.playing.skip()
    wait_for_phase(qtbot, program, Phase.ENDED)
    settle(qtbot, program)
    assert states(program) == "nothing"
    assert program.session.cursor.live
    assert program.actions["play"].iconText() == "Replay"
    program.actions["play"].trigger()
    assert states(program) == "playing"
    assert program.session.cursor.position == 0


@pytest.mark.usefixtures("only_window")
def test_the_speed_slider_sets_the_speed_of_playing(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    playing, cursor = program.session.playing, program.session.cursor
    program.speed.slider.setValue(0)  # one a second
    program.actions["play"].trigger()
    assert playing.speed == 1
    qtbot.waitUntil(lambda: cursor.position == 1, timeout=WAIT)
    program.speed.slider.setValue(99)  # ten thousand
    qtbot.waitUntil(lambda: not playing.is_playing, timeout=WAIT // 2)  # at one a second it would take longer
    assert cursor.position == 64


def test_outside_of_text_fields_the_space_key_plays_and_the_arrow_keys_move_by_one_step(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    small(program)
    train(program)
    cursor = program.session.cursor
    for widget in (program.merge_panel.table, program.charts.page, program.time_bar.track):
        widget.setFocus()
        qtbot.keyClick(widget, Key.Key_Home)
        assert cursor.position == 0
        qtbot.keyClick(widget, Key.Key_Right)
        qtbot.keyClick(widget, Key.Key_Right)
        qtbot.keyClick(widget, Key.Key_Left)
        assert cursor.position == 1
        qtbot.keyClick(widget, Key.Key_Space)
        assert states(program) == "playing"
        qtbot.keyClick(widget, Key.Key_Space)
        assert states(program) == "paused"
        qtbot.keyClick(widget, Key.Key_End)
        assert cursor.live
    cursor.go_to(9)
    for typed in (program.text_panel.editor, program.merge_panel.needle):
        typed.setFocus()
        for key in (Key.Key_Home, Key.Key_Space, Key.Key_Right, Key.Key_Left):
            qtbot.keyClick(typed, key)
        assert cursor.position == 9
    assert program.token_text.text().startswith(" ")
    program.speed.slider.setFocus()
    qtbot.keyClick(program.speed.slider, Key.Key_Left)
    assert program.speed.slider.value() == 99
    program.merge_panel.ties_only.setFocus()
    qtbot.keyClick(program.merge_panel.ties_only, Key.Key_Space)
    assert program.merge_panel.ties_only.isChecked()
    assert cursor.position == 9


def test_only_a_single_step_after_a_pause_is_animated(
    program: Program, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(program, 280)
    train(program)
    now = [time.monotonic()]
    monkeypatch.setattr("app.session.playing.time", SimpleNamespace(monotonic=lambda: now[0]))
    steps: list[Step] = []
    playing, cursor = program.session.playing, program.session.cursor
    playing.stepped.connect(steps.append)
    cursor.go_to(5)
    assert steps == []  # that was no single step
    now[0] += LEAST_EVENT_SECONDS + 0.02
    for position in (6, 7, 8):  # of which two come at once
        cursor.go_to(position)
    assert steps == [Step(5, 6, EVENT_SECONDS)]
    now[0] += LEAST_EVENT_SECONDS + 0.02
    cursor.go_to(7)
    assert steps[1:] == [Step(8, 7, EVENT_SECONDS)]
    program.actions["motion"].trigger()
    now[0] += LEAST_EVENT_SECONDS + 0.02
    cursor.go_to(8)
    assert len(steps) == 2


@pytest.mark.usefixtures("only_window")
def test_tokens_can_be_coloured_by_age_or_rarity(program: Program, train: Train) -> None:
    small(program, 280)
    train(program)
    legend = program.text_panel.findChild(ScaleLegend)
    assert isinstance(legend, ScaleLegend)
    assert not legend.isVisible()
    viewport = program.text_panel.editor.viewport()
    before = viewport.grab().toImage()
    program.actions["ages"].trigger()
    assert legend.isVisible()
    assert legend.texts() == ["at first", "from 1", "from 2", "from 4", "from 7", "from 13"]
    palette = TokenPalette.matching(program.window.palette())
    after = viewport.grab().toImage()
    grabbed = {after.pixelColor(x, 4).rgb() for x in range(10, 300)}
    assert len(grabbed & {fill.rgb() for fill in palette.scale}) >= 3
    assert not grabbed & {fill.rgb() for fill in palette.fills}
    program.actions["rarity"].trigger()
    assert not program.actions["ages"].isChecked()
    assert legend.isVisible()
    scale = program.token_text.scale
    assert isinstance(scale, Rarity)
    run = program.session.runs.shown
    assert run is not None
    assert run.history is not None
    assert scale.counts[:256].tolist() == run.symbol_counts.tolist()
    assert scale.counts[256:].tolist() == run.history.columns.count.tolist()
    assert legend.texts()[0] == f"≥{scale.smallest_counts[0]:,}"
    assert len(legend.texts()) == len(palette.scale)
    program.actions["rarity"].trigger()
    again = viewport.grab().toImage()
    assert [again.pixel(x, 4) for x in range(300)] == [before.pixel(x, 4) for x in range(300)]


def test_the_caption_of_the_text_panel_describes_the_shown_step(
    new_program: Callable[..., Program], train: Train
) -> None:
    program = new_program()
    caption = program.text_panel.findChild(type(program.caption))
    assert caption is program.caption
    assert program.caption.shown.sentence.startswith("Your text")
    small(program, 280)
    train(program)
    program.session.cursor.go_to(1)
    assert program.caption.shown.sentence == "Merge 1 h + e → he 164×"
    assert program.caption.accessibleName() == program.caption.shown.sentence
    program.session.cursor.go_to(0)
    assert "Nothing is merged yet" in program.caption.shown.sentence
    assert words_of_step(None, 0).parts == ()
