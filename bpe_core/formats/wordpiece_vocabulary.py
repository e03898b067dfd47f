"""WordPiece's tokens and their numbers, as files hold them, and as ours.

A file does not say how its tokens were made. So all are in the alphabet, the longer ones as seeds: there are no steps.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats.base import dense_numbers, unless_ids
from bpe_core.history.alphabet import Alphabet, Symbol, SymbolKind, unknown_symbols
from bpe_core.history.history import History, Int64s
from bpe_core.history.token_texts import quoted, written
from bpe_core.recipes.recipe import LARGEST_VOCABULARY, Recipe

_KINDS: tuple[SymbolKind, ...] = ("character", "continuation", "seed")  # in the order they stand in the alphabet


def history_of(vocabulary: Mapping[str, int], recipe: Recipe, where: str) -> History:
    """Return numbered tokens as a history without steps."""
    if recipe.unknown_text not in vocabulary:
        raise FormatError(
            f"{where}: the token {quoted(recipe.unknown_text)}, which stands for a word that cannot be cut, "
            "is not in the vocabulary. Add it, or say which token is meant for that."
        )
    if len(vocabulary) > LARGEST_VOCABULARY:
        raise FormatError(f"{where}: there are more than {LARGEST_VOCABULARY:,} tokens.")
    others = {recipe.unknown_text, *recipe.special_tokens}
    found = [_symbol(text, recipe.marker_text) for text in vocabulary if text not in others]
    symbols = unknown_symbols(recipe) + [symbol for kind in _KINDS for symbol in found if symbol.kind == kind]
    names = [*(symbol.text.decode() for symbol in symbols), *recipe.special_tokens]
    numbers = np.array([vocabulary[name] for name in names], np.int64)
    return History.from_pairs(recipe, Alphabet(tuple(symbols)), []).numbered(unless_ids(numbers))


def _symbol(text: str, marker: str) -> Symbol:
    inner = text.removeprefix(marker)
    if inner and inner != text:
        return Symbol(text.encode(), inner.encode(), "continuation" if len(inner) == 1 else "seed")
    return Symbol(text.encode(), text.encode(), "character" if len(text) == 1 else "seed")


def numbers_for(history: History) -> Int64s:
    """The numbers that a file gives our ids: those it came with, or special tokens, unknown and all others in order.

    Of two tokens that are written alike the newer has the number of the older: nothing tells them apart.
    """
    kept = dense_numbers(history)
    if kept is not None:
        return kept
    texts = texts_of(history)
    specials, unknown = range(history.first_special, history.id_count), history.alphabet.unknown_id
    assert unknown is not None  # WordPiece has one
    number_of: dict[str, int] = {}
    for id in (*specials, unknown, *range(history.first_special)):
        number_of.setdefault(texts[id], len(number_of))
    return np.array([number_of[text] for text in texts], np.int64)


def texts_of(history: History) -> list[str]:
    return [*(text.decode() for text in written(history)), *history.recipe.special_tokens]


def vocabulary_of(history: History) -> dict[str, int]:
    found = dict(zip(texts_of(history), numbers_for(history).tolist(), strict=True))
    return dict(sorted(found.items(), key=lambda item: item[1]))
