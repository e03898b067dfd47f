"""The decoder of recipes without a decoder from a file."""

from __future__ import annotations

from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.decoding import (
    BPEDecoder,
    ByteFallback,
    ByteLevel,
    Decoder,
    Fuse,
    Replace,
    Strip,
    WordPiece,
    blank_sign,
    puts_blank_before,
)


def usual_decoding(recipe: Recipe) -> tuple[Decoder, ...]:
    """Return the decoding steps that restore the text as nearly as steps can."""
    if recipe.base == "bytes":
        return (ByteLevel(),)
    if recipe.marker == "glued":
        return (BPEDecoder(recipe.marker_text),)
    if METHODS[recipe.method].has_continuations:
        return (WordPiece(recipe.marker_text, cleanup=False),)
    sign = recipe.marker_text if recipe.marker in ("prefix", "symbol") else blank_sign(recipe.preparation)
    steps: list[Decoder] = [Replace(sign, False, " ")] if sign else []
    steps += [ByteFallback()] * (recipe.unknown == "bytes") + [Fuse()]
    if sign and (recipe.marker == "prefix" or puts_blank_before(recipe.preparation)):
        steps.append(Strip(" ", 1, 0))
    return tuple(steps)
