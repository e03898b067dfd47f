"""The report of a run as one HTML page. The page needs no other file, so a user can send it by mail.

    write_report(report_of(read_session("harbour.bpex")), "report.html")

Each part of the page is made by its own function in this module. Empty parts are left out. Charts and tables come from
the answers to questions.
"""

from __future__ import annotations

import platform
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from bpe_core.asking import Answer, Question, cell_text, heading_of
from bpe_core.asking.caption import recipe_in_words
from bpe_core.errors import BpeError
from bpe_core.figures.coloured_text import PAGE_COLOURS, background_styles, coloured
from bpe_core.figures.figure import Figure, LineFigure
from bpe_core.figures.painter import figures_with_captions
from bpe_core.history.history import END_SENTENCES, History
from bpe_core.methods.facts import Wording
from bpe_core.methods.registry import METHODS
from bpe_core.questions import question_named, question_names
from bpe_core.questions.compression import Compression
from bpe_core.questions.steps import steps_table
from bpe_core.recipes.recipe import title_of
from bpe_core.recipes.ties import TIE_RULES
from bpe_core.session_file.values import Bookmark, SavedSession, SavedSource
from bpe_core.studies.checksums import checksum_of_texts
from bpe_core.studies.study import Study
from bpe_core.studies.texts import KnownWords
from bpe_core.support.atomic import write_atomically
from bpe_core.support.data_table import DataTable
from bpe_core.support.markup import Content, Markup, element, joined, table, token
from bpe_core.support.paper_tables import in_latex
from bpe_core.support.version import program_version
from bpe_core.support.wording import count_text
from bpe_core.text.patterns import NAMED_PATTERNS

FIRST_MERGES = 20
MOST_LISTED = 12
MOST_SOURCES = 50
MOST_CHARACTERS = 1_500  # of the text
LONGEST_TOKEN = 80  # characters of a token that are shown
MOST_MOMENTS = 6  # moments at which the text is shown
# Whatever tokens and notes hold, the page loads nothing and runs nothing.
MADE_WITH = "Made with BPE Explorer. This page loads nothing from elsewhere."
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True, eq=False)
class Report:
    """The content of a report's page. Parts without content are left out."""

    title: str
    study: Study
    sources: tuple[SavedSource, ...] = ()
    sentence: str = ""  # the reason why training ended
    text: str = ""  # the user's text, shown at some moments
    moments: tuple[int, ...] = ()  # chosen by the user, or by default by the report
    bookmarks: tuple[Bookmark, ...] = ()
    run: int = 1
    made: datetime = field(default_factory=datetime.now)

    @property
    def history(self) -> History:
        return self.study.history

    @property
    def wording(self) -> Wording:
        return METHODS[self.history.recipe.method].wording

    @property
    def shown_moments(self) -> list[int]:
        """Return the steps that the report shows, in ascending order.

        These are the beginning, the end, and the steps that a user chose. Without a choice, the marked steps are used,
        and without marks some early steps. If there are too many steps, the last steps before the end are left out.
        """
        end = len(self.history)
        chosen = self.moments or tuple(mark.merge for mark in self.bookmarks)
        moments = {0, end, *(moment for moment in chosen if 0 <= moment <= end)}
        if not chosen:
            moments |= {end // 100, end // 10}
        return sorted(moments)[: MOST_MOMENTS - 1] + ([end] if len(moments) >= MOST_MOMENTS else [])


def report_of(session: SavedSession, run: int | None = None) -> Report:
    """Return the report of a run in a session. By default the run is the one that the window showed."""
    chosen = session.chosen_run("The session", run)
    assert chosen.history is not None  # chosen by the user
    names = chosen.names_of_texts
    called = ", ".join(names[:2]) or "a text"
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    words = None if chosen.words is None else KnownWords(chosen.words)
    counts = chosen.symbol_counts if len(chosen.symbol_counts) else None  # known even if the words are lost
    return Report(
        title=f"{METHODS[chosen.recipe.method].title} learned from {called}{more}",
        study=Study(chosen.history, words, texts_are_own=True, symbol_counts=counts),
        sources=chosen.sources,
        sentence=chosen.sentence,
        text=session.text,
        bookmarks=tuple(mark for mark in session.bookmarks if mark.run == chosen.number),
        run=chosen.number,
    )


def summary(report: Report) -> Markup:
    history = report.history
    steps = report.wording.steps
    compression = _answered(Compression(), report.study)
    cards = [(f"{steps} learned", f"{len(history):,}"), ("tokens in the vocabulary", f"{history.vocabulary_size:,}")]
    if len(history) and history.tokens_at_start > 0 and history.has_counts:
        unit = "bytes" if history.recipe.base == "bytes" else "characters"
        cards.append(("tokens in the corpus", f"{history.tokens_after[-1]:,}"))
        if compression is not None and compression.figure is not None:
            ratio = compression.columns["base_symbols_per_token"][-1]
            cards.append((f"base symbols ({unit}) per token", f"{ratio:.2f}"))
        tied = np.count_nonzero(history.tied)
        if history.recipe.applies("ties"):
            cards.append((f"{steps} decided by a tie", f"{tied:,} ({tied / len(history):.0%})"))
    items = (element("div", {}, element("dt", {}, name), element("dd", {}, figure)) for name, figure in cards)
    return element("dl", {"class": "cards"}, joined(items))


def recipe(report: Report) -> list[Content]:
    """Return the recipe as page content: the choices that differ from their defaults, and some that always matter."""
    chosen = report.history.recipe
    always = {"pattern", "base", "ties", "vocab_size", "merges", "min_frequency"}
    usual = {name: choice.default for name, choice in chosen.choices.items()}
    items: list[Content] = []
    for name, value in chosen.to_dict().items():
        default = usual[name] if usual[name] != () else []
        if name in ("name", "method") or not chosen.applies(name) or value is None:
            continue
        if name not in always and value == default:
            continue
        choice = chosen.mixture.in_words() if name == "mixture" and chosen.mixture else value
        items += [element("dt", {}, title_of(name)), element("dd", {}, _choice(choice))]
    pattern = NAMED_PATTERNS.get(chosen.pattern)
    about = element("p", {"class": "muted"}, pattern.explanation) if pattern else Markup("")
    method = METHODS[chosen.method]
    heading = element("p", {}, "Recipe ", element("strong", {}, chosen.name), f". {method.title}: {method.explanation}")
    return [heading, about, element("dl", {"class": "choices"}, *items)]


def corpus(report: Report) -> list[Content]:
    parts: list[Content] = []
    words = report.study.inside.learned_from
    if words is not None:
        counted = f"{count_text(words.total, 'word')}, {len(words):,} different; "
        parts.append(element("p", {}, f"{counted}{count_text(words.total_bytes, 'byte is', 'bytes are')} in words."))
    if report.sources:
        rows = [_source_row(source) for source in report.sources[:MOST_SOURCES]]
        more = len(report.sources) - MOST_SOURCES
        caption = "The texts of the corpus" + (f" (and {more:,} more)" if more > 0 else "")
        parts.append(table(caption, ("Text", "Bytes", "SHA-256 begins with"), rows, numbers=(1,)))
    return parts


def methods(report: Report) -> list[Content]:
    """Return the content for the methods section of a paper: sentences, and the same sentences for LaTeX."""
    sentences = methods_sentences(report)
    latex = element("pre", {"class": "tokens"}, in_latex(" ".join(sentences)))
    return [*(element("p", {}, sentence) for sentence in sentences), element("h3", {}, "For LaTeX"), latex]


def methods_sentences(report: Report) -> list[str]:
    """Return sentences that name the recipe, the tie rule, the texts, the seeds and the versions of a run."""
    history = report.history
    study = report.study
    said = [f"The tokenizer was learned by BPE Explorer {program_version()}: {recipe_in_words(history)}."]
    if study.texts is not None:
        said.append(f"It was learned from these texts: {checksum_of_texts(study.texts, history.recipe)}.")
    else:
        said.append("The texts that it was learned from are not known.")
    if history.recipe.applies("ties") and len(history):
        tied = int(np.count_nonzero(history.tied))
        rule = f"Of pairs with equal counts, the training takes the pair {TIE_RULES[history.recipe.ties].takes}."
        said.append(f"{rule} This rule decided {tied:,} of {report.wording.counted(len(history))}.")
    if history.end_reason:
        said.append(END_SENTENCES[history.end_reason])
    said.append(f"Python {platform.python_version()}, NumPy {np.__version__}, Unicode {unicodedata.unidata_version}.")
    return said


def charts(report: Report) -> list[Content]:
    if not len(report.history):
        return []
    answers = (answer for _, answer in _answers(report, "figure"))
    return [figures_with_captions([_marked(answer.figure, report) for answer in answers if answer.figure is not None])]


def answers_in_rows(report: Report) -> list[Content]:
    parts: list[Content] = []
    for question, answer in _answers(report, "rows"):
        if len(answer.table):
            shown = range(min(MOST_LISTED, len(answer.table)))
            caption = f"The first {len(shown):,} of {count_text(len(answer.table), 'row')}"
            sentences = (element("p", {}, sentence) for sentence in answer.sentences)
            parts += [element("h3", {}, question.title()), *sentences, _rows(caption, answer.table, shown)]
    return parts


def _answers(report: Report, shown: str) -> Iterator[tuple[type[Question], Answer]]:
    for question in filter(lambda candidate: candidate.in_report == shown, map(question_named, question_names())):
        answer = _answered(question(), report.study)
        if answer is not None:
            yield question, answer


def _answered(question: Question, study: Study) -> Answer | None:
    try:
        return question.answer(study)
    except BpeError:
        return None


def _marked(figure: Figure, report: Report) -> Figure:
    if figure.name != "compression" or not isinstance(figure, LineFigure):
        return figure
    return replace(figure, marks=[float(mark.merge) for mark in report.bookmarks])


def merges(report: Report) -> list[Content]:
    history = report.history
    study = report.study
    steps = report.wording.steps
    if not len(history):
        return [element("p", {}, "Nothing was learned.")]
    first = range(min(FIRST_MERGES, len(history)))
    parts: list[Content] = [_rows(f"The first {len(first)} {steps}", steps_table(study, first))]
    lengths = np.array(history.of_steps(study.inside.by_index.texts.lengths))
    longest = np.argsort(-lengths, kind="stable")[:MOST_LISTED].tolist()
    parts += [element("h3", {}, "The longest tokens"), _rows("Longest first", steps_table(study, longest))]
    counted = history.has_counts and history.tokens_at_start > 0 and history.only_joins
    if counted and len(history) > 2 * FIRST_MERGES:
        saved = history.tokens_saved
        saved[:FIRST_MERGES] = 0
        jumps = np.argsort(-saved * lengths, kind="stable")[:MOST_LISTED].tolist()
        rows = _rows("Merges that join the most bytes", steps_table(study, sorted(jumps)))
        parts += [element("h3", {}, f"The later {steps} that join the most bytes"), rows]
    return parts


def text(report: Report) -> list[Content]:
    if not report.text.strip():
        return []
    return [part for moment in report.shown_moments for part in _text_at(report, moment)]


def _text_at(report: Report, moment: int) -> list[Markup]:
    raw = report.text[:MOST_CHARACTERS].encode(errors="replace")
    spans = report.study.inside.by_index.numbered_spans(raw.decode(), moment)
    wording = report.wording
    title = f"Before the first {wording.step}" if moment == 0 else f"After {wording.counted(moment)}"
    ratio = f", {len(raw) / len(spans):.2f} bytes each" if spans else ""
    cut = " (only the beginning of the text)" if len(report.text) > MOST_CHARACTERS else ""
    about = element("p", {"class": "muted"}, f"{count_text(len(spans), 'token')}{ratio}{cut}")
    recipe = report.study.history.recipe
    tokens = coloured(raw, spans, recipe.names.shown) if recipe.base_symbols else coloured(raw, spans)
    return [element("h3", {}, title), about, element("div", {"class": "tokens"}, tokens)]


def notes(report: Report) -> list[Content]:
    parts: list[Content] = []
    names = report.study.inside.by_index.texts.text
    for mark in report.bookmarks:
        learned = names[int(report.history.indices[mark.merge - 1])] if 0 < mark.merge <= len(report.history) else ""
        step = f"{report.wording.step.capitalize()} {mark.merge:,} "
        place = joined([step, _token(learned) if learned else "", " ", token(mark.reference)])
        parts += [element("h3", {}, place), element("div", {"class": "note"}, mark.note or "(no note)")]
    return parts


# id, title (empty: the method's word for its steps) and builder
Sections = tuple[tuple[str, str, Callable[[Report], list[Content]]], ...]
SECTIONS: Sections = (
    ("recipe", "Recipe", recipe),
    ("corpus", "Corpus", corpus),
    ("charts", "Charts", charts),
    ("merges", "", merges),
    ("answers", "Answers", answers_in_rows),
    ("text", "The text, token by token", text),
    ("notes", "Notes", notes),
)


PAPER_SECTIONS: Sections = (("methods", "Methods", methods), *SECTIONS[:2])


# Rows


def _source_row(source: SavedSource) -> tuple[Content, Content, Content]:
    known = source.fingerprint
    if source.text is not None:
        return source.name, f"{len(source.text.encode(errors='replace')):,}", ""
    if known is None:
        return source.name, "", ""
    return source.name, f"{known.size:,}", token(known.sha256[:16]) if known.sha256 else ""


def _rows(caption: str, rows: DataTable, places: Iterable[int] | None = None) -> Markup:
    names = [name for name in rows.columns if not name.endswith(("id", "hex")) and not name.startswith("runner_up")]
    chosen = range(len(rows)) if places is None else places
    cells = [[_cell(name, rows.columns[name][place]) for name in names] for place in chosen]
    numbers = [place for place, name in enumerate(names) if not name.endswith("text")]
    headings = [heading_of(name.removesuffix("_text")).capitalize() for name in names]
    return table(caption, headings, cells, numbers=numbers)


def _cell(column: str, value: Any) -> Content:
    return _token(value) if column.endswith("text") and value else cell_text(column, value)


def _token(text: str) -> Markup:
    return token(text if len(text) <= LONGEST_TOKEN else f"{text[:LONGEST_TOKEN]}…")


def _choice(value: object) -> Content:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return joined(part for text in value for part in (token(str(text)), " "))
    return f"{value:,}" if isinstance(value, int) else str(value)


def write_report(report: Report, path: Path | str, *, is_for_paper: bool = False) -> None:
    """Write a report as a page. A report for a paper has only what a methods section needs."""
    page = page_of(report, PAPER_SECTIONS if is_for_paper else SECTIONS).encode()
    with write_atomically(path) as file:
        file.write(page)


def page_of(report: Report, sections_of_page: Sections = SECTIONS) -> str:
    made = [(name, title or report.wording.steps.capitalize(), make(report)) for name, title, make in sections_of_page]
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
    footer = element("footer", {}, MADE_WITH)
    return whole_page(report.title, header, main, footer)


def whole_page(title: str, *body: Markup) -> str:
    head = joined(
        [
            Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
            Markup(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
            element("title", {}, title),
            element("style", {}, Markup(_style())),
        ]
    )
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{joined(body)}</body></html>\n'


def _style() -> str:
    light, dark = background_styles()
    return f"{PAGE_COLOURS}{STYLE}{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n"


STYLE = """
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
