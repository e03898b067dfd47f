"""What is written on each token of a history, and what follows where two have the same text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bpe_core.errors import TooLarge
from bpe_core.formats.honest_text import escape
from bpe_core.formats.recovering import Recovery
from bpe_core.history.history import MergeHistory

LARGEST_TOTAL = 2**29  # bytes of all tokens together; a few dozen merges could double past any memory
SHOWN = 60  # characters of a token in a sentence
LISTED = 3  # tokens named in a sentence


def spelled(history: MergeHistory) -> list[bytes]:
    """The text of each token, word marker included, special tokens left out.

    >>> from bpe_core.alphabet import Alphabet
    >>> from bpe_core.recipe import Recipe
    >>> spelled(MergeHistory.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), [(108, 111), (256, 119)]))[256:]
    [b'lo', b'low']
    """
    texts = [symbol.text for symbol in history.alphabet.symbols]
    total = 0
    for left, right in zip(history.columns.left.tolist(), history.columns.right.tolist(), strict=True):
        total += len(texts[left]) + len(texts[right])
        if total > LARGEST_TOTAL:
            raise TooLarge(f"The tokens together are longer than {LARGEST_TOTAL:,} bytes; no other format holds them.")
        texts.append(texts[left] + texts[right])
    return texts


def named(texts: Sequence[bytes], ids: Sequence[int]) -> str:
    """Some tokens by text and id.

    >>> named([b"a", b"b\\n"], [1])
    '“b<0x0A>” (id 1)'
    """
    shown = []
    for id in ids[:LISTED]:
        text = escape(texts[id][: SHOWN * 4])
        shown.append(f"“{text[:SHOWN]}{'…' if len(text) > SHOWN else ''}” (id {id:,})")
    return ", ".join(shown) + (f" and {len(ids) - LISTED:,} more" if len(ids) > LISTED else "")


def listed(texts: Sequence[bytes]) -> str:
    """Some texts, where they have no id.

    >>> listed([b"a", b"b", b"c", b"d"])
    '“a”, “b”, “c” and 1 more'
    """
    shown = ", ".join(f"“{escape(text[:SHOWN])}{'…' if len(text) > SHOWN else ''}”" for text in texts[:LISTED])
    return shown + (f" and {len(texts) - LISTED:,} more" if len(texts) > LISTED else "")


def same_text(history: MergeHistory) -> list[str]:
    """A sentence if two tokens have the same text, which formats that name tokens by their text cannot tell apart."""
    texts = spelled(history)
    first: dict[bytes, int] = {}
    twins = [(first[text], id) for id, text in enumerate(texts) if first.setdefault(text, id) != id]
    if not twins:
        return []
    older, newer = twins[0]
    many = (
        f"{len(twins):,} tokens repeat the text of another one" if len(twins) > 1 else "Two tokens have the same text"
    )
    return [
        f"{many}: {named(texts, [newer])} is written like the token {older:,}. This format has one number for a text."
    ]


def containing(history: MergeHistory, unfit: Callable[[bytes], bool], what: str) -> list[str]:
    """A sentence if there are tokens whose text does not fit."""
    texts = spelled(history)
    found = [id for id, text in enumerate(texts) if unfit(text)]
    return [f"{what}: {named(texts, found)}."] if found else []


def unrecoverable(history: MergeHistory, texts: Sequence[bytes] | Sequence[str]) -> list[str]:
    """A sentence if a format that stores no merges, only ranks, would give a token another origin."""
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
