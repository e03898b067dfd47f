"""Tokens as Hugging Face's files write them: bytes through their stand-ins, characters as they are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import itemgetter

from bpe_core.formats import byte_level
from bpe_core.history.history import History, Int64s
from bpe_core.token_texts import of_tokens, written


def written_tokens(history: History) -> list[str]:
    """The text of each token, special tokens left out.

    >>> from bpe_core.alphabet import Alphabet
    >>> from bpe_core.recipe import Recipe
    >>> written_tokens(History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), [(32, 97)]))[-1]
    'Ġa'
    """
    base = history.recipe.base
    return [*of_tokens(("stand-ins", base), history, lambda: _written_tokens(written(history), base))]


def _written_tokens(texts: Sequence[bytes], base: str) -> list[str]:
    if base == "bytes":
        whole = byte_level.written(b"".join(texts))  # a character for each byte
        return [whole[start:stop] for start, stop in pairwise(accumulate(map(len, texts), initial=0))]
    return [text.decode() for text in texts]


def numbered(history: History, numbers: Int64s, texts: Sequence[str] | None = None) -> dict[str, int]:
    """The vocabulary, the lowest number first. Of two tokens with the same text the older one counts.

    Special tokens are a part of it unless their numbers are the next ones: those are given to what stands beside it.

    >>> from bpe_core.alphabet import Alphabet
    >>> from bpe_core.recipe import Recipe
    >>> recipe = Recipe.preset("gpt2", special_tokens=("<|end|>",))
    >>> import numpy as np
    >>> list(numbered(History.from_pairs(recipe, Alphabet.of_bytes(), [(32, 97)]), np.arange(258)).items())[-1]
    ('Ġa', 256)
    """
    found: dict[str, int] = {}
    first = history.first_special
    texts = written_tokens(history) if texts is None else texts
    in_file = numbers[:first].tolist()
    if numbers[:first].min(initial=0) >= 0:
        found = dict(zip(texts, in_file, strict=True))
    if len(found) < len(texts):
        found = {}
        for text, number in zip(texts, in_file, strict=True):
            if number >= 0:
                found.setdefault(text, number)
    specials = dict(zip(history.recipe.special_tokens, numbers[first:].tolist(), strict=True))
    if [*specials.values()] != [*range(len(found), len(found) + len(specials))]:
        found = specials | found
    in_order = [*found.values()] == sorted(found.values())
    return found if in_order else dict(sorted(found.items(), key=itemgetter(1)))
