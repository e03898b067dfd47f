"""From what a file says back to a history, believing nothing before it is checked.

Every reader of a file builds its history here, so that each impossible merge is refused in
the same words and no file, however hostile, gets further than this.
"""

from __future__ import annotations

import textwrap
from array import array
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, get_args

import numpy as np

from bpe_core.errors import FormatError, RecipeError
from bpe_core.formats.base import NO_NUMBER
from bpe_core.formats.reasons_and_scores import Number, as_reasons, scores_from
from bpe_core.formats.rows import MergeRows
from bpe_core.history.alphabet import Alphabet, Symbol, SymbolKind, unknown_symbols
from bpe_core.history.columns import joined_lengths
from bpe_core.history.history import NOTHING, TIED, Bools, Columns, EndReason, History, Int64s, Step
from bpe_core.learning.methods import Method
from bpe_core.recipes.interventions import forced_at
from bpe_core.recipes.recipe import LARGEST_VOCABULARY, Recipe


def are_sound(columns: Sequence[Int64s], alphabet: Alphabet, method: Method, longest: int) -> bool:
    """Whether each step can follow those before; columns are those of a history, tokens have at most so many bytes."""
    left, right, *others = columns
    drops: Bools = (right == NOTHING) & method.drops
    right = np.where(drops, left, right)
    there = len(alphabet) + np.arange(len(left)) - (np.cumsum(drops) - drops)  # tokens before each step
    numbers = np.stack([others[0], others[3], others[4]])
    return (
        len(left) <= LARGEST_VOCABULARY
        and all(bool(((half >= 0) & (half < there)).all()) for half in (left, right))
        and bool((numbers >= NOTHING).all())
        and _have_merging_symbols(left, right, alphabet)
        and _are_left(left, right, drops, there)
        and (method.starts_anew or _are_joined_once(left[~drops], right[~drops]))
        and _have_runners_up(others[1], others[2], others[3], there, method.drops)
        and _fit(left[~drops], right[~drops], alphabet, longest)
    )


def _have_merging_symbols(left: Int64s, right: Int64s, alphabet: Alphabet) -> bool:
    never = [id for id, symbol in enumerate(alphabet.symbols) if not symbol.merges]
    return not (np.isin(left, never).any() or np.isin(right, never).any()) if never else True


def _are_left(left: Int64s, right: Int64s, drops: Bools, there: Int64s) -> bool:
    """Whether no step takes a token that one before dropped."""
    if not drops.any():
        return True
    rows = np.flatnonzero(drops)
    dropped_at = np.full(int(there[-1]) + 1, len(left))
    np.minimum.at(dropped_at, left[rows], rows)
    at = np.arange(len(left))
    return bool(((dropped_at[left] >= at) & (dropped_at[right] >= at)).all())


def _are_joined_once(left: Int64s, right: Int64s) -> bool:
    pairs = np.sort((left << 32) | right)
    return not (pairs[1:] == pairs[:-1]).any()


def _have_runners_up(left: Int64s, right: Int64s, count: Int64s, there: Int64s, drops: bool) -> bool:
    told = (left != NOTHING) | (right != NOTHING)
    right = np.where(right == NOTHING, left, right) if drops else right
    known = (left >= 0) & (left < there) & (right >= 0) & (right < there) & (count != NOTHING)
    return bool((known | ~told).all())


def _fit(left: Int64s, right: Int64s, alphabet: Alphabet, longest: int) -> bool:
    """Whether any two tokens together would not be too long, which is more than is asked."""
    return 2 * int(joined_lengths([len(text) for text in alphabet.decoded], left, right).max(initial=0)) <= longest


LARGEST_NUMBER = 2**31 - 1  # of a token
_SYMBOL_KINDS = frozenset(get_args(SymbolKind))

NO_REASONS: Mapping[str, Any] = MappingProxyType({})
LARGEST_COUNT = 2**63 - 1
LONGEST_REASON = 400  # characters; it may quote what is wrong
LONGEST_TOKEN = 2**31 - 1  # bytes; a few dozen hostile merges could double their way past any memory


class HistoryBuilder:
    """Takes one step after the other and refuses those that cannot be; `kinds` are those of its reasons."""

    def __init__(
        self,
        recipe: Recipe,
        alphabet: Alphabet,
        *,
        tokens_at_start: int,
        end_reason: EndReason,
        kinds: Mapping[str, str] = NO_REASONS,
    ) -> None:
        self.recipe = recipe
        self.alphabet = alphabet
        self.tokens_at_start = tokens_at_start
        self.end_reason = end_reason
        self.kinds = kinds
        self._method = Method.of(recipe)
        self._forced = forced_at(recipe.interventions)
        self._values = [array("q") for _ in Columns._fields]  # a column each
        self._reasons: dict[str, list[Number]] = {name: [] for name in kinds}
        self._seen: dict[tuple[int, int], int] = {}
        self._dropped: set[int] = set()
        self._steps = 0

    @cached_property
    def rows(self) -> MergeRows:
        """For whoever adds one step after the other."""
        return MergeRows(self.alphabet)

    def add(
        self,
        left: int,
        right: int,
        *,
        count: int = NOTHING,
        runner_up: tuple[int, int] = (NOTHING, NOTHING),
        runner_up_count: int = NOTHING,
        tokens_left: int = NOTHING,
        reasons: Mapping[str, Number] = NO_REASONS,
        where: str,
    ) -> Step:
        """Append a step; `where` begins the sentence if it cannot be."""
        drops = right == NOTHING and self._method.drops
        self._check_pair(left, left if drops else right, where, repeats=drops or self._method.starts_anew)
        numbers = (count, runner_up_count, tokens_left)
        if any(not NOTHING <= number <= LARGEST_COUNT for number in numbers):
            raise FormatError(f"{where}: a count is negative or larger than any corpus could give.")
        if runner_up != (NOTHING, NOTHING):
            self._check_runner_up(runner_up, runner_up_count, where)
        for values, value in zip(self._values, (left, right, count, *runner_up, *numbers[1:]), strict=True):
            values.append(value)
        for name, column in self._reasons.items():
            column.append(reasons[name])
        self._steps += 1
        self._seen.setdefault((left, right), self._steps)
        self._dropped |= {left} if drops else set()
        self.rows.add([(left, right)])
        return Step(
            step=self._steps,
            left=left,
            right=right,
            id=left if drops else self._next_id - 1,
            count=count,
            tied=self._steps not in self._forced
            and bool(reasons.get(TIED, runner_up[0] != NOTHING and runner_up_count == count)),
            runner_up=runner_up if runner_up[0] != NOTHING else None,
            runner_up_count=runner_up_count if runner_up[0] != NOTHING else 0,
            tokens_left=tokens_left,
            reasons=dict(reasons),
        )

    def add_at_once(self, columns: Sequence[Int64s], reasons: Mapping[str, list[Number]]) -> bool:
        """Append all the steps there are, given as the columns of a history; False, and none, if one may be wrong."""
        if not are_sound(columns, self.alphabet, self._method, LONGEST_TOKEN):
            return False
        self._values = [array("q", column.tobytes()) for column in columns]
        self._reasons = dict(reasons)
        self._steps = len(columns[0])
        if self.recipe.interventions:
            pairs = zip(columns[0].tolist(), columns[1].tolist(), strict=True)
            for step, pair in enumerate(pairs, start=1):
                self._seen.setdefault(pair, step)
        return True

    @property
    def _next_id(self) -> int:
        """Behind all tokens there are: each step that drops none makes one."""
        return len(self.alphabet) + self._steps - len(self._dropped)

    def _check_pair(self, left: int, right: int, where: str, *, repeats: bool) -> None:
        if NOTHING in (left, right):
            raise FormatError(f"{where}: it does not say which two tokens it joins.")
        for id in (left, right):
            if not 0 <= id < self._next_id:
                raise FormatError(
                    f"{where}: it joins the token {id}, which does not exist yet; before it there are "
                    f"the ids 0 to {self._next_id - 1:,}."
                )
            if id < len(self.alphabet) and not self.alphabet.symbols[id].merges:
                raise FormatError(f"{where}: it joins the token {id}, which stands for the unknown and never merges.")
            if id in self._dropped:
                raise FormatError(f"{where}: it takes the token {id:,}, which was dropped before.")
        if (left, right) in self._seen and not repeats:
            raise FormatError(f"{where}: it joins the same pair as merge {self._seen[left, right]:,}.")
        lengths = self.rows.decoded.lengths
        if lengths[left] + lengths[right] > LONGEST_TOKEN:
            raise FormatError(f"{where}: its token would be longer than {LONGEST_TOKEN:,} bytes.")
        if self._steps >= LARGEST_VOCABULARY:
            raise FormatError(f"{where}: there are more than {LARGEST_VOCABULARY:,} merges.")

    def _check_runner_up(self, pair: tuple[int, int], runner_up_count: int, where: str) -> None:
        left, right = pair
        if self._method.drops and right == NOTHING:
            right = left
        if not all(0 <= id < self._next_id for id in (left, right)):
            raise FormatError(f"{where}: its runner-up {pair[0]} + {pair[1]} names a token that does not exist yet.")
        if runner_up_count == NOTHING:  # it may be larger than the winner's: merges from elsewhere, counted here
            raise FormatError(f"{where}: its runner-up must have a count.")

    def finish(self, since: object = None, scores: Sequence[object] = (), where: str = "") -> History:
        """The whole; `since` and `scores` are those of its tokens, if it has any."""
        columns = Columns.with_room(self._steps)
        for name, values in zip(Columns._fields, self._values, strict=True):
            getattr(columns, name)[:] = np.array(values, np.int64)
        columns = columns.first(self._steps)
        history = History(
            self.recipe,
            self.alphabet,
            columns,
            reasons=as_reasons(self.kinds, self._reasons),
            scores=scores_from(since, scores, columns, where),
            tokens_at_start=self.tokens_at_start,
            end_reason=self.end_reason,
        )
        if wrong := self._method.what_is_wrong(history) or self._undecided():
            raise FormatError(f"{where}: {wrong}.")
        return history

    def _undecided(self) -> str:
        """Which decision of the recipe its steps do not follow; nothing where they do."""
        for one in self.recipe.interventions:
            joined_at = self._seen.get(one.pair, 0)
            if one.act == "force" and joined_at != one.step <= self._steps:
                return f"its recipe says {one}, but step {one.step:,} joins another pair"
            if one.act == "forbid" and joined_at >= one.step:
                return f"its recipe says {one}, but step {joined_at:,} joins that pair"
        return ""


def checked_recipe(values: object, where: str) -> Recipe:
    try:
        recipe = Recipe.from_dict(values)
        recipe.to_json().encode()
    except RecipeError as error:
        raise FormatError(f"{where}: the recipe is damaged. {textwrap.shorten(str(error), LONGEST_REASON)}") from error
    except UnicodeEncodeError as error:
        raise FormatError(f"{where}: the recipe is damaged: it holds half a character.") from error
    return recipe


def checked_end_reason(value: object, where: str) -> EndReason:
    if value not in get_args(EndReason):
        raise FormatError(f"{where}: {str(value)[:80]!r} is no reason for training to end.")
    return value  # type: ignore[return-value]


def checked_symbol(kind: object, text: bytes, decoded: bytes, where: str) -> Symbol:
    """One base symbol, sound in itself."""
    if not isinstance(kind, str) or kind not in _SYMBOL_KINDS:
        raise FormatError(f"{where}: there is no kind of base symbol named {str(kind)[:80]!r}.")
    if not text or not decoded:
        raise FormatError(f"{where}: a base symbol cannot be empty.")
    return Symbol(text, decoded, kind)  # type: ignore[arg-type]


def checked_alphabet(symbols: list[Symbol], recipe: Recipe, where: str) -> Alphabet:
    """The base symbols as an alphabet that training this recipe can have started from."""
    seeds = [symbol for symbol in symbols if symbol.kind == "seed"] if Method.of(recipe).has_seeds else []
    base = symbols[: len(symbols) - len(seeds)]  # seeds stand behind all others
    plain = [symbol for symbol in symbols if symbol.kind in ("byte", "character")]
    if recipe.base == "bytes":
        _check_bytes(plain, where)
        start: list[Symbol] = []
    else:
        _check_characters(plain, where)
        start = unknown_symbols(recipe)
    if base[: len(start)] != start:
        raise FormatError(f"{where}: the symbols for unknown characters are not those of the recipe.")
    rest = base[len(start) :]
    if rest[: len(plain)] != plain or not _are_markers(rest[len(plain) :], plain, recipe):
        raise FormatError(f"{where}: the base symbols are not those the recipe's alphabet and marker give.")
    # A character of the text may look just like the marker; two of a kind never look alike.
    if len({(symbol.kind, symbol.text) for symbol in rest + seeds}) < len(rest + seeds):
        raise FormatError(f"{where}: two base symbols have the same text.")
    return Alphabet(tuple(symbols))


def _check_bytes(plain: list[Symbol], where: str) -> None:
    every_byte = {bytes([i]) for i in range(256)}
    sound = all(symbol.kind == "byte" and symbol.text == symbol.decoded for symbol in plain)
    if not sound or len(plain) != 256 or {symbol.text for symbol in plain} != every_byte:
        raise FormatError(f"{where}: the alphabet must hold each of the 256 bytes once.")


def _check_characters(plain: list[Symbol], where: str) -> None:
    for symbol in plain:
        is_plain = symbol.decoded in (symbol.text, b" ")  # one may stand for a blank
        if not _is_character(symbol.text) or symbol.kind != "character" or not is_plain:
            raise FormatError(f"{where}: the base symbol {symbol.text!r} is not one character.")


def _is_character(text: bytes) -> bool:
    try:
        return len(text.decode()) == 1
    except UnicodeDecodeError:
        return False


def _are_markers(symbols: list[Symbol], plain: list[Symbol], recipe: Recipe) -> bool:
    """Whether the symbols behind the plain ones are the marker, or characters it is glued to."""
    marker = recipe.marker_text.encode()
    if recipe.marker in ("symbol", "prefix"):
        return symbols == [Symbol(marker, b" ", "marker")]
    if recipe.marker == "glued":
        pieces = {symbol.text for symbol in plain}
        glued = [symbol.text.removesuffix(marker) for symbol in symbols]
        return pieces.issuperset(glued) and symbols == [Symbol(one + marker, one + b" ", "glued") for one in glued]
    if Method.of(recipe).has_continuations:
        inside = [symbol.decoded for symbol in symbols]
        return symbols == [Symbol(marker + one, one, "continuation") for one in inside] and all(
            map(_is_character, inside)
        )
    return symbols == []


def checked_numbers(found: object, tokens: int, where: str) -> Int64s:
    """The numbers that a file gave to so many tokens."""
    numbers = found if isinstance(found, list) and len(found) == tokens else [None]
    if not all(type(one) is int and NO_NUMBER <= one <= LARGEST_NUMBER for one in numbers):
        raise FormatError(f"{where}: the numbers of its tokens are damaged.")
    return np.array(found, np.int64)
