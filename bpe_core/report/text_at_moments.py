"""A text with each token on a ground of its own, as it stood after some merges."""

from __future__ import annotations

from bpe_core.honest_text import escape
from bpe_core.report.markup import Content, Markup, element, joined
from bpe_core.report.report import Report
from bpe_core.report.style import LIGHT_GROUNDS
from bpe_core.segmenting.tokenizer import Tokenizer

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


def coloured(raw: bytes, spans: list[tuple[int, int, int]]) -> Markup:
    """Each token on one of the grounds, which take turns."""
    parts: list[Content] = []
    done = 0
    for number, (start, stop, id) in enumerate(spans):
        parts.append(_visible(raw[done:start]))  # what belongs to no token
        attributes = {"class": f"t{number % len(LIGHT_GROUNDS)}", "title": f"id {id}"}
        parts.append(element("span", attributes, _visible(raw[start:stop])))
        done = max(done, stop)
    parts.append(_visible(raw[done:]))
    return joined(parts)


def _visible(raw: bytes) -> str:
    """As it is, where it is whole characters; else what the bytes are."""
    try:
        return raw.decode().replace("\r", "<0x0D>")
    except UnicodeDecodeError:
        return escape(raw)


def _beginning(text: str) -> str:
    """Not much of it, in a form that has bytes."""
    return text[:MOST_CHARACTERS].encode(errors="replace").decode()
