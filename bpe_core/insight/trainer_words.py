"""A list of ways in which trainers split texts into words without recording this in the files of their tables.

The check of a table first splits the texts in the way that the file names. If this does not explain the merges, the
check tries the ways of this module, one after another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.history.token_texts import written
from bpe_core.kernels import TRANSPARENT
from bpe_core.methods.kit.scripts import scripts_of
from bpe_core.recipes.parts import Normalization, Unit
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.preparation.normalizers import Strip
from bpe_core.text.preparation.pieces import AddedToken

SENTENCEPIECE = "sentencepiece"  # the format of tables whose trainer splits words where the script changes
SUBWORD_NMT = "subword-nmt"
ALL = "none"  # the pattern that splits nothing
WORD_SIGN = "▁"
LINE_END = "\n"
IN_LOWER_CASE = "in lower case"
SPECIALS_AS_TEXT = "special tokens as text"
WITHOUT_UNKNOWN = "without unknown characters"
# Options of SentencePiece's trainer. Each pattern finds the words in which the trainer counts pairs.
SENTENCEPIECE_WORDS = {
    "": "",  # as the file says
    " and each space": f"{WORD_SIGN}[^{WORD_SIGN}]*",
    " and each space behind a word": f"[^{WORD_SIGN}]*{WORD_SIGN}",
    " and digit": f"[0-9]|{WORD_SIGN}+[^0-9{WORD_SIGN}]*|[^0-9{WORD_SIGN}]+",
}

CountWords = Callable[[Recipe], WordTable]


@dataclass(frozen=True)
class Way:
    name: str
    recipe: Recipe
    words: WordTable
    is_unsaid: bool = True  # whether no file of this kind can say that texts are split in this way


def other_ways(
    format: str, history: History, words: WordTable, count: CountWords, *, holds_splitting: bool
) -> Iterator[Way]:
    """Yield ways to split the texts into words, except the way that the file of the table names.

    Parameters
    ----------
    words
        The words into which the texts are split in the way that the file names.
    count
        A function that counts the words of the texts by a recipe.
    holds_splitting
        Whether files of this format say how texts are split.
    """
    recipe = history.recipe
    if recipe.base_symbols:  # integers have no other words
        return
    if format == SENTENCEPIECE:
        yield from _ways_of_sentencepiece(history, words, count)
    if recipe.special_tokens and recipe.spelled_specials != "text":
        kept = tuple(step for step in recipe.preparation if not isinstance(step, AddedToken))
        as_text = recipe.with_changes(special_tokens=(), preparation=kept)
        yield Way(SPECIALS_AS_TEXT, as_text, count(as_text))
    if recipe.base == "characters" and recipe.unknown != "bytes":
        yield Way(WITHOUT_UNKNOWN, recipe, without_unknown_characters(words, history))
    if recipe.preparation:
        return
    if format == SUBWORD_NMT and recipe.marker in ("glued", "symbol"):
        lines = recipe.with_changes(pattern=ALL, unit="line", marker="none", marker_text="")
        yield Way("by U+0020 alone", recipe, split_at_spaces(count(lines)))
    for unit in get_args(Unit):
        if unit != recipe.unit:
            by_unit = recipe.with_changes(unit=unit)
            yield Way(f"by {unit}", by_unit, count(by_unit))
    if recipe.marker == "none":
        by_line = recipe.with_changes(unit="line")
        yield Way("by line without its line break", by_line, without_line_ends(count(by_line)))
    is_plain = recipe.part(Normalization) == Normalization()
    if is_plain and recipe.marker == "none" and recipe.border == "":
        stripped = in_lines(recipe, Strip())
        yield Way("by line without the spaces around it", stripped, count(stripped))
    if not recipe.lowercase and recipe.border == "":
        small = recipe.with_changes(lowercase=True)
        yield Way(IN_LOWER_CASE, small, count(small), is_unsaid=not holds_splitting)


def _ways_of_sentencepiece(history: History, words: WordTable, count: CountWords) -> Iterator[Way]:
    recipe = history.recipe
    yield Way("by script", recipe, split_by_script(words, history))
    given = [text for text in written(history)[: len(history.alphabet)] if len(text.decode("utf-8", "replace")) > 1]
    for name, pattern in SENTENCEPIECE_WORDS.items():
        lines = in_lines(recipe)
        if pattern:
            lines = lines.with_changes(pattern="custom", custom_pattern=pattern)
        counted = split_around(count(lines), given)
        yield Way(f"by line, script{name}", lines, split_by_script(counted, history))
        yield Way(f"by line{name}", lines, counted)


def in_lines(recipe: Recipe, *steps: Strip) -> Recipe:
    """Return a recipe that prepares each line of a text separately, without its line break.

    A line break is a special token in this recipe, because special tokens belong to no word. The operations
    `steps` are applied to each line before those of the recipe.
    """
    kept = tuple(step for step in recipe.preparation if not isinstance(step, AddedToken))
    return recipe.with_changes(
        special_tokens=(LINE_END,), unit="file", preparation=(AddedToken(LINE_END), *steps, *kept)
    )


def split_around(words: WordTable, tokens: list[bytes]) -> WordTable:
    """Split words at each of the given tokens. The tokens themselves are left out.

    >>> dict(split_around(WordTable.from_counts({"other": 2}), [b"the"]))
    {b'o': 2, b'r': 2}
    """
    if not tokens:
        return words
    expression = re.compile(b"|".join(map(re.escape, sorted(tokens, key=len, reverse=True))))
    count_of: dict[bytes, int] = {}
    for word, count in words:
        for part in filter(None, expression.split(word)):
            count_of[part] = count_of.get(part, 0) + count
    return WordTable.from_counts(count_of.items())


def without_unknown_characters(words: WordTable, history: History) -> WordTable:
    """Remove the characters that a table does not have. Their neighbours then stand next to each other."""
    known = {text.decode("utf-8", "replace") for text in written(history)[: len(history.alphabet)]}
    count_of: dict[str, int] = {}
    for raw, count in words:
        kept = "".join(sign for sign in raw.decode("utf-8", "replace") if sign in known)
        if kept:
            count_of[kept] = count_of.get(kept, 0) + count
    return WordTable.from_counts(count_of)


def split_at_spaces(words: WordTable) -> WordTable:
    """Split lines into words at U+0020 only, as subword-nmt does. Other kinds of space stay in words."""
    count_of: dict[bytes, int] = {}
    for line, count in words:
        for word in line.strip(b"\r\n ").split(b" "):
            if word:
                count_of[word] = count_of.get(word, 0) + count
    return WordTable.from_counts(count_of.items())


def without_line_ends(words: WordTable) -> WordTable:
    """Remove line breaks at the ends of words, and return the words. A word that is only a line break is left out."""
    count_of: dict[bytes, int] = {}
    for word, count in words:
        kept = word.removesuffix(b"\n").removesuffix(b"\r") if word.endswith(b"\n") else word
        if kept:
            count_of[kept] = count_of.get(kept, 0) + count
    return WordTable.from_counts(count_of.items())


def split_by_script(words: WordTable, history: History) -> WordTable:
    """Split words where the script changes, as SentencePiece does. The marker before a word fits any script.

    A combining mark without a script stays with one of its two neighbours: the one to which the table's merges join it
    first.
    """
    texts = written(history)
    joined = {(texts[left], texts[right]): row for row, (left, right) in reversed(list(enumerate(history.pairs())))}
    known = [raw.decode() for raw, _ in words]
    signs = "".join({sign for word in known for sign in word} - {WORD_SIGN})
    script_of = dict(zip(signs, scripts_of(signs).tolist(), strict=True)) | {WORD_SIGN: TRANSPARENT}
    count_of: dict[str, int] = {}
    for word, count in zip(known, words.counts.tolist(), strict=True):
        start = 0
        script = TRANSPARENT
        for place, sign in enumerate(word):
            fits = TRANSPARENT in (script_of[sign], script) or script_of[sign] == script
            if not fits:
                border = place - _goes_with_next(word[start : place + 1], script_of, joined)
                count_of[word[start:border]] = count_of.get(word[start:border], 0) + count
                start = border
            script = script if script_of[sign] == TRANSPARENT else script_of[sign]
        count_of[word[start:]] = count_of.get(word[start:], 0) + count
    return WordTable.from_counts(count_of)


def _goes_with_next(signs: str, script_of: Mapping[str, int], joined: Mapping[tuple[bytes, bytes], int]) -> bool:
    if len(signs) < 3 or script_of[signs[-2]] != TRANSPARENT:
        return False
    before, mark, behind = (sign.encode() for sign in signs[-3:])
    return joined.get((mark, behind), len(joined)) < joined.get((before, mark), len(joined))
