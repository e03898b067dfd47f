"""A lane: one of several tokenizers side by side, with its run and its tokens of the text at the step shown."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from app.session.run import Run
from app.window.text.text_model import NO_TOKEN, TokenAt, Tokens
from bpe_core.history.history import History
from bpe_core.methods.registry import METHODS
from bpe_core.segmenting.segmentation import Segmentation
from bpe_core.studies.study import Study
from bpe_core.support.arrays import Bools


@dataclass(eq=False)
class Lane:
    """One of several tokenizers that are shown side by side.

    `cut` holds its tokens of the text if they have already been computed.
    """

    letter: str
    run: Run
    study: Study
    segmentation: Segmentation | None = None  # the text shown, split after each step
    at: int = -1  # the step of the tokens
    wanted: int = 0  # the step to show
    why_not: str = ""  # why it is not compared: it cannot have the common size
    cut: LaneTokens | None = None

    @property
    def history(self) -> History:
        return self.study.history

    @property
    def key(self) -> Hashable:
        """Return a value that changes whenever answers about this lane may change."""
        return self.run.stamp, len(self.history)

    @property
    def is_behind(self) -> bool:
        """Return whether the lane has no tokens yet, or still has the tokens of a step other than `wanted`."""
        return self.cut is None or self.at != self.wanted

    @property
    def size(self) -> int:
        return self.history.vocabulary_size_at(self.wanted)

    @property
    def explanation(self) -> str:
        """Return a line with the step and the title of the method."""
        title = METHODS[self.history.recipe.method].title
        return f"step {self.wanted:,} of {len(self.history):,} · {title}" if len(self.history) else title

    @property
    def unknown_id(self) -> int | None:
        return self.history.alphabet.unknown_id

    @property
    def unit(self) -> str:
        return "token" if self.cut is not None and self.cut.count == 1 else "tokens"

    @property
    def unknown_text(self) -> str:
        """Return the number of unknown tokens as text, or an empty string if there are none.

        The card shows this number because unknown tokens make a count look better than it is.
        """
        unknown = 0 if self.cut is None else int(np.count_nonzero(self._is_unknown(self.cut)))
        return f"{unknown:,} unknown" if unknown else ""

    @property
    def ratio(self) -> str:
        """Return the mean number of bytes in a token, as text. Unknown tokens are left out."""
        if self.cut is None or not self.cut.count:
            return ""
        unknown = self._is_unknown(self.cut)
        edges = self.cut.tokens.edges
        lost = int((edges[1:] - edges[:-1])[unknown].sum())
        count = int(np.count_nonzero(unknown))
        if count == self.cut.count:
            return "nothing can be encoded"
        known = " known" if count else ""
        return f"{(len(self.cut.data) - lost) / (self.cut.count - count):.2f} bytes each{known}"

    def _is_unknown(self, cut: LaneTokens) -> Bools:
        is_unknown: Bools = np.equal(cut.tokens.ids, NO_TOKEN if self.unknown_id is None else self.unknown_id)
        return is_unknown & (cut.tokens.ids != NO_TOKEN)

    def store_tokens(self, segmentation: Segmentation) -> None:
        """Store the tokens of a text at every step, and drop the tokens of the previous text."""
        if segmentation is not self.segmentation:
            self.segmentation = segmentation
            self.cut = None
            self.at = -1

    def store_split(self, at: int, tokens: Tokens, data: bytes) -> None:
        """Store the tokens of the whole text after step `at`."""
        self.at = at
        self.cut = LaneTokens.of(tokens, data)


@dataclass(frozen=True, eq=False)
class LaneTokens:
    """The tokens of one text, and the bytes of this text."""

    data: bytes
    tokens: Tokens  # the tokens that cover bytes
    count: int  # the number of all tokens, even without bytes

    @classmethod
    def of(cls, tokens: Tokens, data: bytes) -> LaneTokens:
        covers = tokens.edges[1:] > tokens.edges[:-1]
        covering = Tokens(np.append(tokens.edges[:-1][covers], tokens.edges[-1]), tokens.ids[covers])
        return cls(data, covering, int(np.count_nonzero(tokens.ids != NO_TOKEN)))

    def token_at(self, byte: int) -> TokenAt | None:
        if not 0 <= byte < len(self.data):
            return None
        tokens = self.tokens.between(byte, byte + 1)
        start, stop = tokens.edges.tolist()
        return TokenAt(start, stop, int(tokens.ids[0]), self.data[start:stop])
