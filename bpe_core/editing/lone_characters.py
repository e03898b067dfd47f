"""Characters that only longer tokens of WordPiece hold, though words are cut into characters where nothing else fits.

A word that gets stuck is unknown as a whole. With other tokens beside them, longer ones leave other remainders; these
can be cut for certain where each character has a token of its own, both at the beginning of a word and inside.
"""

from __future__ import annotations

from bpe_core.alphabet import Symbol
from bpe_core.history.history import History
from bpe_core.learning.methods import Method
from bpe_core.segmenting.word_pieces import births_of


def lone_characters(history: History) -> list[Symbol]:
    """A symbol for each, in the order in which they stand in an alphabet.

    >>> from bpe_core.formats.wordpiece_vocabulary import history_of
    >>> from bpe_core.recipe import Recipe
    >>> recipe = Recipe.preset("wordpiece", merges=0, special_tokens=())
    >>> table, _ = history_of({"[UNK]": 0, "play": 1, "##ed": 2, "##l": 3, "##d": 4}, recipe, "a table")
    >>> [symbol.text for symbol in lone_characters(table)]
    [b'p', b'##a', b'##e', b'##y']
    """
    if not Method.of(history.recipe).has_continuations:
        return []
    marker, (starting, continuing) = history.recipe.marker_text.encode(), births_of(history)
    first = sorted({text[0] for text in starting} - starting.keys())
    inside = {sign for text in starting for sign in text[1:]} | {sign for text in continuing for sign in text}
    found = [Symbol(sign.encode(), sign.encode(), "character") for sign in first]
    rest = (sign.encode() for sign in sorted(inside - continuing.keys()))
    return found + [Symbol(marker + sign, sign, "continuation") for sign in rest]
