"""The named patterns as the expressions that files hold, and back.

Engines differ: `$` is the end of a line to some, and `{1,3}+` a repeated repetition. So a pattern
is written as each engine understands it, and every such form is known again.
"""

from __future__ import annotations

from typing import Any

from bpe_core.errors import RecipeError
from bpe_core.recipe import CUSTOM_PATTERN, Recipe
from bpe_core.text.patterns import NAMED_PATTERNS, compile_custom

# The same cuts in the words of Oniguruma, the engine of Hugging Face's tokenizers.
FOR_ONIGURUMA = {
    "cl100k": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s+\z|\s*[\r\n]|\s+(?!\S)|\s",
}

# Other programs' ways to write a named pattern, each of which cuts every text in the same places.
_SAME = {
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s": "gpt2",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s+(?!\S)|\s+": "gpt2",
}


def expression_of(recipe: Recipe) -> str:
    """The recipe's pattern as an expression for the `regex` package; empty where nothing is split."""
    if recipe.pattern == "none":
        return ""
    return recipe.custom_pattern or NAMED_PATTERNS[recipe.pattern].expression


def oniguruma_expression_of(recipe: Recipe) -> str:
    """The recipe's pattern as an expression for Hugging Face's tokenizers."""
    return FOR_ONIGURUMA.get(recipe.pattern) or expression_of(recipe)


def name_of(expression: str) -> str | None:
    """The named pattern that an expression is, in whichever form.

    >>> name_of(NAMED_PATTERNS["cl100k"].expression), name_of(FOR_ONIGURUMA["cl100k"]), name_of("[a-z]+")
    ('cl100k', 'cl100k', None)
    """
    if expression in _SAME:
        return _SAME[expression]
    for name, pattern in NAMED_PATTERNS.items():
        if expression in (pattern.expression, FOR_ONIGURUMA.get(name)):
            return name
    return "none" if expression == "" else None


def pattern_choices(expression: str) -> tuple[dict[str, Any], list[str]]:
    """The recipe's choices for an expression found in a file, and what must be said about it."""
    name = name_of(expression)
    if name is not None:
        return {"pattern": name}, []
    try:
        compile_custom(expression)
    except RecipeError as error:
        note = f"The file's pattern is not understood here, so text is not split at all. {error}"
        return {"pattern": "none"}, [note]
    return {"pattern": CUSTOM_PATTERN, "custom_pattern": expression}, []
