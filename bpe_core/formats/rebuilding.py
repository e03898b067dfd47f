"""Functions that rebuild a history from the values in a file or session. All values are checked before use."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from typing import get_args

import numpy as np

from bpe_core.errors import FormatError, RecipeError, damage_error
from bpe_core.formats.base import NO_NUMBER
from bpe_core.history.alphabet import Alphabet, Symbol, SymbolKind, unknown_symbols
from bpe_core.history.columns import SINGLE, Scores, joined_lengths
from bpe_core.history.history import ADDED, COUNT_ALONE, NOTHING, Bools, Columns, EndReason, History, Int64s, Reasons
from bpe_core.methods.kit.method import Method
from bpe_core.recipes.choice import LARGEST_VOCABULARY
from bpe_core.recipes.recipe import Recipe

LARGEST_NUMBER = 2**31 - 1  # the most bytes of a token
LARGEST_COUNT = 2**63 - 1
LONGEST_REASON = 400  # characters; the reason may quote the mistake
LONGEST_TOKEN = 2**31 - 1  # bytes; a few dozen hostile merges could double a token until it fills any memory
_SYMBOL_KINDS = frozenset(get_args(SymbolKind))

Place = Callable[[int], str]  # Returns the place of a step for errors, by its index: its line, or its number.
Wrong = tuple[Bools, Callable[[int], str]]  # the steps that are impossible, and the sentence about the first of them


def check_steps(columns: Sequence[Int64s], alphabet: Alphabet, recipe: Recipe, place: Place) -> None:
    """Raise FormatError for the first step that cannot follow the steps before it.

    `columns` are the columns of a history. For error messages, the function `place` says where a step is in the file.
    """
    left, right, count, other_left, other_right, other_count, tokens_left = columns
    if len(left) > LARGEST_VOCABULARY:
        raise FormatError(f"{place(LARGEST_VOCABULARY)}: there are more than {LARGEST_VOCABULARY:,} steps.")
    single = SINGLE[recipe.single]
    method = Method.of(recipe)
    stays_joined = method.joins_in_order(recipe)  # otherwise the method itself checks drops
    alone: Bools = right == single
    there = len(alphabet) + np.arange(len(left)) - (np.cumsum(alone) - alone)  # the number of tokens before each step
    halves = (left, np.where(alone, left, right))
    known = [(half >= 0) & (half < there) for half in halves]
    sound = np.where(known, halves, 0)  # 0 stands for a wrong half, whose step is refused
    wrong: list[Wrong] = [
        (
            (left == NOTHING) | (right == NOTHING) & ~alone,
            lambda row: "this step does not say which two tokens it merges",
        )
    ]
    for half, is_known, id in zip(halves, known, sound, strict=True):
        wrong.append((~is_known, partial(_about_unknown, half, there)))
        wrong.append(_never_merging(half, id, alphabet))
        wrong += [_after_its_drop(half, id, sound[0], alone)] if single == NOTHING and stays_joined else []
        wrong += _before_it_is_added(half, id, sound[0], alone, alphabet) if single == ADDED else []
    if not method.starts_anew and stays_joined:
        wrong.append(_repeated(left, right, alone))
    wrong.append(_too_long(sound, alone, alphabet))
    wrong.append((np.minimum(count, tokens_left) < NOTHING, lambda row: "a count is negative"))
    has_other = (other_left != NOTHING) | (other_right != NOTHING)
    other_half = np.where(other_right == single, other_left, other_right)
    is_there = (np.minimum(other_left, other_half) >= 0) & (np.maximum(other_left, other_half) < there)
    about_other = "the runner-up {} + {} names a token that does not exist yet".format
    wrong.append((has_other & ~is_there, lambda row: about_other(other_left[row], other_right[row])))
    # It may be larger than the winner's: merges from elsewhere, counted here.
    wrong.append(((other_count < 0) & has_other, lambda row: "the runner-up must have a count"))
    wrong.append(
        ((other_count != NOTHING) & ~has_other, lambda row: "the step has the count of a runner-up, but no runner-up")
    )
    first = [(int(np.argmax(rows)), order) for order, (rows, _) in enumerate(wrong) if rows.any()]
    if first:
        row, order = min(first)
        raise FormatError(f"{place(row)}: {wrong[order][1](row)}.")


def _about_unknown(half: Int64s, there: Int64s, row: int) -> str:
    before = f"before this step there are only the ids 0 to {there[row] - 1:,}"
    return f"the step merges the token {half[row]}, which does not exist yet; {before}"


def _never_merging(half: Int64s, id: Int64s, alphabet: Alphabet) -> Wrong:
    never = np.isin(id, [id for id, symbol in enumerate(alphabet.symbols) if not symbol.merges])
    return (
        never,
        lambda row: f"the step merges the token {half[row]}, which is for unknown characters and is never merged",
    )


def _first_use(left: Int64s, alone: Bools, ids: int) -> Int64s:
    """Return the index of the first step that adds or drops each token.

    The value of a token that no step adds or drops is the number of steps. `alone` marks the steps that add or drop a
    token. `left` holds the token of each step.
    """
    first_step = np.full(max(ids, int(left.max(initial=0)) + 1), len(left))
    np.minimum.at(first_step, left[alone], np.flatnonzero(alone))
    return first_step


def _after_its_drop(half: Int64s, id: Int64s, left: Int64s, drops: Bools) -> Wrong:
    dropped_at = _first_use(left, drops, int(id.max(initial=0)) + 1)[id]
    return dropped_at < np.arange(
        len(id)
    ), lambda row: f"the step uses the token {half[row]:,}, which was dropped earlier"


def _before_it_is_added(half: Int64s, id: Int64s, left: Int64s, adds: Bools, alphabet: Alphabet) -> list[Wrong]:
    added_at = _first_use(left, adds, int(id.max(initial=0)) + 1)[id]
    steps = np.arange(len(id))
    # known tokens, without an addition
    added_at[(id < len(alphabet) - alphabet.seed_count) | (id >= len(alphabet))] = NOTHING
    return [
        (adds & (added_at != steps), lambda row: f"the step adds the token {half[row]:,}, which exists already"),
        (~adds & (added_at >= steps), lambda row: f"the step uses the token {half[row]:,}, which is added only later"),
    ]


def _repeated(left: Int64s, right: Int64s, alone: Bools) -> Wrong:
    pairs = (left << 32) | right
    order = np.argsort(pairs, kind="stable")
    again = np.zeros(len(left), np.bool_)
    again[order[1:]] = pairs[order[1:]] == pairs[order[:-1]]

    def sentence(row: int) -> str:
        return f"the step merges the same pair as merge {int(np.argmax(pairs == pairs[row])) + 1:,}"

    return again & ~alone, sentence


def _too_long(halves: Int64s, alone: Bools, alphabet: Alphabet) -> Wrong:
    too_long = np.zeros(len(alone), np.bool_)
    first = list(map(len, alphabet.decoded))
    too_long[~alone] = joined_lengths(first, *halves[:, ~alone])[len(first) :] > LONGEST_TOKEN
    return too_long, lambda row: f"the token of this step would be longer than {LONGEST_TOKEN:,} bytes"


def rebuild(
    recipe: Recipe,
    alphabet: Alphabet,
    columns: Sequence[Int64s],
    place: Place,
    name: str,
    *,
    tokens_at_start: int = NOTHING,
    end_reason: EndReason = "",
    reasons: Reasons = COUNT_ALONE,
    scores: Callable[[Columns], Scores | None] = lambda columns: None,
) -> History:
    """Check the steps, and return their history.

    If a step is impossible, the FormatError names the first such step. If the history as a whole is wrong, the
    error explains the mistake.
    """
    if recipe.single == "add":  # files leave the right half empty for a step with one token
        columns = [*columns]
        columns[1] = np.where(columns[1] == NOTHING, ADDED, columns[1])
        columns[4] = np.where((columns[3] != NOTHING) & (columns[4] == NOTHING), ADDED, columns[4])
    check_steps(columns, alphabet, recipe, place)
    known = in_columns(columns)
    history = History(
        recipe,
        alphabet,
        known,
        reasons=reasons,
        scores=scores(known),
        tokens_at_start=tokens_at_start,
        end_reason=end_reason,
    )
    if wrong := Method.of(recipe).what_is_wrong(history) or _undecided(history):
        raise FormatError(f"{name}: {wrong}.")
    return history


def in_columns(values: Sequence[Int64s]) -> Columns:
    """Return checked values as the columns of a history."""
    columns = Columns.with_room(len(values[0]))
    for name, column in zip(Columns._fields, values, strict=True):
        getattr(columns, name)[:] = column
    return columns.first(len(values[0]))


def _undecided(history: History) -> str:
    for intervention in history.recipe.interventions:
        rows = np.flatnonzero(
            (history.columns.left == intervention.left) & (history.columns.right == intervention.right)
        )
        joined_at = int(rows[0]) + 1 if len(rows) else 0
        if intervention.act == "force" and joined_at != intervention.step <= len(history):
            return f"the recipe says {intervention}, but step {intervention.step:,} merges another pair"
        if intervention.act == "forbid" and joined_at >= intervention.step:
            return f"the recipe says {intervention}, but step {joined_at:,} merges that pair"
    return ""


def checked_recipe(values: object, where: str) -> Recipe:
    try:
        recipe = Recipe.from_dict(values)
        recipe.to_json().encode()
    except RecipeError as error:
        raise damage_error(f"{where}: the recipe is damaged. {textwrap.shorten(str(error), LONGEST_REASON)}") from error
    except UnicodeEncodeError as error:
        raise damage_error(
            f"{where}: the recipe is damaged: it holds half of a surrogate pair, which is not a character."
        ) from error
    return recipe


def checked_end_reason(value: object, where: str) -> EndReason:
    if value not in get_args(EndReason):
        raise FormatError(f"{where}: {str(value)[:80]!r} is not a known reason why training ended.")
    return value  # type: ignore[return-value]


def checked_symbol(kind: object, text: bytes, decoded: bytes, where: str) -> Symbol:
    if not isinstance(kind, str) or kind not in _SYMBOL_KINDS:
        raise FormatError(f"{where}: there is no kind of base symbol named {str(kind)[:80]!r}.")
    if not text or not decoded:
        raise FormatError(f"{where}: a base symbol cannot be empty.")
    return Symbol(text, decoded, kind)  # type: ignore[arg-type]


def checked_alphabet(symbols: list[Symbol], recipe: Recipe, where: str) -> Alphabet:
    """Return an alphabet of the given base symbols.

    Raise FormatError if training with this recipe can never start from these symbols.
    """
    seeds = [symbol for symbol in symbols if symbol.kind == "seed"] if Method.of(recipe).has_seeds else []
    base = symbols[: len(symbols) - len(seeds)]  # seeds come after all others
    plain = [symbol for symbol in symbols if symbol.kind in ("byte", "character")]
    if recipe.base == "bytes":
        _check_bytes(plain, where)
        start = unknown_symbols(recipe) if recipe.lists_bytes else []
    else:
        _check_characters(plain, where)
        start = unknown_symbols(recipe)
    if base[: len(start)] != start:
        raise FormatError(f"{where}: the symbols for unknown characters do not fit the recipe.")
    rest = base[len(start) :]
    if rest[: len(plain)] != plain or not _are_markers(rest[len(plain) :], plain, recipe):
        raise FormatError(f"{where}: the base symbols do not fit the alphabet and the marker of the recipe.")
    # A character of the text may equal the marker, but two symbols of the same kind are never equal.
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
        is_plain = symbol.decoded in (symbol.text, b" ")  # a symbol may represent a blank
        if not _is_character(symbol.text) or symbol.kind != "character" or not is_plain:
            raise FormatError(f"{where}: the base symbol {symbol.text!r} is not one character.")


def _is_character(text: bytes) -> bool:
    try:
        return len(text.decode()) == 1
    except UnicodeDecodeError:
        return False


def _are_markers(symbols: list[Symbol], plain: list[Symbol], recipe: Recipe) -> bool:
    marker = recipe.marker_text.encode()
    if recipe.marker in ("symbol", "prefix"):
        return symbols == [Symbol(marker, b" ", "marker")]
    if any(symbol.kind == "continuation" for symbol in symbols):
        mark = marker if recipe.marker == "continuation" else Alphabet(tuple(symbols)).continuing
        return mark != b"" and all(_is_marked(symbol, mark, recipe) for symbol in symbols)
    if recipe.marker == "glued":
        pieces = {symbol.text for symbol in plain}
        glued = [symbol.text.removesuffix(marker) for symbol in symbols]
        return pieces.issuperset(glued) and symbols == [Symbol(text + marker, text + b" ", "glued") for text in glued]
    return symbols == []


def _is_marked(symbol: Symbol, mark: bytes, recipe: Recipe) -> bool:
    """Return whether a symbol is one character with a marker.

    The marker says that the character continues a word, that it ends a word, or both.
    """
    end = recipe.marker_text.encode() if recipe.marker == "glued" else b""
    character = symbol.decoded if _is_character(symbol.decoded) else symbol.decoded.removesuffix(b" ")
    ends_word = character != symbol.decoded
    before = mark if symbol.kind == "continuation" else b""
    is_marked = symbol.kind == "continuation" or (symbol.kind == "glued" and ends_word)
    is_sound = is_marked and _is_character(character) and (end != b"" or not ends_word)
    return is_sound and symbol.text == before + character + end * ends_word


def checked_numbers(values: object, tokens: int, where: str) -> Int64s:
    numbers = values if isinstance(values, list) and len(values) == tokens else [None]
    if not all(type(number) is int and NO_NUMBER <= number <= LARGEST_NUMBER for number in numbers):
        raise damage_error(f"{where}: the ids of the tokens are damaged.")
    return np.array(values, np.int64)
