"""The tests of commands that are killed or stopped at any moment.

A test makes a few attempts, or hundreds of attempts if BPE_LONG=1 is set.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys

import pytest

from bpe_core.command_line.commands import COMMANDS
from bpe_core.command_line.parser import command_named
from tests.shared import ROOT

TRIES = 1000 if os.environ.get("BPE_LONG") else 6

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows kills processes in another way")

INTERRUPTED_WHILE_LOADING = """
import os, signal, sys
from {program}.__main__ import main

class Interrupter:
    def find_spec(self, name, path, target=None):
        if name == "bpe_core.command_line.main":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupter())
sys.exit(main(["presets"]))
"""


def test_a_command_killed_at_any_moment_leaves_no_half_written_file() -> None:
    """The attempts use forks, so they run in a separate process.

    The process of the tests has threads and must not fork.
    """
    command = [sys.executable, "-m", "tests.e2e.killing_commands", str(os.getpid()), str(TRIES)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("program", ["app", "bpe_core"])
def test_ctrl_c_while_a_command_is_loaded_ends_the_command_without_a_traceback(program: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED_WHILE_LOADING.format(program=program)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_that_writes_a_file_has_a_case_in_the_kill_test(name: str) -> None:
    from tests.e2e.killing_commands import CASES

    parser = argparse.ArgumentParser()
    command_named(name).add_arguments(parser)
    tried = [arguments for arguments in CASES.values() if arguments.split()[0] == name]
    assert tried or not re.search(r"-o\b|\bOUT\b", parser.format_usage())
