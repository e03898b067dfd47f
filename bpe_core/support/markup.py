"""Functions that make HTML from Python values. Every value is escaped, unless it is markup from this module.

>>> str(element("p", {"class": "note"}, "1 < 2 & ", element("b", {}, "so on")))
'<p class="note">1 &lt; 2 &amp; <b>so on</b></p>'
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence

# Characters that no HTML page may hold, even escaped; and marks that turn the direction of all that follows.
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"  # never allowed
    "\u202a-\u202e\u2066-\u2069]"  # turns the direction
)


class Markup(str):
    __slots__ = ()


Content = str | Markup


def escaped(text: str) -> Markup:
    """Escape the special characters of a text for HTML. Characters that HTML cannot contain become U+FFFD."""
    if isinstance(text, Markup):
        return text
    return Markup(html.escape(_FORBIDDEN.sub("\ufffd", text), quote=True))


def element(name: str, attributes: Mapping[str, str | int | float] | None = None, *content: Content) -> Markup:
    given = "".join(f' {key}="{escaped(str(value))}"' for key, value in (attributes or {}).items())
    return Markup(f"<{name}{given}>{joined(content)}</{name}>")


def joined(content: Iterable[Content]) -> Markup:
    return Markup("".join(escaped(part) for part in content))


def table(
    caption: str, titles: Sequence[str], rows: Iterable[Sequence[Content]], *, numbers: Sequence[int] = ()
) -> Markup:
    """Return a table with a caption. `numbers` holds the indices of the columns that are aligned to the right."""
    kinds = [{"class": "number"} if i in numbers else {} for i in range(len(titles))]
    head = joined(element("th", {"scope": "col", **kind}, title) for title, kind in zip(titles, kinds, strict=True))
    body = [
        element("tr", {}, joined(element("td", kind, cell) for cell, kind in zip(row, kinds, strict=True)))
        for row in rows
    ]
    inside = element("thead", {}, element("tr", {}, head)) + element("tbody", {}, *body)
    return element("div", {"class": "scrolls"}, element("table", {}, element("caption", {}, caption), Markup(inside)))


def token(text: str) -> Markup:
    return element("code", {}, text)
