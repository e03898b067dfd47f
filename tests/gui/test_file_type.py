"""Tests of the file type. After a double click on a session, the desktop opens it with this program."""

from __future__ import annotations

import os
import plistlib
import shlex
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path

import pytest

from app.system import file_type
from app.system.file_type import MIME_TYPE, NAME
from app.wiring import Program
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.values import SavedSession
from bpe_core.session_file.writing import write_session
from tests.shared import ROOT

TELL = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(sys.argv[2], encoding='utf-8')"

pytestmark = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="desktops of another kind")


@pytest.fixture
def data_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("PATH", str(tmp_path))  # so that no program of this desktop is started
    return tmp_path / "share"


def test_registering_the_file_type_sets_the_program_that_opens_sessions(
    program: Program, data_home: Path, tmp_path: Path
) -> None:
    program.actions["claim_sessions"].trigger()
    assert "A double-click on a file that ends in .bpex" in program.messages.sentence.text()
    entry = RawConfigParser()
    entry.optionxform = str  # type: ignore[assignment,method-assign]  # the names are in mixed case
    entry.read(data_home / "applications" / f"{NAME}.desktop", encoding="utf-8")
    desktop = entry["Desktop Entry"]
    assert desktop["MimeType"] == f"{MIME_TYPE};"
    *command, files = shlex.split(desktop["Exec"])
    assert files == "%F"
    assert Path(command[0]).exists()
    assert (data_home / "icons" / "hicolor" / "scalable" / "apps" / f"{desktop['Icon']}.svg").stat().st_size > 100
    write_session(SavedSession(Recipe()), tmp_path / "one.bpex")
    (tmp_path / "one.bpex").rename(tmp_path / "without an ending")
    (tmp_path / "two.bpex").touch()
    assert kinds_of(tmp_path / "without an ending", tmp_path / "two.bpex") == [MIME_TYPE, MIME_TYPE]


def test_on_macos_session_files_are_opened_by_a_small_application_that_starts_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell script starts the program with the session file.

    In this test, a script that writes its arguments to a file stands for the program.
    """
    arguments = tmp_path / "told"
    monkeypatch.setattr(file_type, "command", lambda: [sys.executable, "-c", TELL, str(arguments)])
    file_type.claim_on_mac(tmp_path)
    contents = tmp_path / "BPE Explorer.app" / "Contents"
    properties = plistlib.loads((contents / "Info.plist").read_bytes())
    (kind,) = properties["UTExportedTypeDeclarations"]
    (document,) = properties["CFBundleDocumentTypes"]
    assert kind["UTTypeTagSpecification"] == {"public.filename-extension": ["bpex"]}
    assert document["LSItemContentTypes"] == [kind["UTTypeIdentifier"]]
    subprocess.run([contents / "MacOS" / properties["CFBundleExecutable"], "a file"], check=True)
    assert arguments.read_text(encoding="utf-8") == "a file"


def test_a_running_program_receives_the_path_of_a_double_clicked_file() -> None:
    script = (
        "from PySide6.QtGui import QFileOpenEvent; from app.system.application import Application;"
        "application = Application([]); application.file_wanted.connect(print);"
        "application.sendEvent(application, QFileOpenEvent('a b.bpex'))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "a b.bpex\n"


def kinds_of(*paths: Path) -> list[str]:
    """Return the file types of these files. A new process asks the desktop for them."""
    script = (
        "import sys; from PySide6.QtCore import QMimeDatabase; kinds = QMimeDatabase();"
        "print(*(kinds.mimeTypeForFile(path).name() for path in sys.argv[1:]), sep='\\n')"
    )
    command = [sys.executable, "-c", script, *map(str, paths)]
    done = subprocess.run(command, env=dict(os.environ), capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[:-1]


def test_a_failed_registration_of_the_file_type_is_reported(program: Program, data_home: Path) -> None:
    data_home.write_text("a file where the folder should be")
    program.actions["claim_sessions"].trigger()
    assert "The desktop did not register the file type" in program.messages.sentence.text()


def test_only_the_first_of_several_session_files_dropped_on_the_window_is_opened_and_the_others_are_named(
    program: Program, tmp_path: Path
) -> None:
    paths = [tmp_path / name for name in ("one.bpex", "two.bpex", "three.bpex")]
    for path in paths:
        write_session(SavedSession(Recipe()), path)
    program.window.files_dropped.emit(paths)
    assert "Start BPE Explorer again for two.bpex, three.bpex" in program.messages.sentence.text()
