"""The recipe and the ids of a table that learns more tokens on another corpus.

All tokens of the table keep the ids of its file, even special tokens. New tokens get ids after the largest id. So the
embeddings of the old tokens still fit.

    >>> from bpe_core.history.alphabet import Alphabet
    >>> from bpe_core.recipes.recipe import Recipe
    >>> old = History.from_pairs(Recipe(special_tokens=("<|end|>",)), Alphabet.of_bytes(), [(108, 111)])
    >>> new = History.from_pairs(growing_recipe(old, by=2), old.alphabet, [(108, 111), (256, 119), (257, 101)])
    >>> grown_numbers(new, np.arange(old.index_count))[255:].tolist()  # the last byte, lo, low, lowe, <|end|>
    [255, 256, 258, 259, 257]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bpe_core.errors import FormatError, NothingToLearn, RecipeError
from bpe_core.history.history import History, Int64s
from bpe_core.methods.kit.method import Method
from bpe_core.methods.registry import METHODS, USUAL
from bpe_core.recipes.recipe import Recipe, title_of
from bpe_core.support.wording import count_text

NOTHING_NEW = (
    "Nothing new can be learned from this corpus: the table already has all frequent tokens. Use more or other "
    "texts, or a lower minimum count."
)


def growing_recipe(history: History, by: int, *, across_words: bool = False, **changes: Any) -> Recipe:
    """Return a recipe for learning `by` more tokens.

    A second stage joins tokens across words if `across_words` is true, or if the method of the history can do so.
    """
    if by < 1:
        raise RecipeError(f"The number of tokens to add must be at least 1, not {by:,}.")
    if history.recipe.lists_bytes:
        raise RecipeError(
            "This vocabulary, like RWKV's, is a list of tokens without merges, so training cannot continue from it. "
            "To add a token, add a row to its file."
        )
    method = Method.of(history.recipe)
    if method.goes_across_words:
        changes = method.second_stage(history) | changes
    elif across_words:
        _check_goes_across_words(history)
        changes = _method_across_words().second_stage(history) | changes
    elif alone := changes.keys() & _method_across_words().superword_limits:
        raise RecipeError(f"{title_of(min(alone))} limits only superwords. To learn superwords, add --across-words.")
    if method.serves_languages:  # the mixture's groups may be missing in the new corpus
        changes = {"method": USUAL, "mixture": None} | changes
    if method.can_be_steered or method.serves_languages:
        steps = len(history)
        return history.recipe.with_changes(merges=steps + by, grown_from=steps, interventions=(), **changes)
    if not method.looks_tokens_up:
        raise RecipeError(f"A table that {method.title} learned cannot be extended: {method.cannot_grow}")
    return history.recipe.listed.with_changes(vocab_size=history.vocabulary_size + by, **changes)


def _method_across_words() -> Method:
    return next(method for method in map(Method.named, METHODS) if method.goes_across_words)


def _check_goes_across_words(history: History) -> None:
    recipe = history.recipe
    if recipe.base != "bytes" or recipe.marker != "none" or not can_repeat_steps(history) or recipe.splits_by_steps:
        raise RecipeError(
            "Superwords can be added only to a table of byte merges in the order of learning, with one pattern "
            "and without a word marker. This table is different."
        )


def can_repeat_steps(history: History) -> bool:
    """Return whether a learner can repeat the steps of a history on other words."""
    can = METHODS[history.recipe.method].can_be_steered or history.recipe.serves_languages
    return can and history.joining is None and not lists_texts_only(history)


def lists_texts_only(history: History) -> bool:
    """Return whether the table lists joined tokens only as texts, so that their parts are unknown."""
    return Method.of(history.recipe).has_continuations and history.alphabet.seed_count > 0


def without_counts(history: History) -> History:
    """Return the history without its counts, for a learner that repeats the steps of the history on another corpus."""
    return History.from_pairs(history.recipe, history.alphabet, history.pairs())


def check_grew(history: History) -> None:
    if len(history) <= history.recipe.grown_from:
        raise NothingToLearn(NOTHING_NEW)


def free_numbers(known: Int64s, wanted: int, first: int | None = None) -> Int64s:
    """Return `wanted` consecutive ids. The first of them is `first`, or by default the id after the largest known id.

    Raise FormatError if one of these ids is already in `known`.
    """
    start = int(known.max(initial=-1)) + 1 if first is None else first
    if start < 0 or (wanted and bool(((known >= start) & (known < start + wanted)).any())):
        raise FormatError(
            f"New tokens cannot have ids from {start:,} on: the table's ids go up to {int(known.max()):,}. Choose "
            "a larger first id. Without a first id, new tokens get the ids after all other tokens."
        )
    return np.arange(start, start + wanted)


def grown_numbers(history: History, old: Int64s, first_new: int | None = None) -> Int64s:
    """Return the ids of all tokens in a grown history.

    Old tokens keep the ids in `old`. New tokens get consecutive ids. The first of them is `first_new`, or by default
    the id after the largest old id.
    """
    specials = len(history.recipe.special_tokens)
    symbols = len(history.alphabet)
    made = min(len(old) - specials, history.first_special)  # base symbols, and the tokens of the table's own steps
    new = history.first_special - made
    old = np.concatenate([old[:made], old[len(old) - specials :]])
    if made < symbols:
        steps = history.recipe.wording.counted(len(history))
        raise FormatError(
            f"The table has {count_text(len(old), 'id')}, but {count_text(symbols, 'base symbol')} and {steps}."
        )
    return np.concatenate([old[:made], free_numbers(old, new, first_new), old[made:]])
