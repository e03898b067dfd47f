"""A floor as a file that anybody can add up: the words, the prices, and what they prove.

`reference/floor.py` reads it without any of the code that made it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # who only reads certificates needs neither
    from bpe_core.methods.kit.floor.lattice import Lattice
    from bpe_core.methods.kit.floor.prices import Floor

KIND = "floor under vocabularies"
CHECKSUM = "sha256"


def certificate(lattice: Lattice, floors: Iterable[tuple[int, Floor]]) -> Mapping[str, Any]:
    """Write down floors, each with the size that it is about.

    Prices are in the order of the words, of where edges begin, and of their lengths; pieces that save no more than the
    limit have none: an edge of such a piece costs as much as its symbols, less one. The checksum is of all else.
    """
    words, starts = lattice.words, lattice.words.starts.tolist()
    symbols = words.symbols.tolist()
    proof = {
        "kind": KIND,
        "longest": lattice.longest,
        "limit": lattice.limit,
        "unit": lattice.unit,
        "other_tokens": lattice.other_tokens,
        "words": [symbols[first:stop] for first, stop in pairwise(starts)],
        "counts": words.counts.tolist(),
        "floors": [
            {
                "size": size,
                "pieces": floor.wanted,
                "tokens": floor.tokens + lattice.other_tokens,
                "prices": floor.prices.tolist(),
            }
            for size, floor in floors
        ],
    }
    return {**proof, CHECKSUM: checksum(proof)}


def checksum(proof: Mapping[str, Any]) -> str:
    """The SHA-256 of a certificate without its checksum, as JSON with sorted names and no spaces."""
    rest = {name: value for name, value in proof.items() if name != CHECKSUM}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
