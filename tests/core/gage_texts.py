"""Random texts and recipes for Gage's compressor.

They contain hard cases: runs of one byte, ties, small blocks, and blocks in which few bytes are unused.
"""

from __future__ import annotations

from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.recipes.recipe import Recipe
from tests.core.random_training import BYTE_TIES

ALPHABETS = [b"a", b"ab", b"abc", b"low wer", bytes(range(248, 256)), bytes(range(256))]


@st.composite
def data(draw: st.DrawFn, longest: int = 120) -> bytes:
    """Draw bytes of any kind, with runs of equal bytes."""
    letters = st.sampled_from(list(draw(st.sampled_from(ALPHABETS))))
    run = st.tuples(letters, st.sampled_from([1, 1, 1, 2, 5, 12]))
    runs = draw(st.lists(run, min_size=1, max_size=longest))
    return b"".join(bytes([letter]) * times for letter, times in runs)[:longest]


@st.composite
def recipes(draw: st.DrawFn) -> Recipe:
    return Recipe.preset(
        "gage",
        merges=draw(st.sampled_from([0, 3, 60, 1_000])),
        min_frequency=draw(st.integers(1, 5)),
        max_token_length=draw(st.none() | st.integers(2, 6)),
        ties=draw(st.sampled_from(BYTE_TIES)),
        block_size=draw(st.sampled_from([2, 9, 40, 5_000])),
        block_bytes=draw(st.sampled_from([1, 2, 3, 5, 200, 255, 256])),
    )


@st.composite
def words(draw: st.DrawFn) -> WordTable:
    """Draw a few texts, some of them repeated."""
    texts = draw(st.lists(data(), min_size=1, max_size=3, unique=True))
    return WordTable.from_counts([(text, draw(st.sampled_from([1, 1, 3, 2**40]))) for text in texts])
