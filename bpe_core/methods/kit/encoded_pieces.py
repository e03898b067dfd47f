"""The encoding of a corpus part by part. Each part is encoded together with the ends of its documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.history.history import History
from bpe_core.methods.kit.encode_corpus import CorpusEncoder, Piece
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.segmenting.cutting import Allowed
from bpe_core.support.arrays import Int64s
from bpe_core.support.progress import ALONE, Work


class EncodingRequest(NamedTuple):
    """The choices on which the ids of a document depend."""

    steps: int
    allowed_special: Allowed
    eos: int | None
    stored: np.dtype[Any]  # of an id

    def encoder(self, history: History, size: int, work: Work = ALONE) -> CorpusEncoder:
        """Return an encoder for texts of `size` bytes in all."""
        tokenizer = Tokenizer(history)
        tokenizer.expect(size, work)
        return CorpusEncoder(
            tokenizer, self.steps, self.allowed_special, history.numbers_of(np.arange(history.index_count))
        )


class Documents(NamedTuple):
    """The ids of a part of the corpus, with the end-of-text id after each document."""

    ids: npt.NDArray[Any]
    ends: Int64s  # the offset behind each document that ends in the piece

    def without_first(self, count: int) -> Documents:
        """Return the documents after the first `count` documents. All these first documents must end in this part of
        the corpus."""
        start = int(self.ends[count - 1])
        return Documents(self.ids[start:], self.ends[count:] - start)


def encode_piece(piece: Piece, encoder: CorpusEncoder, request: EncodingRequest, name: str) -> Documents:
    """Return the ids of a part of the corpus. The part comes from the source `name`."""
    ids, offsets = encoder.batch(piece.texts, name)
    numbers = encoder.numbers(ids, request.stored)
    ends = offsets[np.searchsorted(piece.texts.edges, piece.ends)]
    if request.eos is None:
        return Documents(numbers, ends)
    return Documents(np.insert(numbers, ends, request.eos), ends + np.arange(1, len(ends) + 1))


def with_sound_ends(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the parts of the corpus without the ends of their empty documents."""
    is_begun = False
    for piece in pieces:
        ends = np.unique(piece.ends)
        if not is_begun:
            ends = ends[ends > 0]
        length = len(piece.texts.data)
        is_begun = bool(length > ends[-1]) if len(ends) else is_begun or length > 0
        yield replace(piece, ends=ends)
