"""Merges as lines that a person reads."""

from __future__ import annotations

from collections.abc import Iterator

from bpe_core.history.history import History, Step
from bpe_core.token_texts import TokenTexts


def step_lines(history: History) -> Iterator[str]:
    """One line a merge: `   1  l + o → lo   3 times, as often as o + w`."""
    texts = TokenTexts.of(history).text
    for merge in history:
        pair = f"{texts[merge.left]} + {texts[merge.right]} → {texts[merge.id]}"
        yield f"{merge.step:>5}  {pair:<32}  {_times(merge, texts)}"


def _times(merge: Step, texts: list[str]) -> str:
    times = f"{merge.count:,} {'time' if merge.count == 1 else 'times'}"
    if merge.tied and merge.runner_up is not None:
        left, right = merge.runner_up
        times += f", as often as {texts[left]} + {texts[right]}"
    return times
