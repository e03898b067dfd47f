"""The window as a person uses it, with the real engine: click, type, drag, wait, read."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QLibraryInfo, QMimeData, QPoint, QPointF, Qt, QUrl, QVersionNumber
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QFileDialog,
    QInputDialog,
    QLineEdit,
    QMenu,
    QPushButton,
    QSlider,
    QSpinBox,
    QTabBar,
    QToolBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.session.run import Phase
from app.settings import RECENT_FILES, Settings
from app.window.charts import wiring as charts
from app.window.charts.pairs_page import PairsPage
from app.window.corpus.model import Entry
from app.window.questions.token.page import TokenPage
from app.wiring import Program
from app.worker.training import TrainingJob
from resources import samples
from tests.gui.conftest import WAIT, rest, settle, wait_for_phase

Train = Callable[[Program], None]


def rows(program: Program) -> int:
    return program.merges.rowCount()


def cell(program: Program, row: int, column: int) -> str:
    text = program.merges.data(program.merges.index(row, column))
    assert isinstance(text, str)
    return text


def wait_for_rows(qtbot: QtBot, program: Program, wanted: int) -> None:
    qtbot.waitUntil(lambda: rows(program) == wanted, timeout=WAIT)


def small(program: Program, size: int = 320) -> None:
    """A vocabulary that is learned in no time."""
    assert program.form.choose(vocab_size=size)


def moments(program: Program) -> tuple[int, int, int, int]:
    """The moment that the cursor, the table, the text and the time bar show."""
    return (
        program.session.cursor.position,
        program.merge_panel.table.delegate.marked_row + 1,
        program.token_text.cursor,
        program.time_bar.number.value(),
    )


# The first minute


def test_train_at_once(program: Program, train: Train) -> None:
    assert rows(program) == 0
    train(program)
    assert rows(program) == program.session.runs.shown.learned > 100  # type: ignore[union-attr]
    assert cell(program, 0, 0) == "1"
    assert program.status.sentence.text().endswith(".")
    assert program.token_text.token_count() < program.token_text.byte_length


def test_the_table_says_what_the_history_says(program: Program, train: Train) -> None:
    small(program)
    train(program)
    run = program.session.runs.shown
    assert run is not None
    assert run.history is not None
    assert run.names is not None
    for row, merge in enumerate(run.history):
        assert cell(program, row, 0) == str(merge.step)
        assert cell(program, row, 3) == run.names.text[merge.left] + run.names.text[merge.right]
        assert cell(program, row, 4) == f"{merge.count:,}"
        assert cell(program, row, 5).startswith("=") == merge.tied
        assert cell(program, row, 7) == f"{merge.tokens_left:,}"


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.name)
def test_every_sample_trains(program: Program, train: Train, sample: object) -> None:
    action = next(action for action in program.samples_menu.actions() if action.text() == sample.title)  # type: ignore[attr-defined]
    action.trigger()
    small(program, 280)
    train(program)
    assert rows(program) == 24


# Training


def test_pause_step_resume_stop(qtbot: QtBot, program: Program) -> None:
    program.speed.slider.setValue(0)  # one merge a second
    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.LEARNING)
    assert program.actions["main"].text() == "&Pause"
    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.PAUSED)
    learned = rows(program)
    assert learned < 5
    for _ in range(3):
        program.actions["step"].trigger()
        wait_for_phase(qtbot, program, Phase.PAUSED)
    assert rows(program) == learned + 3
    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.LEARNING)
    program.actions["stop"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    assert rows(program) >= learned + 3
    assert "stopped" in program.status.sentence.text()


def test_steps_from_nothing(qtbot: QtBot, program: Program) -> None:
    program.actions["step"].trigger()
    wait_for_phase(qtbot, program, Phase.PAUSED)
    qtbot.waitUntil(lambda: rows(program) == 1, timeout=WAIT)


def test_a_slow_run_gets_fast_at_once(qtbot: QtBot, program: Program) -> None:
    small(program)
    program.speed.slider.setValue(0)
    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.LEARNING)
    program.speed.slider.setValue(100)
    wait_for_phase(qtbot, program, Phase.ENDED)
    assert rows(program) == 64


def test_stepping_and_training_learn_the_same(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program, 270)
    for step in range(14):
        program.actions["step"].trigger()
        wait_for_rows(qtbot, program, step + 1)
        wait_for_phase(qtbot, program, Phase.PAUSED, Phase.ENDED)
    stepped = [[cell(program, row, column) for column in range(9)] for row in range(14)]
    program.actions["new_run"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    assert [[cell(program, row, column) for column in range(9)] for row in range(14)] == stepped
    assert len(program.session.runs.all) == 2


def test_continue_to_a_larger_vocabulary(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program, 300)
    train(program)
    first = [cell(program, row, 3) for row in range(44)]
    assert not program.actions["extend"].isEnabled()
    small(program, 330)
    qtbot.waitUntil(lambda: program.actions["extend"].isEnabled(), timeout=WAIT)
    assert program.actions["main"].text() == "&Continue"
    program.actions["main"].trigger()
    qtbot.waitUntil(lambda: rows(program) == 74, timeout=WAIT)
    assert [cell(program, row, 3) for row in range(44)] == first
    assert len(program.session.runs.all) == 1


def test_it_says_why_it_ended_early(program: Program, train: Train) -> None:
    program.opening.open_sample(samples()[1])
    small(program, 30_000)
    train(program)
    assert "minimum frequency" in program.status.sentence.text()


def test_nothing_to_learn_from(program: Program) -> None:
    program.corpus_panel.list.selectAll()
    program.corpus_panel.remove_button.click()
    program.actions["main"].trigger()
    assert program.messages.isVisible()
    assert "no text to learn from" in program.messages.sentence.text()


# Time


def test_everything_shows_the_same_moment(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    assert moments(program) == (64, 64, 64, 64)
    for position in (0, 1, 33, 64, 17):
        program.time_bar.track.setValue(position)
        settle(qtbot, program)
        assert moments(program) == (position,) * 4
        assert program.pages[PairsPage].model.at == position
    program.actions["live"].trigger()
    settle(qtbot, program)
    assert moments(program) == (64, 64, 64, 64)
    assert program.session.cursor.live


def test_the_chart_of_the_past_names_the_pair_that_was_merged_next(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    small(program)
    train(program)
    for position in (0, 5, 40):
        program.session.cursor.go_to(position)
        settle(qtbot, program)
        leading = program.pages[PairsPage].model.bars[0]
        assert (leading.left, leading.right) == (cell(program, position, 1), cell(program, position, 2))
        assert f"{leading.count:,}" == cell(program, position, 4)


def test_clicking_a_row_travels_there(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    table = program.merge_panel.table
    index = program.merges.index(20, 3)
    table.scrollTo(index)
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=table.visualRect(index).center())
    assert moments(program) == (21, 21, 21, 21)
    qtbot.keyClick(table, Qt.Key.Key_Down)
    assert moments(program) == (22, 22, 22, 22)


def test_keys_and_the_number_box_travel(
    qtbot: QtBot, program: Program, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(program)
    train(program)
    program.actions["first"].trigger()
    program.actions["forward"].trigger()
    assert moments(program) == (1, 1, 1, 1)
    program.time_bar.number.setValue(30)
    program.actions["back"].trigger()
    assert moments(program) == (29, 29, 29, 29)
    monkeypatch.setattr(QInputDialog, "getInt", lambda *_: (12, True))
    program.actions["go_to"].trigger()
    assert moments(program) == (12, 12, 12, 12)


def test_dragging_the_slider(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    track = program.time_bar.track
    middle = QPoint(track.width() // 2, track.height() // 2)
    qtbot.mousePress(track, Qt.MouseButton.LeftButton, pos=middle)
    assert abs(program.session.cursor.position - 32) <= 1
    qtbot.mouseMove(track, QPoint(2, 5))
    qtbot.mouseRelease(track, Qt.MouseButton.LeftButton, pos=QPoint(2, 5))
    assert program.session.cursor.position == 0


def test_history_plays_to_the_end(
    qtbot: QtBot, program: Program, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.window.time.player.WHOLE_HISTORY_SECONDS", 0.5)
    small(program)
    train(program)
    program.session.cursor.go_to(0)
    program.actions["play"].trigger()
    assert program.travelling.player.is_playing
    qtbot.waitUntil(lambda: not program.travelling.player.is_playing, timeout=WAIT)
    assert moments(program) == (64, 64, 64, 64)


def test_the_past_can_be_visited_while_training_goes_on(qtbot: QtBot, program: Program) -> None:
    program.speed.slider.setValue(30)
    program.actions["main"].trigger()
    qtbot.waitUntil(lambda: rows(program) >= 5, timeout=WAIT)
    program.session.cursor.go_to(3)
    before = rows(program)
    qtbot.waitUntil(lambda: rows(program) > before + 2, timeout=WAIT)
    assert program.session.cursor.position == 3
    assert moments(program) == (3, 3, 3, 3)
    program.actions["live"].trigger()
    assert program.session.cursor.position == rows(program)


# The table


def test_the_end_is_followed_only_by_a_reader_who_is_there(qtbot: QtBot, program: Program) -> None:
    program.speed.slider.setValue(60)
    program.actions["main"].trigger()
    table = program.merge_panel.table
    qtbot.waitUntil(lambda: table.verticalScrollBar().maximum() > 30, timeout=WAIT)
    assert table.is_at_end
    table.verticalScrollBar().setValue(3)
    before = rows(program)
    qtbot.waitUntil(lambda: rows(program) > before + 20, timeout=WAIT)
    assert table.verticalScrollBar().value() == 3


def test_filtering_as_one_types(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program, 500)
    train(program)
    panel = program.merge_panel
    everything = rows(program)
    qtbot.keyClicks(panel.needle, " th")
    assert 0 < rows(program) < everything
    assert all("␣th" in cell(program, row, 3) for row in range(rows(program)))
    assert panel.below.text() == f"{rows(program)} of {everything} merges"
    panel.needle.clear()
    panel.kind.setCurrentIndex(2)
    qtbot.keyClicks(panel.needle, "20")
    assert all("␣" in cell(program, row, 3) for row in range(rows(program)))
    panel.needle.clear()
    panel.ties_only.click()
    assert all(cell(program, row, 5).startswith("=") for row in range(rows(program)))
    panel.ties_only.click()
    panel.min_length.setValue(5)
    assert all(int(cell(program, row, 6)) >= 5 for row in range(rows(program)))


def test_a_click_on_a_title_sorts(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    header = program.merge_panel.table.horizontalHeader()

    def click(column: int) -> None:
        x = header.sectionViewportPosition(column) + header.sectionSize(column) // 2
        qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, header.height() // 2))

    click(6)
    lengths = [int(cell(program, row, 6)) for row in range(rows(program))]
    assert lengths == sorted(lengths, reverse=True)
    click(6)
    assert [int(cell(program, row, 6)) for row in range(rows(program))] == sorted(lengths)
    click(0)
    assert cell(program, 0, 0) == "1"


def test_copying_selected_rows(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    program.merge_panel.table.selectRow(2)
    program.actions["copy_tsv"].trigger()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].startswith("Step\tLeft\tRight")
    assert lines[1].startswith("3\t")
    program.actions["copy_headers"].trigger()
    program.actions["copy_csv"].trigger()
    assert QGuiApplication.clipboard().text().startswith("3,")


# The corpus


def test_files_folders_and_pasted_texts(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    for name in ("a.txt", "folder/b.txt", "folder/inner/c.txt", "folder/.hidden"):
        (tmp_path / name).write_text(f"words of {name} and words again")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(tmp_path / "a.txt")], ""))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path / "folder"))
    program.actions["open"].trigger()
    qtbot.waitUntil(lambda: program.corpus.rowCount() == 2, timeout=WAIT)
    program.actions["open_folder"].trigger()
    qtbot.waitUntil(lambda: program.corpus.rowCount() == 4, timeout=WAIT)
    QGuiApplication.clipboard().setText("pasted words and pasted words")
    program.actions["paste_text"].trigger()
    names = [program.corpus.data(program.corpus.index(row)) for row in range(program.corpus.rowCount())]
    assert names[1:4] == ["a.txt", "b.txt", "c.txt"]
    assert "pasted words" in names[4]
    settle(qtbot, program)
    assert program.corpus_panel.totals.text().startswith("5 texts")
    assert program.settings.get(RECENT_FILES)[-1].endswith("a.txt")
    small(program, 270)
    train(program)
    assert rows(program) == 14


def test_training_waits_for_files_that_are_just_being_opened(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path
) -> None:
    corpus, runs = program.session.corpus, program.session.runs
    corpus.remove({source.number for source in corpus.texts.value})
    (tmp_path / "zebras.txt").write_text("zebras zebras zebras", encoding="utf-8")
    program.opening.add_paths([tmp_path])
    assert not corpus.texts.value
    train(program)
    assert runs.shown is not None
    assert [source.name for source in runs.shown.sources] == ["zebras.txt"]


def test_a_folder_gives_its_texts_and_tells_what_is_left_out(qtbot: QtBot, program: Program, tmp_path: Path) -> None:
    corpus, folder = program.session.corpus, tmp_path / "poems"
    corpus.remove({text.number for text in corpus.texts.value})
    folder.mkdir()
    (folder / "a.txt").write_text("low low", encoding="utf-8")
    (folder / "b.png").write_bytes(b"\x89PNG\0")
    with qtbot.waitSignal(corpus.listed, timeout=WAIT):
        program.opening.add_paths([folder])
    assert [text.name for text in corpus.texts.value] == ["a.txt"]
    told = f"{folder / 'b.png'} is not a text file: it looks like a picture."
    assert program.messages.sentence.text() == told
    (folder / "a.txt").write_bytes(b"")
    with qtbot.waitSignal(corpus.listed, timeout=WAIT):
        program.opening.add_paths([folder])
    assert len(corpus.texts.value) == 1
    assert program.messages.sentence.text().startswith(f"There is no text file in the folder {folder}.")
    assert told in program.messages.details.toPlainText()


def test_a_file_that_was_named_is_shown_with_what_is_wrong(qtbot: QtBot, program: Program, tmp_path: Path) -> None:
    picture, corpus = tmp_path / "b.png", program.corpus
    picture.write_bytes(b"\x89PNG\0")
    program.opening.add_paths([picture])

    def states() -> str:
        tips = (corpus.data(corpus.index(row), Qt.ItemDataRole.ToolTipRole) for row in range(corpus.rowCount()))
        return "\n".join(tips)

    qtbot.waitUntil(lambda: "b.png is not a text file: it looks like a picture." in states(), timeout=WAIT)


def test_dropping_a_file_on_the_window(qtbot: QtBot, program: Program, tmp_path: Path) -> None:
    path = tmp_path / "dropped.txt"
    path.write_text("dropped and dropped")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    nothing = Qt.KeyboardModifier.NoModifier
    place: Any = QPointF(9, 9) if QLibraryInfo.version() >= QVersionNumber(6, 12) else QPoint(9, 9)  # as Qt wishes
    enter = QDragEnterEvent(place, Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton, nothing)
    QApplication.sendEvent(program.window, enter)
    assert enter.isAccepted()
    drop = QDropEvent(QPointF(9, 9), Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton, nothing)
    QApplication.sendEvent(program.window, drop)
    qtbot.waitUntil(lambda: program.corpus.rowCount() == 2, timeout=WAIT)


def test_one_bad_file_among_good_ones(
    qtbot: QtBot, new_program: Callable[..., Program], train: Train, tmp_path: Path
) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("good words are good words")
    bad.write_bytes(b"bad \xff\xfe\xfa bytes")
    program = new_program(good, bad)
    qtbot.waitUntil(lambda: program.corpus.rowCount() == 2, timeout=WAIT)
    settle(qtbot, program)

    def entry() -> Entry:
        found = program.corpus.data(program.corpus.index(1), program.corpus.EntryRole)
        assert isinstance(found, Entry)
        return found

    qtbot.waitUntil(lambda: entry().is_failed, timeout=WAIT)
    assert "bad.txt" in entry().state
    small(program, 262)
    train(program)
    assert rows(program) == 6
    assert "bad.txt" in program.messages.sentence.text()


def test_only_bad_files(qtbot: QtBot, new_program: Callable[..., Program], tmp_path: Path) -> None:
    program = new_program(tmp_path / "missing.txt")
    qtbot.waitUntil(lambda: program.corpus.rowCount() == 1, timeout=WAIT)
    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.FAILED)
    assert "missing.txt" in program.messages.sentence.text()
    assert program.actions["main"].isEnabled()


def test_removing_and_reordering_reads_nothing_again(
    qtbot: QtBot, new_program: Callable[..., Program], tmp_path: Path
) -> None:
    paths = [tmp_path / f"{name}.txt" for name in "abc"]
    for path in paths:
        path.write_text(f"{path.stem}{path.stem} is {path.stem}{path.stem}")
    program = new_program(*paths)
    qtbot.waitUntil(lambda: program.corpus.rowCount() == 3, timeout=WAIT)
    settle(qtbot, program)
    panel = program.corpus_panel
    panel.list.setCurrentIndex(program.corpus.index(0))
    panel.down_button.click()
    assert [program.corpus.source_at(row).name for row in range(3)] == ["b.txt", "a.txt", "c.txt"]
    panel.remove_button.click()
    assert [program.corpus.source_at(row).name for row in range(2)] == ["b.txt", "c.txt"]
    assert not program.session.corpus.counts.busy  # all of them are counted already
    program.actions["undo"].trigger()
    program.actions["undo"].trigger()
    assert [program.corpus.source_at(row).name for row in range(3)] == ["a.txt", "b.txt", "c.txt"]
    assert not program.session.corpus.counts.busy
    program.actions["redo"].trigger()
    assert [program.corpus.source_at(row).name for row in range(3)] == ["b.txt", "a.txt", "c.txt"]


def test_a_warning_where_words_are_whole_sentences(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path
) -> None:
    path = tmp_path / "japanese.txt"
    path.write_text("朝、パン屋さんが窓を開けると通りじゅうが温かいパンの匂いになります。" * 20, encoding="utf-8")
    program.form.choose_preset("english")
    program.session.corpus.add_paths([path])
    qtbot.waitUntil(lambda: bool(program.corpus.warning), timeout=WAIT)
    assert "gpt2 or o200k" in program.corpus_panel.warning.text()
    program.form.choose_preset("raw-bytes")  # does not mean to split at all
    qtbot.waitUntil(lambda: not program.corpus.warning, timeout=WAIT)


# The recipe


def test_an_impossible_size_is_refused_where_it_is_made(qtbot: QtBot, program: Program) -> None:
    panel = program.recipe_panel
    panel.size_box.setValue(100)
    refusal = panel.findChild(QWidget, "refusal of vocab_size")
    assert refusal.isVisible()  # type: ignore[union-attr]
    assert "256 bytes" in refusal.text()  # type: ignore[union-attr]
    assert panel.size_box.value() == 512
    panel.size_box.setValue(2_000)
    assert not refusal.isVisible()  # type: ignore[union-attr]


def test_a_preset_fills_the_form_and_can_be_undone(qtbot: QtBot, program: Program) -> None:
    panel = program.recipe_panel
    panel.preset.setCurrentIndex(panel.preset.findData("clean-words"))
    panel.preset.activated.emit(panel.preset.currentIndex())
    assert program.form.value("base") == "characters"
    assert panel.field("lowercase").isChecked()
    assert panel.size_box.counts_merges
    assert program.toolbar.preset.currentData() == "clean-words"
    program.actions["undo"].trigger()
    assert program.form.value("base") == "bytes"
    assert program.toolbar.preset.currentData() == "gpt2"


def test_the_preview_follows_the_pattern(qtbot: QtBot, program: Program) -> None:
    preview = program.recipe_panel.preview
    qtbot.waitUntil(lambda: preview.words[:2] == ["The", "␣keeper"], timeout=WAIT)
    program.form.choose(pattern="whitespace")
    qtbot.waitUntil(lambda: preview.words[:2] == ["The", "keeper"], timeout=WAIT)


def test_a_pattern_of_ones_own(qtbot: QtBot, program: Program, train: Train) -> None:
    panel = program.recipe_panel
    box = panel.field("pattern")
    box.setCurrentIndex(box.findData("custom"))
    box.activated.emit(box.currentIndex())
    line = panel.field("custom_pattern")
    assert line.isVisible()
    line.setText("[a-z")
    line.editingFinished.emit()
    refusal = panel.findChild(QWidget, "refusal of custom_pattern")
    assert "not a valid regular expression" in refusal.text()  # type: ignore[union-attr]
    line.setText("[a-z]+|[^a-z]+")
    line.editingFinished.emit()
    assert program.form.value("custom_pattern") == "[a-z]+|[^a-z]+"
    qtbot.waitUntil(lambda: panel.preview.words[:3] == ["T", "he", "␣"], timeout=WAIT)
    small(program, 270)
    train(program)
    assert rows(program) == 14


def test_a_catastrophic_pattern_ends_in_a_sentence(qtbot: QtBot, program: Program) -> None:
    program.session.text.put_quietly("a" * 300 + "!")
    assert program.form.choose(pattern="custom", custom_pattern="(?:(?:a|a)+)+b")
    with qtbot.waitSignal(program.form.split_failed, timeout=WAIT) as failed:
        pass
    assert "seconds" in failed.args[0]


# Text


def test_typing_changes_tokens(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    program.token_text.set_text("the the")
    settle(qtbot, program)
    before = program.token_text.token_count()
    program.token_text.replace(7, 7, " the")
    settle(qtbot, program)
    assert program.token_text.token_count() > before
    qtbot.waitUntil(lambda: program.session.text.value == "the the the", timeout=WAIT)


# Export and charts


@pytest.mark.parametrize("tab", range(4))
@pytest.mark.parametrize("ending", ["png", "svg", "csv"])
def test_saving_a_chart(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tab: int, ending: str
) -> None:
    small(program)
    train(program)
    program.charts.setCurrentIndex(tab)
    rest(qtbot, program)
    path = tmp_path / f"chart.{ending}"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    program.actions["save_chart"].trigger()
    assert str(path) in program.messages.sentence.text()
    if ending == "png":
        assert colors_in(QImage(str(path))) > 3
    elif ending == "svg":
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


# A good citizen


def test_settings_are_kept(qtbot: QtBot, new_program: Callable[..., Program], settings: Settings) -> None:
    program = new_program()
    program.speed.slider.setValue(40)
    program.actions["copy_headers"].setChecked(False)
    program.window.docks["inspector"].hide()
    program.window.close()
    again = new_program()
    assert again.speed.slider.value() == 40
    assert not again.actions["copy_headers"].isChecked()
    assert not again.window.docks["inspector"].isVisible()
    again.window.reset_layout()
    assert again.window.docks["inspector"].isVisible()


def test_dark_and_light(program: Program) -> None:
    window = program.window
    for choice, is_dark in (("dark", True), ("light", False)):
        program.choose_theme(choice)
        assert (window.palette().window().color().lightness() < 128) == is_dark
        picture = window.grab().toImage()
        assert (picture.pixelColor(5, picture.height() - 40).lightness() < 128) == is_dark


def test_every_control_has_a_name_and_every_action_a_tip(program: Program) -> None:
    for kind in (QComboBox, QSlider, QLineEdit, QAbstractSpinBox):
        for control in program.window.findChildren(kind):
            inside_another = isinstance(control.parent(), QComboBox | QAbstractSpinBox)
            assert control.accessibleName() or inside_another, control
    for button in program.window.findChildren(QAbstractButton):
        if button.isVisible() and not button.objectName().startswith("qt_"):
            of_qt = type(button.parent()) in (QTabBar, QToolBar, QSpinBox)
            assert button.accessibleName() or button.text() or button.toolTip() or of_qt, (button, button.parent())
    for action in program.actions.by_name.values():
        assert action.toolTip()
    keys = [action.shortcut().toString() for action in program.actions.by_name.values()]
    keys = [key for key in keys if key]  # the platform has none for some of the standard ones
    assert len(keys) == len(set(keys)) > 15


def test_help_and_about_open(qtbot: QtBot, program: Program) -> None:
    for name in ("help", "about"):
        program.actions[name].trigger()
        dialogs = [dialog for dialog in program.window.findChildren(QDialog) if dialog.isVisible()]
        assert len(dialogs) == 1
        dialogs[0].close()


def test_an_unexpected_error_can_be_copied_while_the_work_stays(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    try:
        raise ZeroDivisionError("a bug of ours")
    except ZeroDivisionError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    qtbot.waitUntil(lambda: program.crashes.dialog is not None and program.crashes.dialog.isVisible(), timeout=WAIT)
    dialog = program.crashes.dialog
    assert dialog is not None
    dialog.copy_button.click()
    assert "a bug of ours" in QGuiApplication.clipboard().text()
    assert rows(program) == 64
    assert program.window.isVisible()


def test_a_bug_in_a_thread_ends_the_run_and_is_shown(
    qtbot: QtBot, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: TrainingJob) -> None:
        raise ZeroDivisionError("a bug in the thread")

    monkeypatch.setattr(TrainingJob, "work", broken)
    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.FAILED)
    qtbot.waitUntil(lambda: program.crashes.dialog is not None, timeout=WAIT)
    assert program.actions["main"].isEnabled()


# Closing


def test_close_while_training(qtbot: QtBot, program: Program) -> None:
    program.speed.slider.setValue(50)
    program.actions["main"].trigger()
    qtbot.waitUntil(lambda: rows(program) > 3, timeout=WAIT)
    program.window.close()  # the fixture sees to it that no thread is left


@pytest.mark.parametrize("moment", ["at once", "soon"])
def test_close_while_counting(qtbot: QtBot, new_program: Callable[..., Program], tmp_path: Path, moment: str) -> None:
    path = tmp_path / "large.txt"
    path.write_text("".join(f"word{number} " for number in range(600_000)))
    program = new_program(path)
    if moment == "soon":
        qtbot.waitUntil(lambda: program.session.corpus.counts.busy, timeout=WAIT)
    program.window.close()


def test_counting_can_be_cancelled(qtbot: QtBot, new_program: Callable[..., Program], tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    path.write_text("".join(f"word{number} " for number in range(1_500_000)))
    program = new_program(path)
    qtbot.waitUntil(lambda: program.session.corpus.counts.busy, timeout=WAIT)
    program.actions["main"].trigger()
    program.actions["stop"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    settle(qtbot, program)
    assert "cancelled" in program.status.sentence.text()
    assert program.actions["main"].isEnabled()


# Further corners


def test_ids_are_decoded(qtbot: QtBot, program: Program, train: Train) -> None:
    ids = program.text_panel.ids
    qtbot.keyClicks(ids.entry, "1 2")
    qtbot.keyClick(ids.entry, Qt.Key.Key_Return)
    assert "train first" in ids.decoded.text()
    small(program)
    train(program)
    run = program.session.runs.shown
    assert run is not None
    assert run.names is not None
    for entered, meaning in (
        ("104, 105", "hi"),
        ("[256]", run.names.raw[256].decode()),
        ("104 320", "There is no token 320: the ids go from 0 to 319."),
        ("one", "“one” is not an id: ids are whole numbers."),
    ):
        ids.entry.setText(entered)
        qtbot.keyClick(ids.entry, Qt.Key.Key_Return)
        assert ids.decoded.text() == meaning


def test_looking_at_an_earlier_run(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program, 280)
    train(program)
    first = [cell(program, row, 3) for row in range(24)]
    program.form.choose(ties="largest-text", vocab_size=290)
    program.actions["new_run"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    assert rows(program) == 34
    program.running.runs_menu.aboutToShow.emit()
    titles = [action.text() for action in program.running.runs_menu.actions()]
    assert len(titles) == 2
    assert "largest-text" in titles[0]
    program.running.runs_menu.actions()[1].trigger()
    settle(qtbot, program)
    assert [cell(program, row, 3) for row in range(rows(program))] == first
    assert moments(program) == (24, 24, 24, 24)


def test_a_file_in_another_encoding(qtbot: QtBot, new_program: Callable[..., Program], tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("Bäckerei und Brötchen".encode("latin-1"))
    program = new_program(path)
    qtbot.waitUntil(lambda: program.corpus.rowCount() == 1, timeout=WAIT)
    qtbot.waitUntil(
        lambda: program.corpus.data(program.corpus.index(0), program.corpus.EntryRole).is_failed, timeout=WAIT
    )
    program.corpus_panel.list.selectAll()
    program.corpus.read_as([0], "latin-1")
    qtbot.waitUntil(lambda: "3 words" in program.corpus_panel.totals.text(), timeout=WAIT)


@pytest.mark.parametrize(
    ("title", "words"),
    [("for what is not valid", ["B", "\ufffd", "cker", " B"]), ("without", ["Bcker", " Bcker"])],
)
def test_a_file_with_bytes_that_are_no_text_is_read_as_chosen(
    qtbot: QtBot, new_program: Callable[..., Program], train: Train, tmp_path: Path, title: str, words: list[str]
) -> None:
    """The sentence that refuses it offers to replace or skip them; until then, nothing is said of pairs."""
    path = tmp_path / "half.txt"
    path.write_bytes(b"B\xe4cker B\xe4cker")
    program = new_program(path)
    program.form.choose(vocab_size=257)
    program.actions["main"].trigger()
    qtbot.waitUntil(lambda: "replace or skip invalid bytes" in program.messages.sentence.text(), timeout=WAIT)
    (chart,) = program.charts.findChildren(PairsPage)
    assert chart.headline() == "The leading pairs appear here when training begins."
    program.corpus_panel.list.selectAll()
    (read_as,) = program.corpus_panel.list.findChildren(QMenu)
    next(action for action in read_as.actions() if title in action.text()).trigger()
    qtbot.waitUntil(lambda: " words" in program.corpus_panel.totals.text(), timeout=WAIT)
    train(program)
    run = program.session.runs.shown
    assert run is not None
    assert run.words is not None
    assert [text.decode() for text, _ in run.words] == words


def test_rows_of_the_corpus_can_be_dragged(qtbot: QtBot, program: Program) -> None:
    for name in ("two", "three"):
        program.session.corpus.add_text(name, name)
    model = program.corpus
    mime = model.mimeData([model.index(0)])
    nowhere = model.index(-1)
    model.dropMimeData(mime, Qt.DropAction.MoveAction, 3, 0, nowhere)
    assert [model.source_at(row).name for row in range(3)][:2] == ["two", "three"]
    model.dropMimeData(model.mimeData([model.index(1)]), Qt.DropAction.MoveAction, 0, 0, nowhere)
    assert model.source_at(0).name == "three"


def test_the_inspector_follows_time_and_leads_to_parts(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    panel = program.pages[TokenPage]
    program.session.cursor.go_to(50)
    qtbot.waitUntil(lambda: panel.facts["Learned"].text() == "merge 50", timeout=WAIT)
    assert panel.token.text() == cell(program, 49, 3)
    merge = next(row for row in range(63, 0, -1) if len(cell(program, row, 1)) > 1)
    program.session.cursor.go_to(merge + 1)
    qtbot.waitUntil(lambda: panel.facts["Learned"].text() == f"merge {merge + 1}", timeout=WAIT)
    left = cell(program, merge, 1)
    button = next(button for button in panel.findChildren(QPushButton) if button.text() == left)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert panel.token.text() == left
    assert cell(program, program.session.cursor.position - 1, 3) == left
