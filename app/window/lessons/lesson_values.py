"""The values that the views of lessons show, and a function that writes the text of a lesson as HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from bpe_core.lessons.answers import BETWEEN_PARTS as BETWEEN_PARTS
from bpe_core.lessons.answers import Feedback as Feedback
from bpe_core.lessons.answers import Mood as Mood
from bpe_core.lessons.bench import WordNow as WordNow
from bpe_core.lessons.fast_trainers import TITLES as TITLES
from bpe_core.lessons.fast_trainers import CountedWord
from bpe_core.lessons.fast_trainers import Effort as Effort
from bpe_core.lessons.fast_trainers import Race as Race
from bpe_core.lessons.lessons import STRONG, TOKEN
from bpe_core.lessons.lessons import Lesson as Lesson
from bpe_core.lessons.lessons import as_plain as as_plain


@dataclass(frozen=True)
class RaceOfStep:
    """A race of trainers, which a step of a lesson shows."""

    words: Sequence[CountedWord]
    trainers: Sequence[str]
    merges: int  # the most merges
    text: str  # the text that they learn from, in words
    has_motion: bool = True  # whether the bars grow; otherwise only the end of the race is shown


def as_html(text: str, ground: str, font: str = "monospace") -> str:
    """Return the text of a lesson as HTML. `ground` is the colour behind tokens, and `font` is their font family."""

    def token(match: re.Match[str]) -> str:
        inside = match[1].replace(" ", "&nbsp;")
        return f'<span style="font-family: {font}; background-color: {ground}">&nbsp;{inside}&nbsp;</span>'

    marked = STRONG.sub(r"<b>\1</b>", TOKEN.sub(token, html.escape(text.strip(), quote=False)))
    return "".join(f"<p>{paragraph}</p>" for paragraph in re.split(r"\n\s*\n", marked))
