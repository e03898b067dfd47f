"""A format with a line for each merge.

The line holds the ids of the two tokens that the merge joins. The ids below 256 are those of the bytes.
"""

from __future__ import annotations

from typing import BinaryIO

from bpe_core.errors import FormatError
from bpe_core.formats.all_formats import Row
from bpe_core.formats.base import IN_WORDS, Beside, Format, Opened, reported
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import ProgressReport

ROW = Row("Pairs of ids, a merge a line, on top of the 256 bytes.", __name__, (".ids",))
HEAD = b"pairs of ids\n"


class IdPairs(Format):
    name = "id-pairs"
    tables = frozenset({IN_WORDS})
    holds_splitting = False

    def impossible(self, history: History) -> list[str]:
        return [] if history.recipe.base == "bytes" else ["Pairs of ids are on top of the 256 bytes."]

    def does_otherwise(self, history: History) -> list[str]:
        return ["The pattern is left out."]

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        file.write(HEAD)
        file.writelines(
            b"%d %d\n" % (left, right) for left, right in reported(enumerate(history.pairs(), 1), history, progress)
        )

    def recognizes(self, data: bytes) -> bool:
        return data.startswith(HEAD)

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        try:
            rows = [(int(left), int(right)) for left, right in map(bytes.split, data.splitlines()[1:])]
        except ValueError as error:
            raise FormatError(f"{name}: a line is not a pair of ids.") from error
        if any(max(pair) >= 256 + row or min(pair) < 0 for row, pair in enumerate(rows)):
            raise FormatError(f"{name}: a line joins an id that is not there yet.")
        recipe = Recipe(name="id-pairs", merges=len(rows), vocab_size=None)
        return History.from_pairs(recipe, Alphabet.of_bytes(), rows), ["The file does not tell how text is split."]
