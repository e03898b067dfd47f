"""The segmenter that splits each word from left to right, and takes the longest token that fits each time.

Every token has a birth, the number of steps after which the token exists. So the same table of tokens is used
for any number of steps. The tokens of a word stay valid until a step adds a longer token that fits.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from operator import ne
from typing import TYPE_CHECKING

import numpy as np

from bpe_core.history.alphabet import Symbol
from bpe_core.history.history import History
from bpe_core.history.token_texts import written
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.choice import LARGEST_NUMBER
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.text_encoder import WordSegmenter
from bpe_core.segmenting.word_tokens import ALWAYS, WordCut

if TYPE_CHECKING:  # these imports load machine code
    from bpe_core.kernels.pieces import PieceTable
    from bpe_core.segmenting.compiled_encoder import CompiledEncoder
    from bpe_core.segmenting.compiled_methods import PiecesOverTime

Ids = dict[str, int]  # from the text of a token to its id


class WordPieceSegmenter(WordSegmenter):
    has_kernels = has_pieces_over_time = True

    def __init__(self, history: History, cutting: Cutting) -> None:
        self.pieces = LongestPieces(history)
        super().__init__(history, cutting, self.pieces.cut)

    def make_kernels(self) -> CompiledEncoder:
        from bpe_core.kernels.encode import PIECES
        from bpe_core.segmenting.compiled_encoder import CompiledEncoder  # loads machine code

        return CompiledEncoder(self._history, self._cutting, self.pieces.table(), kind=PIECES)

    def pieces_over_time(self) -> PiecesOverTime:
        from bpe_core.segmenting.compiled_methods import PiecesOverTime  # loads machine code

        return PiecesOverTime([0], lambda at: self.pieces.table(), None)


class LongestPieces:
    """The dictionaries from text to token: one for tokens that begin words, one for tokens that continue words."""

    def __init__(self, history: History) -> None:
        unknown = history.alphabet.unknown_id
        assert unknown is not None  # the method needs an unknown token
        self.unknown = unknown
        self.encoding = encoding_of(history)
        longest = METHODS[history.recipe.method].longest_word_of(history.recipe)
        self.longest_word = LARGEST_NUMBER if longest is None else longest
        self._base = len(history.alphabet)
        starting, self.continuing = pieces_of(history)
        self.starting = _beginning_pieces(starting, self.continuing, history.alphabet.continuing.decode())

    @cached_property
    def _lengths_to_start(self) -> dict[str, list[int]]:
        return _lengths_by_first(self.starting)

    @cached_property
    def _lengths_to_continue(self) -> dict[str, list[int]]:
        return _lengths_by_first(self.continuing)

    def birth(self, id: int) -> int:
        """Return the number of steps after which a token exists."""
        return max(0, id - self._base + 1)

    def cut(self, word: bytes, at: int) -> WordCut:
        """Split a word after `at` steps.

        The whole word becomes the unknown token if no token fits at some offset, or if the word is too long.
        """
        text = word.decode(self.encoding)
        data = word
        if len(text) > self.longest_word:
            return WordCut([self.unknown], [len(data)], 0, ALWAYS)
        ids: list[int] = []
        ends: list[int] = []
        start = end = since = 0
        until = ALWAYS
        while start < len(text):
            ids_here = self.continuing if start else self.starting
            lengths = (self._lengths_to_continue if start else self._lengths_to_start).get(text[start], [])
            for length in reversed(lengths[: bisect_right(lengths, len(text) - start)]):
                stop = start + length
                id = ids_here.get(text[start:stop])
                if id is None:
                    continue
                if (birth := self.birth(id)) <= at:
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

    def table(self) -> PieceTable:
        """Return the tokens as a tree for the kernels. The same tree is used for any number of steps."""
        from bpe_core.kernels.pieces import CONTINUING, LONGEST_WORD, STARTING, UNKNOWN
        from bpe_core.segmenting.compiled_encoder import piece_table  # loads machine code

        texts = [*self.starting, *self.continuing]
        ids = np.array([*self.starting.values(), *self.continuing.values()], np.int32)
        roots = np.repeat(np.array([STARTING, CONTINUING], np.int32), [len(self.starting), len(self.continuing)])
        births = np.maximum(ids - self._base + 1, 0)
        table = piece_table([text.encode(self.encoding) for text in texts], roots, ids, births)
        table.number[UNKNOWN] = self.unknown
        table.number[LONGEST_WORD] = self.longest_word
        return table


def _beginning_pieces(starting: Ids, continuing: Ids, marker: str) -> Ids:
    """Return a dictionary from text to id, for all tokens that can begin a word.

    Continuing tokens are included with their marker, such as `##ing`, because a word may really begin with the
    characters `##`.
    """
    if not marker:
        return starting
    spelled = {marker + text: id for text, id in continuing.items()}
    twins = [text for text in starting if text.startswith(marker) and text in spelled]
    return spelled | starting | {text: min(spelled[text], starting[text]) for text in twins}  # the older token counts


def _lengths_by_first(ids: Ids) -> dict[str, list[int]]:
    """Return a dictionary from each first character to the ascending lengths of the tokens that begin with it."""
    lengths_of: dict[str, list[int]] = {}
    for first, length in sorted({(text[:1], len(text)) for text in ids}):
        lengths_of.setdefault(first, []).append(length)
    return lengths_of


def encoding_of(history: History) -> str:
    """Return the encoding by which the bytes of tokens become text.

    If the base symbols are bytes, each byte becomes one character.
    """
    return "latin-1" if history.recipe.base == "bytes" else "utf-8"


def pieces_of(history: History) -> tuple[Ids, Ids]:
    """Return two dictionaries from text to id: for the tokens that begin words, and for the tokens that continue words.

    If several tokens have equal texts, the oldest token is used. In vocabularies that do not mark continuation, such as
    RWKV's, every token both begins and continues words.
    """
    alphabet = history.alphabet
    marker = len(alphabet.continuing)
    continues = [*map(ne, alphabet.texts, alphabet.decoded)] + [False] * len(history)
    for id, (left, _) in enumerate(history.pairs(), len(alphabet)):
        continues[id] = continues[left]
    unknown = alphabet.unknown_id
    encoding = encoding_of(history)
    oldest_last = range(len(continues))[::-1]
    texts = written(history)
    starting = {texts[id].decode(encoding): id for id in oldest_last if not continues[id] and id != unknown}
    if history.recipe.marker == "none":
        return starting, starting
    return starting, {texts[id][marker:].decode(encoding): id for id in oldest_last if continues[id]}


def lone_characters(history: History) -> list[Symbol]:
    """Return a base symbol for each character that occurs only in longer tokens.

    Symbols that begin words come first, then symbols that continue words. Both are sorted by their characters.
    """
    marker = history.recipe.marker_text.encode()
    (starting, continuing) = pieces_of(history)
    first = sorted({text[0] for text in starting} - starting.keys())
    inside = {sign for text in starting for sign in text[1:]} | {sign for text in continuing for sign in text}
    symbols = [Symbol(sign.encode(), sign.encode(), "character") for sign in first]
    rest = (sign.encode() for sign in sorted(inside - continuing.keys()))
    return symbols + [Symbol(marker + sign, sign, "continuation") for sign in rest]
