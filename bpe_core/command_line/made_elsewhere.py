"""A manifest of what was not made by a command, but could have been: kept only if the command makes the same."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bpe_core.command_line.main import command_named, parsed
from bpe_core.command_line.manifest import Account
from bpe_core.errors import OutputError
from bpe_core.support.optional_packages import ENGINE
from bpe_core.support.progress import CancelCheck, never_cancelled

LOOK_AGAIN = 0.1  # seconds


def keep_manifest(
    command: Sequence[str], manifest: Path, cancelled: CancelCheck = never_cancelled, program: str = ENGINE
) -> bool:
    """Write how the command's result, which is there, is made; it is made again to see whether that is so.

    By the engine, or by a `program` that can make more. False, and no manifest, where the command makes something else.
    """
    options = parsed([*command, "--manifest", str(manifest)])
    if options is None:
        raise OutputError(f"There is no command {' '.join(command)[:80]!r} that would make this.")
    parser = argparse.ArgumentParser()
    command_named(options.command).add_arguments(parser)
    Account(command, options, parser, folder=manifest.parent).write("")
    is_same = False
    try:
        is_same = _is_repeated(manifest, cancelled, program)
    finally:
        if not is_same:
            manifest.unlink(missing_ok=True)
    return is_same


def _is_repeated(manifest: Path, cancelled: CancelCheck, program: str) -> bool:
    call = [sys.executable, "-m", program, "repeat", manifest.name]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(call, cwd=manifest.parent, stdin=quiet, stdout=quiet, stderr=quiet) as process:
        while process.poll() is None:
            if cancelled():
                process.terminate()
            try:
                process.wait(LOOK_AGAIN)
            except subprocess.TimeoutExpired:
                continue
    return process.returncode == 0
