"""Tests of the window in a separate process, with and without a screen.

The window opens files, and the process ends with the right exit code.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from app.__main__ import _set_home_folder
from bpe_core.session_file.writing import write_session
from tests.core.session_file.sessions import RECIPES, run_of, session
from tests.shared import ROOT

SECONDS = 600


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app", *arguments],
        cwd=ROOT,
        env=environment_with(environment),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def environment_with(changes: dict[str, str]) -> dict[str, str]:
    """Return the environment variables of this process with `changes`, but without variables that name a screen."""
    kept = {name: value for name, value in os.environ.items() if name not in SCREENS}
    return {**kept, **changes}


SCREENS = ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY")


def colors(image: QImage) -> int:
    return len({image.pixel(x, y) for x in range(0, image.width(), 5) for y in range(0, image.height(), 5)})


@pytest.fixture
def own_settings(tmp_path: Path) -> dict[str, str]:
    return {"BPE_EXPLORER_SETTINGS": str(tmp_path / "settings.ini")}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is always a screen")
def test_starting_the_window_without_a_screen_ends_with_an_error_message(own_settings: dict[str, str]) -> None:
    done = run(**own_settings)
    assert done.returncode == 2
    assert "without a screen" in done.stderr
    assert "bpe-explorer --help" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="X11 is of Linux")
def test_a_display_that_does_not_answer_is_reported_when_the_window_starts(own_settings: dict[str, str]) -> None:
    done = run(DISPLAY=":4711", **own_settings)
    assert done.returncode == 2
    lacks_libraries = "sudo apt install" in done.stderr  # which is said first
    assert lacks_libraries or "does not answer" in done.stderr


def is_dark(image: QImage) -> bool:
    return image.pixelColor(3, 660).lightness() < 128


def test_a_dark_screenshot_of_the_sample_is_saved_without_a_screen(
    tmp_path: Path, own_settings: dict[str, str]
) -> None:
    picture = tmp_path / "window.png"
    done = run("--screenshot", str(picture), "--dark", "--size", "1000x700", **own_settings)
    assert done.returncode == 0, done.stderr
    image = QImage(str(picture))
    assert (image.width(), image.height()) == (1000, 700)
    assert colors(image) > 50
    assert is_dark(image)
    # It neither asks for nor changes what a person has chosen.
    assert [path.name for path in tmp_path.iterdir()] == ["window.png"]


def test_a_screenshot_of_an_opened_text_file_is_saved_in_the_light_theme(
    tmp_path: Path, own_settings: dict[str, str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("so it was and so it is and so it shall be " * 20)
    picture = tmp_path / "window.png"
    done = run("--screenshot", str(picture), str(text), "--light", QT_QPA_PLATFORM="offscreen", **own_settings)
    assert done.returncode == 0, done.stderr
    assert colors(QImage(str(picture))) > 50
    assert not is_dark(QImage(str(picture)))


def test_a_screenshot_that_cannot_be_saved_is_reported(tmp_path: Path, own_settings: dict[str, str]) -> None:
    done = run("--screenshot", str(tmp_path / "no" / "such.png"), **own_settings)
    assert done.returncode == 1
    assert "could not be saved" in done.stderr


def test_a_wrong_value_of_a_window_option_is_reported(own_settings: dict[str, str]) -> None:
    done = run("--size", "large", **own_settings)
    assert done.returncode == 2
    assert "1280x800" in done.stderr


def test_a_command_line_question_works_without_a_screen() -> None:
    done = run("words", "low", "lower", "lowest")
    assert done.returncode == 0, done.stderr
    assert "lo" in done.stdout


@contextmanager
def screen() -> Iterator[dict[str, str]]:
    """Start a virtual screen, and yield the environment variables that select it.

    Yield an empty dictionary if Xvfb is not installed. On Debian, Xvfb is in the package xvfb.
    """
    if shutil.which("Xvfb") is None:
        yield {}
        return
    readable, writable = os.pipe()
    command = ["Xvfb", "-displayfd", str(writable), "-screen", "0", "1400x900x24"]
    with subprocess.Popen(command, pass_fds=[writable], stderr=subprocess.DEVNULL) as server:
        os.close(writable)
        try:
            with os.fdopen(readable) as numbers:
                yield {"DISPLAY": f":{numbers.readline().strip()}"}
        finally:
            server.terminate()


def test_a_screenshot_of_a_missing_file_shows_and_prints_the_error(
    tmp_path: Path, own_settings: dict[str, str]
) -> None:
    """The screenshot shows the window with the error in its message bar."""
    picture = tmp_path / "window.png"
    with screen() as environment:
        done = run("--screenshot", str(picture), str(tmp_path / "missing.txt"), **environment, **own_settings)
    assert done.returncode == 1
    assert "missing.txt does not exist" in done.stderr
    assert colors(QImage(str(picture))) > 50


NOBODY = """
import os, pwd, sys

def unknown(uid):
    raise KeyError(uid)

pwd.getpwuid = unknown
from app.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows has no table of users to ask")
def test_commands_and_screenshots_work_for_a_user_without_a_name_or_a_home_folder(tmp_path: Path) -> None:
    """A container can be started with any user number. Commands and screenshots must also work for such a user."""
    environment = environment_with({"QT_QPA_PLATFORM": "offscreen"})
    for name in ("HOME", "XDG_CACHE_HOME", "BPE_EXPLORER_CACHE", "BPE_EXPLORER_SETTINGS"):
        environment.pop(name, None)
    text = tmp_path / "text.txt"
    text.write_text("so it was and so it is and so it shall be " * 30_000)
    write_session(session(run_of(RECIPES[1])), tmp_path / "one.bpex")
    before = (tmp_path / "one.bpex").read_bytes()
    for arguments in (
        ["train", str(text), "--merges", "9", "--output", str(tmp_path / "merges.csv")],
        ["encode", str(text), "--merges", str(tmp_path / "merges.csv"), "--output", str(tmp_path / "ids.npy")],
        ["--screenshot", str(tmp_path / "window.png"), str(tmp_path / "one.bpex")],
    ):
        command = [sys.executable, "-c", NOBODY, *arguments]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert colors(QImage(str(tmp_path / "window.png"))) > 50
    assert (tmp_path / "one.bpex").read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="Windows has no table of users to ask")
def test_qt_gets_the_home_folder_from_the_user_database_when_home_is_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    monkeypatch.setattr(pwd, "getpwuid", lambda uid: pwd.struct_passwd(("me", "", uid, 1, "", "/home/me", "")))
    monkeypatch.setenv("HOME", "to be put back afterwards")
    monkeypatch.delenv("HOME")
    _set_home_folder()
    assert os.environ["HOME"] == "/home/me"


STAYING = """
import sys
from PySide6.QtCore import QTimer
from app import wiring
from app.__main__ import main
from app.system import application as interrupt

build = wiring.build
listen = interrupt.Interrupt._listen
interrupt.TWICE_MILLISECONDS = 0

def listening(self):
    listen(self)
    print("listening", file=sys.stderr)

def staying(*arguments):
    program = build(*arguments)
    asked = []

    def may_close():
        asked.append(1)
        if len(asked) == 2:
            interrupt.TWICE_MILLISECONDS = 60_000
        print("asked", file=sys.stderr)  # last of all, for the next signal comes at once
        return False

    program.window.may_close = may_close
    QTimer.singleShot(0, lambda: print("ready", file=sys.stderr))
    return program

interrupt.Interrupt._listen = listening
wiring.build = staying
sys.exit(main([]))
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows sends signals in another way")
def test_a_signal_to_a_window_with_unsaved_work_causes_a_question_before_the_window_closes(
    own_settings: dict[str, str],
) -> None:
    """After a signal, the window asks whether to save. Several kinds of signals are tested.

    A repeated signal ends the window at once.
    """
    command = [sys.executable, "-c", STAYING]
    environment = environment_with({"QT_QPA_PLATFORM": "offscreen", **own_settings})
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        in_time = threading.Timer(SECONDS, process.kill)
        in_time.start()
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        assert "ready\n" in lines
        for number, expected in (
            (signal.SIGINT, {"asked\n", "listening\n"}),
            (signal.SIGTERM, {"asked\n", "listening\n"}),
            (signal.SIGHUP, {"asked\n"}),
        ):
            process.send_signal(number)
            while expected:
                expected.discard(next(lines))
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == -signal.SIGTERM
        in_time.cancel()


ASKING = """
import sys
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication
from app import wiring
from app.__main__ import main

build = wiring.build

def asking(*arguments):
    program = build(*arguments)
    QTimer.singleShot(100, program.actions["open_session"].trigger)
    QTimer.singleShot(100, tell)
    return program

def tell():
    if QApplication.activeModalWidget():
        print("asking", file=sys.stderr)
    else:
        QTimer.singleShot(20, tell)

wiring.build = asking
QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
sys.exit(main([]))
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows sends signals in another way")
@pytest.mark.parametrize(
    ("name", "program"), [("SIGINT", ""), ("SIGTERM", ASKING)], ids=["Ctrl-C", "kill while it asks something"]
)
def test_ctrl_c_and_a_kill_signal_close_the_window(own_settings: dict[str, str], name: str, program: str) -> None:
    command = [sys.executable, *(["-c", program] if program else ["-m", "app"])]
    environment = environment_with({"QT_QPA_PLATFORM": "offscreen", **own_settings})
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        in_time = threading.Timer(SECONDS, process.kill)
        in_time.start()
        # The picture-only platform complains of something when the window is shown; before, Qt may of the language.
        awaited = "asking\n" if program else "propagateSizeHints"
        while (line := process.stderr.readline()) and awaited not in line:
            pass
        process.send_signal(getattr(signal, name))
        assert process.wait(SECONDS) == 0
        in_time.cancel()
