"""The tokenizer, which turns texts into tokens and tokens into texts, after any number of steps.

    >>> from bpe_core.history.alphabet import Alphabet
    >>> from bpe_core.recipes.recipe import Recipe
    >>> pairs = [(108, 111), (256, 119), (0xC3, 0xA9)]  # l+o, lo+w, the bytes of é
    >>> tokenizer = Tokenizer(History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs))
    >>> tokenizer.encode("slow"), tokenizer.encode("slow", at=1), tokenizer.decode([115, 257])
    ([115, 257], [115, 256, 119], 'slow')
    >>> [array.tolist() for array in tokenizer.encode_batch(["low", "", b"slow"])]
    [[257, 115, 257], [0, 1, 1, 3]]
    >>> [tuple(span) for span in tokenizer.token_spans("né") + tokenizer.token_spans("é", at=0)]
    [(110, 0, 1, 0, 1), (258, 1, 2, 1, 3), (195, 0, 1, 0, 1), (169, 0, 1, 1, 2)]
    >>> tokenizer.ranks_of_word(b"slow") == [NEVER, 0, 1]
    True

Ids are given first to the symbols of the alphabet, then to the merges in the order of learning, then to the special
tokens. Several threads may use a tokenizer at once.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.errors import BpeError, FormatError
from bpe_core.history.arguments import steps_of
from bpe_core.history.history import NO_NUMBER, History
from bpe_core.history.token_texts import TokenBytes, quoted
from bpe_core.kernels.readiness import by_machine_code
from bpe_core.kernels.stored_code import ENCODING
from bpe_core.methods.registry import METHODS
from bpe_core.segmenting.boundaries import NEVER as NEVER
from bpe_core.segmenting.boundaries import Boundaries
from bpe_core.segmenting.cutting import Allowed, Cutting
from bpe_core.segmenting.segmentation import Segmentation, Segmenter
from bpe_core.segmenting.text_encoder import TextEncoder, WordEncoder
from bpe_core.support.arrays import Int32s, Int64s, UInt32s, UInt64s
from bpe_core.support.progress import ALONE, CancelCheck, Work, never_cancelled
from bpe_core.text.offsets import decode_with_offsets

if TYPE_CHECKING:
    from bpe_core.segmenting.batches import Batch
    from bpe_core.segmenting.compiled_encoder import ShortTexts
    from bpe_core.segmenting.decoding import TokenTable
    from bpe_core.segmenting.library_text import LibraryText

MANY_IDS = 1 << 10  # from which on machine code decodes a list or an array faster
LARGEST_ID = 1 << 24  # a table for decoding has a row for each id up to the largest
LARGEST_TABLE = 1 << 26  # symbols of all tokens in such a table
NUMBERED_AT_ONCE = 1 << 16  # ids that stay in the processor's cache while they get the file's ids

_NO_ID, _NO_LONG_ID = 2**32 - 1, 2**64 - 1  # in place of an id of 32 or 64 bits

Way = Literal["exact", "library"]  # the ways to decode


class TokenSpan(NamedTuple):
    id: int
    first_char: int
    behind_char: int  # offset after its last character
    first_byte: int
    behind_byte: int


class Tokenizer:
    def __init__(self, history: History) -> None:
        self.history = history
        self._step_count = len(history)
        self._cutting = Cutting(history.recipe)
        self._ids_in_arrays = 0  # that were decoded until now
        self._segmenter: Segmenter = METHODS[history.recipe.method].cutter(history, self._cutting)
        self._encode_short: ShortTexts | None = None  # once machine code is loaded

    def __reduce__(self) -> tuple[Any, ...]:
        return Tokenizer, (self.history,)

    # -- from a text to tokens -------------------------------------------------------------

    def expect(self, size: int, work: Work = ALONE) -> None:
        """Prepare to encode texts with `size` bytes in total.

        If so much text needs machine code that is still being compiled, wait and report progress.
        """
        if isinstance(self._segmenter, WordEncoder):
            self._segmenter.kernels_for(size, work)

    def allowed(self, names: Allowed) -> tuple[str, ...]:
        """Return the special tokens to search for in a text. If `names` is None, the recipe chooses them."""
        return self._cutting.allowed(names)

    def encode(self, text: str | bytes, *, at: int | None = None, allowed_special: Allowed = None) -> list[int]:
        """Return the ids of a text's tokens after `at` steps, or after all steps if `at` is None.

        Bytes are decoded as UTF-8. Text that spells a special token becomes this token if the recipe matches special
        tokens, as Hugging Face's libraries do. Otherwise the text is ordinary text. `allowed_special` overrides the
        recipe: it is a list of tokens, "all", or () for no tokens.
        """
        ids: list[int] = self.encode_to_array(text, at=at, allowed_special=allowed_special).tolist()
        return ids

    def encode_to_array(self, text: str | bytes, *, at: int | None = None, allowed_special: Allowed = None) -> Int32s:
        text = text if isinstance(text, str) else _decoded(text)
        allowed = self._cutting.allowed(allowed_special)
        if allowed:
            allowed = self._cutting.spelled(allowed, (text,))
        return self._segmenter.ids(text, self._step_count if at is None else self._checked_at(at), allowed)

    def file_ids(self, text: Any, listed: bool, at: int | None = None, allowed_special: Allowed = None) -> Any:
        """Encode a text, and return the ids of the file, as a list if `listed` is true, or else as an array."""
        if self._encode_short is not None and at is None and allowed_special is None and type(text) is str:
            ids = self._encode_short(text, listed)
            if ids is not None:
                return ids
        indices = self.encode_to_array(text, at=at, allowed_special=allowed_special)
        segmenter = self._segmenter
        if self._encode_short is None and isinstance(segmenter, WordEncoder) and segmenter.compiled is not None:
            self._encode_short = segmenter.short_texts(segmenter.compiled, self._step_count)
        if listed and self.history.numbers is None:
            return indices.tolist()
        return self.numbers(indices).tolist() if listed else self.numbers(indices)

    @property
    def takes_any_bytes(self) -> bool:
        """Return whether `encode_bytes` can encode arbitrary bytes.

        This is possible if the recipe does not split texts, and if merges join bytes.
        """
        recipe = self.history.recipe
        is_merging = isinstance(self._segmenter, TextEncoder) and not METHODS[recipe.method].joins_runs
        return is_merging and recipe.takes_any_bytes

    def encode_bytes(self, data: bytes, *, at: int | None = None) -> Int32s:
        """Return the ids of bytes that need not be text. Raise BpeError if `takes_any_bytes` is false."""
        if not self.takes_any_bytes or not isinstance(self._segmenter, TextEncoder):
            raise BpeError(
                "This tokenizer encodes only texts. To encode bytes that are not text, learn it with the preset "
                "raw-bytes."
            )
        return self._segmenter.ids_of_bytes(data, self._checked_at(at))

    def encode_batch(
        self, texts: Any, *, at: int | None = None, allowed_special: Allowed = None, threads: int | None = None
    ) -> Batch:
        """Return the ids of many texts in one array, and the offset of each text's first id.

        The texts are a list of `str` or `bytes` (UTF-8), or an Arrow array of texts or bytes. Large batches are encoded
        on all cores while other Python threads continue. `threads` limits the number of threads.
        """
        if threads is not None and threads < 1:
            raise BpeError(f"Encoding takes at least 1 thread, not {threads:,}.")
        from bpe_core.segmenting.batches import Batch, Texts, Unread  # a short text needs no threads

        given = texts if isinstance(texts, Texts) else Unread.of(texts)
        at = self._checked_at(at)
        allowed = self._cutting.spelled(self.allowed(allowed_special), given.searched)
        batch = self._segmenter.batch(given, at, allowed, threads) if isinstance(self._segmenter, WordEncoder) else None
        return batch or Batch.of([self._segmenter.ids(text, at, allowed) for text in given.strings()])

    def numbers(self, ids: Int32s) -> UInt32s | UInt64s:
        """Convert token indices to the ids in the tokenizer's file. The result reuses the memory of `ids` if possible.

        Raise an error if a token has no id in the file.
        """
        numbers = self.history.file_ids
        if numbers is None:
            return ids.view(np.uint32)
        if len(ids) <= NUMBERED_AT_ONCE or numbers.itemsize != ids.itemsize:
            return self._taken(numbers, ids)
        file_ids = ids.view(np.uint32)
        for start in range(0, len(ids), NUMBERED_AT_ONCE):
            stop = start + NUMBERED_AT_ONCE
            file_ids[start:stop] = self._taken(numbers, ids[start:stop])
        return file_ids

    @cached_property
    def _lacks_numbers(self) -> bool:
        return self.history.numbers is not None and bool((self.history.numbers == NO_NUMBER).any())

    def _taken(self, numbers: UInt32s | UInt64s, ids: Int32s) -> UInt32s | UInt64s:
        file_ids = numbers.take(ids)
        if self._lacks_numbers and len(ids):
            largest = int(file_ids.argmax())
            if file_ids[largest] == (_NO_ID if numbers.itemsize == 4 else _NO_LONG_ID):
                raise self._unnumbered(int(ids[largest]))
        return file_ids

    def _unnumbered(self, id: int) -> FormatError:
        if id == self.history.alphabet.unknown_id:
            return FormatError(
                "The text holds a character without a token, and the tokenizer's file has no unknown token. The "
                "library of the file refuses this text, too. `look` shows the place."
            )
        return FormatError(f"The file has no id for the token {quoted(TokenBytes(self.history)[id])} of this text.")

    def encode_greedy(self, text: str, *, at: int | None = None, allowed_special: Allowed = None) -> list[int]:
        """Encode a text greedily: from left to right, always choose the longest token that fits. Return the ids."""
        allowed = self.allowed(allowed_special)
        ids: list[int] = self._merging.greedy_ids(text, self._checked_at(at), allowed).tolist()
        return ids

    def spans(self, text: str, at: int | None = None, *, allowed_special: Allowed = None) -> list[tuple[int, int, int]]:
        """Return the tokens with their spans: (first byte, end, id), as offsets in `text.encode()`.

        Text that the pattern drops lies in no span. A word marker covers no byte of the text. So its span is empty if
        the marker is a token by itself. If normalization changed the text, a span covers the original bytes of its
        token, and the bytes directly after them that normalization removed.
        """
        segmentation = self.segmentation(text, allowed_special=allowed_special)
        return [(start, stop, id) for start, stop, id in segmentation.tokens(self._checked_at(at)).spans().tolist()]

    def token_spans(self, text: str | bytes, at: int | None = None, allowed_special: Allowed = None) -> list[TokenSpan]:
        """Return the tokens with their spans in characters and in bytes.

        A token that contains only a part of a character has the character span of the whole character.
        """
        text = text if isinstance(text, str) else _decoded(text)
        segmentation = self.segmentation(text, allowed_special=allowed_special)
        first, behind, ids = segmentation.tokens(self._checked_at(at)).spans().T
        data = np.frombuffer(segmentation.data, np.uint8)
        begun = np.concatenate((np.zeros(1, np.int64), np.cumsum(data & 0xC0 != 0x80)))  # characters before each byte
        first_char = begun[np.minimum(first + 1, len(data))] - (first < len(data))
        behind_char = np.where(behind > first, begun[behind], first_char)
        if self.history.recipe.normalizes or self.history.recipe.preparation:
            starts = np.append(np.flatnonzero(data & 0xC0 != 0x80), len(data))
            inside = self._tokens_ending_inside(text, self._checked_at(at), self.allowed(allowed_special))
            for place in self._tokens_inside_characters(ids, first_char, behind_char, first, behind, inside):
                behind_char[place] += 1
                behind[place] = starts[behind_char[place]]
        columns = (ids, first_char, behind_char, first, behind)
        return list(map(TokenSpan._make, zip(*(column.tolist() for column in columns), strict=True)))

    def _tokens_inside_characters(
        self,
        ids: Int64s,
        first_char: Int64s,
        behind_char: Int64s,
        first: Int64s,
        behind: Int64s,
        inside: set[tuple[int, int, int]],
    ) -> Iterator[int]:
        """Yield the index of each token that ends inside one original character, in descending order.

        Normalization can replace one character by several characters, and tokens can end between the new characters.
        Only the last of these tokens gets the bytes of the original character. All earlier ones end where the original
        character begins.

        Normalization can also insert a marker before the character, without an original character for it. A token that
        contains only the marker ends where the original character begins, too.
        """
        for place in np.flatnonzero(behind_char[:-1] == first_char[1:])[::-1].tolist():
            if first_char[place] < behind_char[place]:
                if (int(ids[place]), int(first[place]), int(behind[place])) in inside:
                    yield place
            elif first_char[place] < behind_char[place + 1] and self.token_bytes(int(ids[place])).strip(b" "):
                yield place

    def _tokens_ending_inside(self, text: str, at: int, allowed: tuple[str, ...]) -> set[tuple[int, int, int]]:
        """Return the tokens that begin before a character of `text` and end inside this character.

        This is possible if normalization replaces the character by several characters. Each token is returned with its
        start and its end as offsets in `text`.
        """
        tokens = set[tuple[int, int, int]]()
        segmenter = self._segmenter
        if not isinstance(segmenter, WordEncoder):
            return tokens
        for part in self._cutting.parts(text, allowed):
            is_shared = part.origins[1:] == part.origins[:-1]
            if part.special is not None or not is_shared.any():
                continue
            origins = part.origins.tolist()
            for word, start in self._cutting.placed_words(part.text):
                if not is_shared[start : start + len(word)].any():
                    continue
                begin = start
                for id, end in zip(*segmenter.placed_ids(word, at), strict=True):
                    if origins[begin] < origins[start + end] == origins[start + end - 1]:
                        tokens.add((id, origins[begin], origins[start + end]))
                    begin = start + end
        return tokens

    def segmentation(
        self, text: str, *, allowed_special: Allowed = None, cancelled: CancelCheck = never_cancelled
    ) -> Segmentation:
        return self._segmenter.segmentation(text, self.allowed(allowed_special), cancelled)

    def boundaries(self, text: str, *, allowed_special: Allowed = None) -> Boundaries:
        """Return the merge that removes each boundary of a text. Only methods that join pairs have such merges."""
        return self._merging.segmentation(text, self.allowed(allowed_special))

    # -- one word --------------------------------------------------------------------------

    def ranks_of_word(self, word: bytes) -> list[int]:
        """Return the rank of each boundary between two base symbols of a word.

        If the word has a marker that is a base symbol of its own, the boundary beside the marker is included.
        """
        return list(self._merging.words.merged(word).ranks)

    def tokens_of_word(self, word: bytes) -> list[int]:
        """Return the tokens of a word. The pattern does not split the word again.

        Raise BpeError if the method does not split each word separately.
        """
        if not isinstance(self._segmenter, WordEncoder):
            raise BpeError("This question works only for tokenizers that split each word separately.")
        return [*self._segmenter.ids_of_word(word, len(self.history))]

    # -- from tokens to a text -------------------------------------------------------------

    def decode(self, ids: Iterable[int], *, way: Way = "exact", skip_special: bool = False) -> str:
        """Return the text that the ids decode to. Bytes that are not a whole character become �.

        If `way` is "exact", the texts of the tokens are joined. If it is "library", the result is the text that the
        library for this kind of tokenizer file returns. That library may remove a space that was put before the text,
        and may show unknown characters differently.
        """
        if way == "library":
            return self._library_text.text(ids, skip_special=skip_special)
        if way != "exact":
            raise BpeError(f'There is no way {way!r} to decode; choose "exact" or "library".')
        return self.decode_bytes(ids, skip_special=skip_special).decode(errors="replace")

    def decode_bytes(self, ids: Iterable[int], *, skip_special: bool = False) -> bytes:
        """Return the bytes of tokens. A word marker becomes a space."""
        given: Iterable[int] = ids.tolist() if isinstance(ids, np.ndarray) else ids
        return self._token_bytes.joined([id for id in given if not self.is_special(id)] if skip_special else given)

    def decode_numbers(self, numbers: Iterable[int], *, skip_special: bool = False) -> bytes:
        """Return the bytes of the tokens with these ids.

        `numbers` are the ids in the tokenizer's file. Large arrays of ids are decoded by machine code.
        """
        ids = _as_array(numbers)
        table = None if ids is None else self._table_for(ids, skip_special)
        data = None if ids is None or table is None else table.decoded(ids)
        if data is not None:
            return data
        if isinstance(numbers, np.ndarray):
            numbers = numbers.tolist()
        if not skip_special:
            return self._token_bytes.joined_by_number(numbers)
        return self.decode_bytes(self.history.indices_of(numbers), skip_special=skip_special)

    def decode_with_offsets(self, numbers: Iterable[int]) -> tuple[str, Int64s]:
        """Return the text of the tokens with these ids, and the offset in characters at which each token begins.

        `numbers` are ids of the file. Machine code decodes large arrays of ids.
        """
        given = numbers if isinstance(numbers, (list, np.ndarray)) else list(numbers)
        ids = _as_array(given)
        table = None if ids is None else self._table_for(ids, skip_special=False)
        found = None if ids is None or table is None else table.with_offsets(ids)
        if found is not None:
            return found
        listed: list[int] = given.tolist() if isinstance(given, np.ndarray) else given
        return decode_with_offsets(*self._token_bytes.with_places(self.history.indices_of(listed)))

    def _table_for(self, numbers: npt.NDArray[Any], skip_special: bool) -> TokenTable | None:
        """Return a table for decoding the ids in `numbers`, or None if plain Python without a table is better."""
        if not self._is_worth_a_table(numbers):
            return None
        if skip_special not in self._token_tables:
            from bpe_core.segmenting.decoding import TokenTable  # loads machine code

            self._token_tables[skip_special] = TokenTable(self.history, skip_special=skip_special)
        return self._token_tables[skip_special]

    def _is_worth_a_table(self, numbers: npt.NDArray[Any]) -> bool:
        """Return whether a table of all tokens, which makes decoding faster, is worth the time to make it.

        It is worth the time if `numbers` is a long array, and if this call and earlier calls decode more ids than the
        vocabulary has.
        """
        if numbers.dtype.kind not in "iu" or numbers.ndim != 1 or len(numbers) < MANY_IDS:
            return False
        self._ids_in_arrays += len(numbers)
        is_worth_making = self._ids_in_arrays > self.history.index_count
        return is_worth_making and self._may_have_table and by_machine_code(numbers.nbytes, ENCODING, is_needed=False)

    @cached_property
    def _may_have_table(self) -> bool:
        history = self.history
        largest_id = 0 if history.numbers is None else history.numbers.max(initial=0)
        symbols = np.minimum(history.token_lengths(), LARGEST_TABLE).sum()
        return not history.alphabet.continuing and largest_id <= LARGEST_ID and bool(symbols < LARGEST_TABLE)

    def token_bytes(self, id: int) -> bytes:
        return self._token_bytes[id]

    def is_special(self, id: int) -> bool:
        return self.history.first_special <= id < self.history.index_count

    def vocabulary_size(self, at: int | None = None) -> int:
        """Return the number of tokens after `at` steps, special tokens included."""
        return self.history.vocabulary_size_at(self._checked_at(at))

    # --------------------------------------------------------------------------------------

    @property
    def _merging(self) -> TextEncoder:
        if not isinstance(self._segmenter, TextEncoder):
            raise BpeError(
                "This question works only for tokenizers that merge pairs one after the other. This tokenizer does not."
            )
        return self._segmenter

    @cached_property
    def _library_text(self) -> LibraryText:
        from bpe_core.segmenting.library_text import LibraryText  # imported late, because few programs need it

        return LibraryText(self.history)

    @cached_property
    def _token_tables(self) -> dict[bool, TokenTable]:
        """Return the cache of tables for decoding. A key says whether the table leaves out special tokens."""
        return {}

    @cached_property
    def _token_bytes(self) -> TokenBytes:
        return TokenBytes(self.history)

    def _checked_at(self, at: int | None) -> int:
        if at is None:
            return self._step_count
        steps = steps_of(at)
        if steps < 0:
            raise BpeError(f"`at` is a number of steps, so it cannot be {at:,}.")
        return min(steps, self._step_count)  # training may have ended early; after the last step nothing changes


def _as_array(numbers: Iterable[int]) -> npt.NDArray[Any] | None:
    """Return the ids as an array if they already are an array, or a long list of integers from 0 to 2**32 - 1.

    Return None for any other ids.
    """
    if isinstance(numbers, np.ndarray):
        return numbers
    if not isinstance(numbers, list) or len(numbers) < MANY_IDS:
        return None
    try:
        return np.frombuffer(array("I", numbers), np.uintc)  # four times as fast as an array of NumPy
    except (OverflowError, TypeError):
        return None


def _decoded(text: Any) -> str:
    if not isinstance(text, bytes | bytearray | memoryview):
        raise BpeError(f"Give a text as str, or as bytes in UTF-8, not as {type(text).__name__}.")
    try:
        return str(text, "utf-8")
    except UnicodeDecodeError as error:
        raise BpeError(f"The bytes are not valid UTF-8 at byte {error.start:,}. Decode the bytes first.") from error
