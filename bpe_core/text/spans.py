"""A large plain text in spans that can be read apart, cut where no word of the whole is cut."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from bpe_core.errors import CorpusError
from bpe_core.recipe import Recipe
from bpe_core.text.reading.files import FileReader
from bpe_core.text.reading.opening import open_raw, sentences
from bpe_core.text.reading.source import Reader, Source, Span
from bpe_core.text.safe_cuts import SafeCuts

LOOKED_AT = 1 << 16  # bytes in which a place is looked for; where there is none the span becomes longer


def in_spans(reader: Reader, recipe: Recipe, size: int) -> list[Reader]:
    """Readers of about so many bytes each that give the same words one after the other; else the one there is.

    Whoever asks which words end lines would take the end of each span for one, and an expression of a person's own
    may match in one span only: such texts stay whole.
    """
    source = reader.source
    is_plain = source.kind == "text" and not source.compression and source.encoding in ("utf-8", "utf-8-sig")
    is_one = not isinstance(reader, FileReader) or source.size is None or source.size < 2 * size
    if is_one or not is_plain or source.is_word_list or recipe.asks_for_line_ends or recipe.pattern == "custom":
        return [reader]
    assert isinstance(reader, FileReader)
    assert source.size is not None
    places = [0, *_places(source, SafeCuts.of(recipe), size), source.size]
    spans = (Span(start, stop, source.size) for start, stop in pairwise(places))
    return [reader.of(replace(source, size=span.stop - span.start, span=span)) for span in spans]


def _places(source: Source, cuts: SafeCuts, size: int) -> list[int]:
    """Where to cut, rising; what cannot be looked at is cut nowhere, and whoever reads it says why."""
    assert source.size is not None  # the caller saw to it
    found: list[int] = []
    if not cuts.pairs.any():
        return found
    try:
        with open_raw(source) as raw:
            for at in range(size, source.size - size // 2, size):
                with sentences(source.name):
                    raw.seek(at)
                    safe = cuts.places(raw.read(LOOKED_AT))
                if len(safe):
                    found.append(at + int(safe[0]))
    except CorpusError:
        return []
    return [place for place, last in zip(found, [0, *found], strict=False) if place > last]
