"""What the vocabularies of several tokenizers have in common, at any of their steps.

>>> from bpe_core.alphabet import Alphabet
>>> from bpe_core.recipe import Recipe
>>> recipe = Recipe.preset("gpt2")
>>> one = History.from_pairs(recipe, Alphabet.of_bytes(), [(116, 104), (32, 256)])  # t+h, blank+th
>>> other = History.from_pairs(recipe, Alphabet.of_bytes(), [(116, 104), (97, 110)])  # t+h, a+n
>>> found = Vocabularies.of([one, other]).overlap(0, 1, (2, 2))
>>> found.common, found.only_in_first, found.only_in_second, found.jaccard == 257 / 259
(257, 1, 1, True)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from bpe_core.history.history import History
from bpe_core.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.records import dataclass
from bpe_core.token_texts import TokenBytes

Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

NOT_COMPARED = -1  # what stands for no text: what is unknown


def keys_of(history: History, cancelled: CancelCheck = never_cancelled) -> list[bytes | None]:
    """For each token, but for the special ones, how it reads in a text: by this tokens are the same, or others.

    A token reads as what it stands for: `▁the` and ` the` as a blank and `the`, `<0x41>` as `A`, `low</w>` as `low` and
    a blank. Where what goes on inside of a word is marked, `##the` reads as `the`, and `the`, which begins a word,
    as ` the`. None is what stands for anything that is unknown.
    """
    kinds: list[str] = [symbol.kind for symbol in history.alphabet.symbols]
    marks_what_goes_on = "continuation" in kinds
    texts, first = TokenBytes(history), list[int]()  # the base symbol each token begins with
    found: list[bytes | None] = []
    for token in while_wanted(range(history.first_special), cancelled):
        parts = history.parts(token)
        first.append(token if parts is None else first[parts[0]])
        kind = kinds[first[token]]
        begins_word = marks_what_goes_on and kind != "continuation"
        found.append(None if kind == "unknown" else b" " + texts[token] if begins_word else texts[token])
    return found


@dataclass(frozen=True)
class Overlap:
    """Two vocabularies, special tokens left out; tokens that read alike are counted once."""

    common: int
    only_in_first: int
    only_in_second: int

    @property
    def jaccard(self) -> float:
        """The common part of all tokens that either holds."""
        everything = self.common + self.only_in_first + self.only_in_second
        return self.common / everything if everything else 1.0

    @property
    def share_of_first(self) -> float:
        """The part of the first vocabulary that the second holds, too."""
        return self.common / max(1, self.common + self.only_in_first)

    @property
    def share_of_second(self) -> float:
        return self.common / max(1, self.common + self.only_in_second)

    @property
    def in_words(self) -> str:
        """
        >>> Overlap(6, 2, 2).in_words
        '6 tokens are in both vocabularies: 75.0% of the first, 75.0% of the second, 60.0% of all (Jaccard).'
        """
        shares = f"{self.share_of_first:.1%} of the first, {self.share_of_second:.1%} of the second"
        return f"{self.common:,} tokens are in both vocabularies: {shares}, {self.jaccard:.1%} of all (Jaccard)."


@dataclass(frozen=True, eq=False)
class Vocabularies:
    """The tokens of several histories under numbers that are the same where they read alike."""

    histories: tuple[History, ...]
    numbers: tuple[Int64s, ...]  # for each token of each history, or NOT_COMPARED
    different: int  # numbers there are

    @classmethod
    def of(cls, histories: Sequence[History], *, cancelled: CancelCheck = never_cancelled) -> Self:
        number_of: dict[bytes, int] = {}
        numbers = tuple(
            np.array(
                [
                    NOT_COMPARED if key is None else number_of.setdefault(key, len(number_of))
                    for key in keys_of(history, cancelled)
                ],
                np.int64,
            )
            for history in histories
        )
        return cls(tuple(histories), numbers, len(number_of))

    def overlap(self, first: int, second: int, at: Sequence[int]) -> Overlap:
        """Of two of them by their indices, each as it was after so many steps."""
        one, other = self._held(first, at[first]), self._held(second, at[second])
        common = int(np.count_nonzero(one & other))
        return Overlap(common, int(np.count_nonzero(one)) - common, int(np.count_nonzero(other)) - common)

    def _held(self, which: int, at: int) -> Bools:
        """Of all that any of them holds at any time, what this one holds after so many steps."""
        held = np.zeros(self.different, np.bool_)
        numbers = self.numbers[which][self.histories[which].first(at).vocabulary]
        held[numbers[numbers != NOT_COMPARED]] = True
        return held
