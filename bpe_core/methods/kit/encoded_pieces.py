"""The encoding of a corpus part by part.

The result for each part is its ids, and the offsets at which its documents end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.readiness import by_machine_code
from bpe_core.kernels.stored_code import ENCODING
from bpe_core.methods.kit.encode_corpus import CorpusEncoder, Piece
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.segmenting.cutting import Allowed
from bpe_core.support.arrays import Int64s, UInt32s, UInt64s
from bpe_core.support.progress import ALONE, Work


class EncodingRequest(NamedTuple):
    """The choices that decide which ids a document gets."""

    steps: int
    allowed_special: Allowed
    eos: int | None
    stored: np.dtype[Any]  # of an id

    def encoder(self, tokenizer: Tokenizer, size: int, work: Work = ALONE) -> CorpusEncoder:
        """Return an encoder for texts with `size` bytes in total."""
        tokenizer.expect(size, work)
        history = tokenizer.history
        return CorpusEncoder(
            tokenizer, self.steps, self.allowed_special, history.numbers_of(np.arange(history.index_count))
        )


class Documents(NamedTuple):
    """The ids of a part of the corpus, and the offset at which each document ends.

    If the request names an end-of-text id, this id follows each document.
    """

    ids: npt.NDArray[Any]
    ends: Int64s  # the offset behind each document that ends in the piece

    def without_first(self, count: int) -> Documents:
        """Return these documents without the first `count` documents.

        The ids of each removed document must end in this object, and not in a later part of the corpus.
        """
        start = int(self.ends[count - 1])
        return Documents(self.ids[start:], self.ends[count:] - start)


def encode_piece(piece: Piece, encoder: CorpusEncoder, request: EncodingRequest, name: str) -> Documents:
    """Return the ids of a part of the corpus. The part comes from the source `name`."""
    ids, offsets = encoder.batch(piece.texts, name)
    ends = offsets[np.searchsorted(piece.texts.edges, piece.ends)]
    numbers = encoder.tokenizer.numbers(ids)
    if request.eos is None:
        return Documents(numbers.astype(request.stored), ends)
    return Documents(with_eos(numbers, ends, request.eos, request.stored), ends + np.arange(1, len(ends) + 1))


def with_eos(
    numbers: UInt32s | UInt64s, ends: Int64s, eos: int, stored: np.dtype[Any], by_kernel: bool | None = None
) -> npt.NDArray[Any]:
    """Return ids of the type `stored`, with the id `eos` inserted at each offset in `ends`.

    `by_kernel` says whether machine code copies the ids. If it is None, machine code is used if it is ready.
    """
    if by_kernel is None:
        by_kernel = by_machine_code(numbers.nbytes, ENCODING, is_needed=False)
    if not by_kernel or numbers.dtype != np.uint32:
        return np.insert(numbers.astype(stored, copy=False), ends, eos)
    from bpe_core.kernels.document_ends import write_documents  # loads machine code

    out = np.empty(len(numbers) + len(ends), stored)
    write_documents(numbers, ends, np.int64(eos), out)
    return out


def without_empty_documents(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the parts of the corpus without their empty documents.

    A part contains the texts of its documents one after another, and the offset where each document ends. An empty
    document is removed by leaving out this offset.
    """
    is_begun = False
    for piece in pieces:
        ends = piece.ends  # they ascend
        first_is_empty = len(ends) > 0 and ends[0] == 0 and not is_begun
        if first_is_empty or not (ends[1:] > ends[:-1]).all():
            ends = ends[np.diff(ends, prepend=-1 if is_begun else 0) > 0]
            piece = replace(piece, ends=ends)
        length = len(piece.texts.data)
        is_begun = bool(length > ends[-1]) if len(ends) else is_begun or length > 0
        yield piece
