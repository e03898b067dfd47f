"""`python -m bpe_core`: the engine's commands, without the window."""

from __future__ import annotations

import sys

from bpe_core.own_process import end_process, run_alone

if __name__ == "__main__":
    end_process(run_alone(sys.argv[1:]))
