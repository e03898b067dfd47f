"""The certificate of a floor.

A floor is a number of tokens. No vocabulary of the same size splits the corpus into fewer tokens. The
certificate is a file with the words of the corpus, and with prices for the places in the words where pieces
fit. Anyone can compute the floor from the words and the prices.

`reference/floor.py` reads the certificate, and uses none of the code that made it. `prices.py` explains the
prices.
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
    """Return the certificate of floors as a mapping for JSON. A checksum covers all its other values.

    Each floor comes with a vocabulary size. The size is the number of tokens that every vocabulary contains, plus the
    number of pieces.

    An edge is a place in a word where a piece fits. The prices of the edges are sorted by the word, then by the start
    of the edge, then by its length. Pieces that save at most `lattice.limit` tokens have no prices in the file, because
    the price of their edges is known. If such a piece has four symbols, each of its edges has the price of three
    tokens.

    A couple is a row of five numbers: four edges and a price. `couples.py` explains it. Each edge is given by the index
    of its price. If a piece overlaps itself, the third and the fourth number are -1.

    If there are `witnesses`, each floor also comes with a vocabulary of its size, and with the number of tokens that
    the words have with this vocabulary.
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
                "couples": floor.couples.tolist(),
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
