"""Tokens that a format has no place for, in sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bpe_core.formats.recovering import Recovery, pairs_by_kernels
from bpe_core.history.history import History
from bpe_core.token_texts import quoted, written

LISTED = 3  # tokens named in a sentence


def named(texts: Sequence[bytes], ids: Sequence[int]) -> str:
    """Some tokens by text and id.

    >>> named([b"a", b"b\\n"], [1])
    '“b⏎” (id 1)'
    """
    few = ", ".join(f"{quoted(texts[id])} (id {id:,})" for id in ids[:LISTED])
    return few + (f" and {len(ids) - LISTED:,} more" if len(ids) > LISTED else "")


def listed(texts: Sequence[bytes]) -> str:
    """Some texts, where they have no id.

    >>> listed([b"a", b"b", b"c", b"d"])
    '“a”, “b”, “c” and 1 more'
    """
    few = ", ".join(map(quoted, texts[:LISTED]))
    return few + (f" and {len(texts) - LISTED:,} more" if len(texts) > LISTED else "")


def same_text(history: History) -> list[str]:
    """A sentence if two tokens have the same text, which formats that name tokens by their text cannot tell apart."""
    texts = written(history)
    if len(set(texts)) == len(texts):
        return []
    first: dict[bytes, int] = {}
    twins = [(first[text], id) for id, text in enumerate(texts) if first.setdefault(text, id) != id]
    older, newer = twins[0]
    many = (
        f"{len(twins):,} tokens repeat the text of another one" if len(twins) > 1 else "Two tokens have the same text"
    )
    return [
        f"{many}: {named(texts, [newer])} is written like the token {older:,}. This format has one number for a text."
    ]


def containing(history: History, unfit: Callable[[bytes], bool], what: str) -> list[str]:
    """A sentence if there are tokens whose text does not fit."""
    texts = written(history)
    found = [id for id, text in enumerate(texts) if unfit(text)]
    return [f"{what}: {named(texts, found)}."] if found else []


def unrecoverable(history: History, texts: Sequence[bytes] | Sequence[str]) -> list[str]:
    """A sentence if a format that stores no merges, only ranks, would give a token another origin."""
    base = {text: id for id, text in enumerate(texts[: len(history.alphabet)])}
    if len(base) == len(history.alphabet) and history.only_joins:
        recovered = pairs_by_kernels(texts[len(base) :], base)
        if recovered is not None and np.array_equal(recovered.T, history.columns[:2]):
            return []
    recovery = Recovery(dict(zip(reversed(texts), reversed(range(len(texts))), strict=True)))  # type: ignore[type-var]
    lost = [
        merge.id
        for merge in history
        if recovery.pieces(texts[merge.id], merge.id) != [texts[merge.left], texts[merge.right]]
    ]
    if not lost:
        return []
    first = lost[0]
    left, right = history.parts(first) or (first, first)
    plain = [text.encode() if isinstance(text, str) else text for text in texts]
    return [
        f"The merges of {len(lost):,} tokens cannot be recovered from ranks: {named(plain, lost)}. The first was made "
        f"of {named(plain, [left])} and {named(plain, [right])}, but merging by rank comes to other pieces."
    ]
