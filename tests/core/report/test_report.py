"""Tests of the report: a single page that agrees with the history, loads no other file and runs no code."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.command_line.main import run as run_command
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.figures.scale import Scale
from bpe_core.formats import write_history
from bpe_core.history.history import History
from bpe_core.methods.kit.layout import count_symbols
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import learn
from bpe_core.recipes.recipe import Recipe
from bpe_core.report import Report, page_of, report_of, write_report
from bpe_core.session_file.values import Bookmark, SavedSession
from bpe_core.session_file.writing import write_session
from bpe_core.studies.study import Study
from bpe_core.studies.texts import KnownWords
from bpe_core.support.version import program_version
from tests.core.session_file.sessions import RECIPES, large_history, run_of, session

EVIL = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>&amp;\u202e\x00"


class Page(HTMLParser):
    """A parser that collects the elements of a page and the text of each section."""

    EMPTY = ("meta",)

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.sections: dict[str, str] = {}
        self._section = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)
        if tag == "section":
            self._section = dict(attrs)["id"] or ""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.sections[self._section] = self.sections.get(self._section, "") + data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: f"{recipe.name}-{recipe.marker}")
def test_a_report_is_written_for_each_kind_of_recipe(recipe: Recipe) -> None:
    page = Page(page_of(report_of(session(run_of(recipe)))))
    assert set(page.sections) >= {"recipe", "corpus", "charts", "merges", "text", "notes"}
    assert len(page.named("svg")) == 4


def test_numbers_in_a_report_agree_with_the_history() -> None:
    saved = session(run_of(RECIPES[0]))
    history = saved.runs[0].history
    assert history is not None
    page = Page(page_of(report_of(saved)))
    assert f"{len(history):,}" in page.sections[""]
    for merge in history[:20]:
        assert f"{merge.count:,}" in page.sections["merges"]
    assert "here it is\nsecond line" in page.sections["notes"]
    assert "bpe:1#2" in page.sections["notes"]
    assert "a.txt" in page.sections["corpus"]
    assert "abababababababab" in page.sections["corpus"]


def test_a_report_shows_the_text_split_at_each_listed_step() -> None:
    saved = dataclasses.replace(session(run_of(RECIPES[0])), text="the lowest 🐦 newest", bookmarks=())
    report = dataclasses.replace(report_of(saved), moments=(3, 7))
    assert report.shown_moments == [0, 3, 7, len(report.history)]
    page = Page(page_of(report))
    tokenizer = Tokenizer(report.history)
    for moment in report.shown_moments:
        tokens = len(tokenizer.encode(report.text, at=moment))
        assert f"{tokens:,} tokens" in page.sections["text"]
    shown = [attributes for attributes in page.named("span") if (attributes["class"] or "").startswith("t")]
    assert len(shown) == sum(len(tokenizer.encode(report.text, at=moment)) for moment in report.shown_moments)


def test_a_report_with_malicious_texts_runs_no_code_and_requests_no_url() -> None:
    saved = session(run_of(RECIPES[0]))
    source = dataclasses.replace(saved.sources[0], name=EVIL)
    run = dataclasses.replace(saved.runs[0], sources=(source,), sentence=EVIL)
    recipe = dataclasses.replace(saved.runs[0].recipe, name=EVIL.replace("\x00", ""))
    assert run.history is not None
    run = dataclasses.replace(run, history=_with_recipe(run.history, recipe))
    saved = dataclasses.replace(saved, runs=(run,), text=EVIL, bookmarks=(Bookmark(1, 1, EVIL),))
    html = page_of(report_of(saved))
    page = Page(html)
    names = {name for name, _ in page.elements}
    assert names.isdisjoint({"script", "img", "iframe", "object", "embed", "link", "base", "form", "foreignobject"})
    for _, attributes in page.elements:
        assert not any(key.startswith("on") for key in attributes)
        assert all((value or "").startswith("#") for key, value in attributes.items() if key in ("href", "src"))
    assert "default-src 'none'" in html
    assert not re.search(r"url\(|@import|https?:", html)
    assert "\u202e" not in html
    assert "\x00" not in html


def _with_recipe(history: History, recipe: Recipe) -> History:
    return History(recipe, history.alphabet, history.columns, tokens_at_start=history.tokens_at_start)


@given(st.text(), st.text())
def test_a_report_page_is_valid_for_any_text_and_any_note(text: str, note: str) -> None:
    saved = dataclasses.replace(session(run_of(RECIPES[0])), text=text, bookmarks=(Bookmark(1, 3, note),))
    page_of(report_of(saved)).encode()
    Page(page_of(report_of(saved)))


def test_charts_in_a_report_are_valid_and_accessible_svg() -> None:
    html = page_of(report_of(session(run_of(RECIPES[0]))))
    drawings = re.findall("<svg.*?</svg>", html, re.DOTALL)
    assert len(drawings) == 4
    for drawing in drawings:
        tree = ElementTree.fromstring(drawing)
        assert tree.get("role") == "img"
        ids = {element.get("id") for element in tree.iter()}
        assert set((tree.get("aria-labelledby") or "").split()) <= ids
        for element in tree.iter():
            for name in ("x", "y", "x1", "y1", "width", "height"):
                value = element.get(name)
                assert value is None or -1 <= float(value) <= 500


def test_a_report_draws_token_ranks_of_a_run_without_word_counts() -> None:
    run = run_of(RECIPES[0])
    assert run.history is not None
    assert run.words is not None
    counts = count_symbols(run.words, run.history.alphabet, run.recipe)
    runs = [dataclasses.replace(run, words=words, symbol_counts=counts) for words in (run.words, None)]
    pages = (page_of(report_of(session(saved))) for saved in runs)
    whole, lost = (re.findall("<svg.*?</svg>", page, re.DOTALL) for page in pages)
    assert len(whole) == len(lost) == 4
    assert whole[2] == lost[2] or whole[3] == lost[3]


def test_tables_and_languages_of_a_report_are_marked_for_screen_readers() -> None:
    page = Page(page_of(report_of(session(run_of(RECIPES[0])))))
    assert page.named("html")[0]["lang"] == "en"
    assert all(attributes["scope"] == "col" for attributes in page.named("th"))
    assert len(page.named("caption")) == len(page.named("table"))
    targets = {f"#{attributes['id']}" for attributes in page.named("section")}
    assert {attributes["href"] for attributes in page.named("a")} == targets


def test_a_report_of_an_imported_table_is_written() -> None:
    learned = run_of(RECIPES[0]).history
    assert learned is not None
    imported = History.from_pairs(learned.recipe, learned.alphabet, [(m.left, m.right) for m in learned])
    page = Page(page_of(Report("A table", Study(imported), text="newest")))
    assert "answers" not in page.sections
    assert len(page.named("svg")) == 1


def test_a_report_of_a_history_without_merges_is_written() -> None:
    history = run_of(RECIPES[0]).history
    assert history is not None
    page = Page(page_of(Report("Nothing", Study(history.first(0)), text="newest")))
    assert "Nothing was learned" in page.sections["merges"]


def test_a_report_of_50_000_merges_is_smaller_than_a_megabyte() -> None:
    history = large_history(50_000)
    words = KnownWords(WordTable.from_counts({"w": 1}))
    report = Report("Large", Study(history, words, texts_are_own=True), text="the text " * 1_000)
    assert len(page_of(report)) < 1_000_000


def test_a_report_of_a_session_without_a_run_is_refused() -> None:
    with pytest.raises(BpeError, match="in which no run has learned anything"):
        report_of(SavedSession(Recipe.preset("gpt2")))
    with pytest.raises(BpeError, match="no run 7"):
        report_of(session(run_of(RECIPES[0])), 7)


@given(st.floats(1e-3, 1e9), st.floats(1.01, 1e6), st.booleans())
def test_ticks_of_a_chart_lie_within_its_axis(least: float, factor: float, is_log: bool) -> None:
    scale = Scale(least, least * factor, 0, 1, is_log)
    ticks = scale.ticks()
    assert len(ticks) <= 20
    assert all(-1e-6 <= scale(tick) <= 1 + 1e-6 for tick in ticks)
    assert ticks == sorted(ticks)


# From the command line


def test_the_report_command_accepts_sessions_and_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = session(run_of(RECIPES[0]), run_of(RECIPES[1], 2))
    write_session(saved, tmp_path / "one.bpex")
    assert run_command(["report", str(tmp_path / "one.bpex"), "--output", str(tmp_path / "one.html")]) == 0
    write_report(dataclasses.replace(report_of(saved)), tmp_path / "same.html")
    drop_date = re.compile(r"\d\d \w+ \d{4}, \d\d:\d\d")
    written = [drop_date.sub("", (tmp_path / name).read_text(encoding="utf-8")) for name in ("one.html", "same.html")]
    assert written[0] == written[1]
    history = saved.runs[0].history
    assert history is not None
    write_history(history, tmp_path / "merges.csv")
    command = ["report", str(tmp_path / "merges.csv"), "--text", "newest", "--at", "2", "--output"]
    assert run_command([*command, str(tmp_path / "table.html")]) == 0
    assert "After 2 merges" in (tmp_path / "table.html").read_text(encoding="utf-8")
    assert run_command(["report", str(tmp_path / "one.bpex"), "--run", "9"]) == 1
    assert run_command([*command, str(tmp_path / "no" / "such.html")]) == 1
    assert run_command(["report", str(tmp_path / "merges.csv"), "--at", "999"]) == 1
    assert "`at` must be a number from 0" in capsys.readouterr().err


def test_a_paper_report_states_the_recipe_and_the_checksum_and_the_program_version(tmp_path: Path) -> None:
    words = WordTable.from_counts({"low": 2})
    study = Study(learn(words, Recipe.preset("words", merges=1)), KnownWords(words), texts_are_own=True)
    page = tmp_path / "methods.html"
    write_report(Report("A run", study), page, is_for_paper=True)
    html = page.read_text(encoding="utf-8")
    assert hashlib.sha256(b"low\t2\n").hexdigest()[:16] in html
    assert "Of pairs with equal counts, the training takes the pair" in html
    assert program_version() in html
    assert 'id="methods"' in html
    assert 'id="merges"' not in html
