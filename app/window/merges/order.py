"""In which order rows stand that are sorted by numbers or texts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from bpe_core import History
from bpe_core.token_texts import TokenTexts

Order = npt.NDArray[np.int64]
HEAD = 16  # bytes of a text by which nearly all tokens are told apart, as two numbers
_kept: WeakKeyDictionary[TokenTexts, Order] = WeakKeyDictionary()


def argsort(keys: npt.NDArray[Any], descending: bool) -> Order:
    """Equal keys stay in step order, whichever way round.

    >>> argsort(np.array([3, 1, 3]), descending=True).tolist()
    [0, 2, 1]
    """
    if not descending:
        return np.argsort(keys, kind="stable")
    return len(keys) - 1 - np.argsort(keys[::-1], kind="stable")[::-1]


def places_by_text(history: History, names: TokenTexts) -> Order:
    """Where each token stands among all by its text; known until the history grows."""
    tokens = history.first_special
    if len(_kept.get(names, ())) < tokens:
        _kept[names] = ranks(names.raw[:tokens])
    return _kept[names]


def ranks(texts: Sequence[bytes]) -> Order:
    """How many different texts stand before each.

    >>> ranks([b"b", b"ab", b"b", b"a"]).tolist()
    [2, 1, 2, 0]
    """
    heads = np.array(texts, f"S{HEAD}").view(">u8").reshape(len(texts), 2).astype(np.uint64)
    order = np.lexsort((heads[:, 1], heads[:, 0]))
    in_order = heads[order]
    tied = np.zeros(len(texts) + 1, np.int8)
    tied[1:-1] = (in_order[1:] == in_order[:-1]).all(axis=1)
    is_new = tied[:-1] == 0
    starts, stops = np.flatnonzero(np.diff(tied) > 0), np.flatnonzero(np.diff(tied) < 0) + 1
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        some = sorted(order[start:stop].tolist(), key=texts.__getitem__)
        order[start:stop] = some
        is_new[start + 1 : stop] = [texts[one] != texts[before] for before, one in pairwise(some)]
    found = np.empty(len(texts), np.int64)
    found[order] = np.cumsum(is_new) - 1
    return found
