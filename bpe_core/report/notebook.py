"""What a notebook shows of a tokenizer and of a history: a text in coloured tokens, the first steps."""

from __future__ import annotations

from bpe_core.history.history import NOTHING, History
from bpe_core.learning.methods import Wording
from bpe_core.report.markup import Markup, element, joined, token
from bpe_core.report.style import DARK_GROUNDS, LIGHT_GROUNDS
from bpe_core.report.text_at_moments import coloured
from bpe_core.segmenting.tokenizer import Tokenizer
from bpe_core.token_texts import TokenTexts

SAMPLE = "The keeper read 1,204 unbelievable letters and was surprised: Schöne Grüße, said the lowest one."
FIRST = 10  # steps
CLASS = "bpe-explorer"


def tokenizer_html(tokenizer: Tokenizer) -> str:
    """A sentence in its tokens, and what it is."""
    history = tokenizer.history
    spans = tokenizer.spans(SAMPLE)
    told = f"{history.vocabulary_size:,} tokens, recipe {history.recipe.name}; this sentence becomes {len(spans):,}."
    shown = element("div", {"class": "tokens"}, coloured(SAMPLE.encode(), spans))
    return _whole(element("div", {}, told), shown)


def history_html(history: History) -> str:
    """How much was learned, and what first."""
    wording, names = Wording.of(history.recipe), TokenTexts.of(history.first(min(FIRST, len(history))))
    rows = [_row(history, names, row) for row in range(min(FIRST, len(history)))]
    titles = joined(element("th", {}, title) for title in ("Step", wording.done.capitalize(), "Count", ""))
    table = element("table", {}, element("tr", {}, titles), *rows)
    counted = wording.counted(len(history))
    told = f"{counted}, {history.vocabulary_size:,} tokens, recipe {history.recipe.name}."
    return _whole(element("div", {}, told), *([table] if rows else []))


def _row(history: History, names: TokenTexts, row: int) -> Markup:
    step = history[row]
    pair = " + ".join(names.text[id] for id in (step.left, step.right) if id != NOTHING)
    count = f"{step.count:,}" if step.count >= 0 else ""
    cells = (f"{step.step:,}", token(pair), count, "tie" if step.tied else "")
    return element("tr", {}, joined(element("td", {}, cell) for cell in cells))


def _whole(*content: Markup) -> str:
    return str(element("div", {"class": CLASS}, element("style", {}, Markup(_style())), *content))


def _style() -> str:
    """Light or dark as the reader's system is; nothing outside is touched."""
    light, dark = (
        "".join(f".{CLASS} .t{place} {{ background: {colour}; }}" for place, colour in enumerate(grounds))
        for grounds in (LIGHT_GROUNDS, DARK_GROUNDS)
    )
    tokens = f".{CLASS} .tokens {{ font-family: monospace; white-space: pre-wrap; line-height: 1.9; }}"
    spans = f".{CLASS} .tokens span {{ border-radius: 3px; padding: .1em 0; color: #1d232b; }}"
    on_dark = f".{CLASS} .tokens span {{ color: #e4e8ed; }}"
    return f"{tokens} {spans} {light} @media (prefers-color-scheme: dark) {{ {dark} {on_dark} }}"
