"""The certificate of a floor: a file with the words and the prices, from which anyone can compute the floor.

`reference/floor.py` reads the certificate, and uses none of the code that made it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # certificates can be read without these imports
    from bpe_core.methods.kit.floor.lattice import Lattice
    from bpe_core.methods.kit.floor.prices import Floor
    from bpe_core.methods.kit.floor.witness import Witness

KIND = "floor under vocabularies"
LACKING = -1  # the symbol for unknown characters: always a token by itself
CHECKSUM = "sha256"


def certificate(
    lattice: Lattice, floors: Iterable[tuple[int, Floor]], witnesses: Sequence[Witness] = ()
) -> Mapping[str, Any]:
    """Return the certificate of floors as a mapping for JSON.

    Each floor comes with the number of tokens in its vocabulary: the tokens that are always present, and the pieces.
    Prices are sorted by the word, then by the beginning of the edge, then by its length. Pieces that save no more than
    the limit have no prices. An edge of such a piece costs one token less than it has symbols. A witness is a
    vocabulary of this size: its pieces, and the number of tokens that the words have with it. The checksum covers all
    other values.
    """
    words = lattice.words
    starts = lattice.words.starts.tolist()
    symbols = words.symbols.tolist()
    known = list(floors)
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
    """Return the SHA-256 of a certificate, without the entry that holds the checksum.

    The hash covers the certificate as JSON with sorted names and no spaces.
    """
    rest = {name: value for name, value in proof.items() if name != CHECKSUM}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
