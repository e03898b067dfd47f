"""Functions and a class for searching the titles, tokens and steps of the window."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice

import numpy as np

from app.session.run import Run
from bpe_core.history.history import History
from bpe_core.history.token_texts import BLANK, TokenTexts

BEGINNING, WORDS_BEGIN, WITHIN, LETTERS_IN_ORDER = range(4)


def match_rank(typed: str, title: str) -> int | None:
    """Return how well a typed text matches a title. A smaller number is a better match, and None means no match.

    The case of letters is ignored.

    >>> [match_rank(typed, "Open Texts …") for typed in ("open", "te op", "ext", "otx", "train")]
    [0, 1, 2, 3, None]
    """
    typed = typed.casefold().strip()
    title = title.casefold()
    if title.startswith(typed):
        return BEGINNING
    if _begin_words_of(typed, title):
        return WORDS_BEGIN
    if all(part in title for part in typed.split()):
        return WITHIN
    return LETTERS_IN_ORDER if _are_in_order(typed, title) else None


def _begin_words_of(typed: str, text: str) -> bool:
    """Return whether each typed word begins a word of a text. The case of letters is ignored."""
    words = text.casefold().split()
    return all(any(word.startswith(part) for word in words) for part in typed.casefold().split())


def _are_in_order(letters: str, title: str) -> bool:
    rest = iter(title)
    return all(letter in rest for letter in letters if not letter.isspace())


@dataclass(frozen=True)
class SearchHit:
    title: str
    kind: str  # such as the way through the menus
    choose: Callable[[], object]
    keys: str = ""  # its keyboard shortcut
    is_token: bool = False
    words: str = ""  # further ones by which it is found


Fitting = tuple[int, SearchHit]  # with its rank
Search = Callable[[str], Iterable[Fitting]]  # searches one kind of things, the best first


def search_in(offered: Iterable[SearchHit]) -> Search:
    """Return a function that searches the hits in `offered` for a typed text.

    A hit is found by its title, by its kind followed by its title, or by its additional search words. So “dark” and
    “theme dark” both find the theme “Dark”.
    """
    known = tuple(offered)

    def search(typed: str) -> list[Fitting]:
        fitting = []
        typed = typed.casefold()
        for hit in known:
            ranks = [match_rank(typed, hit.title), match_rank(typed, f"{hit.kind} {hit.title}")]
            if hit.words and _begin_words_of(typed, f"{hit.title} {hit.words}"):
                ranks.append(WITHIN)
            if any(rank is not None for rank in ranks):
                fitting.append((min(rank for rank in ranks if rank is not None), hit))
        return fitting

    return search


def best_hits(typed: str, searches: Sequence[Search]) -> list[SearchHit]:
    """Return all results, the best first. Equally good results are in the order of the searches that found them."""
    return [hit for _, hit in sorted(chain(*(search(typed) for search in searches)), key=lambda fitting: fitting[0])]


NUMBER = re.compile(r"\s*#?\s*(\d[\d,]{0,11})\s*")
EXACT = BEGINNING - 1  # an exact match comes before every action
MOST_TOKENS = 40  # matches shown per rank; the table can list all


class RunSearch:
    """A search in the tokens and step numbers of a run.

    It runs after each typed letter, and takes a few milliseconds for 100,000 tokens.
    """

    def __init__(self, run: Run, go_to: Callable[[int], object], look_at: Callable[[int], object]) -> None:
        self._run = run
        self._go_to = go_to
        self._look_at = look_at

    def __call__(self, typed: str) -> Iterator[Fitting]:
        history = self._run.history
        names = self._run.names
        if not typed or history is None or names is None:
            return
        yield from self._numbered(typed)
        tokens = dict[int, int]()
        for rank, matching in ((WORDS_BEGIN, _joined(typed, history, names)), *_containing(typed, history, names)):
            for token in islice(matching, MOST_TOKENS):
                tokens.setdefault(token, rank)
        for token, rank in tokens.items():
            row = history.row_of(token)
            when = (
                "part of the vocabulary from the beginning" if row is None else f"{self._run.wording.step} {row + 1:,}"
            )
            look = partial(self._look_at, token)
            yield rank, SearchHit(names.text[token], f"Token {token:,}, {when}", look, is_token=True)

    def _numbered(self, typed: str) -> Iterator[Fitting]:
        number = NUMBER.fullmatch(typed)
        position = int(number[1].replace(",", "")) if number else -1
        if 0 <= position <= self._run.learned:
            title = f"Go to {self._run.wording.step} {position:,}"
            yield EXACT, SearchHit(title, "Time", lambda: self._go_to(position))


def _joined(typed: str, history: History, names: TokenTexts) -> list[int]:
    ids = [names.id_of(part) for part in typed.split()]
    if len(ids) != 2 or None in ids:
        return []
    rows = np.flatnonzero((history.columns.left == ids[0]) & (history.columns.right == ids[1]))
    tokens: list[int] = history.indices[rows].tolist()
    return tokens


def _containing(typed: str, history: History, names: TokenTexts) -> Iterator[tuple[int, Iterable[int]]]:
    wanted = typed.replace(" ", BLANK)
    texts = names.text[: history.first_special]
    hits = [token for token, text in enumerate(texts) if wanted in text]
    beginning = [token for token in hits if texts[token].lstrip(BLANK).startswith(wanted.lstrip(BLANK))]
    yield EXACT, (token for token in beginning if len(texts[token].lstrip(BLANK)) == len(wanted.lstrip(BLANK)))
    yield BEGINNING, beginning
    yield WITHIN, hits
