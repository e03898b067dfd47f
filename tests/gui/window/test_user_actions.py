"""A test with random actions of a user. They must not crash or block the window.

After each action, the table, the text, the time bar and the chart must show the same step.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, cast

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.session.merge_filter import MergeFilter
from app.session.run import Phase
from app.settings import LOCATION, PLAYS, Settings
from app.window.charts.pairs_page import PairsPage
from app.wiring import Program, build
from resources import samples
from tests.conftest import EXPLORES
from tests.gui.conftest import WAIT, settle

SEQUENCES = 2_000 if EXPLORES else 8
DEEDS = 12


class UserActions(RuleBasedStateMachine):
    """A state machine that opens, uses and closes a window in each example."""

    qtbot: ClassVar[QtBot]
    folder: ClassVar[Path]

    def __init__(self) -> None:
        super().__init__()
        application = cast(QApplication, QApplication.instance())
        self.program: Program = build(application, Settings(), "light")
        self.program.window.show()
        self.program.begin([])
        self.program.form.choose(vocab_size=300)

    def teardown(self) -> None:
        self.program.window.close()
        self.program.deleteLater()  # with its models, before the views that listen to them
        self.program.window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    @property
    def cursor_end(self) -> int:
        return self.program.session.cursor.end

    def press(self, name: str) -> None:
        if self.program.actions[name].isEnabled():
            self.program.actions[name].trigger()

    @initialize(speed=st.sampled_from([40, 70, 100, 100]), merges=st.sampled_from([0, 1, 20, 44]))
    def learn_something_first(self, speed: int, merges: int) -> None:
        self.program.speed.slider.setValue(speed)
        if merges:
            self.press("main")
            self.qtbot.waitUntil(lambda: self.cursor_end >= merges, timeout=WAIT)

    @rule(name=st.sampled_from(["main", "step", "stop", "new_run", "extend"]), waits=st.booleans())
    def train(self, name: str, waits: bool) -> None:
        self.press(name)
        if waits:
            self.qtbot.waitUntil(lambda: not self.is_getting_ready, timeout=WAIT)
            self.qtbot.wait(40)

    @property
    def is_getting_ready(self) -> bool:
        run = self.program.session.runs.shown
        return run is not None and run.phase in (Phase.COUNTING, Phase.PREPARING)

    @rule(milliseconds=st.integers(0, 60))
    def wait(self, milliseconds: int) -> None:
        self.qtbot.wait(milliseconds)

    @rule(speed=st.sampled_from([0, 40, 70, 100]))
    def change_speed(self, speed: int) -> None:
        self.program.speed.slider.setValue(speed)

    @rule(name=st.sampled_from(["back", "forward", "first", "live", "play"]))
    def travel(self, name: str) -> None:
        self.press(name)

    @rule(share=st.floats(0, 1))
    def drag(self, share: float) -> None:
        self.program.time_bar.track.setValue(int(share * self.cursor_end))

    # No preconditions: threads do not keep to them, and an example could not be repeated.

    @rule(share=st.floats(0, 0.999))
    def click_row(self, share: float) -> None:
        if self.program.merges.rowCount() == 0:
            return
        table = self.program.merge_panel.table
        index = self.program.merges.index(int(share * self.program.merges.rowCount()), 1)
        table.scrollTo(index)
        place = table.visualRect(index).center()
        self.qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)

    @rule(needle=st.sampled_from(["", "e", "th", "zzz"]), ties=st.booleans(), length=st.integers(1, 4))
    def filter(self, needle: str, ties: bool, length: int) -> None:
        self.program.merges.set_filter(MergeFilter(needle, "text", ties, length))

    @rule(column=st.integers(0, 8), descending=st.booleans())
    def sort(self, column: int, descending: bool) -> None:
        order = Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder
        self.program.merges.sort(column, order)

    @rule(which=st.integers(0, len(samples()) - 1), adds=st.booleans())
    def choose_text(self, which: int, adds: bool) -> None:
        sample = samples()[which]
        if adds:
            self.program.session.corpus.add_text(sample.title, sample.text())
        else:
            self.program.opening.open_sample(sample)

    @rule()
    def add_missing_file(self) -> None:
        self.program.session.corpus.add_paths([self.folder / "missing.txt"])

    @rule()
    def remove_all_texts(self) -> None:
        self.program.corpus_panel.list.selectAll()
        self.program.corpus_panel.remove_selected()

    @rule(size=st.sampled_from([100, 270, 300, 330]))
    def choose_size(self, size: int) -> None:
        self.program.recipe_panel.size_box.setValue(size)

    @rule(name=st.sampled_from(["gpt2", "english", "clean-words", "raw-bytes"]))
    def choose_preset(self, name: str) -> None:
        self.program.form.choose_preset(name)

    @rule(name=st.sampled_from(["undo", "redo"]))
    def undo(self, name: str) -> None:
        self.press(name)

    @rule(text=st.text(max_size=6), share=st.floats(0, 1))
    def type_text(self, text: str, share: float) -> None:
        model = self.program.token_text
        place = int(share * model.length)
        model.replace(place, min(model.length, place + 2), text)

    @rule(tab=st.integers(0, 3))
    def look_at_chart(self, tab: int) -> None:
        self.program.charts.setCurrentIndex(tab)

    @rule(share=st.floats(0, 0.99))
    def look_at_another_run(self, share: float) -> None:
        runs = self.program.session.runs
        if runs.all:
            runs.show(runs.all[int(share * len(runs.all))])

    @invariant()
    def all_show_the_same_moment(self) -> None:
        program, run = self.program, self.program.session.runs.shown
        position = program.session.cursor.position
        assert program.session.cursor.end == (0 if run is None else run.learned)
        assert program.token_text.cursor == position
        assert program.time_bar.number.value() == program.time_bar.track.value() == position
        marked = program.merge_panel.table.delegate.marked_row
        # Only the timer tells that the rows are still to be put into another order.
        if program.merges.filter.lets_all_pass and not program.merges._reorder_later.isActive():
            assert program.merges.rowCount() == program.session.cursor.end
            assert (program.merges.merge_at(marked) if marked >= 0 else -1) == position - 1
        pairs = program.pages[PairsPage].model
        if run is not None and run.phase is not Phase.LEARNING and pairs.is_watched and not pairs.is_waiting:
            assert pairs.at == position

    @invariant()
    def in_the_end_the_chart_follows(self) -> None:
        run = self.program.session.runs.shown
        if run is not None and run.phase in (Phase.PAUSED, Phase.ENDED) and run.job is None:
            charts = self.program.charts
            before = charts.shown
            charts.show_page("pairs")  # a chart that nobody sees may be behind, until it is looked at
            settle(self.qtbot, self.program)
            assert self.program.pages[PairsPage].model.at == self.program.session.cursor.position
            charts.show_page(before)


@contextmanager
def own_settings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(LOCATION, str(folder / "settings.ini"))
    chosen = Settings()
    chosen.put(PLAYS, False)
    chosen.save()
    yield


def test_any_sequence_of_user_actions_keeps_the_window_consistent(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_settings(tmp_path, monkeypatch):
        run_state_machine_as_test(
            type("Machine", (UserActions,), {"qtbot": qtbot, "folder": tmp_path}),
            settings=settings(
                max_examples=SEQUENCES,
                stateful_step_count=DEEDS,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
