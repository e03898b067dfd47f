"""Machine code recovers the same merges from ranks as plain Python."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.formats.compiled_recovering import recovered_pairs
from bpe_core.formats.recovering import recover

BYTES = {bytes([byte]): byte for byte in range(256)}
SHORT = st.text("ab", min_size=2, max_size=4).map(str.encode)
LONG = st.builds(lambda part, power: part * 2**power, st.sampled_from([b"ab", b"a", b"abb"]), st.integers(1, 7))


@given(tokens=st.lists(SHORT | LONG, unique=True, max_size=20))
def test_the_same_pairs_or_none(tokens: list[bytes]) -> None:
    """Return None where a token falls into more or fewer than two, or has younger parts."""
    _compare(tokens)
    _compare(sorted(tokens, key=len))


def test_doubling() -> None:
    tokens = [b"ab" * 2**power for power in range(8)] + [b"c" * 2**power for power in range(1, 8)]
    assert _compare(tokens)


def _compare(tokens: list[bytes]) -> bool:
    ranks = {token: rank for rank, token in enumerate([*BYTES, *tokens])}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BPE_EXPLORER_PLAIN", "1")  # loaded kernels would be used otherwise
        plain = recover(ranks, BYTES, 256)
    compiled = recovered_pairs(tokens, BYTES)
    if plain.out_of_turn or plain.lost:
        assert compiled is None
        return False
    assert compiled is not None
    assert (plain.tokens, plain.pairs) == (tokens, list(map(tuple, compiled.tolist())))
    return True
