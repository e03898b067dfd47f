"""Strategies for random words, recipes and texts with hard cases: overlaps, ties, markers and unknown characters."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import TIE_RULES

ALPHABETS = ["a", "ab", "abc", "ab </w>", "a▁b", "aé漢😀", "low wer newst", "aAàÀ\u0300\u200d🏽👩"]

BYTE_TIES = [name for name, rule in TIE_RULES.items() if rule.fits("bytes")]
MARKERS = ["none", "continuation", "symbol", "glued", "prefix"]
CHARACTER_TIES = [name for name, rule in TIE_RULES.items() if rule.fits("characters")]


@st.composite
def words(draw: st.DrawFn) -> WordTable:
    """Generate at most twelve distinct words of few letters, so that pairs repeat, overlap and tie."""
    letters = draw(st.sampled_from(ALPHABETS))
    word = st.text(letters, min_size=1, max_size=draw(st.sampled_from([4, 12, 60])))
    weight = st.integers(1, draw(st.sampled_from([1, 3, 2**40])))
    return WordTable.from_counts(draw(st.dictionaries(word, weight, min_size=1, max_size=12)))


@st.composite
def recipes(draw: st.DrawFn) -> Recipe:
    choices: dict[str, Any] = dict(
        merges=draw(st.integers(0, 60)),
        vocab_size=None,
        min_frequency=draw(st.integers(1, 4)),
        max_token_length=draw(st.none() | st.integers(2, 6)),
    )
    if draw(st.booleans()):
        ties = BYTE_TIES
    else:
        ties = CHARACTER_TIES
        choices |= dict(
            base="characters",
            alphabet_limit=draw(st.none() | st.integers(1, 3)),
            unknown=draw(st.sampled_from(["unk", "bytes"])),
        )
    # The alphabets hold the letters of markers, because a text that contains a marker must not be treated as a marker.
    marker = draw(st.sampled_from(MARKERS))
    choices |= dict(pattern="whitespace", ties=draw(st.sampled_from(ties)), marker=marker)
    return Recipe(**choices)


@st.composite
def merge_tables(draw: st.DrawFn) -> History:
    """Draw any valid merge table. It may be a table that cannot be the result of training."""
    table, recipe = draw(words()), draw(recipes())
    alphabet = Alphabet.for_words(table, recipe)
    usable = [id for id, symbol in enumerate(alphabet.symbols) if symbol.merges]
    if len(alphabet) >= 256:  # the bytes that occur, or hardly any merge would ever apply
        present = {id for word, _ in table for id in alphabet.symbols_of(word, recipe)}
        usable = [id for id in usable if id in present]
    pairs: list[tuple[int, int]] = []
    for _ in range(draw(st.integers(0, 30)) if usable else 0):
        pair = draw(st.sampled_from(usable)), draw(st.sampled_from(usable))
        if pair not in pairs:
            usable.append(len(alphabet) + len(pairs))
            pairs.append(pair)
    return History.from_pairs(recipe, alphabet, pairs)


def texts() -> st.SearchStrategy[str]:
    """Draw texts of different kinds.

    Some texts have only letters from one of the `ALPHABETS`. Others have any characters, or many equal letters in a
    row.
    """
    known = st.sampled_from(ALPHABETS).flatmap(lambda letters: st.text(letters, max_size=80))
    runs = st.lists(st.tuples(st.sampled_from("abé😀 "), st.integers(1, 40)), max_size=6)
    return (
        known
        | st.text(max_size=30)
        | runs.map(lambda runs_of_letters: "".join(letter * n for letter, n in runs_of_letters))
    )
