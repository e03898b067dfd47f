"""The reference implementation of the method Best, which is short and slow.

It counts the tokens that words need with a vocabulary, and finds the best of all vocabularies.

**The split.** A word is split into the fewest tokens, and each token is a symbol or a piece. This number of
tokens is computed for each prefix of a word, from the numbers of all shorter prefixes.

    >>> fewest(b"lowest", {b"low", b"est", b"we"}), fewest(b"lowest", {b"owe", b"we"})
    (2, 4)

**The vocabulary.** The best vocabulary of a size is the one that splits the words into the fewest tokens. For
a few short words all vocabularies can be tried. For other words the method searches. The result of the search
is never better than the best vocabulary, and never below the floor (`bpe_core/reference/floor.py`).

    >>> least({b"lowest": 2, b"low": 3}, 1), least({b"lowest": 2, b"low": 3}, 2)
    (11, 5)

**The steps.** The pieces are added one by one. A step saves the tokens that disappear at this step.

    >>> saved({b"lowest": 2, b"low": 3}, [b"low", b"lowest"])
    [10, 6]
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, pairwise

Words = Mapping[bytes, int]  # each word with its count; a symbol is a byte


def fewest(word: bytes, pieces: Collection[bytes]) -> int:
    """Return the smallest number of tokens into which a word can be split."""
    best = [0]
    for end in range(1, len(word) + 1):
        ways = (best[begin] for begin in range(end) if end - begin == 1 or word[begin:end] in pieces)
        best.append(1 + min(ways))
    return best[-1]


def tokens(words: Words, pieces: Collection[bytes]) -> int:
    """Return the number of tokens in the corpus if each word is split into the fewest tokens."""
    return sum(count * fewest(word, pieces) for word, count in words.items())


def all_pieces(words: Words) -> list[bytes]:
    """Return all substrings of the words that have two or more symbols.

    >>> all_pieces({b"low": 1})
    [b'lo', b'low', b'ow']
    """
    return sorted({word[begin:end] for word in words for begin in range(len(word)) for end in _ends(word, begin)})


def _ends(word: bytes, begin: int) -> range:
    return range(begin + 2, len(word) + 1)


def least(words: Words, wanted: int) -> int:
    """Return the smallest number of tokens that the words can have with a vocabulary of `wanted` pieces.

    All vocabularies of this size are tried.
    """
    known = all_pieces(words)
    return min(tokens(words, chosen) for chosen in combinations(known, min(wanted, len(known))))


def saved(words: Words, pieces: Sequence[bytes]) -> list[int]:
    """Return the number of tokens that each piece saves when all earlier pieces are already in use."""
    left = [tokens(words, pieces[:number]) for number in range(len(pieces) + 1)]
    return [before - after for before, after in pairwise(left)]
