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
from bpe_core.text.preparation.pre_tokenizers import ByteLevel, Metaspace, Split
from bpe_core.text.preparation.steps import Normalizer, PreTokenizer, Step
from bpe_core.text.stand_ins import byte_of_stand_in, raw_bytes

MOST_KNOWN = 1 << 16  # pieces
LONGEST_KNOWN = 64  # characters of one


class Preparing:
    """Knows which of its steps come when."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.tokens = {step.content: step for step in steps if isinstance(step, AddedToken)}
        self._changes = [step for step in steps if isinstance(step, Normalizer)]
        self._cuts = [step for step in steps if isinstance(step, PreTokenizer)]
        self.all_cuts = tuple(self._cuts)
        self.cuts = bool(self._cuts)
        self.wants_places = any(isinstance(step, Metaspace) and step.prepend_scheme == "first" for step in self._cuts)
        self._known: dict[str, tuple[str, ...]] = {}  # the words of what the first cut leaves
        self.changes = bool(self._changes)

    def changed(self, piece: Piece) -> Piece:
        """A text as it is when all changes are made."""
        for step in self._changes:
            piece = step.changed(piece)
        return piece

    def words(self, piece: Piece) -> Iterator[Piece]:
        """The words of a changed text; those that were made of bytes may begin and end inside characters."""
        return self._words((piece,), 0)

    def texts_of_words(self, text: str, first: int = 0) -> Iterator[str]:
        """The same words of a text that begins so many characters behind the beginning, without their places."""
        if self.wants_places or len(self._cuts) < 2:
            piece = Piece.whole(text, first) if self.wants_places else Piece.bare(text)
            yield from (word.text for word in self._words((piece,), 0))
            return
        known, cut = self._known, self._cuts[0]
        if isinstance(cut, Split):
            parts: Iterable[str] = cut.texts(text)
            in_bytes = False
        else:
            pieces = list(cut.cut(Piece.bare(text)))
            parts = [piece.text for piece in pieces]
            in_bytes = any(piece.is_in_bytes for piece in pieces)
        for part in parts:
            words = known.get(part)
            if words is None:
                if len(known) >= MOST_KNOWN:
                    known.clear()
                piece = Piece.bare(part)
                words = tuple(word.text for word in self._words((piece.in_bytes() if in_bytes else piece,), 1))
                if len(part) <= LONGEST_KNOWN:
                    known[part] = words
            yield from words

    def _words(self, pieces: Iterable[Piece], done: int) -> Iterator[Piece]:
        """What becomes of pieces by the cuts behind the first so many."""
        for step in self._cuts[done:-1]:
            pieces = chain.from_iterable(map(step.cut, pieces))
        return (
            as_bytes(word) if word.is_in_bytes else word for word in chain.from_iterable(map(self._last_cut, pieces))
        )

    def _last_cut(self, piece: Piece) -> Iterator[Piece]:
        """Nobody needs to see what is shown as bytes last of all."""
        last = self._cuts[-1]
        return last.plainly(piece) if isinstance(last, ByteLevel) and not piece.is_in_bytes else last.cut(piece)


@lru_cache(maxsize=16)
def preparing(steps: tuple[Step, ...]) -> Preparing:
    """The steps of a recipe, ready to work."""
    return Preparing(steps)


def as_bytes(word: Piece) -> Piece:
    """What the printable characters stand for; a byte that is no whole character stands there by itself."""
    known = byte_of_stand_in()
    text = bytes(known[one] for one in word.text).decode(errors="surrogateescape")
    if word.is_bare:
        return Piece.bare(text)
    ends = accumulate((len(raw_bytes(character)) for character in text), initial=0)
    return Piece(text, [word.sources[end] for end, _ in zip(ends, text, strict=False)], word.stop)
