"""A reader of JSON from untrusted files, with limits and checks, and a fast writer of large JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from bpe_core.errors import FormatError, RepeatedKeyError, TooLarge, TooManyValues
from bpe_core.formats.base import decoded
from bpe_core.support.foreign import MOST_VALUES, parsed_json, without_repetition
from bpe_core.support.wording import count_text

Object = dict[str, Any]
LARGEST = 2**26  # bytes parsed at once
LARGEST_NUMBER = 2**31 - 1


def parsed_object(
    data: bytes,
    name: str,
    most: int = LARGEST,
    line: int | None = None,
    number: Callable[[str], float] | None = None,
    *,
    counts_last: bool = False,
    deepest: int | None = None,
) -> Object:
    """Parse the JSON object of a whole file, or of one line. Raise TooLarge if it has more than `most` bytes.

    The function `number` converts numbers with a decimal point. If a key occurs twice in an object, raise an
    error, or use its last value if `counts_last` is true. Raise an error if a value is nested in more than
    `deepest` brackets.
    """
    where = name if line is None else f"{name}, line {line:,}"
    if len(data) > most:
        raise TooLarge(
            f"{where}: a JSON text of {count_text(len(data), 'byte')} is too large. At most "
            f"{count_text(most, 'byte is', 'bytes are')} read."
        )
    text = decoded(data, where, "utf-8-sig")
    try:
        hook = _with_the_last if counts_last else without_repetition
        parsed = parsed_json(text, object_pairs_hook=hook, parse_float=number)
    except json.JSONDecodeError as error:
        at = f"{name}, line {line or error.lineno:,}, column {error.colno:,}"
        raise FormatError(f"{at}: this is not valid JSON from here on.") from error
    except RepeatedKeyError as error:
        raise FormatError(f"{where}: {error}.") from error
    except TooManyValues as error:
        raise TooLarge(f"{where}: this JSON holds more than {MOST_VALUES:,} values, which is too many.") from error
    except (RecursionError, ValueError) as error:  # brackets nested without end, a number of a million digits
        raise FormatError(f"{where}: this JSON is nested too deeply, or holds a number that is too long.") from error
    if deepest is not None and _is_deeper(parsed, deepest):
        raise FormatError(f"{where}: this JSON is nested too deeply.")
    if not isinstance(parsed, dict):
        raise FormatError(f"{where}: there must be a JSON object, in curly brackets.")
    return parsed


def _is_deeper(value: Any, levels: int) -> bool:
    inside = [value]
    for _ in range(levels + 1):
        inside = [each for outer in inside if isinstance(outer, dict | list) for each in _values_in(outer)]
    return bool(inside)


def _values_in(outer: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return outer.values() if isinstance(outer, dict) else outer


LARGEST_DIGITS = 2**64 - 1  # as one whole number
LARGEST_POWER = 308
_POWERS = [float(f"1e{power}") for power in range(LARGEST_POWER + 1)]
NEIGHBOURS = 3  # on each side; serde_json reads one of them as the number that it had read


def number_by_serde(text: str) -> float:
    """Convert the text of a number to a float in the same way as serde_json, a Rust library.

    serde_json reads the digits as an integer, and multiplies or divides it by a power of ten. So the result can differ
    from the nearest float, which Python returns.

    >>> number_by_serde("-3.0142103961777096"), number_by_serde("2.5e-3")
    (-3.0142103961777096, 0.0025)
    """
    whole, _, decimals = text.partition(".")
    few = int(whole + decimals) if decimals.isdecimal() and len(decimals) <= LARGEST_POWER else 0
    if few and -LARGEST_DIGITS <= few <= LARGEST_DIGITS:  # nearly all numbers
        return few / _POWERS[len(decimals)]
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, decimals = mantissa.lstrip("-").partition(".")
    digits = whole + decimals
    power = int(exponent or 0) - len(decimals)
    while int(digits) > LARGEST_DIGITS:  # further ones are not looked at
        digits = digits[:-1]
        power = power + 1
    value = float(int(digits))
    while power < -LARGEST_POWER and value:
        value = value / 10.0**LARGEST_POWER
        power = power + LARGEST_POWER
    if power < -LARGEST_POWER or not value:
        value = 0.0
    elif power > LARGEST_POWER:
        return float(text)
    else:
        value = value / float(f"1e{-power}") if power < 0 else value * float(f"1e{power}")
    return -value if text.startswith("-") else value


def number_for_serde(number: float) -> float:
    """Return a float that serde_json reads as `number` when it is written as text.

    This is `number` itself, or one of the floats near it, because serde_json rounds differently from Python.
    """
    below = above = number
    for _ in range(NEIGHBOURS):
        for candidate in (below, above):
            if number_by_serde(repr(candidate)) == number:
                return candidate
        below = math.nextafter(below, -math.inf)
        above = math.nextafter(above, math.inf)
    return number


def _with_the_last(pairs: list[tuple[str, Any]]) -> Object:
    entries = dict(pairs)
    return (
        entries
        if len(entries) == len(pairs) or set(map(type, entries.values())) == {int}
        else without_repetition(pairs)
    )


def object_in(whole: Object, key: str, name: str) -> Object:
    """Return the object with this key. Return an empty object if the key is missing or null."""
    if not isinstance(value := _entry(whole, key, {}), dict):
        raise FormatError(f'{name}: "{key}" must be an object.')
    return value


def list_in(whole: Object, key: str, name: str) -> list[Any]:
    if not isinstance(value := _entry(whole, key, []), list):
        raise FormatError(f'{name}: "{key}" must be a list.')
    return value


def text_in(whole: Object, key: str, name: str) -> str:
    return checked_text(_entry(whole, key, ""), f'{name}: "{key}"')


def _entry(whole: Object, key: str, otherwise: object) -> object:
    return otherwise if (value := whole.get(key)) is None else value


def objects_in(whole: Object, key: str, name: str, called: str) -> Iterator[tuple[str, Object]]:
    """Yield each object of a list as `(where, object)`.

    `where` names the object in messages, for example as "tokenizer.json, added token 3".
    """
    for place, item in enumerate(list_in(whole, key, name), start=1):
        where = f"{name}, {called} {place:,}"
        if not isinstance(item, dict):
            raise FormatError(f"{where}: there must be an object.")
        yield where, item


def checked_text(value: Any, what: str) -> str:
    """Return the value if it is a string without lone surrogates. Otherwise raise FormatError.

    JSON can write lone surrogates, but they are not valid UTF-8. `what` names the value in the error.
    """
    if not isinstance(value, str):
        raise FormatError(f"{what} must be a text.")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise FormatError(f"{what} holds half of a surrogate pair, which is not a character.") from error
    return value


def number_of(value: Any, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST_NUMBER:
        raise FormatError(f"{what} must be a whole number from 0 to {LARGEST_NUMBER:,}, not {str(value)[:40]}.")
    return value


def are_texts(texts: Iterable[Any]) -> bool:
    """Return whether all values are strings without lone surrogates.

    The check is fast. It does not say which value is wrong.
    """
    try:
        "".join(texts).encode()
    except (TypeError, UnicodeEncodeError):
        return False
    return True


def columns_of(pairs: list[Any]) -> tuple[list[Any], list[Any]] | None:
    """Return the first items and the second items of a list of pairs. Return None if an item is not a pair."""
    if set(map(type, pairs)) != {list} or set(map(len, pairs)) != {2}:
        return None
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _is_sound(entries: Object) -> bool:
    numbers = [*entries.values()]
    if not numbers or set(map(type, numbers)) != {int}:
        return False
    if numbers != [*range(len(numbers))] and len(set(numbers)) < len(numbers):  # most files count from 0
        return False
    return min(numbers) >= 0 and max(numbers) <= LARGEST_NUMBER and are_texts(entries)


def vocabulary_of(entries: Object, name: str, sharing: list[str] | None = None) -> dict[str, int]:
    """Check the id of each token, and return the vocabulary.

    If two tokens have the same id, raise FormatError. If the list `sharing` is given, add the second token to it
    instead.
    """
    if _is_sound(entries):
        return entries
    seen: dict[int, str] = {}
    for text, value in entries.items():
        checked_text(text, f"{name}: a token")
        number = number_of(value, f"{name}: the id of {text[:40]!r}")
        if number in seen and sharing is not None:
            sharing.append(text)
        elif number in seen:
            raise FormatError(f"{name}: two tokens have the id {number:,}: {seen[number][:40]!r} and {text[:40]!r}.")
        seen[number] = text
    return entries


def indented_json(value: Any, by: int, depth: int = 0) -> str:
    """Return the same text as `json.dumps(value, ensure_ascii=False, indent=by)`, but much faster.

    >>> value = {"merges": [["a", "b"], ["ab", 2]], "vocab": {"a": 0, "b": None}, "many": [{"x": 1}, {"x": "é"}]}
    >>> value |= {"odd": [[], ["a"], {"x": [value.copy()]}], "none": {}}
    >>> [indented_json(value, by) == json.dumps(value, ensure_ascii=False, indent=by) for by in (0, 2)]
    [True, True]
    """
    if not isinstance(value, (dict, list)) or not value:
        return json.dumps(value, ensure_ascii=False)
    line, last = ("\n" + " " * by * deep for deep in (depth + 1, depth))
    if {*map(type, value.values() if isinstance(value, dict) else value)}.isdisjoint((dict, list)):
        body = json.dumps(value, ensure_ascii=False, separators=("," + line, ": "))[1:-1]
    elif isinstance(value, dict):
        keys = (json.dumps(key, ensure_ascii=False) for key in value)
        body = ("," + line).join(
            f"{key}: {indented_json(item, by, depth + 1)}" for key, item in zip(keys, value.values(), strict=True)
        )
    else:
        body = ("," + line).join(indented_json(item, by, depth + 1) for item in value)
    return f"{{{line}{body}{last}}}" if isinstance(value, dict) else f"[{line}{body}{last}]"
