"""Tokens by their text, and steps by their number or by what they join, in the run that is shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import numpy as np

from app.session.run import Run
from app.window.find_anything.found import Fitting, Found
from app.window.find_anything.matching import BEGINNING, WITHIN, WORDS_BEGIN
from bpe_core.token_texts import BLANK

NUMBER = re.compile(r"\s*#?\s*(\d[\d,]{0,11})\s*")
EXACT = BEGINNING - 1  # before every action
MOST_TOKENS = 40  # that fit equally well; whoever wants all filters the table


class RunSearch:
    """Looks through all tokens at each letter typed: for 100,000 of them that takes some milliseconds."""

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
        """The moment after so many steps."""
        number = NUMBER.fullmatch(typed)
        position = int(number[1].replace(",", "")) if number else -1
        if 0 <= position <= self._run.learned:
            title = f"Go to {self._run.wording.step} {position:,}"
            yield Fitting(EXACT, Found(title, "Time", lambda: self._go_to(position)))

    def _joined(self, typed: str) -> list[int]:
        """What joins two tokens that were typed with a blank between them."""
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
        """Those written just so, those that begin so, and the others; a blank at the beginning may be left out."""
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
