"""The tie rules, which choose among equally frequent pairs. Each rule is a row of a table.

To add a rule, add a row. Recipes, forms, commands, lessons, tests, the plain learner and the reference read this row.
The compiled learner also needs a comparison in `kernels/learn_queue.py`, unless an existing comparison fits.

    >>> texts = [b"a", b"b", b"c"]
    >>> min([(1, 2), (0, 1)], key=lambda pair: TIE_RULES["largest-text"].key(pair, texts, lambda pair: 0))
    (1, 2)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bpe_core.text.stand_ins import stand_in_order

Pair = tuple[int, int]
Key = Callable[[Pair, Sequence[bytes], Callable[[Pair], int]], Any]


@dataclass(frozen=True)
class TieRule:
    """A tie rule, which computes a key for each pair. The pair with the smallest key wins.

    Among pairs with equal keys, the pair with the lower ids wins. During a run, the key of a pair may grow but must
    never become smaller, because the queues of pairs rely on this.
    """

    name: str
    takes: str  # the end of the sentence "It takes the pair ..."
    key: Key  # takes a pair, all texts by id, and a function that returns where a pair occurs first
    kernel: str  # the name of its comparison in kernels/learn_queue.py
    byte_places: Sequence[int] = ()  # the order of the bytes; a rule with such an order needs bytes

    @property
    def label(self) -> str:
        return self.name.replace("-", " ")

    def fits(self, base: str) -> bool:
        """Return whether the rule can compare tokens made of `base`, which is "bytes" or "characters"."""
        return base == "bytes" or not self.byte_places


class _ReversedBytes(bytes):
    def __lt__(self, other: bytes) -> bool:
        return bytes.__gt__(self, other)

    def __gt__(self, other: bytes) -> bool:
        return bytes.__lt__(self, other)


def _printed_places() -> list[int]:
    """Return the rank of each byte when bytes are sorted by the printable characters that GPT-2's files write for them.

    Bytes that are printable themselves come first, then all other bytes. Each of the two groups is in byte order. So
    the space (32) comes after all letters.

    >>> [_printed_places()[byte] for byte in (33, 126, 161, 0, 32)]
    [0, 93, 94, 188, 220]
    """
    order = stand_in_order()
    return sorted(range(256), key=order.__getitem__)


BYTE_ALPHABET = tuple(_printed_places())
_PRINTED = bytes(BYTE_ALPHABET)


def _printed_form(text: bytes) -> bytes:
    """Return a sort key that orders tokens by their spelling in GPT-2's files."""
    return text.translate(_PRINTED)


_RULES = (
    TieRule(
        "first-seen",
        "that occurs first when the texts are read from the start",
        lambda pair, texts, first_place: first_place(pair),
        kernel="BY_FIRST_SEEN",
    ),
    TieRule(
        "lowest-ids",
        "with the smallest token ids, where bytes are numbered by their value",
        lambda pair, texts, first_place: pair,
        kernel="BY_IDS",
    ),
    TieRule(
        "byte-alphabet",
        "with the smallest token ids, where bytes are numbered in the order of the GPT-2 byte alphabet",
        lambda pair, texts, first_place: tuple(BYTE_ALPHABET[id] if id < 256 else id for id in pair),
        kernel="BY_IDS",
        byte_places=BYTE_ALPHABET,
    ),
    TieRule(
        "smallest-text",
        "that comes first in a dictionary",
        lambda pair, texts, first_place: (texts[pair[0]], texts[pair[1]]),
        kernel="BY_SMALLEST_TEXT",
    ),
    TieRule(
        "largest-text",
        "that comes last in a dictionary",
        lambda pair, texts, first_place: (_ReversedBytes(texts[pair[0]]), _ReversedBytes(texts[pair[1]])),
        kernel="BY_LARGEST_TEXT",
    ),
    TieRule(
        "largest-printed",
        "that comes last in a dictionary, when tokens are written in the GPT-2 byte alphabet",
        lambda pair, texts, first_place: tuple(_ReversedBytes(_printed_form(texts[token])) for token in pair),
        kernel="BY_LARGEST_TEXT",
        byte_places=BYTE_ALPHABET,
    ),
)
TIE_RULES = {rule.name: rule for rule in _RULES}
