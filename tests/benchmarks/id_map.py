"""A benchmark that prints the CPU seconds to make a map of 200,000 ids.

Run it with `python -m tests.benchmarks.id_map`. The old table lacks half of the tokens, so the parts of 100,000 new
tokens are computed.
"""

from __future__ import annotations

import time

import numpy as np

from bpe_core.editing.id_map import IdMap
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.recipes.recipe import Recipe

IDS = 200_000
BYTES = 256


def tables() -> tuple[History, History]:
    """Return an old table with half of the ids, and a new table that has all ids."""
    chance = np.random.default_rng(1)
    letters = np.arange(97, 123)
    pairs = [(int(letter), int(other)) for letter in letters for other in letters]
    seen = set(pairs)
    while len(pairs) < IDS - BYTES:
        token = BYTES + int(chance.integers(min(len(pairs), IDS // 20)))
        pair = (token, int(chance.choice(letters)))
        if pair not in seen:
            seen.add(pair)
            pairs.append(pair)
    recipe = Recipe.preset("gpt2")
    whole = History.from_pairs(recipe.with_changes(merges=len(pairs)), Alphabet.of_bytes(), pairs)
    return whole.first(IDS // 2 - BYTES), whole


def main() -> None:
    old, new = tables()
    IdMap.of(old, old)  # which loads what is needed
    start = time.process_time()
    id_map = IdMap.of(old, new)
    print(f"{id_map}: {time.process_time() - start:.2f} CPU seconds")


if __name__ == "__main__":
    main()
