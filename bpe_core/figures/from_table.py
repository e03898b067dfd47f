"""The charts that are drawn from tables of exact values, for the window, the report and the commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import bpe_core.measures.measures as measures
from bpe_core.errors import BpeError
from bpe_core.figures.figure import (
    Bar,
    BarFigure,
    Branch,
    DotFigure,
    Figure,
    Line,
    LineFigure,
    Numbers,
    SideBySide,
    TreeFigure,
    branches_of_one_tree,
    points_to_draw,
)
from bpe_core.figures.scale import start_of_axis, title_of_axis
from bpe_core.history.token_texts import LONGEST_SHOWN
from bpe_core.support.data_table import DataTable
from bpe_core.support.wording import count_text, short_names
from bpe_core.sweep.results import WITH_INTERVAL, Row, summarize

OF_LAB = ("tokens_per_pretoken", "bytes_per_token", "renyi_efficiency")
OF_PAIRS = ("after_step", "is_next", "is_tied")  # columns besides those of the two tokens and the reasons
# The costs for a model that are drawn beside a measure. The FLOPs of the next token have the same ratios as those of
# training.
COSTS_OF_TEXTS = {"training_flops_per_byte": "FLOPs per byte", "logit_bytes_per_byte": "memory of logits per byte"}
COSTS_OF_SIZES = {"parameters": "parameters", "embedding_share": "share in embeddings"}
MOST_LINES = 8
MOST_BARS = 24  # of a table; the few longest tokens beyond these are not drawn
LONGEST_NAME = 20  # characters of a token next to an axis
LOG_RATIO = 20  # ratio of the last step to the first; from there on, the axis is logarithmic
FEW = 0.005  # share of the tokens
NOT_ENCODED = "unencoded_share"
UNKNOWN = "unknown_share"


def ranks_chart(table: DataTable) -> LineFigure:
    ranks = _numbers(table, "rank")
    counts = _numbers(table, "count")
    most = int(counts[0]) if len(counts) else 0
    sentence = f"The most frequent of {count_text(len(counts), 'token')} in use occurs {count_text(most, 'time')}."
    line = _thin("", ranks, counts, is_log=True)
    return LineFigure(
        "ranks", "Rank and frequency.", sentence, [line], "Rank", "Occurrences", is_log_x=True, is_log_y=True
    )


def counts_chart(table: DataTable, steps: str = "Steps") -> LineFigure:
    counts = np.maximum(_numbers(table, "count"), 1)
    sentence = "There are no steps."
    if len(counts):
        sentence = f"The count goes from {int(counts[0]):,} at the first step to {int(counts[-1]):,} at the last step."
    line = _thin("", _numbers(table, "step"), counts, is_log=True)
    title = "The count of each pair or token at its step."
    return LineFigure("counts", title, sentence, [line], steps, "Count", is_log_x=True, is_log_y=True)


def passes_chart(table: DataTable, sentence: str) -> LineFigure:
    """Draw the counts of the best merge within words and of the best merge across words, at each step."""
    steps = _numbers(table, "step")
    counts = {name: _numbers(table, name) for name in ("within_words", "across_words")}
    lines = [
        _thin(name.replace("_", " "), steps[count > 0], count[count > 0], is_log=True) for name, count in counts.items()
    ]
    title = "Merges within words compared with merges across words."
    return LineFigure("supermerges", title, sentence, lines, "Steps", "Count", is_log_x=True, is_log_y=True)


def compression_chart(table: DataTable, steps: str = "Steps") -> LineFigure:
    ratio = _numbers(table, "base_symbols_per_token")
    sentence = "The number of tokens in the corpus is unknown."
    if len(ratio):
        way = "rise" if ratio[-1] >= ratio[0] else "fall"
        sentence = f"The base symbols per token {way} from {ratio[0]:.3g} to {ratio[-1]:.2f}."
    line = _thin("", _numbers(table, "step"), ratio, is_log=False)
    return LineFigure("compression", "Compression.", sentence, [line], steps, "Base symbols per token")


def lengths_chart(table: DataTable) -> LineFigure:
    unit = next(iter(table.columns))  # "bytes", or "symbols" that are not text
    lengths = _numbers(table, unit)
    tokens = _numbers(table, "tokens")
    sentence = "There are no tokens."
    shown = 0
    if len(lengths):
        commonest = int(lengths[tokens.argmax()])
        most = count_text(commonest, unit.removesuffix("s"))
        sentence = f"Most tokens have {most}, and the longest token has {int(lengths[-1]):,}."
        shown = len(lengths)
        if shown > MOST_BARS:
            shown = int(np.searchsorted(np.cumsum(tokens), (1 - FEW) * tokens.sum())) + 1
    kept = lengths[:shown] <= LONGEST_SHOWN
    line = Line("", lengths[:shown][kept], tokens[:shown][kept])
    return LineFigure(
        "lengths", "Token lengths.", sentence, [line], f"{unit.capitalize()} in the token", "Tokens", has_bars=True
    )


def race_chart(table: DataTable, steps: str = "Steps") -> LineFigure:
    """Draw how the counts of pairs change until the pairs are joined.

    Each line begins at the step at which its pair can first be joined. All lines end at the last change of any pair.
    """
    columns = {name: list(values) for name, values in table.columns.items()}
    names = [f"{left} + {right}" for left, right in zip(columns["left_text"], columns["right_text"], strict=True)]
    keys = list(zip(columns["left_id"], columns["right_id"], names, strict=True))
    after = _numbers(table, "after_step")
    counts = _numbers(table, "count")
    first, last = (float(after.min()), float(after.max())) if len(after) else (0.0, 1.0)
    lines = []
    for key in dict.fromkeys(keys):
        rows = [row for row, other in enumerate(keys) if other == key]
        x = np.append(after[rows], last)
        y = np.append(counts[rows], counts[rows[-1]])
        lines.append(Line(key[2], x, y, has_stairs=True))
    is_log = last > LOG_RATIO * max(1.0, first)
    if is_log:  # a logarithmic axis has no place for step 0
        lines = [Line(line.name, np.maximum(line.x, 1.0), line.y, has_stairs=True) for line in lines]
    sentence = f"How often {len(lines)} pairs occurred in the corpus during training."
    return LineFigure("race", "The race of pairs.", sentence, lines, steps, "Count of the pair", is_log_x=is_log)


def life_chart(
    table: DataTable, steps: str = "Steps", end: int = 0, at: int | None = None, *, is_log: bool = True
) -> LineFigure:
    """Draw the count of a token up to the step `end`, with a mark at the step `at`.

    Before the step that makes the token, the count of its pair is drawn.
    """
    after = _numbers(table, "after_step")
    counts = _numbers(table, "count")
    last = max(float(end), *after, 1.0)
    born = float("inf")
    name = next(iter(_texts(table, "text")), "")
    name = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
    whose = np.array(_texts(table, "of"), object)
    lines = []
    for of, called in (("token", name), ("pair", "its pair, before the merge")):
        rows = np.flatnonzero(whose == of)
        if not len(rows):
            continue
        x = np.append(after[rows], min(last, born))
        y = np.append(counts[rows], counts[rows[-1]])
        lines.append(Line(called, np.maximum(x, 1.0) if is_log else x, y, has_stairs=True))
        born = min(born, float(after[rows[0]]))
    most = int(counts[whose == "token"].max(initial=0))
    sentence = f"How often the token {name} occurred in the corpus during training: at most {count_text(most, 'time')}."
    marks = [] if at in (None, end) else [max(float(at or 0), float(is_log))]
    beside = f"Occurrences of {name}"
    return LineFigure("life", f"The life of {name}.", sentence, lines, steps, beside, is_log_x=is_log, marks=marks)


def sizes_chart(table: DataTable, measure: str = "bytes_per_token", texts: Sequence[str] | None = None) -> LineFigure:
    title = measures.MEASURES[measure].title
    names = np.array(table.columns.get("text", []), object)
    lines = []
    unknown = _numbers(table, UNKNOWN) if UNKNOWN in table.columns else np.zeros(len(names))
    for name in [*dict.fromkeys(names.tolist())][:MOST_LINES] if texts is None else texts:
        chosen = np.flatnonzero(names == name)
        x = _numbers(table, "vocabulary")[chosen]
        y = _numbers(table, measure)[chosen]
        order = np.argsort(x, kind="stable")
        known = order[np.isfinite(y[order])]
        is_hollow = measure != UNKNOWN and bool((unknown[chosen] > measures.UNKNOWN_AT_MOST).any())
        lines.append(replace(_thin(str(name), x[known], y[known], is_log=True), is_hollow=is_hollow))
    sentence = f"{title} of {count_text(len(lines), 'text')} for each vocabulary size.{_sentence_about_hollow(lines)}"
    return LineFigure("sizes", f"{title} by size.", sentence, lines, "Tokens in the vocabulary", title, is_log_x=True)


def costs_chart(table: DataTable, measure: str, texts: Sequence[str], best: Sequence[int]) -> LineFigure:
    """Draw how a measure and the costs of a model depend on the vocabulary size, for each of the texts.

    Each value is divided by its value at the smallest size. `best` holds the sizes with which a model reads the most
    bytes of text for each operation (FLOP) of its training. The chart marks these sizes.
    """
    names = np.array(table.columns.get("text", []), object)
    lines: list[Line] = []
    for number, text in enumerate(texts):
        chosen = np.flatnonzero(names == text)
        order = chosen[np.argsort(_numbers(table, "vocabulary")[chosen], kind="stable")]
        titles = {measure: measures.MEASURES[measure].title.lower(), **COSTS_OF_TEXTS}
        for column, title in (titles | ({} if number else COSTS_OF_SIZES)).items():
            values = _numbers(table, column)[order]
            known = np.flatnonzero(np.isfinite(values) & (values > 0))
            if len(known):
                x, y = _numbers(table, "vocabulary")[order][known], values[known] / values[known[0]]
                name = title if len(texts) == 1 or column in COSTS_OF_SIZES else f"{text}: {title}"
                lines.append(_thin(name, x, y, is_log=True))
    sentence = (
        "Each line shows a value relative to its value at the smallest size. A mark shows the size at which training "
        "reads the most bytes for each FLOP."
    )
    title = "What each vocabulary size costs a model."
    x_title, y_title = "Tokens in the vocabulary", "Ratio to the smallest size"
    return LineFigure("sizes", title, sentence, lines, x_title, y_title, is_log_x=True, is_log_y=True, marks=best)


def _sentence_about_hollow(lines: Sequence[Line]) -> str:
    names = [line.name or "the line" for line in lines if line.is_hollow]
    if not names:
        return ""
    are = "is" if len(names) == 1 else "are"
    them = "it" if len(names) == 1 else "them"
    unknown = f"more than {measures.UNKNOWN_AT_MOST:.0%} of the tokens are unknown"
    return f" {', '.join(names)} {are} drawn hollow, because {unknown}, which makes {them} look better."


def river_chart(table: DataTable, steps: str = "Steps", texts: Sequence[str] = ()) -> LineFigure:
    """Draw the number of tokens per sentence of each text after each step. A band shows the range over all texts.

    If there are too many texts, only those with the most and the fewest tokens get a line. If `texts` is given, texts
    that it does not name get no line.
    """
    names = np.array(_texts(table, "text"), object)
    known = list(dict.fromkeys(names.tolist()))
    x = _numbers(table, "step")[names == known[0]]
    heights = np.stack([_numbers(table, "tokens_per_sentence")[names == name] for name in known])
    low = heights.min(axis=0)
    high = heights.max(axis=0)
    order = np.argsort(-heights[:, -1], kind="stable").tolist()
    drawn = order if len(order) <= MOST_LINES else [*order[: MOST_LINES // 2], *order[-MOST_LINES // 2 :]]
    lines = [Line("mean, and range from fewest to most", x, heights.mean(axis=0), band=(low, high), is_faint=True)]
    lines += [Line(known[row], x, heights[row]) for row in drawn if not texts or known[row] in texts]
    said = [
        f"{when} {known[int(heights[:, at].argmax())]} needs {high[at] / max(low[at], 1e-9):.2f} times as many tokens "
        f"as {known[int(heights[:, at].argmin())]}"
        for when, at in (("At first", 0), ("at the end", -1))
    ]
    sentence = f"{', '.join(said)}."
    title = "Tokens per sentence in each language."
    return LineFigure("languages", title, sentence, lines, steps, "Tokens per sentence")


BAND = (
    "A band shows the minimum and maximum over several seeds. If there is only one seed, the band shows a 95 % "
    "interval over resampled documents (bootstrap)."
)
NAMED_BY = ("recipe", "corpus", "ties")
NOT_MEASURED = (
    "The table does not hold {}, so there is nothing to draw. For bits per byte, a plan needs bits = true; for "
    'morphemes, it needs morphemes = "a list".'
)


def sweep_chart(table: DataTable, measure: str = "bytes_per_token", texts: Sequence[str] | None = None) -> LineFigure:
    title = measures.MEASURES[measure].title
    known = lines_of_sweep(table, measure)
    if not known:
        raise BpeError(NOT_MEASURED.format(measure))
    curves = [line for line in known if texts is None or line.name in texts]
    lines = curves[:MOST_LINES]
    drawn = "" if len(lines) == len(curves) else f"the first {len(lines)} of "
    drawn += count_text(len(curves), "recipe and its corpus", "recipes and corpora")
    sentence = f"{title} of {drawn} for each vocabulary size.{_sentence_about_hollow(lines)} {BAND}"
    start = start_of_axis([value for line in lines for value in line.heights.tolist()])
    beside = title_of_axis(title, start)
    x_title = "Tokens in the vocabulary"
    is_share = measures.MEASURES[measure].unit == "share" or measure in measures.OF_MORPHEMES_IN_SWEEPS
    shown = f"{title} by size."
    return LineFigure(
        *("sweep", shown, sentence, lines, x_title, beside), is_log_x=True, first_y=start, is_share=is_share
    )


def lines_of_sweep(table: DataTable, measure: str) -> list[Line]:
    """Return the lines that show how a measure depends on the vocabulary size.

    Each combination of recipe, corpus and tie rule has a line with the mean value at each size. If there are several
    seeds, a band shows the range of the values. With one seed, it shows the interval over draws of documents, if known.
    The name of a line has only the facts in which the lines differ.

    >>> from bpe_core.sweep.results import WHOLE, table_of
    >>> rows = [{"recipe": "a", "corpus": "b", "ties": "c", "run": "d", **dict.fromkeys(WHOLE, 1), "vocabulary": size,
    ...          "size": size, "seed": seed, "tokens_per_word": seed / size} for seed in (1, 3) for size in (10, 20)]
    >>> (line,) = lines_of_sweep(table_of(rows), "tokens_per_word")
    >>> line.x.tolist(), line.y.tolist(), [bound.tolist() for bound in line.band]
    ([10.0, 20.0], [0.2, 0.1], [[0.1, 0.05], [0.3, 0.15]])
    """
    rows = [row for row in table.records() if row[measure] is not None]
    distinguishing = _columns_that_differ(rows)
    of_line: dict[tuple[str, ...], dict[int, list[Row]]] = {}
    for row in rows:
        of_size = of_line.setdefault(tuple(row[name] for name in NAMED_BY), {})
        of_size.setdefault(row["size"], []).append(row)
    drawn_lines = []
    for key, of_size in of_line.items():
        name = ", ".join(text for text, what in zip(key, NAMED_BY, strict=True) if what in distinguishing)
        points = [_point(of_size[size], measure) for size in sorted(of_size)]
        x, y, low, high = np.array(points, np.float64).T
        measured = [row for rows in of_size.values() for row in rows]
        shares = [row.get(UNKNOWN) or 0.0 for row in measured]
        is_hollow = measure != UNKNOWN and max(shares) > measures.UNKNOWN_AT_MOST
        drawn_lines.append(Line(name, x, y, band=(low, high), is_hollow=is_hollow))
    return drawn_lines


def _columns_that_differ(rows: Sequence[Row]) -> list[str]:
    """Return the names of the columns that distinguish the lines of a chart. The lines are drawn from `rows`.

    The recipe is always one of these columns. The corpus and the tie rule are added only if they distinguish more
    lines.
    """
    names = list(NAMED_BY[:1])
    for name in NAMED_BY[1:]:
        with_it = [*names, name]
        if len({tuple(row[column] for column in with_it) for row in rows}) > len(
            {tuple(row[column] for column in names) for row in rows}
        ):
            names = with_it
    return names


def _point(rows: list[Row], measure: str) -> tuple[float, float, float, float]:
    size = summarize([row["vocabulary"] for row in rows])[0]
    mean, _, low, high = summarize([row[measure] for row in rows])
    if len(rows) > 1:
        return size, mean, low, high
    ends = [rows[0].get(f"{measure}_{end}") for end in ("low", "high")] if measure in WITH_INTERVAL else [None, None]
    return size, mean, *(float("nan") if end is None else float(end) for end in ends)  # type: ignore[return-value]


def lab_chart(table: DataTable, measure: str = "") -> Figure:
    """Draw one measure of an experiment. Without a measure, draw all measures side by side."""
    if measure:
        return replace(sizes_chart(table, measure), name="lab")
    charts = [replace(sizes_chart(table, measure), name=f"lab-{measure}") for measure in OF_LAB]
    return SideBySide("lab", "Side by side.", " ".join(chart.sentence for chart in charts), charts)


def blocks_chart(table: DataTable) -> LineFigure:
    steps = _numbers(table, "step")
    lines = []
    names = list(table.columns)
    own, *others = names[names.index("count") + 1 :]  # the size by the method, and by other compressors
    for name in (own, *others):
        sizes = _numbers(table, name)
        places = points_to_draw(len(sizes), is_log=False) if name == own else np.unique([0, len(sizes) - 1])
        lines.append(Line(name.capitalize() if name == own else name, steps[places], sizes[places]))
    compared = ", compared with today's compressors" if others else ""
    sentence = f"The number of bytes in all blocks after each step{compared}."
    return LineFigure("blocks", "Size of all blocks.", sentence, lines, "Replacements", "Bytes")


def pairs_chart(table: DataTable) -> BarFigure:
    """Draw the pairs with the highest counts. The next pair and the tied pairs have separate colours."""
    columns = {name: list(values) for name, values in table.columns.items()}
    measure = [name for name in columns if not name.startswith(("left_", "right_")) and name not in OF_PAIRS][-1]
    halves = zip(columns["left_text"], columns["right_text"], strict=True)
    names = [left if right is None else f"{left} + {right}" for left, right in halves]
    kinds = ["tied" if is_tied else "" for is_tied in columns["is_tied"]]
    kinds = ["next" if is_next else kind for is_next, kind in zip(columns["is_next"], kinds, strict=True)]
    sentence = [f"{value:,}" if isinstance(value, int) else f"{value:.4g}" for value in columns[measure]]
    bars = [Bar(*values) for values in zip(names, columns[measure], sentence, kinds, strict=True)]
    at = columns["after_step"][0] if bars else 0
    when = f"after step {at:,}" if at else "before the first step"
    below = f"{measure.capitalize()} {when}" if bars else "There is no next step."
    return BarFigure(
        "pairs",
        "The possible next steps.",
        f"The bars show {len(bars):,} possible next steps, the best on top.",
        bars,
        below,
    )


def tree_chart(table: DataTable) -> TreeFigure:
    columns = (table.columns[name] for name in ("text", "first_symbol", "behind_symbol", "step", "count"))
    falls = table.columns.get("falls_apart", [None] * len(table))
    there = list[Branch]()
    fallen = list[Branch]()
    for text, start, stop, step, count, fall in zip(*columns, falls, strict=True):
        written = "" if step is None else f"{step:,}"
        if step is not None and count is not None:
            written = f"{step:,} · {count:,}×"
        if fall is None:
            there.append(Branch(text, start, stop, written))
        else:
            fallen.insert(0, Branch(text, start, stop, f"{step:,} to {fall:,}", has_fallen=True))
    word = " | ".join(branch.text for branch in there if branch.stop == branch.start + 1)
    return TreeFigure(
        "tree", "Merge tree.", f"How the tokens of {word} were merged.", branches_of_one_tree([*there, *fallen])
    )


def dots_chart(table: DataTable, measure: str = "tokens") -> DotFigure:
    title = measure.replace("_", " ").capitalize()
    names, texts = (list(dict.fromkeys(_texts(table, name))) for name in ("tokenizer", "text"))
    values, not_encoded = (_values_by_text(table, names, texts, column) for column in (measure, NOT_ENCODED))
    sentence = f"{title} of {len(texts)} texts by {len(names)} tokenizers."
    shown = short_names(names), short_names(texts)
    return DotFigure("dots", title, sentence, *shown, values, np.nan_to_num(not_encoded))


def _values_by_text(table: DataTable, names: Sequence[str], texts: Sequence[str], column: str) -> Numbers:
    """Return a column as an array with a row for each tokenizer and a column for each text. Unknown values are NaN."""
    values = np.full((len(names), len(texts)), np.nan)
    if column in table.columns:
        rows = zip(_texts(table, "tokenizer"), _texts(table, "text"), _numbers(table, column).tolist(), strict=True)
        for name, text, value in rows:
            values[names.index(name), texts.index(text)] = value
    return values


def _thin(name: str, x: Numbers, y: Numbers, *, is_log: bool) -> Line:
    places = points_to_draw(len(y), is_log=is_log)
    return Line(name, x[places], y[places])


def _texts(table: DataTable, name: str) -> list[str]:
    return list(table.columns.get(name, []))


def _numbers(table: DataTable, name: str) -> Numbers:
    values = table.columns.get(name, [])
    return np.array([np.nan if value is None else value for value in values], np.float64)
