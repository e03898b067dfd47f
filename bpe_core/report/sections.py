"""The parts of the page, one function each; an empty one is left out. Charts and tables are answers of questions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from bpe_core.asking import Answer, Question, cell_text, heading_of
from bpe_core.errors import BpeError
from bpe_core.figures.coloured_text import coloured
from bpe_core.figures.figure import Figure, LineFigure
from bpe_core.figures.painter import figures_with_captions
from bpe_core.questions import question_named, question_names
from bpe_core.questions.compression import Compression
from bpe_core.questions.steps import steps_table
from bpe_core.recipes.methods import METHODS
from bpe_core.recipes.recipe import title_of
from bpe_core.report.report import Report
from bpe_core.session_file.values import SavedSource
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.markup import Content, Markup, element, joined, table, token
from bpe_core.text.patterns import NAMED_PATTERNS

FIRST_MERGES = 20
MOST_LISTED = 12
MOST_SOURCES = 50
MOST_CHARACTERS = 1_500  # of the text
LONGEST_TOKEN = 80  # characters; the rest is cut off


def summary(report: Report) -> Markup:
    history = report.history
    steps, compression = report.wording.steps, _answered(Compression(), report.study)
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
    """Show every choice that is not as it would be anyway, and those that always matter."""
    chosen = report.history.recipe
    always = {"pattern", "base", "ties", "vocab_size", "merges", "min_frequency"}
    usual = {field.name: field.default for field in dataclasses.fields(chosen)}
    items: list[Content] = []
    for name, value in chosen.to_dict().items():
        default = usual[name] if usual[name] != () else []
        if name in ("name", "method") or not chosen.applies(name) or value is None:
            continue
        if name not in always and value == default:
            continue
        told = chosen.mixture.in_words() if name == "mixture" and chosen.mixture else value
        items += [element("dt", {}, title_of(name)), element("dd", {}, _choice(told))]
    pattern = NAMED_PATTERNS.get(chosen.pattern)
    about = element("p", {"class": "muted"}, pattern.explanation) if pattern else Markup("")
    method = METHODS[chosen.method]
    heading = element("p", {}, "Recipe ", element("strong", {}, chosen.name), f". {method.title}: {method.explanation}")
    return [heading, about, element("dl", {"class": "choices"}, *items)]


def corpus(report: Report) -> list[Content]:
    parts: list[Content] = []
    words = report.study.learned_from
    if words is not None:
        parts.append(
            element(
                "p",
                {},
                f"{words.total:,} word{'' if words.total == 1 else 's'}, {len(words):,} different; "
                f"{words.total_bytes:,} bytes stand in words.",
            )
        )
    if report.sources:
        rows = [_source_row(source) for source in report.sources[:MOST_SOURCES]]
        more = len(report.sources) - MOST_SOURCES
        caption = "The texts it was learned from" + (f" (and {more:,} more)" if more > 0 else "")
        parts.append(table(caption, ("Text", "Bytes", "SHA-256 begins with"), rows, numbers=(1,)))
    return parts


def charts(report: Report) -> list[Content]:
    if not len(report.history):
        return []
    answers = (answer for _, answer in _answers(report, "figure"))
    return [figures_with_captions([_marked(one.figure, report) for one in answers if one.figure is not None])]


def answers_in_rows(report: Report) -> list[Content]:
    parts: list[Content] = []
    for question, answer in _answers(report, "rows"):
        if len(answer.table):
            shown = range(min(MOST_LISTED, len(answer.table)))
            caption = f"The first {len(shown):,} of {len(answer.table):,} rows"
            sentences = (element("p", {}, sentence) for sentence in answer.sentences)
            parts += [element("h3", {}, question.title()), *sentences, _rows(caption, answer.table, shown)]
    return parts


def _answers(report: Report, shown: str) -> Iterator[tuple[type[Question], Answer]]:
    """Ask the questions of which a report shows the figure, or the rows."""
    for question in filter(lambda one: one.in_report == shown, map(question_named, question_names())):
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
    return dataclasses.replace(figure, marks=[float(mark.merge) for mark in report.bookmarks])


def merges(report: Report) -> list[Content]:
    history, study, steps = report.history, report.study, report.wording.steps
    if not len(history):
        return [element("p", {}, "Nothing was learned.")]
    first = range(min(FIRST_MERGES, len(history)))
    parts: list[Content] = [_rows(f"The first {len(first)} {steps}", steps_table(study, first))]
    lengths = np.array(history.of_steps(study.names.lengths))
    longest = np.argsort(-lengths, kind="stable")[:MOST_LISTED].tolist()
    parts += [element("h3", {}, "The longest tokens"), _rows("Longest first", steps_table(study, longest))]
    counted = history.has_counts and history.tokens_at_start > 0 and history.only_joins
    if counted and len(history) > 2 * FIRST_MERGES:
        saved = history.tokens_saved
        saved[:FIRST_MERGES] = 0
        jumps = np.argsort(-saved * lengths, kind="stable")[:MOST_LISTED].tolist()
        parts += [
            element("h3", {}, f"The most rewarding later {steps}"),
            _rows("Where many bytes came together at once", steps_table(study, sorted(jumps))),
        ]
    return parts


def text(report: Report) -> list[Content]:
    if not report.text.strip():
        return []
    return [part for moment in report.shown_moments for part in _text_at(report, moment)]


def _text_at(report: Report, moment: int) -> list[Markup]:
    """A heading with figures, and the beginning of the text with each token on a ground of its own."""
    raw = report.text[:MOST_CHARACTERS].encode(errors="replace")
    spans = report.study.tokenizer.spans(raw.decode(), moment)
    wording = report.wording
    title = f"Before the first {wording.step}" if moment == 0 else f"After {moment:,} {wording.steps}"
    ratio = f", {len(raw) / len(spans):.2f} bytes each" if spans else ""
    cut = " (the beginning of the text)" if len(report.text) > MOST_CHARACTERS else ""
    about = element("p", {"class": "muted"}, f"{len(spans):,} tokens{ratio}{cut}")
    return [element("h3", {}, title), about, element("div", {"class": "tokens"}, coloured(raw, spans))]


def notes(report: Report) -> list[Content]:
    parts: list[Content] = []
    names = report.study.names.text
    for mark in report.bookmarks:
        learned = names[int(report.history.ids[mark.merge - 1])] if 0 < mark.merge <= len(report.history) else ""
        place = joined(
            [
                f"{report.wording.step.capitalize()} {mark.merge:,} ",
                _token(learned) if learned else "",
                " ",
                token(mark.reference),
            ]
        )
        parts += [element("h3", {}, place), element("div", {"class": "note"}, mark.note or "(no note)")]
    return parts


# id, title (none: what its steps are called) and what makes it
SECTIONS: tuple[tuple[str, str, Callable[[Report], list[Content]]], ...] = (
    ("recipe", "Recipe", recipe),
    ("corpus", "Corpus", corpus),
    ("charts", "Charts", charts),
    ("merges", "", merges),
    ("answers", "Answers", answers_in_rows),
    ("text", "The text, token by token", text),
    ("notes", "Notes", notes),
)


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
    return table(
        caption, [heading_of(name.removesuffix("_text")).capitalize() for name in names], cells, numbers=numbers
    )


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
