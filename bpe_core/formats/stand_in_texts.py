"""Tokens as Hugging Face's files write them: bytes through their stand-ins, characters as they are."""

from __future__ import annotations

from bpe_core.formats import byte_level
from bpe_core.history.history import History, Int64s
from bpe_core.token_texts import written


def written_tokens(history: History) -> list[str]:
    """The text of each token, special tokens left out.

    >>> from bpe_core.alphabet import Alphabet
    >>> from bpe_core.recipe import Recipe
    >>> written_tokens(History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), [(32, 97)]))[-1]
    'Ġa'
    """
    texts = written(history)
    if history.recipe.base == "bytes":
        return [byte_level.written(text) for text in texts]
    return [text.decode() for text in texts]


def numbered(history: History, numbers: Int64s) -> dict[str, int]:
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
    for text, number in zip(written_tokens(history), numbers[:first].tolist(), strict=True):
        if number >= 0:
            found.setdefault(text, number)
    specials = dict(zip(history.recipe.special_tokens, numbers[first:].tolist(), strict=True))
    if [*specials.values()] != [*range(len(found), len(found) + len(specials))]:
        found = specials | found
    return dict(sorted(found.items(), key=lambda item: item[1]))
