r"""The translation of expressions that ignore case, so that `regex` matches the same texts as Oniguruma.

In both engines `s` also matches `S` and `ſ`. In Oniguruma several letters can equal one letter (`ss` and `ß`), `i`
equals only `I`, and `\p{Lu}` keeps its case outside of sets. If both engines match the same texts, an expression stays
unchanged.

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
    """Return the tokens of an expression without flags that ignore case.

    If both engines match the same texts, return the tokens unchanged.
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
            new, same = _spelled_out(unit, alone=any(looks_back))
        written += unit if new is None else [new]
        is_same &= same
    return [*tokens] if is_same else written


def _units(tokens: Sequence[str]) -> Iterator[tuple[Sequence[str], bool]]:
    """Yield each unit of an expression, and whether the case of the unit is ignored.

    A unit is a set, a row of letters, or any other token.
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
    """Return whether the token is a single complete set. A set can also begin with a bracket as its member: `[]a]`."""
    return token[0] == "[" and len(token) > len("[^]") and token[-1] == "]"


def _end_of_set(tokens: Sequence[str], start: int) -> int:
    depth = 0
    for place in range(start, len(tokens)):
        depth += (tokens[place][0] == "[" and not is_whole_set(tokens[place])) - (tokens[place] == "]")
        if depth == 0:
            return place + 1
    return len(tokens)


def _end_of_letters(tokens: Sequence[str], start: int) -> int:
    """Return the end of a row of letters. A letter that is repeated is a row by itself."""
    stop = start
    while stop < len(tokens) and _letter(tokens[stop]):
        stop += 1
    is_repeated = stop < len(tokens) and tokens[stop][0] in _QUANTIFIERS
    return stop - (is_repeated and stop - start > 1)


def _letter(token: str) -> str:
    """Return the character that a token matches literally. Return an empty text for any other token."""
    if token.startswith(r"\U") and len(token) == len(r"\U00000000"):
        return chr(int(token.removeprefix(r"\U"), 16))
    return token if len(token) == 1 and token not in _SPECIAL else ""


def _without_flag(token: str) -> str:
    left = token[2:-1].replace("i", "").removesuffix("-")
    return f"(?{left}{token[-1]}" if left or token[-1] == ":" else ""


def _spelled_out(unit: Sequence[str], *, alone: bool) -> tuple[str, bool]:
    """Return an expression that lists everything that a unit can match, and a flag.

    The flag is true if `regex` matches the same texts without this expression. If `alone` is true, as in a
    lookbehind, a letter is never equal to several letters, as `ß` is to `ss`.
    """
    token = "".join(unit)
    if _letter(unit[0]) and alone:
        return "".join(_one_of(_alike().get(_letter(letter).casefold(), _letter(letter))) for letter in unit), False
    if _letter(unit[0]):
        return _letters("".join(map(_letter, unit)))
    if token[0] == "[" and not is_whole_set(unit[0]):
        return _set(token)
    if token[0] == "\\" and token[1:2].isdecimal():
        return f"(?i:{token})", True
    return token, not token.startswith((r"\p", r"\P"))


@cache
def _alike() -> dict[str, str]:
    """Return a map from each case-folded text to all characters with this case-folded text.

    Characters without another spelling are left out.
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
    return "".join(_one_of(_alike().get(part, part)) for part in small)


def _character(small: str) -> str:
    """Return an expression for all spellings of one case-folded character.

    A case-folded character can be several letters.
    """
    single = _one_of(_alike().get(small, small))
    return single if len(small) == 1 else f"(?:{_parts(small)}|{single})"


def _letters(letters: str) -> tuple[str, bool]:
    small = [letter.casefold() for letter in letters]
    stretches = {
        (start, start + length)
        for start in range(len(small))
        for length in range(2, _LONGEST + 1)
        if set(map(len, small[start : start + length])) == {1} and "".join(small[start : start + length]) in _alike()
        if start + length <= len(small)
    }
    is_same = not stretches and _OTHERWISE.isdisjoint(letters) and set(map(len, small)) == {1}
    return "".join(_ways(small, stretches)), is_same


def _ways(small: Sequence[str], stretches: set[Stretch]) -> Iterator[str]:
    """Yield expressions for consecutive parts of the letters.

    `stretches` holds ranges of letters that one character can equal. No such range crosses the end of a part.
    """
    start = 0
    while start < len(small):
        stop = start + 1
        while longer := [last for first, last in stretches if start <= first < stop < last]:
            stop = max(longer)
        yield _way(small[start:stop], {(first - start, last - start) for first, last in stretches if first >= start})
        start = stop


def _way(small: Sequence[str], stretches: set[Stretch]) -> str:
    if not small:
        return ""
    ways = []
    for end in (1, *sorted(last for first, last in stretches if first == 0 and last <= len(small))):
        begins = _character(small[0]) if end == 1 else _one_of(_alike()["".join(small[:end])])
        ways.append(
            begins + _way(small[end:], {(first - end, last - end) for first, last in stretches if first >= end})
        )
    return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


@lru_cache(maxsize=64)
def _set(written: str) -> tuple[str, bool]:
    """Return a set that also holds all other spellings of its members.

    The second result is whether `regex` matches the same texts by itself.
    """
    is_negated = written.startswith("[^")
    body = "[" + written[2:] if is_negated else written
    is_plain = written.isascii() and not set(body[1:-1]) & {*"iI\\[-"}
    holds = regex.compile(f"(?V1){body}").fullmatch
    groups = [(small, characters) for small, characters in _alike().items() if any(map(holds, characters))]
    more = [character for _, characters in groups for character in characters if not holds(character)]
    if is_negated:
        return (f"(?:(?!{_one_of(more)}){written})" if more else written), is_plain
    ways = [written, *([_one_of(more)] if more else []), *(_parts(small) for small, _ in groups if len(small) > 1)]
    return (written if len(ways) == 1 else f"(?:{'|'.join(ways)})"), is_plain
