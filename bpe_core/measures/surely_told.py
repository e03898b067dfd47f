"""Which characters a tokenizer tells whatever stands beside them: a stretch of nothing else need not be cut to know it.

>>> from bpe_core.recipe import Recipe
>>> from bpe_core.reference import train
>>> from bpe_core.counting.words import WordTable
>>> tells = surely_told(train(WordTable.from_counts({"low": 2}), Recipe.preset("words", merges=1)))
>>> [tells(character) for character in "lox"]
[True, True, False]
"""

from __future__ import annotations

from collections.abc import Callable

from bpe_core.history.history import History
from bpe_core.learning.methods import Method
from bpe_core.recipe import CUSTOM_PATTERN, Recipe
from bpe_core.text.normalization import normalize
from bpe_core.text.splitting import Splitter
from bpe_core.text.unicode_forms import joins_what_stands_before

LETTER = "a"
SIGMAS = "σς"  # one becomes the other at the end of a word


def surely_told(history: History) -> Callable[[str], bool]:
    """Tells it of a character; False may also mean that only a cut can tell.

    It is told, or left out, whatever word it is in: words up to the longest that the recipe allows.
    """
    recipe = history.recipe.with_changes(special_tokens=())  # which are text to whoever measures
    if recipe.preparation or recipe.pattern == CUSTOM_PATTERN or recipe.base != "characters":
        return lambda character: False
    is_known, splitter = _is_known(history), Splitter(recipe)

    def tells(character: str) -> bool:
        if recipe.unicode_form and joins_what_stands_before(character, recipe.unicode_form):
            return False
        became = normalize(character, recipe)
        if len(became) != 1:
            return not became
        forms = SIGMAS if became in SIGMAS else became
        return all(is_known(form, _is_a_word(form, splitter, recipe)) for form in forms)

    return tells


def _is_known(history: History) -> Callable[[str, bool], bool]:
    """Whether the alphabet has a character in all places of words where it can stand."""
    alphabet, marker = history.alphabet, history.recipe.marker_text.encode()
    begins = {one.text for one in alphabet.but_seeds if one.kind == "character" and one.text == one.decoded}
    continues = alphabet.id_of_continuation
    if Method.of(history.recipe).has_continuations or continues:
        return lambda character, alone: character.encode() in begins and (alone or character.encode() in continues)
    if history.recipe.marker == "glued":
        ends = alphabet.id_of_piece
        return lambda character, _: character.encode() in begins and character.encode() + marker in ends
    return lambda character, _: character.encode() in begins


def _is_a_word(character: str, splitter: Splitter, recipe: Recipe) -> bool:
    """Whether it is always one by itself, as punctuation marks are."""
    if recipe.pattern != "bert":
        return False
    return len(list(splitter.words(LETTER + character + character + LETTER))) == 4
