r"""Functions that normalize the characters of a text. Some also return where each new character comes from.

They apply Unicode normalization forms, convert to lower case, and remove control characters or accents.

Tokenizer libraries use an older version of Unicode. A character that is newer than this version is treated as
the libraries treat it: it is not changed by normalization forms, but it may be converted to lower case.

A function that needs the UTF-8 bytes of a text uses a view of the bytes in the string, without a copy. An
ASCII string always stores these bytes. Any other string begins to store them when a view is first requested.

>>> to_lowercase("ΑΣ"), to_unicode_form_with_sources("e\u0301l", "NFC")
('ασ', ('él', array([0, 2])))
"""

from __future__ import annotations

import ctypes
import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from bpe_core.errors import BpeError
from bpe_core.support.arrays import Bytes, repeat
from bpe_core.text import older_unicode
from bpe_core.text.older_unicode import without_form

if TYPE_CHECKING:
    import regex

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = get_args(Form)

CodePoints = npt.NDArray[np.uint32]
Places = npt.NDArray[np.int64]

_CODE_POINTS = 0x110000
_SURROGATES = range(0xD800, 0xE000)
# all other code points are unassigned
_WITH_CASE_OR_PARTS = (range(0xD800), range(0xE000, 0x32400), range(0xE0000, 0xE0200))
_MAPPED_TOGETHER, _FORMED_TOGETHER = 1 << 12, 1 << 16  # characters: during one call no other thread runs
_making = threading.Lock()  # several threads at once would each take as long as all together
_NEAR_NON_ASCII = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")

# Lower-case letters of recent Unicode: the first and last capital, and the distance to the lower-case letter.
_LATER = (
    (0x1C89, 0x1C89, 1), (0xA7CB, 0xA7CB, 0x264 - 0xA7CB), (0xA7CC, 0xA7CC, 1), (0xA7CE, 0xA7CE, 1),
    (0xA7D2, 0xA7D2, 1), (0xA7D4, 0xA7D4, 1), (0xA7DA, 0xA7DA, 1), (0xA7DC, 0xA7DC, 0x19B - 0xA7DC),
    (0x10D50, 0x10D65, 0x20), (0x16EA0, 0x16EB8, 0x1B),
)  # fmt: skip
_ALONE = {first + i: chr(first + i + far) for first, last, far in _LATER for i in range(last - first + 1)}
_ALONE[ord("Σ")] = "σ"  # even at the end of a word


def code_points(text: str) -> CodePoints:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def text_of(codes: CodePoints) -> str:
    return codes.tobytes().decode("utf-32-le", "surrogatepass")


def to_lowercase(text: str) -> str:
    """Return the text in lower case. Each letter is changed without regard to the letters around it."""
    if not text.isascii() and not _ALONE.keys().isdisjoint(map(ord, set(text))):
        text = text.translate(_ALONE)
    return text.lower()


def to_unicode_form(text: str, form: Form) -> str:
    if text.isascii():
        return text
    if without_form().isdisjoint(set(text)):
        return "".join(unicodedata.normalize(form, part) for part in _lines_of(text))
    return "".join(
        part if part in without_form() else unicodedata.normalize(form, part)
        for part in _split_at_characters_without_form(text)
    )


def _lines_of(text: str) -> Iterator[str]:
    """Split a long text at line ends into parts that can be normalized one by one.

    This is possible because normalization never joins the characters of different lines.
    """
    start = 0
    while len(text) - start > _FORMED_TOGETHER:
        stop = text.find("\n", start + _FORMED_TOGETHER) + 1 or len(text)
        yield text[start:stop]
        start = stop
    yield text[start:]


def to_unicode_form_with_sources(text: str, form: Form) -> tuple[str, Places]:
    """Return the text in a Unicode form, and the index of the old character that each new character comes from."""
    if text.isascii() or without_form().isdisjoint(set(text)):
        return _to_unicode_form_with_sources(text, form)
    texts: list[str] = []
    sources = [np.zeros(0, np.int64)]
    done = 0
    for part in _split_at_characters_without_form(text):
        formed, places = (
            (part, np.zeros(1, np.int64)) if part in without_form() else _to_unicode_form_with_sources(part, form)
        )
        texts.append(formed)
        sources.append(done + places)
        done += len(part)
    return "".join(texts), np.concatenate(sources)


def _split_at_characters_without_form(text: str) -> Iterator[str]:
    """Split a text before and after each character of `without_form()`. Yield all parts in order.

    Only newer versions of Unicode have rules for how these characters are normalized. Tokenizer libraries use an older
    version, so these characters stay unchanged.
    """
    start = 0
    for place, character in enumerate(text):
        if character in without_form():
            yield text[start:place]
            yield character
            start = place + 1
    yield text[start:]


def _to_unicode_form_with_sources(text: str, form: Form) -> tuple[str, Places]:
    if unicodedata.is_normalized(form, text):
        return text, np.arange(len(text))
    parts: list[str] = []
    counts = np.ones(len(text), np.int64)  # how many characters come from each
    end = 0
    for run in _NEAR_NON_ASCII.finditer(text):  # ASCII is the same in all forms
        for start, stop in _independent_parts(text, run.start(), run.end(), form):
            part = unicodedata.normalize(form, text[start:stop])
            if part != text[start:stop]:
                parts += (text[end:start], part)
                counts[start:stop] = len(part) if stop == start + 1 else _result_counts(text[start:stop], form)
                end = stop
    return "".join([*parts, text[end:]]), repeat(np.arange(len(text)), counts)


@lru_cache(maxsize=1024)
def _result_counts(part: str, form: Form) -> tuple[int, ...]:
    r"""Normalize `part`. Return, for each old character, how many new characters come from it.

    The numbers are equal to those of Hugging Face's library:

    - If a character is decomposed, all characters of the decomposition come from it.
    - If characters are composed, the new character comes from the first of them.
    - If marks change their order, the first mark of the new order counts as coming from the first mark of the
      old order, and so on.

    >>> _result_counts("a\u0323\u0301", "NFC"), _result_counts("\u1ea1", "NFD"), _result_counts("a\u0301\u0323", "NFC")
    ((1, 0, 1), (2,), (1, 0, 1))
    """
    apart: Form = "NFKD" if form in ("NFKC", "NFKD") else "NFD"
    # each character, and how many characters it replaces: 0 except for the first
    replacing: list[tuple[str, int]] = []
    for character in part:
        replacing += ((new, int(not place)) for place, new in enumerate(unicodedata.normalize(apart, character)))
    for start, stop in _marks_in([new for new, _ in replacing]):
        replacing[start:stop] = sorted(replacing[start:stop], key=lambda pair: unicodedata.combining(pair[0]))
    counts = [0] * len(part)
    next_place = 0
    for _, taken in _compose(replacing) if form in ("NFC", "NFKC") else replacing:
        counts[next_place if taken else max(next_place - 1, 0)] += 1
        next_place += taken
    return tuple(counts)


def _marks_in(characters: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the start and stop of each run of combining marks. The marks of a run may be reordered."""
    start = 0
    for place, character in enumerate([*characters, ""]):
        if not character or not unicodedata.combining(character):
            yield start, place
            start = place + 1


def _compose(apart: list[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Compose each letter with the marks after it.

    `apart` holds decomposed characters. Yield each composed character, and how many characters of the text it replaces.
    """
    first: tuple[str, int] | None = None
    marks: list[tuple[str, int]] = []
    for character, taken in apart:
        combines = unicodedata.combining(character)
        is_blocked = bool(marks) and unicodedata.combining(marks[-1][0]) >= combines
        together = unicodedata.normalize("NFC", first[0] + character) if first and not is_blocked else ""
        if first and len(together) == 1:
            first = together, first[1] + taken
        elif combines and first:
            marks.append((character, taken))
        elif combines:
            yield character, taken
        else:
            yield from [first, *marks] if first else ()
            first = (character, taken)
            marks = []
    yield from [first, *marks] if first else ()


def _independent_parts(text: str, start: int, stop: int, form: Form) -> Iterator[tuple[int, int]]:
    """Yield the start and the stop of parts that can be normalized one by one.

    The text from `start` to `stop` is split before each character that never joins the character before it.
    """
    for i in range(start + 1, stop):
        if not may_join_previous(text[i], form):
            yield start, i
            start = i
    yield start, stop


@lru_cache(maxsize=8192)
def may_join_previous(character: str, form: Form) -> bool:
    """Return whether a Unicode form may reorder a character and the character before it, or compose them."""
    first = unicodedata.normalize("NFKD" if form in ("NFKC", "NFKD") else "NFD", character)[0]
    return unicodedata.combining(first) != 0 or first in _composed_with_previous()


@lru_cache(maxsize=1)
def _composed_with_previous() -> frozenset[str]:
    """Return the characters that can be composed with the character before them.

    They are the second characters of canonical decompositions.
    """
    # computed by a rule, not in the tables
    hangul = {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    decompositions = (unicodedata.decomposition(chr(code)) for code in range(0x30000))
    pairs = (
        decomposition.split() for decomposition in decompositions if decomposition and not decomposition.startswith("<")
    )
    return frozenset(chr(int(pair[1], 16)) for pair in pairs if len(pair) == 2) | hangul


class CharacterMap(dict[int, str]):
    """A map from each character to its replacement, for `str.translate`.

    The options say whether the map removes control characters, removes accents, and changes letters to lower case.
    """

    def __init__(self, clean: bool, strip_accents: bool, lowercase: bool) -> None:
        super().__init__()
        self._clean = clean
        self._strip_accents = strip_accents
        self._lowercase = lowercase

    def __missing__(self, code: int) -> str:
        replacement = self[code] = self._became(chr(code))
        return replacement

    def _became(self, character: str) -> str:
        if self._clean and older_unicode.controls().match(character):
            return ""
        if self._clean and _blanks().match(character):
            return " "
        return _without_accents_and_small(character, self._strip_accents, self._lowercase)

    def changed(self, text: str) -> str:
        if text.isascii():
            return text.encode().translate(*self._for_ascii).decode()
        return text.translate(self) if len(text) < LONG else text_of(self._changed(text)[0])

    def changed_with_sources(self, text: str) -> tuple[str, Places]:
        if len(text) < LONG:
            became = [self[ord(character)] for character in text]
            return "".join(became), repeat(np.arange(len(became)), np.array([*map(len, became)], np.int64))
        codes, counts = self._changed(text)
        return text_of(codes), repeat(np.arange(len(counts)), counts)

    def _changed(self, text: str) -> tuple[CodePoints, npt.NDArray[np.uint8]]:
        tables = self._tables
        codes = code_points(text)
        counts = tables.counts[codes]
        targets = tables.targets[codes]
        if int(counts.max(initial=1)) > 1:
            targets = repeat(targets, counts)
            before = np.cumsum(counts, dtype=np.int64) - counts
            of_several = repeat(counts > 1, counts)
            within = np.arange(len(targets)) - repeat(before, counts)
            targets[of_several] = tables.several[targets[of_several] + within[of_several]]
        elif not counts.all():
            targets = targets[counts > 0]
        return targets, counts

    @property
    def _tables(self) -> Tables:
        with _making:
            return _make_tables(self._clean, self._strip_accents, self._lowercase)

    @cached_property
    def _for_ascii(self) -> tuple[bytes, bytes]:
        became = [self[code] for code in range(128)]
        left_out = bytes(code for code, replacement in enumerate(became) if not replacement)
        return bytes(ord(replacement or "\0") for replacement in became) + bytes(128), left_out


@lru_cache(maxsize=8)
def character_map(*, clean: bool, strip_accents: bool, lowercase: bool) -> CharacterMap:
    return CharacterMap(clean, strip_accents, lowercase)


class Tables(NamedTuple):
    """Arrays with the replacement of each code point in a character map. With them, NumPy can change a whole text at
    once.
    """

    counts: npt.NDArray[np.uint8]  # how many characters it becomes
    targets: CodePoints  # the character it becomes; if there are several, their offset in `several`
    several: CodePoints


@lru_cache(maxsize=8)
def _make_tables(clean: bool, strip_accents: bool, lowercase: bool) -> Tables:
    counts = np.ones(_CODE_POINTS, np.uint8)
    targets = np.arange(_CODE_POINTS, dtype=np.uint32)
    several: list[int] = []
    for code, became in _parts_and_small_letters(strip_accents, lowercase):
        counts[code] = len(became)
        if len(became) == 1:
            targets[code] = ord(became)
        elif became:
            targets[code] = len(several)
            several += map(ord, became)
    if clean:
        for start, stop in _runs_of(_blanks()):
            counts[start:stop], targets[start:stop] = 1, ord(" ")
        for start, stop in _runs_of(older_unicode.controls()):
            counts[start:stop] = 0
    return Tables(counts, targets, np.array(several, np.uint32))


@cache
def _blanks() -> regex.Pattern[str]:
    import regex  # takes a while to load

    return regex.compile(r"\s+")


def _without_accents_and_small(text: str, strip_accents: bool, lowercase: bool) -> str:
    if strip_accents:
        text = older_unicode.marks_without_width().sub("", to_unicode_form(text, "NFD"))
    return to_lowercase(text) if lowercase else text


def _parts_and_small_letters(strip_accents: bool, lowercase: bool) -> Iterator[tuple[int, str]]:
    for codes in _WITH_CASE_OR_PARTS:
        for start in range(codes.start, codes.stop, _MAPPED_TOGETHER):
            part = codes[start - codes.start :][:_MAPPED_TOGETHER]
            characters = [chr(code) for code in part if code != ord("\n")]
            became = _without_accents_and_small("\n".join(characters), strip_accents, lowercase)
            changed = zip(characters, became.split("\n"), strict=True)
            yield from ((ord(character), other) for character, other in changed if character != other)


@lru_cache(maxsize=1)
def _every_character() -> str:
    codes = np.arange(_CODE_POINTS, dtype=np.uint32)
    codes[_SURROGATES.start : _SURROGATES.stop] = ord("a")  # surrogates, which no text holds
    return text_of(codes)


def _runs_of(expression: regex.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield the first code point of each run of characters that match, and the code point after the run."""
    import regex

    runs = regex.compile(f"(?:{expression.pattern})+", expression.flags)
    return (match.span() for match in runs.finditer(_every_character(), concurrent=True))


def raw_bytes(word: str) -> bytes:
    """Return the bytes of a word, which may begin or end inside a character.

    If so, surrogates in `word` represent the bytes of this character.
    """
    return word.encode(errors="surrogateescape")


def utf8(text: str) -> bytes:
    """Return the UTF-8 bytes of a text.

    Raise an error if the text contains a lone surrogate, because a lone surrogate is not a character.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise _surrogate_error(text, error.start) from error


def utf8_view(text: str) -> Bytes:
    """Return the UTF-8 bytes of a string as a read-only array, without copying them.

    Python stores these bytes inside the string. If the string does not have them yet, the first call makes them.
    """
    size = ctypes.c_ssize_t()
    try:
        address = _bytes_of(text, ctypes.byref(size))
    except UnicodeEncodeError as error:
        raise _surrogate_error(text, error.start) from error
    held: Any = (ctypes.c_uint8 * size.value).from_address(address)
    held.text = text  # the string must live as long as the array
    view: Bytes = np.frombuffer(held, np.uint8)
    view.flags.writeable = False
    return view


_bytes_of = ctypes.pythonapi.PyUnicode_AsUTF8AndSize
_bytes_of.restype = ctypes.c_void_p
_bytes_of.argtypes = (ctypes.py_object, ctypes.POINTER(ctypes.c_ssize_t))


def _surrogate_error(text: str, place: int) -> BpeError:
    return BpeError(
        f"Character {place + 1:,} of the text is U+{ord(text[place]):04X}, half of a surrogate pair, which is not a "
        "character; remove or replace it."
    )


LONG = 10_000  # characters
_LAST_BLANK = 0x3000


def count_parts_between_blanks(text: str) -> int:
    r"""Count the parts of a text that are separated by blanks. Spaces and line ends are blanks.

    >>> count_parts_between_blanks("two  words"), count_parts_between_blanks(" low\u2003lower\n" * LONG)
    (2, 20000)
    """
    if len(text) < LONG:
        return len(text.split())
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    is_blank = _blank_mask()[np.minimum(codes, _LAST_BLANK + 1)]
    return int(np.count_nonzero(is_blank[:-1] & ~is_blank[1:])) + int(not is_blank[0])


@cache
def _blank_mask() -> npt.NDArray[np.bool_]:
    """Return a mask of the code points that are blanks.

    The array ends one code point after the last blank.
    """
    return np.array([chr(code).isspace() for code in range(_LAST_BLANK + 2)])
