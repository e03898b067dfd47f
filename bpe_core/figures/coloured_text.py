"""The HTML of a text with a coloured background for each token, for reports and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bpe_core.figures.sheet import DARK, LIGHT
from bpe_core.support.escaped_bytes import escape
from bpe_core.support.markup import Content, Markup, element, joined
from bpe_core.support.wording import count_text

# Backgrounds of tokens, in the window and on pages. Any two differ clearly, even for people without one kind of cone,
# and the text of each scheme is easy to read on them. Both were measured.
LIGHT_GROUNDS = ("#9fd3cc", "#ffdfff", "#ecd67a", "#d0bafc", "#bcfcc8", "#feb29d")
DARK_GROUNDS = ("#033b61", "#834c2f", "#056b5e", "#541e37", "#403e02", "#5b4e83")
SAMPLE = "The keeper read 1,204 unbelievable letters and was surprised: Schöne Grüße, said the lowest one."
CLASS = "bpe-explorer"
# The colours of whole pages, light or dark like the reader's system, on screen and on paper.
PAGE_COLOURS = f"""
:root {{ color-scheme: light dark; --ground: #fcfcfd; --panel: #fff; --text: #1d232b; --muted: {LIGHT.text};
  --line: {LIGHT.hairline}; --accent: #1f64b0; --bar: {LIGHT.bar}; --mark: {LIGHT.next};
  --soft: #fdebc8; }}
@media (prefers-color-scheme: dark) {{ :root {{ --ground: {DARK.ground}; --panel: #20242b; --text: #e4e8ed;
  --muted: {DARK.text}; --line: {DARK.hairline}; --accent: #7ab3f2; --bar: {DARK.bar}; --mark: {DARK.next};
  --soft: #54401a; }} }}
"""


def coloured(raw: bytes, spans: Sequence[tuple[int, int, int | None]], shown: Callable[[str], str] = str) -> Markup:
    """Return a text in which each token has a background colour.

    Each span is `(start, stop, id)`: the bytes of a token, and its id or None. `shown` converts the text of a token to
    its display form. For example, it replaces symbols by their names.
    """
    parts: list[Content] = []
    done = 0
    for number, (start, stop, id) in enumerate(spans):
        parts.append(_visible(raw[done:start]))  # bytes that belong to no token
        attributes = {"class": f"t{number % len(LIGHT_GROUNDS)}", "title": "no id" if id is None else f"id {id}"}
        parts.append(element("span", attributes, shown(_visible(raw[start:stop]))))
        done = max(done, stop)
    parts.append(_visible(raw[done:]))
    return joined(parts)


def background_styles(inside: str = "") -> tuple[str, str]:
    """Return two style sheets with the background colours of tokens, one for light pages and one for dark pages.

    The style sheets apply only to elements that the CSS selector `inside` selects.
    """
    light, dark = (
        "".join(f"{inside}.t{place} {{ background: {colour}; }}" for place, colour in enumerate(colours))
        for colours in (LIGHT_GROUNDS, DARK_GROUNDS)
    )
    return light, dark


def sentence_html(raw: bytes, spans: Sequence[tuple[int, int, int | None]], about: str) -> str:
    sentence = f"{about}; the sentence below is split into {count_text(len(spans), 'token')}."
    tokens = element("div", {"class": "tokens"}, coloured(raw, spans))
    style = element("style", {}, Markup(_style()))
    return str(element("div", {"class": CLASS}, style, element("div", {}, sentence), tokens))


def _visible(raw: bytes) -> str:
    try:
        return raw.decode().replace("\r", "<0x0D>")
    except UnicodeDecodeError:
        return escape(raw)


def _style() -> str:
    """Return a style sheet with light and dark colours for coloured texts.

    The system settings of the reader decide between light and dark. The style sheet changes nothing else on the
    page.
    """
    light, dark = background_styles(f".{CLASS} ")
    tokens = f".{CLASS} .tokens {{ font-family: monospace; white-space: pre-wrap; line-height: 1.9; }}"
    spans = f".{CLASS} .tokens span {{ border-radius: 3px; padding: .1em 0; color: #1d232b; }}"
    on_dark = f".{CLASS} .tokens span {{ color: #e4e8ed; }}"
    return f"{tokens} {spans} {light} @media (prefers-color-scheme: dark) {{ {dark} {on_dark} }}"
