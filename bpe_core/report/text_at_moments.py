"""A text with each token on a ground of its own, as it stood after some merges."""

from __future__ import annotations

from bpe_core.figures.coloured_text import coloured
from bpe_core.report.report import Report
from bpe_core.segmenting.tokenizer import Tokenizer
from bpe_core.support.markup import Markup, element

MOST_CHARACTERS = 1_500


def text_at(report: Report, moment: int) -> list[Markup]:
    """A heading with figures, and the coloured text."""
    shown = _beginning(report.text)
    spans = Tokenizer(report.history).spans(shown, moment)
    raw = shown.encode()
    wording = report.wording
    title = f"Before the first {wording.step}" if moment == 0 else f"After {moment:,} {wording.steps}"
    ratio = f", {len(raw) / len(spans):.2f} bytes each" if spans else ""
    cut = " (the beginning of the text)" if len(shown) < len(report.text) else ""
    about = element("p", {"class": "muted"}, f"{len(spans):,} tokens{ratio}{cut}")
    return [element("h3", {}, title), about, element("div", {"class": "tokens"}, coloured(raw, spans))]


def _beginning(text: str) -> str:
    """Not much of it, in a form that has bytes."""
    return text[:MOST_CHARACTERS].encode(errors="replace").decode()
