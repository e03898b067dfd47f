"""Texts to tokens and back, as the tokenizer stood after any number of merges.

    >>> from bpe_core import Corpus, Recipe, train
    >>> history = train(Corpus.from_texts(["low low low slow slow"]), Recipe.preset("gpt2"))
    >>> tokenizer = Tokenizer(history)
    >>> tokenizer.encode("slow"), tokenizer.encode("slow", at=1)
    ([115, 257], [115, 256, 119])
    >>> tokenizer.decode([115, 257])
    'slow'

A base symbol has its place in the alphabet as its id; the merges follow in the order they were
learned, and the special tokens come last. Merges are applied in that order, each wherever its
pair stands. `encode_greedy` takes the longest token that fits instead.

A tokenizer may be used from several threads at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.learning.methods import Method
from bpe_core.progress import CancelCheck, never_cancelled
from bpe_core.segmenting.boundaries import INSIDE as INSIDE
from bpe_core.segmenting.boundaries import NEVER as NEVER
from bpe_core.segmenting.boundaries import PATTERN_CUT as PATTERN_CUT
from bpe_core.segmenting.boundaries import Boundaries as Boundaries
from bpe_core.segmenting.cutting import Allowed, Cutting
from bpe_core.segmenting.segmentation import Int32s, Segmentation
from bpe_core.segmenting.text_encoder import TextEncoder
from bpe_core.token_texts import TokenBytes

if TYPE_CHECKING:
    from bpe_core.segmenting.batches import Batch
    from bpe_core.segmenting.best_paths import BestPaths


class Tokenizer:
    """The tokenizer that a history makes, cutting as the method does by which it was learned."""

    def __init__(self, history: History) -> None:
        self.history = history
        self._cutting = Cutting(history.recipe)
        self._segmenter = Method.of(history.recipe).segmenter(history, self._cutting)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        shown: str = import_module("bpe_core.report.notebook").tokenizer_html(self)
        return shown

    # -- from a text to tokens -------------------------------------------------------------

    def expect(self, characters: int) -> None:
        """So many are to be encoded, in pieces however small: whoever knows it does none of them in plain Python."""
        if isinstance(self._segmenter, TextEncoder):
            self._segmenter.expect(characters)

    def encode(self, text: str, *, at: int | None = None, allowed_special: Allowed = ()) -> list[int]:
        """The ids of a text's tokens, as the tokenizer stood after `at` merges (all, if not said).

        What is written like a special token is ordinary text, unless the caller allows it to be one.
        """
        ids: list[int] = self.encode_to_array(text, at=at, allowed_special=allowed_special).tolist()
        return ids

    def encode_to_array(self, text: str, *, at: int | None = None, allowed_special: Allowed = ()) -> Int32s:
        """The same ids as an array."""
        return self._segmenter.ids(text, self._checked_at(at), self._cutting.allowed(allowed_special))

    def encode_batch(
        self, texts: Any, *, at: int | None = None, allowed_special: Allowed = (), threads: int | None = None
    ) -> Batch:
        """The ids of many texts in one array, and at which offset those of each begin.

        The texts are a list of `str` or `bytes` (UTF-8), or an Arrow array of either. Large batches are encoded on all
        cores, and Python's other threads run meanwhile; `threads` says on how many.

        >>> from bpe_core import Alphabet, Recipe
        >>> pairs = [(108, 111), (256, 119)]  # l+o, lo+w
        >>> tokenizer = Tokenizer(History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs))
        >>> ids, offsets = tokenizer.encode_batch(["low", "", b"slow"])
        >>> ids.tolist(), offsets.tolist()
        ([257, 115, 257], [0, 1, 1, 3])
        """
        if threads is not None and threads < 1:
            raise BpeError(f"Encoding takes at least 1 thread, not {threads:,}.")
        from bpe_core.segmenting.batches import Batch, Texts, Unread  # which a short text is encoded without

        given = texts if isinstance(texts, Texts) else Unread.of(texts)
        at, allowed = self._checked_at(at), self._cutting.allowed(allowed_special)
        found = self._segmenter.batch(given, at, allowed, threads) if isinstance(self._segmenter, TextEncoder) else None
        return found or Batch.of([self._segmenter.ids(text, at, allowed) for text in given.strings()])

    def encode_greedy(self, text: str, *, at: int | None = None, allowed_special: Allowed = ()) -> list[int]:
        """The ids when at each place the longest token that fits is taken, whenever it was learned."""
        allowed = self._cutting.allowed(allowed_special)
        ids: list[int] = self._merging.greedy_ids(text, self._checked_at(at), allowed).tolist()
        return ids

    def n_best(self, text: str, n: int, *, at: int | None = None, allowed_special: Allowed = ()) -> list[list[int]]:
        """The ids of the n most probable ways to cut a text, the best first, where tokens have probabilities."""
        if n < 1:
            raise BpeError(f"Ask for at least 1 way to cut the text, not {n:,}.")
        return self._probable.n_best(text, n, self._checked_at(at), self._cutting.allowed(allowed_special))

    def sample(
        self,
        text: str,
        alpha: float = 1.0,
        seed: int | None = None,
        *,
        at: int | None = None,
        allowed_special: Allowed = (),
    ) -> list[int]:
        """The ids of one way to cut a text, drawn by its probability to the power of alpha.

        The larger alpha is, the more often it is the best; with 0 all ways are drawn equally often.
        """
        if not 0 <= alpha < math.inf:
            raise BpeError(f"alpha must be a number from 0 on, not {alpha}.")
        allowed = self._cutting.allowed(allowed_special)
        import random  # takes a while to load, and is wanted seldom

        return self._probable.drawn(text, alpha, random.Random(seed), self._checked_at(at), allowed)

    def spans(self, text: str, at: int | None = None, *, allowed_special: Allowed = ()) -> list[tuple[int, int, int]]:
        """The tokens with their places: (first byte, byte behind the last, id), in bytes of `text.encode()`.

        What the pattern drops lies in no span. A word marker covers no byte of the text, so while it is
        a token of its own its span is empty. Where normalization changed the text, a span covers what its
        token was made of, and what was removed right behind it.
        """
        found = self.segmentation(text, allowed_special=allowed_special)
        return [(start, stop, id) for start, stop, id in found.tokens(self._checked_at(at)).spans().tolist()]

    def segmentation(
        self, text: str, *, allowed_special: Allowed = (), cancelled: CancelCheck = never_cancelled
    ) -> Segmentation:
        """The tokens of a text after every step."""
        return self._segmenter.segmentation(text, self._cutting.allowed(allowed_special), cancelled)

    def boundaries(self, text: str, *, allowed_special: Allowed = ()) -> Boundaries:
        """The same where pairs are joined: for each boundary in a text the merge that dissolves it."""
        return self._merging.segmentation(text, self._cutting.allowed(allowed_special))

    # -- one word --------------------------------------------------------------------------

    def ranks_of_word(self, word: bytes) -> list[int]:
        """The rank of each boundary between two base symbols of a word (its marker among them).

        >>> from bpe_core import Alphabet, Recipe
        >>> pairs = [(108, 111), (256, 119)]  # l+o, lo+w
        >>> tokenizer = Tokenizer(History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs))
        >>> [rank if rank != NEVER else "never" for rank in tokenizer.ranks_of_word(b"slow")]
        ['never', 0, 1]
        """
        return list(self._merging.plain.merged(word).ranks)

    def word_steps(self, word: bytes) -> list[tuple[int, list[int]]]:
        """How a word is encoded, step by step: the index of each merge that changes it, and its tokens after that.

        >>> from bpe_core import Alphabet, Recipe
        >>> pairs = [(108, 111), (256, 119)]  # l+o, lo+w
        >>> tokenizer = Tokenizer(History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs))
        >>> tokenizer.word_steps(b"slow")
        [(0, [115, 256, 119]), (1, [115, 257])]
        """
        return self._merging.plain.steps(word)

    # -- from tokens to a text -------------------------------------------------------------

    def decode(self, ids: Iterable[int]) -> str:
        """The text that tokens stand for; bytes that are not a whole character show as �."""
        return self.decode_bytes(ids).decode(errors="replace")

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes that tokens stand for. A word marker stands for a blank."""
        return self._token_bytes.joined(ids.tolist() if isinstance(ids, np.ndarray) else ids)

    def token_bytes(self, id: int) -> bytes:
        """The bytes that one token stands for."""
        return self._token_bytes[id]

    def is_special(self, id: int) -> bool:
        return self.history.first_special <= id < self.history.id_count

    def vocabulary_size(self, at: int | None = None) -> int:
        """How many tokens there are after so many merges, special tokens included."""
        return self.history.vocabulary_size_at(self._checked_at(at))

    # --------------------------------------------------------------------------------------

    @property
    def _merging(self) -> TextEncoder:
        """What knows the ranks of boundaries."""
        if not isinstance(self._segmenter, TextEncoder):
            raise BpeError("This can be asked only where pairs are joined, one after the other.")
        return self._segmenter

    @property
    def _probable(self) -> BestPaths:
        """What knows more ways to cut a text than one."""
        from bpe_core.segmenting.best_paths import BestPaths  # loaded by whoever learned so

        if not isinstance(self._segmenter, BestPaths):
            raise BpeError("This can be asked only where tokens have probabilities, as Unigram's have.")
        return self._segmenter

    @cached_property
    def _token_bytes(self) -> TokenBytes:
        return TokenBytes(self.history)

    def _checked_at(self, at: int | None) -> int:
        if at is None:
            return len(self.history)
        if at < 0:
            raise BpeError(f"`at` is a number of steps, so it cannot be {at:,}.")
        return min(at, len(self.history))  # training may have ended early: after its end nothing changes
