"""The data with which a shared page changes the characters of a text and splits the text into words.

A character is unsure if its replacement depends on its neighbours, like a capital sigma at the end of a word. The page
does not split a text with an unsure character.

Unicode's normalization forms are applied by the browser. It may know a newer version of Unicode than this Python, or
than the library that reads a tokenizer file. Some characters have a normalization form only in the newer version. The
page tells the browser not to change them.

    >>> from bpe_core.recipes.recipe import Recipe
    >>> found, = changes_by(Recipe.preset("clean-words"))
    >>> found["becomes"][found["codes"].cumsum().tolist().index(ord("Ä"))], found["unsure"].tolist() == [ord("Σ")]
    ('ä', True)
    >>> [change["form"] for change in changes_by(Recipe.preset("unigram"))]
    ['NFKC']
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.normalization import normalize
from bpe_core.text.characters import Form
from bpe_core.text.older_unicode import without_form
from bpe_core.text.scanner import ScanTable
from bpe_core.text.scanner.machine import ROW

_BETWEEN = "漢"  # a character that no recipe replaces
_AT_ONCE = 1 << 14  # characters: long texts are changed by tables, which is quicker
_SURROGATES = range(0xD800, 0xE000)
_CODE_POINTS = 0x110000


@lru_cache(maxsize=4)
def changes_by(recipe: Recipe) -> list[dict[str, Any]]:
    """Return the changes that a recipe makes to a text, in order. Operations of a tokenizer file are not included."""
    recipe, form = recipe.with_changes(preparation=()), recipe.unicode_form
    rest = recipe.with_changes(unicode_form="", clean_text=recipe.clean_text and not form)
    unsure = {ord("Σ")} if recipe.lowercase and recipe.final_sigma else set[int]()
    clean = Recipe(pattern="none", clean_text=True)
    return [
        *([changes_of(partial(normalize, recipe=clean))] if form and recipe.clean_text else []),
        *([form_of(form)] if form else []),
        *([changes_of(partial(normalize, recipe=rest), unsure)] if rest.normalizes else []),
    ]


def changes_of(change: Callable[[str], str], unsure: Collection[int] = ()) -> dict[str, Any]:
    codes = list[int]()
    becomes = list[str]()
    for start in range(0, _CODE_POINTS, _AT_ONCE):
        some = [code for code in range(start, start + _AT_ONCE) if code not in _SURROGATES]
        for code, text in zip(some, _changed([*map(chr, some)], change), strict=True):
            if text != chr(code):
                codes.append(code)
                becomes.append(text)
    return {
        "codes": np.diff(np.array(codes, np.int64), prepend=0),
        "becomes": becomes,
        "unsure": np.array(sorted(unsure), np.int64),
    }


def _changed(characters: list[str], change: Callable[[str], str]) -> list[str]:
    together = change(_BETWEEN.join(characters)).split(_BETWEEN)
    alone = len(together) != len(characters)  # a text is, or becomes, the separator itself
    return [*map(change, characters)] if alone else together


def form_of(form: Form) -> dict[str, Any]:
    return {"form": form, "apart": _ranges_without_form()}


@lru_cache(maxsize=1)
def _ranges_without_form() -> npt.NDArray[np.int64]:
    """Return the ranges of characters that are never normalized, because tokenizer libraries or this Python lack them.

    The result lists the start and the end of each range, one range after another. Each of these numbers is stored as
    its distance from the number before it.
    """
    has_none = [chr(code) in without_form() or unicodedata.category(chr(code)) == "Cn" for code in range(_CODE_POINTS)]
    return np.diff(np.flatnonzero(np.diff(np.array([False, *has_none, False]))), prepend=0)


def scan_of(table: ScanTable) -> dict[str, Any]:
    """Return the table with which a shared web page finds where words begin.

    The kinds of characters are stored as ranges.
    """
    kinds = table.kind_of_code_point
    starts = np.flatnonzero(np.diff(kinds, prepend=kinds[0] ^ 1))
    return {
        "entries": table.entries,
        "row": ROW,
        "starts": np.diff(starts, prepend=0),
        "kinds": kinds[starts],
        "drops_blanks": table.drops_blanks,
    }
