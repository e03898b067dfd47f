"""Numbers and names in sentences."""

from __future__ import annotations

from collections.abc import Iterable


def count_text(count: int, thing: str, things: str = "") -> str:
    """Write a number with its noun.

    >>> count_text(1, "merge"), count_text(1200, "merge"), count_text(0, "byte")
    ('1 merge', '1,200 merges', '0 bytes')
    """
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Ask whether a mistyped word was to be one of these names; return nothing if none is alike.

    >>> did_you_mean("trian", ["train", "trim"]), did_you_mean("fly", ["train", "trim"])
    ('; did you mean train?', '')
    """
    from difflib import get_close_matches  # wanted after a mistake only

    alike = get_close_matches(word, list(names), n=1)
    return f"; did you mean {alike[0]}?" if alike else ""
