"""Tests of the web page of lessons: it asks and judges as the engine does, and its source hides the answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bpe_core.command_line.main import run
from bpe_core.errors import BpeError
from bpe_core.lessons.lessons import is_same_answer, lessons
from bpe_core.sharing.lesson_contents import lesson_contents
from bpe_core.sharing.page import lesson_page_of, share_lessons
from tests.browser import Browser, browser, needs_browser

SHOWN = "document.querySelector('main').innerText"


@cache
def contents(place: int) -> dict[str, Any]:
    return lesson_contents(lessons()[place])


def all_contents() -> list[dict[str, Any]]:
    return [contents(place) for place in range(len(lessons()))]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    folder = tmp_path_factory.mktemp("lessons")
    share_lessons(folder / "class.html")
    with browser(folder / "home") as browser_page:
        browser_page.open(folder / "class.html")
        yield browser_page


def _begin(page: Browser, part: str, step: int = 0) -> int:
    place = next(i for i, lesson in enumerate(lessons()) if part in lesson.name)
    page.value(f"page.begin({place}); page.goTo({step})")
    return place


@needs_browser
@pytest.mark.parametrize("place", range(len(lessons())), ids=[lesson.name for lesson in lessons()])
def test_every_lesson_of_the_web_page_can_be_completed(place: int, page: Browser) -> None:
    lesson = contents(place)
    page.value(f"page.begin({place}); page.goTo(0)")
    asked = 0
    for step in lesson["steps"]:
        if step["kind"] != "read":
            asked += 1
            right = step["right"] if step["kind"] == "ask" else step["told"]["sentence"][7:].split(", which")[0]
            before = page.value(SHOWN)
            assert not step["after"] or step["after"][:30] not in before
            assert page.value("page.next.disabled")
            page.value(f"page.answer({json.dumps(right)})")
            assert page.value("page.course.reply.verdict.mood") == "right", right
        page.value("page.next.click()")
    assert f"{asked} of {asked} right at the first try" in page.value(SHOWN)
    assert page.errors == []
    assert [request for request in page.requests if not request.startswith("file:")] == []


@needs_browser
def test_the_web_page_of_lessons_checks_and_explains_clicked_and_typed_answers(page: Browser) -> None:
    page.value("page.memory.kept = {}")
    _begin(page, "weights", 1)
    words = page.value("[...document.querySelectorAll('.words > div')].map(one => one.innerText.replace(/\\s+/g, ' '))")
    assert words[0] == "12 × b o o k"
    page.click(".options button")
    assert page.value("document.querySelector('.options button').disabled")
    page.value("new Promise(done => setTimeout(done, 20))")
    assert "b + o occurs 23 times. Try again." in page.value("document.querySelector('[role=status]').innerText")
    assert "o + o occurs" not in page.value(SHOWN)
    page.value("document.querySelector('.entry input').focus()")
    page.type("k + o")
    page.press("Enter")
    page.value("new Promise(done => setTimeout(done, 20))")
    assert "k + o does not occur now, but o + o occurs 45 times" in page.value(SHOWN)
    assert page.value("document.activeElement === page.next"), "the keyboard goes on"
    page.press("Enter")
    assert page.value("page.course.number") == 2
    _begin(page, "unigram", 3)
    page.value("[...document.querySelectorAll('.entry input')].forEach((one, i) => one.value = ['1/4', '9', '1'][i])")
    page.click(".entry button")
    assert page.value("page.course.reply.verdict.sentence").startswith("Not quite. Look again at hu.")
    assert page.value("document.querySelectorAll('.entry input')[1].value") == "9", "what was typed stays"
    page.value("page.showList()")
    assert "go on at step 4 of 9" in page.value(SHOWN)
    assert page.errors == []


@needs_browser
def test_the_web_page_of_lessons_has_names_for_screen_readers_and_fits_a_phone(page: Browser) -> None:
    _begin(page, "weights", 1)
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    names = {(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]}
    wanted = {("heading", "Words have weights"), ("textbox", "What is done next"), ("button", "o + o")}
    wanted |= {("list", "The words now"), ("listitem", "12 times b o o k"), ("progressbar", "Steps of the lesson")}
    assert wanted <= names, names
    page.call("Emulation.setDeviceMetricsOverride", width=360, height=640, deviceScaleFactor=1, mobile=True)
    for place, lesson in enumerate(all_contents()):
        page.value(f"page.begin({place})")
        for step in range(len(lesson["steps"])):
            page.value(f"page.goTo({step})")
            assert page.value("document.documentElement.scrollWidth") <= 360, (lesson["name"], step)
    page.call("Emulation.clearDeviceMetricsOverride")


@needs_browser
def test_clicking_between_two_tokens_on_the_web_page_answers_a_lesson_with_their_pair(page: Browser) -> None:
    _begin(page, "weights", 1)
    box = "document.querySelectorAll('.tile')[2].getBoundingClientRect()"
    x, y = page.value(f"(() => {{ const b = {box}; return [b.x + 2, b.y + b.height / 2] }})()")
    for kind in ("mousePressed", "mouseReleased"):
        page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    assert page.value("page.course.reply.verdict.mood") == "right"
    assert page.value("document.querySelectorAll('.tile.new').length") == 5


@needs_browser
def test_typed_answers_are_checked_in_the_same_way_on_the_web_page_and_in_the_window(page: Browser) -> None:
    given: tuple[str, ...] = (
        "1,744",
        "1744",
        "low|est",
        "low est",
        "n+e",
        "n + e",
        "0.0625",
        "1/16",
        "0.25 .12",
        "1/4 1/8",
        "4",
        "5",
    )
    given += ("0.31 3", "4/13 3", "0.33 3", "1/0", "1", "", "9/1", "٣", "3", "1e3", "1000", "-2", "lower")
    pairs = [(first, second) for first in given for second in given]
    judgements = page.value(f"({json.dumps(pairs)}).map(([one, other]) => isSameAnswer(one, other))")
    different = [pair for pair, same in zip(pairs, judgements, strict=True) if same != is_same_answer(*pair)]
    assert [pair for pair in different if not {"٣", "1e3"} & {*pair}] == []


def test_the_source_of_the_web_page_does_not_contain_the_answers_of_lessons() -> None:
    source = lesson_page_of()
    secrets = {step["after"][:40] for lesson in all_contents() for step in lesson["steps"] if len(step["after"]) > 40}
    secrets |= {step["told"]["sentence"] for lesson in all_contents() for step in lesson["steps"] if "told" in step}
    assert len(secrets) > 60
    assert [secret for secret in secrets if len(secret) > 9 and secret in source] == []
    assert len(source) < 100_000


def test_a_web_page_can_contain_lessons_chosen_by_name() -> None:
    assert "<title>When two pairs are equal</title>" in lesson_page_of(["ties"])
    assert "<title>For Monday</title>" in lesson_page_of(["ties", "gage"], title="For Monday")
    with pytest.raises(BpeError, match="There is no lesson 'tiles'; the lessons are 1-first-merge, 2-weights"):
        lesson_page_of(["tiles"])


def test_the_share_command_writes_a_web_page_of_a_lesson(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "class.html"
    assert run(["share", "--lesson", "weights", "-o", str(path)]) == 0
    assert "Words have weights" in path.read_text(encoding="utf-8")
    assert run(["share", "-o", str(path)]) != 0
    assert "Name the runs to share, or give --lesson" in capsys.readouterr().err
