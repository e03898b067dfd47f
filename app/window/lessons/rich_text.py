"""The texts of lessons as HTML: paragraphs, **strong** words and `tokens`.

>>> as_html("Glue `l` and **o**.", "#eee")
'<p>Glue <span style="font-family: monospace; background-color: #eee">&nbsp;l&nbsp;</span> and <b>o</b>.</p>'
"""

from __future__ import annotations

import html
import re

_TOKEN = re.compile(r"`([^`]*)`")
_STRONG = re.compile(r"\*\*(.+?)\*\*")


def as_html(text: str, ground: str, font: str = "monospace") -> str:
    """`ground` is the colour behind tokens, `font` the family they are written in."""

    def token(found: re.Match[str]) -> str:
        inside = found[1].replace(" ", "&nbsp;")
        return f'<span style="font-family: {font}; background-color: {ground}">&nbsp;{inside}&nbsp;</span>'

    marked = _STRONG.sub(r"<b>\1</b>", _TOKEN.sub(token, html.escape(text.strip(), quote=False)))
    return "".join(f"<p>{paragraph}</p>" for paragraph in re.split(r"\n\s*\n", marked))


def as_plain(text: str) -> str:
    """
    >>> as_plain("Glue `l` and **o**.")
    'Glue l and o.'
    """
    return _STRONG.sub(r"\1", _TOKEN.sub(r"\1", text)).strip()
