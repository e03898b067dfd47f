"""Tokens as Hugging Face's files write them: bytes through their stand-ins, characters as they are."""

from __future__ import annotations

from bpe_core.formats import byte_level
from bpe_core.history.history import History
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


def numbered(texts: list[str]) -> dict[str, int]:
    """The vocabulary. Of two tokens with the same text the older one counts.

    >>> numbered(["a", "b", "a"])
    {'a': 0, 'b': 1}
    """
    found: dict[str, int] = {}
    for id, text in enumerate(texts):
        found.setdefault(text, id)
    return found
