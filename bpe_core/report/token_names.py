"""What tokens are called in a report: nothing is hidden, and blanks can be seen."""

from __future__ import annotations

from bpe_core.formats.honest_text import escape
from bpe_core.history.history import MergeHistory

LONGEST = 80  # bytes; the rest of a longer token is cut off


class TokenNames:
    """Id -> what is shown.

    >>> from bpe_core.alphabet import Alphabet
    >>> from bpe_core.recipe import Recipe
    >>> names = TokenNames(MergeHistory.from_pairs(Recipe(), Alphabet.of_bytes(), [(32, 116), (256, 10)]))
    >>> names[256], names[257], names.lengths[257]
    ('␣t', '␣t<0x0A>', 3)
    """

    def __init__(self, history: MergeHistory) -> None:
        raw = [symbol.text[: LONGEST + 1] for symbol in history.alphabet.symbols]
        self.lengths = [len(symbol.text) for symbol in history.alphabet.symbols]
        self.base = len(raw)
        for left, right in zip(history.columns.left.tolist(), history.columns.right.tolist(), strict=True):
            raw.append((raw[left] + raw[right])[: LONGEST + 1])
            self.lengths.append(self.lengths[left] + self.lengths[right])
        self._raw = raw

    def __getitem__(self, id: int) -> str:
        raw = self._raw[id]
        cut = "…" if len(raw) > LONGEST else ""
        return escape(raw[:LONGEST]).replace(" ", "␣") + cut
