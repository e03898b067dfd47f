"""A function that writes the steps of a run as readable lines."""

from __future__ import annotations

from collections.abc import Iterator

from bpe_core.history.history import NOTHING, History, Step
from bpe_core.history.token_texts import TokenTexts
from bpe_core.methods.kit.reasons import reasons_in_words
from bpe_core.support.wording import count_text


def step_lines(history: History) -> Iterator[str]:
    """Yield a line for each step, such as `   1  l + o → lo   3 times`.

    The line of a drop has `− lo` instead of a pair, and the line of an added token has `+ lo`.
    """
    texts = TokenTexts.of(history).text
    forced = {*history.forced}
    for step in history:
        more = "".join(f", {title.lower()} {text}" for title, text in reasons_in_words(history.recipe, step))
        made = f"{texts[step.left]} + {texts[step.right]} → {texts[step.index]}"
        if step.right < 0:
            made = f"{'−' if step.right == NOTHING else '+'} {texts[step.left]}"
        by_hand = ", by hand" if step.step - 1 in forced else ""
        yield f"{step.step:>5}  {made:<32}  {_times(step, texts)}{more}{by_hand}"


def _times(step: Step, texts: list[str]) -> str:
    times = count_text(step.count, "time")
    if step.tied and step.runner_up is not None:
        other = " + ".join(texts[id] for id in step.runner_up if id >= 0)
        times += f", {'as often as' if step.count == step.runner_up_count else 'as good as'} {other}"
    return times
