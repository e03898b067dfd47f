"""The whole page: it holds everything it needs, and can be mailed as it is."""

from __future__ import annotations

from pathlib import Path

from bpe_core.report.report import Report
from bpe_core.report.sections import SECTIONS, summary
from bpe_core.report.style import style
from bpe_core.support.atomic import write_atomically
from bpe_core.support.markup import Markup, element, joined

# Whatever a token or a note says, the page loads nothing and runs nothing.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def write_report(report: Report, path: Path | str) -> None:
    page = page_of(report).encode()
    with write_atomically(path) as file:
        file.write(page)


def page_of(report: Report) -> str:
    made = [(name, title or report.wording.steps.capitalize(), make(report)) for name, title, make in SECTIONS]
    parts = [(name, title, content) for name, title, content in made if content]
    links = [element("li", {}, element("a", {"href": f"#{name}"}, title)) for name, title, _ in parts]
    nav = element("nav", {"aria-label": "Contents"}, element("ul", {}, *links))
    when = f"Run {report.run}, {report.made:%d %B %Y, %H:%M}. {report.sentence}".rstrip()
    header = element("header", {}, element("h1", {}, report.title), element("p", {"class": "muted"}, when), nav)
    sections = (
        element("section", {"id": name, "aria-label": title}, element("h2", {}, title), *content)
        for name, title, content in parts
    )
    main = element("main", {}, summary(report), *sections)
    footer = element("footer", {}, "Made with BPE Explorer. This page loads nothing from elsewhere.")
    head = joined(
        [
            Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
            Markup(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
            element("title", {}, report.title),
            element("style", {}, Markup(style())),
        ]
    )
    body = joined([header, main, footer])
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'
