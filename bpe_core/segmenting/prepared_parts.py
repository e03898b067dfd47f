"""A text prepared by the steps of a file: its added tokens and its words, with their places in the text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import repeated
from bpe_core.text.characters import code_points
from bpe_core.text.normalization import byte_starts, normalize, normalized_with_sources
from bpe_core.text.preparation.pieces import Piece, found_in
from bpe_core.text.preparation.steps import preparing

if TYPE_CHECKING:
    from bpe_core.segmenting.laid_words import LaidWords

Offsets = npt.NDArray[np.int64]

_ESCAPED = range(0xDC80, 0xDD00)  # bytes that are no whole character


class PreparedParts:
    """Prepares texts as one recipe says it step by step."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe.with_changes(special_tokens=())
        self._steps = preparing(recipe.preparation)
        self._told = self._steps.tokens
        self.always = tuple(content for content, token in self._told.items() if not token.special)
        # Some tokens are looked for in the changed text, changed like it.
        later = [content for content, token in self._told.items() if token.normalized]
        self._as_changed = {normalize(content, self._recipe): content for content in later}

    def pieces(self, text: str, allowed: tuple[str, ...]) -> Iterator[tuple[Piece, str]]:
        """The pieces of a text in their order, with the token that each is, or nothing."""
        at_once = tuple(token for token in allowed if token not in self._as_changed.values())
        for start, stop, token in found_in(text, at_once, self._told):
            if token:
                yield Piece.whole(text[start:stop], start), token
            else:
                yield from self._between(text[start:stop], start, allowed)

    def _between(self, text: str, first: int, allowed: tuple[str, ...]) -> Iterator[tuple[Piece, str]]:
        piece = Piece.whole(text, first)
        if self._recipe.normalizes:
            changed, sources = normalized_with_sources(text, self._recipe)
            piece = Piece(changed, (sources + first).tolist(), first + len(text))
        known = {changed: token for changed, token in self._as_changed.items() if token in allowed and changed}
        told = {changed: self._told[token] for changed, token in known.items()}
        for start, stop, found in found_in(piece.text, tuple(known), told):
            part = piece.part(start, stop)
            if found:
                yield part, known[found]
            elif self._steps.cuts:
                for word in self._steps.words(part):
                    yield word, ""
            else:
                yield part, ""

    def texts(self, text: str, allowed: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        """The same without the places, which takes less time where no step asks for them."""
        if self._steps.wants_places:
            yield from ((piece.text, token) for piece, token in self.pieces(text, allowed))
            return
        for part, token in self.stretches(text, allowed):
            if token or not self._steps.cuts:
                yield part, token
            else:
                yield from ((word, "") for word in self.words_of(part))

    def words_of(self, stretch: str) -> Iterator[str]:
        return self._steps.texts_of_words(stretch)

    @cached_property
    def laid(self) -> LaidWords | None:
        """What cuts long stretches into their words at once, where that can be."""
        from bpe_core.segmenting.laid_words import laid_words  # loads machine code

        return laid_words(self._steps.all_cuts) if self._steps.cuts else None

    def stretches(self, text: str, allowed: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        at_once = tuple(token for token in allowed if token not in self._as_changed.values())
        known = {changed: token for changed, token in self._as_changed.items() if token in allowed and changed}
        told = {changed: self._told[token] for changed, token in known.items()}
        for start, stop, token in found_in(text, at_once, self._told):
            if token:
                yield "", token
                continue
            changed = normalize(text[start:stop], self._recipe)
            for first, end, found in found_in(changed, tuple(known), told):
                yield ("", known[found]) if found else (changed[first:end], "")

    def placed(self, text: str, allowed: tuple[str, ...]) -> Iterator[tuple[Piece, str, Offsets]]:
        """The same, with the byte of the text that each of their bytes came from, and the one where they end."""
        found = [(piece, token) for piece, token in self.pieces(text, allowed) if piece.text]
        starts = byte_starts(text)
        codes = code_points("".join(piece.text for piece, _ in found))
        sources = np.fromiter((source for piece, _ in found for source in piece.sources), np.int64, len(codes))
        origins, edges = _origins(codes, sources, code_points(text), starts)
        place = 0
        for piece, token in found:
            own = origins[edges[place] : edges[place + len(piece.text)]]
            place += len(piece.text)
            yield piece, token, np.append(own, np.maximum(starts[piece.stop], own[-1]))


def _origins(
    codes: npt.NDArray[np.uint32], sources: Offsets, given: npt.NDArray[np.uint32], starts: Offsets
) -> tuple[Offsets, Offsets]:
    """For each byte of some characters the byte it came from, and where the bytes of each character begin.

    Those of an unchanged character come from its own one by one, as do those that are escaped; the others from its
    start.
    """
    escaped = (codes >= _ESCAPED.start) & (codes < _ESCAPED.stop)
    widths = 1 + (codes >= 0x80) + (codes >= 0x800).astype(np.int64) + (codes >= 0x10000)
    widths[escaped] = 1
    edges = np.concatenate((np.zeros(1, np.int64), np.cumsum(widths)))
    is_last = np.append(sources[1:] != sources[:-1], True)[: len(codes)]
    begins = np.append(True, sources[1:] != sources[:-1])[: len(codes)]
    own = codes == given[sources]
    run = np.maximum.accumulate(np.where(begins, np.arange(len(codes)), 0)) if len(codes) else sources
    inside = np.minimum(np.arange(len(codes)) - run, starts[sources + 1] - starts[sources] - 1)
    within = np.arange(edges[-1]) - repeated(edges[:-1], widths)
    origins = repeated(starts[sources] + np.where(escaped, inside, 0), widths)
    return origins + within * repeated(is_last & own, widths), edges
