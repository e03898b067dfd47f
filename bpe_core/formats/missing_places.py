"""Sentences about what a format has no place for, in the same words for every format."""

from __future__ import annotations

from bpe_core.history.history import History
from bpe_core.recipe import Recipe


def about_splitting(recipe: Recipe) -> list[str]:
    """For formats that hold tokens only: how a text becomes words must be told elsewhere."""
    own = recipe.pattern == "custom"
    pattern = f"the pattern {recipe.custom_pattern!r}" if own else f"the pattern {recipe.pattern}"
    found = [f"This format has no place for {pattern}; whoever loads the file must name it again."]
    return found + about_lines(recipe) + about_normalization(recipe) + about_specials(recipe)


def about_lines(recipe: Recipe) -> list[str]:
    if recipe.unit == "line":
        return ["This format cannot say that each line is a text of its own; give it line by line."]
    return []


def about_normalization(recipe: Recipe) -> list[str]:
    """The changes of a text before it is split."""
    changes: list[str] = ["cleaned"] if recipe.clean_text else []
    changes += [recipe.unicode_form] if recipe.unicode_form else []
    changes += ["no accents"] if recipe.strip_accents else []
    changes += ["lower case"] if recipe.lowercase else []
    changes += ["no ASCII punctuation"] if recipe.strip_ascii_punctuation else []
    changes += [f"without {recipe.strip_marks}"] if recipe.strip_marks else []
    if not changes:
        return []
    return [f"This format cannot say how a text is changed first ({', '.join(changes)}); change it before."]


def about_specials(recipe: Recipe) -> list[str]:
    if not recipe.special_tokens:
        return []
    many = len(recipe.special_tokens)
    what = f"the special token {recipe.special_tokens[0]!r}" if many == 1 else f"the {many:,} special tokens"
    return [f"This format has no place for {what}; whoever loads the file must name them again."]


def about_longest(recipe: Recipe) -> list[str]:
    """For files of tokenizers, whose trainer has another number for the same limit."""
    if recipe.max_token_length is None or recipe.method in ("unigram", "mingram"):
        return []
    return [
        f"This format has no place for the longest token, {recipe.max_token_length:,} symbols; to tokenizers' own "
        f"trainer that is max_token_length={recipe.max_token_length + 1}, which its tokens stay below."
    ]


def about_reasons(history: History) -> list[str]:
    """For tables that hold of a step what all methods tell."""
    if not history.reasons:
        return []
    reasons = " and ".join(history.reasons)
    return [f"The table has no columns for what the steps were chosen by ({reasons}); keep them as a session."]


def needs_bytes(history: History, format: str) -> list[str]:
    """A format whose base symbols are the 256 bytes and nothing else."""
    recipe = history.recipe
    if recipe.base != "bytes":
        return [f"A {format} file starts from the 256 bytes; this table starts from characters."]
    if recipe.marker in ("symbol", "glued", "prefix"):
        return [f"A {format} file has no place for the word marker {recipe.marker_text!r}."]
    return []
