"""`python -m bpe_core`: the engine's commands, without the window."""

from __future__ import annotations

import sys

from bpe_core.command_line.main import run

if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
