"""The measurement of how fast the gap between the floor and the best vocabulary closes during a search.

A floor is a number of tokens. No vocabulary of the same size needs fewer tokens. During the search, the command prints
the floor, the number of tokens with the best vocabulary found, and the difference between the two numbers.

    python -m tests.benchmarks.floor FILE SIZE [SECONDS]
"""

from __future__ import annotations

import resource
import sys
import time

from bpe_core.history.alphabet import Alphabet
from bpe_core.methods.kit.floor.lattice import Lattice
from bpe_core.methods.kit.floor.search import Budget, Guess, Search
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.texts import files

LONGEST = 16


def main(path: str, size: str, seconds: str = "30") -> None:
    began, recipe, alphabet = time.perf_counter(), Recipe.preset("gpt2"), Alphabet.of_bytes()
    words, wanted = files(path).words(recipe), int(size) - len(alphabet)
    guess = Guess.of(words, recipe, wanted, LONGEST)
    lattice = Lattice.of(words, alphabet, recipe, longest=LONGEST, limit=guess.worth(wanted) // 2)
    laid = time.perf_counter() - began
    print(f"{len(words):,} different words, {len(lattice):,} pieces, {len(lattice.edges.piece):,} edges: {laid:.1f} s")
    search = Search(lattice, wanted, guess, Budget(seconds=float(seconds) - laid))
    said = 0
    for _ in search.steps():
        for moment in search.moments[said:]:
            gap = moment.best / moment.floor - 1
            print(f"{laid + moment.seconds:6.1f} s  {moment.floor:>12,} to {moment.best:>12,}  {gap:.3%}", flush=True)
        said = len(search.moments)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"byte-pair encoding {guess.upper(wanted, lattice.symbols):,}; {memory:.2f} GB at most")


if __name__ == "__main__":
    main(*sys.argv[1:])
