"""A tokenizer.json parsed in pieces, while other threads have their turns.

Parsing is one call, in which no other thread goes on, such as the window's; of 200,000 tokens it takes 0.2 s. Nearly
all of it are the entries of the vocabulary and the merges. So these are parsed some at a time, and the rest of the file
with a mark in the place of either.

Where to cut is guessed by the signs around commas. A wrong guess does no harm: what is cut within a text, a list or an
object ends too early to be JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import islice
from typing import Any

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
    """Where the bracket behind a key stands."""
    key, place = f'"{name}"', -1
    while (place := text.find(key, place + 1)) >= 0:
        if match := BEGINNING[name].match(text, place):
            return match.end()
    return None


def _content(text: str, start: int, hook: Hook) -> tuple[Any, int]:
    """What stands in the brackets that begin there, and where it ends."""
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
