"""Merges as lines that a person reads."""

from __future__ import annotations

from collections.abc import Iterator

from bpe_core.formats.honest_text import escape
from bpe_core.formats.rows import Row, TokenTexts, merge_rows
from bpe_core.history.history import MergeHistory

BLANK = "␣"


def step_lines(history: MergeHistory) -> Iterator[str]:
    """One line a merge: `   1  l + o → lo   3 times, as often as o + w`."""
    for row in merge_rows(history):
        pair = f"{visible(row.left_text)} + {visible(row.right_text)} → {visible(row.token)}"
        yield f"{row.step:>5}  {pair:<32}  {_times(row)}"


def token_names(history: MergeHistory) -> list[str]:
    """What is written on each token, the word marker included, in the order of the ids."""
    texts = TokenTexts(history.alphabet)
    for merge in history:
        texts.add(merge.left, merge.right)
    specials = [escape(special.encode()) for special in history.recipe.special_tokens]
    return [texts.text(id) for id in range(len(texts.lengths))] + specials


def visible(text: str | None) -> str:
    """Honest text with its blanks marked."""
    return (text or "").replace(" ", BLANK)


def _times(row: Row) -> str:
    count = row.count
    assert isinstance(count, int)  # the field, where a tuple has a method
    times = f"{count:,} {'time' if count == 1 else 'times'}"
    if row.tied:
        times += f", as often as {visible(row.runner_up_left_text)} + {visible(row.runner_up_right_text)}"
    return times
