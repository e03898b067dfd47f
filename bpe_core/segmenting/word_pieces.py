"""WordPiece's cut: at each place of a word the longest token that fits, from the left.

Every token has a birth, the number of steps after which it exists. So one table serves every moment, and a cut holds
until one of the longer tokens appears that were too young for it.
"""

from __future__ import annotations

from bisect import bisect_right

from bpe_core.history.history import History
from bpe_core.history.token_texts import written
from bpe_core.segmenting.word_tokens import ALWAYS, WordCut

Births = dict[str, tuple[int, int]]  # by the text of a token: its id, and after how many steps it exists


class LongestPieces:
    """The tokens that begin words and those that continue them, by their text without what marks the latter."""

    def __init__(self, history: History) -> None:
        unknown = history.alphabet.unknown_id
        assert unknown is not None  # the method needs one
        self.unknown, self.encoding = unknown, encoding_of(history)
        self._longest_word = history.recipe.longest_word
        starting, self.continuing = births_of(history)
        self.starting = _with_spelled(starting, self.continuing, history.alphabet.continuing.decode())
        self._lengths_to_start, self._lengths_to_continue = map(_lengths_by_first, (self.starting, self.continuing))

    def cut(self, word: bytes, at: int) -> WordCut:
        """Cut a word after that many steps; a word that gets stuck, or is too long, is unknown as a whole."""
        text, data = word.decode(self.encoding), word
        if len(text) > self._longest_word:
            return WordCut([self.unknown], [len(data)], 0, ALWAYS)
        ids: list[int] = []
        ends: list[int] = []
        start = end = since = 0
        until = ALWAYS
        while start < len(text):
            births = self.continuing if start else self.starting
            lengths = (self._lengths_to_continue if start else self._lengths_to_start).get(text[start], [])
            for length in reversed(lengths[: bisect_right(lengths, len(text) - start)]):
                stop = start + length
                id, birth = births.get(text[start:stop], (self.unknown, ALWAYS))
                if birth <= at:
                    break
                until = min(until, birth)
            else:
                return WordCut([self.unknown], [len(data)], since, until)
            since = max(since, birth)
            end += len(text[start:stop].encode(self.encoding))
            ids.append(id)
            ends.append(end)
            start = stop
        return WordCut(ids, ends, since, until)


def _with_spelled(starting: Births, continuing: Births, marker: str) -> Births:
    """Let a word also begin with a token that continues words, where it spells it with its marker, as in `##ing`."""
    found = dict(starting)
    for text, birth in continuing.items() if marker else ():
        found[marker + text] = min(birth, found.get(marker + text, birth))  # of twins the older
    return found


def _lengths_by_first(births: Births) -> dict[str, list[int]]:
    """The lengths of tokens that begin with each character, ascending: others need not be looked for there."""
    found: dict[str, set[int]] = {}
    for text in births:
        found.setdefault(text[:1], set()).add(len(text))
    return {first: sorted(lengths) for first, lengths in found.items()}


def encoding_of(history: History) -> str:
    """How tokens are looked at as text: where they are bytes, each of them is a character."""
    return "latin-1" if history.recipe.base == "bytes" else "utf-8"


def births_of(history: History) -> tuple[Births, Births]:
    """The tokens that begin words, and those that continue them; of several with the same text the oldest.

    Where nothing marks the latter, as in RWKV's vocabulary, every token does both.
    """
    starting: Births = {}
    continuing: Births = {}
    symbols, marker = history.alphabet.symbols, len(history.alphabet.continuing)
    base, encoding = len(symbols), encoding_of(history)
    continues = [symbol.text != symbol.decoded for symbol in symbols]
    continues += [False] * len(history)
    for id, (left, _) in enumerate(history.pairs(), base):
        continues[id] = continues[left]
    for id, text in enumerate(written(history)):
        if id >= base:
            birth = id - base + 1
        elif symbols[id].kind == "unknown":
            continue
        else:
            birth = 0
        if continues[id]:
            continuing.setdefault(text[marker:].decode(encoding), (id, birth))
        else:
            starting.setdefault(text.decode(encoding), (id, birth))
    return starting, starting if history.recipe.marker == "none" else continuing
