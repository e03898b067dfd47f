"""A merge table without some of its tokens.

A token may be needed: others are made of it. So it must be said what becomes of these.

- spare: a token that a kept one is made of stays, and is told. Nothing is lost that nobody asked for.
- lose: what is made of a removed token goes with it, and what is made of that.

Every token that stays can be made of the same texts as before. What decides it is the token by itself (see
`insight.reachability`), and its own text is joined by nothing but what it is made of, each time by the merge of lowest
rank that fits; all of these stay, in their order, and with fewer merges beside them none is passed over.
Other texts fall into what the removed tokens were made of, or are cut in another way: `costs` tells what it comes to.

    >>> from bpe_core.alphabet import Alphabet
    >>> from bpe_core.recipe import Recipe
    >>> pairs = [(116, 104), (256, 101), (97, 110)]  # t+h, th+e, a+n
    >>> history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs)
    >>> spared = trim(history, [256, 258])
    >>> spared.removed, spared.spared, spared.history.pairs()
    ((258,), (256,), [(116, 104), (256, 101)])
    >>> lost = trim(history, [256], needed="lose", renumber=False)
    >>> lost.removed, lost.asked, lost.history.pairs(), lost.numbers[256:].tolist()
    ((256, 257), (256,), [(97, 110)], [258])
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Literal, get_args

import numpy as np

from bpe_core.editing.numbering import numbers_of, renumbered, unless_ids
from bpe_core.errors import BpeError
from bpe_core.history.history import Bools, History, Int64s
from bpe_core.learning.methods import METHODS, Method
from bpe_core.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.recipe import Recipe

Needed = Literal["spare", "lose"]
NEEDED: dict[Needed, str] = {
    "spare": "a token that kept ones are made of stays as it is, and is told",
    "lose": "what is made of a removed token is removed, too",
}
assert tuple(NEEDED) == get_args(Needed)

GONE = -1  # the new id of a token that was removed


@dataclass(frozen=True, eq=False)
class Trimmed:
    """What is left, and what became of the rest; ids are those of before."""

    history: History
    numbers: Int64s | None  # of the new ids, where these are not the numbers
    new_ids: Int64s  # for each id of before, or GONE
    removed: tuple[int, ...]
    asked: tuple[int, ...]  # those removed that were named
    spared: tuple[int, ...]  # those named that stay, because kept ones are made of them

    @property
    def lost(self) -> int:
        """How many went that nobody named."""
        return len(self.removed) - len(self.asked)

    @property
    def told(self) -> list[str]:
        """What became of the tokens, a sentence each."""
        found = [f"{len(self.removed):,} tokens are removed, {self.history.id_count:,} are left."]
        if self.lost:
            found.append(f"{self.lost:,} of them were not named: they are made of tokens that are removed.")
        if self.spared:
            found.append(f"{len(self.spared):,} that were named stay, because tokens that stay are made of them.")
        return found


def trim(
    history: History,
    tokens: Iterable[int],
    *,
    numbers: Int64s | None = None,
    needed: Needed = "spare",
    renumber: bool = True,
    cancelled: CancelCheck = never_cancelled,
) -> Trimmed:
    """The table without these tokens; `numbers` are those of the file it came from.

    They are counted anew without gaps, in the same order, or else stay what they were.
    """
    check_can_be_edited(history)
    known, named = numbers_of(history, numbers), sorted(set(tokens))
    _check_named(history, named)
    goes = np.zeros(history.id_count, np.bool_)
    goes[named] = True
    if needed == "spare":
        _spare(history, goes, cancelled)
    else:
        _lose(history, goes, cancelled)
    kept, new_ids = ~goes, np.cumsum(~goes) - 1
    new_ids[goes] = GONE
    left = renumbered(known[kept]) if renumber else known[kept]
    return Trimmed(
        history=_without(history, goes, new_ids),
        numbers=unless_ids(left),
        new_ids=new_ids,
        removed=tuple(np.flatnonzero(goes).tolist()),
        asked=tuple(id for id in named if goes[id]),
        spared=tuple(id for id in named if not goes[id]),
    )


def check_can_be_edited(history: History) -> None:
    """Only where pairs are joined in their order does it follow what a table without some of them does."""
    if not Method.of(history.recipe).has_ranks or not history.only_joins:
        raise BpeError(
            f"Only tables of byte-pair encoding can be trimmed or put together; this one is of "
            f"{METHODS[history.recipe.method].title}. Learn it again with a smaller or larger vocabulary instead."
        )
    if history.joining is not None:
        raise BpeError(
            "This table cannot be trimmed or put together with another: it joins texts in an order of its own, not in "
            "the order of its tokens' births, so what it would do without some of them cannot be told."
        )


def _check_named(history: History, named: list[int]) -> None:
    outside = next((id for id in named if not 0 <= id < history.id_count), None)
    if outside is not None:
        raise BpeError(f"There is no token {outside:,}; the table has {history.id_count:,}.")
    symbols = [id for id in named if id < len(history.alphabet)]
    if symbols:
        raise BpeError(
            f"{len(symbols):,} of the tokens to remove are base symbols, such as the one with the id {symbols[0]:,}; "
            "without them some texts could not be cut at all. Remove learned tokens only."
        )


def _spare(history: History, goes: Bools, cancelled: CancelCheck) -> None:
    """From the youngest on: what a token that stays is made of stays."""
    base = len(history.alphabet)
    pairs = list(enumerate(history.pairs(), base))
    for token, (left, right) in while_wanted(reversed(pairs), cancelled):
        if not goes[token]:
            goes[left] = goes[right] = False


def _lose(history: History, goes: Bools, cancelled: CancelCheck) -> None:
    """From the oldest on: what is made of a token that goes, goes."""
    for token, (left, right) in while_wanted(enumerate(history.pairs(), len(history.alphabet)), cancelled):
        if goes[left] or goes[right]:
            goes[token] = True


def _without(history: History, goes: Bools, new_ids: Int64s) -> History:
    """Counts are not kept: without some merges the others would have counted something else."""
    rows = ~goes[len(history.alphabet) : history.first_special]
    pairs = [(int(new_ids[left]), int(new_ids[right])) for left, right in _rows(history, rows)]
    specials = history.recipe.special_tokens
    kept = tuple(token for id, token in enumerate(specials, history.first_special) if not goes[id])
    recipe = as_given(history.recipe, len(pairs)).with_changes(special_tokens=kept)
    return History.from_pairs(recipe, history.alphabet, pairs)


def as_given(recipe: Recipe, merges: int) -> Recipe:
    """The same for a table of so many merges that nobody has learned so."""
    return recipe.with_changes(merges=merges, interventions=(), grown_from=0)


def _rows(history: History, rows: Bools) -> list[tuple[int, int]]:
    columns = history.columns
    return list(zip(columns.left[rows].tolist(), columns.right[rows].tolist(), strict=True))


# --- Which ------------------------------------------------------------------------------


def least_used(
    history: History, counts: Int64s, how_many: int, *, cancelled: CancelCheck = never_cancelled
) -> list[int]:
    """So many learned tokens that a corpus needs least, by how often each stands in it when all is cut.

    Always the least used of those that no remaining one is made of, of equal ones the youngest: so removing
    them loses none besides. What it is made of then stands for it and has its count, too.

    >>> from bpe_core.alphabet import Alphabet
    >>> from bpe_core.recipe import Recipe
    >>> pairs = [(116, 104), (256, 101), (97, 110)]  # t+h, th+e, a+n
    >>> history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs)
    >>> counts = np.zeros(259, np.int64)
    >>> counts[256:] = 0, 5, 6  # th itself never stands there, but the must go before it
    >>> least_used(history, counts, 2)
    [257, 256]
    """
    check_can_be_edited(history)
    base, learned = len(history.alphabet), len(history)
    if not 0 <= how_many <= learned:
        raise BpeError(f"The table has {learned:,} learned tokens, so {how_many:,} of them cannot be removed.")
    left, right, use = history.columns.left.tolist(), history.columns.right.tolist(), counts.tolist()
    needed_by = np.bincount([*left, *right], minlength=base + learned).tolist()
    waiting = [(use[id], -id) for id in range(base, base + learned) if not needed_by[id]]
    heapify(waiting)
    found = []
    for _ in while_wanted(range(how_many), cancelled):
        count, id = heappop(waiting)
        found.append(-id)
        for part in (left[-id - base], right[-id - base]):
            use[part] += count
            needed_by[part] -= 1
            if part >= base and not needed_by[part]:
                heappush(waiting, (use[part], -part))
    return found


def surplus(history: History, size: int) -> int:
    """How many tokens must go until so many are left, base symbols and special tokens among them."""
    least = history.id_count - len(history)
    if size < least:
        raise BpeError(
            f"A table cannot be trimmed to {size:,} tokens: its {len(history.alphabet):,} base symbols and "
            f"{len(history.recipe.special_tokens):,} special tokens stay. Ask for at least {least:,}."
        )
    if size > history.id_count:
        raise BpeError(f"The table has {history.id_count:,} tokens, fewer than the {size:,} it should be trimmed to.")
    return history.id_count - size
