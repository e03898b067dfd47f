"""How well what was typed fits a title."""

from __future__ import annotations

BEGINNING, WORDS_BEGIN, WITHIN, LETTERS_IN_ORDER = range(4)


def fit(typed: str, title: str) -> int | None:
    """The smaller, the better; None where it does not fit at all. Capitals do not matter.

    >>> [fit(typed, "Open Texts …") for typed in ("open", "te op", "ext", "otx", "train")]
    [0, 1, 2, 3, None]
    """
    typed, title = typed.casefold().strip(), title.casefold()
    if title.startswith(typed):
        return BEGINNING
    wanted, words = typed.split(), title.split()
    if all(any(word.startswith(part) for word in words) for part in wanted):
        return WORDS_BEGIN
    if all(part in title for part in wanted):
        return WITHIN
    return LETTERS_IN_ORDER if _stand_in_order(typed, title) else None


def _stand_in_order(letters: str, title: str) -> bool:
    rest = iter(title)
    return all(letter in rest for letter in letters if not letter.isspace())
