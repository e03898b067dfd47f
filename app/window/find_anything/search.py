"""Search everything the window can do or show: by title, by token, by step."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from app.session.run import Run
from bpe_core.history.token_texts import BLANK

BEGINNING, WORDS_BEGIN, WITHIN, LETTERS_IN_ORDER = range(4)


def fit(typed: str, title: str) -> int | None:
    """Rank how well typed text fits a title: smaller is better, None is no match. Case does not matter.

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
    return LETTERS_IN_ORDER if _are_in_order(typed, title) else None


def _are_in_order(letters: str, title: str) -> bool:
    rest = iter(title)
    return all(letter in rest for letter in letters if not letter.isspace())


@dataclass(frozen=True)
class Found:
    title: str
    kind: str  # its place, such as the way through the menus
    choose: Callable[[], object]
    keys: str = ""  # its keyboard shortcut
    is_token: bool = False


@dataclass(frozen=True)
class Fitting:
    rank: int
    found: Found


Search = Callable[[str], Iterable[Fitting]]  # searches one kind of things, the best first


def among(offered: Iterable[Found]) -> Search:
    """Search titles, alone or together with the kind: "theme dark" as well as "dark"."""
    known = tuple(offered)

    def search(typed: str) -> list[Fitting]:
        fitting = []
        for found in known:
            ranks = (fit(typed, found.title), fit(typed, f"{found.kind} {found.title}"))
            if any(rank is not None for rank in ranks):
                fitting.append(Fitting(min(rank for rank in ranks if rank is not None), found))
        return fitting

    return search


def best(typed: str, searches: Sequence[Search]) -> list[Found]:
    """List everything that fits, the best first; equals in the order of the searches."""
    return [one.found for one in sorted(chain(*(search(typed) for search in searches)), key=lambda one: one.rank)]


NUMBER = re.compile(r"\s*#?\s*(\d[\d,]{0,11})\s*")
EXACT = BEGINNING - 1  # before every action
MOST_TOKENS = 40  # shown per rank; the table can list all


class RunSearch:
    """Searches all tokens of a run at each letter typed; for 100,000 of them that takes some milliseconds."""

    def __init__(self, run: Run, go_to: Callable[[int], object], look_at: Callable[[int], object]) -> None:
        self._run, self._go_to, self._look_at = run, go_to, look_at

    def __call__(self, typed: str) -> Iterator[Fitting]:
        if typed and self._run.history is not None:
            yield from self._numbered(typed)
            tokens = dict[int, int]()
            for rank, found in ((WORDS_BEGIN, self._joined(typed)), *self._containing(typed)):
                for token in islice(found, MOST_TOKENS):
                    tokens.setdefault(token, rank)
            yield from (Fitting(rank, self._token(token)) for token, rank in tokens.items())

    def _numbered(self, typed: str) -> Iterator[Fitting]:
        number = NUMBER.fullmatch(typed)
        position = int(number[1].replace(",", "")) if number else -1
        if 0 <= position <= self._run.learned:
            title = f"Go to {self._run.wording.step} {position:,}"
            yield Fitting(EXACT, Found(title, "Time", lambda: self._go_to(position)))

    def _joined(self, typed: str) -> list[int]:
        """Find what joins two tokens that were typed with a space between them."""
        names, history, parts = self._run.names, self._run.history, typed.split()
        if names is None or history is None or len(parts) != 2:
            return []
        left, right = (names.id_of(part) for part in parts)
        if left is None or right is None:
            return []
        rows = np.flatnonzero((history.columns.left == left) & (history.columns.right == right))
        tokens: list[int] = history.ids[rows].tolist()
        return tokens

    def _containing(self, typed: str) -> Iterator[tuple[int, Iterable[int]]]:
        """Find tokens equal to the text, beginning with it, or containing it; a leading space may be left out."""
        names, history = self._run.names, self._run.history
        assert names is not None
        assert history is not None
        wanted = typed.replace(" ", BLANK)
        texts = names.text[: history.first_special]
        hits = [token for token, text in enumerate(texts) if wanted in text]
        beginning = [token for token in hits if texts[token].lstrip(BLANK).startswith(wanted.lstrip(BLANK))]
        yield EXACT, (token for token in beginning if len(texts[token].lstrip(BLANK)) == len(wanted.lstrip(BLANK)))
        yield BEGINNING, beginning
        yield WITHIN, hits

    def _token(self, token: int) -> Found:
        names, history = self._run.names, self._run.history
        assert names is not None
        assert history is not None
        row = history.row_of(token)
        when = "there from the beginning" if row is None else f"{self._run.wording.step} {row + 1:,}"
        return Found(names.text[token], f"Token {token:,}, {when}", lambda: self._look_at(token), is_token=True)
