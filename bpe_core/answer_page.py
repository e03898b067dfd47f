"""The answer to a question as one HTML page with its sentences, its figure and its tables.

The page needs no other file, so a user can send it by mail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from bpe_core.asking import Answer, Question, cell_text, heading_of
from bpe_core.figures.painter import figures_with_captions
from bpe_core.report import MADE_WITH, whole_page
from bpe_core.studies.study import Study
from bpe_core.support.atomic import write_atomically
from bpe_core.support.markup import Content, Markup, element, joined, table
from bpe_core.support.wording import count_text

MOST_ROWS = 1_000


def write_page(question: type[Question], answer: Answer, about: Study | Mapping[str, Study] | None, path: Path) -> None:
    page = page_of(question, answer, about).encode()
    with write_atomically(path) as file:
        file.write(page)


def page_of(question: type[Question], answer: Answer, about: Study | Mapping[str, Study] | None) -> str:
    made = f"{_named(about)}{datetime.now():%d %B %Y, %H:%M}."
    title = question.title()
    header = element("header", {}, element("h1", {}, title), element("p", {"class": "muted"}, made))
    said = [element("p", {}, sentence) for sentence in answer.sentences]
    parts = [joined(said), *_facts(answer.facts)]
    if answer.figure is not None and len(answer.table):
        parts.append(_section("Figure", figures_with_captions([answer.figure])))
    if len(answer.table):
        parts.append(_section("All rows", _rows(answer)))
    return whole_page(title, header, element("main", {}, *parts), element("footer", {}, MADE_WITH))


def _named(about: Study | Mapping[str, Study] | None) -> str:
    if isinstance(about, Mapping):
        return f"{', '.join(about)}. "
    return f"{about.name}. " if about is not None and about.name else ""


def _facts(facts: Mapping[str, Any]) -> list[Markup]:
    """Return a table for each fact that has rows.

    The other facts are in the sentences of the answer.
    """
    sections = []
    for name, rows in facts.items():
        if isinstance(rows, Sequence) and not isinstance(rows, str) and rows and isinstance(rows[0], Mapping):
            columns = {column: [row.get(column) for row in rows] for column in rows[0]}
            sections.append(_section(heading_of(name).capitalize(), _table("", columns, range(len(rows)))))
    return sections


def _rows(answer: Answer) -> Markup:
    places = list(range(min(len(answer.table), MOST_ROWS)))
    caption = (
        ""
        if len(places) == len(answer.table)
        else (f"The first {len(places):,} of {count_text(len(answer.table), 'row')}")
    )
    return _table(caption, answer.shown, places, answer.headings)


def _table(
    caption: str, columns: Mapping[str, Any], places: Sequence[int], headings: Mapping[str, str] | None = None
) -> Markup:
    titles = [((headings or {}).get(name) or heading_of(name)).capitalize() for name in columns]
    rows: list[list[Content]] = [
        [cell_text(name, values[place]) for name, values in columns.items()] for place in places
    ]
    texts = [all(isinstance(values[place], str | None) for place in places) for values in columns.values()]
    return table(caption, titles, rows, numbers=[place for place, is_text in enumerate(texts) if not is_text])


def _section(title: str, *content: Content) -> Markup:
    return element("section", {"aria-label": title}, element("h2", {}, title), *content)
