"""How words are cut step after step, for kernels: by the tokens that are there, and by scores.

A cut changes only when a token is born or dropped that the word knows of; when scores are set anew, any may.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from bpe_core.segmenting.segmentation import Int32s

if TYPE_CHECKING:
    from bpe_core.kernels.pieces import PieceTable  # which are arrays for machine code


class InTime(NamedTuple):
    """All moments of one history."""

    since: Sequence[int]  # the steps after which every word may be cut otherwise; the first is 0
    pieces: Callable[[int], PieceTable]  # after so many steps; whoever follows the steps changes what it is given
    gone: Int32s | None  # of each token, the step after which it is gone; None where tokens are born
