"""The columns of the step table: what a cell shows and how rows are sorted. Each method has its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bpe_core.history.history import ADDED, NOTHING, History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.learning.methods import Method, Reason
from bpe_core.recipes.methods import METHODS
from bpe_core.recipes.recipe import Recipe

Look = Literal["plain", "fixed", "token", "tie"]  # tokens are in a fixed-width font
Keys = npt.NDArray[Any]

SIGNS = {NOTHING: "− ", ADDED: "+ "}  # before a token that is dropped or added


@dataclass(frozen=True)
class Column:
    title: str
    tip: str
    cell: Callable[[History, TokenTexts, int], str]
    key: Callable[[History, TokenTexts], Keys]
    widest: str  # a text it needs room for
    is_number: bool = True
    look: Look = "plain"


@lru_cache(maxsize=8)
def columns_of(recipe: Recipe | None) -> tuple[Column, ...]:
    recipe = recipe or Recipe()
    words, single = METHODS[recipe.method].wording, recipe.single
    tip = f"Which {words.step} this is: 1 is the first"
    found = [Column("Step", tip, lambda h, n, r: f"{r + 1:,}", lambda h, n: np.arange(len(h)), "99,999")]
    if single is None:
        found += [_half("Left", "left"), _half("Right", "right"), _token("The new token", "␣tokenizer")]
    else:
        found.append(_token(f"The token that was {words.done}", "− ␣tokenizer"))
    counted = f"How often the {words.choice} occurred in the corpus when it was {words.done}"
    found.append(_numbers("Count", counted, "9,999,999", lambda h: h.columns.count))
    found += map(_reason, Method.of(recipe).reasons(recipe))
    if recipe.applies("ties"):
        title, tip = "Runner-up", "Who was next; = where it had the same count and the tie rule decided"
        if single:
            title, tip = "Next", f"What would have been {words.done} without this one"
        found.append(Column(title, tip, _tie, _tie_key, "= ␣th + ing", is_number=False, look="tie"))
    left = f"Tokens in the corpus after this {words.step}"
    found.append(Column("Length", "Bytes in the token", lambda h, n, r: str(n.lengths[h.ids[r]]), _lengths, "999"))
    found.append(_numbers("Tokens left", left, "99,999,999", lambda h: h.columns.tokens_left))
    if single is None:  # unknown where learning begins with seeds
        tip = f"Base symbols per token, on average, after this {words.step}"
        found.append(Column("Compression", tip, _compression, lambda h, n: -h.columns.tokens_left, "99.999"))
    return tuple(found)


def _numbers(title: str, tip: str, widest: str, values: Callable[[History], Keys]) -> Column:
    return Column(title, tip, lambda h, n, r: _number(int(values(h)[r])), lambda h, n: values(h), widest)


def _half(title: str, side: str) -> Column:
    def ids(history: History) -> Keys:
        return np.asarray(getattr(history.columns, side))

    return Column(
        title,
        f"The {side} half of the pair",
        lambda h, n, r: _text(n, int(ids(h)[r])),
        lambda h, n: n.places(h.first_special)[ids(h)],
        "␣tokens",
        is_number=False,
        look="fixed",
    )


def _token(meaning: str, widest: str) -> Column:
    return Column(
        "Token",
        f"{meaning}; ␣ is a space, ⏎ a newline, <0xE2> a byte that is no character by itself",
        lambda h, n, r: SIGNS.get(int(h.columns.right[r]), "") + n.text[h.ids[r]],
        lambda h, n: n.places(h.first_special)[h.ids],
        widest,
        is_number=False,
        look="token",
    )


def _reason(reason: Reason) -> Column:
    return Column(
        reason.title,
        reason.tip,
        lambda h, n, r: reason.text(int(h.columns.count[r]), {name: h.reasons[name][r] for name in h.reasons}),
        lambda h, n: reason.values(h),
        reason.widest,
        is_number=reason.is_number,
    )


def _number(value: int) -> str:
    return "" if value == NOTHING else f"{value:,}"


def _text(names: TokenTexts, id: int) -> str:
    return "" if id < 0 else names.text[id]


def _tie(history: History, names: TokenTexts, row: int) -> str:
    columns = history.columns
    other = int(columns.runner_up_left[row])
    if other == NOTHING:
        return ""
    pair = " + ".join(filter(None, (names.text[other], _text(names, int(columns.runner_up_right[row])))))
    if row in history.forced:
        return f"by hand, not {pair}"
    return f"= {pair}" if history.tied[row] else f"{pair}  {int(columns.runner_up_count[row]):,}"


def _tie_key(history: History, names: TokenTexts) -> npt.NDArray[Any]:
    """Sort ties first, then by how close the runner-up came."""
    lead = history.columns.count - history.columns.runner_up_count
    return np.where(history.tied, 0, np.where(lead == 0, 1, lead))


def _lengths(history: History, names: TokenTexts) -> npt.NDArray[Any]:
    return np.array(history.of_steps(names.lengths), np.int64)


def _compression(history: History, names: TokenTexts, row: int) -> str:
    value = float(history.compression[row + 1])
    return f"{value:.3f}" if value > 0 else ""


Order = npt.NDArray[np.int64]


def argsort(keys: npt.NDArray[Any], descending: bool) -> Order:
    """Sort rows by a column; equal keys stay in step order, either way round.

    >>> argsort(np.array([3, 1, 3]), descending=True).tolist()
    [0, 2, 1]
    """
    if not descending:
        return np.argsort(keys, kind="stable")
    return len(keys) - 1 - np.argsort(keys[::-1], kind="stable")[::-1]
