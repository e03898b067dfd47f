"""The benchmark of the window's search field with 100,000 merges."""

from __future__ import annotations

import time
from collections.abc import Callable

from app.window.find_anything.find_box import FindBox
from app.wiring import Program
from tests.gui.histories import random_history, run_with

MERGES = 100_000
TYPED = ("", "e", "th", "open te", "␣the", "t h", "99,999", "nothing is called so")


def measure(program: Program, run_for: Callable[[float], None]) -> None:
    """Measure how quickly the search list is painted, and print the times.

    The list is painted after the search box opens, and again after each text is typed.
    """
    run = run_with(random_history(MERGES))
    began = time.perf_counter()
    box = FindBox(program.finding.searches(run), program.window)
    box.show()
    run_for(0)
    print(f"opened: painted after {1000 * (time.perf_counter() - began):.1f} ms", flush=True)
    for typed in TYPED:
        began = time.perf_counter()
        box.field.setText(typed)
        seconds = time.perf_counter() - began
        box.repaint()
        shown = time.perf_counter() - began
        print(f"{typed!r}: {len(box.model.rows)} found in {1000 * seconds:.1f} ms, painted after {1000 * shown:.1f} ms")
    box.close()
