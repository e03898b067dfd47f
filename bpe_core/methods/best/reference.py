"""Best in plain words: what a vocabulary is worth, and the best of all where all can be tried. Short and slow.

**The cut.** A word is cut into the fewest tokens: each is a symbol or a piece. The fewest for the beginning of a word
follow from those for each shorter beginning.

    >>> fewest(b"lowest", {b"low", b"est", b"we"}), fewest(b"lowest", {b"owe", b"we"})
    (2, 4)

**The vocabulary.** Of so many pieces, those are the best that leave the fewest tokens. For a few short words all can be
tried; for others the method searches, so this does not say what it finds. It is never better than this, and never
below its floor (`bpe_core/reference/floor.py`).

    >>> least({b"lowest": 2, b"low": 3}, 1), least({b"lowest": 2, b"low": 3}, 2)
    (11, 5)

**The steps.** The pieces are added one by one; a step saves as many tokens as there are fewer with it.

    >>> saved({b"lowest": 2, b"low": 3}, [b"low", b"lowest"])
    [10, 6]
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, pairwise

Words = Mapping[bytes, int]  # each with how often it occurs; a symbol is a byte


def fewest(word: bytes, pieces: Collection[bytes]) -> int:
    """Return the fewest tokens that a word can be cut into."""
    best = [0]
    for end in range(1, len(word) + 1):
        ways = (best[begin] for begin in range(end) if end - begin == 1 or word[begin:end] in pieces)
        best.append(1 + min(ways))
    return best[-1]


def tokens(words: Words, pieces: Collection[bytes]) -> int:
    """Return the fewest tokens that all words can be cut into."""
    return sum(count * fewest(word, pieces) for word, count in words.items())


def all_pieces(words: Words) -> list[bytes]:
    """Return each row of two symbols or more that a word holds.

    >>> all_pieces({b"low": 1})
    [b'lo', b'low', b'ow']
    """
    return sorted({word[begin:end] for word in words for begin in range(len(word)) for end in _ends(word, begin)})


def _ends(word: bytes, begin: int) -> range:
    return range(begin + 2, len(word) + 1)


def least(words: Words, wanted: int) -> int:
    """Return the fewest tokens that any vocabulary of so many pieces leaves: all are tried."""
    known = all_pieces(words)
    return min(tokens(words, chosen) for chosen in combinations(known, min(wanted, len(known))))


def saved(words: Words, pieces: Sequence[bytes]) -> list[int]:
    """Return how many tokens fewer there are with each piece, beside those added before it."""
    left = [tokens(words, pieces[:number]) for number in range(len(pieces) + 1)]
    return [before - after for before, after in pairwise(left)]
