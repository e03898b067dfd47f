"""The parts of the page, one function each; an empty one is left out."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from bpe_core.figures.figure import Line, LineFigure, thinned
from bpe_core.figures.painter import figures_with_captions
from bpe_core.history.history import NOTHING
from bpe_core.history.token_texts import TokenTexts
from bpe_core.insight.cut_words import CutWords
from bpe_core.insight.pairs import ties
from bpe_core.learning.methods import Method
from bpe_core.questions.compression import compressed_by
from bpe_core.questions.lengths import Lengths
from bpe_core.questions.ranks import ranked_by
from bpe_core.recipes.methods import METHODS
from bpe_core.recipes.recipe import title_of
from bpe_core.report.report import Report
from bpe_core.report.text_at_moments import text_at
from bpe_core.session_file.values import SavedSource
from bpe_core.support.markup import Content, Markup, element, joined, table, token
from bpe_core.text.patterns import NAMED_PATTERNS

FIRST_MERGES = 20
MOST_LISTED = 12
MOST_SOURCES = 50


def summary(report: Report) -> Markup:
    """The figures that matter most."""
    history = report.history
    steps, compression = report.wording.steps, report.compression
    cards = [(f"{steps} learned", f"{len(history):,}"), ("tokens in the vocabulary", f"{history.vocabulary_size:,}")]
    if len(history) and history.tokens_at_start > 0 and history.has_counts:
        unit = "bytes" if history.recipe.base == "bytes" else "characters"
        cards.append(("tokens in the corpus", f"{history.tokens_after[-1]:,}"))
        if compression is not None:
            cards.append((f"base symbols ({unit}) per token", f"{compression[-1]:.2f}"))
        tied = np.count_nonzero(history.tied)
        if history.recipe.applies("ties"):
            cards.append((f"{steps} decided by a tie", f"{tied:,} ({tied / len(history):.0%})"))
    items = (element("div", {}, element("dt", {}, name), element("dd", {}, figure)) for name, figure in cards)
    return element("dl", {"class": "cards"}, joined(items))


def recipe(report: Report) -> Markup:
    """Every choice that is not as it would be anyway, and those that always matter."""
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
    return section("recipe", "Recipe", heading, about, element("dl", {"class": "choices"}, *items))


def corpus(report: Report) -> Markup:
    parts: list[Content] = []
    if report.words is not None:
        words = report.words
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
    return section("corpus", "Corpus", *parts) if parts else Markup("")


def charts(report: Report, names: TokenTexts) -> Markup:
    history = report.history
    if not len(history):
        return Markup("")
    study = report.study
    found = [Lengths().answer(study).figure]
    if history.has_counts and history.tokens_at_start > 0:
        compression, counts = compressed_by(study, report.symbols).figure, _token_counts(report)
        if isinstance(compression, LineFigure):
            marks = [float(mark.merge) for mark in report.bookmarks]
            compression = dataclasses.replace(compression, marks=marks)
        ranks = None if counts is None else ranked_by(study, counts).figure
        found = [compression, _winning_counts(report), ranks, *found]
    figures = [figure for figure in found if figure is not None]
    return section("charts", "Charts", figures_with_captions(figures))


def merges(report: Report, names: TokenTexts) -> Markup:
    history, steps = report.history, report.wording.steps
    title = steps.capitalize()
    if not len(history):
        return section("merges", title, element("p", {}, "Nothing was learned."))
    first = range(min(FIRST_MERGES, len(history)))
    parts = [_merge_table(report, names, f"The first {len(first)} {steps}", first)]
    lengths = np.array(history.of_steps(names.lengths))
    longest = np.argsort(-lengths, kind="stable")[:MOST_LISTED].tolist()
    parts += [element("h3", {}, "The longest tokens"), _merge_table(report, names, "Longest first", longest)]
    counted = history.has_counts and history.tokens_at_start > 0 and history.only_joins
    if counted and len(history) > 2 * FIRST_MERGES:
        saved = history.tokens_saved
        saved[:FIRST_MERGES] = 0
        jumps = np.argsort(-saved * lengths, kind="stable")[:MOST_LISTED].tolist()
        parts += [
            element("h3", {}, f"The most rewarding later {steps}"),
            _merge_table(report, names, "Where many bytes came together at once", sorted(jumps)),
        ]
    return section("merges", title, *parts)


def tie_list(report: Report, names: TokenTexts) -> Markup:
    history = report.history
    found = ties(history) if history.has_counts else []
    if not found:
        return Markup("")
    rows = []
    for tie in found[:MOST_LISTED]:
        fate = "never" if tie.loser_step is None else f"{tie.loser_step:,}"
        winner, loser = _pair(names, *tie.winner), _pair(names, *tie.loser)
        rows.append((f"{tie.step:,}", winner, loser, f"{tie.count:,}", fate))
    wording = report.wording
    sentence = (
        f"{len(found):,} of {len(history):,} {wording.steps} were decided by the tie rule “{history.recipe.ties}”: "
        f"another {wording.choice} was just as good. A trainer with another rule may part ways at the first of them."
    )
    titles = ("Step", wording.done.capitalize(), "Tied with", "Count", "The loser’s own step")
    return section(
        "ties",
        "Ties",
        element("p", {}, sentence),
        table(f"The first {len(rows)} ties", titles, rows, numbers=(0, 3, 4)),
    )


def text(report: Report) -> Markup:
    if not report.text.strip():
        return Markup("")
    parts = [part for moment in report.shown_moments for part in text_at(report, moment)]
    return section("text", "The text, token by token", *parts)


def notes(report: Report, names: TokenTexts) -> Markup:
    if not report.bookmarks:
        return Markup("")
    parts = []
    for mark in report.bookmarks:
        learned = names.text[int(report.history.ids[mark.merge - 1])] if 0 < mark.merge <= len(report.history) else ""
        place = joined(
            [
                f"{report.wording.step.capitalize()} {mark.merge:,} ",
                token(learned) if learned else "",
                " ",
                token(mark.reference),
            ]
        )
        parts += [element("h3", {}, place), element("div", {"class": "note"}, mark.note or "(no note)")]
    return section("notes", "Notes", *parts)


def section(name: str, title: str, *content: Content) -> Markup:
    return element("section", {"id": name, "aria-label": title}, element("h2", {}, title), *content)


# Rows


def _source_row(source: SavedSource) -> tuple[Content, Content, Content]:
    known = source.fingerprint
    if source.text is not None:
        return source.name, f"{len(source.text.encode(errors='replace')):,}", ""
    if known is None:
        return source.name, "", ""
    return source.name, f"{known.size:,}", token(known.sha256[:16]) if known.sha256 else ""


def _merge_table(report: Report, names: TokenTexts, caption: str, rows: range | list[int]) -> Markup:
    history, wording = report.history, report.wording
    reasons = Method.of(history.recipe).reasons(history.recipe)
    cells: list[tuple[Content, ...]] = []
    for row in rows:
        step = history[row]
        count = f"{step.count:,}" if step.count >= 0 else ""
        left = f"{step.tokens_left:,}" if step.tokens_left >= 0 else ""
        told = (reason.text(step.count, step.reasons) for reason in reasons)
        made = (token(names.text[step.id]),) if history.only_joins else ()
        pair = _pair(names, step.left, step.right)
        cells.append((f"{step.step:,}", pair, *made, count, *told, "tie" if step.tied else "", left))
    made_title = ("Token",) if history.only_joins else ()
    of_reasons = (reason.title for reason in reasons)
    titles = ("Step", wording.done.capitalize(), *made_title, "Count", *of_reasons, "", "Tokens left")
    return table(caption, titles, cells, numbers=(0, *range(2 + len(made_title), len(titles) - 2), len(titles) - 1))


def _pair(names: TokenTexts, left: int, right: int) -> Markup:
    return joined([token(names.text[left]), *((" + ", token(names.text[right])) if right != NOTHING else ())])


def _choice(value: object) -> Content:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return joined(part for text in value for part in (token(str(text)), " "))
    return f"{value:,}" if isinstance(value, int) else str(value)


# Charts


def _winning_counts(report: Report) -> LineFigure:
    counts = report.history.columns.count
    places = thinned(len(counts), is_log=True)
    return LineFigure(
        "counts",
        f"How often the {report.wording.choice} stood in the corpus that was {report.wording.done}.",
        f"From {int(counts[0]):,} at the first {report.wording.step} to {int(counts[-1]):,} at the last.",
        [Line("", (places + 1).astype(np.float64), np.maximum(counts[places], 1).astype(np.float64))],
        "Step",
        "Count",
        is_log_x=True,
        is_log_y=True,
    )


def _token_counts(report: Report) -> npt.NDArray[np.int64] | None:
    """How often each token stands in the corpus at the end, if that is known."""
    history = report.history
    if history.only_joins:
        return history.token_counts(report.symbol_counts) if len(report.symbol_counts) else None
    if report.words is None:
        return None
    return CutWords.of(report.words, history.recipe, history).counts(len(history))
