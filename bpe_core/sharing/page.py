"""The page: packed runs, and the scripts that read them. It loads nothing, and runs no other script.

share({"ours": study, "theirs": bpe.open("tokenizer.json")}, "duel.html")
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bpe_core.errors import BpeError
from bpe_core.figures.coloured_text import PAGE_COLOURS, SAMPLE, grounds
from bpe_core.recipes.methods import METHODS
from bpe_core.report import Report
from bpe_core.sharing.contents import SharedRun, contents_of
from bpe_core.sharing.packing import packed
from bpe_core.studies.study import Study
from bpe_core.support.atomic import write_atomically
from bpe_core.support.markup import Markup, element, joined
from resources import page_part

SCRIPTS = ("unpack", "words", "tokens", "cuts", "run", "lane", "curve", "page")
MOST_RUNS = 6
MOST_TEXT = 20_000  # characters of the text to begin with


def share(given: Any, path: Path | str, *, title: str = "", text: str = "", note: str = "") -> None:
    """Write a run, or several by their names, as one page that cuts any text and plays all steps."""
    several = given if isinstance(given, Mapping) else {"": given}
    runs = [shared(Study.of(one), name, note) for name, one in several.items()]
    write_page(runs, path, title=title, text=text)


def shared(study: Study, name: str = "", note: str = "") -> SharedRun:
    title = name or study.name or METHODS[study.history.recipe.method].title
    return SharedRun(title, study.history, study.learned_from, note)


def shared_report(report: Report) -> SharedRun:
    """Return the run of a report, with the notes a person left at its steps."""
    steps = report.wording.step.capitalize()
    notes = (f"{steps} {mark.merge:,}: {mark.note}" for mark in report.bookmarks if mark.note)
    return shared(report.study, report.title, "\n".join(notes))


def share_report(report: Report, path: Path | str) -> None:
    write_page([shared_report(report)], path, text=report.text)


def write_page(runs: Sequence[SharedRun], path: Path | str, *, title: str = "", text: str = "") -> None:
    page = page_of(runs, title=title, text=text).encode()
    with write_atomically(path) as file:
        file.write(page)


def page_of(runs: Sequence[SharedRun], *, title: str = "", text: str = "") -> str:
    if not 1 <= len(runs) <= MOST_RUNS:
        raise BpeError(f"A page shows 1 to {MOST_RUNS} runs, not {len(runs):,}.")
    title = title or " and ".join(run.title for run in runs)
    kept = (text or SAMPLE)[:MOST_TEXT].encode(errors="replace").decode()
    return _page(title, {"title": title, "text": kept, "runs": [contents_of(run) for run in runs]}, SCRIPTS)


def _page(title: str, data: Any, scripts: Sequence[str]) -> str:
    script = '"use strict";\n' + "\n".join(page_part(f"{name}.js") for name in scripts)
    style = _style()
    # Only this script and this style run, whatever else may come into the page.
    policy = f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; base-uri 'none'"
    head = [
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        element("meta", {"http-equiv": "Content-Security-Policy", "content": policy}).removesuffix("</meta>"),
        element("title", {}, title),
        element("style", {}, Markup(style)),
    ]
    body = [
        element("main", {}, element("p", {}, "This page needs a browser of 2023 or later, with scripts allowed.")),
        element("footer", {"class": "muted"}, "Made with BPE Explorer. This page loads nothing and sends nothing."),
        element("script", {"type": "text/plain", "id": "data"}, packed(data)),
        element("script", {}, Markup(script)),
    ]
    inside = joined(Markup(part) for part in head), joined(body)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{inside[0]}</head><body>{inside[1]}</body></html>\n'


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _style() -> str:
    light, dark = grounds()
    return f"{PAGE_COLOURS}{page_part('page.css')}{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n"
