r"""The translation of expressions that ignore case, so that `regex` matches the same texts as Oniguruma.

In both engines `s` also matches `S` and `ſ`. But Oniguruma differs from `regex` in three ways. One letter can equal
several letters, as `ß` equals `ss`. The letter `i` equals only `I`. `\p{Lu}` matches only capital letters, except in a
set. If both engines match the same texts, an expression stays unchanged.

    >>> "".join(as_in_oniguruma(["(?i:", "s", "s", "|", "a", ")"])), "".join(as_in_oniguruma(["(?i)", "a", "b"]))
    ('(?:(?:[Ssſ][Ssſ]|[ßẞ])|[Aa])', '(?i)ab')
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

import regex

_WITH_CASE = (*range(0xD800), *range(0xE000, 0x20000))  # no letter above this has two cases
_OTHERWISE = frozenset("iIıİ")  # characters that `regex` considers equal
_SPECIAL = frozenset("()[]{}|.*+?^$\\")
_QUANTIFIERS = frozenset("*+?{")
_FLAGS = regex.compile(r"\(\?([a-z-]*)[:)]")
_LONGEST = 3  # the most letters that can equal one letter

Stretch = tuple[int, int]  # where letters begin and end that can equal one letter


def as_in_oniguruma(tokens: Sequence[str]) -> list[str]:
    """Rewrite a regular expression so that `regex` ignores case in the same way as Oniguruma.

    The new expression needs no flag for ignoring case. `tokens` are the tokens of the expression. If both
    libraries already match the same texts, return the tokens unchanged.
    """
    written = list[str]()
    is_same = True
    looks_back = list[bool]()  # in the surrounding groups
    for unit, ignores in _units(tokens):
        if _opens(unit[0]):
            looks_back.append(unit[0].startswith("(?<") or any(looks_back))
        elif unit[0] == ")" and looks_back:
            looks_back.pop()
        is_flagged = _FLAGS.fullmatch(unit[0]) is not None and "i" in unit[0]
        if is_flagged or not ignores:
            new = _without_flag(unit[0]) if is_flagged else None
            same = True
        else:
            new, same = _list_matches(unit, alone=any(looks_back))
        written += unit if new is None else [new]
        is_same &= same
    return [*tokens] if is_same else written


def _units(tokens: Sequence[str]) -> Iterator[tuple[Sequence[str], bool]]:
    """Yield each unit of an expression, and whether the unit ignores case.

    A unit is a set, a run of letters, or any other token.
    """
    ignores, outside = False, list[bool]()  # outside: in the surrounding groups
    place = 0
    while place < len(tokens):
        token = tokens[place]
        stop = place + 1
        flags = _FLAGS.fullmatch(token)
        if _opens(token) or flags:
            if _opens(token):
                outside.append(ignores)
            on, _, off = flags[1].partition("-") if flags else ("", "", "")
            ignores = (ignores or "i" in on) and "i" not in off
        elif token == ")" and outside:
            ignores = outside.pop()
        elif token[0] == "[" and not is_whole_set(token):
            stop = _end_of_set(tokens, place)
        elif _letter(token):
            stop = _end_of_letters(tokens, place)
        yield tokens[place:stop], ignores
        place = stop


def _opens(token: str) -> bool:
    return token[0] == "(" and token[-1] != ")"


def is_whole_set(token: str) -> bool:
    """Return whether a token of an expression is a complete set of characters, such as `[:alpha:]`.

    The token `[]` is not a complete set, because it begins a set whose first member is `]`, such as `[]a]`.

    >>> is_whole_set("[:alpha:]"), is_whole_set("[]"), is_whole_set("[")
    (True, False, False)
    """
    return token[0] == "[" and len(token) > len("[^]") and token[-1] == "]"


def _end_of_set(tokens: Sequence[str], start: int) -> int:
    depth = 0
    for place in range(start, len(tokens)):
        depth += (tokens[place][0] == "[" and not is_whole_set(tokens[place])) - (tokens[place] == "]")
        if depth == 0:
            return place + 1
    return len(tokens)


def _end_of_letters(tokens: Sequence[str], start: int) -> int:
    """Return where a run of letters ends, if it begins at `start` in the tokens of a regular expression.

    A letter with a quantifier, such as `a*`, forms a run by itself.
    """
    stop = start
    while stop < len(tokens) and _letter(tokens[stop]):
        stop += 1
    is_repeated = stop < len(tokens) and tokens[stop][0] in _QUANTIFIERS
    return stop - (is_repeated and stop - start > 1)


def _letter(token: str) -> str:
    """Return the character that a token of a regular expression stands for, such as `a`.

    Return an empty string if the token has a special meaning, such as `(`.
    """
    if token.startswith(r"\U") and len(token) == len(r"\U00000000"):
        return chr(int(token.removeprefix(r"\U"), 16))
    return token if len(token) == 1 and token not in _SPECIAL else ""


def _without_flag(token: str) -> str:
    left = token[2:-1].replace("i", "").removesuffix("-")
    return f"(?{left}{token[-1]}" if left or token[-1] == ":" else ""


def _list_matches(unit: Sequence[str], *, alone: bool) -> tuple[str, bool]:
    """Return an expression that matches all spellings of the letters in `unit`, such as `[Ssſ]` for `s`.

    A unit is a part of an expression: a set, a run of letters, or any other token. Also return whether `regex`
    finds the same matches if the unit is not changed. If `alone` is true, as in a lookbehind, one letter never
    matches several letters, so `ß` does not match `ss`.
    """
    token = "".join(unit)
    if _letter(unit[0]) and alone:
        return "".join(_one_of(_spellings().get(_letter(letter).casefold(), _letter(letter))) for letter in unit), False
    if _letter(unit[0]):
        return _letters("".join(map(_letter, unit)))
    if token[0] == "[" and not is_whole_set(unit[0]):
        return _set_with_spellings(token)
    if token[0] == "\\" and token[1:2].isdecimal():
        return f"(?i:{token})", True
    return token, not token.startswith((r"\p", r"\P"))


@cache
def _spellings() -> dict[str, str]:
    """Return a dictionary from each case-folded text to the characters that fold to it, such as from `s` to `Ssſ`.

    Texts with only one spelling are left out.
    """
    spellings: dict[str, str] = {}
    for character in map(chr, _WITH_CASE):
        small = character.casefold()
        spellings[small] = spellings.get(small, "") + character
    return {small: characters for small, characters in spellings.items() if len(characters) > 1 or len(small) > 1}


def _one_of(characters: Iterable[str]) -> str:
    escaped = [regex.escape(character) for character in sorted(characters)]
    return escaped[0] if len(escaped) == 1 else f"[{''.join(escaped)}]"


def _parts(small: str) -> str:
    return "".join(_one_of(_spellings().get(part, part)) for part in small)


def _expression_of_character(small: str) -> str:
    """Return a regular expression that matches each text which `casefold` turns into `small`.

    `small` is the case-folded form of one character. It can have several letters, such as `ss` for `ß`.
    """
    single = _one_of(_spellings().get(small, small))
    return single if len(small) == 1 else f"(?:{_parts(small)}|{single})"


def _letters(letters: str) -> tuple[str, bool]:
    small = [letter.casefold() for letter in letters]
    stretches = {
        (start, start + length)
        for start in range(len(small))
        for length in range(2, _LONGEST + 1)
        if set(map(len, small[start : start + length])) == {1}
        and "".join(small[start : start + length]) in _spellings()
        if start + length <= len(small)
    }
    is_same = not stretches and _OTHERWISE.isdisjoint(letters) and set(map(len, small)) == {1}
    return "".join(_expressions_of_parts(small, stretches)), is_same


def _expressions_of_parts(small: Sequence[str], stretches: set[Stretch]) -> Iterator[str]:
    """Divide the letters into consecutive parts, and yield a regular expression for each part.

    `small` holds the letters in lower case. A single character can match several letters, as `ß` matches `ss` if case
    is ignored. `stretches` holds the ranges of such letters. No part begins or ends inside one of these ranges.
    """
    start = 0
    while start < len(small):
        stop = start + 1
        while longer := [last for first, last in stretches if start <= first < stop < last]:
            stop = max(longer)
        yield _expression_of_part(
            small[start:stop], {(first - start, last - start) for first, last in stretches if first >= start}
        )
        start = stop


def _expression_of_part(small: Sequence[str], stretches: set[Stretch]) -> str:
    if not small:
        return ""
    ways = []
    for end in (1, *sorted(last for first, last in stretches if first == 0 and last <= len(small))):
        begins = _expression_of_character(small[0]) if end == 1 else _one_of(_spellings()["".join(small[:end])])
        ways.append(
            begins
            + _expression_of_part(small[end:], {(first - end, last - end) for first, last in stretches if first >= end})
        )
    return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


@lru_cache(maxsize=64)
def _set_with_spellings(written: str) -> tuple[str, bool]:
    """Extend a character set of a regular expression by the other spellings of its characters.

    For example, `S` and `ſ` are other spellings of `s`. Return the extended set. Also return whether the set need not
    be extended, because `regex` already matches the same texts when it ignores case.
    """
    is_negated = written.startswith("[^")
    body = "[" + written[2:] if is_negated else written
    is_plain = written.isascii() and not set(body[1:-1]) & {*"iI\\[-"}
    holds = regex.compile(f"(?V1){body}").fullmatch
    groups = [(small, characters) for small, characters in _spellings().items() if any(map(holds, characters))]
    more = [character for _, characters in groups for character in characters if not holds(character)]
    if is_negated:
        return (f"(?:(?!{_one_of(more)}){written})" if more else written), is_plain
    ways = [written, *([_one_of(more)] if more else []), *(_parts(small) for small, _ in groups if len(small) > 1)]
    return (written if len(ways) == 1 else f"(?:{'|'.join(ways)})"), is_plain
