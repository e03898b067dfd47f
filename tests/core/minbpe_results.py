"""Results of minbpe on sequences of integers. Its own code computed the merges and ids.

The results come from its commit 1acefe8. `BasicTokenizer.train` only calls the method `encode` of its text.
So an object whose `encode` returns integers makes it learn from integers. This command writes the file
`minbpe_results.json`:

    python -m tests.core.minbpe_results FOLDER_OF_MINBPE
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_suffix(".json")
FIRST_TOKEN = 256  # the id of minbpe's first merge
MEASURED = 60  # integers that are encoded


class MinbpeResult(NamedTuple):
    """The merges that minbpe learned from a sequence, and the ids into which it encoded another sequence."""

    seed: int
    kinds: int  # the number of different integers
    length: int
    merges: list[list[int]]
    ids: list[int]  # of the first integers by the next seed


def results() -> list[MinbpeResult]:
    return [MinbpeResult(**row) for row in json.loads(FILE.read_text(encoding="utf-8"))]


def sequence(seed: int, kinds: int, length: int) -> list[int]:
    """Return pseudorandom integers from 0 to `kinds - 1`, with runs of equal integers.

    The same seed always gives the same integers.
    """
    numbers: list[int] = []
    state = seed
    while len(numbers) < length:
        state = (state * 1_103_515_245 + 12_345) % 2**31
        drawn = (state >> 16) % kinds
        numbers += [drawn * drawn % kinds] * (1 + drawn % 3)
    return numbers[:length]


class _Integers(list[int]):
    def encode(self, _encoding: str) -> list[int]:
        return self


def _result(seed: int, kinds: int, length: int, count: int) -> MinbpeResult:
    learned = import_module("minbpe.basic").BasicTokenizer()
    learned.train(_Integers(sequence(seed, kinds, length)), FIRST_TOKEN + count)
    ids = learned.encode(_Integers(sequence(seed + 1, kinds, MEASURED)))
    return MinbpeResult(seed, kinds, length, [[*pair] for pair in learned.merges], ids)


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    planned = ((1, 2, 300, 12), (2, 5, 600, 40), (3, 12, 900, 60), (4, 60, 1_500, 60), (5, 256, 2_500, 60))
    rows = ",\n".join(json.dumps(_result(*row)._asdict()) for row in planned)
    FILE.write_text(f"[\n{rows}\n]\n", encoding="utf-8")
