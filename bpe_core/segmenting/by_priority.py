"""A way to split words by a table of priorities.

The pair of neighbours with the best priority is joined first, until no pair can be joined.

With a table of priorities, a token may be joined before an older token. It may also be made from two tokens that
are not the pair of its own step. So a boundary has no rank, and each word is split again at each step. The tokens
of a word stay valid until a step adds a token that could be joined in the word.

    >>> import numpy as np
    >>> from bpe_core.history.alphabet import Alphabet
    >>> from bpe_core.history.joining import MergePriorities, PairRows
    >>> from bpe_core.recipes.recipe import Recipe
    >>> rows = PairRows(*np.array([(256, 99, 257), (97, 98, 256)]).T)  # ab+c comes before a+b
    >>> pairs = [(97, 98), (256, 99)]  # the steps: a+b, ab+c
    >>> history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs, MergePriorities(pairs=rows))
    >>> JoinedWords(history).cut(b"abcab", 2)
    WordCut(ids=[257, 256], ends=[3, 5], since=2, until=4611686018427387904)
    >>> JoinedWords(history).cut(b"abcab", 1)
    WordCut(ids=[256, 99, 256], ends=[2, 3, 5], since=1, until=2)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from bpe_core.errors import BpeError
from bpe_core.history.alphabet import Spelling
from bpe_core.history.history import History
from bpe_core.history.joining import NO_PRIORITY, PairRows
from bpe_core.history.meeting import outermost_symbols
from bpe_core.history.token_texts import written
from bpe_core.kernels.readiness import use_machine_code
from bpe_core.kernels.stored_code import OPENING
from bpe_core.segmenting.cutting import Cutting, UnknownTogether
from bpe_core.segmenting.neighbours import (
    MOST_REMEMBERED,
    Find,
    TokensByPair,
    TokensByText,
    by_all_texts,
    join_neighbours,
)
from bpe_core.segmenting.word_tokens import ALWAYS, WordCut
from bpe_core.support.arrays import Bools, Int32s, Int64s

if TYPE_CHECKING:  # this import loads machine code
    from bpe_core.segmenting.text_pairs import JoinedTexts

BYTES_A_TOKEN = 8  # about the length of its text
LONG = 48  # symbols; a longer word is divided at pairs that are never joined
LONGEST_REMEMBERED = 256

# The tokens of a part of a word, their lengths in symbols, and the range of steps with these tokens.
Stretch = tuple[tuple[int, ...], tuple[int, ...], int, int]


class JoinedWords:
    def __init__(self, history: History) -> None:
        if history.joining is None:
            raise BpeError("This tokenizer merges in the order of its steps, so it has no other merge priorities.")
        self.history = history
        self.joining = history.joining
        self._base = len(history.alphabet)
        self._left_out, self._hidden = frozenset(self.joining.left_out), frozenset(self.joining.hidden)
        self._before = history.recipe.marker_text.encode() if history.recipe.marker == "prefix" else b""
        self._stretches: dict[tuple[int, ...], Stretch] = {}

    @cached_property
    def find(self) -> Find:  # used only by plain Python
        if self.joining.pairs is not None:
            return TokensByPair(self.joining.pairs).__getitem__
        many = use_machine_code(BYTES_A_TOKEN * (self._base + len(self.history)), OPENING)
        joined_by = self.by_text.found if many else by_all_texts(self.history, self.joining)
        return TokensByText(joined_by, self.alone).__getitem__

    @cached_property
    def by_text(self) -> JoinedTexts:
        from bpe_core.segmenting.text_pairs import JoinedTexts  # loads machine code

        assert self.joining.priorities is not None
        return JoinedTexts(self.history, self.joining.priorities)

    @property
    def is_plain(self) -> bool:
        """Return whether kernels can do exactly what this class does: split words into base symbols, and join these."""
        marks_whole_words = self.joining.whole_words and self._before != b""
        alphabet = self.history.alphabet  # kernels treat left-out symbols as unknown, and leave unknown symbols out
        if alphabet.id_of_continuation:  # kernels spell a character in the same way at every place of a word
            return False
        keeps_others = self._unknown not in {None, *self._left_out} or alphabet.first_fallback_id is not None
        leaves_out = self._left_out != frozenset() and (keeps_others or alphabet.marker_id in self._left_out)
        return not (marks_whole_words or leaves_out)

    @property
    def puts_unknown_together(self) -> bool:
        """Return whether neighbouring unknown words become one token, as in SentencePiece's models of words."""
        joining = self.joining
        return joining.whole_words and joining.joins_unknown and joining.pairs is None

    def cutting(self, cutting: Cutting) -> Cutting:
        own = self.puts_unknown_together and cutting.finds_words
        return UnknownTogether(self.history.recipe, self.whole) if own else cutting

    def cut(self, word: bytes, at: int) -> WordCut:
        until = ALWAYS
        if self.joining.whole_words and (id := self.whole.get(self._before + word)) is not None:
            birth = self._birth(id)
            if birth <= at:
                return WordCut([id], [len(word)], birth, ALWAYS)
            until = birth
        symbols, widths = self.spelled(word)
        counts: list[int] = []
        ids: list[int] = []
        since = 0
        stretches = [self._joined(tuple(symbols), at)] if len(symbols) <= LONG else self._apart(symbols, at)
        for joined, lengths, first, last in stretches:
            if self._hidden.isdisjoint(joined):
                ids += joined
                counts += lengths
            else:
                self._append_visible(joined, lengths, ids, counts)
            since = max(since, first)
            until = min(until, last)
        ends = [0, *accumulate(widths)]
        stops = [ends[place] for place in accumulate(counts)]
        if self.unknown_alone and not self.unknown_alone.keys().isdisjoint(ids):
            ids, stops = self._with_unknown(ids, stops)
        if self.joining.joins_unknown:
            ids, stops = self._with_unknown_joined(ids, stops)
        return WordCut(ids, stops, since, until)

    def is_whole(self, word: bytes, at: int) -> bool:
        id = self.whole.get(self._before + word) if self.joining.whole_words else None
        return id is not None and self._birth(id) <= at

    def _append_visible(self, joined: Sequence[int], lengths: Sequence[int], ids: list[int], counts: list[int]) -> None:
        """Append the tokens `joined` to `ids`, and their lengths to `counts`.

        A hidden token exists only to make larger tokens. The two tokens from which it was learned replace it, until no
        hidden token is left.
        """
        waiting = list(zip(reversed(joined), reversed(lengths), strict=True))
        while waiting:
            id, length = waiting.pop()
            parts = self.history.parts(id) if id in self._hidden else None
            if parts is None:
                ids.append(id)
                counts.append(length)
            else:
                first = int(self._lengths[parts[0]])
                waiting += [(parts[1], length - first), (parts[0], first)]

    @cached_property
    def unknown_alone(self) -> dict[int, list[int]]:
        """Return a dictionary from each base symbol that is not a token on its own to the tokens that replace it.

        Such a symbol occurs only inside longer tokens. Alone it is replaced by the unknown token, or by the tokens of
        its bytes.
        """
        alphabet = self.history.alphabet
        symbols = sorted(id for id in self._hidden if id < self._base)
        first = alphabet.first_fallback_id
        if first is None:
            return {} if self._unknown is None else {id: [self._unknown] for id in symbols}
        return {id: [first + byte for byte in alphabet.texts[id]] for id in symbols}

    def _with_unknown(self, ids: Sequence[int], stops: Sequence[int]) -> tuple[list[int], list[int]]:
        kept = list[int]()
        ends = list[int]()
        start = 0
        for id, stop in zip(ids, stops, strict=True):
            parts = self.unknown_alone.get(id, [id])
            kept += parts
            ends += [stop] if len(parts) == 1 else range(start + 1, stop + 1)
            start = stop
        return kept, ends

    @cached_property
    def alone(self) -> Bools:
        """Return a mask of the tokens that are never joined to a neighbour.

        These are the tokens for unknown characters, and the tokens that are searched for before any pair is joined.
        """
        mask = np.zeros(self._base + len(self.history), np.bool_)
        mask[: self._base] = ~np.array(self.history.alphabet.merging, np.bool_)
        mask[list(self.joining.found_first)] = True
        return mask

    @cached_property
    def _lengths(self) -> Int64s:
        return self.history.token_lengths()

    def _birth(self, token: int) -> int:
        return max(0, token - self._base + 1)

    # -- the symbols of a word -------------------------------------------------------------

    def spelled(self, word: bytes) -> tuple[list[int], list[int]]:
        if self._first is None:
            return self._spelled(word)
        symbols: list[int] = []
        widths: list[int] = []
        for place, part in enumerate(self._first.split(word)):
            if place % 2:
                symbols.append(self.first_ids[part])
                widths.append(len(part))
            elif part:
                more = self._spelled(part)
                symbols += more[0]
                widths += more[1]
        return symbols, widths

    def _spelled(self, word: bytes) -> tuple[list[int], list[int]]:
        of_byte = self._of_byte
        symbols = self._spelling.symbols(word) if of_byte is None else [of_byte[byte] for byte in word]
        widths = self._spelling.widths(word, symbols) if of_byte is None else [1] * len(word)
        return (symbols, widths) if self._left_out.isdisjoint(symbols) else self._without_left_out(symbols, widths)

    def _without_left_out(self, symbols: list[int], widths: list[int]) -> tuple[list[int], list[int]]:
        """Remove the symbols that the table does not contain. Return the remaining symbols, and their widths in bytes.

        The bytes of a removed symbol are added to the width of the next symbol. The bytes of a symbol removed at the
        end of a word belong to no symbol.
        """
        kept = list[int]()
        wide = list[int]()
        waiting = 0
        for symbol, width in zip(symbols, widths, strict=True):
            if symbol in self._left_out:
                waiting += width
            else:
                kept.append(symbol)
                wide.append(waiting + width)
                waiting = 0
        return kept, wide

    @cached_property
    def _spelling(self) -> Spelling:
        return Spelling(self.history.alphabet, self.history.recipe)

    @cached_property
    def _of_byte(self) -> list[int] | None:
        known = self._spelling.symbol_of_byte
        return None if known is None else known.tolist()

    @cached_property
    def _unknown(self) -> int | None:
        return self.history.alphabet.unknown_id

    @cached_property
    def _texts(self) -> list[bytes]:
        return written(self.history)

    @cached_property
    def first_ids(self) -> dict[bytes, int]:
        return {self.history.alphabet.texts[id]: id for id in self.joining.found_first}

    @cached_property
    def _first(self) -> re.Pattern[bytes] | None:
        longest_first = sorted(self.first_ids, key=len, reverse=True)
        return re.compile(b"(" + b"|".join(map(re.escape, longest_first)) + b")") if longest_first else None

    @cached_property
    def whole(self) -> dict[bytes, int]:
        """Return a dictionary from text to token. It is used for words that become one token without any join.

        If several tokens have equal texts, the oldest token is used.
        """
        alone = self._hidden | frozenset(self.joining.left_out)
        alone |= self._fallback if self.joining.pairs is None else frozenset()
        if self.puts_unknown_together:  # then neighbouring words are looked up together, too
            words = Cutting(self.history.recipe).words
            alone |= {id for id, text in enumerate(self._texts) if len(list(words(text.decode()))) > 1}
        return {text: id for id, text in reversed(list(enumerate(self._texts))) if id not in alone}

    @cached_property
    def _fallback(self) -> frozenset[int]:
        """Return the tokens for unknown characters.

        If a word looks exactly like one of these tokens, the library `tokenizers` encodes the word as this token. Other
        libraries do not.
        """
        return frozenset(id for id, merges in enumerate(self.history.alphabet.merging) if not merges)

    # -- joining ---------------------------------------------------------------------------

    def _apart(self, symbols: list[int], at: int) -> Iterator[Stretch]:
        """Split a long word at pairs of symbols that are never joined. Yield the tokens of each part."""
        start = 0
        meet = self.meeting
        for place in range(1, len(symbols)):
            if symbols[place - 1] << 32 | symbols[place] not in meet:
                yield self._stretch(tuple(symbols[start:place]), at)
                start = place
        yield self._stretch(tuple(symbols[start:]), at)

    @cached_property
    def meeting(self) -> set[int]:
        """Return all pairs of symbols that are neighbours inside some token.

        A pair is one 64-bit number. Its upper half is the left symbol, and its lower half is the right symbol.
        """
        return set(self.meeting_pairs().tolist())

    def meeting_pairs(self) -> Int64s:
        left, right = (column.astype(np.int64) for column in self.history.columns[:2])
        base = np.arange(self._base)
        first = outermost_symbols(np.append(base, left))
        last = outermost_symbols(np.append(base, right))
        if self.joining.pairs is not None:
            left, right = (np.append(*both) for both in zip((left, right), self.joining.pairs[:2], strict=True))
        within = [left << 32 | right for symbols in self._joined_seeds() for left, right in pairwise(symbols)]
        meeting = np.unique(np.append(last[left] << 32 | first[right], np.array(within, np.int64)))
        if self.joining.pairs is None:
            return meeting
        return self._with_made_symbols(meeting, first, last, self.joining.pairs)

    def _with_made_symbols(self, meeting: Int64s, first: Int64s, last: Int64s, pairs: PairRows) -> Int64s:
        """Return the pairs in `meeting`, and additional pairs for base symbols that a merge makes.

        Each pair has two base symbols that are neighbours inside a token. In some files, a merge joins base symbols
        into another base symbol. For example, it joins a character and an end-of-word marker. The additional pairs
        replace such a symbol with its part that touches the other symbol.
        """
        left, right, made = (column[pairs.token < self._base] for column in pairs)
        begins = _reachable(made, first[left])
        ends = _reachable(made, last[right])
        before = meeting >> 32
        behind = meeting & 0xFFFFFFFF
        at_made = np.isin(before, [*ends]) | np.isin(behind, [*begins])
        further = [
            last_symbol << 32 | first_symbol
            for end, begin in zip(before[at_made].tolist(), behind[at_made].tolist(), strict=True)
            for last_symbol in (end, *ends.get(end, ()))
            for first_symbol in (begin, *begins.get(begin, ()))
        ]
        return np.unique(np.append(meeting, np.array(further, np.int64)))

    def _joined_seeds(self) -> Iterator[list[int]]:
        """Yield the symbols of each seed that can be joined from neighbours.

        A seed is a token of several symbols that no step of the history made.
        """
        if self.joining.priorities is not None:
            for id in np.flatnonzero(self.joining.priorities[: self._base] != NO_PRIORITY).tolist():
                yield self._spelling.symbols(self.history.alphabet.texts[id])

    def _stretch(self, symbols: tuple[int, ...], at: int) -> Stretch:
        known = self._stretches.get(symbols)
        if known is None or not known[2] <= at < known[3]:
            if len(self._stretches) >= MOST_REMEMBERED:
                self._stretches.clear()
            known = self._joined(symbols, at)
            if len(symbols) <= LONGEST_REMEMBERED:
                self._stretches[symbols] = known
        return known

    def _joined(self, symbols: tuple[int, ...], at: int) -> Stretch:
        ids, lengths, newest, missed = join_neighbours(symbols, self.find, self._base + at)
        return ids, lengths, self._birth(newest), ALWAYS if missed is None else self._birth(missed)

    def _with_unknown_joined(self, ids: Sequence[int], stops: Sequence[int]) -> tuple[list[int], list[int]]:
        kept: list[int] = []
        ends: list[int] = []
        for id, stop in zip(ids, stops, strict=True):
            if kept and id == kept[-1] == self._unknown:
                ends[-1] = stop
            else:
                kept.append(id)
                ends.append(stop)
        return kept, ends


def _reachable(starts: Int64s, stops: Int64s) -> dict[int, set[int]]:
    """Return a dictionary from each start to the set of all numbers that can be reached from it in a graph.

    Each edge leads from a number in `starts` to the number at the same index in `stops`.

    >>> _reachable(np.array([1, 2]), np.array([2, 3])) == {1: {2, 3}, 2: {3}}
    True
    """
    steps: dict[int, set[int]] = {}
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        steps.setdefault(start, set()).add(stop)
    reached_from: dict[int, set[int]] = {}
    for start, stops_of_it in steps.items():
        reached = reached_from.setdefault(start, set())
        waiting = [*stops_of_it]
        while waiting:
            if (number := waiting.pop()) not in reached:
                reached.add(number)
                waiting += steps.get(number, ())
    return reached_from


def join_unknown(ids: Int32s, edges: Int64s, unknown: int) -> tuple[Int32s, Int64s]:
    """Replace neighbouring unknown tokens of each text by one unknown token.

    `edges` holds the offsets of the texts in `ids`. Return the new ids and the new offsets.
    """
    again = np.zeros(len(ids) + 1, np.bool_)
    again[1:-1] = (ids[1:] == unknown) & (ids[:-1] == unknown)
    again[edges] = False
    return ids[~again[:-1]], edges - (np.cumsum(again) - again)[edges]
