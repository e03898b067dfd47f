"""Tests of the kernels that recover merges from ranks: they find the same merges as plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.formats import recovering
from bpe_core.formats.compiled_recovering import parts_of
from bpe_core.formats.recovering import recover
from bpe_core.history.laid_texts import concatenate
from bpe_core.history.text_table import build_table
from bpe_core.segmenting.text_pairs import joinable_pairs
from bpe_core.support.arrays import Int32s
from tests.machine_code import machine_code

BYTES = {bytes([byte]): byte for byte in range(256)}
SHORT = st.text("ab", min_size=2, max_size=4).map(str.encode)
LONG = st.builds(lambda part, power: part * 2**power, st.sampled_from([b"ab", b"a", b"abb"]), st.integers(1, 7))
ALWAYS, NEVER = True, False


@given(tokens=st.lists(SHORT | LONG, unique=True, max_size=20))
def test_kernels_and_plain_python_recover_the_same_merges_from_byte_tokens(tokens: list[bytes]) -> None:
    """Some tokens cannot be divided into exactly two earlier tokens. Others have parts with later ranks."""
    assert _recover(tokens, BYTES, 256, ALWAYS) == _recover(tokens, BYTES, 256, NEVER)
    in_order = sorted(tokens, key=len)
    assert _recover(in_order, BYTES, 256, ALWAYS) == _recover(in_order, BYTES, 256, NEVER)


@given(
    tokens=st.lists(st.text("ab", min_size=2, max_size=9).map(str.encode), unique=True, max_size=60),
    by_length=st.booleans(),
)
def test_kernels_and_plain_python_recover_the_same_merges_from_tokens_with_many_splits(
    tokens: list[bytes], by_length: bool
) -> None:
    """If the shortest tokens come first, nearly every token is made of two earlier tokens."""
    tokens = sorted(tokens, key=len) if by_length else tokens
    assert _recover(tokens, BYTES, 256, ALWAYS) == _recover(tokens, BYTES, 256, NEVER)


@given(sizes=st.lists(st.integers(2, 24), unique=True, max_size=23), behind=st.booleans())
def test_kernels_and_plain_python_recover_the_same_merges_from_tokens_of_repeated_letters(
    sizes: list[int], behind: bool
) -> None:
    """All pairs have equal ranks here, so the leftmost pair is joined."""
    tokens = [b"a" * size + b"b" * behind for size in sizes] + [b"a" * size for size in sizes if behind]
    assert _recover(tokens, BYTES, 256, ALWAYS) == _recover(tokens, BYTES, 256, NEVER)


@given(
    tokens=st.lists(st.text("ab", min_size=2, max_size=6), unique=True, max_size=30), base=st.sampled_from(["ab", "a"])
)
def test_each_recovered_merge_comes_after_the_merges_that_make_its_two_parts(tokens: list[str], base: str) -> None:
    parts = recovering._parts_plainly(tokens)
    texts = [*parts.symbols, *tokens]
    ids = np.array([0 if symbol in base else -1 for symbol in parts.symbols], np.int64)
    halves = {
        place: (texts[parts.left[place]], texts[parts.right[place]])
        for place in np.flatnonzero(parts.left >= 0).tolist()
    }

    def turn(place: int) -> tuple[int, int]:
        behind = max(tokens.index(half) if half in tokens else 0 for half in halves[place])
        return (behind, place + 1) if parts.is_late[place] else (place, 0)

    known, waiting, places = {*base}, set[int](), list[int]()
    for first in sorted(halves, key=turn):
        waiting.add(first)
        while ready := [place for place in waiting if known.issuperset(halves[place])]:
            place = min(ready, key=turn)
            waiting.remove(place)
            known.add(tokens[place])
            places.append(place)
    assert parts.in_order(ids).tolist() == places


@given(tokens=st.lists(st.text("añ日𝄞", min_size=2, max_size=6), unique=True, max_size=20))
def test_kernels_and_plain_python_recover_the_same_merges_from_character_tokens(tokens: list[str]) -> None:
    """Some characters occur only in longer tokens, and some base symbols are in no merge."""
    base = {"a": 3, "日": 5, "ñ": 4}
    assert _recover(tokens, base, 9, ALWAYS) == _recover(tokens, base, 9, NEVER)


def test_kernels_recover_both_halves_of_tokens_that_double_the_previous_token() -> None:
    tokens = [b"ab" * 2**power for power in range(8)] + [b"c" * 2**power for power in range(1, 8)]
    symbols, left, right, is_late = parts_of(tokens)
    texts = [*symbols, *tokens]
    assert [texts[left_part] + texts[right_part] for left_part, right_part in zip(left, right, strict=True)] == tokens
    assert not is_late.any()


def _recover(tokens: list, base: dict, first_id: int, by_kernels: bool) -> tuple[object, ...]:  # type: ignore[type-arg]
    with machine_code(is_used=by_kernels):
        recovered = recover(tokens, base, first_id)
    assert [tokens[place] for place in recovered.places] == recovered.tokens
    return recovered.tokens, recovered.pairs.tolist(), recovered.out_of_turn, recovered.lost


def _pairs(texts: list[bytes]) -> tuple[Int32s, ...]:
    return joinable_pairs(build_table(*concatenate(texts)))


@given(texts=st.lists(st.text("aé", min_size=1, max_size=7).map(str.encode), unique=True, max_size=30))
def test_kernels_find_every_pair_of_tokens_that_can_be_joined_into_another_token(texts: list[bytes]) -> None:
    pairs = set(zip(*(column.tolist() for column in _pairs(texts)), strict=True))
    both = enumerate(texts)
    assert pairs == {
        (texts.index(text[:cut]), texts.index(text[cut:]), whole)
        for whole, text in both
        for cut in range(1, len(text))
        if text[:cut] in texts and text[cut:] in texts
    }


@pytest.mark.parametrize("length", [1, 300])
def test_the_kernel_for_pairs_of_tokens_enlarges_its_buffer_for_many_rows(length: int) -> None:
    texts = [b"a" * size for size in range(1, length + 1)]
    assert len(_pairs(texts)[0]) == length * (length - 1) // 2
