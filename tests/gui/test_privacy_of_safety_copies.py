"""Tests of privacy.

Other users cannot read a person's safety copies, and the window opens no copies that belong to other users.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.session.safety_copy import find_leftovers
from app.settings import data_folder
from app.system.file_type import claim_sessions
from app.wiring import Program
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.values import SavedSession
from bpe_core.session_file.writing import write_session
from tests.gui.conftest import WAIT
from tests.permissions import mode

pytestmark = pytest.mark.skipif(os.name != "posix", reason="elsewhere a person's folders are closed to others")


def test_other_users_cannot_read_a_safety_copy(
    qtbot: QtBot, program: Program, train: Callable[[Program], None], tmp_path: Path
) -> None:
    unsaved = data_folder() / "unsaved"
    unsaved.mkdir(parents=True, mode=0o755)
    assert program.form.choose(vocab_size=300)
    train(program)
    qtbot.waitUntil(lambda: bool(list(unsaved.glob("*.bpex"))), timeout=WAIT)
    assert {mode(path) for path in unsaved.iterdir()} == {0o600}
    assert mode(unsaved) == 0o700
    program.filing.document.save(tmp_path / "one.bpex")
    qtbot.waitUntil(lambda: program.filing.document.path is not None, timeout=WAIT)
    assert mode(data_folder() / "open") == 0o700


def test_a_folder_that_others_can_write_to_is_never_used_for_safety_copies(
    qtbot: QtBot, program: Program, train: Callable[[Program], None]
) -> None:
    unsaved = data_folder() / "unsaved"
    unsaved.mkdir(parents=True)
    write_session(SavedSession(Recipe(), text="from a stranger"), unsaved / "2026-01-01-10-00-00-1-1.bpex")
    assert len(find_leftovers(unsaved)) == 1
    unsaved.chmod(0o777)
    assert find_leftovers(unsaved) == ()
    assert program.form.choose(vocab_size=300)
    train(program)
    program.filing.document.check_for_changes()
    qtbot.waitUntil(lambda: "other users can change it" in program.messages.sentence.text(), timeout=WAIT)
    assert len(list(unsaved.iterdir())) == 1


def test_looking_for_safety_copies_creates_no_folder(tmp_path: Path) -> None:
    assert find_leftovers(tmp_path / "unsaved") == ()
    assert not (tmp_path / "unsaved").exists()


def test_registering_the_file_type_without_a_home_folder_is_refused_with_a_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", "not/from/the/root")
    assert claim_sessions() == "The desktop did not register the file type: this user has no home folder."
