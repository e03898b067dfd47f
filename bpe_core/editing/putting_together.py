"""The combination of two merge tables into one table, which keeps the ids of the first table.

The result has all merges of the first table, and then a merge for each token that only the second table has. So a text
is first split by the first table, and then its tokens are joined further. No text has more tokens than with the first
table, and no token of the first table is lost. A token of the second table can be added if the merges so far split its
text into exactly two tokens. A token that cannot be added yet is tried again later. Methods that look tokens up in the
vocabulary need no order. For them, `added_pieces.py` adds the tokens.

    >>> from bpe_core.history.alphabet import Alphabet
    >>> from bpe_core.recipes.recipe import Recipe
    >>> recipe = Recipe.preset("gpt2")
    >>> one = History.from_pairs(recipe, Alphabet.of_bytes(), [(116, 104), (256, 101)])  # t+h, th+e
    >>> other = History.from_pairs(recipe, Alphabet.of_bytes(), [(104, 101), (116, 256), (257, 110)])  # he, the, then
    >>> put_together(one, other).history.pairs()  # `then` is made from the `the` of the first table
    [(116, 104), (256, 101), (104, 101), (257, 110)]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from bpe_core.editing.added_pieces import add_pieces, pieces_of
from bpe_core.editing.trimming import check_can_be_edited, looks_tokens_up, sentence_of_characters
from bpe_core.editing.without_tokens import GONE, AdditionalTokens, further_numbers, numbers_of, remove_tokens
from bpe_core.errors import BpeError, Cancelled
from bpe_core.formats.base import ids_beside
from bpe_core.history.arguments import Learned, history_of
from bpe_core.history.history import History, Int64s
from bpe_core.history.token_texts import quoted, written
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.parts import Normalization, SplittingChoices, Symbols
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import CancelCheck, Progress, ProgressReport, ignore_progress, never_cancelled
from bpe_core.support.wording import count_text

REPORTED = 1_024  # tokens between two reports of progress
LONGEST = 4_096  # the most symbols of a token; tokens of texts have far fewer
MOST_QUOTED = 5
NO_RANK = 2**62


@dataclass(frozen=True, eq=False)
class PutTogether:
    history: History
    from_first: int  # tokens of the first table, with base symbols and special tokens
    shared: int  # learned tokens of the second table that the first has, too
    added: int  # learned tokens that only the second table has
    new_symbols: int  # base symbols that only the second table has
    new_specials: int
    left_out: tuple[bytes, ...]  # learned tokens of the second table that cannot be made after the first's merges
    notes: tuple[str, ...]  # sentences about what the second table does differently

    @property
    def new_tokens(self) -> int:
        return self.added + self.new_symbols + self.new_specials

    @property
    def sentences(self) -> list[str]:
        sentences = [
            *self.notes,
            f"{count_text(self.from_first, 'token comes', 'tokens come')} from the first table, {self.new_tokens:,} "
            f"from the second. Both tables have {count_text(self.shared, 'learned token')} in common.",
        ]
        if self.left_out:
            some = ", ".join(map(quoted, self.left_out[:MOST_QUOTED]))
            left_out = f"{count_text(len(self.left_out), 'token')} of the second table"
            why = f"{left_out} cannot be made after the merges of the first table."
            if looks_tokens_up(self.history):
                why = f"With the tokens of the first table, {left_out} would never be used."
            more = " …" if len(self.left_out) > MOST_QUOTED else "."
            sentences.append(f"{why} The result leaves out {some}{more}")
        return sentences


def put_together(
    first: Learned,
    second: Learned,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> PutTogether:
    """Return the first table with its ids, followed by the tokens that only the second table has.

    Parameters
    ----------
    first
        The table whose tokens keep their ids.
    second
        The table whose further tokens are added. Both tables must split texts into words in the same way.
    progress, cancelled
        The callbacks that receive the progress and may cancel the work.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> first = bpe.train("low low lower", "gpt2", vocab_size=258)
    >>> second = bpe.train("new new newer", "gpt2", vocab_size=258)
    >>> both = put_together(first, second)
    >>> both.from_first, both.new_tokens, bpe.Study.of(both).encode("low new")
    (258, 2, [257, 32, 259])
    """
    table = history_of(first)
    other = history_of(second)
    for history in (table, other):
        check_can_be_edited(history)
        if history.joining is not None:
            raise BpeError(
                "These two tables cannot be combined: one table merges by priority, not in the order of "
                "learning, so new tokens would have no priority."
            )
    _check_fit_together(table.recipe, other.recipe)
    if looks_tokens_up(table):
        return _beside(table, other, numbers_of(table), cancelled)
    return _with_merges_of(table, other, partial(_report, progress, cancelled))


def _with_merges_of(history: History, other: History, report: Callable[[int, int], None]) -> PutTogether:
    """Return the table `history`, extended by a merge for each token that only the other table, `other`, has."""
    known_symbols = {(symbol.kind, symbol.text) for symbol in history.alphabet.symbols}
    symbols = [symbol for symbol in other.alphabet.symbols if (symbol.kind, symbol.text) not in known_symbols]
    specials = [token for token in other.recipe.special_tokens if token not in history.recipe.special_tokens]
    table = remove_tokens(
        history, np.zeros(history.index_count, np.bool_), further=AdditionalTokens(symbols, specials=specials)
    )
    place_of = {(symbol.kind, symbol.text): id for id, symbol in enumerate(table.history.alphabet.symbols)}
    of_other = [place_of[symbol.kind, symbol.text] for symbol in other.alphabet.symbols]
    joining = _JoinedTable(table.history)
    other_texts = written(other)
    new = [id for id in range(len(other.alphabet), other.first_special) if other_texts[id] not in joining.texts]
    made_of = {id: [of_other[symbol] for symbol in other.symbols_of(id)] for id in new}
    waiting = _add_all(joining, other_texts, made_of, report)
    recipe = table.history.recipe.with_changes(merges=len(joining.pairs), alphabet_limit=None)
    added = len(new) - len(waiting)
    before, behind = np.split(table.old_ids, [table.history.first_special])
    numbers = further_numbers(numbers_of(history), np.concatenate([before, np.full(added, GONE), behind]))
    return PutTogether(
        history=History.from_pairs(recipe, table.history.alphabet, joining.pairs).numbered(
            ids_beside(history, numbers)
        ),
        from_first=history.index_count,
        shared=len(other) - len(new),
        added=added,
        new_symbols=len(symbols),
        new_specials=len(specials),
        left_out=tuple(other_texts[id] for id in waiting),
        notes=_notes(history.recipe, other.recipe),
    )


def _add_all(
    joining: _JoinedTable, texts: Sequence[bytes], symbols: Mapping[int, list[int]], report: Callable[[int, int], None]
) -> list[int]:
    """Add as many tokens to the table as possible, in several rounds.

    Return the tokens that cannot be added. `texts` and `symbols` hold the text and the base symbols of each token.
    """
    waiting = list(symbols)
    before = len(symbols) + 1
    while waiting and len(waiting) < before:
        before = len(waiting)
        still = []
        for done, id in enumerate(waiting):
            if done % REPORTED == 0:
                report(done, before)
            if not joining.add(texts[id], symbols[id]):
                still.append(id)
        waiting = still
    return waiting


def _beside(history: History, other: History, known: Int64s, cancelled: CancelCheck) -> PutTogether:
    pieces = pieces_of(other)
    first = set(written(history))
    grown = add_pieces(history, pieces, other.recipe.special_tokens, cancelled=cancelled)
    added = sum(symbol.kind == "seed" for symbol in grown.added)
    notes = _notes(history.recipe, other.recipe)
    if history.scores is not None:
        notes += ("The log-probabilities of the second table were learned separately and are not changed.",)
    if grown.characters:
        notes += (sentence_of_characters(grown.characters),)
    return PutTogether(
        history=grown.history.numbered(ids_beside(history, further_numbers(known, grown.old_ids))),
        from_first=history.vocabulary_size,
        shared=sum(piece.symbol.kind == "seed" and piece.symbol.text in first for piece in pieces),
        added=added,
        new_symbols=len(grown.added) - added,
        new_specials=len(grown.history.recipe.special_tokens) - len(history.recipe.special_tokens),
        left_out=grown.left_out,
        notes=notes,
    )


def _report(progress: ProgressReport, cancelled: CancelCheck, done: int, total: int) -> None:
    if cancelled():
        raise Cancelled("Combining the tables was stopped.")
    progress(Progress("combining tables", done, total, "tokens"))


def _check_fit_together(first: Recipe, other: Recipe) -> None:
    if first.method != other.method:
        titles = (METHODS[recipe.method].title for recipe in (first, other))
        raise BpeError(
            "These two tables cannot be combined: the first was learned by {}, the second by {}.".format(*titles)
        )
    differing = [name for name in first.differing(other, Symbols) if name != "alphabet_limit"]
    if differing:
        name = differing[0]
        raise BpeError(
            f"These two tables cannot be combined: {name.replace('_', ' ')} is {getattr(first, name)!r} in the "
            f"first table and {getattr(other, name)!r} in the second table. Train one table again with the recipe "
            "of the other table."
        )


def _notes(recipe: Recipe, other: Recipe) -> tuple[str, ...]:
    differing = [
        name
        for name in recipe.differing(other, Normalization, SplittingChoices)
        if name not in ("special_tokens", "older_unicode")
    ]
    if not differing:
        return ()
    choices = ", ".join(dict.fromkeys(name.replace("_", " ") for name in differing))
    return (f"The two tables split texts differently ({choices}). The result splits texts as the first table does.",)


class _JoinedTable:
    def __init__(self, table: History) -> None:
        self.pairs = table.pairs()
        self.texts = set(written(table))
        self._base = len(table.alphabet)
        self._rank_of = {pair: rank for rank, pair in reversed(list(enumerate(self.pairs)))}

    def add(self, text: bytes, symbols: list[int]) -> bool:
        pieces = self._cut(symbols) if len(symbols) <= LONGEST else []
        if len(pieces) != 2:
            return False
        self._rank_of[pieces[0], pieces[1]] = len(self.pairs)
        self.pairs.append((pieces[0], pieces[1]))
        self.texts.add(text)
        return True

    def _cut(self, symbols: list[int]) -> list[int]:
        rank = self._rank_of.get
        ids = list(symbols)
        ranks = [rank(pair, NO_RANK) for pair in pairwise(symbols)]
        while ranks and (least := min(ranks)) != NO_RANK:
            place = ranks.index(least)
            ids[place : place + 2] = [self._base + least]
            del ranks[place]
            if place < len(ranks):
                ranks[place] = rank((ids[place], ids[place + 1]), NO_RANK)
            if place:
                ranks[place - 1] = rank((ids[place - 1], ids[place]), NO_RANK)
        return ids
