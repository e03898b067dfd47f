r"""The byte characters: printable characters that represent bytes in byte-level vocabularies.

>>> written(b" the\n"), read("Ġthe")
('ĠtheĊ', b' the')
"""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import Any

from bpe_core.history.history import History, Int64s
from bpe_core.history.token_texts import of_tokens
from bpe_core.history.token_texts import written as written_texts
from bpe_core.text.stand_ins import byte_of_stand_in
from bpe_core.text.stand_ins import stand_in_order as stand_in_order
from bpe_core.text.stand_ins import stand_ins as stand_ins


@cache
def _characters() -> str:
    return "".join(stand_ins())


@cache
def _bytes() -> Any:
    return codecs.charmap_build(_characters())


def written(raw: bytes) -> str:
    return codecs.charmap_decode(raw, "strict", _characters())[0]


def read(text: str) -> bytes | None:
    """Return the bytes that a text of byte characters represents. Return None if the text contains any other character.

    A byte character is a printable character that represents one byte, such as `Ġ` for a space.
    """
    try:
        return codecs.charmap_encode(text, "strict", _bytes())[0]
    except UnicodeEncodeError:
        return None


def is_byte_level(text: str) -> bool:
    return byte_of_stand_in().keys() >= set(text)


def written_tokens(history: History) -> list[str]:
    """Return the text of each token in byte characters, without the special tokens."""
    base = history.recipe.base
    return [*of_tokens(("stand-ins", base), history, lambda: _written_tokens(written_texts(history), base))]


def _written_tokens(texts: Sequence[bytes], base: str) -> list[str]:
    if base == "bytes":
        whole = written(b"".join(texts))  # a character for each byte
        return [whole[start:stop] for start, stop in pairwise(accumulate(map(len, texts), initial=0))]
    return [text.decode() for text in texts]


def vocabulary_by_number(history: History, numbers: Int64s, texts: Sequence[str] | None = None) -> dict[str, int]:
    """Return a dictionary from the text of each token to its id, sorted by id.

    Tokens without an id are left out. If two tokens have the same text, only the older token is included.
    `with_specials` says which special tokens are included.
    """
    number_of: dict[str, int] = {}
    first = history.first_special
    texts = written_tokens(history) if texts is None else texts
    in_file = numbers[:first].tolist()
    if numbers[:first].min(initial=0) >= 0:
        number_of = dict(zip(texts, in_file, strict=True))
    if len(number_of) < len(texts):
        number_of = {}
        for text, number in zip(texts, in_file, strict=True):
            if number >= 0:
                number_of.setdefault(text, number)
    specials = dict(zip(history.recipe.special_tokens, numbers[first:].tolist(), strict=True))
    return with_specials(number_of, specials)


def with_specials(vocabulary: dict[str, int], specials: dict[str, int]) -> dict[str, int]:
    """Add special tokens to a vocabulary, and sort it by id.

    Special tokens are left out if their ids are the last ones below the number of all tokens. The library reads these
    tokens from a sidecar file.

    >>> with_specials({"a": 1, "b": 2}, {"<s>": 0, "<mask>": 3})
    {'<s>': 0, 'a': 1, 'b': 2}
    """
    others = sorted((number, token) for token, number in specials.items() if token not in vocabulary)
    often = Counter(number for number, _ in others)
    first = behind = len(vocabulary) + len(others)
    while often[first - 1] == 1:
        first -= 1
    others = [(number, token) for number, token in others if not first <= number < behind]
    number_of = {token: number for number, token in others} | vocabulary
    in_order = [*number_of.values()] == sorted(number_of.values())
    return number_of if in_order else dict(sorted(number_of.items(), key=itemgetter(1)))
