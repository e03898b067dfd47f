"""The end of the program, which waits for nobody: a thread that compiles in memory cannot be told to stop."""

from __future__ import annotations

import os
import sys
import threading

THREAD = "aside: "  # as in app.worker.job, which is not loaded where no window was opened


def leave(code: int) -> int:
    """The exit code; where a thread was left behind when the window closed, the process ends right here.

    Everything that is to be kept has been written by then. The interpreter itself would wait for that thread.
    """
    if any(thread.name.startswith(THREAD) for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code
