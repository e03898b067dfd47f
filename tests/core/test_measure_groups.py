"""Tests that each measure in a figure belongs to a group of measures."""

from __future__ import annotations

from itertools import chain

from bpe_core.measures.measures import GROUPS, MEASURES, OF_MORPHEMES_IN_SWEEPS
from bpe_core.questions import question_named

CHARTS = ("lab", "curves", "sizes", "sweep_results", "benchmark", "morphemes")


def test_each_measure_that_a_chart_can_draw_belongs_to_exactly_one_measure_group() -> None:
    grouped = [name for group in GROUPS for name in group.measures]
    assert len(grouped) == len({*grouped})
    measures = (parameter for chart in CHARTS for parameter in question_named(chart).parameters())
    drawn = chain.from_iterable(parameter.choices for parameter in measures if parameter.name == "measure")
    assert {OF_MORPHEMES_IN_SWEEPS.get(name, name) for name in drawn} - {*grouped} == set()
    assert {*grouped} <= {*MEASURES}
