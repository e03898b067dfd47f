"""Tests of saving into a folder without permission, over a protected file, and to a full disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.session import safety_copy
from app.session.run import Phase
from app.settings import data_folder
from app.wiring import Program
from app.worker import job
from bpe_core.errors import OutputError
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.values import SavedSession
from bpe_core.session_file.writing import SessionWriter, write_session
from resources import samples
from tests import permissions
from tests.gui.conftest import WAIT, Train, wait_for_phase
from tests.gui.sessions.saving import open_session, safety_copies, save_as, small, wait_until_kept


def test_an_unwritable_folder_of_safety_copies_is_reported_once_and_training_goes_on(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_folder().parent.mkdir(exist_ok=True)
    data_folder().write_text("a file where the folder should be")
    small(program)
    train(program)
    program.filing.document.check_for_changes()
    qtbot.waitUntil(lambda: "No safety copy of this session" in program.messages.sentence.text(), timeout=WAIT)
    program.messages.hide()
    program.actions["new_run"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    program.filing.document.check_for_changes()
    assert not program.messages.isVisible()
    save_as(qtbot, program, tmp_path / "one.bpex", monkeypatch)
    assert len(read_session(tmp_path / "one.bpex").runs) == 2
    data_folder().unlink()
    small(program, 310)
    program.actions["new_run"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    qtbot.waitUntil(lambda: len(safety_copies()) == 1, timeout=WAIT)


@pytest.fixture
def locked_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder with a session. Nothing in the folder can be changed."""
    if os.name != "posix":
        pytest.skip("Windows locks folders in another way")
    folder = tmp_path / "locked"
    folder.mkdir()
    write_session(SavedSession(Recipe.preset("gpt2"), text="as it was"), folder / "one.bpex")
    folder.chmod(0o555)
    (folder / "one.bpex").chmod(0o444)
    monkeypatch.setattr(
        job, "start_soon", lambda thread, _: Thread.start(thread)
    )  # or what may not be done here, another thread's threads may
    with permissions.permissions_for_root():
        yield folder
    folder.chmod(0o755)


def test_saving_into_an_unwritable_folder_is_reported_and_another_folder_can_be_chosen(
    qtbot: QtBot, program: Program, train: Train, locked_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(program)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(locked_folder / "two.bpex"), ""))
    program.actions["save_as"].trigger()
    qtbot.waitUntil(lambda: "Could not write" in program.messages.sentence.text(), timeout=WAIT)
    assert str(locked_folder) in program.messages.sentence.text()
    train(program)
    save_as(qtbot, program, locked_folder.parent / "two.bpex", monkeypatch)
    qtbot.waitUntil(lambda: (locked_folder.parent / "two.bpex").exists(), timeout=WAIT)


def test_a_session_in_a_read_only_folder_opens_and_can_be_saved_elsewhere(
    qtbot: QtBot, program: Program, train: Train, locked_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_session(qtbot, program, locked_folder / "one.bpex")
    assert program.token_text.text() == "as it was"
    small(program)
    program.opening.open_sample(samples()[0])
    train(program)
    program.actions["save"].trigger()
    qtbot.waitUntil(lambda: "Could not write" in program.messages.sentence.text(), timeout=WAIT)
    save_as(qtbot, program, locked_folder.parent / "two.bpex", monkeypatch)
    assert len(read_session(locked_folder.parent / "two.bpex").runs) == 1


def test_a_full_disk_is_reported_and_safety_copies_are_written_again_when_there_is_space(
    qtbot: QtBot, program: Program, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OutputError("Could not write it: database or disk is full.")

    monkeypatch.setattr(safety_copy, "RETRY_SECONDS", 0.05)
    update = SessionWriter.update
    monkeypatch.setattr(SessionWriter, "update", refuse)
    small(program)
    train(program)
    qtbot.waitUntil(lambda: "disk is full" in program.messages.sentence.text(), timeout=WAIT)
    monkeypatch.setattr(SessionWriter, "update", update)
    wait_until_kept(qtbot, program)
