"""A program that gives unusual files to the arguments of all commands.

It prints a line for each command that does not end with a readable sentence.

Each command runs in a child process with little memory and little time. The list of arguments comes from the
parser, so new arguments are tested without a change here.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import resource
import signal
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import bpe_core as bpe
from bpe_core.command_line.commands import COMMANDS
from bpe_core.command_line.declared import shown_name
from bpe_core.command_line.main import run
from bpe_core.command_line.parser import FILES, command_questions, declared_by
from bpe_core.delivery import chat_template
from bpe_core.support import small_files

MEMORY = 2**31  # bytes beyond those that this process has before its commands
SECONDS = 20
ENDLESS = ("follow",)  # these commands wait for a file on purpose
TEXT = "low lower lowest newer newest wide wider " * 20
WRITTEN = ("output", "manifest", "report", "summary", "write", "listed", "watch", "page", "id_map", "out")
VALUES = {
    "by": "2", "swap": "1", "step": "1", "words": "low", "text": "low", "ids": "78", "token": "low", "shell": "bash",
    "name": "gpt2",
}  # fmt: skip


def good_files(folder: Path) -> dict[str, str]:
    """Write a valid file for each kind of argument.

    Return a dictionary from the placeholder of each argument, such as `TABLE`, to the path to pass.
    """
    (folder / "texts").mkdir()
    (folder / "texts" / "a.txt").write_text(TEXT)
    bpe.train([TEXT], "gpt2", vocab_size=262).save(folder / "table.csv")
    table = str(folder / "table.csv")
    text = str(folder / "texts" / "a.txt")
    with contextlib.redirect_stdout(io.StringIO()):
        assert run(["train", text, "--vocab-size", "262", "-o", str(folder / "run.bpex")]) == 0
    tables = dict.fromkeys(("TABLE", "RUN", "A", "B", "IN", "SESSION_OR_MERGES", "RESULT", "RESULTS"), table)
    others = {"OUT": str(folder / "out.csv"), "FOLDER": str(folder / "texts"), "PATH": str(folder / "texts")}
    return {**tables, **others, "FILE": text, "LIST": text, "SESSION": str(folder / "run.bpex"), "merges": table}


def odd_files(folder: Path) -> dict[str, str]:
    (folder / "folder").mkdir()
    (folder / "nul").write_bytes(bytes(5_000))
    (folder / "empty").write_bytes(b"")
    (folder / "loop").symlink_to(folder / "loop")
    return {name: str(folder / name) for name in ("folder", "nul", "empty", "loop")} | {"endless": "/dev/zero"}


def cases(good: dict[str, str], odd: dict[str, str]) -> Iterator[list[str]]:
    """Yield command lines with odd files.

    Each argument that names a file is tested once with each odd file, in one of the commands that have the
    argument.
    """
    tried = set[tuple[str, ...]]()
    for command in (*COMMANDS, *command_questions()):
        actions = declared_by(command).actions
        for action in actions:
            key = (*action.option_strings, shown_name(action)) if action.option_strings else (command, action.dest)
            if command in ENDLESS or action.dest in WRITTEN or shown_name(action) not in FILES or key in tried:
                continue
            if command in command_questions() and (action.dest, shown_name(action)) in tried:
                continue
            tried |= {key, (action.dest, shown_name(action))}
            for file in odd.values():
                yield [command, *_words(actions, action, file, good)]


def _words(actions: list[argparse.Action], odd: argparse.Action, file: str, good: dict[str, str]) -> Iterator[str]:
    takes_table = any(action.dest == "merges" and action.option_strings for action in actions)
    for action in actions:
        is_needed = action.required and not (takes_table and action.dest == "table" and action is not odd)
        if action is not odd and (not is_needed or action.nargs in ("?", "*")) and action.dest != "corpus":
            continue
        value = file if action is odd else _good_value(action, good)
        group = ["name"] if isinstance(action.metavar, tuple) else []
        yield from (*action.option_strings[:1], *group, value)


def _good_value(action: argparse.Action, good: dict[str, str]) -> str:
    return good.get(action.dest) or VALUES.get(action.dest) or good.get(shown_name(action)) or "1"


def ends_in_a_sentence(argv: list[str], memory: int) -> str:
    """Run a command in a child of this process. Return what went wrong, or an empty string."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        _run_in_child(argv, memory, writer)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8", errors="replace") as stream:
        said = stream.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    is_fine = status in (0, 1, 2, 3) and "Traceback" not in said and "not enough memory" not in said
    return "" if is_fine and (said or not status) else f"{status}: {said[-400:]}"


def _run_in_child(argv: list[str], memory: int, writer: int) -> None:
    code = 99
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        for number, descriptor in enumerate((nothing, writer, writer)):
            os.dup2(descriptor, number)
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8")
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        signal.alarm(SECONDS)
        code = run(argv)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main(folder: Path) -> None:
    os.chdir(folder)
    good = good_files(folder)
    odd = odd_files(folder)
    for module in (small_files, chat_template):
        setattr(module, "LARGEST", 2**20)  # noqa: B010  # the same limits, sooner
    memory = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + MEMORY
    count = 0
    for argv in cases(good, odd):
        count += 1
        wrong = ends_in_a_sentence(argv, memory)
        if wrong:
            sys.stdout.write(f"{' '.join(argv)}: {wrong}\n")
    sys.stdout.write(f"{count} commands\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
