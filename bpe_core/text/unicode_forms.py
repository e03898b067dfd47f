"""A text in one of the Unicode forms, with the place each character came from.

Characters that came to Unicode lately have no form of their own yet, as in the libraries that tokenizers are made with.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from bpe_core.repeating import repeated
from bpe_core.text.older_unicode import without_form

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = get_args(Form)

Places = npt.NDArray[np.int64]

_AT_ONCE = 1 << 16  # characters, about: while one call goes on, no other thread runs
_NEAR_NON_ASCII = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")


def formed(text: str, form: Form) -> str:
    """The text in a Unicode form."""
    if text.isascii() or without_form().isdisjoint(set(text)):
        return "".join(unicodedata.normalize(form, part) for part in _in_lines(text))
    return "".join(
        part if part in without_form() else unicodedata.normalize(form, part) for part in _parts_that_have_one(text)
    )


def _in_lines(text: str) -> Iterator[str]:
    """The text in parts that end with a line: no form looks across one."""
    start = 0
    while len(text) - start > _AT_ONCE:
        stop = text.find("\n", start + _AT_ONCE) + 1 or len(text)
        yield text[start:stop]
        start = stop
    yield text[start:]


def in_form(text: str, form: Form) -> tuple[str, Places]:
    """The same, with the index each character came from."""
    if text.isascii() or without_form().isdisjoint(set(text)):
        return _in_form(text, form)
    texts: list[str] = []
    sources = [np.zeros(0, np.int64)]
    done = 0
    for part in _parts_that_have_one(text):
        found, places = (part, np.zeros(1, np.int64)) if part in without_form() else _in_form(part, form)
        texts.append(found)
        sources.append(done + places)
        done += len(part)
    return "".join(texts), np.concatenate(sources)


def _parts_that_have_one(text: str) -> Iterator[str]:
    """The characters without a form, each by itself, and what stands between them."""
    start = 0
    for place, character in enumerate(text):
        if character in without_form():
            yield text[start:place]
            yield character
            start = place + 1
    yield text[start:]


def _in_form(text: str, form: Form) -> tuple[str, Places]:
    if unicodedata.is_normalized(form, text):
        return text, np.arange(len(text))
    parts: list[str] = []
    changes: list[tuple[int, int, int]] = []  # from where to where, and how many characters these become
    end = 0
    for run in _NEAR_NON_ASCII.finditer(text):  # ASCII has the same form alone
        for start, stop in _independent_parts(text, run.start(), run.end(), form):
            part = unicodedata.normalize(form, text[start:stop])
            if part != text[start:stop]:
                parts += (text[end:start], part)
                changes.append((start, stop, len(part)))
                end = stop
    return "".join([*parts, text[end:]]), _sources(len(text), changes)


def _sources(length: int, changes: list[tuple[int, int, int]]) -> Places:
    """What changed comes from its first character, all else from itself."""
    starts, stops, lengths = np.array(changes, np.int64).reshape(-1, 3).T
    inside = np.zeros(length + 1, np.int64)
    inside[starts] += 1
    inside[stops] -= 1
    counts = 1 - np.cumsum(inside[:-1])  # how many characters each becomes
    counts[starts] = lengths
    return repeated(np.arange(length), counts)


def _independent_parts(text: str, start: int, stop: int, form: Form) -> Iterator[tuple[int, int]]:
    """Cuts before every character that never joins what stands before it: each part has its form alone."""
    for i in range(start + 1, stop):
        if not joins_what_stands_before(text[i], form):
            yield start, i
            start = i
    yield start, stop


@lru_cache(maxsize=8192)
def joins_what_stands_before(character: str, form: Form) -> bool:
    """Whether a form may reorder the character with, or compose it onto, what stands before it."""
    first = unicodedata.normalize("NFKD" if form in ("NFKC", "NFKD") else "NFD", character)[0]
    return unicodedata.combining(first) != 0 or first in _second_halves()


@lru_cache(maxsize=1)
def _second_halves() -> frozenset[str]:
    """Characters that are composed onto another: what canonical decompositions end with."""
    hangul = {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}  # computed, not in the tables
    decompositions = (unicodedata.decomposition(chr(code)) for code in range(0x30000))
    pairs = (found.split() for found in decompositions if found and not found.startswith("<"))
    return frozenset(chr(int(pair[1], 16)) for pair in pairs if len(pair) == 2) | hangul
