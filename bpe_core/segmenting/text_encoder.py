"""Byte-pair encoding of whole texts: special tokens, normalization, and the encoder that suits their size."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol

import numpy as np

from bpe_core.history.history import History
from bpe_core.kernels.readiness import Policy
from bpe_core.segmenting.boundaries import PATTERN_CUT, Boundaries, PlacedSymbols, joined
from bpe_core.segmenting.cutting import Cutting, GivenWords, Part, ids_looked_for, utf8
from bpe_core.segmenting.plain_encoder import LongestMatch, PlainEncoder, ids_of_each
from bpe_core.support.arrays import Int32s, Int64s
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.support.threads import WORTH_THREADS

if TYPE_CHECKING:  # which load machine code
    from bpe_core.segmenting.batches import Batch, Texts, Unread
    from bpe_core.segmenting.compiled_encoder import CompiledEncoder

KERNELS = Policy("bpe_core.segmenting.compiled_encoder", small=64_000)  # characters

_encoded_plainly = 0  # characters, by all tokenizers of this process together


class Encoder(Protocol):
    def ids(self, text: str, at: int) -> Int32s:
        """The tokens after so many merges."""

    def symbols(self, text: str) -> PlacedSymbols:
        """The base symbols with the ranks of their boundaries, and their places in the bytes of the text."""

    def byte_ranks(self, text: str) -> Int32s:
        """The rank of the boundary before each byte, where each is a symbol and belongs to a word."""


class TextEncoder:
    """The `Segmenter` of byte-pair encoding: cuts texts with the merges of one history."""

    def __init__(self, history: History, cutting: Cutting) -> None:
        self._history = history
        self._base = len(history.alphabet)
        self._cutting = cutting
        self.plain = PlainEncoder(history, cutting)
        self._special_id = ids_looked_for(history)
        self._compiled: CompiledEncoder | None = None

    def ids(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        if len(text) >= WORTH_THREADS:
            from bpe_core.segmenting.batches import Unread  # a short text does without

            if found := self.batch(Unread.of([text]), at, allowed, None):
                return found.ids
        encoder = self._encoder_for(text)
        if encoder is not self.plain and not allowed and not self._cutting.recipe.normalizes:
            return encoder.ids(text, at)
        utf8(text)  # so that an error names the place in the given text
        if self._cutting.gives_words:
            return self._ids_of_words(text, at, allowed)
        parts = self._cutting.normalized_parts(text, allowed)
        if encoder is not self.plain and encoder is self._compiled and self._compiled.finds_words:
            return self._ids_of_parts(self._compiled, list(parts), at)
        return end_to_end(
            encoder.ids(part, at) if special is None else self._special(special) for part, special in parts
        )

    def _special(self, token: str) -> Int32s:
        return np.array([self._special_id[token]], np.int32)

    def _ids_of_parts(self, encoder: CompiledEncoder, parts: list[tuple[str, str | None]], at: int) -> Int32s:
        """All parts in one call, each a text of its own, and the special tokens between them."""
        data = [part.encode() for part, _ in parts]
        edges = np.fromiter(accumulate(map(len, data), initial=0), np.int64, len(data) + 1)
        ids, free_at = encoder.ids_of_texts(np.frombuffer(b"".join(data), np.uint8), edges, at)
        specials = [place for place, (_, special) in enumerate(parts) if special is not None]
        return np.insert(ids, free_at[specials], [self._special_id[parts[place][1] or ""] for place in specials])

    def batch(self, texts: Texts | Unread, at: int, allowed: tuple[str, ...], threads: int | None) -> Batch | None:
        """The ids of many texts; None where they have to be encoded one by one."""
        if allowed or self._cutting.recipe.normalizes or self._cutting.gives_words:
            return None
        encoder = self._kernels_for(texts.size)
        if encoder is None or not encoder.finds_words:
            return None
        from bpe_core.segmenting.batches import encoded_by_kernels
        from bpe_core.text.safe_cuts import SafeCuts

        return encoded_by_kernels(encoder, texts, SafeCuts.of(self._cutting.recipe), at, threads)

    def ids_of_given(
        self, given: GivenWords, at: int, cancelled: CancelCheck = never_cancelled
    ) -> tuple[Int32s, Int64s] | None:
        """The tokens of the given words after so many steps, and where those of each word begin, and the end.

        None where the words are too few for kernels, or there are none: then a segmentation serves.
        """
        encoder = self._kernels_for(len(given.data))
        return None if encoder is None else encoder.ids_of_given(given.data, given.starts, at, cancelled)

    def _ids_of_words(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        """Where the parts of a text are words already, lay them end to end for the kernels."""
        compiled = self._kernels_for(len(text))
        if compiled is None:
            return ids_of_each(
                self._cutting.normalized_parts(text, allowed),
                lambda part: self.plain.tokens(part[0], at) if part[1] is None else [self._special_id[part[1]]],
            )
        return end_to_end(
            self._special(special or "") if laid is None else compiled.ids_of_words(laid.data, laid.cuts, at)
            for laid, special in self._cutting.laid_parts(text, allowed)
        )

    def greedy_ids(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        utf8(text)
        return end_to_end(
            self.plain.greedy_ids(part, at, self._longest_match) if special is None else self._special(special)
            for part, special in self._cutting.normalized_parts(text, allowed)
        )

    def segmentation(self, text: str, allowed: tuple[str, ...], cancelled: CancelCheck = never_cancelled) -> Boundaries:
        data = utf8(text)
        encoder = self._encoder_for(text)
        symbol_of_byte = self.plain.spelling.symbol_of_byte
        if symbol_of_byte is not None and self._cutting.keeps_all and not any(token in text for token in allowed):
            ranks = np.append(encoder.byte_ranks(text), np.int32(PATTERN_CUT))
            return Boundaries.of_bytes(data, ranks, symbol_of_byte, self._base)
        wanted = while_wanted(self._cutting.parts(text, allowed), cancelled, every=1)
        parts = [self._placed_symbols(encoder, part) for part in wanted]
        return Boundaries.of_symbols(data, joined(parts), self._base)

    def _placed_symbols(self, encoder: Encoder, part: Part) -> PlacedSymbols:
        if part.special is not None:
            cut = np.array([PATTERN_CUT], np.int32)
            return PlacedSymbols(self._special(part.special), cut, part.origins[:1], part.origins[-1:])
        symbols = encoder.symbols(part.text)
        return symbols._replace(starts=part.origins[symbols.starts], stops=part.origins[symbols.stops])

    @cached_property
    def _longest_match(self) -> LongestMatch:
        return LongestMatch(self._history)

    def expect(self, characters: int) -> None:
        self._kernels_for(characters)

    def _encoder_for(self, text: str) -> Encoder:
        return self.plain if self._cutting.gives_words else self._kernels_for(len(text)) or self.plain

    def _kernels_for(self, size: int) -> CompiledEncoder | None:
        """The kernels where they are loaded, or where loading them takes less time than doing without."""
        if self._compiled is None and worth_kernels(size):
            from bpe_core.segmenting.compiled_encoder import CompiledEncoder  # loads machine code

            self._compiled = CompiledEncoder(self._history, self._cutting)
        return self._compiled


def worth_kernels(characters: int) -> bool:
    """Whether the kernels should encode so many more characters, after all that was encoded plainly."""
    global _encoded_plainly
    _encoded_plainly += characters
    return KERNELS.chooses(_encoded_plainly)


def end_to_end(pieces: Iterable[Int32s]) -> Int32s:
    found = list(pieces)
    return np.concatenate(found) if found else np.zeros(0, np.int32)
