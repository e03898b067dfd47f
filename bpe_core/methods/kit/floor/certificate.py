"""A floor as a file that anybody can add up: the words, the prices, and what they prove.

`reference/floor.py` reads it without any of the code that made it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # who only reads certificates needs neither
    from bpe_core.methods.kit.floor.lattice import Lattice
    from bpe_core.methods.kit.floor.prices import Floor
    from bpe_core.methods.kit.floor.witness import Witness

KIND = "floor under vocabularies"
LACKING = -1  # the symbol of what the alphabet lacks: a token wherever it occurs, and in no piece
CHECKSUM = "sha256"


def certificate(
    lattice: Lattice, floors: Iterable[tuple[int, Floor]], witnesses: Sequence[Witness] = ()
) -> Mapping[str, Any]:
    """Write down floors, each with the size that it is about: as many tokens as are always there, and its pieces.

    Prices are in the order of the words, of where edges begin, and of their lengths; pieces that save no more than the
    limit have none: an edge of such a piece costs as much as its symbols, less one. A witness is a vocabulary of the
    size: its pieces, and the tokens that the words come to by it. The checksum is of all else.
    """
    words, starts = lattice.words, lattice.words.starts.tolist()
    symbols, known = words.symbols.tolist(), list(floors)
    reached = [{"fewest": it.tokens, "vocabulary": [[*piece] for piece in it.pieces]} for it in witnesses]
    lacking = [lattice.other_tokens] if lattice.other_tokens else []
    proof = {
        "kind": KIND,
        "longest": lattice.longest,
        "limit": lattice.limit,
        "unit": lattice.unit,
        "always": known[0][0] - known[0][1].wanted if known else 0,
        "words": [*(symbols[first:stop] for first, stop in pairwise(starts)), *([LACKING] for _ in lacking)],
        "counts": [*words.counts.tolist(), *lacking],
        "floors": [
            {
                "size": size,
                "pieces": floor.wanted,
                "tokens": floor.tokens + lattice.other_tokens,
                "prices": floor.prices.tolist(),
                **witness,
            }
            for (size, floor), witness in zip(known, reached or [{} for _ in known], strict=True)
        ],
    }
    return {**proof, CHECKSUM: checksum(proof)}


def checksum(proof: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a certificate without its checksum, as JSON with sorted names and no spaces."""
    rest = {name: value for name, value in proof.items() if name != CHECKSUM}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
