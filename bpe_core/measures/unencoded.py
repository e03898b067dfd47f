"""How much of texts a tokenizer cannot encode: what becomes an unknown token, or none at all.

Texts are taken as their different stretches between blanks, so a tokenizer cuts each but once, whatever its method.

>>> from bpe_core.recipe import Recipe
>>> from bpe_core.reference import train
>>> from bpe_core.counting.words import WordTable
>>> tokenizer = Tokenizer(train(WordTable.from_counts({"low": 2, "new": 1}), Recipe.preset("words", merges=1)))
>>> BetweenBlanks.of({"some": ["low Low"], "all": ["new", "low"]}).unencoded(tokenizer, 1)
[0.16666666666666666, 0.0]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bpe_core.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.segmenting.segmentation import NO_TOKEN
from bpe_core.segmenting.tokenizer import Tokenizer

Int64s = npt.NDArray[np.int64]

BYTES = 256


def encodes_everything(tokenizer: Tokenizer) -> bool:
    """Whether it has a symbol for every byte."""
    kinds = Counter(symbol.kind for symbol in tokenizer.history.alphabet.symbols)
    return BYTES in (kinds["byte"], kinds["fallback"])


@dataclass(frozen=True, eq=False)
class BetweenBlanks:
    """What stands between blanks in texts, once each, and how often it stands in each of them."""

    together: str  # with a blank between
    starts: Int64s  # of each, in bytes
    lengths: Int64s
    by_text: Mapping[str, tuple[Int64s, Int64s]]  # which of them, and how often

    @classmethod
    def of(cls, texts: Mapping[str, Sequence[str]], cancelled: CancelCheck = never_cancelled) -> BetweenBlanks:
        """Each text is a sequence of documents."""
        places: dict[str, int] = {}
        by_text = {}
        for name, documents in while_wanted(texts.items(), cancelled, every=1):
            counted: Counter[str] = Counter()
            for text in documents:
                counted.update(text.encode(errors="replace").decode().split())
            which = np.array([places.setdefault(one, len(places)) for one in counted], np.int64)
            by_text[name] = which, np.array(list(counted.values()), np.int64)
        lengths = np.array([len(one.encode()) for one in places], np.int64)
        return cls(" ".join(places), np.cumsum(lengths + 1) - lengths - 1, lengths, by_text)

    def unencoded(self, tokenizer: Tokenizer, at: int, cancelled: CancelCheck = never_cancelled) -> list[float]:
        """Of each text the part of its bytes that no token tells, after so many steps; blanks are left out."""
        lost = np.concatenate([[0], np.cumsum(self._lost(tokenizer, at, cancelled))])  # bytes before each
        found = lost[self.starts + self.lengths] - lost[self.starts]
        shares = []
        for which, times in self.by_text.values():
            whole = int((self.lengths[which] * times).sum())
            shares.append(int((found[which] * times).sum()) / whole if whole else 0.0)
        return shares

    def _lost(self, tokenizer: Tokenizer, at: int, cancelled: CancelCheck) -> npt.NDArray[np.bool_]:
        """Whether each byte is in an unknown token, in none, or in a character that is left out.

        What is left out is shown with the token behind it, so that is asked of each character by itself.
        """
        tokens = tokenizer.segmentation(self.together, cancelled=cancelled).tokens(at)
        symbols = tokenizer.history.alphabet.symbols
        unknown = [id for id, symbol in enumerate(symbols) if symbol.kind == "unknown"]
        codes = np.array([ord(character) for character in self.together], np.int64)
        lengths = 1 + (codes >= 0x80) + (codes >= 0x800) + (codes >= 0x10000)
        different = while_wanted(np.unique(codes).tolist(), cancelled)
        left_out = [code for code in different if not tokenizer.encode(chr(code), at=at)]
        found = np.repeat(np.isin(codes, left_out), lengths)
        in_none = (tokens.ids == NO_TOKEN) | np.isin(tokens.ids, unknown)
        found[tokens.edges[0] : tokens.edges[-1]] |= np.repeat(in_none, np.diff(tokens.edges))
        return found
