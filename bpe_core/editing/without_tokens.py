"""Functions that remove tokens from a history, and compute the ids of the remaining tokens.

Some methods find a token by looking up its text in the vocabulary. With such a method, a token can remain even if the
tokens from which it was joined are removed. Then it becomes an entry of the alphabet (a seed).

Functions and variables whose names contain *number* are about the ids in the table's file, or about indices if the
table has no file. Some files have no id for a character that occurs only in longer pieces. Such a character gets an id
when the table is changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from bpe_core.editing.growing import free_numbers
from bpe_core.errors import FormatError
from bpe_core.formats.base import NO_NUMBER
from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.history.columns import Scores
from bpe_core.history.history import Bools, History, Int64s
from bpe_core.history.joining import MergePriorities, PairRows
from bpe_core.history.token_texts import TokenBytes, quoted, written
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.wording import count_text

GONE = -1  # the new id of a removed token
KINDS_IN_ORDER = ("unknown", "fallback", "byte", "character", "marker", "glued", "continuation", "seed")


class AdditionalTokens(NamedTuple):
    """The symbols, with their scores, and the special tokens that an edit adds to a history."""

    symbols: Sequence[Symbol] = ()
    scores: Sequence[float] = ()  # scores of the symbols, if the method has any
    specials: Sequence[str] = ()


NOTHING_FURTHER = AdditionalTokens()


@dataclass(frozen=True, eq=False)
class ReducedHistory:
    history: History
    new_ids: Int64s  # the new id of each former id, or GONE
    old_ids: Int64s  # the former id of each new id; negative for added tokens


def remove_tokens(
    history: History, goes: Bools, hidden: Bools | None = None, further: AdditionalTokens = NOTHING_FURTHER
) -> ReducedHistory:
    """Remove the tokens in the mask `goes` from a history, and add the tokens of `further`.

    The tokens in the mask `hidden` remain only as parts of other tokens. The result has no counts, because the counts
    of the remaining merges depend on the removed merges.
    """
    base = len(history.alphabet)
    first_special = history.first_special
    goes = goes.copy()
    goes[np.setdiff1d(np.arange(first_special), history.vocabulary)] = True  # dropped tokens are gone already
    pairs = np.array(history.pairs(), np.int64).reshape(-1, 2)
    stays = ~goes[base:first_special]
    whole = stays & ~goes[pairs].any(axis=1)
    symbols = _symbols(history, goes, base + np.flatnonzero(stays & ~whole), further.symbols)
    kept = enumerate(history.recipe.special_tokens, first_special)
    specials = [(id, token) for id, token in kept if not goes[id]] + [(-1, token) for token in further.specials]
    steps = base + np.flatnonzero(whole)
    old_ids = np.array([*(id for id, _ in symbols), *steps.tolist(), *(id for id, _ in specials)], np.int64)
    new_ids = np.full(history.index_count, GONE, np.int64)
    new_ids[old_ids[old_ids >= 0]] = np.flatnonzero(old_ids >= 0)
    recipe = recipe_without_training(history.recipe, len(steps)).with_changes(
        special_tokens=tuple(token for _, token in specials)
    )
    alphabet = history.alphabet
    if len(symbols) != base or any(new != old for new, (old, _) in enumerate(symbols)):
        alphabet = Alphabet(tuple(symbol for _, symbol in symbols))
    joining = _joining(history, goes, np.zeros_like(goes) if hidden is None else hidden, new_ids)
    made_of = [(left, right) for left, right in new_ids[pairs[whole]].tolist()]
    remaining = History.from_pairs(recipe, alphabet, made_of, joining)
    remaining.scores = _scores(history, old_ids[: len(symbols)], further.scores)
    return ReducedHistory(remaining, new_ids, old_ids)


def _symbols(history: History, goes: Bools, listed: Int64s, more: Sequence[Symbol]) -> list[tuple[int, Symbol]]:
    symbols = [(id, symbol) for id, symbol in enumerate(history.alphabet.symbols) if not goes[id]]
    if len(listed):
        texts = written(history)
        decoded = TokenBytes(history)
        symbols += [(id, Symbol(texts[id], decoded[id], "seed")) for id in listed.tolist()]
    if more or len(listed):
        symbols += [(-place, symbol) for place, symbol in enumerate(more, 1)]
        symbols.sort(key=lambda row: KINDS_IN_ORDER.index(row[1].kind))
    return symbols


def _scores(history: History, old_ids: Int64s, more: Sequence[float]) -> Scores | None:
    if history.scores is None:
        return None
    new = old_ids < 0
    row = history.scores.at(len(history))[np.maximum(old_ids, 0)]
    row[new] = np.array(more, np.float32)[-1 - old_ids[new]]
    row.flags.writeable = False
    return Scores((0,), (row,), np.zeros(0, np.int32))


def recipe_without_training(recipe: Recipe, merges: int) -> Recipe:
    """Return the recipe of an edited table. `merges` is the number of its merges.

    The recipe says that the table was not made by training.
    """
    return recipe.listed.with_changes(merges=merges, interventions=(), grown_from=0)


def _joining(history: History, goes: Bools, hidden: Bools, new_ids: Int64s) -> MergePriorities | None:
    joining = history.joining
    if joining is None:
        if not hidden.any():
            return None
        left, right = (column.astype(np.int64) for column in history.columns[:2])
        joining = MergePriorities(pairs=PairRows(left, right, np.arange(len(history.alphabet), history.first_special)))
    pairs = joining.pairs
    priorities = joining.priorities
    if pairs is not None:
        rows = ~(goes[pairs.left] | goes[pairs.right] | goes[pairs.token])
        pairs = PairRows(*(new_ids[column[rows]] for column in pairs))
    if priorities is not None:
        priorities = priorities[~goes[: len(priorities)]]

    def mapped(ids: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(int(new_ids[id]) for id in ids if not goes[id])

    return replace(
        joining,
        pairs=pairs,
        priorities=priorities,
        left_out=mapped(joining.left_out),
        found_first=mapped(joining.found_first),
        hidden=mapped((*joining.hidden, *np.flatnonzero(hidden).tolist())),
    )


def numbers_of(history: History) -> Int64s:
    """Return the number of each token. Raise FormatError if tokens with different texts have the same number."""
    known = history.numbers
    if known is None:
        return np.arange(history.index_count)
    if len(known) != history.index_count:
        raise FormatError(
            f"The table contradicts itself: it has {count_text(history.index_count, 'token')}, but ids for "
            f"{len(known):,}."
        )
    known = _with_all_characters(history, known)
    given = np.flatnonzero(known != NO_NUMBER)
    given = given[np.argsort(known[given], kind="stable")]
    shared = np.flatnonzero(known[given[1:]] == known[given[:-1]])
    texts = [*written(history), *(token.encode() for token in history.recipe.special_tokens)] if len(shared) else []
    for first, second in zip(given[shared].tolist(), given[shared + 1].tolist(), strict=True):
        if texts[first] == texts[second]:  # a special or unknown token, and the piece with the same text
            continue
        raise FormatError(
            f"The tokens {quoted(texts[first])} and {quoted(texts[second])} both have the id {int(known[first]):,}, so "
            "the table cannot be changed. Give one of them another id in the file."
        )
    return known


def _with_all_characters(history: History, known: Int64s) -> Int64s:
    if history.scores is None:
        return known
    unknown = history.alphabet.unknown_id
    without = NO_NUMBER if unknown is None else known[unknown]
    kinds = np.array([symbol.kind in ("character", "marker") for symbol in history.alphabet.symbols], np.bool_)
    lone = np.flatnonzero(kinds & (known[: len(kinds)] == without))
    known = known.copy()
    known[lone] = int(known.max(initial=-1)) + 1 + np.arange(len(lone))
    return known


def further_numbers(known: Int64s, old_ids: Int64s, first: int | None = None) -> Int64s:
    """Return the ids of all tokens of a changed table.

    Old tokens keep their ids. New tokens get consecutive ids. The first of them is `first`, or by default the id after
    the largest known id. `old_ids` has the old index of each token, or a negative number for a new token.

    >>> further_numbers(np.array([7, 5]), np.array([0, -1, 1])).tolist()
    [7, 8, 5]
    """
    new = old_ids < 0
    numbers = known[np.maximum(old_ids, 0)]
    numbers[new] = free_numbers(known, int(np.count_nonzero(new)), first)
    return numbers


def new_numbers(before: Int64s, now: Int64s, new_ids: Int64s) -> dict[int, int]:
    """Return a dictionary from the former id of each remaining token to its new id.

    `before` and `now` hold the id of each token before and after the change. For each former token, `new_ids` holds its
    index in `now`, or GONE. Tokens that have no id before or after the change are left out.

    >>> new_numbers(np.array([7, 5, 3]), np.array([1, 0]), np.array([0, GONE, 1]))
    {7: 1, 3: 0}
    """
    stay = np.flatnonzero((new_ids != GONE) & (before != NO_NUMBER))
    known = now[new_ids[stay]]
    is_given = known != NO_NUMBER
    return dict(zip(before[stay][is_given].tolist(), known[is_given].tolist(), strict=True))


def renumbered(numbers: Int64s) -> Int64s:
    """Return new ids without gaps, in the order of the old ids. Tokens with the same old id get the same new id.

    >>> renumbered(np.array([7, NO_NUMBER, 3, 7])).tolist()
    [1, -1, 0, 1]
    """
    new = np.full(len(numbers), NO_NUMBER, np.int64)
    is_given = numbers != NO_NUMBER
    new[is_given] = np.unique(numbers[is_given], return_inverse=True)[1]
    return new
