"""The sentences about the leading pairs: the headline above the bars, and the description of each bar."""

from __future__ import annotations

from collections.abc import Mapping

from app.window.charts.pairs_model import Bar, PairsModel
from app.window.parts.wording import count_text, with_direction_marks

HOW_TO = "Click to follow this pair through all steps. Right-click to force or forbid this pair."


def headline(model: PairsModel, losses: Mapping[tuple[int, int], str]) -> str:
    """Return a sentence that says which pair is next and why.

    If the last step made other pairs rarer, the sentence also names the pair that lost the most occurrences.
    """
    if not model.bars:
        return _why_none_lead(model)
    wording = model.wording
    moment = f"After {count_text(model.at, model.wording.step)}"
    if not any(bar.is_next for bar in model.bars):
        return f"{moment}, these pairs are the most frequent, but the imported table merges a different pair"
    if model.bars[0].is_leaving and wording.choice == "pair":
        return f"{moment}, the orange token is dropped next, because a merge used most of its occurrences"
    tied = sum(bar.is_tied for bar in model.bars)
    tie = tied > 1 and model.bars[0].is_next
    following = "the next to be dropped" if model.bars[0].is_leaving else "next"
    best = f", {wording.best or 'the most frequent'}" if wording.best or not tie else ""
    text = f"{moment}, {following} is the orange {wording.choice}{best}"
    how_many = f"{tied} or more" if tied == len(model.bars) else str(tied)  # lower pairs are unknown
    text = (
        f"{text}. {how_many} {wording.choice}s have the same {model.measure}, and the tie rule decides" if tie else text
    )
    text += _what_bars_show(model)
    if not losses:
        return text
    pair, loss = next(iter(losses.items()))  # the largest; this pair may have left the page
    return f"{text}. {next(title_of(bar) for bar in model.bars if bar.pair == pair)}: {loss}."


def _what_bars_show(model: PairsModel) -> str:
    """Return a phrase that says what the bars show, or an empty string if they show the usual measure."""
    if not model.wording.best:
        return ""
    first = model.bars[0]
    how = "the shortest is next" if model.bars[0].is_leaving else "the longest is next"
    if not first.label[:1].isdigit():
        return f". Bars: {model.measure}. {title_of(first)} has no {model.measure} and comes first: {first.label}"
    return f". Bars: {model.measure}, {how}"


def _why_none_lead(model: PairsModel) -> str:
    wording = model.wording
    choices = f"{wording.choice}s"
    if model.lacks_words and model.can_be_counted:
        return f"The texts of this table are unknown. Use Training > Count on My Corpus to see which {choices} lead."
    if model.is_followed and model.is_over:
        return f"The training has ended. Open its session to see which {choices} led at each step."
    if model.is_followed:
        return f"The leading {choices} are known only to the program that trains this run."
    if model.lacks_words and model.has_steps:
        return f"The leading {choices} are unknown, because the texts of this table are unknown."
    if model.lacks_words:
        return f"No {choices} lead, because the tokenizer has no {wording.steps}. Ask > Ranks counts its tokens."
    if model.has_begun and model.at < 0:
        return f"The leading {choices} at this step are being counted …"
    if model.has_begun:
        return f"No {wording.choice} is left that can be {wording.done}."
    return f"This chart shows the leading {choices} when training begins."


def title_of(bar: Bar) -> str:
    return with_direction_marks(bar.title)


def describe_bar(model: PairsModel, bar: Bar) -> str:
    """Return a sentence about a bar for screen readers."""
    name = f"{bar.left} and {bar.right}" if bar.right else bar.left
    return f"{name}, {count_text(bar.count, 'time')}{_beside_the_count(model, bar)}"


def explain_bar(model: PairsModel, bar: Bar) -> str:
    """Return the tooltip of a bar. It mentions ties, and says what a click does."""
    wording = model.wording
    as_good = f" (the same {model.measure} as the {wording.choice} that is {wording.done} next)"
    shown = f"{title_of(bar)}: {count_text(bar.count, 'time')}{_beside_the_count(model, bar)}"
    return shown + (as_good if bar.is_tied and not bar.is_next else "") + (f"\n{HOW_TO}" if bar.right else "")


def _beside_the_count(model: PairsModel, bar: Bar) -> str:
    if bar.label == f"{bar.count:,}":
        return ""
    return f", {model.measure} {bar.label}" if bar.label[:1].isdigit() else f", {bar.label}"
