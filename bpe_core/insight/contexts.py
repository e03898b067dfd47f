"""The lines of the corpus in which a token occurs, with file and line number (keyword in context).

The words that contain the token are searched for in the text of the corpus. A match counts only if the pattern really
splits the text there into exactly this word.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import numpy as np

from bpe_core.history.alphabet import Spelling
from bpe_core.insight.ranked_words import RankedWords, words_with
from bpe_core.splitting.normalization import normalize, normalize_with_origins
from bpe_core.splitting.splitter import Splitter
from bpe_core.support.progress import CancelCheck, never_cancelled
from bpe_core.text.corpus import Chunk, Corpus

MOST_WORDS = 8  # different words that are searched, the most frequent first
WINDOW = 64  # bytes around a hit that are split to test whether it is a word
MOST_TRIALS = 300  # the most hits of a word that are tested in a chunk
LONGEST_NEEDLE = 120  # bytes of a word to search; of a longer word, only the part around the token
SHOWN = 70  # characters on either side
_ROWS = ("jsonl", "csv", "tsv")


@dataclass(frozen=True)
class Context:
    """An occurrence of a token in a text.

    The token begins at `start` and ends at `stop` in `text`. This text is a line of the corpus, or a part of the line.
    """

    source: str
    line: int
    is_row: bool  # `line` counts rows of a table, not lines of a text
    text: str
    start: int
    stop: int

    @property
    def before(self) -> str:
        return self.text[: self.start]

    @property
    def token(self) -> str:
        return self.text[self.start : self.stop]

    @property
    def after(self) -> str:
        return self.text[self.stop :]


@dataclass(frozen=True)
class Needle:
    data: bytes
    start: int
    stop: int
    is_whole_word: bool


def contexts(
    corpus: Corpus,
    ranked: RankedWords,
    token: int,
    at: int | None = None,
    *,
    most: int = 12,
    seconds: float | None = None,
    cancelled: CancelCheck = never_cancelled,
) -> list[Context]:
    """Return at most `most` occurrences of a token in the corpus, in different words if possible.

    The words are split by the first `at` merges, or by all merges. The search ends after `seconds`.
    """
    needles = needles_for(ranked, token, len(ranked.history) if at is None else at)
    if not needles or corpus.word_counts is not None:
        return []
    deadline = None if seconds is None else time.monotonic() + seconds
    search = _Search(ranked, corpus, needles, -(-most // len(needles)))
    lines: list[Context] = []
    for chunk in corpus.chunks():
        lines += search.look_into(chunk)
        late = deadline is not None and time.monotonic() > deadline
        if len(lines) >= most or search.is_done or late or cancelled():
            break
    return lines[:most]


def needles_for(ranked: RankedWords, token: int, at: int) -> list[Needle]:
    occurrences = ranked.occurrences(token)
    alive = np.flatnonzero(occurrences.alive(at))
    words = ranked.word_of_cell[occurrences.starts[alive]]
    spelling = Spelling(ranked.history.alphabet, ranked.history.recipe)
    needles: list[Needle] = []
    for held in words_with(ranked, occurrences, at).words[:MOST_WORDS]:
        which = int(alive[np.searchsorted(words, held.word)])
        first = int(ranked.starts[held.word])
        start = int(occurrences.starts[which]) - first
        stop = int(occurrences.ends[which]) - first
        needles.append(_needle(ranked.words.word(held.word), start, stop, spelling))
    return needles


def _needle(word: bytes, start: int, stop: int, spelling: Spelling) -> Needle:
    places = np.concatenate([[0], np.cumsum(spelling.widths(word, spelling.symbols(word)))])
    begin = int(places[start])
    end = int(places[stop])
    if len(word) <= LONGEST_NEEDLE:
        return Needle(word, begin, end, is_whole_word=True)
    first = max(0, begin - LONGEST_NEEDLE // 4)
    last = end + LONGEST_NEEDLE // 4
    return Needle(word[first:last], begin - first, end - first, is_whole_word=False)


class _Search:
    def __init__(self, ranked: RankedWords, corpus: Corpus, needles: list[Needle], most_each: int) -> None:
        self._recipe = ranked.history.recipe
        self._splitter = Splitter(self._recipe)
        self._sources = corpus.sources
        self._left = dict.fromkeys(needles, most_each)
        self._source = -1
        self._lines = self._rows = 0  # lines finished in this source
        self._rest = ""  # the last line, which may continue

    @property
    def is_done(self) -> bool:
        return not any(self._left.values())

    def look_into(self, chunk: Chunk) -> list[Context]:
        if chunk.source != self._source:
            self._source = chunk.source
            self._lines = 0
            self._rows = 0
            self._rest = ""
        text = self._rest + str(chunk.data, "utf-8")
        keep = 0 if chunk.ends_document else len(text) - (text.rfind("\n") + 1)
        keep = keep if keep < 1 << 16 else 0
        text, self._rest = text[: len(text) - keep], text[len(text) - keep :]
        changed = normalize(text, self._recipe)
        data = changed.encode()
        ends = cache(lambda: self._line_ends(text, changed))  # not needed for most texts
        hits = sorted(self._hits(data, ends), key=lambda hit: hit[0])
        contexts = [self._context(text, changed, data, ends(), place, needle) for place, needle in hits]
        self._lines += text.count("\n")
        self._rows += chunk.ends_document
        return contexts

    def _hits(self, data: bytes, ends: Callable[[], list[int]]) -> Iterator[tuple[int, Needle]]:
        for needle, left in self._left.items():
            place = data.find(needle.data)
            trials = MOST_TRIALS
            while place >= 0 and left and trials:
                trials -= 1
                if not needle.is_whole_word or self._is_a_word(data, place, place + len(needle.data)):
                    left -= 1
                    yield place, needle
                    line = bisect_right(ends(), place + needle.start)  # one hit a line is enough
                    place = max(place, ends()[line] - 1)
                place = data.find(needle.data, place + 1)
            self._left[needle] = left

    def _is_a_word(self, data: bytes, start: int, stop: int) -> bool:
        """Return whether the bytes from `start` to `stop` are a word when the pattern splits the surrounding text."""
        first = max(0, start - WINDOW)
        last = min(len(data), stop + WINDOW)
        while first < start and data[first] & 0xC0 == 0x80:
            first += 1
        before = data[first:start].decode()
        word = data[start:stop].decode()
        place = 0
        text = before + word + data[stop:last].decode(errors="ignore")
        for piece in self._splitter.words(text):
            place = text.index(piece, place)
            if place >= len(before):
                return place == len(before) and piece == word
            place += len(piece)
        return False

    def _line_ends(self, text: str, changed: str) -> list[int]:
        """Return the byte offset after each line in the normalized text.

        Normalization can change where lines end.
        """
        lines = [f"{line}\n" for line in text.split("\n")]
        if text is not changed:
            became = [normalize(line, self._recipe) for line in lines]
            whole = "".join(became).startswith(changed)  # right unless the normalization of a line depends on others
            lines = became if whole else [f"{line}\n" for line in changed.split("\n")]
        return [*accumulate(len(line.encode()) for line in lines)]

    def _context(self, text: str, changed: str, data: bytes, ends: list[int], place: int, needle: Needle) -> Context:
        """Return the line of a match as it was in the text before normalization."""
        number = bisect_right(ends, place + needle.start)
        line_start = ends[number - 1] if number else 0
        start = place + needle.start - line_start
        stop = place + needle.stop - line_start
        if text is changed:
            line_end = data.find(b"\n", place + needle.stop)
            raw = data[line_start : line_end if line_end >= 0 else len(data)]
        else:
            line = text.split("\n")[min(number, text.count("\n"))]
            origins = normalize_with_origins(line, self._recipe).origins
            raw = line.encode()
            last = len(origins) - 1
            start = int(origins[min(start, last)])
            stop = int(origins[min(stop, last)])
        is_row = self._sources[self._source].kind in _ROWS
        place_of = self._rows + 1 if is_row else self._lines + number + 1
        return _shown(self._sources[self._source].name, place_of, is_row, raw, start, stop)


def _shown(source: str, line: int, is_row: bool, raw: bytes, start: int, stop: int) -> Context:
    """Return the occurrence of a token in its line. A long line is shortened.

    If the token begins or ends inside a character, the whole character is marked.
    """
    while start > 0 and start < len(raw) and raw[start] & 0xC0 == 0x80:
        start -= 1
    while stop < len(raw) and raw[stop] & 0xC0 == 0x80:
        stop += 1
    before, token, after = (part.decode(errors="replace") for part in (raw[:start], raw[start:stop], raw[stop:]))
    if len(before) > SHOWN:
        before = "…" + before[-SHOWN:]
    if len(after) > SHOWN:
        after = after[:SHOWN] + "…"
    return Context(source, line, is_row, before + token + after, len(before), len(before) + len(token))
