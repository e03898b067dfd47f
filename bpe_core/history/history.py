"""The history of a trainer: what it learned, step by step, in append-only columns that are seen through frozen views.

A step joins two tokens into a new one, drops a token, or adds one; byte-pair encoding only joins. Ids 0 to n - 1 are
the alphabet, whose seeds wait until a step adds them where a method adds; each joined token takes the next id, and
dropping or adding one changes no id. The special tokens come last. These ids are the engine's own, which other parts
call indices: `numbers` holds what a file calls the tokens, and a `Study` speaks of nothing else.

A `History` is a view of the first `len(history)` steps. The trainer appends behind that end; a view never changes, so
it may be read from any thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar, overload

import numpy as np
import numpy.typing as npt

from bpe_core.errors import FormatError, TooLarge
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.columns import ADDED as ADDED
from bpe_core.history.columns import NOTHING as NOTHING
from bpe_core.history.columns import Columns as Columns
from bpe_core.history.columns import Int64s as Int64s
from bpe_core.history.columns import Scores, frozen, joined_lengths
from bpe_core.history.joining import MergePriorities
from bpe_core.history.laid_texts import LaidTexts
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.interventions import forced_at
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Bools as Bools
from bpe_core.support.arrays import Float64s
from bpe_core.support.wording import as_call

Pair = tuple[int, int]
Reasons = Mapping[str, npt.NDArray[Any]]  # a column each, one row a step
T = TypeVar("T")

NO_NUMBER = -1  # among the numbers of a file: it has none for this token
AT_ONCE = 4_096  # steps that are read together
MOST_SYMBOLS = 2**17  # that are looked at one by one; a token of a text never comes near
COUNT_ALONE: Reasons = MappingProxyType({})  # of a method that chooses by the count
TOKEN = "made"  # the reason of a method that may join a text anew: the token that each step made or dropped
TIED = "tied"  # the reason of a method by which equal counts are no tie: whether what came next was as good

EndReason = Literal["", "vocabulary full", "too rare", "no pairs", "nothing pays", "stopped"]

END_SENTENCES: dict[EndReason, str] = {
    "": "Training has not ended.",
    "vocabulary full": "The vocabulary has the size that was asked for.",
    "too rare": "No pair occurs as often as the minimum frequency any more.",
    "no pairs": "No two neighbouring symbols are left to merge.",
    "nothing pays": "No block holds a pair that pays for its place in the table, and a free byte to stand for it.",
    "stopped": "Training was stopped.",
}


class Step(NamedTuple):
    """One step: the pair that was joined and the token it became, or the token dropped or added, and how narrowly."""

    step: int  # 1 for the first
    left: int
    right: int  # NOTHING where the left one is dropped, ADDED where it is added
    id: int
    # of what was joined, dropped or added, in the corpus before; NOTHING where it is not known
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody needs here
    tied: bool  # another one was as good: the tie rule decided
    runner_up: tuple[int, int] | None  # what would have been joined, dropped or added without this one
    runner_up_count: int
    tokens_left: int  # tokens in the corpus after this step
    reasons: Mapping[str, Any] = COUNT_ALONE  # what it was chosen by besides its count


class History(Sequence[Step]):
    """The steps in the order they were made, with the alphabet and recipe they belong to."""

    def __init__(
        self,
        recipe: Recipe,
        alphabet: Alphabet,
        columns: Columns,
        *,
        reasons: Reasons = COUNT_ALONE,
        scores: Scores | None = None,
        joining: MergePriorities | None = None,
        tokens_at_start: int = NOTHING,
        end_reason: EndReason = "",
        numbers: Int64s | None = None,
    ) -> None:
        self.recipe = recipe
        self.alphabet = alphabet
        self.columns = columns
        # Sorted, as a session gives them back: files that are written before and after it are the same.
        self.reasons = MappingProxyType({name: frozen(reasons[name][: len(self)]) for name in sorted(reasons)})
        self.scores = scores and replace(scores, waiting=self._waiting_at_first)  # of tokens, where a method has any
        self.joining = joining  # how texts are cut, where the steps alone do not say it
        self.tokens_at_start = tokens_at_start
        self.end_reason: EndReason = end_reason
        self.numbers = numbers  # the file's number of each id, where it came from a file that numbers otherwise
        self.texts_by_number: LaidTexts | None = None  # of such a file, if each token is written there as here

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by what was learned alone, without what was found out about it."""
        from bpe_core.history.packed import packed

        return unpickled, (packed(self),)

    def __repr__(self) -> str:
        recipe, size = self.recipe, self.vocabulary_size
        return as_call("History", method=recipe.method, recipe=recipe.name, vocab_size=size, steps=len(self))

    def __copy__(self) -> History:
        copied = object.__new__(History)
        vars(copied).update(vars(self))
        return copied

    @classmethod
    def from_pairs(
        cls, recipe: Recipe, alphabet: Alphabet, pairs: Sequence[Pair] | Int64s, joining: MergePriorities | None = None
    ) -> History:
        """Return a history of which only the merges are known, as when a table is imported."""
        if not isinstance(pairs, np.ndarray):
            pairs = np.fromiter(chain.from_iterable(pairs), np.int64, 2 * len(pairs)).reshape(-1, 2)
        left, right = np.ascontiguousarray(pairs.T, np.int32)
        unknown = np.full(len(pairs), NOTHING, np.int32)
        unknown_count = np.full(len(pairs), NOTHING, np.int64)
        columns = Columns(left, right, unknown_count, unknown, unknown, unknown_count, unknown_count)
        for column in columns:
            column.flags.writeable = False
        return cls(recipe, alphabet, columns, joining=joining)

    def __len__(self) -> int:
        return len(self.columns.left)

    @overload
    def __getitem__(self, index: int) -> Step: ...

    @overload
    def __getitem__(self, index: slice) -> list[Step]: ...

    def __getitem__(self, index: int | slice) -> Step | list[Step]:
        if isinstance(index, slice):
            start, stop, stride = index.indices(len(self))
            if stride == 1:
                return list(self._steps(start, stop))
            return [self[row] for row in range(start, stop, stride)]
        row = range(len(self))[index]
        return next(self._steps(row, row + 1))

    def __iter__(self) -> Iterator[Step]:
        return chain.from_iterable(self._steps(row, row + AT_ONCE) for row in range(0, len(self), AT_ONCE))

    def _steps(self, start: int, stop: int) -> Iterator[Step]:
        """Yield the steps of these rows, column by column, which is faster than row by row."""
        values = [column[start:stop].tolist() for column in (*self.columns, self.ids, self.tied)]
        reasons = {name: column[start:stop].tolist() for name, column in self.reasons.items()}
        for place, row in enumerate(zip(*values, strict=True)):
            left, right, count, other_left, other_right, other_count, tokens_left, id, tied = row
            has_other = other_left != NOTHING
            yield Step(
                step=start + place + 1,
                left=left,
                right=right,
                id=id,
                count=count,
                tied=tied,
                runner_up=(other_left, other_right) if has_other else None,
                runner_up_count=other_count if has_other else 0,
                tokens_left=tokens_left,
                reasons={name: values[place] for name, values in reasons.items()} if reasons else COUNT_ALONE,
            )

    def first(self, merges: int) -> History:
        if merges >= len(self):
            return self
        columns = self.columns.first(max(0, merges))
        first = History(
            self.recipe,
            self.alphabet,
            columns,
            reasons=self.reasons,
            scores=None if self.scores is None else self.scores.first(len(columns.left)),
            joining=None if self.joining is None else self.joining.before(len(self.alphabet) + len(columns.left)),
            tokens_at_start=self.tokens_at_start,
        )
        if self.numbers is not None:
            first.numbers = np.concatenate([self.numbers[: first.first_special], self.numbers[self.first_special :]])
        first.texts_by_number = self.texts_by_number
        return first

    # --- The numbers by which a file calls its tokens -----------------------------------------

    def numbered(self, numbers: Int64s | None, texts: LaidTexts | None = None) -> History:
        """Return the same history with other numbers for its tokens; None numbers them by their ids."""
        found = copy(self)
        found.numbers, found.texts_by_number = numbers, texts
        for name in ("_ids_by_number", "unknown_twin"):  # which belong to the former numbers
            vars(found).pop(name, None)
        return found

    def numbers_of(self, ids: npt.ArrayLike) -> Int64s:
        found = np.asarray(ids, np.int64)
        return found if self.numbers is None else self.numbers[found]

    @cached_property
    def unknown_twin(self) -> int | None:
        """Return the piece of a file that spells what is unknown and has its number: in a text it means the same."""
        alphabet, numbers = self.alphabet, self.numbers
        if alphabet.unknown_id is None or numbers is None:
            return None
        same = np.flatnonzero(numbers[: len(alphabet)] == numbers[alphabet.unknown_id]).tolist()
        text = alphabet.texts[alphabet.unknown_id]
        return next((id for id in same if alphabet.texts[id] == text and id != alphabet.unknown_id), None)

    def ids_of(self, numbers: Iterable[int]) -> list[int]:
        """Convert the file's numbers to ids; raise a FormatError for a number that no token has."""
        if self.numbers is None:
            return list(numbers)
        wanted, known = list(numbers), self._ids_by_number
        missing = next((number for number in wanted if number < 0 or number not in known), None)
        if missing is not None:
            raise FormatError(f"The file has no token with the number {missing}.")
        return [known[number] for number in wanted]

    @cached_property
    def _ids_by_number(self) -> dict[int, int]:
        """Map each number to an id; of several tokens that share it, the last special one, else the first."""
        pairs = [] if self.numbers is None else list(zip(self.numbers.tolist(), range(self.id_count), strict=True))
        return dict([*reversed(pairs[: self.first_special]), *pairs[self.first_special :]])

    # --- Its tokens and their ids: the alphabet, what was joined, the special tokens ----------

    @cached_property
    def _joins(self) -> Int64s:
        """Return the steps that made a new token."""
        joins = np.flatnonzero(self.columns.right >= 0)
        if TOKEN not in self.reasons:
            return joins
        tokens = self.reasons[TOKEN][joins]
        newest = np.maximum.accumulate(np.append(np.int64(len(self.alphabet) - 1), tokens))
        return joins[tokens > newest[:-1]]

    @property
    def only_joins(self) -> bool:
        """Return whether no step drops or adds a token."""
        return len(self._joins) == len(self) and not self._waiting_at_first

    @cached_property
    def _waiting_at_first(self) -> int:
        """Return how many tokens of the alphabet are not in the vocabulary before a step adds them."""
        return self.alphabet.seed_count if METHODS[self.recipe.method].single == "add" else 0

    @cached_property
    def ids(self) -> Int64s:
        """Return the token that each step made, dropped or added."""
        if TOKEN in self.reasons:
            return self.reasons[TOKEN].astype(np.int64)
        ids = self.columns.left.astype(np.int64)
        ids[self._joins] = np.arange(len(self.alphabet), self.first_special)
        return ids

    def of_steps(self, of_tokens: Sequence[T], start: int = 0) -> Sequence[T]:
        """Return the given values of the tokens in the order of the steps, from the step `start` on."""
        if self.only_joins:
            return of_tokens[len(self.alphabet) + start : self.first_special]
        return [of_tokens[id] for id in self.ids[start:].tolist()]

    @property
    def first_special(self) -> int:
        """Return the id behind the last token that was joined."""
        return len(self.alphabet) + len(self._joins)

    @property
    def id_count(self) -> int:
        """Return how many ids there are; every token that ever was has one."""
        return self.first_special + len(self.recipe.special_tokens)

    @property
    def vocabulary(self) -> Int64s:
        """Return the tokens that are in use after the last step, but for the special ones."""
        used = np.ones(self.first_special, bool)
        used[len(self.alphabet) - self._waiting_at_first : len(self.alphabet)] = False
        used[self.ids] = self.columns.right != NOTHING
        return np.flatnonzero(used)

    @property
    def vocabulary_size(self) -> int:
        return self.vocabulary_size_at(len(self))

    def vocabulary_size_at(self, steps: int) -> int:
        """Return the vocabulary's size after so many steps, special tokens included."""
        return int(self._sizes[min(steps, len(self))])

    def vocabulary_sizes(self) -> Int64s:
        return self._sizes

    def step_of_size(self, size: int) -> int:
        """Return the last step after which the number of tokens was `size`, or as near to it as it ever was."""
        if self.only_joins:  # which is asked for many sizes
            return min(max(0, size - self.vocabulary_size_at(0)), len(self))
        return len(self) - int(np.argmin(np.abs(self._sizes - size)[::-1]))

    @cached_property
    def _sizes(self) -> Int64s:
        changes = np.where(self.columns.right == NOTHING, -1, 1)
        if TOKEN in self.reasons:  # what is joined anew is no more than before, unless it was dropped
            changes[self._joined_anew] = 0
        at_first = len(self.alphabet) - self._waiting_at_first + len(self.recipe.special_tokens)
        return np.cumsum(np.concatenate([np.array([at_first]), changes]))

    @cached_property
    def _joined_anew(self) -> list[int]:
        """Return the steps that joined to a token that was in use."""
        in_use, found = set[int](), list[int]()
        for row, (id, right) in enumerate(zip(self.ids.tolist(), self.columns.right.tolist(), strict=True)):
            if right == NOTHING:
                in_use.discard(id)
            elif id in in_use:
                found.append(row)
            else:
                in_use.add(id)
        return found

    def pair(self, row: int) -> Pair:
        return int(self.columns.left[row]), int(self.columns.right[row])

    def pairs(self, first: int = 0, stop: int | None = None) -> list[Pair]:
        """Return the pair that each token was joined from, or only those of the joins from `first` to `stop`."""
        which = self._joins[first:stop]
        return list(zip(self.columns.left[which].tolist(), self.columns.right[which].tolist(), strict=True))

    def row_of(self, token: int) -> int | None:
        """Return the index of the step that joined or added a token; None if it is older, or does not exist yet."""
        place = token - len(self.alphabet)
        if place < 0:
            return self._row_of_single(token, ADDED)
        return int(self._joins[place]) if place < len(self._joins) else None

    def row_of_drop(self, token: int) -> int | None:
        """Return the index of the step that dropped a token; None for one that is still there."""
        return self._row_of_single(token, NOTHING)

    def _row_of_single(self, token: int, right: int) -> int | None:
        found = np.flatnonzero((self.columns.left == token) & (self.columns.right == right))
        return int(found[0]) if len(found) else None

    def parts(self, token: int) -> Pair | None:
        """Return the two tokens one was joined from; None for what was not joined."""
        row = self.row_of(token) if token >= len(self.alphabet) else None
        return None if row is None else self.pair(row)

    def children(self, token: int) -> list[int]:
        """Return the tokens that one is a half of."""
        halves = (self.columns.left == token) | (self.columns.right == token)
        return [child for child in self.ids[halves].tolist() if child != token]

    def symbols_of(self, token: int) -> list[int]:
        found, waiting = [], [token]
        while waiting:
            parts = self.parts(waiting[-1])
            if parts is None:
                found.append(waiting.pop())
                if len(found) > MOST_SYMBOLS:
                    raise TooLarge(
                        f"Token {token:,} holds more than {MOST_SYMBOLS:,} base symbols, too many to look at."
                    )
            else:
                waiting[-1:] = reversed(parts)
        return found

    def token_lengths(self, of_symbols: Sequence[int] | None = None) -> Int64s:
        """Return the length of each token, given those of the base symbols; without them, count base symbols."""
        first = [1] * len(self.alphabet) if of_symbols is None else of_symbols
        return joined_lengths(first, self.columns.left[self._joins], self.columns.right[self._joins])

    def ranks(self) -> dict[Pair, int]:
        """Return the index of the step that joins a pair; where a table lists one twice, of the first."""
        return dict(zip(reversed(self.pairs()), reversed(self._joining_rows), strict=True))

    @cached_property
    def _joining_rows(self) -> list[int]:
        rows: list[int] = self._joins.tolist()
        return rows

    def row_joining(self, pair: Pair, block_of: int) -> int | None:
        """Return the index of the step that joins a pair, in the block of that step if blocks have their own."""
        return self._row_joining.get((self._blocks[block_of], pair))

    def last_step_beside(self, token: int, at: int) -> int:
        """Return after how many steps, at most `at`, the token's block of steps is complete."""
        row = self.row_of(token)
        if row is None or "block" not in self.reasons:
            return at
        return min(at, int(np.searchsorted(self.reasons["block"], self.reasons["block"][row], side="right")))

    @cached_property
    def _blocks(self) -> Sequence[int]:
        """Return the block of each step; all are 0 if blocks are not known."""
        blocks: list[int] = self.reasons["block"].tolist() if "block" in self.reasons else [0] * len(self)
        return blocks

    @cached_property
    def _row_joining(self) -> dict[tuple[int, Pair], int]:
        """Map each block and pair to the row that joins it; of duplicates the first."""
        rows = self._joining_rows
        keys = zip((self._blocks[row] for row in reversed(rows)), reversed(self.pairs()), strict=True)
        return dict(zip(keys, reversed(rows), strict=True))

    # --- What it says of the corpus ----------------------------------------------------------

    @property
    def has_counts(self) -> bool:
        """Return whether counts are known; an imported table has none until it is counted on a corpus."""
        return len(self) == 0 or int(self.columns.count[0]) != NOTHING

    @cached_property
    def tied(self) -> Bools:
        """Return which steps the tie rule decided: the runner-up was as good, which mostly means as frequent."""
        columns, values = self.columns, self.reasons.get(TIED)
        as_frequent = (columns.count == columns.runner_up_count) & (columns.runner_up_left != NOTHING)
        tied: Bools = as_frequent if values is None else values.astype(bool)
        tied[self.forced] = False
        return tied

    @cached_property
    def forced(self) -> list[int]:
        """Return the indices of the steps that a person forced, whatever else was as good."""
        return [step - 1 for step in sorted(forced_at(self.recipe.interventions)) if step <= len(self)]

    @cached_property
    def tokens_after(self) -> Int64s:
        """Return how many tokens the corpus had after 0, 1, 2 ... steps."""
        return np.concatenate([np.array([self.tokens_at_start]), self.columns.tokens_left])

    @cached_property
    def compression(self) -> Float64s:
        """Return how many base symbols a token represented on average after 0, 1, 2 ... steps."""
        return self.tokens_at_start / np.maximum(self.tokens_after, 1)

    def compression_of(self, symbols: int) -> Float64s:
        """Return the compression for a given count of symbols, if the first tokens were larger than a symbol."""
        return symbols / np.maximum(self.tokens_after, 1)

    @property
    def tokens_saved(self) -> Int64s:
        """Return by how many tokens each step shortened the corpus; each joined pair is one token less."""
        return -np.diff(self.tokens_after)

    def token_counts(self, symbol_counts: Int64s, joined: Int64s | None = None) -> Int64s:
        """Return how often each token occurs at the end, if steps only join; `joined` replaces the learned counts."""
        joined = self.tokens_saved if joined is None else joined
        counts = np.concatenate([symbol_counts, joined])
        for half in (self.columns.left, self.columns.right):
            np.subtract.at(counts, half, joined)
        return counts


def unpickled(data: bytes) -> History:
    """Make a history of what `packed` wrote."""
    from bpe_core.history.packed import unpacked

    return History(**unpacked(data))
