"""The whole page: it holds everything it needs, and can be mailed as it is."""

from __future__ import annotations

from pathlib import Path

from bpe_core.figures.coloured_text import grounds
from bpe_core.report.report import Report
from bpe_core.report.sections import SECTIONS, summary
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
            element("style", {}, Markup(_style())),
        ]
    )
    body = joined([header, main, footer])
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _style() -> str:
    light, dark = grounds()
    return f"{STYLE}{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n"


# Light or dark as the reader's system is, on screen and on paper.
STYLE = """
:root { color-scheme: light dark; --ground: #fcfcfd; --panel: #fff; --text: #1d232b; --muted: #5b6470;
  --line: #dfe2e7; --accent: #1f64b0; --bar: #a9c4e2; --mark: #c9650a; }
@media (prefers-color-scheme: dark) { :root { --ground: #181b20; --panel: #20242b; --text: #e4e8ed;
  --muted: #a0a9b5; --line: #363c46; --accent: #7ab3f2; --bar: #3d5f86; --mark: #f0953f; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2.5rem 1.25rem 4rem; background: var(--ground); color: var(--text);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .3rem; letter-spacing: -.01em; }
h2 { font-size: 1.25rem; margin: 3rem 0 .75rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.75rem 0 .4rem; }
p { margin: .4rem 0; } .muted, caption, figcaption { color: var(--muted); }
code, .tokens { font-family: ui-monospace, "Cascadia Mono", "SF Mono", Menlo, Consolas, monospace; font-size: .92em; }
code { white-space: pre-wrap; overflow-wrap: anywhere; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; padding: 0; margin: 1rem 0 0; }
a { color: var(--accent); } a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem;
  margin: 1.5rem 0; padding: 0; }
.cards div { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: .8rem 1rem;
  display: flex; flex-direction: column-reverse; justify-content: flex-end; }
.cards dt { color: var(--muted); font-size: .85rem; } .cards dd { margin: 0; font-size: 1.5rem; font-weight: 600; }
dl.choices { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem; margin: .5rem 0; }
dl.choices dt { color: var(--muted); } dl.choices dd { margin: 0; overflow-wrap: anywhere; }
.scrolls { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: .25rem 0 .5rem; } th, td { text-align: left; padding: .3rem .8rem .3rem 0;
  border-bottom: 1px solid var(--line); vertical-align: baseline; } th { color: var(--muted); font-weight: 500;
  font-size: .85rem; }
.number { text-align: right; padding-right: 1.2rem; white-space: nowrap; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1.5rem; margin: 1rem 0; }
figure { margin: 0; } figcaption { font-size: .88rem; } figcaption strong { color: var(--text); }
svg { width: 100%; height: auto; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; }
svg .grid { stroke: var(--line); stroke-width: 1; } svg .mark { stroke: var(--mark); stroke-dasharray: 3 3; }
svg .curve { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; }
  svg .bar { fill: var(--bar); } svg .band { fill: var(--accent); fill-opacity: .18; }
svg text { fill: var(--muted); font: 11px system-ui, sans-serif; text-anchor: middle; } svg .end { text-anchor: end; }
.tokens { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: .8rem 1rem;
  margin: .3rem 0;
  line-height: 2; white-space: pre-wrap; overflow-wrap: anywhere; }
.tokens span { border-radius: 3px; padding: .12em 0; box-shadow: inset 1px 0 0 var(--muted); }
.note { border-left: 3px solid var(--mark); padding: .1rem 0 .1rem 1rem; margin: 1rem 0; white-space: pre-wrap; }
footer { margin-top: 4rem; color: var(--muted); font-size: .85rem; }
@media print { body { max-width: none; padding: 0; } nav { display: none; } h2 { break-after: avoid; }
  figure, tr, .tokens { break-inside: avoid; } }
"""
