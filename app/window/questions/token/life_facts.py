"""What is known of a token's life, by the words of the corpus or without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.history.token_texts import shown
from bpe_core.insight.ranked_words import FileCounts, RankedWords, contributions, split_over_files
from bpe_core.insight.reachability import Reachability, reachability
from bpe_core.insight.token_life import TokenUse, token_life, use_by_cutting, use_by_joining
from bpe_core.support.progress import CancelCheck, never_cancelled

MOST_SHOWN = 12

Steps = tuple[tuple[int, int], ...]  # a count from each of these states on


@dataclass(frozen=True)
class Share:
    """A part of a count."""

    text: str
    count: int
    share: float  # of the whole


@dataclass(frozen=True)
class Line:
    """A line of the corpus in which the token stands."""

    source: str
    line: int
    is_row: bool
    before: str
    token: str
    after: str


@dataclass(frozen=True)
class LifeFacts:
    """What the words of the corpus tell about a token, as of merge `at`."""

    token: int
    at: int
    count: int
    peak: int
    is_born: bool
    is_scaffold: bool
    pair_curve: Steps  # of the pair it was made of, until its birth
    curve: Steps
    end: int  # merges in all
    children: tuple[tuple[int, str], ...]
    child_count: int
    takers: tuple[tuple[int, str, int], ...]  # step, token and occurrences of the merges that took most of it
    words: tuple[Share, ...]
    word_count: int
    paid_by: tuple[Share, ...]  # the words that held the pair when it was merged
    payer_count: int
    files: tuple[Share, ...]  # where those came from; none for a single file
    reach: str

    @property
    def is_largest_first(self) -> bool:
        """Whether it never stood there more often than when it was born."""
        return not self.curve or self.curve[0][1] == self.peak


def life_facts(
    ranked: RankedWords,
    token: int,
    at: int,
    names: Sequence[str],
    files: FileCounts | None,
    file_names: Sequence[str],
    cancelled: CancelCheck = never_cancelled,
) -> LifeFacts:
    """All that the words tell."""
    at = min(at, len(ranked.history))
    life = token_life(ranked, token, at)
    paid = contributions(ranked, life.step) if life.step is not None else None
    shares = split_over_files(paid, ranked, files) if paid is not None and files is not None else []
    whole = max(1, paid.count if paid is not None else 1)
    reached = reachability(ranked.history, token, at, corpus=ranked, cancelled=cancelled)
    takers = [cut for cut in life.curve.cuts if cut.step <= at][:MOST_SHOWN]
    by_share = sorted(zip(file_names, shares, strict=False), key=lambda one: -one[1])
    return LifeFacts(
        token=token,
        at=at,
        count=life.count_now,
        peak=life.peak,
        is_born=life.is_born,
        is_scaffold=life.is_scaffold,
        pair_curve=life.before.stairs(life.curve.born) if life.before is not None else (),
        curve=life.curve.stairs(),
        end=len(ranked.history),
        children=tuple((child, names[child]) for child in life.children[:MOST_SHOWN]),
        child_count=len(life.children),
        takers=tuple((cut.step, names[ranked.base + cut.step - 1], cut.lost) for cut in takers),
        words=_shares(ranked, [(one.word, one.count) for one in life.words[:MOST_SHOWN]], max(1, life.count_now)),
        word_count=life.word_count,
        paid_by=_shares(ranked, [(one.word, one.count) for one in paid.words[:MOST_SHOWN]], whole) if paid else (),
        payer_count=len(paid.words) if paid is not None else 0,
        files=tuple(Share(name, share, share / whole) for name, share in by_share[:MOST_SHOWN]),
        reach=_reach_sentence(reached, life.count_now, lambda id: names[id]),
    )


def life_without_words(
    history: History, token: int, at: int, names: Sequence[str], cancelled: CancelCheck = never_cancelled
) -> LifeFacts:
    """Of a run whose text is not at hand, such as an imported one: where the token is used, and whether it can be."""
    at = min(at, len(history))
    children = history.first(at).children(token)
    reached = reachability(history, token, at, cancelled=cancelled)
    return LifeFacts(
        token=token,
        at=at,
        count=0,
        peak=0,
        is_born=False,
        is_scaffold=False,
        pair_curve=(),
        curve=(),
        end=len(history),
        children=tuple((child, names[child]) for child in children[:MOST_SHOWN]),
        child_count=len(children),
        takers=(),
        words=(),
        word_count=0,
        paid_by=(),
        payer_count=0,
        files=(),
        reach=_reach_sentence(reached, 0, lambda id: names[id]),
    )


def life_by_use(
    words: WordTable,
    history: History,
    token: int,
    at: int,
    names: Sequence[str],
    at_first: int,
    cancelled: CancelCheck = never_cancelled,
) -> LifeFacts:
    """Of a run by a method that joins or drops in its own way; `at_first` tells how often a base symbol stood there."""
    at = min(at, len(history))
    if history.only_joins:
        curve = use_by_joining(history, token, at_first)
        use = TokenUse(curve, _count_at(curve, at), [], [])
    else:
        use = use_by_cutting(words, history, token, at, cancelled=cancelled)
    peak, before = max(count for _, count in use.curve), sum(count for _, count in use.words_at_step)
    users = [(step, lost) for (step, count), (_, earlier) in zip(use.curve[1:], use.curve, strict=False)
             if (lost := earlier - count) > 0 and step <= at] if history.only_joins else []  # fmt: skip
    children = history.first(at).children(token) if history.only_joins else []
    reached = reachability(history, token, at, cancelled=cancelled)
    return LifeFacts(
        token=token,
        at=at,
        count=use.count,
        peak=peak,
        is_born=use.curve[0][0] <= at,
        is_scaffold=history.only_joins and use.curve[0][0] <= at and peak > 0 and use.count == 0,
        pair_curve=(),
        curve=use.curve,
        end=len(history),
        children=tuple((child, names[child]) for child in children[:MOST_SHOWN]),
        child_count=len(children),
        takers=tuple((step, names[int(history.ids[step - 1])], lost) for step, lost in users[:MOST_SHOWN]),
        words=_written(use.words, max(1, use.count)),
        word_count=len(use.words),
        paid_by=_written(use.words_at_step, max(1, before)),
        payer_count=len(use.words_at_step),
        files=(),
        reach=_reach_sentence(reached, use.count, lambda id: names[id]),
    )


def _count_at(curve: Steps, at: int) -> int:
    return next((count for step, count in reversed(curve) if step <= at), 0)


def _written(words: list[tuple[bytes, int]], whole: int) -> tuple[Share, ...]:
    return tuple(Share(shown(word[:80]), count, count / whole) for word, count in words[:MOST_SHOWN])


def _shares(ranked: RankedWords, words: list[tuple[int, int]], whole: int) -> tuple[Share, ...]:
    return tuple(Share(shown(ranked.words.word(word)[:80]), count, count / whole) for word, count in words)


def _reach_sentence(reached: Reachability, count: int, name: Callable[[int], str]) -> str:
    if reached.kind == "reachable":
        witness = shown((reached.witness or "").encode())
        return f"A text that produces it: {witness}" if not count else ""
    if reached.kind == "not learned yet":
        return "At this moment it is not learned yet."
    if len(reached.pieces) > 1:
        return f"No text can produce it: its own text falls into {' | '.join(map(name, reached.pieces))}."
    if reached.kind == "unreachable":
        return "No text can produce it: these bytes are part of no character."
    if not reached.pieces:
        return "No text was found that produces it at this moment."
    return "No text was found that produces it: the pattern seems always to cut it."
