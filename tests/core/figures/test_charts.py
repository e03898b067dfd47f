"""Tests of charts that are drawn without a window: they show the exact values."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bpe_core.command_line.main import run
from bpe_core.errors import LONGEST_SENTENCE
from bpe_core.figures.from_table import lengths_chart
from bpe_core.figures.painter import drawn
from bpe_core.figures.sheet import Paper
from bpe_core.formats import write_history
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.data_table import DataTable, write_data
from bpe_core.sweep.plan import read_plan
from bpe_core.sweep.running import sweep
from bpe_core.text.corpus import Corpus
from tests.core.learning import train

SVG = "{http://www.w3.org/2000/svg}"
TEXT = "the lowest price is lower than the last one & the <widest> of the low is the lowest.\n" * 4

PLAN = """
interval_over = "lines"
sizes = [258, 262, 270]
corpora = {both = ["one.txt", "two.txt"]}
recipes = {one = {preset = "gpt2"}, other = {preset = "english"}}
"""

DRAWN = (
    *("ranks", "compression", "lengths", "race", "life", "sizes", "sweep", "curves", "lab", "pairs", "blocks", "tree"),
    "dots",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("charts")
    (folder / "one.txt").write_text(TEXT, encoding="utf-8")
    (folder / "two.txt").write_text(TEXT[::-1], encoding="utf-8")
    corpus = Corpus.from_files([folder / "one.txt"])
    write_history(train(corpus, Recipe.preset("gpt2", merges=40)), folder / "merges.csv")
    (folder / "plan.toml").write_text(PLAN)
    write_data(sweep(read_plan(folder / "plan.toml")).table, folder / "swept.csv")
    assert run(["train", str(folder / "one.txt"), "--preset", "gage", "-o", str(folder / "gage.bpex")]) == 0
    return folder


def test_charts_drawn_by_the_command_have_the_requested_size_and_show_the_values_of_their_table(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for chart in DRAWN:
        tables = [str(folder / {"sweep": "swept.csv", "blocks": "gage.bpex"}.get(chart, "merges.csv"))]
        asked = ["chart", chart, *tables * (1 + (chart == "lab")), *(["--text", "lowest"] if chart == "tree" else [])]
        asked += ["--at", "9"] if chart == "pairs" else []
        if chart not in ("blocks", "lengths", "tree", "sweep"):
            asked += ["--corpus", str(folder / "one.txt")]
            asked += [str(folder / "two.txt")] if chart != "pairs" else []  # of the texts that were learned from
        if chart == "dots":
            asked = ["benchmark", *tables, "--texts", str(folder / "one.txt"), str(folder / "two.txt")]
        asked += {"dots": ["--measure", "bytes_per_token"], "sizes": ["--each"]}.get(chart, [])
        if chart == "life":
            asked = ["token", "#258", "--merges", *tables, "--corpus", str(folder / "one.txt"), "--at", "20"]
        asked += ["--width", "84", "--height", "60", "--text-size", "7"]
        for ending in ("svg", "csv"):
            assert run([*asked, "-o", str(folder / f"{chart}.{ending}")]) == 0, capsys.readouterr().err
        drawn = ElementTree.parse(folder / f"{chart}.svg").getroot()
        assert (drawn.get("width"), drawn.get("height")) == ("84mm", "60mm")
        sizes = {text.get("font-size") for text in drawn.iter(f"{SVG}text")}
        assert sizes == ({"7", "5.6"} if chart == "tree" else {"7"})
        with (folder / f"{chart}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        lines = [line for line in drawn.iter(f"{SVG}polyline") if (line.get("points") or "").count(" ") != 1]
        bars = [bar for bar in drawn.iter(f"{SVG}rect") if bar.get("class") == "bar"]
        if chart == "lengths":
            assert len(bars) == len(rows)
        elif chart == "pairs":
            assert 1 < len(bars) < len(rows), "there is no room for all"
            assert [row["is_next"] for row in rows].count("True") == 1
        elif chart == "tree":
            boxes = [box for box in drawn.iter(f"{SVG}rect") if box.get("class") == "token"]
            assert len(boxes) == len(rows)
            assert len([*drawn.iter(f"{SVG}line")]) == 2 * sum(row["step"] != "" for row in rows) > 0
        elif chart == "dots":
            heights = [float(dot.get("cy") or 0) for dot in drawn.iter(f"{SVG}circle")]
            values = [float(row["bytes_per_token"]) for row in rows]
            assert len(heights) == len(rows) + 1, "one in the legend"
            assert (heights[0] < heights[1]) == (values[0] > values[1])
        elif chart in ("lab", "blocks"):
            assert len(lines) == (2 * 3 if chart == "lab" else 1)  # the sizes of others have only two points
        elif chart == "life":
            pair, token = (sum(row["of"] == of for row in rows) for of in ("pair", "token"))
            points = [len((line.get("points") or "").split()) for line in drawn.iter(f"{SVG}polyline")]
            assert points == [2 * token + 1, 2 * pair + 1, 2, 2], "stairs up to the end, and two samples"
            assert len([marked for marked in drawn.iter(f"{SVG}line") if marked.get("class") == "mark"]) == 1
        elif chart == "race":
            assert len(lines) == len({(row["left_id"], row["right_id"]) for row in rows})
        else:
            assert sum(len((line.get("points") or "").split()) for line in lines) == len(rows)
            assert len(lines) == (2 if chart in ("sizes", "sweep") else 1)
            has_start = any("(axis from" in (text.text or "") for text in drawn.iter(f"{SVG}text"))
            assert has_start == (chart in ("sweep", "curves"))
        bands = [band for band in drawn.iter(f"{SVG}polygon") if (band.get("points") or "").count(" ") == 5]
        assert len(bands) == (2 if chart == "sweep" else 0)
        _check_order(lines, rows, chart)


def _check_order(lines: list[ElementTree.Element], rows: list[dict[str, str]], chart: str) -> None:
    """Check that a greater number is drawn higher than a smaller number."""
    if chart not in ("ranks", "compression"):
        return
    numbers = [float(row["count" if chart == "ranks" else "base_symbols_per_token"]) for row in rows]
    heights = [float(point.split(",")[1]) for point in (lines[0].get("points") or "").split()]
    assert all(
        (a >= b) == (x <= y) or x == y for a, b, x, y in zip(numbers, numbers[1:], heights, heights[1:], strict=False)
    )


def test_bars_in_the_chart_of_token_lengths_are_labelled_with_whole_numbers() -> None:
    figure = lengths_chart(DataTable({"bytes": [2, 3], "tokens": [20, 17]}))
    ticks = re.findall(r'class="tick">([^<]*)<', drawn(figure, Paper(300, 200, 8)))
    assert ticks == ["2", "3"]


def test_charts_that_cannot_be_drawn_are_reported_in_an_error_message(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, text, swept = (str(folder / name) for name in ("merges.csv", "one.txt", "swept.csv"))
    asked = {
        "browser": ["ranks", table, "--corpus", text, "-o", "r.pdf"],
        "must end in .svg": ["ranks", table, "--corpus", text, "-o", "r.gif"],
        "--corpus": ["sizes", table, "-o", "r.svg"],
        "does not hold morpheme_f1": ["sweep", swept, "--measure", "morpheme_f1", "-o", "r.svg"],
        "not the table of a sweep": ["sweep", table, "-o", "r.svg"],
        "mm wide": ["lengths", table, "-o", "r.svg", "--width", "1"],
        "points": ["lengths", table, "-o", "r.svg", "--text-size", "nan"],
    }
    for message, arguments in asked.items():
        assert run(["chart", *arguments]) == 1
        sentence = capsys.readouterr().err
        assert message in sentence
        assert len(sentence) < LONGEST_SENTENCE + 20
