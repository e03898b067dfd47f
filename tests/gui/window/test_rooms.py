"""Tests of the four rooms: their parts, their arrangement when a user returns, and the first start."""

from __future__ import annotations

from functools import partial

import pytest
from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractSlider, QComboBox, QLineEdit, QMenu, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from app.session.run import Phase
from app.settings import PLAYS, START_HERE, Settings
from app.window.actions import WAY, actions_in
from app.window.main_window import MainWindow
from app.window.questions.compare.panel import LanesPanel
from app.window.room_plan import ROOMS
from app.window.rooms import my_word
from app.wiring import Program
from bpe_core.methods.kit.tokenizer import Tokenizer
from tests.gui.conftest import WAIT, NewProgram, Train, settle, wait_for_phase
from tests.gui.small_run import shown_run, small

METHODS_OFFERED = [
    "bpe",
    "picky",
    "gage",
    "wordpiece",
    "unigram",
    "mingram",
    None,
    "superbpe",
    "boundless",
    "best",
]  # None: a line


class PaintCounter(QObject):
    """A counter of paint events.

    It shows that something was drawn on the screen, which a grabbed picture does not show.
    """

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.times = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.times += event.type() == QEvent.Type.Paint
        return False


@pytest.fixture
def first_start(new_program: NewProgram, settings: Settings) -> Program:
    settings.put(START_HERE, True)
    settings.put(PLAYS, True)
    program = new_program()
    program.window.show_room("watch")
    return program


def go_to_end(qtbot: QtBot, program: Program) -> None:
    wait_for_phase(qtbot, program, Phase.ENDED)  # a training that ends later would play from the start
    settle(qtbot, program)
    assert program.session.cursor.end == 256
    program.actions["live"].trigger()


@pytest.mark.parametrize(
    ("method", "reason"),
    [("wordpiece", "is the longest token that fits here"), ("unigram", "The most probable way to split the word")],
)
def test_the_watch_room_says_for_each_method_why_the_word_stays_split(
    qtbot: QtBot, first_start: Program, method: str, reason: str
) -> None:
    go_to_end(qtbot, first_start)
    first_start.watch.choose_method(method)
    runs = first_start.session.runs
    qtbot.waitUntil(lambda: runs.shown is not None and runs.shown.recipe.method == method, timeout=WAIT)
    settle(qtbot, first_start)
    first_start.actions["live"].trigger()
    qtbot.waitUntil(lambda: reason in first_start.watch.sentence.text(), timeout=WAIT)


def test_at_the_first_start_the_window_trains_a_run_and_plays_the_run_and_explains_a_word(
    qtbot: QtBot, first_start: Program
) -> None:
    watch, drawn = first_start.watch, PaintCounter(first_start.text_panel.editor.viewport())
    qtbot.waitUntil(lambda: first_start.session.playing.is_playing, timeout=WAIT)
    qtbot.waitUntil(lambda: drawn.times > 1, timeout=WAIT)  # again and again, as the text is cut anew
    go_to_end(qtbot, first_start)
    watch.field.setText("lighthouses")
    reason = "e + s was learned as merge 97, but e had already been taken by merge 61."
    qtbot.waitUntil(lambda: reason in watch.sentence.text(), timeout=WAIT)
    watch.field.setText("the")
    qtbot.waitUntil(lambda: "The word is one token" in watch.sentence.text(), timeout=WAIT)
    assert watch.view.accessibleDescription() == "␣the"
    first_start.session.cursor.go_to(0)
    qtbot.waitUntil(lambda: watch.view.accessibleDescription() == "␣ | t | h | e", timeout=WAIT)
    assert watch.sentence.text() == "3 letters and the space before (␣): 4 tokens"


def test_the_space_key_on_the_time_slider_pauses_playing_and_types_nothing(qtbot: QtBot, first_start: Program) -> None:
    playing, text = first_start.session.playing, first_start.token_text.text()
    qtbot.waitUntil(lambda: playing.is_playing, timeout=WAIT)
    first_start.time_bar.track.setFocus()
    QTest.keyClick(first_start.time_bar.track, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: playing.is_paused, timeout=WAIT)
    QTest.keyClick(first_start.time_bar.track, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: playing.is_playing, timeout=WAIT)
    assert first_start.token_text.text() == text


def test_at_the_first_start_the_space_key_pauses_playing_without_a_click(qtbot: QtBot, first_start: Program) -> None:
    playing, text, name = first_start.session.playing, first_start.token_text.text(), first_start.watch.field.text()
    qtbot.waitUntil(lambda: playing.is_playing, timeout=WAIT)
    playing.set_speed(1.0)  # or a slow machine is at the end before it takes the key
    focused = first_start.window.focusWidget()
    assert focused is not None
    QTest.keyClick(focused, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: playing.is_paused, timeout=WAIT)
    assert (first_start.token_text.text(), first_start.watch.field.text()) == (text, name)


def test_choosing_a_different_method_in_the_watch_room_starts_training_immediately(
    qtbot: QtBot, first_start: Program
) -> None:
    go_to_end(qtbot, first_start)
    box = first_start.watch.method
    assert [box.itemData(place) for place in range(box.count())] == METHODS_OFFERED
    box.setCurrentIndex(box.findData("wordpiece"))
    box.activated.emit(box.currentIndex())
    runs = first_start.session.runs
    qtbot.waitUntil(lambda: runs.shown is not None and runs.shown.recipe.method == "wordpiece", timeout=WAIT)
    assert box.currentData() == "wordpiece"


@pytest.mark.parametrize("name", ["Wilhelmina", "Нижний Новгород", "ﻣﺤﻤﺪ أحمد", "👩‍👩‍👧 🏳️‍🌈", "x" * 60, "山田太郎"])
def test_a_name_in_any_script_is_shown_whole_in_the_watch_room(qtbot: QtBot, first_start: Program, name: str) -> None:
    go_to_end(qtbot, first_start)
    watch = first_start.watch
    watch.field.setText(name)
    qtbot.waitUntil(lambda: watch.word.cut.tokens > 0 and watch.word.word == name, timeout=WAIT)
    settle(qtbot, first_start)
    cut = watch.word.cut
    assert b"".join(tile.data for tile in cut.tiles) == f" {name}".encode()
    assert [tile.first for tile in cut.tiles[1:]] == [tile.stop for tile in cut.tiles[:-1]]
    run = first_start.session.runs.shown
    assert run is not None
    assert run.history is not None
    assert cut.tokens == len(Tokenizer(run.history).encode(f" {name}"))


def controls(program: Program) -> list[QWidget]:
    kinds = (QAbstractButton, QAbstractSlider, QComboBox, QLineEdit)
    widgets = [widget for kind in kinds for widget in program.window.findChildren(kind)]
    return [control for control in widgets if control.isVisible() and not control.objectName().startswith("qt_")]


def test_the_first_start_shows_only_a_few_controls_during_and_after_playing(qtbot: QtBot, first_start: Program) -> None:
    playing = first_start.session.playing
    qtbot.waitUntil(lambda: playing.is_playing, timeout=WAIT)
    assert first_start.actions["room_ask"].isVisible()
    for _ in range(2):
        few = controls(first_start)
        assert len(few) <= 15, [(type(control), control.accessibleName()) for control in few]
        go_to_end(qtbot, first_start)
        qtbot.waitUntil(lambda: first_start.card.isVisible(), timeout=WAIT)


def test_a_window_without_a_run_hides_the_buttons_of_the_rooms(new_program: NewProgram) -> None:
    program = new_program()
    program.window.show_room("watch")
    assert not any(program.actions[f"room_{room.id}"].isVisible() for room in ROOMS)


def test_the_watch_room_needs_no_scrolling_after_all_rooms_were_visited(qtbot: QtBot, first_start: Program) -> None:
    first_start.window.resize(1024, 700)
    for room in ("ask", "compare", "build", "watch"):
        first_start.window.show_room(room)
        settle(qtbot, first_start)
    go_to_end(qtbot, first_start)
    qtbot.waitUntil(lambda: first_start.card.isVisible(), timeout=WAIT)
    settle(qtbot, first_start)
    area = first_start.window.centralWidget()
    assert isinstance(area, QScrollArea)
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() == 0, timeout=WAIT)


def test_a_reason_that_several_splits_of_the_watched_word_share_is_shown_only_once(
    qtbot: QtBot, first_start: Program
) -> None:
    go_to_end(qtbot, first_start)
    first_start.watch.choose_method("wordpiece")
    qtbot.waitUntil(lambda: shown_run(first_start).recipe.method == "wordpiece", timeout=WAIT)
    settle(qtbot, first_start)
    first_start.actions["live"].trigger()
    first_start.watch.field.setText("王小明")
    qtbot.waitUntil(lambda: "Two words meet here" in first_start.watch.sentence.text(), timeout=WAIT)
    assert first_start.watch.sentence.text().count("Two words meet here") == 1


@pytest.mark.parametrize("size", [(1280, 800), (1024, 700)])
@pytest.mark.parametrize(("method", "vocabulary"), [("bpe", 512), ("bpe", 450), ("unigram", 512), ("wordpiece", 512)])
def test_the_watch_room_does_not_scroll_at_the_last_step(
    qtbot: QtBot, first_start: Program, size: tuple[int, int], method: str, vocabulary: int
) -> None:
    go_to_end(qtbot, first_start)
    wanted = method, vocabulary
    if wanted != ("bpe", 512):
        first_start.watch.choose_method(method, vocabulary)
        recipe = first_start.session.recipe
        qtbot.waitUntil(lambda: shown_run(first_start).recipe == recipe.value, timeout=WAIT)
        wait_for_phase(qtbot, first_start, Phase.ENDED)
        settle(qtbot, first_start)
        first_start.actions["live"].trigger()
    first_start.watch.field.setText("Wilhelmina Featherstonehaugh")  # with three lines of reasons
    first_start.window.resize(*size)
    qtbot.waitUntil(lambda: first_start.card.isVisible(), timeout=WAIT)
    settle(qtbot, first_start)
    area = first_start.window.centralWidget()
    assert isinstance(area, QScrollArea)
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() == 0, timeout=WAIT)
    assert area.horizontalScrollBar().maximum() == 0
    editor = first_start.text_panel.editor
    assert editor.viewport().height() > 2 * editor.fontMetrics().height(), "two lines of the text are left"


def test_the_watched_word_has_reasons_even_if_the_corpus_is_large(
    qtbot: QtBot, first_start: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(my_word, "LARGEST_CORPUS", 10)
    go_to_end(qtbot, first_start)
    first_start.watch.field.setText("lighthouses")
    qtbot.waitUntil(
        lambda: first_start.watch.sentence.text().startswith("2 tokens. Why the word is split here: "), timeout=WAIT
    )
    assert "e + s" in first_start.watch.sentence.text()


@pytest.mark.parametrize(("method", "tiles"), [("wordpiece", ["", "##"]), ("unigram", ["", ""])])
def test_a_tile_of_the_watched_word_shows_a_whole_token_with_its_marker(
    qtbot: QtBot, first_start: Program, method: str, tiles: list[str]
) -> None:
    go_to_end(qtbot, first_start)
    first_start.watch.choose_method(method, 300)
    qtbot.waitUntil(lambda: shown_run(first_start).recipe.method == method, timeout=WAIT)
    wait_for_phase(qtbot, first_start, Phase.ENDED)
    settle(qtbot, first_start)
    first_start.actions["live"].trigger()
    settle(qtbot, first_start)
    word, names = first_start.watch.word, shown_run(first_start).names
    assert names is not None
    assert [tile.sign for tile in word.cut.tiles] == tiles
    for tile in word.cut.tiles:
        assert tile.id is not None
        covered = "".join(word.cut.characters[tile.first : tile.stop]).replace("␣", "▁")
        assert f"{tile.sign}{covered}" == names.text[tile.id].replace("␣", "▁")
    reasons = first_start.watch.sentence.text()
    assert "Two words meet here" not in reasons, "the space before is no split"


def test_menus_have_at_most_60_entries_and_the_search_finds_every_action(program: Program) -> None:
    """A submenu counts as one entry."""
    in_menus = [(way, action) for way, action in actions_in(program.window) if way]
    in_sight = {way if WAY in way else action for way, action in in_menus}
    assert len(in_sight) <= 60
    assert len(in_menus) <= 80
    names = {action.objectName() for _, action in actions_in(program.window)}
    assert {*program.actions.by_name} <= names


def test_a_room_is_shown_as_the_user_left_it(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program, 300)
    train(program)
    window = program.window
    window.show_dock("bookmarks")
    program.charts.show_page("ranks")
    window.show_room("build")
    assert not window.docks["corpus"].isHidden()
    assert window.docks["bookmarks"].isHidden()
    program.actions["room_ask"].trigger()
    assert (program.charts.shown, window.docks["bookmarks"].isHidden(), window.docks["corpus"].isHidden()) == (
        "ranks",
        False,
        True,
    )
    program.charts.show_page("words")
    assert window.room == "build", "a chart brings its room along"


def test_the_other_rooms_appear_after_the_first_run(qtbot: QtBot, new_program: NewProgram, train: Train) -> None:
    program = new_program()
    assert not program.actions["room_build"].isVisible()
    train(program)
    assert program.actions["room_build"].isVisible()
    program.window.close()
    assert new_program().actions["room_build"].isVisible()


def test_the_window_is_not_larger_than_the_screen_at_the_first_start(qtbot: QtBot) -> None:
    window = MainWindow()
    qtbot.addWidget(window)
    room = QGuiApplication.primaryScreen().availableSize()
    assert window.size() == QSize(1280, 800).boundedTo(room - QSize(16, 48))


def has_no_scroll_bar(area: QScrollArea) -> bool:
    return area.verticalScrollBar().maximum() == area.horizontalScrollBar().maximum() == 0


def test_no_room_scrolls_in_a_small_window_after_four_runs_are_compared(qtbot: QtBot, first_start: Program) -> None:
    first_start.window.resize(1024, 700)
    go_to_end(qtbot, first_start)
    for method in ("wordpiece", "unigram", "mingram"):
        first_start.finding.learn(first_start.form.choose_method, method)
        wait_for_phase(qtbot, first_start, Phase.ENDED)
    first_start.session.playing.pause_for_person()
    first_start.window.show_room("compare")
    first_start.charts.show_page("lab")
    lab = first_start.pages[LanesPanel]
    lab.model.choose([run.number for run in first_start.session.runs.all])
    settle(qtbot, first_start)
    assert lab.model.is_ready
    assert len(lab.model.numbers) == 4
    for room in ROOMS:
        first_start.window.show_room(room.id)
        qtbot.wait(1)
        area = first_start.window.centralWidget()
        assert isinstance(area, QScrollArea)
        qtbot.waitUntil(partial(has_no_scroll_bar, area))
        assert isinstance(first_start.window.menuBar().actions()[0].menu(), QMenu)


def test_no_chart_of_any_room_scrolls_sideways_in_a_small_window(qtbot: QtBot, first_start: Program) -> None:
    go_to_end(qtbot, first_start)
    first_start.window.resize(1024, 700)
    first_start.window.reset_layout()  # the docks as in a window that opens with this size
    charts = first_start.charts
    for room in ("ask", "build"):
        first_start.window.show_room(room)
        for place, id in enumerate(charts.ids):
            if not charts.isTabVisible(place):
                continue
            charts.show_page(id)
            settle(qtbot, first_start)
            areas = charts.currentWidget().findChildren(QScrollArea)
            wide = [area.accessibleName() for area in areas if area.isVisible() and not has_no_scroll_bar_below(area)]
            assert not wide, (room, id)


def test_the_list_of_questions_makes_room_for_the_lessons_in_a_small_window(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    train(program)
    program.window.resize(1024, 700)
    program.window.reset_layout()
    assert program.question_list.isVisible()
    program.actions["lessons"].trigger()
    qtbot.waitUntil(lambda: not program.question_list.isVisible(), timeout=WAIT)
    qtbot.waitUntil(lambda: program.text_panel.editor.width() > 150, timeout=WAIT)
    program.window.docks["lessons"].hide()
    qtbot.waitUntil(program.question_list.isVisible, timeout=WAIT)
    program.window.resize(1280, 800)
    program.actions["lessons"].trigger()
    qtbot.wait(50)
    assert program.question_list.isVisible()


def has_no_scroll_bar_below(area: QScrollArea) -> bool:
    return area.horizontalScrollBar().maximum() == 0


@pytest.mark.parametrize("room", [room.id for room in ROOMS])
def test_clicking_the_button_of_the_current_room_again_keeps_the_button_checked(program: Program, room: str) -> None:
    for _ in range(2):
        program.actions[f"room_{room}"].trigger()
        marked = [any_room.id for any_room in ROOMS if program.actions[f"room_{any_room.id}"].isChecked()]
        assert marked == [room]


@pytest.mark.parametrize("menu", ["view", "training"])
def test_menu_entries_that_exclude_each_other_are_radio_buttons(program: Program, train: Train, menu: str) -> None:
    train(program)
    entries = {
        "view": [program.actions[f"room_{room.id}"] for room in ROOMS],
        "training": actions_of(program.running.runs_menu),
    }[menu]
    assert entries
    for action in entries:
        group = action.actionGroup()
        assert group is not None
        assert group.isExclusive()
    assert sum(action.isChecked() for action in entries) == 1


def actions_of(menu: QMenu) -> list[QAction]:
    menu.aboutToShow.emit()
    return menu.actions()


def test_quit_is_the_last_entry_of_the_file_menu(program: Program) -> None:
    entries = [action for action in program.actions.menus["file"].actions() if not action.isSeparator()]
    assert entries[-1] is program.actions["quit"]
    titles = [action.text().replace("&", "") for action in entries]
    assert titles.index("Open Folder …") + 1 == titles.index("Samples") == titles.index("Open Recent") - 1


def test_a_run_can_be_shown_before_the_tokens_of_the_watched_word_are_computed(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    small(program, 300)
    train(program)
    large = shown_run(program)
    small(program, 257)
    train(program)
    runs, word = program.session.runs, program.watch.word
    for run in (large, runs.all[-1]):
        runs.show(run)  # with fewer ids than the split that is known
        word._show()
    settle(qtbot, program)
    assert run.history is not None
    assert word.cut.tokens == len(Tokenizer(run.history).encode(word.text))


def test_the_watch_room_mentions_only_buttons_that_can_be_pressed(qtbot: QtBot, program: Program, train: Train) -> None:
    program.window.show_room("watch")
    assert not program.actions["play"].isEnabled()
    assert program.watch.sentence.text().startswith("Press Train")
    train(program)
    qtbot.waitUntil(lambda: "tokens" in program.watch.word.sentence, timeout=WAIT)
