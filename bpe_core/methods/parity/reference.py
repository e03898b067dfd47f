"""Parity-aware byte-pair encoding as it is defined: everything is counted anew at each step.

Each step serves the language that is worst off: the one whose dev text has the most tokens, or whose texts are
compressed least for its ratio. It merges that language's most frequent pair, in the texts of all. Of equal pairs it is
the one that comes last by what is printed for its bytes, as in tokenizers. A language that has nothing left to merge is
found out when it is its turn, which counts in the window; if all others have had too many turns, the worst off goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bpe_core.methods.bpe.reference import count_pairs, count_tokens, join
from bpe_core.text.stand_ins import stand_ins

Words = Mapping[bytes, int]
Pair = tuple[int, int]
BYTES = 256


@dataclass(frozen=True)
class Parity:
    merges: int
    ratio: Sequence[float] = ()  # of each language, where there are no dev texts
    global_merges: int = 0  # made first, by the counts of all languages together
    window: int = 0  # of the last steps for languages, each language serves a limited number; 0: no limit
    alpha: float = 2.0  # that limit, in shares of the window that are equal for all
    least: int = 1  # a pair that occurs less often in its language is not merged


@dataclass(frozen=True)
class Served:
    left: int
    right: int
    language: int | None  # None where all languages together chose
    there: int  # how often it occurred in the texts of those who chose
    count: int  # and in all texts


def parity(train: Sequence[Words], dev: Sequence[Words], how: Parity) -> list[Served]:
    """Learn from the words of each language; `dev` holds those of the dev texts, or is empty.

    >>> low, aaa = {b"low": 5}, {b"aba": 2}
    >>> [one.language for one in parity([low, aaa], [{b"lo": 1}, {b"ababa": 1}], Parity(2))]
    [1, 1]
    """
    texts = [_symbols(words) for words in train]
    measured = [_symbols(words) for words in dev or train]
    at_first = [count_tokens(words) for words in measured]
    printed = list(stand_ins())
    found: list[Served] = []
    turns: list[int] = []
    spent: set[int] = set()
    while len(found) < how.merges:
        counts = [Counter(count_pairs(words)) for words in texts]
        together, language = sum(counts, Counter[Pair]()), None
        if len(found) >= how.global_merges:
            sizes = [count_tokens(words) for words in measured]
            can = [one for one in range(len(train)) if one not in spent]
            language = _worst_off(can, sizes, at_first, turns, how, has_dev=bool(dev))
            if language is None:
                break
            turns.append(language)
        chosen = together if language is None else counts[language]
        if max(chosen.values(), default=0) < max(how.least, 1):
            if language is None:
                break
            spent.add(language)
            continue
        best = max(chosen, key=lambda pair: (chosen[pair], printed[pair[0]], printed[pair[1]]))
        printed.append(printed[best[0]] + printed[best[1]])
        token = BYTES + len(found)
        found.append(Served(*best, language, chosen[best], together[best]))
        texts, measured = (
            [[(join(symbols, best, token), count) for symbols, count in words] for words in each]
            for each in (texts, measured)
        )
    return found


def _worst_off(
    can: list[int], sizes: list[int], at_first: list[int], turns: list[int], how: Parity, *, has_dev: bool
) -> int | None:
    last, most = turns[-how.window :], how.alpha / len(sizes)
    free = [one for one in can if not how.window or last.count(one) / how.window <= most] or can

    def place(one: int) -> tuple[float, int]:
        by_rate = how.ratio and not has_dev
        return (at_first[one] / max(1, sizes[one]) / how.ratio[one] if by_rate else -sizes[one]), one

    return min(free, key=place, default=None)


def _symbols(words: Words) -> list[tuple[list[int], int]]:
    return [(list(word), count) for word, count in words.items()]
