"""A vocabulary of numbered texts with merges of texts becomes an alphabet and merges of ids.

This is what Hugging Face's files hold, in one JSON object or in two files. The base symbols
are the entries that no merge makes: bytes shown by their stand-ins, or characters, some with
the word marker glued on; and what stands for the unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bpe_core.alphabet import Alphabet, Symbol
from bpe_core.errors import FormatError
from bpe_core.formats import byte_level
from bpe_core.formats.base import NO_NUMBER
from bpe_core.formats.unfit_tokens import listed
from bpe_core.formats.written_merges import WrittenMerge, resolve
from bpe_core.history.history import Int64s
from bpe_core.recipe import UNKNOWN_TOKEN, Marker


@dataclass(frozen=True)
class Style:
    """What a file says about its base symbols."""

    byte_level: bool = False
    marker: Marker = "none"
    marker_text: str = ""
    unknown: str = ""  # the text of the token for unknown characters
    byte_fallback: bool = False  # unknown characters become bytes


@dataclass(frozen=True, eq=False)
class Model:
    """The tokens of a file as ours."""

    alphabet: Alphabet
    pairs: list[tuple[int, int]]
    numbers: Int64s | None  # of base symbols, merges and special tokens, where they are not our ids
    notes: list[str]


def build(
    vocabulary: Mapping[str, int] | None,
    merges: Sequence[WrittenMerge],
    specials: Mapping[str, int],
    style: Style,
    where: str,
) -> Model:
    """The model that a file's entries make; `where` reads "merges.txt, line {}".

    Without a vocabulary, the base symbols are those that the merges mention.
    """
    made = {merge.left + merge.right for merge in merges}
    if vocabulary is None:
        mentioned = {part for merge in merges for part in (merge.left, merge.right)} - made
        entries: Mapping[str, int] = dict.fromkeys(sorted(mentioned), NO_NUMBER)
    else:
        entries = vocabulary
        _check_in_vocabulary(merges, vocabulary, where)
    plain = [text for text in entries if text not in made and text not in specials]
    symbols = _bytes(plain, vocabulary, entries) if style.byte_level else _characters(plain, style)
    base = {text: id for id, (text, _) in enumerate(symbols)}
    mergeable = {text: base[text] for text, symbol in symbols if symbol.merges}
    found = resolve(mergeable, len(symbols), merges, where)
    names = [text for text, _ in symbols] + found.texts + list(specials)
    notes = _notes(plain, base, found.never_happen, vocabulary, symbols)
    alphabet = (
        byte_level.alphabet_of([symbol.text[0] for _, symbol in symbols])
        if style.byte_level
        else Alphabet(tuple(symbol for _, symbol in symbols))
    )
    known = {**entries, **specials}
    numbers = None
    if vocabulary is not None:
        numbers = np.array([known.get(name, NO_NUMBER) for name in names], np.int64)
        numbers = None if np.array_equal(numbers, np.arange(len(numbers))) else numbers
    return Model(alphabet, found.pairs, numbers, notes)


def _check_in_vocabulary(merges: Sequence[WrittenMerge], vocabulary: Mapping[str, int], where: str) -> None:
    for merge in merges:
        for text in (merge.left, merge.right, merge.left + merge.right):
            if text not in vocabulary:
                raise FormatError(f"{where.format(merge.place)}: the token {text[:80]!r} is not in the vocabulary.")


def _bytes(
    plain: Sequence[str], vocabulary: Mapping[str, int] | None, entries: Mapping[str, int]
) -> list[tuple[str, Symbol]]:
    """The 256 bytes as the file numbers them; those it has no number for come last."""
    stand_ins = byte_level.stand_ins()
    order = byte_level.stand_in_order()
    if vocabulary is not None:
        known = {text for text in plain if len(text) == 1}
        order = sorted(order, key=lambda byte: (stand_ins[byte] not in known, entries.get(stand_ins[byte], 0)))
    return [(stand_ins[byte], Symbol(bytes([byte]), bytes([byte]), "byte")) for byte in order]


def _characters(plain: Sequence[str], style: Style) -> list[tuple[str, Symbol]]:
    """What stands for the unknown, the characters, and last the marker or the characters it is glued to."""
    marker = style.marker_text
    glued = [text for text in plain if style.marker == "glued" and text.endswith(marker) and len(text) > len(marker)]
    glued = [text for text in glued if len(text) == 1 + len(marker)]
    single = [
        text for text in plain if len(text) == 1 and not (style.marker in ("prefix", "symbol") and text == marker)
    ]
    known = set(single)
    single += [text[0] for text in glued if text[0] not in known]
    symbols = _unknown(style) + [(text, _symbol(text, text, "character")) for text in single]
    symbols += [(text, _symbol(text, text[0] + " ", "glued")) for text in glued]
    if style.marker in ("prefix", "symbol"):
        symbols.append((marker, _symbol(marker, " ", "marker")))
    return symbols


def _symbol(text: str, decoded: str, kind: str) -> Symbol:
    return Symbol(text.encode(), decoded.encode(), kind)  # type: ignore[arg-type]


def _unknown(style: Style) -> list[tuple[str, Symbol]]:
    if style.byte_fallback:
        return [(f"<0x{i:02X}>", Symbol(f"<0x{i:02X}>".encode(), bytes([i]), "fallback")) for i in range(256)]
    return [(style.unknown or UNKNOWN_TOKEN, Symbol(UNKNOWN_TOKEN.encode(), UNKNOWN_TOKEN.encode(), "unknown"))]


def _notes(
    plain: Sequence[str],
    base: Mapping[str, int],
    never_happen: int,
    vocabulary: Mapping[str, int] | None,
    symbols: Sequence[tuple[str, Symbol]],
) -> list[str]:
    notes = []
    idle = [text.encode() for text in plain if text not in base]
    if idle:
        notes.append(f"{len(idle):,} entries of the vocabulary are made by no merge and left out: {listed(idle)}.")
    if never_happen:
        notes.append(f"{never_happen:,} merges never happen, because another one makes the same text before.")
    missing = [text.encode() for text, _ in symbols if vocabulary is not None and text not in vocabulary]
    if missing:
        notes.append(f"{len(missing):,} base symbols have no number in the file: {listed(missing)}.")
    return notes
