"""Tests of the axes and labels that figures have both in print and on the screen."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.figures.axes import LEAST_ON_LOG, spread_labels
from bpe_core.figures.figure import Line, LineFigure, Point
from bpe_core.figures.from_table import MOST_LINES
from bpe_core.figures.painter import picture
from bpe_core.figures.scale import Axis
from bpe_core.figures.sheet import DASHES, LINES, Paper

TEXT = "{http://www.w3.org/2000/svg}text"
numbers = st.floats(0.0, 1e7).map(lambda number: round(number, 6))


@given(st.lists(st.floats(-50, 250), max_size=12), st.floats(1, 15))
def test_chart_labels_keep_their_order_and_never_overlap(wanted: list[float], height: float) -> None:
    top, bottom = 0.0, 200.0
    places = spread_labels(wanted, height, top, bottom)
    order = sorted(range(len(wanted)), key=lambda label: wanted[label])
    for upper, lower in pairwise(order):
        assert places[lower] - places[upper] >= height - 1e-6
    for place in places:
        assert top + height / 2 - 1e-6 <= place <= bottom - height / 2 + 1e-6


@given(st.lists(st.floats(20, 180), max_size=6))
def test_chart_labels_with_enough_space_are_not_moved(wanted: list[float]) -> None:
    apart = [20.0 * round(place / 20) for place in dict.fromkeys(wanted)]
    apart = [*dict.fromkeys(apart)]
    assert spread_labels(apart, 10.0, 0.0, 200.0) == apart


@given(numbers, st.floats(1e-3, 1e6), st.booleans(), st.booleans(), st.floats(0, 1), st.floats(1e-4, 1))
def test_ticks_of_a_zoomed_axis_lie_within_the_visible_part_and_have_different_labels(
    least: float, length: float, is_log: bool, is_from_least: bool, start: float, share: float
) -> None:
    least = max(least, LEAST_ON_LOG) if is_log and not is_from_least else least
    axis = Axis(least, least + length, is_log, is_from_least)
    low, high = axis.place(axis.least), axis.place(axis.most)
    start = low + (high - low) * start * (1 - share)
    first, last = axis.number(start), axis.number(start + (high - low) * share)
    if last - first < 1e-6 * max(1.0, last):
        return  # the screen could not separate these two numbers
    ticks = axis.ticks(first, last)
    slack = 1e-6 * (last - first)
    assert all(first - slack <= tick <= last + slack for tick in ticks)
    assert len(set(axis.labels(ticks))) == len(ticks) <= 20


@given(numbers, st.floats(0.1, 1e6), st.booleans(), st.booleans(), st.floats(0, 1))
def test_converting_a_number_to_a_position_on_an_axis_and_back_gives_the_same_number(
    least: float, length: float, is_log: bool, is_from_least: bool, share: float
) -> None:
    axis = Axis(max(least, 1e-3), max(least, 1e-3) + length, is_log, is_from_least)
    number = axis.least + length * share
    assert np.isclose(axis.number(axis.place(number)), number, rtol=1e-6, atol=1e-6)
    assert np.isclose(axis.places(np.array([number]))[0], axis.place(number))


def test_every_line_of_a_figure_has_a_different_dash_pattern() -> None:
    assert len(set(DASHES)) == len(DASHES) >= MOST_LINES


def test_labels_at_the_ends_of_printed_curves_do_not_overlap() -> None:
    x = np.array([1.0, 100.0])
    lines = [Line(name, x, x, points=[Point(100.0, 100.0, name)]) for name in "ABCD"]
    drawn = picture(LineFigure("lab", "Lab.", "", lines, "Tokens", "Bytes"), Paper(is_alone=True))
    labels = [text for text in ElementTree.fromstring(drawn).iter(TEXT) if text.get("fill") in LINES]
    assert {text.text for text in labels} == {"A", "B", "C", "D"}
    heights = sorted(float(text.get("y", "")) for text in labels)
    assert min(lower - upper for upper, lower in pairwise(heights)) > 11
