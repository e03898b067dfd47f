"""The filter that chooses which merges the table shows.

>>> MergeFilter(needle="20 74", kind="hex").error
''
>>> MergeFilter(needle="2", kind="hex").error
'Write the bytes as pairs of hexadecimal digits, such as 20 74.'
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from bpe_core.history.history import History
from bpe_core.history.token_texts import BLANK, TokenTexts

Kind = Literal["text", "regex", "hex"]
Mask = npt.NDArray[np.bool_]

NOT_HEX = "Write the bytes as pairs of hexadecimal digits, such as 20 74."


@dataclass(frozen=True)
class MergeFilter:
    """A filter of merges. It is a frozen value, so it can be compared, saved and restored."""

    needle: str = ""
    kind: Kind = "text"
    ties_only: bool = False
    min_length: int = 1  # least bytes of the new token

    @property
    def lets_all_pass(self) -> bool:
        return not self.needle and not self.ties_only and self.min_length <= 1

    @cached_property
    def error(self) -> str:
        """Return the reason why the search text is not valid, or an empty string."""
        try:
            self._matches_in(())
        except re.error as error:
            return f"This is not a valid regular expression: {error.msg}."
        except ValueError:
            return NOT_HEX
        return ""

    def mask(self, names: TokenTexts, history: History, start: int) -> Mask:
        """Return a mask of the merges from `start` on: true for merges that pass the filter.

        A search text that is not valid is ignored.
        """
        passes = np.ones(len(history) - start, bool)
        if self.ties_only:
            passes &= history.tied[start:]
        if self.min_length > 1:
            passes &= np.array(history.of_steps(names.lengths, start), np.int64) >= self.min_length
        if self.needle and not self.error:
            in_hex = self.kind == "hex"
            tokens = history.of_steps(names.raw, start) if in_hex else history.of_steps(names.text, start)
            passes &= np.fromiter(self._matches_in(tokens), bool, len(passes))
        return passes

    def _matches_in(self, tokens: Sequence[bytes] | Sequence[str]) -> Iterator[bool]:
        needle = bytes.fromhex(self.needle) if self.kind == "hex" else self.needle.replace(" ", BLANK)
        if self.kind == "regex":
            return map(bool, map(re.compile(needle).search, tokens))  # type: ignore[arg-type]
        return map(operator.contains, tokens, itertools.repeat(needle))
