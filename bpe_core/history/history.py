"""The history of a run: its steps, stored in columns. New steps are only added at the end of the columns.

A step joins two tokens into a new token, drops a token, or adds a token. In byte-pair encoding every step joins.

A history identifies each token by its index, which is the engine's own number. The alphabet has the first indices,
beginning with 0. Each joined token takes the next index, and the special tokens come last. Dropping or adding a token
changes no index. If a method adds tokens, these tokens are seeds of the alphabet. A seed has an index from the
beginning, but it belongs to the vocabulary only after the step that adds it. `numbers` holds the ids that tokens have
in a file. A `Study` uses only these ids.

A `History` is a view of the first `len(history)` steps. The trainer appends steps after them. A view never changes, so
any thread may read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, overload

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
from bpe_core.support.arrays import Float64s, UInt32s, UInt64s
from bpe_core.support.former_names import former_attributes
from bpe_core.support.wording import as_call

Pair = tuple[int, int]
Reasons = Mapping[str, npt.NDArray[Any]]  # the columns of the reasons by name, one row a step
T = TypeVar("T")

NO_NUMBER = -1  # marks a token without a number in the file
FEW_WORDS = 20  # whose searches in the columns take as long as making the dictionary of 100,000 pairs
AT_ONCE = 4_096  # steps that are read at once
MOST_SYMBOLS = 2**17  # the most symbols of a token to read; tokens of texts have far fewer
COUNT_ALONE: Reasons = MappingProxyType({})  # the reasons of a method that chooses only by the count
TOKEN = "made"  # the reason of a method that may make a token again: the token that each step made or dropped
TIED = "tied"  # the reason of a method that does not choose by counts alone: whether the runner-up was as good

EndReason = Literal["", "vocabulary full", "too rare", "no pairs", "nothing pays", "stopped"]

END_SENTENCES: dict[EndReason, str] = {
    "": "Training has not ended.",
    "vocabulary full": "The vocabulary has the requested size.",
    "too rare": "No pair reaches the minimum count any more.",
    "no pairs": "No two neighbouring symbols are left to merge.",
    "nothing pays": "No pair in any block occurs often enough to save space, or no byte is free to replace a pair.",
    "stopped": "Training was stopped.",
}


class Step(NamedTuple):
    """A step of a run: a merge of two tokens, a drop of a token, or an added token.

    A merge joins the pair of `left` and `right` into the token `index`. The runner-up is the best other
    pair.

    Tokens are identified by their indices in the history. `bpe.steps` lists the same steps with the ids of the
    tokenizer file.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> first = bpe.train("low lower lowest, new newer newest", "gpt2", merges=2).history[0]
    >>> first.step, first.count, first.tied
    (1, 4, False)
    """

    step: int  # 1 for the first
    left: int
    right: int  # NOTHING if the left token is dropped, ADDED if it is added
    index: int  # type: ignore[assignment]  # hides tuple.index, as the next name hides tuple.count
    # The count in the corpus before the step; NOTHING if it is not known.
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody needs here
    tied: bool  # whether another choice was as good, so that the tie rule decided
    runner_up: tuple[int, int] | None  # the next best choice
    runner_up_count: int
    tokens_left: int  # tokens in the corpus after this step
    reasons: Mapping[str, Any] = COUNT_ALONE  # the reasons besides the count

    if not TYPE_CHECKING:  # type: ignore[misc]  # fields alone are foreseen
        __getattr__ = former_attributes(id="index")


class History(Sequence[Step]):
    """The steps of a run in order, with its alphabet and recipe. Tokens are identified by their indices.

    Parameters
    ----------
    recipe
        The recipe of the training.
    alphabet
        The base symbols before the first step.
    columns
        The pairs, counts and runners-up of the steps, one array for each.
    reasons
        Values by which the steps were chosen, in addition to the counts. Most methods need only the counts.
    scores
        The log-probabilities of the tokens, for methods that have them.
    joining
        The merge priorities, if texts are not split in the order of the steps.
    tokens_at_start
        The number of base symbols in the corpus before the first step.
    end_reason
        Why the training ended.
    numbers
        The ids of the file, one for each index, if they differ from the indices.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> history = bpe.train("low lower lowest, new newer newest", "gpt2", merges=2).history
    >>> len(history), history.vocabulary_size, [step.count for step in history]
    (2, 258, [4, 3])
    """

    if not TYPE_CHECKING:
        __getattr__ = former_attributes(ids="indices", id_count="index_count", ids_of="indices_of")

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
        # Sorted, as sessions read them: so files written before and after saving a session are the same.
        self.reasons = MappingProxyType({name: frozen(reasons[name][: len(self)]) for name in sorted(reasons)})
        self.scores = scores and replace(scores, waiting=self._seeds_to_add)  # of the tokens, if the method has any
        self.joining = joining  # how texts are cut, if the steps alone do not say it
        self.tokens_at_start = tokens_at_start
        self.end_reason: EndReason = end_reason
        self.numbers = numbers  # the file's id of each index, if the file numbers differently
        self._searched_words = 0
        self.texts_by_number: LaidTexts | None = None  # the texts of such a file, if it writes tokens alike

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what `pickle` stores: the history as bytes, and the function that reads them. Cached results are left
        out.
        """
        from bpe_core.history.packed import packed

        return unpickled, (packed(self),)

    def __repr__(self) -> str:
        recipe = self.recipe
        size = self.vocabulary_size
        return as_call("History", method=recipe.method, recipe=recipe.name, vocab_size=size, steps=len(self))

    def __copy__(self) -> History:
        copied = object.__new__(History)
        vars(copied).update(vars(self))
        return copied

    @classmethod
    def from_pairs(
        cls,
        recipe: Recipe,
        alphabet: Alphabet,
        pairs: Sequence[Pair] | Int64s,
        joining: MergePriorities | None = None,
        *,
        scores: Scores | None = None,
        numbers: Int64s | None = None,
    ) -> History:
        """Return a history of merges without counts, such as the history of an imported vocabulary. The list of merges
        may be empty.
        """
        if not isinstance(pairs, np.ndarray):
            pairs = np.fromiter(chain.from_iterable(pairs), np.int64, 2 * len(pairs)).reshape(-1, 2)
        left, right = np.ascontiguousarray(pairs.T, np.int32)
        unknown = np.full(len(pairs), NOTHING, np.int32)
        unknown_count = np.full(len(pairs), NOTHING, np.int64)
        columns = Columns(left, right, unknown_count, unknown, unknown, unknown_count, unknown_count)
        for column in columns:
            column.flags.writeable = False
        return cls(recipe, alphabet, columns, joining=joining, scores=scores, numbers=numbers)

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
        """Yield the steps of the rows from `start` to `stop`.

        The method reads whole columns, because this is faster than reading row by row.
        """
        values = [column[start:stop].tolist() for column in (*self.columns, self.indices, self.tied)]
        reasons = {name: column[start:stop].tolist() for name, column in self.reasons.items()}
        for place, row in enumerate(zip(*values, strict=True)):
            left, right, count, other_left, other_right, other_count, tokens_left, index, tied = row
            has_other = other_left != NOTHING
            yield Step(
                step=start + place + 1,
                left=left,
                right=right,
                index=index,
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
        """Return the same history with new ids, such as those of a tokenizer file.

        `numbers` holds the id of each token in the order of indices. If it is None, the ids are the indices. `texts`
        holds the texts of the file's tokens in the order of ids.
        """
        history = copy(self)
        history.numbers = numbers
        history.texts_by_number = texts
        for name in ("_indices_by_number", "file_ids", "unknown_twin"):  # cached results of the former numbers
            vars(history).pop(name, None)
        return history

    def numbers_of(self, indices: npt.ArrayLike) -> Int64s:
        """Convert token indices to the ids of the file."""
        rows = np.asarray(indices, np.int64)
        return rows if self.numbers is None else self.numbers[rows]

    @cached_property
    def file_ids(self) -> UInt32s | UInt64s | None:
        """Return the id in the file for each token index, as unsigned integers of 32 or 64 bits.

        They have 64 bits only if an id is too large for 32 bits. The largest integer marks an index without an id.
        Return None if the ids are the indices.
        """
        numbers = self.numbers
        if numbers is None:
            return None
        are_small = numbers.max(initial=0) < 2**32 - 1
        return numbers.astype(np.uint32) if are_small else numbers.astype(np.uint64)

    @cached_property
    def unknown_twin(self) -> int | None:
        """Return the index of a base symbol with the same text and the same id as the unknown token.

        Such a symbol has the same meaning as the unknown token. Return None if there is no such symbol.
        """
        alphabet = self.alphabet
        numbers = self.numbers
        unknown = alphabet.unknown_id
        if unknown is None or numbers is None:
            return None
        others = np.flatnonzero(numbers[: len(alphabet)] == numbers[unknown]).tolist()
        others.remove(unknown)
        return next((id for id in others if alphabet.texts[id] == alphabet.texts[unknown]), None)

    def indices_of(self, numbers: Iterable[int]) -> list[int]:
        """Convert ids of the file to token indices. Raise FormatError for an id that no token has."""
        if self.numbers is None:
            return list(numbers)
        wanted = list(numbers)
        try:
            return list(map(self._indices_by_number.__getitem__, wanted))
        except KeyError as missing:
            raise FormatError(f"The file has no token with the id {missing.args[0]}.") from None

    @cached_property
    def _indices_by_number(self) -> dict[int, int]:
        """Return a map from ids of the file to token indices.

        If several tokens share an id, the map has the last special token among them. If none is special, it has the
        first token.
        """
        pairs = [] if self.numbers is None else list(zip(self.numbers.tolist(), range(self.index_count), strict=True))
        in_order = [*reversed(pairs[: self.first_special]), *pairs[self.first_special :]]
        return {number: index for number, index in in_order if number >= 0}

    # --- Its tokens and their indices: the alphabet, what was joined, the special tokens ----------

    @cached_property
    def _joins(self) -> Int64s:
        """Return the rows of the merges that made a new token, and not a token that an earlier merge had made."""
        joins = np.flatnonzero(self.columns.right >= 0)
        if TOKEN not in self.reasons:
            return joins
        tokens = self.reasons[TOKEN][joins]
        newest = np.maximum.accumulate(np.append(np.int64(len(self.alphabet) - 1), tokens))
        return joins[tokens > newest[:-1]]

    @property
    def only_joins(self) -> bool:
        """Return whether no step drops or adds a token."""
        return len(self._joins) == len(self) and not self._seeds_to_add

    @cached_property
    def _seeds_to_add(self) -> int:
        """Return the number of seeds that are outside the vocabulary until a step adds them."""
        return self.alphabet.seed_count if METHODS[self.recipe.method].single == "add" else 0

    @cached_property
    def indices(self) -> Int64s:
        """Return the index of the token that each step made, dropped or added."""
        if TOKEN in self.reasons:
            return self.reasons[TOKEN].astype(np.int64)
        ids = self.columns.left.astype(np.int64)
        ids[self._joins] = np.arange(len(self.alphabet), self.first_special)
        return ids

    def of_steps(self, of_tokens: Sequence[T], start: int = 0) -> Sequence[T]:
        """Return a value for each step: that of the token that the step made, dropped or added.

        `of_tokens` holds a value for each token. The steps before row `start` are left out.
        """
        if self.only_joins:
            return of_tokens[len(self.alphabet) + start : self.first_special]
        return [of_tokens[id] for id in self.indices[start:].tolist()]

    @property
    def ids_looked_for(self) -> dict[str, int]:
        """Return a dictionary from texts to indices, for the tokens that are searched for in a text.

        Special tokens are among them.
        """
        ids = [*range(self.first_special, self.index_count), self.alphabet.unknown_id]
        indices_of_tokens = zip(self.recipe.tokens_looked_for, ids, strict=False)
        return {token: id for token, id in indices_of_tokens if id is not None}

    @property
    def first_special(self) -> int:
        """Return the index of the first special token, which is the first index after the joined tokens."""
        return len(self.alphabet) + len(self._joins)

    @property
    def index_count(self) -> int:
        """Return the number of indices. Dropped tokens also have indices."""
        return self.first_special + len(self.recipe.special_tokens)

    @property
    def vocabulary(self) -> Int64s:
        """Return the indices of the tokens in use after the last step, without the special tokens."""
        used = np.ones(self.first_special, bool)
        used[len(self.alphabet) - self._seeds_to_add : len(self.alphabet)] = False
        used[self.indices] = self.columns.right != NOTHING
        return np.flatnonzero(used)

    @property
    def vocabulary_size(self) -> int:
        return self.vocabulary_size_at(len(self))

    def vocabulary_size_at(self, steps: int) -> int:
        """Return the size of the vocabulary after a number of steps. The size includes special tokens."""
        return int(self._sizes[min(steps, len(self))])

    def vocabulary_sizes(self) -> Int64s:
        return self._sizes

    def step_of_size(self, size: int) -> int:
        """Return the number of steps after which the vocabulary has `size` tokens. If the vocabulary never has this
        size, use the nearest size.

        If the vocabulary has this size several times, return the largest number of steps.
        """
        if self.only_joins:  # a shortcut, as this is called for many sizes
            return min(max(0, size - self.vocabulary_size_at(0)), len(self))
        return len(self) - int(np.argmin(np.abs(self._sizes - size)[::-1]))

    @cached_property
    def _sizes(self) -> Int64s:
        changes = np.where(self.columns.right == NOTHING, -1, 1)
        if TOKEN in self.reasons:  # a token that is made again adds nothing, unless it was dropped before
            changes[self._joined_again] = 0
        at_first = len(self.alphabet) - self._seeds_to_add + len(self.recipe.special_tokens)
        return np.cumsum(np.concatenate([np.array([at_first]), changes]))

    @cached_property
    def _joined_again(self) -> list[int]:
        """Return the rows of the steps that joined a pair into a token which was already in the vocabulary."""
        in_use = set[int]()
        joined_anew = list[int]()
        for row, (id, right) in enumerate(zip(self.indices.tolist(), self.columns.right.tolist(), strict=True)):
            if right == NOTHING:
                in_use.discard(id)
            elif id in in_use:
                joined_anew.append(row)
            else:
                in_use.add(id)
        return joined_anew

    def pair(self, row: int) -> Pair:
        return int(self.columns.left[row]), int(self.columns.right[row])

    def pairs(self, first: int = 0, stop: int | None = None) -> list[Pair]:
        """Return the joined pairs from number `first` up to number `stop`. By default, return all joined pairs."""
        which = self._joins[first:stop]
        return list(zip(self.columns.left[which].tolist(), self.columns.right[which].tolist(), strict=True))

    def row_of(self, token: int) -> int | None:
        """Return the row of the step that joined or added a token. Return None if no step did."""
        place = token - len(self.alphabet)
        if place < 0:
            return self._row_of_single(token, ADDED)
        return int(self._joins[place]) if place < len(self._joins) else None

    def row_of_drop(self, token: int) -> int | None:
        """Return the row of the step that dropped a token. Return None if no step did."""
        return self._row_of_single(token, NOTHING)

    def _row_of_single(self, token: int, right: int) -> int | None:
        rows = np.flatnonzero((self.columns.left == token) & (self.columns.right == right))
        return int(rows[0]) if len(rows) else None

    def parts(self, token: int) -> Pair | None:
        """Return the two tokens that were joined into this token. Return None if no step joined them."""
        row = self.row_of(token) if token >= len(self.alphabet) else None
        return None if row is None else self.pair(row)

    def children(self, token: int) -> list[int]:
        """Return the tokens that a step made by joining this token to another token or to itself."""
        halves = (self.columns.left == token) | (self.columns.right == token)
        return [child for child in self.indices[halves].tolist() if child != token]

    def symbols_of(self, token: int) -> list[int]:
        symbols = []
        waiting = [token]
        while waiting:
            parts = self.parts(waiting[-1])
            if parts is None:
                symbols.append(waiting.pop())
                if len(symbols) > MOST_SYMBOLS:
                    raise TooLarge(f"Token {token:,} holds more than {MOST_SYMBOLS:,} base symbols, too many to show.")
            else:
                waiting[-1:] = reversed(parts)
        return symbols

    def token_lengths(self, of_symbols: Sequence[int] | None = None) -> Int64s:
        """Return the length of each token: the sum of the lengths of its base symbols, by default 1 each.

        `of_symbols` holds the length of each base symbol.
        """
        first = [1] * len(self.alphabet) if of_symbols is None else of_symbols
        return joined_lengths(first, self.columns.left[self._joins], self.columns.right[self._joins])

    def ranks(self) -> dict[Pair, int]:
        """Return a dictionary from each joined pair to the row of the step that joined it. If several steps joined the
        pair, the first of them counts.
        """
        return self._ranks

    def ranks_within(self, symbols: Sequence[int]) -> dict[Pair, int]:
        """Return a dictionary like `ranks` that has at least the pairs that can occur in a word of these symbols.

        The first calls search only for these pairs, which is faster than making the dictionary of all pairs. Later
        calls return the dictionary of all pairs.
        """
        if "_ranks" in self.__dict__ or self._searched_words == FEW_WORDS:
            return self._ranks
        self._searched_words += 1
        left = self.columns.left[self._joins].astype(np.intp)  # otherwise NumPy converts the indices in each round
        right = self.columns.right[self._joins]
        base = len(self.alphabet)
        can_occur = np.zeros(base + len(left), np.bool_)
        can_occur[symbols] = True
        found, places = -1, np.zeros(0, np.int64)
        while found < len(places):
            found = len(places)
            places = np.flatnonzero(can_occur[left])
            places = places[can_occur[right[places]]]
            can_occur[base + places] = True
        newest_first = places[::-1]
        pairs = zip(left[newest_first].tolist(), right[newest_first].tolist(), strict=True)
        return dict(zip(pairs, self._joins[newest_first].tolist(), strict=True))

    @cached_property
    def _ranks(self) -> dict[Pair, int]:
        return dict(zip(reversed(self.pairs()), reversed(self._joining_rows), strict=True))

    @cached_property
    def _joining_rows(self) -> list[int]:
        rows: list[int] = self._joins.tolist()
        return rows

    def row_joining(self, pair: Pair, block_of: int) -> int | None:
        """Return the row of the step that joins a pair in one block of the corpus, or None if there is no such step.

        The block is the one to which the step in row `block_of` belongs.
        """
        return self._row_joining.get((self._blocks[block_of], pair))

    def last_step_beside(self, token: int, at: int) -> int:
        """Return the last step up to `at` that belongs to the same block of the corpus as the step that made `token`.

        If the history has no blocks, return `at`.
        """
        row = self.row_of(token)
        if row is None or "block" not in self.reasons:
            return at
        return min(at, int(np.searchsorted(self.reasons["block"], self.reasons["block"][row], side="right")))

    @cached_property
    def _blocks(self) -> Sequence[int]:
        """Return the number of the block that each step belongs to.

        Some methods divide the corpus into blocks and learn separately in each block. Without blocks,
        all numbers are 0.
        """
        blocks: list[int] = self.reasons["block"].tolist() if "block" in self.reasons else [0] * len(self)
        return blocks

    @cached_property
    def _row_joining(self) -> dict[tuple[int, Pair], int]:
        """Return a dictionary from `(block, pair)` to the row of the step that joins the pair in the block.

        If several steps of a block join the pair, the first of them counts.
        """
        rows = self._joining_rows
        keys = zip((self._blocks[row] for row in reversed(rows)), reversed(self.pairs()), strict=True)
        return dict(zip(keys, reversed(rows), strict=True))

    # --- The corpus --------------------------------------------------------------------------

    @property
    def has_counts(self) -> bool:
        """Return whether the counts of the steps are known.

        An imported vocabulary has no counts until a corpus is counted.
        """
        return len(self) == 0 or int(self.columns.count[0]) != NOTHING

    @cached_property
    def tied(self) -> Bools:
        """Return a mask of the steps at which the tie rule chose between two equally good pairs.

        In most methods two pairs are equally good if they are equally frequent.
        """
        columns = self.columns
        values = self.reasons.get(TIED)
        as_frequent = (columns.count == columns.runner_up_count) & (columns.runner_up_left != NOTHING)
        tied: Bools = as_frequent if values is None else values.astype(bool)
        tied[self.forced] = False
        return tied

    @cached_property
    def forced(self) -> list[int]:
        """Return the rows of the steps that a user forced."""
        return [step - 1 for step in sorted(forced_at(self.recipe.interventions)) if step <= len(self)]

    @cached_property
    def tokens_after(self) -> Int64s:
        """Return the number of tokens in the corpus after 0, 1, 2 ... steps."""
        return np.concatenate([np.array([self.tokens_at_start]), self.columns.tokens_left])

    @cached_property
    def compression(self) -> Float64s:
        """Return the average number of base symbols in a token after 0, 1, 2 ... steps."""
        return self.tokens_at_start / np.maximum(self.tokens_after, 1)

    def compression_of(self, symbols: int) -> Float64s:
        """Return the number of base symbols divided by the number of tokens after 0, 1, 2 ... steps.

        `symbols` is the number of base symbols in the corpus. This method is needed if a run begins with tokens of
        several base symbols, because `compression` would count each of these tokens as one symbol.
        """
        return symbols / np.maximum(self.tokens_after, 1)

    @property
    def tokens_saved(self) -> Int64s:
        """Return the number of tokens that each step saved in the corpus."""
        return -np.diff(self.tokens_after)

    def token_counts(self, symbol_counts: Int64s, joined: Int64s | None = None) -> Int64s:
        """Return the count of each token after the last step. All steps must join pairs.

        `symbol_counts` are the counts of the base symbols before the first step. `joined` says how many tokens each
        step makes. It is needed only if the history does not contain these numbers.
        """
        joined = self.tokens_saved if joined is None else joined
        counts = np.concatenate([symbol_counts, joined])
        for half in (self.columns.left, self.columns.right):
            np.subtract.at(counts, half, joined)
        return counts


def unpickled(data: bytes) -> History:
    """Return the history that the function `packed` wrote as these bytes."""
    from bpe_core.history.packed import unpacked

    return History(**unpacked(data))
