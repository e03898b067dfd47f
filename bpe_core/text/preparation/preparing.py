"""The steps of a recipe at work on whole texts.

>>> from bpe_core.text.preparation.steps import read_step
>>> steps = (read_step({"type": "Lowercase"}), read_step({"type": "Digits", "individual_digits": False}))
>>> work = Preparing(steps)
>>> [word.text for word in work.words(work.changed(Piece.whole("Route 66")))]
['route ', '66']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain

from bpe_core.text.preparation.added_tokens import AddedToken
from bpe_core.text.preparation.pieces import Piece
from bpe_core.text.preparation.pre_tokenizers import ByteLevel
from bpe_core.text.preparation.steps import Normalizer, PreTokenizer, Step
from bpe_core.text.stand_ins import byte_of_stand_in


class Preparing:
    """Knows which of its steps come when."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.tokens = {step.content: step for step in steps if isinstance(step, AddedToken)}
        self._changes = [step for step in steps if isinstance(step, Normalizer)]
        self._cuts = [step for step in steps if isinstance(step, PreTokenizer)]
        self.cuts = bool(self._cuts)
        self.changes = bool(self._changes)

    def changed(self, piece: Piece) -> Piece:
        """A text as it is when all changes are made."""
        for step in self._changes:
            piece = step.changed(piece)
        return piece

    def words(self, piece: Piece) -> Iterator[Piece]:
        """The words of a changed text; those that were made of bytes may begin and end inside characters."""
        pieces: Iterable[Piece] = (piece,)
        for step in self._cuts[:-1]:
            pieces = chain.from_iterable(map(step.cut, pieces))
        last = self._cuts[-1]
        cut = last.plainly if isinstance(last, ByteLevel) and not piece.is_in_bytes else last.cut
        return (as_bytes(word) if word.is_in_bytes else word for word in chain.from_iterable(map(cut, pieces)))


@lru_cache(maxsize=16)
def preparing(steps: tuple[Step, ...]) -> Preparing:
    """The steps of a recipe, ready to work."""
    return Preparing(steps)


def as_bytes(word: Piece) -> Piece:
    """What the printable characters stand for; a byte that is no whole character stands there by itself."""
    known = byte_of_stand_in()
    text = bytes(known[one] for one in word.text).decode(errors="surrogateescape")
    ends = accumulate((len(raw_bytes(character)) for character in text), initial=0)
    return Piece(text, [word.sources[end] for end, _ in zip(ends, text, strict=False)], word.stop)


def raw_bytes(word: str) -> bytes:
    """The bytes of a word that may begin or end inside a character."""
    return word.encode(errors="surrogateescape")
