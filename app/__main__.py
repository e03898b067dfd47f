"""The entry point of the program. It runs a command without a window, or opens a window that shows files."""

from __future__ import annotations

import argparse
import gc
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

NO_WINDOW = 2
INTERRUPTED = 130  # as after Ctrl-C in a command
PROGRAM = "app"  # the name behind `python -m`
SETTINGS_LOCATION = "BPE_EXPLORER_SETTINGS"  # equals LOCATION in app.settings, whose import would be slow
WINDOW_OPTIONS = ("--follow", "--screenshot", "--dark", "--light", "--size")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, or open the window if the arguments name no command. Return the exit code."""
    try:
        return _run(argv)
    except KeyboardInterrupt:  # while modules are loaded; later the command or the window listens to Ctrl-C
        return INTERRUPTED


def _run(argv: Sequence[str] | None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    if any(word.startswith("--plugin") for word in arguments):
        from bpe_core.command_line.plugin_files import without_plugins
        from bpe_core.errors import BpeError

        try:
            arguments = without_plugins(arguments)
        except BpeError as error:
            print(error, file=sys.stderr)
            return 1
    if _wants_a_command(arguments):
        from bpe_core.command_line import main as commands  # a command needs no window, and a window no command
        from bpe_core.support.optional_packages import offer_renderer, offer_window

        offer_renderer(_render, program=PROGRAM)
        offer_window(_window_facts)
        return commands.run_as_process(arguments) if argv is None else commands.run(arguments)
    options = _window_options(arguments)
    if options.screenshot and not _has_screen():
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    gc.disable()  # garbage searches would take a twentieth of the start, and find nothing
    from app.system.source_lines import keep_no_source_lines

    keep_no_source_lines()
    from app.system.display import why_no_window  # the environment must be complete before this import

    reason = why_no_window()
    if reason:
        print(reason, file=sys.stderr)
        return NO_WINDOW
    from app.worker.job import end_process

    return end_process(_open_window(options))


def _render(drawn: bytes, width: float, height: float, path: Path) -> str:
    """Draw a figure with Qt into a file, without a screen. Width and height are in millimetres.

    Return a sentence about what is missing on this computer, or an empty string.
    """
    if sys.platform.startswith("linux"):
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from app.system.display import why_no_window

    if reason := why_no_window():
        return reason
    from PySide6.QtGui import QGuiApplication

    from app.system.language import use_english
    from app.window.parts.pictures import write_drawing  # Qt is known to be installed from here on
    from bpe_core.support.atomic import replace_atomically

    application = QGuiApplication.instance() or QGuiApplication(sys.argv[:1])
    use_english()
    with replace_atomically(path) as beside:
        if not write_drawing(drawn, width, height, beside, path.suffix.lower()):
            raise OSError("only a part of the file could be written")
    del application
    return ""


def _window_facts() -> dict[str, str]:
    """Return facts about the window for the command `doctor`, as a dictionary from the name of each fact to its text.

    The facts are whether the window can open, and where settings and unsaved sessions are stored.
    """
    from app.system.display import why_no_window

    reason = why_no_window()
    try:
        from app.settings import Settings, data_folder
    except ImportError:
        return {"can be opened": reason}
    places = {"settings": Settings().place, "unsaved sessions": str(data_folder())}
    return {"can be opened": reason or "yes"} | places


def _wants_a_command(arguments: list[str]) -> bool:
    if not arguments:
        return False
    first = arguments[0]
    if first.startswith("-"):
        return first.split("=")[0] not in WINDOW_OPTIONS
    return bool(re.fullmatch("[a-z-]+", first)) and not Path(first).exists()


def _window_options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bpe-explorer", description="Open the window.")
    parser.add_argument("files", nargs="*", metavar="FILE", help="texts to learn from, or a session (.bpex)")
    followed = (
        "follow the run of a session that another program writes, or - for the lines of `follow` on standard input"
    )
    parser.add_argument("--follow", metavar="SESSION", default="", help=followed)
    parser.add_argument(
        "--screenshot", type=Path, metavar="PNG", help="train, save a picture of the window to this file, and exit"
    )
    parser.add_argument(
        "--dark",
        action="store_const",
        const="dark",
        dest="theme",
        help="use dark colours, even if the settings say light",
    )
    parser.add_argument(
        "--light",
        action="store_const",
        const="light",
        dest="theme",
        help="use light colours, even if the settings say dark",
    )
    parser.add_argument("--size", type=_size, metavar="WxH", help="size of the window, such as 1280x800")
    return parser.parse_args(arguments)


def _size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{2,5})x(\d{2,5})", text)
    if match is None:
        raise argparse.ArgumentTypeError("is not a size such as 1280x800")
    return int(match[1]), int(match[2])


def _has_screen() -> bool:
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(name) for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"))


def _open_window(options: argparse.Namespace) -> int:
    _set_home_folder()
    if not options.screenshot:
        return _run_window(options)
    from tempfile import TemporaryDirectory

    # A picture shows the window with its default settings, and must not change the user's own.
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ[SETTINGS_LOCATION] = str(Path(folder) / "settings.ini")
        return _run_window(options)


def _set_home_folder() -> None:
    """Set HOME if it is missing. Without HOME, Qt would write into the root folder."""
    from bpe_core.support.private_folder import home

    folder = home()
    if folder is not None:
        os.environ.setdefault("HOME", str(folder))


def _run_window(options: argparse.Namespace) -> int:
    from app.screenshot import Screenshot
    from app.settings import Settings
    from app.system.application import (
        Application,  # a window is known to be possible from here on
        Interrupt,
    )
    from app.wiring import build
    from app.worker.job import hold_jobs

    application = Application(sys.argv[:1])
    hold_jobs()
    program = build(application, Settings(), options.theme or ("light" if options.screenshot else None))
    if options.size:
        program.window.resize(*options.size)
    application.file_wanted.connect(lambda path: program.opening.open_paths([path]))
    Interrupt(program.window)
    program.window.show()
    program.load_charts()
    program.begin(options.files, options.follow)
    if not options.screenshot:
        program.filing.unsaved.offer_newest()
    else:
        Screenshot(program, options.screenshot)
    return application.exec()


if __name__ == "__main__":
    sys.exit(main())
