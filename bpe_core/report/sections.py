"""The parts of the page, one function each; an empty one is left out."""

from __future__ import annotations

import dataclasses

import numpy as np

from bpe_core.insight.ties import ties
from bpe_core.report.charts import Chart, figures, thinned
from bpe_core.report.markup import Content, Markup, element, joined, table, token
from bpe_core.report.report import Report
from bpe_core.report.text_at_moments import text_at
from bpe_core.session_file import SavedSource
from bpe_core.text.patterns import NAMED_PATTERNS
from bpe_core.token_texts import LONGEST_SHOWN, TokenTexts

FIRST_MERGES = 20
MOST_LISTED = 12
MOST_SOURCES = 50


def summary(report: Report) -> Markup:
    """The figures that matter most."""
    history = report.history
    cards = [("merges learned", f"{len(history):,}"), ("tokens in the vocabulary", f"{history.vocabulary_size:,}")]
    if len(history) and history.tokens_at_start > 0 and history.has_counts:
        unit = "bytes" if history.recipe.base == "bytes" else "characters"
        cards.append(("tokens in the corpus", f"{history.tokens_after[-1]:,}"))
        cards.append((f"{unit} per token", f"{history.compression[-1]:.2f}"))
        tied = np.count_nonzero(history.tied)
        cards.append(("merges decided by a tie", f"{tied:,} ({tied / len(history):.0%})"))
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
        if name == "name" or value is None or (name not in always and value == default):
            continue
        items += [element("dt", {}, name.replace("_", " ")), element("dd", {}, _choice(value))]
    pattern = NAMED_PATTERNS.get(chosen.pattern)
    about = element("p", {"class": "muted"}, pattern.explanation) if pattern else Markup("")
    heading = element("p", {}, "Recipe ", element("strong", {}, chosen.name), ".")
    return section("recipe", "Recipe", heading, about, element("dl", {"class": "choices"}, *items))


def corpus(report: Report) -> Markup:
    parts: list[Content] = []
    if report.words is not None:
        words = report.words
        parts.append(
            element(
                "p",
                {},
                f"{words.total:,} words, {len(words):,} of them different; {words.total_bytes:,} bytes stand in words.",
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
    found = [_token_lengths(report, names)]
    if history.has_counts and history.tokens_at_start > 0:
        found = [_compression(report), _winning_counts(report), *found]
        if len(report.symbol_counts) and history.only_joins:
            found.insert(2, _rank_frequency(report))
    return section("charts", "Charts", figures(found))


def merges(report: Report, names: TokenTexts) -> Markup:
    history = report.history
    if not len(history):
        return section("merges", "Merges", element("p", {}, "Nothing was learned."))
    first = range(min(FIRST_MERGES, len(history)))
    parts = [_merge_table(report, names, f"The first {len(first)} merges", first)]
    lengths = np.array(history.of_steps(names.lengths))
    longest = np.argsort(-lengths, kind="stable")[:MOST_LISTED].tolist()
    parts += [element("h3", {}, "The longest tokens"), _merge_table(report, names, "Longest first", longest)]
    if history.has_counts and history.tokens_at_start > 0 and len(history) > 2 * FIRST_MERGES:
        saved = history.tokens_saved
        saved[:FIRST_MERGES] = 0
        jumps = np.argsort(-saved * lengths, kind="stable")[:MOST_LISTED].tolist()
        parts += [
            element("h3", {}, "The most rewarding later merges"),
            _merge_table(report, names, "Where many bytes came together at once", sorted(jumps)),
        ]
    return section("merges", "Merges", *parts)


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
    sentence = (
        f"{len(found):,} of {len(history):,} merges were decided by the tie rule “{history.recipe.ties}”: another pair "
        "occurred just as often. A trainer with another rule may part ways at the first of them."
    )
    titles = ("Step", "Joined", "Tied with", "Count", "The loser’s own step")
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
        place = joined([f"Merge {mark.merge:,} ", token(learned) if learned else "", " ", token(mark.reference)])
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
    history = report.history
    cells = []
    for row in rows:
        merge = history[row]
        count = f"{merge.count:,}" if merge.count >= 0 else ""
        left = f"{merge.tokens_left:,}" if merge.tokens_left >= 0 else ""
        tied = "tie" if merge.tied else ""
        cells.append(
            (f"{merge.step:,}", _pair(names, merge.left, merge.right), token(names.text[merge.id]), count, tied, left)
        )
    titles = ("Step", "Joined", "Token", "Count", "", "Tokens left")
    return table(caption, titles, cells, numbers=(0, 3, 5))


def _pair(names: TokenTexts, left: int, right: int) -> Markup:
    return joined([token(names.text[left]), " + ", token(names.text[right])])


def _choice(value: object) -> Content:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return joined(part for text in value for part in (token(str(text)), " "))
    return f"{value:,}" if isinstance(value, int) else str(value)


# Charts


def _compression(report: Report) -> Chart:
    history = report.history
    ratio = history.compression
    places = thinned(len(ratio), is_log=False)
    unit = "Bytes" if history.recipe.base == "bytes" else "Characters"
    return Chart(
        "compression",
        "Compression.",
        f"{unit} that a token stands for rise from 1 to {ratio[-1]:.2f}.",
        places.astype(np.float64),
        ratio[places],
        "Merges",
        f"{unit} per token",
        marks=[float(mark.merge) for mark in report.bookmarks],
    )


def _winning_counts(report: Report) -> Chart:
    counts = report.history.columns.count
    places = thinned(len(counts), is_log=True)
    return Chart(
        "counts",
        "How often the joined pair stood in the corpus.",
        f"From {int(counts[0]):,} at the first merge to {int(counts[-1]):,} at the last.",
        (places + 1).astype(np.float64),
        np.maximum(counts[places], 1).astype(np.float64),
        "Step",
        "Count",
        is_log_x=True,
        is_log_y=True,
    )


def _rank_frequency(report: Report) -> Chart:
    counts = report.history.token_counts(report.symbol_counts)
    counts = np.sort(counts[counts > 0])[::-1]
    places = thinned(len(counts), is_log=True)
    return Chart(
        "ranks",
        "Rank and frequency.",
        f"The most frequent of {len(counts):,} tokens in use occurs {int(counts[0]) if len(counts) else 0:,} times.",
        (places + 1).astype(np.float64),
        counts[places].astype(np.float64),
        "Rank",
        "Occurrences",
        is_log_x=True,
        is_log_y=True,
    )


def _token_lengths(report: Report, names: TokenTexts) -> Chart:
    lengths = np.array(names.lengths)[report.history.vocabulary]
    found = np.bincount(np.minimum(lengths, LONGEST_SHOWN))[1:]
    most = int(np.searchsorted(np.cumsum(found), 0.995 * found.sum())) + 1  # the few very long ones would hide the rest
    return Chart(
        "lengths",
        "Token lengths.",
        f"Most tokens have {int(found.argmax()) + 1} bytes, the longest {lengths.max():,}.",
        np.arange(1, most + 1, dtype=np.float64),
        found[:most].astype(np.float64),
        "Bytes in the token",
        "Tokens",
        has_bars=True,
    )
