"""The encoding of whole texts.

It handles special tokens and normalization, and chooses an encoder that suits the size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bpe_core.history.alphabet import Spelling
from bpe_core.history.history import History
from bpe_core.kernels.readiness import by_machine_code, is_forbidden, is_loaded, is_worth_loading
from bpe_core.kernels.stored_code import ENCODING
from bpe_core.methods.registry import METHODS
from bpe_core.segmenting.boundaries import NEVER, PATTERN_CUT, Boundaries, PlacedSymbols, joined
from bpe_core.segmenting.cutting import (
    ESCAPED,
    LONG,
    SHORT,
    Cutting,
    GivenWords,
    Part,
    ids_of_each,
    may_hold_special,
    utf8,
)
from bpe_core.segmenting.merging import LongestMatch, WordMerger
from bpe_core.segmenting.word_tokens import WordCut, WordCuts, WordCutter, Words, WordTokens
from bpe_core.support.arrays import Int32s, Int64s, UInt32s
from bpe_core.support.progress import ALONE, CancelCheck, Work, never_cancelled, while_wanted
from bpe_core.support.threads import WORTH_THREADS
from bpe_core.text.preparation.pieces import TracedPiece

if TYPE_CHECKING:  # these imports load machine code
    from bpe_core.segmenting.batches import Batch, Texts, Unread
    from bpe_core.segmenting.changed_texts import ChangedTexts
    from bpe_core.segmenting.compiled_encoder import CompiledEncoder, ShortTexts
    from bpe_core.segmenting.compiled_methods import PiecesOverTime
    from bpe_core.splitting.safe_cuts import SafeCuts


REMEMBERED_WORDS = 1 << 16
LAID_AT_ONCE = 1 << 18  # characters of a batch whose words are put end to end
CHARACTERS_AT_ONCE = 1 << 24  # characters of a batch of other texts, which several threads encode
FIRST_TEXT = 64  # characters; for a longer text, and for the second text of a tokenizer, machine code is loaded
FEW_PARTS = 6  # parts of a short text; for more parts, one call of the kernels is faster


class WordEncoder:
    """The base class of segmenters that split each word separately.

    Kernels split the words. Until the kernels are compiled, the specification of the method splits them.
    """

    has_kernels = True
    part = ENCODING  # the part of the machine code with all kernels of the encoder

    def __init__(self, history: History, cutting: Cutting) -> None:
        self._history = history
        self._cutting = cutting
        self.compiled: CompiledEncoder | None = None  # once machine code is loaded

    def make_kernels(self) -> CompiledEncoder:
        """Return the kernels that split words as this class does.

        The function is called only if `has_kernels` is true.
        """
        raise NotImplementedError

    def ids_of_word(self, word: bytes, at: int) -> Sequence[int]:
        raise NotImplementedError

    def placed_ids(self, word: bytes, at: int) -> tuple[Sequence[int], Sequence[int]]:
        """Return the tokens of a word, and the byte offset in the word at which each token ends."""
        raise NotImplementedError

    def ids_of_words(self, words: Iterable[str], at: int) -> Int32s:
        """Return the tokens of several words in one array. Plain Python splits the words."""
        return ids_of_each(words, lambda word: self.ids_of_word(word.encode(errors=ESCAPED), at))

    def ids_of_bytes(self, data: bytes, at: int) -> Int32s:
        """Return the tokens of a single word, given as bytes. The bytes need not be valid text."""
        kernels = self.kernels_for(len(data))
        if kernels is None or not data:
            return np.array(self.ids_of_word(data, at), np.int32)
        return kernels.ids_of_words(np.frombuffer(data, np.uint8), np.array([0, len(data)], np.int32), at)

    @cached_property
    def _special_id(self) -> dict[str, int]:
        return self._history.ids_looked_for

    def kernels_for(self, size: int, work: Work = ALONE) -> CompiledEncoder | None:
        """Return the compiled encoder for a text of `size` bytes.

        Return None if plain Python encodes the text, because no compiled encoder exists, or because it is not ready
        yet.
        """
        if self.compiled is None and self.has_kernels and by_machine_code(size, self.part, work, is_needed=False):
            self.compiled = self.make_kernels()
        return self.compiled

    def _kernels_for_text(self, text: str, work: Work = ALONE) -> CompiledEncoder | None:
        return self.kernels_for(len(text.encode(errors="surrogatepass")), work)

    def ids_of_first(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s | None:
        """Return the tokens of the first text if plain Python splits it faster than machine code can be loaded.

        Return None for any later text, or if the machine code is already loaded.
        """
        return None

    def ids(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        if len(text) >= WORTH_THREADS:
            from bpe_core.segmenting.batches import Unread  # a short text needs no threads

            if batch := self.batch(Unread.of([text]), at, allowed, None):
                return batch.ids
        if self._cutting.gives_words:
            return self._ids_by_steps(text, at, allowed)
        kernels = self.compiled
        if kernels is None:
            found = self.ids_of_first(text, at, allowed)
            if found is not None:
                return found
            kernels = self._kernels_for_text(text)
        is_changed = self._cutting.normalizes and self._cutting.may_change(text)
        if kernels is not None and not allowed:
            changes = self._changing if kernels.finds_words else None
            short = None if changes is None else kernels.ids_of_short(text, at, changes.table)
            if short is not None:
                return short
            if not is_changed:
                return self._ids_of_part(kernels, text, at) if changes is None else kernels.ids(text, at)
            if changes is not None:
                data = np.frombuffer(utf8(text), np.uint8)
                changed = changes.of(data, np.array([0, len(data)]))
                if changed is not None:
                    return kernels.ids_of_texts(*changed, at)[0]
        if not text.isascii():
            utf8(text)  # so that an error names the place in the given text
        if kernels is None and not (allowed or is_changed):
            return self._ids_of_part(None, text, at)
        if kernels is None or len(text) < SHORT:
            return self._ids_by_parts(kernels, text, at, allowed)
        return self._ids_at_once(kernels, text, at, allowed)

    def _ids_at_once(self, kernels: CompiledEncoder, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        """Encode a text with many parts in one call of the kernels, and return the ids.

        The parts are concatenated for this call.
        """
        changes = self._changes_of_parts(kernels, allowed)
        divide = self._cutting.stretches if changes is None else self._cutting.given_stretches
        parts = _Parts.of(divide([text], allowed), self._special_id)
        return self._ids_of_parts(kernels, parts, at, changes)[0]

    def _changes_of_parts(self, kernels: CompiledEncoder, allowed: tuple[str, ...]) -> ChangedTexts | None:
        """Return the machine code that normalizes the parts of a text between the special tokens in `allowed`.

        Return None if Python normalizes them, or if they stay unchanged.
        """
        if not (self._cutting.normalizes and kernels.finds_words and self._cutting.finds_all_in_given_texts(allowed)):
            return None
        return self._changing

    def _ids_by_parts(self, kernels: CompiledEncoder | None, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        """Encode the parts of a text one by one, and return the ids.

        This is the faster way for a text with few parts. A text with many parts is passed to `_ids_at_once`.
        """
        changes = None if kernels is None else self._changes_of_parts(kernels, allowed)
        rest: Iterator[tuple[str, str | None]] = self._cutting.normalized_parts(text, allowed)
        if changes is not None:
            (stretches,) = self._cutting.given_stretches([text], allowed)
            rest = ((piece.text, token or None) for piece, token in stretches)
        parts = list(islice(rest, FEW_PARTS + 1))
        if kernels is not None and len(parts) > FEW_PARTS:
            return self._ids_at_once(kernels, text, at, allowed)
        parts += rest
        ids = [
            self._ids_of_part(kernels, part, at, changes) if special is None else self._special_ids[special]
            for part, special in parts
        ]
        is_new = len(ids) == 1 and parts[0][1] is None  # the ids of special tokens are shared by all texts
        return ids[0] if is_new else end_to_end(ids)

    @cached_property
    def _special_ids(self) -> dict[str, Int32s]:
        return {token: np.array([id], np.int32) for token, id in self._special_id.items()}

    def _ids_by_steps(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        """Encode a text with a recipe from a tokenizer file, and return the ids.

        The operations of this recipe split the text into words. Machine code receives the bytes of all words in one
        array, with the offset of each word.
        """
        if not text.isascii():
            utf8(text)
        kernels = self.compiled or self._kernels_for_text(text)
        if kernels is not None and (allowed or len(text) >= LONG):
            return self._ids_at_once(kernels, text, at, allowed)
        if allowed:
            return self._ids_by_parts(None, text, at, allowed)
        words = self._cutting.words_by_steps(text)
        if kernels is None:
            return self.ids_of_words(words, at)
        encoded = [word.encode(errors=ESCAPED) for word in words if word]
        starts = np.fromiter(accumulate(map(len, encoded), initial=0), np.int32, len(encoded) + 1)
        return kernels.ids_of_words(np.frombuffer(b"".join(encoded), np.uint8), starts, at)

    def _ids_of_parts(
        self,
        kernels: CompiledEncoder,
        parts: _Parts,
        at: int,
        changes: ChangedTexts | None = None,
        threads: int | None = 1,
    ) -> tuple[Int32s, Int64s]:
        """Encode texts that are divided at special tokens. Return all ids, and the offset of each text's first id.

        If `changes` is given, it normalizes the parts. Otherwise they are already normalized.
        """
        ids, starts = self._ids_of_pieces(kernels, parts.pieces, at, changes, threads)
        offsets = starts[parts.pieces_before] + parts.specials_before
        return np.insert(ids, starts[parts.places], parts.specials) if parts.specials else ids, offsets

    def _ids_of_pieces(
        self,
        kernels: CompiledEncoder,
        pieces: Sequence[TracedPiece],
        at: int,
        changes: ChangedTexts | None,
        threads: int | None,
    ) -> tuple[Int32s, Int64s]:
        """Encode all pieces of text, if possible in one call. Return all ids, and the offset of each piece's first
        id."""
        from bpe_core.segmenting.batches import Batch, Texts, encode_by_kernels

        if self._cutting.gives_words:
            laid = self._cutting.concatenated_words(pieces)
            return kernels.ids_of_texts_in_words(laid.data, laid.cuts, laid.cuts[laid.first_words].astype(np.int64), at)
        if not kernels.finds_words:
            return Batch.of([kernels.ids(piece.text, at) for piece in pieces])
        texts = Texts.of([piece.text for piece in pieces])
        if changes is not None:
            changed = changes.of(texts.data, texts.edges)
            assert changed is not None  # `changed_texts` has checked the table
            texts = Texts(*changed)
        if texts.size < WORTH_THREADS:
            return kernels.ids_of_texts(texts.data, texts.edges, at)
        return encode_by_kernels(kernels, texts, self._cuts_of_changed, at, threads)

    def _ids_of_part(
        self, kernels: CompiledEncoder | None, part: str, at: int, changes: ChangedTexts | None = None
    ) -> Int32s:
        if kernels is not None:
            table = (changes or self._unchanging).table
            short = kernels.ids_of_short(part, at, table) if kernels.finds_words else None
            if short is None and changes is not None:
                return self._ids_of_pieces(kernels, [TracedPiece.bare(part)], at, changes, threads=1)[0]
            return kernels.ids(part, at) if short is None else short
        return self.ids_of_words((part,) if self._cutting.gives_words else self._cutting.words(part), at)

    def short_texts(self, kernels: CompiledEncoder, at: int) -> ShortTexts | None:
        """Return the function that encodes short texts to ids of the file (see `CompiledEncoder.short_texts`).

        Return None if the recipe needs several calls of the kernels.
        """
        if self._cutting.gives_words or not (kernels.finds_words and kernels.gives_ids_at_once):
            return None
        changes = self._changing
        file_ids = self._history.file_ids
        if changes is None or (file_ids is not None and file_ids.dtype != np.uint32):
            return None
        encode = kernels.short_texts(at, changes.table)
        allowed = self._cutting.allowed(None)
        if not allowed:
            return encode
        if not self._cutting.finds_all_in_given_texts(allowed):
            return None
        is_spelled = may_hold_special(allowed)

        def encode_ordinary(text: str, listed: bool) -> UInt32s | list[int] | None:
            return None if is_spelled(text) else encode(text, listed)

        return encode_ordinary

    def batch(self, texts: Texts | Unread, at: int, allowed: tuple[str, ...], threads: int | None) -> Batch | None:
        """Return the ids of many texts. Return None if the texts must be encoded one by one."""
        encoder = self.kernels_for(texts.size)
        from bpe_core.segmenting.batches import Batch, Texts, encode_by_kernels

        cutting = self._cutting
        if encoder is None:
            return None
        if encoder is not None and encoder.finds_words and not allowed:
            if not cutting.normalizes:
                return encode_by_kernels(encoder, texts, self._cuts_of_changed, at, threads)
            given = Texts.of(texts.texts) if not isinstance(texts, Texts) else texts
            changed = None if self._changing is None else self._changing.of(given.data, given.edges)
            if changed is not None:
                return encode_by_kernels(encoder, Texts(*changed), self._cuts_of_changed, at, threads)
        at_once = LAID_AT_ONCE if cutting.gives_words else CHARACTERS_AT_ONCE
        changes = self._changes_of_parts(encoder, allowed)
        divide = cutting.stretches if changes is None else cutting.given_stretches
        batches = (divide(some, allowed) for some in _in_batches(texts.strings(), at_once))
        parts = (_Parts.of(stretches, self._special_id) for stretches in batches)
        return Batch.joined([self._ids_of_parts(encoder, some, at, changes, threads) for some in parts])

    def _cuts_of_changed(self) -> SafeCuts:
        from bpe_core.kernels.stored_tables import scan_table  # these are needed only for large texts
        from bpe_core.splitting.safe_cuts import SafeCuts

        recipe = self._cutting.of_changed
        return SafeCuts.of(recipe, table=scan_table(recipe))

    @cached_property
    def _changing(self) -> ChangedTexts | None:
        """Return the machine code that normalizes texts as the recipe says.

        Return None if there is no machine code for it.
        """
        from bpe_core.segmenting.changed_texts import changed_texts, unchanged_texts  # loads machine code

        if not self._cutting.normalizes:
            return unchanged_texts()
        return changed_texts(self._cutting.recipe.preparation) if self._cutting.normalizes_by_steps else None

    @cached_property
    def _unchanging(self) -> ChangedTexts:
        """Return the machine-code normalizer that changes nothing. It is used for parts that are already normalized."""
        from bpe_core.segmenting.changed_texts import unchanged_texts  # loads machine code

        return unchanged_texts()

    def ids_of_given(
        self, given: GivenWords, at: int, cancelled: CancelCheck = never_cancelled
    ) -> tuple[Int32s, Int64s] | None:
        """Encode a text whose words are already known. Return all ids, and the offset of each word's first id.

        Return None if no compiled encoder is ready for a text of this size.
        """
        encoder = self.kernels_for(len(given.data), Work(cancelled=cancelled))
        return None if encoder is None else encoder.ids_of_given(given.data, given.starts, at, cancelled)


class TextEncoder(WordEncoder):
    """The `Segmenter` of byte-pair encoding, which splits texts with the merges of a history."""

    def __init__(self, history: History, cutting: Cutting) -> None:
        super().__init__(history, cutting)
        self._base = len(history.alphabet)
        self._is_first = True  # until a text was split

    @cached_property
    def _is_slow_in_python(self) -> bool:
        return METHODS[self._history.recipe.method].joins_runs

    @cached_property
    def words(self) -> WordMerger:
        return WordMerger(self._history, self._cutting)

    @cached_property
    def _words_of_samples(self) -> WordMerger:
        return WordMerger(self._history, self._cutting, plainly=True)

    def ids_of_first(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s | None:
        is_first, self._is_first = self._is_first, False
        return self._words_of_samples.ids(text, at) if is_first and self._is_quick_in_python(text, allowed) else None

    def _is_quick_in_python(self, text: str, allowed: tuple[str, ...]) -> bool:
        """Return whether plain Python can split `text` in less time than it takes to load the machine code."""
        cutting = self._cutting
        if is_loaded() or is_forbidden() or len(text) > FIRST_TEXT or not text.isascii() or allowed:
            return False
        is_changed = cutting.gives_words or (cutting.normalizes and cutting.may_change(text))
        return self.has_kernels and not is_changed and not self._is_slow_in_python

    def make_kernels(self) -> CompiledEncoder:
        if METHODS[self._history.recipe.method].joins_runs:
            from bpe_core.segmenting.compiled_runs import CompiledRuns  # loads machine code

            return CompiledRuns(self._history, self._cutting)
        recipe = self._history.recipe
        if recipe.pattern == "superwords" and Spelling(self._history.alphabet, recipe).joins_bytes:
            from bpe_core.segmenting.compiled_runs import CompiledSuperwords  # loads machine code

            return CompiledSuperwords(self._history, self._cutting)
        from bpe_core.segmenting.compiled_encoder import CompiledEncoder  # loads machine code

        return CompiledEncoder(self._history, self._cutting)

    def ids_of_word(self, word: bytes, at: int) -> list[int]:
        return self.words.tokens(word, at)

    def placed_ids(self, word: bytes, at: int) -> tuple[Sequence[int], Sequence[int]]:
        merged = self.words.merged(word)
        stops = accumulate(self.words.spelling.widths(word, merged.symbols))
        ends = [stop for stop, rank in zip(stops, (*merged.ranks, NEVER), strict=True) if rank >= at]
        return self.words.tokens(word, at), ends

    def ids_of_words(self, words: Iterable[str], at: int) -> Int32s:
        return self.words.ids_of_words(words, at)

    def greedy_ids(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        utf8(text)
        longest = LongestMatch(self._history)
        return end_to_end(
            self.words.greedy_ids(part, at, longest) if special is None else self._special_ids[special]
            for part, special in self._cutting.normalized_parts(text, allowed)
        )

    def segmentation(self, text: str, allowed: tuple[str, ...], cancelled: CancelCheck = never_cancelled) -> Boundaries:
        data = utf8(text)
        encoder = self._encoder_for(text, Work(cancelled=cancelled))
        symbol_of_byte = self.words.spelling.symbol_of_byte
        if symbol_of_byte is not None and self._cutting.keeps_all and not any(token in text for token in allowed):
            ranks = np.append(encoder.byte_ranks(text), np.int32(PATTERN_CUT))
            return Boundaries.of_bytes(data, ranks, symbol_of_byte, self._base)
        wanted = while_wanted(self._cutting.parts(text, allowed), cancelled, every=1)
        parts = [self._placed_symbols(encoder, part) for part in wanted]
        return Boundaries.of_symbols(data, joined(parts), self._base)

    def _placed_symbols(self, encoder: WordMerger | CompiledEncoder, part: Part) -> PlacedSymbols:
        if part.special is not None:
            cut = np.array([PATTERN_CUT], np.int32)
            return PlacedSymbols(self._special_ids[part.special], cut, part.origins[:1], part.origins[-1:])
        symbols = encoder.symbols(part.text)
        return symbols._replace(starts=part.origins[symbols.starts], stops=part.origins[symbols.stops])

    def _encoder_for(self, text: str, work: Work = ALONE) -> WordMerger | CompiledEncoder:
        if not (self._cutting.gives_words or self._is_slow_in_python or is_worth_loading(len(text))):
            return self._words_of_samples
        return self.words if self._cutting.gives_words else self._kernels_for_text(text, work) or self.words


class WordSegmenter(WordEncoder):
    """A `Segmenter` for a method that has a `WordCutter`, and may have kernels."""

    has_kernels = False
    has_pieces_over_time = False  # whether kernels can update the tokens of words step by step

    def __init__(self, history: History, cutting: Cutting, cut: WordCutter | None = None) -> None:
        """Prepare a segmenter that cuts words by the function `cut`.

        A subclass that overrides `cut_word` needs no such function. A method of the segmenter itself must not be given:
        the segmenter would stay in memory until the garbage collector finds it.
        """
        super().__init__(history, cutting)
        self._cut = cut
        self._remembered: dict[bytes, WordCut] = {}

    def pieces_over_time(self) -> PiecesOverTime | None:
        return None

    def ids_of_word(self, word: bytes, at: int) -> Sequence[int]:
        return self.cut(word, at).ids

    def placed_ids(self, word: bytes, at: int) -> tuple[Sequence[int], Sequence[int]]:
        word_cut = self.cut(word, at)
        return word_cut.ids, word_cut.ends

    def cut(self, word: bytes, at: int) -> WordCut:
        known = self._remembered.get(word)
        if known is None or not known.since <= at < known.until:
            if len(self._remembered) >= REMEMBERED_WORDS:
                self._remembered = {}
            known = self._remembered[word] = self.cut_word(word, at)
        return known

    def cut_word(self, word: bytes, at: int) -> WordCut:
        """Cut a word that is not remembered."""
        assert self._cut is not None
        return self._cut(word, at)

    def cut_words(self, words: Sequence[bytes], at: int) -> WordCuts:
        return WordCuts.of([self.cut(word, at) for word in words])

    def segmentation(self, text: str, allowed: tuple[str, ...], cancelled: CancelCheck = never_cancelled) -> WordTokens:
        data = utf8(text)
        parts = [self._words_of(part, cancelled) for part in self._cutting.parts(text, allowed)]
        return WordTokens(data, Words.joined(parts), self.cut_words)

    def _words_of(self, part: Part, cancelled: CancelCheck) -> Words:
        if part.special is not None:
            return Words.of([self._special_id[part.special]], [0], part.origins[[0, -1]])
        words = list[bytes]()
        starts = list[int]()
        for word, start in while_wanted(self._cutting.placed_words(part.text), cancelled):
            words.append(word)
            starts.append(start)
        return Words.of(words, starts, part.origins)


class _Parts(NamedTuple):
    """The parts of several texts: the special tokens, the pieces of text between them, and the positions of both."""

    pieces: list[TracedPiece]
    specials: list[int]  # ids
    places: list[int]  # the index of the piece after each special token
    pieces_before: list[int]  # the number of pieces before each text, and of all pieces
    specials_before: list[int]

    @classmethod
    def of(cls, texts: Iterable[Iterable[tuple[TracedPiece, str]]], special_id: dict[str, int]) -> _Parts:
        parts = cls([], [], [], [0], [0])
        for stretches in texts:
            for piece, special in stretches:
                if special:
                    parts.specials.append(special_id[special])
                    parts.places.append(len(parts.pieces))
                else:
                    parts.pieces.append(piece)
            parts.pieces_before.append(len(parts.pieces))
            parts.specials_before.append(len(parts.specials))
        return parts


def _in_batches(texts: Iterable[str], at_once: int) -> Iterator[list[str]]:
    some: list[str] = []
    size = 0
    for text in texts:
        some.append(text)
        size += len(text)
        if size >= at_once:
            yield some
            some = []
            size = 0
    yield some


def end_to_end(pieces: Iterable[Int32s]) -> Int32s:
    arrays = list(pieces)
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int32)
