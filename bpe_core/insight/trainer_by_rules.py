"""A trainer in plain Python that follows the given rules.

The rules describe a well-known exercise, or a trainer that contains a mistake.

The trainer stores the count of each pair, and the words that contain the pair. So a step changes only the
words that contain the joined pair.

    >>> aaa = {b"aaa": 2, b"aab": 1}
    >>> [*learn_merges(aaa, Rules())]
    [(b'a', b'a'), (b'aa', b'a'), (b'aa', b'b')]
    >>> [*learn_merges(aaa, Rules(joins="from right"))]
    [(b'a', b'a'), (b'a', b'aa'), (b'aa', b'b')]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, AnyStr

from bpe_core.insight.exercise_rules import Merge, Rules, Tie
from bpe_core.text.stand_ins import stand_ins

Word = list[bytes]
Counts = dict[Merge, int]
BETWEEN = "\u0100"  # a character that no byte is read as


def learn_merges(words: Mapping[bytes, int], rules: Rules) -> Iterator[Merge]:
    """Yield the merges that are learned by the given rules, until no pair is left."""
    trainer = _Trainer(words, rules)
    while (merge := trainer.best()) is not None:
        yield merge
        trainer.make(merge)


class _Trainer:
    def __init__(self, words: Mapping[bytes, int], rules: Rules) -> None:
        self._rules = rules
        self._words = [_symbols(word, rules) for word in words]
        self._weights = list(words.values())
        self.counts: Counts = {}
        self._words_with: dict[Merge, set[int]] = {}
        symbols = {symbol: None for word in self._words for symbol in word}
        single = [bytes([byte]) for byte in range(256)]
        self.ids = {symbol: id for id, symbol in enumerate(dict.fromkeys([*single, *symbols]))}
        for number, word in enumerate(self._words):
            for pair, count in _counted(word, rules).items():
                self.counts[pair] = self.counts.get(pair, 0) + count * self._weights[number]
                self._words_with.setdefault(pair, set()).add(number)

    def best(self) -> Merge | None:
        most = max(self.counts.values(), default=0)
        if most < self._rules.least:
            return None
        tied = [pair for pair, count in self.counts.items() if count == most]
        if len(tied) == 1 or self._rules.tie == "first counted":
            return tied[0]
        order = _ORDERS[self._rules.tie]
        chosen = tied[0]
        for pair in tied[1:]:
            if order(pair, self) < order(chosen, self):
                chosen = pair
        return chosen

    def make(self, merge: Merge) -> None:
        rules = self._rules
        self.ids.setdefault(merge[0] + merge[1], len(self.ids))
        changed: set[int] | range = self._words_with.get(merge, set())
        if rules.joins == "as text":  # this also joins parts of other pairs
            changed = range(len(self._words))
        for number in sorted(changed):
            word = self._words[number]
            joined = _JOINERS[rules.joins](word, merge)
            if joined != word:
                self._words[number] = joined
                self._update(number, _counted(word, rules), _counted(joined, rules), merge)
        if rules.updates not in ("all", "pair kept"):  # a stale count would choose the same pair for ever
            self.counts.pop(merge, None)

    def _update(self, number: int, before: Counts, after: Counts, merge: Merge) -> None:
        updates = self._rules.updates
        weight = 1 if updates == "without weights" else self._weights[number]
        for pair in dict.fromkeys([*before, *after]):
            holders = self._words_with.setdefault(pair, set())
            holders.add(number) if pair in after else holders.discard(number)
            change = after.get(pair, 0) - before.get(pair, 0)
            if _IGNORES[updates](change, pair == merge):
                continue
            count = self.counts.get(pair, 0) + change * weight
            if count > 0:
                self.counts[pair] = count
            else:
                self.counts.pop(pair, None)

    def place_of(self, pair: Merge) -> tuple[int, int]:
        """Return the place where a pair first occurs: the number of the word, and the offset in the word.

        For a pair that occurs nowhere, the number is one larger than the number of the last word.
        """
        number = min(self._words_with.get(pair, ()), default=len(self._words))
        if number == len(self._words):
            return number, 0
        return number, next(place for place, other in enumerate(pairwise(self._words[number])) if other == pair)


# Whether a trainer forgets a change of a pair's count, by the change and by whether the pair was merged.
_IGNORES: dict[str, Callable[[int, bool], bool]] = {
    "all": lambda change, is_merged: False,
    "not lowered": lambda change, is_merged: change < 0,
    "not raised": lambda change, is_merged: change > 0,
    "none": lambda change, is_merged: True,
    "without weights": lambda change, is_merged: False,
    "pair kept": lambda change, is_merged: is_merged,
}


def _symbols(word: bytes, rules: Rules) -> Word:
    if rules.symbols == "characters":
        return [character.encode() for character in word.decode()]
    return [word[place : place + 1] for place in range(len(word))]


def _counted(word: Word, rules: Rules) -> Counts:
    counts: Counts = {}
    before: Merge | None = None
    for pair in pairwise(word):
        if not rules.counts_overlaps and pair == before:
            before = None
            continue
        counts[pair] = counts.get(pair, 0) + 1
        before = pair
    return counts


class _LargestFirst(tuple[bytes, ...]):
    """A sequence of texts that is compared in reverse order, so that the largest sequence is sorted first."""

    def __lt__(self, other: tuple[bytes, ...]) -> bool:
        return tuple.__gt__(self, other)


def _letters(pair: Merge) -> _LargestFirst:
    return _LargestFirst("".join(stand_ins()[byte] for byte in token).encode() for token in pair)


def _places_last(pair: Merge, trainer: _Trainer) -> tuple[int, int]:
    number, place = trainer.place_of(pair)
    return -number, -place


# The pair with the smallest key is taken. The ids of Hugging Face are left to recipes.
_ORDERS: dict[Tie, Callable[[Merge, _Trainer], Any]] = {
    "greatest pair": lambda pair, trainer: _LargestFirst(pair),
    "smallest pair": lambda pair, trainer: pair,
    "greatest letters": lambda pair, trainer: _letters(pair),
    "greatest joined text": lambda pair, trainer: _LargestFirst([pair[0] + pair[1]]),
    "first met": lambda pair, trainer: trainer.place_of(pair),
    "last met": _places_last,
    "smallest ids": lambda pair, trainer: (trainer.ids[pair[0]], trainer.ids[pair[1]]),
    "greatest ids": lambda pair, trainer: (-trainer.ids[pair[0]], -trainer.ids[pair[1]]),
}


def join_from_left(word: Sequence[AnyStr], pair: tuple[AnyStr, AnyStr]) -> list[AnyStr]:
    """Return the word with each occurrence of a pair joined, from the left.

    >>> join_from_left(["a", "a", "a"], ("a", "a"))
    ['aa', 'a']
    """
    joined: list[AnyStr] = []
    place = 0
    while place < len(word):
        if tuple(word[place : place + 2]) == pair:
            joined.append(pair[0] + pair[1])
            place += 2
        else:
            joined.append(word[place])
            place += 1
    return joined


def _join_from_right(word: Word, pair: Merge) -> Word:
    """Join each occurrence of a pair, beginning at the end of the word.

    >>> join_from_left([b"a"] * 3, (b"a", b"a")), _join_from_right([b"a"] * 3, (b"a", b"a"))
    ([b'aa', b'a'], [b'a', b'aa'])
    """
    joined = list(word)
    place = len(joined) - 2
    while place >= 0:
        if tuple(joined[place : place + 2]) == pair:
            joined[place : place + 2] = [pair[0] + pair[1]]
            place -= 1
        place -= 1
    return joined


def _join_once(word: Word, pair: Merge) -> Word:
    places = [place for place, other in enumerate(pairwise(word)) if other == pair]
    if not places:
        return word
    return [*word[: places[0]], pair[0] + pair[1], *word[places[0] + 2 :]]


def _join_as_text(word: Word, pair: Merge) -> Word:
    """Join a pair like a faulty program that replaces the text `a t` by `at`.

    Such a program also joins `t` to a longer token that ends in `a`.

    >>> _join_as_text([b"ha", b"t"], (b"a", b"t"))
    [b'hat']
    """
    left, right = (token.decode("latin-1") for token in pair)
    text = BETWEEN.join(token.decode("latin-1") for token in word)
    return [part.encode("latin-1") for part in text.replace(left + BETWEEN + right, left + right).split(BETWEEN)]


_JOINERS: dict[str, Callable[[Word, Merge], Word]] = {
    "from left": join_from_left,
    "from right": _join_from_right,
    "once a word": _join_once,
    "as text": _join_as_text,
}
