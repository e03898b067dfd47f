"""How a text is changed before it is split, and where each byte of the result came from.

The order is always the same:

1. cleaning: control characters, those of formats, private ones and U+FFFD are removed, every blank becomes a space;
2. the Unicode form (NFC or NFKC), so that what follows sees composed characters;
3. accents: characters are taken apart (NFD), and the marks that are put on others are removed;
4. lower case, as Unicode tells it: a sigma that ends a word becomes ς, unless letters are to be looked at alone;
5. ASCII punctuation and the chosen marks are removed, as they stand after all that.

Special tokens are left as they are, and the texts between them are changed one by one.
None of the steps looks across a newline: normalizing a text is normalizing its lines, though they may not end in
newlines any more.
Only a special token that holds a newline itself must not be cut.

    >>> from bpe_core.recipe import Recipe
    >>> normalize("“Nevermore.”", Recipe.preset("clean-words", strip_marks="“”"))
    'nevermore'
"""

from __future__ import annotations

from bpe_core.recipe import Recipe


def normalize(text: str, recipe: Recipe) -> str:
    """The text as the recipe wants it before splitting."""
    if not recipe.normalizes:
        return text
    from bpe_core.text.normalizing import normalized  # with what knows all characters; few recipes change any

    return normalized(text, recipe)
