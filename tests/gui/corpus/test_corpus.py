"""Tests of the corpus in the window: files, folders, pasted and dropped texts, and their errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QLibraryInfo, QMimeData, QPoint, QPointF, Qt, QUrl, QVersionNumber
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog, QInputDialog, QMenu, QPushButton, QRubberBand
from pytestqt.qtbot import QtBot

from app.session import corpus as session_corpus
from app.session.corpus_texts import CorpusText, from_session
from app.session.run import Phase
from app.session.snapshot import snapshot_of
from app.settings import RECENT_FILES
from app.window.charts.pairs_page import PairsPage
from app.window.corpus.corpus_list import Entry
from app.window.corpus.corpus_panel import PickedFiles
from app.wiring import Program
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.writing import write_session
from tests.gui.conftest import WAIT, Train, settle, wait_for_phase, wait_for_rest, wait_for_sentence, wait_for_totals
from tests.gui.small_run import rows, small

pytestmark = pytest.mark.usefixtures("only_window")


def test_files_and_folders_and_pasted_texts_can_be_added_to_the_corpus(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    for name in ("a.txt", "folder/b.txt", "folder/inner/c.txt", "folder/.hidden"):
        (tmp_path / name).write_text(f"words of {name} and words again")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(tmp_path / "a.txt")], ""))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path / "folder"))
    names = ["a.txt", "b.txt", "c.txt"]

    def in_the_corpus() -> list[str]:
        return [program.corpus.data(program.corpus.index(row)) for row in range(program.corpus.rowCount())]

    (sample,) = in_the_corpus()
    program.actions["open_folder"].trigger()
    qtbot.waitUntil(lambda: in_the_corpus() == names[1:], timeout=WAIT)  # the sample has made room
    program.actions["undo"].trigger()
    assert in_the_corpus() == [sample]
    program.actions["open"].trigger()
    qtbot.waitUntil(lambda: in_the_corpus() == names[:1], timeout=WAIT)
    program.actions["open_folder"].trigger()
    qtbot.waitUntil(lambda: in_the_corpus() == names, timeout=WAIT)
    QGuiApplication.clipboard().setText("pasted words and pasted words")
    program.actions["paste_text"].trigger()
    assert in_the_corpus()[:3] == names
    assert "pasted words" in in_the_corpus()[3]
    wait_for_totals(qtbot, program, "4 texts")
    assert program.settings.get(RECENT_FILES)[-1].endswith("a.txt")
    small(program, 270)
    train(program)
    assert rows(program) == 14


def test_training_waits_until_all_files_are_opened(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path
) -> None:
    corpus, runs = program.session.corpus, program.session.runs
    corpus.remove({source.number for source in corpus.texts.value})
    (tmp_path / "zebras.txt").write_text("zebras zebras zebras", encoding="utf-8")
    program.opening.add_paths([tmp_path])
    program.session.train()
    program.filing.document.new()  # which is not for that other session
    wait_for_rest(qtbot, program)
    assert not corpus.texts.value
    assert not runs.all
    program.opening.add_paths([tmp_path])
    assert not corpus.texts.value
    train(program)
    assert runs.shown is not None
    assert [source.name for source in runs.shown.sources] == ["zebras.txt"]


def test_adding_a_folder_adds_its_text_files_and_reports_skipped_files(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    corpus, folder = program.session.corpus, tmp_path / "poems"
    corpus.remove({text.number for text in corpus.texts.value})
    folder.mkdir()
    (folder / "a.txt").write_text("low low", encoding="utf-8")
    (folder / "b.png").write_bytes(b"\x89PNG\0")
    with qtbot.waitSignal(corpus.listed, timeout=WAIT):
        program.opening.add_paths([folder])
    assert [text.name for text in corpus.texts.value] == ["a.txt"]
    sentence = f"{folder / 'b.png'} is not a text file: it looks like a picture."
    assert program.messages.sentence.text() == sentence
    settle(qtbot, program)  # it is counted as it was
    (folder / "a.txt").write_bytes(b"")
    with qtbot.waitSignal(corpus.listed, timeout=WAIT):
        program.opening.add_paths([folder])
    assert len(corpus.texts.value) == 1
    assert program.messages.sentence.text().startswith(f"There is no text file in the folder {folder}.")
    assert sentence in program.messages.details.toPlainText()


def tool_tips(program: Program) -> str:
    corpus = program.corpus
    tips = (corpus.data(corpus.index(row), Qt.ItemDataRole.ToolTipRole) for row in range(corpus.rowCount()))
    return "\n".join(map(str, tips))


def test_a_picture_added_to_the_corpus_is_marked_with_an_error(qtbot: QtBot, program: Program, tmp_path: Path) -> None:
    picture = tmp_path / "b.png"
    picture.write_bytes(b"\x89PNG\0")
    program.opening.add_paths([picture])
    sentence = "b.png is not a text file: it looks like a picture."
    qtbot.waitUntil(lambda: sentence in tool_tips(program), timeout=WAIT)


def test_a_link_to_itself_is_marked_with_an_error_when_it_is_opened(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    link = tmp_path / "loop.txt"
    link.symlink_to(link)
    program.opening.open_named([str(link)])
    qtbot.waitUntil(lambda: "loop.txt cannot be read: " in tool_tips(program), timeout=WAIT)


def test_a_text_file_dropped_on_the_window_is_added_to_the_corpus(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
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
    qtbot.waitUntil(lambda: program.corpus.data(program.corpus.index(0)) == "dropped.txt", timeout=WAIT)
    assert program.corpus.rowCount() == 1


def test_an_undecodable_file_is_reported_and_training_uses_the_other_files(
    qtbot: QtBot, window_with: Callable[..., Program], train: Train, tmp_path: Path
) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("good words are good words")
    bad.write_bytes(b"bad \xff\xfe\xfa bytes")
    program = window_with(good, bad)
    qtbot.waitUntil(lambda: program.corpus.rowCount() == 2, timeout=WAIT)
    settle(qtbot, program)

    def entry() -> Entry:
        shown_entry = program.corpus.data(program.corpus.index(1), program.corpus.EntryRole)
        assert isinstance(shown_entry, Entry)
        return shown_entry

    qtbot.waitUntil(lambda: entry().is_failed, timeout=WAIT)
    assert "bad.txt" in entry().state
    small(program, 262)
    train(program)
    assert rows(program) == 6
    assert "bad.txt" in program.messages.sentence.text()


def test_training_fails_with_a_message_if_no_file_of_the_corpus_can_be_read(
    qtbot: QtBot, window_with: Callable[..., Program], tmp_path: Path
) -> None:
    program = window_with(tmp_path / "missing.txt")
    qtbot.waitUntil(lambda: program.corpus.rowCount() == 1, timeout=WAIT)
    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.FAILED)
    assert "missing.txt" in program.messages.sentence.text()
    assert program.actions["main"].isEnabled()


def test_removing_and_reordering_corpus_texts_does_not_recount_any_text(
    qtbot: QtBot, window_with: Callable[..., Program], tmp_path: Path
) -> None:
    paths = [tmp_path / f"{name}.txt" for name in "abc"]
    for path in paths:
        path.write_text(f"{path.stem}{path.stem} is {path.stem}{path.stem}")
    program = window_with(*paths)
    qtbot.waitUntil(lambda: program.corpus.rowCount() == 3, timeout=WAIT)
    settle(qtbot, program)
    panel = program.corpus_panel
    panel.list.setCurrentIndex(program.corpus.index(0))
    panel.down_button.click()
    assert [program.corpus.source_at(row).name for row in range(3)] == ["b.txt", "a.txt", "c.txt"]
    panel.remove_button.click()
    assert [program.corpus.source_at(row).name for row in range(2)] == ["b.txt", "c.txt"]
    assert not program.session.corpus.counts.is_busy  # all of them are counted already
    program.actions["undo"].trigger()
    program.actions["undo"].trigger()
    assert [program.corpus.source_at(row).name for row in range(3)] == ["a.txt", "b.txt", "c.txt"]
    assert not program.session.corpus.counts.is_busy
    program.actions["redo"].trigger()
    assert [program.corpus.source_at(row).name for row in range(3)] == ["b.txt", "a.txt", "c.txt"]


def test_a_corpus_whose_words_are_whole_sentences_causes_a_warning(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path
) -> None:
    path = tmp_path / "japanese.txt"
    path.write_text("朝、パン屋さんが窓を開けると通りじゅうが温かいパンの匂いになります。" * 20, encoding="utf-8")
    program.form.choose_preset("english")
    program.session.corpus.add_paths([path])
    qtbot.waitUntil(lambda: bool(program.corpus.warning), timeout=WAIT)
    warning = program.corpus_panel.warning.text()
    assert "of japanese.txt (the longest word has" in warning
    assert ". bert would split this text better" in warning
    table = tmp_path / "folder" / "table.txt"
    table.parent.mkdir()
    table.write_text("acgt" * 1_200, encoding="utf-8")
    (table.parent / "text.txt").write_text("low lower lowest", encoding="utf-8")
    folder = CorpusText("folder/", path=table.parent, is_folder=True)
    program.session.corpus.texts.put((folder,), "one file of many")
    qtbot.waitUntil(lambda: str(table) in program.corpus.warning, timeout=WAIT)
    assert "No other pattern would split this text better" in program.corpus.warning
    program.form.choose_preset("raw-bytes")  # does not mean to split at all
    qtbot.waitUntil(lambda: not program.corpus.warning, timeout=WAIT)


def test_a_corpus_file_that_is_not_utf_8_can_be_read_again_in_a_different_encoding(
    qtbot: QtBot, window_with: Callable[..., Program], tmp_path: Path
) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("Bäckerei und Brötchen".encode("latin-1"))
    program = window_with(path)
    qtbot.waitUntil(lambda: program.corpus.rowCount() == 1, timeout=WAIT)
    qtbot.waitUntil(
        lambda: program.corpus.data(program.corpus.index(0), program.corpus.EntryRole).is_failed, timeout=WAIT
    )
    program.corpus_panel.list.selectAll()
    program.corpus.read_as([0], "latin-1")
    wait_for_totals(qtbot, program, "3 words")


def test_the_message_about_a_text_that_is_not_utf_8_lets_the_user_choose_an_encoding(
    qtbot: QtBot, window_with: Callable[..., Program], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("Bäckerei und Brötchen".encode("latin-1"))
    program = window_with(path)
    wait_for_sentence(qtbot, program, "latin.txt is not valid UTF-8")
    entry = program.corpus.data(program.corpus.index(0), program.corpus.EntryRole)
    assert entry.reason.startswith("is not valid UTF-8"), "the row begins with the reason, not with the path"
    monkeypatch.setattr(QInputDialog, "getItem", lambda *given: (next(t for t in given[3] if "1252" in t), True))
    buttons = program.messages.findChildren(QPushButton)
    (offer,) = (button for button in buttons if "Encoding" in button.text() and button.isVisible())
    offer.click()
    wait_for_totals(qtbot, program, "3 words")


@pytest.mark.parametrize(
    ("title", "words"),
    [("for invalid bytes", ["B", "\ufffd", "cker", " B"]), ("without", ["Bcker", " Bcker"])],
)
def test_invalid_bytes_are_replaced_or_skipped_as_the_user_chooses(
    qtbot: QtBot, window_with: Callable[..., Program], train: Train, tmp_path: Path, title: str, words: list[str]
) -> None:
    """The error message offers to replace or skip invalid bytes. Until the user chooses, the chart shows no pairs."""
    path = tmp_path / "half.txt"
    path.write_bytes(b"B\xe4cker B\xe4cker")
    program = window_with(path)
    program.form.choose(vocab_size=257)
    program.actions["main"].trigger()
    wait_for_sentence(qtbot, program, "replace or skip invalid bytes")
    (chart,) = program.charts.findChildren(PairsPage)
    assert chart.headline() == "This chart shows the leading pairs when training begins."
    program.corpus_panel.list.selectAll()
    (read_as,) = program.corpus_panel.list.findChildren(QMenu)
    next(action for action in read_as.actions() if title in action.text()).trigger()
    wait_for_totals(qtbot, program, " words")
    train(program)
    run = program.session.runs.shown
    assert run is not None
    assert run.words is not None
    assert [text.decode() for text, _ in run.words] == words


def test_the_corpus_panel_shows_how_many_texts_are_used(
    qtbot: QtBot, window_with: Callable[..., Program], tmp_path: Path
) -> None:
    paths = [tmp_path / f"{name}.txt" for name in "abc"]
    for path in paths:
        path.write_bytes(b"low lower" if path is paths[0] else b"B\xe4cker")
    program = window_with(*paths)
    program.form.choose(vocab_size=257)
    program.actions["main"].trigger()
    wait_for_sentence(qtbot, program, "1 of 3 texts is used.")


def test_rows_of_the_corpus_list_can_be_reordered_by_dragging(qtbot: QtBot, program: Program) -> None:
    for name in ("one", "two", "three"):
        program.session.corpus.add_text(name, name)
    model = program.corpus
    mime = model.mimeData([model.index(0)])
    nowhere = model.index(-1)
    model.dropMimeData(mime, Qt.DropAction.MoveAction, 3, 0, nowhere)
    assert [model.source_at(row).name for row in range(3)][:2] == ["two", "three"]
    model.dropMimeData(model.mimeData([model.index(1)]), Qt.DropAction.MoveAction, 0, 0, nowhere)
    assert model.source_at(0).name == "three"


def test_a_folder_of_very_many_files_becomes_one_corpus_text(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window must not ask for the state of each file repeatedly, because that would take a second each time."""
    monkeypatch.setattr(session_corpus, "MOST_LISTED", 3)
    (tmp_path / "many" / "inner").mkdir(parents=True)
    for name in ("a", "b", "inner/c", "inner/d"):
        (tmp_path / "many" / f"{name}.txt").write_text(f"words of {name} and words again\n")
    (tmp_path / "many" / "e.txt").write_bytes(b"half a w\xf6rd\n")
    (tmp_path / "alone.txt").write_text("alone")
    corpus = program.corpus

    def listed() -> list[str]:
        return [corpus.data(corpus.index(row)) for row in range(corpus.rowCount())]

    program.opening.open_paths([tmp_path / "alone.txt", tmp_path / "many" / "a.txt"])
    qtbot.waitUntil(lambda: listed() == ["alone.txt", "a.txt"], timeout=WAIT)
    program.opening.open_paths([tmp_path / "many"])
    qtbot.waitUntil(lambda: listed() == ["alone.txt", "many/"], timeout=WAIT)  # what lies in it is not read twice
    program.opening.open_paths([tmp_path / "many" / "b.txt", tmp_path / "other.txt"])
    qtbot.waitUntil(lambda: listed() == ["alone.txt", "many/", "other.txt"], timeout=WAIT)
    corpus.corpus.remove(corpus.texts_at([2]))
    wait_for_totals(qtbot, program, "6 texts")
    settle(qtbot, program)  # what was taken out may still be read, background
    entry = corpus.data(corpus.index(1), corpus.EntryRole)
    assert entry.facts.startswith("5 files · ")
    assert "38 words" in entry.state
    looked_at: list[Path] = []
    with monkeypatch.context() as watched:
        watched.setattr(CorpusText, "file_state", lambda text: looked_at.append(text.path))
        for _ in range(3):
            corpus.refresh()
    assert not looked_at
    small(program, 260)
    train(program)
    (tmp_path / "many" / "a.txt").write_text("many more words\n" * 4)
    program.opening.open_paths([tmp_path / "many"])  # to have it as it is now, it is opened again
    qtbot.waitUntil(lambda: "47 words" in corpus.data(corpus.index(1), corpus.EntryRole).state, timeout=WAIT)


def test_a_large_selection_of_files_is_shown_as_one_row_for_each_folder(
    qtbot: QtBot, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person can remove a single file from a row that stands for many files."""
    monkeypatch.setattr(session_corpus, "MOST_LISTED", 3)
    corpus, model, panel = program.session.corpus, program.corpus, program.corpus_panel
    names = ["a/1.txt", "a/2.txt", "a/3.txt", "b/4.txt"]
    for name in (*names, "a/not picked.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"low lower {name}\n", encoding="utf-8")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(tmp_path / name) for name in names], ""))
    program.actions["open"].trigger()
    qtbot.waitUntil(lambda: [text.name for text in corpus.texts.value] == ["a/", "b/"], timeout=WAIT)
    assert model.data(model.index(0), model.EntryRole).facts.startswith("3 picked files")
    wait_for_totals(qtbot, program, "4 texts")
    program.opening.open_paths([tmp_path / "a" / "2.txt"])
    qtbot.waitUntil(lambda: not corpus.is_listing, timeout=WAIT)
    assert model.rowCount() == 2, "it is there already"
    panel.list.setCurrentIndex(model.index(0))
    panel.files_action.trigger()
    (dialog,) = panel.findChildren(PickedFiles)
    dialog.needle.setText("2")
    dialog.list.selectAll()
    dialog.remove.click()
    assert [text.picked for text in corpus.texts.value] == [("1.txt", "3.txt"), ("4.txt",)]
    wait_for_totals(qtbot, program, "3 texts")
    write_session(snapshot_of(program.session, {}), tmp_path / "kept.bpex")
    kept = read_session(tmp_path / "kept.bpex").sources
    assert [from_session(source).picked for source in kept] == [("1.txt", "3.txt"), ("4.txt",)]
    program.actions["undo"].trigger()
    assert corpus.texts.value[0].picked == ("1.txt", "2.txt", "3.txt")


def test_texts_added_while_a_run_waits_for_counts_are_counted(
    qtbot: QtBot, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = program.session
    settle(qtbot, program)
    with monkeypatch.context() as patch:
        patch.setattr(type(session.runs), "waiting_for_counts", True)
        session.corpus.add_text("late", "low lower")
        session.count()
        late = session.corpus.texts.value[-1]
        assert not session.corpus.counts.is_busy
    assert session.corpus.counts.outcome_of(late, session.recipe.value) is None
    session.corpus.counts.settled.emit()  # the run has what it waited for
    qtbot.waitUntil(lambda: session.corpus.counts.outcome_of(late, session.recipe.value) is not None, timeout=WAIT)


def test_files_dropped_on_the_window_are_copied_and_never_moved(program: Program) -> None:
    mime, nothing = QMimeData(), Qt.KeyboardModifier.NoModifier
    mime.setText("dropped")
    actions = Qt.DropAction.MoveAction | Qt.DropAction.CopyAction
    place: Any = QPointF(9, 9) if QLibraryInfo.version() >= QVersionNumber(6, 12) else QPoint(9, 9)  # as Qt wishes
    enter = QDragEnterEvent(place, actions, mime, Qt.MouseButton.LeftButton, nothing)
    enter.setDropAction(Qt.DropAction.MoveAction)
    QApplication.sendEvent(program.window, enter)
    assert enter.isAccepted()
    assert enter.dropAction() == Qt.DropAction.CopyAction
    frame = program.window.findChild(QRubberBand)
    assert frame is not None
    assert frame.isVisible()
    drop = QDropEvent(QPointF(9, 9), actions, mime, Qt.MouseButton.LeftButton, nothing)
    drop.setDropAction(Qt.DropAction.MoveAction)
    QApplication.sendEvent(program.window, drop)
    assert drop.isAccepted()
    assert drop.dropAction() == Qt.DropAction.CopyAction
    assert not frame.isVisible()
