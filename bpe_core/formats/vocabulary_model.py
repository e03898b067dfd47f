"""A vocabulary of numbered texts with merges of texts becomes an alphabet and merges of ids.

This is what Hugging Face's files hold, in one JSON object or in two files. The base symbols
are the entries that no merge makes: bytes shown by their stand-ins, or characters, some with
the word marker glued on; and what stands for the unknown (vocabulary_symbols.py). Other entries that no merge makes
are seeds: they are met as whole words, or never.

Where the merges are no order of births, or the file asks for more than merges, how texts are joined stands beside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bpe_core.alphabet import Alphabet, Symbol
from bpe_core.errors import FormatError
from bpe_core.formats import byte_level
from bpe_core.formats.base import NO_NUMBER
from bpe_core.formats.in_turns import mapped
from bpe_core.formats.recovering import with_seeds
from bpe_core.formats.unfit_tokens import listed
from bpe_core.formats.vocabulary_symbols import NamedSymbol, Style, base_symbols, raw_texts
from bpe_core.formats.written_merges import (
    Resolved,
    Texts,
    WrittenMerge,
    are_in_order,
    born_in_turn,
    resolve,
    resolved_at_once,
)
from bpe_core.history.history import History, Int64s, Pair
from bpe_core.history.joining import NO_PRIORITY, Joining, PairRows
from bpe_core.token_texts import written

__all__ = ["Model", "Style", "build"]


@dataclass(frozen=True, eq=False)
class Model:
    """The tokens of a file as ours."""

    alphabet: Alphabet
    pairs: list[tuple[int, int]]
    numbers: Int64s | None  # of base symbols, merges and special tokens, where they are not our ids
    notes: list[str]
    joining: Joining | None = None  # where the merges alone do not say how texts are cut


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
    texts = Texts.of(merges)
    made = set(texts.made)
    if vocabulary is None:
        mentioned = {*texts.left, *texts.right} - made
        entries: Mapping[str, int] = dict.fromkeys(sorted(mentioned), NO_NUMBER)
    else:
        entries = vocabulary
        _check_in_vocabulary(merges, texts, vocabulary, where)
    joined = {text for side in texts[:2] for text in set(specials).intersection(side)}
    alone = set(specials) - joined  # one that merges join is a base symbol as well
    longest = 1 + len(style.marker_text)  # of symbols
    short = [text for text in entries if len(text) <= longest or text not in made]
    plain = [text for text in short if text not in alone and (text not in made or style.is_symbol(text))]
    symbols = base_symbols(plain, vocabulary, style)
    base = {text: id for id, (text, _) in enumerate(symbols)}
    mergeable = {text: base[text] for text, symbol in symbols if symbol.merges}
    found = resolved_at_once(mergeable, len(symbols), texts)
    in_order = found is not None or vocabulary is None or are_in_order(mergeable, merges)
    if found is None:
        found = resolve(mergeable, len(symbols), merges, where) if in_order else _in_any_order(mergeable, merges)
    known = {*base, *found.texts, *specials}
    seeds = _seeds([text for text in entries if text not in known], style)
    names = [*base, *(text for text, _ in seeds), *found.texts]
    id_of = dict(zip(names, range(len(names)), strict=True))
    are_ids = in_order and not seeds and len(base) == len(symbols)
    lacking = [id for text, id in base.items() if vocabulary is not None and text not in vocabulary]
    return Model(
        alphabet=_alphabet([symbol for _, symbol in symbols], seeds, style),
        pairs=found.pairs if are_ids else [(id_of[left], id_of[right]) for left, right in found.parts],
        numbers=None if vocabulary is None else _numbers([*names, *specials], {**entries, **specials}),
        notes=_notes([text for text in plain if text not in id_of], seeds, found, [names[id] for id in lacking], style),
        joining=_joining(merges, id_of, lacking, style, in_order=in_order),
    )


def _in_any_order(base: Mapping[str, int], merges: Sequence[WrittenMerge]) -> Resolved:
    parts = born_in_turn(base, merges)
    return Resolved(parts=parts, texts=[left + right for left, right in parts])


def _check_in_vocabulary(
    merges: Sequence[WrittenMerge], texts: Texts, vocabulary: Mapping[str, int], where: str
) -> None:
    if all(all(mapped(vocabulary.__contains__, column)) for column in texts):
        return
    for merge in merges:
        for text in (merge.left, merge.right, merge.left + merge.right):
            if text not in vocabulary:
                raise FormatError(f"{where.format(merge.place)}: the token {text[:80]!r} is not in the vocabulary.")


def _seeds(texts: Sequence[str], style: Style) -> list[tuple[str, Symbol]]:
    """The entries that are neither base symbols nor made by merges, as far as they are texts at all."""
    raw = ((text, raw_texts(text, style)) for text in texts)
    return [(text, Symbol(*found, "seed")) for text, found in raw if found is not None]


def _alphabet(symbols: Sequence[Symbol], seeds: Sequence[NamedSymbol], style: Style) -> Alphabet:
    plain_bytes = style.byte_level and style.marker == "none"
    alphabet = byte_level.alphabet_of([one.text[0] for one in symbols]) if plain_bytes else Alphabet(tuple(symbols))
    return with_seeds(alphabet, [(symbol.text, symbol.decoded) for _, symbol in seeds])


def _joining(
    merges: Sequence[WrittenMerge], id_of: Mapping[str, int], lacking: list[int], style: Style, *, in_order: bool
) -> Joining | None:
    """Which pairs are joined first; of one that is listed twice, the last place counts."""
    left_out = lacking if style.byte_level or style.drops_unknown else []
    if in_order and not (left_out or style.whole_words or style.joins_unknown):
        return None
    rows = {(merge.left, merge.right): row for row, merge in enumerate(merges)}
    known = [
        (id_of[left], id_of[right], id_of[left + right])
        for left, right in sorted(rows, key=rows.__getitem__)
        if left in id_of and right in id_of and left + right in id_of
    ]
    return Joining(
        pairs=PairRows(*np.array(known, np.int64).reshape(-1, 3).T),
        whole_words=style.whole_words,
        joins_unknown=style.joins_unknown,
        left_out=tuple(left_out),
    )


def joined_in_order(history: History) -> list[Pair]:
    """All pairs of tokens that are joined, the first at the top: what a list of merges must say."""
    joining = history.joining
    if joining is None:
        return history.pairs()
    if joining.pairs is not None:
        return list(zip(joining.pairs.left.tolist(), joining.pairs.right.tolist(), strict=True))
    assert joining.priorities is not None
    texts, alone = written(history), set(joining.found_first)
    id_of = {text: id for id, text in reversed(list(enumerate(texts))) if id not in alone}
    found: list[tuple[int, int, int]] = []
    for text, priority in zip(texts, joining.priorities.tolist(), strict=True):
        if priority != NO_PRIORITY:
            splits = ((id_of.get(text[:cut]), id_of.get(text[cut:])) for cut in range(1, len(text)))
            found += [(priority, left, right) for left, right in splits if left is not None and right is not None]
    return [(left, right) for _, left, right in sorted(found)]


def _numbers(names: Sequence[str], known: Mapping[str, int]) -> Int64s | None:
    numbers = np.array([known.get(name, NO_NUMBER) for name in names], np.int64)
    return None if np.array_equal(numbers, np.arange(len(numbers))) else numbers


def _notes(
    idle: Sequence[str], seeds: Sequence[NamedSymbol], found: Resolved, lacking: Sequence[str], style: Style
) -> list[str]:
    notes = []
    if idle:
        texts = listed([text.encode() for text in idle])
        notes.append(f"{len(idle):,} entries of the vocabulary are made by no merge and left out: {texts}.")
    if seeds:
        met = "met only where they are a whole word" if style.whole_words else "met in no text"
        texts = listed([text.encode() for text, _ in seeds])
        notes.append(f"{len(seeds):,} entries of the vocabulary are made by no merge, so they are {met}: {texts}.")
    if found.never_happen:
        notes.append(f"{found.never_happen:,} merges never happen, because another one makes the same text before.")
    if lacking and not style.drops_unknown:
        texts = listed([text.encode() for text in lacking])
        dropped = ", so they are left out of texts" if style.byte_level else ""
        notes.append(f"{len(lacking):,} base symbols have no number in the file{dropped}: {texts}.")
    return notes
