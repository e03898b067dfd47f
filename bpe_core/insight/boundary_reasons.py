"""The reasons why a text is split at a boundary, or why a merge joins the tokens there.

The table `_SENTENCES` lists all reasons. The reasons inside a word come first, and the reasons between words follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bpe_core.insight.pattern_branches import Branch
from bpe_core.support.wording import count_text

Kind = Literal[
    "joined", "later", "taken", "overlap", "unknown", "too long", "never",
    "pattern", "words", "forbidden", "marker", "apart", "special", "edge", "symbol", "dropped",
]  # fmt: skip
Name = Callable[[int], str]


@dataclass(frozen=True)
class CountsAtStep:
    best: int  # the highest count
    now: int  # the count at the step shown
    winner: int | None  # the count of the pair merged then; None if there is none
    minimum: int  # pairs with a smaller count are not merged


@dataclass(frozen=True)
class Reason:
    kind: Kind
    pair: tuple[int, int] | None = None  # the two tokens mentioned
    rank: int | None = None  # the merge that joins them
    taken_by: int | None = None  # the merge that took one of them before
    taken: int | None = None  # the token that was taken
    standing: CountsAtStep | None = None  # the counts, if the words of the corpus are known
    before: Branch | None = None  # the alternative of the pattern that made the word before the cut
    after: Branch | None = None
    turn: int = 0  # the last step of the first stage, in which no merge crosses this boundary
    forbidden: str = ""  # why the recipe forbids the two as one token

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(rank + 1 for rank in (self.rank, self.taken_by) if rank is not None)


def sentence(reason: Reason, name: Name) -> str:
    return _SENTENCES[reason.kind](reason, name)


def _pair(reason: Reason, name: Name) -> str:
    assert reason.pair is not None
    return " + ".join(map(name, reason.pair))


def _step(rank: int | None) -> str:
    assert rank is not None
    return f"merge {rank + 1:,}"


def _taken(reason: Reason, name: Name) -> str:
    assert reason.taken is not None
    return (
        f"{_pair(reason, name)} was learned as {_step(reason.rank)}, "
        f"but {name(reason.taken)} had already been taken by {_step(reason.taken_by)}."
    )


def _never(reason: Reason, name: Name) -> str:
    standing = reason.standing
    if standing is None:
        return f"{_pair(reason, name)} was never learned."
    if standing.best == 0:
        return f"{_pair(reason, name)} never occurred in the corpus, so it was never learned."
    sentence = f"{_pair(reason, name)} was never learned: it occurred {count_text(standing.best, 'time')} at most"
    if standing.best < standing.minimum:
        return f"{sentence}, but a merge needs a count of {standing.minimum:,}."
    if standing.now < standing.minimum:
        return (
            f"{sentence}, and other merges used up its letters first. Now the pair occurs "
            f"{count_text(standing.now, 'time')}."
        )
    sentence += f" and {count_text(standing.now, 'time')} now"
    if standing.winner is not None:
        return f"{sentence}. The pair of the next merge occurs {count_text(standing.winner, 'time')}."
    return f"{sentence}. The training ended before this pair was merged."


def _pattern(reason: Reason, name: Name) -> str:
    sentence = "A word ends here, and tokens never cross the ends of words."
    for branch, where in ((reason.before, "before"), (reason.after, "after")):
        if branch is not None:
            sentence += f" The word {where} this place: {branch.explanation or f'matched by “{branch.expression}”'}."
    return sentence


def _words(reason: Reason, name: Name) -> str:
    sentence = f"Two words meet here. Up to {_step(reason.turn - 1)} no merge joins two words."
    return (
        sentence
        if reason.pair is None
        else f"{sentence} {_step(reason.rank).capitalize()} joins {_pair(reason, name)} here."
    )


_SENTENCES: dict[Kind, Callable[[Reason, Name], str]] = {
    "joined": lambda reason, name: f"The text is not split here: {_step(reason.rank)} joins {_pair(reason, name)}.",
    "later": lambda reason, name: f"{_pair(reason, name)} is only learned later, as {_step(reason.rank)}.",
    "taken": _taken,
    "overlap": lambda reason, name: (
        f"{_pair(reason, name)} is merged by {_step(reason.rank)} from left to right. The left token of this pair "
        "had already been merged with the token before it."
    ),
    "unknown": lambda reason, name: "A character outside the alphabet is here. Such a character is never merged.",
    "too long": lambda reason, name: f"{_pair(reason, name)} would be longer than the recipe allows.",
    "never": _never,
    "pattern": _pattern,
    "words": _words,
    "forbidden": lambda reason, name: (
        f"{_pair(reason, name)} would {reason.forbidden}, which the recipe does not allow."
    ),
    "marker": lambda reason, name: "A word begins or ends here, as its marker says. " + _pattern(reason, name),
    "apart": lambda reason, name: (
        "A word begins here. A merge across words joins only words that are one token each, but one of the two words "
        "beside this boundary is never one token."
    ),
    "special": lambda reason, name: "A special token is here. Special tokens are never split or merged.",
    "edge": lambda reason, name: "The text begins or ends here.",
    "symbol": lambda reason, name: "There is no boundary here: these bytes belong to one base symbol.",
    "dropped": lambda reason, name: "These bytes are in no word: the recipe leaves them out.",
}
