"""The whole page: it holds everything it needs, and can be mailed as it is."""

from __future__ import annotations

from pathlib import Path

from bpe_core.report import sections
from bpe_core.report.report import Report
from bpe_core.report.style import style
from bpe_core.support.atomic import write_atomically
from bpe_core.support.markup import Markup, element, joined

# Whatever a token or a note says, the page loads nothing and runs nothing.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"

TITLES = {
    "recipe": "Recipe",
    "corpus": "Corpus",
    "charts": "Charts",
    "ties": "Ties",
    "text": "Text",
    "notes": "Notes",
}


def write_report(report: Report, path: Path | str) -> None:
    page = page_of(report).encode()
    with write_atomically(path) as file:
        file.write(page)


def page_of(report: Report) -> str:
    parts = {
        "recipe": sections.recipe(report),
        "corpus": sections.corpus(report),
        "charts": sections.charts(report),
        "merges": sections.merges(report),
        "ties": sections.tie_list(report),
        "text": sections.text(report),
        "notes": sections.notes(report),
    }
    titles = TITLES | {"merges": report.wording.steps.capitalize()}
    links = [element("a", {"href": f"#{name}"}, titles[name]) for name, part in parts.items() if part]
    nav = element("nav", {"aria-label": "Contents"}, element("ul", {}, *(element("li", {}, link) for link in links)))
    when = f"Run {report.run}, {report.made:%d %B %Y, %H:%M}. {report.sentence}".rstrip()
    header = element("header", {}, element("h1", {}, report.title), element("p", {"class": "muted"}, when), nav)
    main = element("main", {}, sections.summary(report), *parts.values())
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
