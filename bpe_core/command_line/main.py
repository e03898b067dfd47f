"""The start of every command. It turns each error into a sentence and an exit code.

0    the command has succeeded
1    the request cannot be fulfilled; a sentence on standard error gives the reason
2    the arguments are wrong
3    the command has succeeded, and its answer is that something differs
129  the command was stopped because the terminal was closed
130  the command was stopped by Ctrl-C
141  the program that read the output has closed it
143  the command was stopped by the system, or by `kill`
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence

from bpe_core.command_line.interruption import (
    STYLES,
    Interruption,
    SecondInterrupt,
    exit_code,
    interruptible,
    progress_style,
)
from bpe_core.command_line.parser import (
    WITHOUT_MANIFEST,
    Command,
    announce_pipes,
    as_question,
    command_named,
    complete_replacements,
    files_read_by,
    options_in,
    parser_for,
    refuse_empty_names,
    refuse_to_replace_inputs,
    results_of,
)
from bpe_core.command_line.plugin_files import without_plugins
from bpe_core.errors import BpeError, OutputError, cause_of
from bpe_core.support.atomic import UNCHANGED, reserve
from bpe_core.support.garbage import exclude_present_objects
from bpe_core.support.version import PROGRAM

FAILED = 1
USAGE = 2
PIPE_CLOSED = 141
FINISHES = "Stopping when the manifest is written. Press Ctrl-C again to stop at once."
ALWAYS_NEEDED = ("numpy", "regex")  # packages that an interrupted installation may lack


def run_as_process(argv: Sequence[str]) -> int:
    """Run the command line `argv` as the whole work of this process, and return the exit code.

    Garbage collection would take a third of the time of a small command. It finds nothing while modules are loaded, and
    at the end of the process the system frees all memory. NumPy's linear algebra gets no threads of its own, because
    commands use little of it, and starting the threads takes as long as half of NumPy's loading.
    """
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded
    code = run(argv, when_loaded=exclude_present_objects)
    exclude_present_objects()
    return code


def run(argv: Sequence[str], when_loaded: Callable[[], None] = lambda: None) -> int:
    """Run a command and return the exit code. `argv` is the command line without the name of the program.

    `when_loaded` is called when the modules of the command are loaded and its arguments are read.
    """
    _open_closed_output()
    _escape_what_terminal_lacks()
    try:
        with Interruption():
            code = _run_with_plugins(argv, when_loaded)
            sys.stdout.flush()
    except BrokenPipeError:
        _discard_unread_output()
        return PIPE_CLOSED
    except ModuleNotFoundError as error:
        if error.name not in ALWAYS_NEEDED:
            raise
        sys.stderr.write(f"{PROGRAM}: The package {error.name} is not installed here: pip install {error.name}\n")
        return FAILED
    except OSError as error:
        if error.filename is not None:  # the file itself was reported before
            raise
        _discard_unread_output()
        sys.stderr.write(f"{PROGRAM}: The output could not be written completely: {cause_of(error)}.\n")
        return FAILED
    except SecondInterrupt as stop:
        return stop.exit_code
    except KeyboardInterrupt:
        return exit_code(signal.SIGINT)
    return code


def _run_with_plugins(argv: Sequence[str], when_loaded: Callable[[], None]) -> int:
    try:
        rest = without_plugins(argv)
    except BpeError as error:
        sys.stderr.write(f"{PROGRAM}: {error}\n")
        return FAILED
    return _run(as_question(rest), when_loaded)


def _run(argv: Sequence[str], when_loaded: Callable[[], None]) -> int:
    try:
        parser = parser_for(argv)
        options = options_in(parser, argv)
        _require_one_of(parser, options)
        refuse_empty_names(parser, options, argv)
    except SystemExit as stop:  # --help, --version, or arguments that argparse refused
        return stop.code if isinstance(stop.code, int) else USAGE
    when_loaded()
    try:
        reading_as = getattr(options, "reading_as", contextlib.nullcontext)  # set by `add_reading`
        with reading_as(options), progress_style(getattr(options, "progress", STYLES[0])):
            command = command_named(options.command)
            command.settle(options)
            is_told = getattr(options, "manifest", None) is not None and options.command not in WITHOUT_MANIFEST
            results = results_of(options)
            manifest = options.manifest if is_told else None
            read = files_read_by(options)
            announce_pipes(read)
            complete_replacements({*results, *read})
            refuse_to_replace_inputs(options, results, manifest)
            with reserve(*results, manifest=manifest, grows=command.grows):
                return _accounted_for(argv, command, options) if is_told else command.run(options)
    except BpeError as error:
        sys.stderr.write(f"{PROGRAM}: {error}\n")
    except MemoryError:
        sys.stderr.write(f"{PROGRAM}: There is not enough memory for this. Try a smaller text or vocabulary.\n")
    return FAILED


def _require_one_of(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Report an error if a command requires at least one of several arguments, and none of them is given.

    The groups of argparse cannot check arguments that take lists.
    """
    wanted: dict[str, str] = getattr(options, "one_of", {})  # set by the command
    if wanted and not any(getattr(options, name) for name in wanted):
        parser.error(f"the following arguments are required: {' or '.join(wanted.values())}")


def _accounted_for(argv: Sequence[str], command: Command, options: argparse.Namespace) -> int:
    from bpe_core.command_line.manifest import CommandRecord, captured_output

    account = CommandRecord(argv, options)
    with captured_output() as printed:
        code = command.run(options)
    if code not in command.ends_well:
        return code
    stopped = f"The command was stopped, and {'no manifest' if command.grows else 'nothing'} was written."
    with interruptible(FINISHES, stopped) as interruption:
        interruption.worth_keeping = True
        try:
            account.write(account.manifest(printed.getvalue()))
        except OutputError as error:
            said = str(error).removesuffix(UNCHANGED)
            raise OutputError(f"{said} The result itself is complete, but has no manifest.") from error
    return interruption.exit_code or code


def _open_closed_output() -> None:
    """Open the null device as output if standard output or standard error is closed, as after `>&-`."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - as long as the process


def _escape_what_terminal_lacks() -> None:
    """Make standard output and standard error escape characters that the terminal cannot encode, such as `▁`."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _discard_unread_output() -> None:
    """Discard the buffer of standard output, because the output can no longer be written.

    Otherwise Python would raise an error when it writes the buffer at the end.
    """
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
