"""The patterns that split texts, as other libraries write them in files.

Regular expression engines differ: in some of them, `$` is the end of a line, and `{1,3}+` is a repetition of a
repetition. So each pattern has an expression for each engine. If a file names no pattern, the pattern is guessed from
the tokens. This is possible because every token lies within a single word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from bpe_core.errors import RecipeError
from bpe_core.recipes.parts import CUSTOM_PATTERN
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.patterns import NAMED_PATTERNS, NO_SUPERWORD, compile_custom

# The same patterns in the syntax of Oniguruma, the engine of Hugging Face's tokenizers.
FOR_ONIGURUMA = {
    "cl100k": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s+\z|\s*[\r\n]|\s+(?!\S)|\s",
    "superwords": NO_SUPERWORD,  # text between two matches is a word there
}

# Other programs' spellings of a named pattern, each of which splits every text at the same places.
_SAME = {
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s": "gpt2",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s+(?!\S)|\s+": "gpt2",
}


def expression_of(recipe: Recipe) -> str:
    """Return the pattern of a recipe as an expression for the `regex` package.

    Return an empty string if the recipe does not split texts.
    """
    if recipe.pattern == "none":
        return ""
    return recipe.custom_pattern or NAMED_PATTERNS[recipe.pattern].expression


def oniguruma_expression_of(recipe: Recipe) -> str:
    """Return the pattern of a recipe as an expression for Oniguruma, which Hugging Face's tokenizers uses."""
    return FOR_ONIGURUMA.get(recipe.pattern) or expression_of(recipe)


def name_of(expression: str) -> str | None:
    """Return the name of the pattern with this expression, whether it is written for `regex` or for Oniguruma.

    Return None for an unknown expression.

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
    """Return the choices of a recipe that splits texts by `expression`, the pattern in a tokenizer file.

    Also return notes about how the recipe may split texts differently.
    """
    name = name_of(expression)
    if name is not None:
        return {"pattern": name}, []
    try:
        compile_custom(expression)
    except RecipeError as error:
        note = f"This program cannot read the file's pattern, so it does not split texts into words. {error}"
        return {"pattern": "none"}, [note]
    lacking = _unmatched(expression)
    note = (
        f"The file's library leaves out text that its pattern does not match, such as {lacking!r}. In this "
        "program such text is a word"
    )
    return {"pattern": CUSTOM_PATTERN, "custom_pattern": expression}, [f"{note}, so ids can differ."] * (lacking != "")


PROBE = "It's camelCase, HTTPServer2 x86_64 \n\n  ab--cd… naïve 12345 人人 ①½² it’s\t(end).\r\n "  # words of many kinds


def _unmatched(expression: str) -> str:
    """Return the first part of the text PROBE that the expression leaves unmatched, or an empty string.

    PROBE contains many kinds of words.

    >>> _unmatched(NAMED_PATTERNS["gpt2"].expression), _unmatched("[a-zA-Z]+")
    ('', "'")
    """
    end = 0
    for match in compile_custom(expression).finditer(PROBE):
        if match.start() > end:
            break
        end = match.end()
    else:
        return PROBE[end:]
    return PROBE[end : match.start()]


SAMPLE = 4_000  # tokens looked at, spread over the vocabulary
ENOUGH = 0.98  # alone, some tokens are split even by their own pattern
Token = TypeVar("Token")

CANDIDATES = ("gpt2", "cl100k", "o200k", "english")  # if two fit equally well, the earlier one is taken


def likely_pattern(tokens: Sequence[bytes]) -> str:
    r"""Return the name of the pattern that splits the fewest of the given tokens.

    Return "none" if every pattern splits many of them.

    >>> likely_pattern([b" the", b" 2024", b" don"]), likely_pattern([b" the", b");\n", b" don"])
    ('gpt2', 'cl100k')
    >>> likely_pattern([b"the last", b"e t", b"s o"])
    'none'
    """
    texts = _readable(tokens)
    if not texts:
        return CANDIDATES[0]
    fits = {name: _share_left_whole(name, texts) for name in CANDIDATES}
    best = max(CANDIDATES, key=fits.__getitem__)
    return best if fits[best] >= ENOUGH else "none"


def sampled(tokens: Sequence[Token]) -> Sequence[Token]:
    return tokens[:: max(1, len(tokens) // SAMPLE)]


def _readable(tokens: Sequence[bytes]) -> list[str]:
    texts = []
    for token in sampled(tokens):
        try:
            texts.append(token.decode())
        except UnicodeDecodeError:
            continue  # a part of a character; no pattern splits there
    return [text for text in texts if len(text) > 1]


def _share_left_whole(name: str, texts: Sequence[str]) -> float:
    import regex  # takes a while to load

    pattern = regex.compile(NAMED_PATTERNS[name].expression)
    return sum(1 for text in texts if (match := pattern.match(text)) and match.end() == len(text)) / len(texts)
