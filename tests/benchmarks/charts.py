"""A benchmark of how long it takes to paint a chart, or a strip beside a chart, after a change.

The processor time is measured from the change until the chart is painted. No change may take more than 16 ms.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

BLOCKS = 5_000  # of a text of 50 MB
TIMES = 60
SIZES = ((600, 300), (1200, 600))
END = 32_000  # steps


def measure(application: Any) -> None:
    """Draw each kind of chart in two sizes, and measure how long its changes take.

    The changes are new values, a moved crosshair, a different step, and a moved view.
    """
    from PySide6.QtCore import QPointF

    from app.window.charts.figure_view import FigureView
    from bpe_core.figures.figure import Bar, BarFigure, DotFigure, Line, LineFigure

    steps = np.geomspace(1, END, 300)
    every = np.arange(5_000.0)
    random = np.random.default_rng(1)

    def curves(turn: int) -> LineFigure:
        lines = [Line(f"run {number}", steps, np.log(steps) * (1 + number / 10) + turn / 100) for number in range(8)]
        return LineFigure("curves", "Curves.", "", lines, "Tokens", "Bytes", is_log_x=True, marks=(100.0 + turn,))

    def race(turn: int) -> LineFigure:
        lines = [
            Line(f"pair {number}", every, 5_000 - every * number / 8 + turn, has_stairs=True) for number in range(5)
        ]
        return LineFigure("race", "The race.", "", lines, "Merges", "Count", marks=(float(turn),))

    def rows(turn: int) -> BarFigure:
        bars = [Bar(f"t + {row}", 100 - row + turn / 10, f"{row}") for row in range(60)]
        return BarFigure("pairs", "Pairs.", "", bars, "Count")

    def dots(turn: int) -> DotFigure:
        names, texts = ([f"{kind} {number}" for number in range(most)] for kind, most in (("run", 8), ("text", 20)))
        return DotFigure("dots", "Tokens", "", names, texts, random.random((8, 20)))

    for width, height in SIZES:
        view = FigureView()
        view.resize(width, height)
        view.show()

        def timed(what: str, act: Callable[[int], object], width: int = width) -> None:
            taken = []
            for turn in range(TIMES + 1):  # the first one makes the chart
                began = time.thread_time()
                act(turn)
                application.processEvents()
                taken.append(1000 * (time.thread_time() - began))
            often = f"{np.median(taken[1:]):.1f} ms, 95th percentile {np.percentile(taken[1:], 95):.1f} ms"
            print(f"{width} pixels, {what}: {often}; at first {taken[0]:.0f} ms", flush=True)

        def along(turn: int, view: Any = view) -> None:
            view.charts[0].box.translateBy(x=0.01 if turn % 2 else -0.01)

        def pointed(turn: int, view: Any = view) -> None:
            seen = view.charts[0].box.viewRect()
            view.charts[0].point_at(QPointF(seen.left() + seen.width() * turn / TIMES, seen.center().y()))

        for name, figure in (
            ("8 curves", curves),
            ("5 stairs of 5,000 points", race),
            ("160 dots", dots),
            ("60 rows", rows),
        ):
            timed(f"{name}, other values", lambda turn, figure=figure, view=view: view.set_figure(figure(turn)))  # type: ignore[misc]
            timed(f"{name}, a crosshair", pointed)
            still = figure(0)
            if isinstance(still, LineFigure):
                timed(
                    f"{name}, another moment",
                    lambda turn, still=still, view=view: view.set_figure(replace(still, marks=(100.0 + turn,))),  # type: ignore[misc]
                )
                view.charts[0].enlarge()
                timed(f"{name}, moved along", along)
        view.close()

        _measure_strips(width, timed)


def _measure_strips(width: int, timed: Callable[[str, Callable[[int], object]], None]) -> None:
    """Time the drawing of the two strips that are next to charts: the curve in the time slider, and the blocks.

    Qt's painter draws both strips.
    """
    from app.window.questions.blocks_page import BlockStrip
    from app.window.time.bar import TimeTrack
    from app.window.time.curve import CURVE_POINTS
    from bpe_core.figures.figure import Line

    points = np.linspace(1, END, CURVE_POINTS)
    track = TimeTrack()
    track.setRange(0, END)
    track.resize(width, track.sizeHint().height())
    track.show()
    track.show_curve(Line("", points, np.log(points)))
    timed("the curve in the slider, another moment", lambda turn: track.setValue(turn * END // TIMES))
    timed(
        "the curve in the slider, other values", lambda turn: track.show_curve(Line("", points, np.log(points + turn)))
    )
    blocks: Any = SimpleNamespace(ends=[(block + 1) / BLOCKS for block in range(BLOCKS)], block=0, answer=None)
    strip = BlockStrip(blocks)
    strip.resize(width, strip.sizeHint().height())
    strip.show()

    def show_block(turn: int) -> None:
        blocks.block = turn * BLOCKS // TIMES
        strip.update()

    timed("the strip of blocks, another block", show_block)
