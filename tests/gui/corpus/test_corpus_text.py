"""Tests of the page that edits a text of the corpus.

The window learns from an edited text immediately, and never changes the file on the disk.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.session import corpus_texts
from app.session.corpus_texts import CorpusText, text_to_edit
from app.session.run import Phase
from app.settings import LIVE, Settings
from app.window.corpus.text_page import OF_FILE, WAS_FILE, CorpusTextPage
from app.window.pages import CORPUS_TEXT
from app.window.text.view.editor import TokenTextEdit
from app.wiring import Program
from bpe_core.errors import CorpusError
from tests.gui.conftest import WAIT, settle, wait_for_totals


def open_text_page(qtbot: QtBot, program: Program, place: int = 0) -> tuple[CorpusTextPage, TokenTextEdit]:
    """Open the page that edits a text of the corpus. `place` is the row of the text. Return the page and its editor."""
    program.window.show_room("build")
    program.corpus_panel.list.setCurrentIndex(program.corpus.index(place))
    program.corpus_panel.edit_action.trigger()
    page = program.pages.page(CORPUS_TEXT)

    def is_shown() -> None:
        assert page.model.opened is not None
        assert editor_of(page).model is page.model.opened.model

    qtbot.waitUntil(is_shown, timeout=WAIT)
    return page, editor_of(page)


def editor_of(page: CorpusTextPage) -> TokenTextEdit:
    editor = page.editors.currentWidget()
    assert isinstance(editor, TokenTextEdit)
    assert editor.isVisible()
    return editor


def corpus_texts_of(program: Program) -> list[tuple[str, str]]:
    return [(text.text, text.place) for text in program.session.corpus.texts.value]


def test_editing_a_corpus_text_starts_training_immediately_and_undo_starts_no_new_training(
    qtbot: QtBot, settings: Settings, new_program: Callable[..., Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.put(LIVE, True)
    program = new_program()
    runs = program.session.runs

    def learned(number: int) -> None:
        assert runs.shown is not None
        assert (runs.shown.number, runs.shown.phase) == (number, Phase.ENDED)

    program.actions["main"].trigger()
    qtbot.waitUntil(lambda: learned(1), timeout=WAIT)
    page, editor = open_text_page(qtbot, program)
    before = page.model.opened.model.text() if page.model.opened is not None else ""
    assert before.startswith("The Lighthouse Library")
    said: list[str] = []
    program.session.background.noticed.connect(lambda notice: said.append(notice.sentence))
    editor.setFocus()
    QTest.keyClicks(editor, "xyzxyz xyzxyz xyzxyz ")
    qtbot.waitUntil(lambda: runs.all[-1].number > 1, timeout=WAIT)
    settle(qtbot, program)
    qtbot.waitUntil(lambda: learned(runs.all[-1].number), timeout=WAIT)
    assert runs.shown is not None
    assert runs.shown.sources[0].text == "xyzxyz xyzxyz xyzxyz " + before
    assert "xyz" in "".join(runs.shown.names.text if runs.shown.names is not None else ())
    qtbot.waitUntil(lambda: any("differ from" in sentence for sentence in said), timeout=WAIT)
    assert "Edit The lighthouse library" in program.actions["undo"].text()
    monkeypatch.setattr(program.session, "train", lambda **_: pytest.fail("it was learned again"))
    while program.session.corpus.texts.value[0].text != before:
        program.actions["undo"].trigger()
    qtbot.waitUntil(lambda: learned(1), timeout=WAIT)
    program.window.show_room("watch")
    program.actions["corpus_text"].trigger()
    assert (program.window.room, page.isVisible()) == ("build", True), "Watch has no room for it, Build has"


def test_the_session_stores_the_text_of_a_corpus_file_that_the_user_edited(
    qtbot: QtBot, new_program: Callable[..., Program], tmp_path: Path
) -> None:
    path, session = tmp_path / "book.txt", tmp_path / "kept.bpex"
    path.write_bytes("naïve words and words".encode("latin-1"))
    program = new_program(path)
    wait_for_totals(qtbot, program, "1 text")
    program.corpus.read_as([0], "latin-1")
    page, editor = open_text_page(qtbot, program)
    assert page.sentence.text() == OF_FILE
    wait_for_totals(qtbot, program, "4 words")
    editor.insert("More words: ")
    assert corpus_texts_of(program) == [("More words: naïve words and words", "")]
    qtbot.waitUntil(lambda: page.sentence.text() == WAS_FILE, timeout=WAIT)
    wait_for_totals(qtbot, program, "34 B · 7 words")
    assert program.corpus.data(program.corpus.index(0)) == "book.txt, edited"
    assert path.read_bytes() == "naïve words and words".encode("latin-1")
    program.actions["undo"].trigger()
    assert corpus_texts_of(program) == [("", str(path))]
    program.actions["redo"].trigger()
    program.corpus.corpus.remove({program.session.corpus.texts.value[0].number})
    program.actions["undo"].trigger()
    program.actions["undo"].trigger()
    assert corpus_texts_of(program) == [("", str(path))], "removing it in between changes nothing about that"
    program.actions["redo"].trigger()
    with qtbot.waitSignal(program.filing.document.saved, timeout=WAIT):
        program.filing.document.save(session)
    second = new_program(session)
    kept = [("More words: naïve words and words", "")]
    qtbot.waitUntil(lambda: corpus_texts_of(second) == kept, timeout=WAIT)
    page, editor = open_text_page(qtbot, second)
    editor.insert("Even ")
    assert corpus_texts_of(second)[0][0].startswith("Even More words")


def test_a_sample_that_the_user_edited_is_kept_when_a_file_is_opened(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("a text")
    program.window.show_room("build")
    view = program.corpus_panel.list
    place = view.visualRect(program.corpus.index(0)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert program.charts.shown == CORPUS_TEXT.id
    _, editor = open_text_page(qtbot, program)
    editor.insert("mine ")
    program.opening.open_paths([tmp_path / "a.txt"])
    wait_for_totals(qtbot, program, "2 texts")


def test_the_window_says_why_a_corpus_text_cannot_be_edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_texts, "LARGEST_EDITED", 100)
    files = {
        "rows.jsonl": b'{"text": "one"}\n{"text": "two"}\n',
        "words.tsv": b"word\tcount\nthe\t3\n",
        "large.txt": b"x" * 101,
        "packed.txt.gz": gzip.compress(b"y" * 10_000),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    reasons = {
        "rows.jsonl": "holds several texts",
        "words.tsv": "holds words with their counts",
        "large.txt": "file in another program",
        "packed.txt.gz": "file in another program",
        "missing.txt": "missing.txt",
    }
    for name, reason in reasons.items():
        with pytest.raises(CorpusError, match=reason):
            text_to_edit(CorpusText(name, tmp_path / name))
    with pytest.raises(CorpusError, match="not a file on this computer"):
        text_to_edit(CorpusText("folder/", tmp_path, is_folder=True))
    with pytest.raises(CorpusError, match="file in another program"):
        text_to_edit(CorpusText("pasted", text="z" * 101))
    assert text_to_edit(CorpusText("pasted", text="as it is\r\n")) == "as it is\r\n"
