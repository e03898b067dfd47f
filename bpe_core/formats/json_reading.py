"""Read JSON from an untrusted file: its size is bounded, and each value taken from it is checked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from bpe_core.errors import FormatError, TooLarge

Object = dict[str, Any]
Hook = Callable[[list[tuple[str, Any]]], Any]

PIECE = 1 << 18  # characters: some milliseconds
GUESSES = 20  # where to cut, before the rest is parsed at once
MARK = '"here stood the {}, which was parsed before"'
BEGINNING = {
    "vocab": re.compile(r'"vocab"\s*:\s*(?=\{)'),
    "merges": re.compile(r'"merges"\s*:\s*(?=\[)'),
}
COMMA = {"[": re.compile(r'(?<=\])\s*,\s*(?=\[)|(?<=")\s*,\s*(?=")'), "{": re.compile(r'(?<=\d)\s*,\s*(?=")')}
CLOSING = {"[": "]", "{": "}"}


def parsed_in_pieces(text: str, hook: Hook) -> Object | None:
    """What the text of a tokenizer.json means; None where it is not laid out so, or is not sound.

    >>> text = '{"model": {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}, "version": "1.0"}'
    >>> parsed_in_pieces(text, dict)
    {'model': {'vocab': {'a': 0, 'b': 1, 'ab': 2}, 'merges': ['a b']}, 'version': '1.0'}
    """
    found: dict[str, Any] = {}
    rest = text
    try:
        for name in BEGINNING:
            start = _start(rest, name)
            if start is None or MARK.format(name) in text:
                return None
            found[name], stop = _content(rest, start, hook)
            rest = rest[:start] + MARK.format(name) + rest[stop:]
        whole: Object = json.loads(rest, object_pairs_hook=hook)
    except (RecursionError, ValueError):
        return None
    model = whole.get("model")
    if not isinstance(model, dict) or any(model.get(name) != json.loads(MARK.format(name)) for name in found):
        return None
    model.update(found)
    return whole


def _start(text: str, name: str) -> int | None:
    key, place = f'"{name}"', -1
    while (place := text.find(key, place + 1)) >= 0:
        if match := BEGINNING[name].match(text, place):
            return match.end()
    return None


def _content(text: str, start: int, hook: Hook) -> tuple[Any, int]:
    opening = text[start]
    entries: Object = {}
    items: list[Any] = []
    at, count, stop = start + 1, 0, None
    while stop is None:
        part, at, stop = _next_piece(text, at, opening, list if opening == "{" else hook)  # entries as pairs
        count += len(part)
        if opening == "[":
            items += part
        else:
            entries.update(part)
    if opening == "{" and len(entries) < count:
        raise ValueError("an entry stands twice")
    return items if opening == "[" else entries, stop


def _next_piece(text: str, at: int, opening: str, hook: Hook) -> tuple[Any, int, int | None]:
    """What stands there, where the next begins, and if it was the last, where all ends."""
    for comma in islice(COMMA[opening].finditer(text, at + PIECE, at + 2 * PIECE), GUESSES):
        try:
            piece = json.loads(opening + text[at : comma.start()] + CLOSING[opening], object_pairs_hook=hook)
        except ValueError:
            continue
        return piece, comma.end(), None
    decoder = json.JSONDecoder(object_pairs_hook=hook)
    piece, end = decoder.raw_decode(opening + text[at:])
    return piece, at + end - 1, at + end - 1


LARGEST = 2**26  # bytes parsed at once; in memory they can become twenty times as many
LARGEST_NUMBER = 2**31 - 1


class _TwiceError(ValueError):
    """A key that stands twice in one object."""


def parsed_object(data: bytes, name: str, most: int = LARGEST, line: int | None = None) -> Object:
    """The JSON object that a whole file holds, or one line of it; of at most so many bytes."""
    where = name if line is None else f"{name}, line {line:,}"
    if len(data) > most:
        raise TooLarge(f"{where}: {len(data):,} bytes would have to be parsed at once; the limit is {most:,}.")
    try:
        text = data.decode("utf-8-sig")
        parsed = parsed_in_pieces(text, _without_repetition) if len(text) > PIECE else None
        if parsed is None:
            parsed = json.loads(text, object_pairs_hook=_without_repetition)
    except UnicodeDecodeError as error:
        raise FormatError(f"{where}: the bytes at place {error.start + 1:,} are not UTF-8.") from error
    except json.JSONDecodeError as error:
        at = f"{name}, line {line or error.lineno:,}, column {error.colno:,}"
        raise FormatError(f"{at}: this is not valid JSON from here on.") from error
    except _TwiceError as error:
        raise FormatError(f"{where}: {error}") from error
    except (RecursionError, ValueError) as error:  # brackets nested without end, a number of a million digits
        raise FormatError(f"{where}: JSON that no such file would hold: too deep, or a number too long.") from error
    if not isinstance(parsed, dict):
        raise FormatError(f"{where}: there must be a JSON object, in curly brackets.")
    return parsed


def _without_repetition(pairs: list[tuple[str, Any]]) -> Object:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _TwiceError(f"the entry {twice[:80]!r} stands twice in one object.")
    return found


def object_in(whole: Object, key: str, name: str) -> Object:
    """An entry that must be an object; empty where it is missing or null."""
    value = whole.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise FormatError(f'{name}: "{key}" must be an object.')
    return value


def list_in(whole: Object, key: str, name: str) -> list[Any]:
    """An entry that must be a list; empty where it is missing or null."""
    value = whole.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise FormatError(f'{name}: "{key}" must be a list.')
    return value


def text_in(whole: Object, key: str, name: str) -> str:
    """An entry that must be a text; empty where it is missing or null."""
    value = whole.get(key)
    if value is None:
        return ""
    return whole_text(value, f'{name}: "{key}"')


def whole_text(value: Any, what: str) -> str:
    """A text without halves of characters, which JSON can spell but no file can hold."""
    if not isinstance(value, str):
        raise FormatError(f"{what} must be a text.")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise FormatError(f"{what} holds half a character.") from error
    return value


def number_of(value: Any, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST_NUMBER:
        raise FormatError(f"{what} must be a whole number from 0 to {LARGEST_NUMBER:,}, not {str(value)[:40]}.")
    return value


def are_whole(texts: Iterable[Any]) -> bool:
    """Whether all are texts without halves of characters: fast, but it does not tell which is not."""
    try:
        "".join(texts).encode()
    except (TypeError, UnicodeEncodeError):
        return False
    return True


def _is_sound(entries: Object) -> bool:
    numbers = entries.values()
    if not entries or set(map(type, numbers)) != {int} or len(set(numbers)) < len(entries):
        return False
    return min(numbers) >= 0 and max(numbers) <= LARGEST_NUMBER and are_whole(entries)


def vocabulary_of(entries: Object, name: str) -> dict[str, int]:
    """Texts with their numbers, each number once."""
    if _is_sound(entries):
        return entries
    seen: dict[int, str] = {}
    for text, value in entries.items():
        whole_text(text, f"{name}: a token")
        number = number_of(value, f"{name}: the number of {text[:40]!r}")
        if number in seen:
            raise FormatError(f"{name}: the number {number:,} is given to {seen[number][:40]!r} and to {text[:40]!r}.")
        seen[number] = text
    return entries
