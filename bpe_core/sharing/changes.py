"""How a recipe changes texts, character by character, as far as that can be said so.

A character is unsure where what it becomes hangs on its neighbours: a capital sigma at the end of a word, a mark that
Unicode's forms may join with the letter before it. A text that holds one is not cut by the page.

    >>> from bpe_core.recipes.recipe import Recipe
    >>> found = changes_of(Recipe.preset("clean-words"))
    >>> found["becomes"][found["codes"].cumsum().tolist().index(ord("Ä"))], found["unsure"].tolist() == [ord("Σ")]
    ('ä', True)
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Any

import numpy as np

from bpe_core.recipes.recipe import Recipe
from bpe_core.text.normalization import normalize

_BETWEEN = "漢"  # becomes nothing else, whatever the recipe
_AT_ONCE = 1_024
_JAMO = {*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)}  # the second and third parts of Korean syllables
_SURROGATES = range(0xD800, 0xE000)
_CODE_POINTS = 0x110000


@lru_cache(maxsize=4)
def changes_of(recipe: Recipe) -> dict[str, Any]:
    codes, becomes = list[int](), list[str]()
    for start in range(0, _CODE_POINTS, _AT_ONCE):
        some = [code for code in range(start, start + _AT_ONCE) if code not in _SURROGATES]
        for code, text in zip(some, _changed([*map(chr, some)], recipe), strict=True):
            if text != chr(code):
                codes.append(code)
                becomes.append(text)
    return {"codes": np.diff(np.array(codes), prepend=0), "becomes": becomes, "unsure": np.array(_unsure(recipe))}


def _changed(characters: list[str], recipe: Recipe) -> list[str]:
    together = normalize(_BETWEEN.join(characters), recipe).split(_BETWEEN)
    alone = len(together) != len(characters)  # one of them is, or becomes, what stands between them
    return [normalize(one, recipe) for one in characters] if alone else together


def _unsure(recipe: Recipe) -> list[int]:
    unsure = {ord("Σ")} if recipe.lowercase and recipe.final_sigma else set[int]()
    return sorted(unsure | (_joining() if recipe.unicode_form else set()))


@lru_cache(maxsize=1)
def _joining() -> set[int]:
    """Return the characters that a Unicode form may join with the one before, or put into another order."""
    every = [chr(code) for code in range(_CODE_POINTS) if code not in _SURROGATES]
    parts = (unicodedata.decomposition(one).split() for one in every)
    second = {int(found[1], 16) for found in parts if len(found) == 2 and not found[0].startswith("<")} | _JAMO
    second |= {ord(one) for one in every if unicodedata.combining(one)}
    return second | {ord(one) for one in every if ord(unicodedata.normalize("NFKD", one)[0]) in second}
