"""The texts on the card about a token, a pair or a word of the run shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from app.session.run import Run
from app.session.selection import Mark, step_of
from app.window.questions.token.model import TokenFacts, facts_of
from bpe_core.history.token_texts import shown

ON_THE_CARD = ("Id", "Bytes", "Learned", "Dropped", "Count", "Decided")
NO_PAIR = "This run has not joined this pair yet."
NOT_IN_RUN = "The run shown has no such token."
NO_PLACE = "The token does not occur in your text at this step."
NOT_JOINED = "No step joined this token, so no pair can be forbidden."


@dataclass(frozen=True)
class CardText:
    """The texts on a card: a title, facts, a sentence, and the reason why each disabled button is disabled."""

    title: str
    rows: Mapping[str, str] = field(default_factory=dict)  # facts by their titles
    sentence: str = ""
    why_not: Mapping[str, str] = field(default_factory=dict)  # why an action is impossible now, by its name


def text_of(mark: Mark) -> str:
    """Return a token, a pair or a word as a user reads it."""
    return " + ".join(shown(text) for text in mark.texts)


def card_text(run: Run, mark: Mark, *, occurs: bool) -> CardText:
    """Return the texts on the card of a token, a pair or a word.

    `occurs` says whether this token, pair or word occurs in the user's text at the step shown.
    """
    highlight = mark.in_run(run)
    step = step_of(run, highlight)
    facts = None
    if highlight.is_pair and step and run.history is not None:
        facts = facts_of(run, int(run.history.indices[step - 1]))
    elif highlight.tokens and not highlight.is_pair:
        facts = facts_of(run, highlight.tokens[0])
    why_not = dict(_what_is_impossible(run, facts, step, occurs=occurs))
    if highlight.is_nothing:
        return CardText(text_of(mark), sentence=NOT_IN_RUN, why_not=why_not)
    if facts is None:
        sentence = NO_PAIR if highlight.is_pair else ""
        return CardText(text_of(mark), sentence=sentence, why_not=why_not)
    rows = {title: text for title, text in facts.rows.items() if title in ON_THE_CARD and text}
    if facts.part_texts:
        rows["Made of"] = " + ".join(facts.part_texts)
    title = f"{text_of(mark)} → {facts.text}" if highlight.is_pair else facts.text
    return CardText(title, rows, why_not=why_not)


def _what_is_impossible(run: Run, facts: TokenFacts | None, step: int, *, occurs: bool) -> Iterator[tuple[str, str]]:
    if not occurs:
        yield "why", NO_PLACE
        yield "tree", NO_PLACE
    if facts is None:
        yield "life", NOT_IN_RUN
    if not step:
        yield "forbid", NOT_JOINED
    elif run.why_no_branch(step):
        yield "forbid", run.why_no_branch(step)
