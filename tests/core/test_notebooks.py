"""Tests of answers and tables in notebooks, where they are shown as pictures and tables.

In a plain Python shell, the repr of an object is the call that makes the object.
"""

from __future__ import annotations

import base64
import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.figures.figure import Figure
from bpe_core.recipes.presets import PRESETS

TEXT = "low lower lowest, new newer newest, wide wider widest " * 4
STUDY = bpe.train(TEXT, "gpt2", merges=20)
ANSWERS = {
    "steps": bpe.steps(STUDY),
    "why": bpe.why(STUDY, "lowest <wide>"),
    "curves": bpe.curves({"ours": STUDY}, held_out=["the lowest"]),
    "benchmark": bpe.benchmark({"ours": STUDY}, {"en": "the lowest", "de": "das Tiefste"}),
    "tree": bpe.tree(STUDY, "lowest"),
    "pairs": bpe.pairs(STUDY, at=3),
    "ways": bpe.ways(STUDY, "lowest"),
    "ties": bpe.ties(STUDY),
}
NAMES = {name: getattr(bpe, name) for name in ("Recipe", "Mixture", "Group", "Sample")}


class Page(HTMLParser):
    """A parser that checks that every element of an HTML fragment is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.images, self.rows, self.texts = list[dict[str, Any]](), 0, list[str]()
        self._open = list[str]()
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "img":  # which is never closed
            self._open.append(tag)
        self.rows += tag == "tr"
        if tag == "img":
            self.images.append(dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_notebook_shows_the_sentences_and_the_figure_and_the_rows_of_an_answer(name: str) -> None:
    answer = ANSWERS[name]
    page = Page(answer._repr_html_())
    assert page.rows == 1 + min(20, len(answer.table if answer.rows is None else answer.rows))
    for sentence in answer.sentences:
        assert sentence in page.texts
    assert len(page.images) == (answer.figure is not None)
    for image in page.images:
        kind, data = image["src"].split(",")
        assert kind == "data:image/svg+xml;base64"
        assert ElementTree.fromstring(base64.b64decode(data)).tag.endswith("svg")
        assert image["alt"]


def test_a_notebook_shows_the_first_rows_of_a_long_table_and_says_that_rows_are_missing() -> None:
    answer = bpe.steps(
        bpe.train(" ".join(chr(97 + place) * 9 for place in range(10)), "gpt2", merges=30, min_frequency=1)
    )
    for shown in (answer._repr_html_(), answer.table._repr_html_()):
        page = Page(shown)
        assert "30 rows, of which the first 20 are shown" in page.texts
        assert page.rows == 21


def test_a_notebook_shows_the_rows_that_an_answer_selects() -> None:
    answer = bpe.Answer(bpe.DataTable({"step": [*range(40)]}), rows=(3, 39))
    page = Page(answer._repr_html_())
    assert "2 of 40 rows" in page.texts
    assert [text for text in page.texts if text.isdigit()] == ["3", "39"]


def test_a_table_in_a_notebook_shows_all_columns_and_empty_cells_for_missing_values() -> None:
    page = Page(bpe.DataTable({"name": ["<b>", None], "count": [1, 2]})._repr_html_())
    assert [text for text in page.texts if text in ("name", "count")] == ["name", "count"]
    assert "<b>" in page.texts
    assert "None" not in page.texts


@pytest.mark.parametrize("name", [name for name, answer in ANSWERS.items() if answer.figure is not None])
def test_figures_and_drawings_are_displayed_by_a_notebook(name: str, tmp_path: Path) -> None:
    figure = ANSWERS[name].figure
    assert isinstance(figure, Figure)
    drawing = bpe.draw(ANSWERS[name], tmp_path / "drawn.svg")
    assert (tmp_path / "drawn.svg").read_text(encoding="utf-8") == drawing
    assert drawing.startswith("<?xml")
    assert isinstance(drawing, str)
    for shown in (drawing._repr_svg_(), figure._repr_svg_()):
        assert shown.startswith("<svg")
        assert ElementTree.fromstring(shown).get("width")
    assert bpe.draw(figure) == bpe.draw(ANSWERS[name]) == drawing
    assert figure.title in repr(figure)


def test_an_answer_with_an_empty_figure_shows_no_image_in_a_notebook() -> None:
    study = bpe.train("a b", "gpt2", merges=1, min_frequency=5)
    assert Page(bpe.steps(study)._repr_html_()).images == []


def test_a_notebook_shows_the_ids_of_the_opened_file(tmp_path: Path) -> None:
    """An earlier version showed the engine's own indices."""
    vocabulary = {"<s>": 0, "l": 1, "o": 2, "T": 3, "h": 4, "e": 5, "lo": 6}
    model = {"type": "BPE", "vocab": vocabulary, "merges": [["l", "o"]], "unk_token": "<s>"}
    special = {"id": 0, "content": "<s>", "special": True, "normalized": False}
    sides = {"single_word": False, "lstrip": False, "rstrip": False}
    (tmp_path / "tokenizer.json").write_text(
        json.dumps({"version": "1.0", "added_tokens": [special | sides], "model": model})
    )
    study = bpe.open(tmp_path / "tokenizer.json")
    titles = re.findall(r'title="id (\d+)">(\w+)<', study._repr_html_())
    assert ("3", "T") in titles
    assert ("6", "lo") in titles
    assert {(id, text) for id, text in titles if text in vocabulary} <= {
        (str(id), text) for text, id in vocabulary.items()
    }


@pytest.mark.parametrize("preset", PRESETS)
def test_the_repr_of_a_recipe_is_the_call_that_makes_the_recipe(preset: str) -> None:
    recipe = bpe.Recipe.preset(preset)
    assert eval(repr(recipe), NAMES) == recipe  # noqa: S307 - it is a text of our own
    assert len(repr(recipe)) < 420


def test_the_repr_of_a_mixture_is_the_call_that_makes_the_mixture() -> None:
    halves = bpe.Sample(fraction=0.5, of="lines", seed=7)
    mixture = bpe.Mixture((bpe.Group("en", weight=0.4), bpe.Group("de", 0.6, halves, unique="lines")), by="bytes")
    assert eval(repr(mixture), NAMES) == mixture  # noqa: S307 - it is a text of our own
    assert repr(bpe.Group("en")) == "Group('en')"
    recipe = bpe.Recipe.preset("gpt2", vocab_size=300, special_tokens=("<pad>",), mixture=mixture)
    assert eval(repr(recipe), NAMES) == recipe  # noqa: S307 - it is a text of our own


def test_the_repr_of_a_large_object_is_a_short_summary() -> None:
    special = bpe.train(TEXT, "gpt2", merges=20, special_tokens=("<pad>",))
    assert repr(special) == ("Study(method='bpe', recipe='gpt2', vocab_size=277, steps=20, special_tokens=('<pad>',))")
    assert repr(STUDY.history) == "History(method='bpe', recipe='gpt2', vocab_size=276, steps=20)"
    assert repr(bpe.WordTable.from_counts({"low": 5, "new": 2})) == "WordTable(words=2, total=7)"
    corpus = bpe.Corpus.grouped({"en": bpe.Corpus.from_texts(["low"]), "de": bpe.Corpus.from_texts(["tief"])})
    assert repr(corpus).startswith("Corpus(sources=2, first=(")
    assert "groups=('en', 'de')" in repr(corpus)
    assert repr(ANSWERS["why"]).startswith("Answer(rows=9, columns=('before', 'after', 'reason')")
    assert repr(ANSWERS["why"].table).startswith("DataTable(rows=9, columns=('byte', 'is_cut'")
