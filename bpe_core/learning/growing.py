"""Going on from a table that was learned elsewhere: its steps as they are, then new ones, on another corpus.

The table's tokens keep the numbers that its file gives them, special tokens included; new ones are numbered behind
the largest. So embeddings that were learned for the old tokens still fit.

    >>> from bpe_core.alphabet import Alphabet
    >>> from bpe_core.recipe import Recipe
    >>> old = History.from_pairs(Recipe(special_tokens=("<|end|>",)), Alphabet.of_bytes(), [(108, 111)])
    >>> new = History.from_pairs(growing_recipe(old, by=2), old.alphabet, [(108, 111), (256, 119), (257, 101)])
    >>> grown_numbers(new, np.arange(old.id_count))[255:].tolist()  # the last byte, lo, low, lowe, <|end|>
    [255, 256, 258, 259, 257]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bpe_core.counting.count_words import count_words
from bpe_core.errors import FormatError, NothingToLearn, RecipeError
from bpe_core.history.history import History, Int64s
from bpe_core.learning.methods import METHODS, Wording
from bpe_core.learning.trainer import learn
from bpe_core.progress import CancelCheck, ProgressReport, ignore_progress, never_cancelled
from bpe_core.recipe import Recipe
from bpe_core.text.corpus import Corpus

NOTHING_NEW = (
    "Nothing new can be learned from this corpus: after the table's own steps no pair of tokens is frequent enough. "
    "Take more or other texts, or a lower minimum frequency."
)


def growing_recipe(history: History, by: int, **changes: Any) -> Recipe:
    """The recipe that goes on from all steps of a table and makes so many more."""
    if by < 1:
        raise RecipeError(f"A table can grow by 1 step or more, not by {by:,}.")
    listed = METHODS[history.recipe.method]
    if not listed.can_be_steered:
        raise RecipeError(
            f"A table of {listed.title} cannot be extended: its tokens are not joined one after the other."
        )
    if history.recipe.method != "bpe" and any(symbol.kind == "seed" for symbol in history.alphabet.symbols):
        raise RecipeError(
            "This table cannot be extended: it lists tokens without telling which two each is made of, "
            "so it cannot be known how it would have gone on."
        )
    steps = len(history)
    return history.recipe.with_changes(merges=steps + by, grown_from=steps, interventions=(), **changes)


def steps_alone(history: History) -> History:
    """The same without what they were on another corpus, to be made there one after the other."""
    if history.joining is not None:
        raise RecipeError(
            "This table joins texts in an order of its own, so its steps cannot be made one after the other: "
            "extend it by command (bpe-explorer extend) or in the window."
        )
    return History.from_pairs(history.recipe, history.alphabet, history.pairs())


def extend(
    corpus: Corpus,
    history: History,
    by: int,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
    **changes: Any,
) -> History:
    """A table's steps and so many more, learned on a corpus; `changes` are of choices such as min_frequency or ties."""
    recipe = growing_recipe(history, by, **changes)
    words = count_words(corpus, recipe, progress=progress, cancelled=cancelled)
    grown = learn(words, recipe, history=steps_alone(history), progress=progress, cancelled=cancelled)
    check_grew(grown)
    return grown


def check_grew(history: History) -> None:
    """Refuse what is no larger than the table was that it goes on from."""
    if len(history) <= history.recipe.grown_from:
        raise NothingToLearn(NOTHING_NEW)


def grown_numbers(history: History, old: Int64s, first_new: int | None = None) -> Int64s:
    """The number of each id: of the old tokens, special ones included, what it was; new ones from a free one on.

    Where the history has fewer steps than the table, the rest of its numbers are free again.
    """
    specials, symbols = len(history.recipe.special_tokens), len(history.alphabet)
    made = min(len(old) - specials, history.first_special)  # base symbols, and what the table's own steps made
    new = history.first_special - made
    old = np.concatenate([old[:made], old[len(old) - specials :]])
    if made < symbols:
        steps = Wording.of(history.recipe).counted(len(history))
        raise FormatError(f"The {len(old):,} numbers of the table do not fit {symbols:,} base symbols and {steps}.")
    first = int(old.max(initial=-1)) + 1 if first_new is None else first_new
    if first < 0 or (new and bool(((old >= first) & (old < first + new)).any())):
        raise FormatError(
            f"New tokens cannot be numbered from {first:,} on: the table's own numbers go up to {int(old.max()):,}, "
            "and none may be given twice. Without that wish they are numbered behind all others."
        )
    return np.concatenate([old[:made], np.arange(first, first + new), old[made:]])
