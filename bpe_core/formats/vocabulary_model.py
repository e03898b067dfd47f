"""Functions that make an alphabet and merges from the entries of a file, for formats like Hugging Face's.

A file lists texts with their ids, and the merges as pairs of texts. A text that no merge makes is a base symbol if it
is one byte or character. Any longer text that no merge makes is a seed. When a text is split, a seed can occur only as
a whole word, if at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats import byte_level, written_merges
from bpe_core.formats.base import NO_NUMBER, about, unless_ids
from bpe_core.formats.limitations import NEVER_HAPPEN
from bpe_core.formats.recovering import with_seeds
from bpe_core.formats.written_merges import PlacedMerges, WrittenMerges
from bpe_core.history.alphabet import STAYS_ALONE, Alphabet, Symbol, SymbolKind, symbols_for_unknown
from bpe_core.history.history import History, Int64s
from bpe_core.history.joining import NO_PRIORITY, MergePriorities, PairRows
from bpe_core.history.token_texts import written
from bpe_core.recipes.parts import UNKNOWN_TOKEN, Marker

NamedSymbol = tuple[str, Symbol]  # the text in the file, and the plain text


@dataclass(frozen=True)
class Style:
    """The facts about a file that do not follow from its merges, such as the marker and the treatment of unknown
    characters.
    """

    byte_level: bool = False
    marker: Marker = "none"
    marker_text: str = ""
    unknown: str = ""  # the text of the unknown token
    byte_fallback: bool = False  # unknown characters become bytes
    blank: str = ""  # the character that represents a blank in words
    whole_words: bool = False  # a word that is a token becomes that token
    joins_unknown: bool = False  # unknown neighbours become one token
    drops_unknown: bool = False  # unknown characters become no token at all
    unknown_bytes: bool = False  # each byte without a token becomes the unknown token
    continuing: str = ""  # the prefix of tokens that continue a word

    @property
    def raw_marker(self) -> bytes:
        """Return the bytes of the marker, as tokens contain them.

        A style whose tokens consist of bytes can write the marker in byte characters, such as `Ġ` for a space. Then
        return the bytes that these characters represent.
        """
        raw = byte_level.read(self.marker_text) if self.byte_level and self.marker_text else None
        try:
            return (raw or b"").decode().encode() or self.marker_text.encode()
        except UnicodeDecodeError:
            return self.marker_text.encode()

    @property
    def longest(self) -> int:
        """Return the largest number of characters in a base symbol."""
        return 1 + len(self.marker_text) * (self.marker == "glued")

    def symbols_among(self, texts: Iterable[str]) -> list[str]:
        """Return the texts that can be base symbols: the texts with a single character.

        A marker may follow the character. A prefix for the insides of words, such as `##`, may precede it.
        """
        longest = self.longest
        end = self.marker_text
        short = [text for text in texts if len(text) <= longest]
        symbols = [text for text in short if len(text) == 1 or (len(text) == longest and text.endswith(end))]
        return [*dict.fromkeys(symbols + self.continuing_among(texts))] if self.continuing else symbols

    def continuing_among(self, texts: Iterable[str]) -> list[str]:
        """Return the texts that consist of the prefix `continuing` and a single character, such as `##a`.

        This prefix marks the tokens that continue a word. A marker for the end of a word may follow the character.
        """
        mark = self.continuing
        plain = replace(self, continuing="")
        inside = [text for text in texts if mark and text.startswith(mark)]
        return [mark + text for text in plain.symbols_among(text.removeprefix(mark) for text in inside)]


def base_symbols(plain: Sequence[str], vocabulary: Mapping[str, int] | None, style: Style) -> list[NamedSymbol]:
    if not style.byte_level:
        return _characters(plain, style, is_complete=vocabulary is not None)
    known = set(style.symbols_among(plain)) if vocabulary is not None else set()
    symbols = _byte_symbols(known, vocabulary or {})
    if style.marker == "glued":
        symbols += _byte_symbols(known, vocabulary or {}, style.marker_text, style.raw_marker)
    return symbols


def raw_texts(text: str, style: Style) -> tuple[bytes, bytes] | None:
    """Return the bytes of a token in the file, and the bytes that it represents in a text.

    In the second text, a marker becomes a space or is removed. Return None if the token is empty, or if its characters
    should represent bytes but do not.
    """
    raw = byte_level.read(text) if style.byte_level else text.encode()
    if not raw:
        return None
    marker = style.raw_marker
    mark = style.continuing.encode()
    if style.marker == "glued" and raw.endswith(marker) and raw != marker:
        return raw, raw.removesuffix(marker).removeprefix(mark) + b" "
    if mark:
        return raw, raw.removeprefix(mark) or raw
    blank = (style.blank or (style.marker_text if style.marker == "prefix" else "")).encode()
    return raw, raw.replace(blank, b" ") if blank else raw


def _byte_symbols(
    known: set[str], vocabulary: Mapping[str, int], marker: str = "", end: bytes = b""
) -> list[NamedSymbol]:
    """Return the 256 bytes as base symbols with their texts, in the order of their ids.

    Bytes whose text is not in `known` come last. If `vocabulary` is empty, the bytes have the order of GPT-2.
    """
    texts = [text + marker for text in byte_level.stand_ins()]
    order = byte_level.stand_in_order()
    named = [(texts[byte], byte) for byte in order]
    if vocabulary:
        places = [(texts[byte] not in known, vocabulary.get(texts[byte], 0), place) for place, byte in enumerate(order)]
        named = [named[place] for _, _, place in sorted(places)]
    kind: SymbolKind = "glued" if marker else "byte"
    blank = b" " if marker else b""
    return [(text, Symbol(bytes([byte]) + end, bytes([byte]) + blank, kind)) for text, byte in named]


def _characters(plain: Sequence[str], style: Style, *, is_complete: bool) -> list[NamedSymbol]:
    marker = style.marker_text
    is_alone = style.marker in ("prefix", "symbol")  # the marker is a separate symbol
    single = [text for text in plain if len(text) == 1 and not (is_alone and text == marker)]
    glued = [text for text in style.symbols_among(plain) if len(text) == style.longest > 1 and text.endswith(marker)]
    known = set(single)
    if not is_complete:  # a vocabulary may have a symbol only at the ends of words; elsewhere it is unknown
        single += [text[0] for text in glued if text[0] not in known]
    symbols = _unknown(style)
    symbols += [(text, _symbol(text, " " if text == style.blank else text, "character")) for text in single]
    symbols += [(text, _symbol(text, text[0] + " ", "glued")) for text in glued]
    for text in style.continuing_among(plain):
        bare = text.removeprefix(style.continuing)
        symbols.append((text, _symbol(text, bare[0] + " " * (len(bare) > 1), "continuation")))
    return [*symbols, (marker, _symbol(marker, " ", "marker"))] if is_alone else symbols


def _symbol(text: str, decoded: str, kind: SymbolKind) -> Symbol:
    return Symbol(text.encode(), decoded.encode(), kind)


def _unknown(style: Style) -> list[NamedSymbol]:
    symbols = symbols_for_unknown("" if style.byte_fallback else style.unknown or UNKNOWN_TOKEN)
    is_left_out = style.drops_unknown and not style.byte_fallback  # the file has no such entry
    return [("" if is_left_out else symbol.text.decode(), symbol) for symbol in symbols]


__all__ = ["Model", "Style", "build"]


@dataclass(frozen=True, eq=False)
class Model:
    alphabet: Alphabet
    pairs: Int64s  # one row each
    numbers: Int64s | None  # ids of base symbols, merges and special tokens, if they differ from the indices
    notes: list[str]
    joining: MergePriorities | None = None  # for files whose merges alone do not say how texts are split


def build(
    vocabulary: Mapping[str, int] | None,
    merges: WrittenMerges,
    specials: Mapping[str, int],
    style: Style,
    where: str,
    pieces: Collection[str] = (),
    named: str = "",
) -> Model:
    """Make the model from the entries of a file. Without a vocabulary, all base symbols come from the merges.

    Parameters
    ----------
    vocabulary
        A dictionary from the text of each token to its id.
    merges
        The merges of the file.
    specials
        A dictionary from the text of each special token to its id.
    style
        The spelling of the tokens.
    where
        The place of a merge in errors, such as "merges.txt, line {}".
    pieces
        The special tokens that can be tokens inside a word.
    named
        The name of the separate file with the vocabulary, if there is one.
    """
    if vocabulary is None:
        made = dict.fromkeys(merges.made, NO_NUMBER)
        mentioned = sorted({*merges.left, *merges.right}.difference(made))
        entries: Mapping[str, int] = dict.fromkeys(mentioned, NO_NUMBER)
        texts = [*entries, *made]
    else:
        entries = vocabulary
        texts = [*vocabulary]
    number_at = np.append(np.fromiter(entries.values(), np.int64, len(entries)), NO_NUMBER)
    has_places = vocabulary is not None and np.array_equal(number_at[:-1], np.arange(len(entries)))
    placed = PlacedMerges(merges, texts, vocabulary if has_places else None)
    if not placed.are_known:
        raise _about_lacking(merges, entries, where, named)
    is_symbol = placed.mask_of(placed.places(style.symbols_among(texts)))
    alone = [text for text in specials if text not in pieces]
    is_special = placed.mask_of(placed.places(alone))
    is_part = placed.mask_of(placed.left, placed.right)
    # An entry that merges join, or that is one character, is a base symbol as well.
    is_plain = is_symbol | ~placed.mask_of(placed.made) & (~is_special | is_part)
    plain = [texts[place] for place in np.flatnonzero(is_plain[: len(entries)]).tolist()]
    symbols = base_symbols(plain, vocabulary, style)
    of_symbols = [text for text, _ in symbols]
    # if the unknown token and a character look alike, the character is meant
    base = {text: id for id, text in enumerate(of_symbols)}
    mergeable = {text: base[text] for text, symbol in symbols if symbol.kind not in STAYS_ALONE}
    resolved = placed.resolved_at_once(mergeable, len(symbols))
    has_twice = resolved is None and len(placed.last_of_each_pair) < len(merges)
    if resolved is None and (vocabulary is None or placed.are_in_order(mergeable)):
        resolved = written_merges.resolve(mergeable, len(symbols), merges, where)
    in_order = resolved is not None
    resolved = resolved or placed.resolved_in_turn(mergeable, len(symbols))
    made_at = placed.places(resolved.texts) if resolved.places is None else resolved.places
    is_known = placed.mask_of(placed.places(base), made_at, placed.places(alone))
    seeds = _seeds([texts[place] for place in np.flatnonzero(~is_known[: len(entries)]).tolist()], style)
    first = [*of_symbols, *(text for text, _ in seeds)]
    at = np.concatenate([placed.places(first), made_at])
    pairs = np.array(resolved.pairs, np.int64).reshape(-1, 2)
    pairs[pairs >= len(symbols)] += len(seeds)
    lacking = [id for id, text in enumerate(of_symbols) if vocabulary is not None and text not in vocabulary]
    numbers = None
    if vocabulary is not None:
        numbers = np.append(number_at[at], np.fromiter(specials.values(), np.int64, len(specials)))
        numbers[lacking] = specials[style.unknown] if style.unknown_bytes else NO_NUMBER
    idle = set(plain).difference(first)
    if idle:
        idle.difference_update(resolved.texts)
    is_told = in_order and not _says_more(lacking, style)
    unused = [text for text in plain if text in idle]
    return Model(
        alphabet=_alphabet([symbol for _, symbol in symbols], seeds, style),
        pairs=pairs,
        numbers=None if numbers is None else unless_ids(numbers),
        notes=[
            *_notes(unused, seeds, resolved.never_happen, [first[id] for id in lacking], style),
            *(written_merges.listed_twice(merges) if has_twice else ()),
        ],
        joining=None if is_told else _joining(placed.pair_rows(at), lacking, style),
    )


def _about_lacking(merges: WrittenMerges, vocabulary: Mapping[str, int], where: str, named: str) -> FormatError:
    lacking = (
        (text, place) for left, right, place in merges for text in (left, right, left + right) if text not in vocabulary
    )
    text, place = next(lacking)
    file = f", {named}: the two files belong to different tokenizers" if named else ""
    return FormatError(f"{where.format(place)}: the token {text[:80]!r} is not in the vocabulary{file}.")


def _seeds(texts: Sequence[str], style: Style) -> list[tuple[str, Symbol]]:
    """Make a seed for each text. A seed is an entry of the alphabet that no merge makes.

    Empty texts are left out. A text is also left out if its characters should represent bytes but do not.
    """
    raw = ((text, raw_texts(text, style)) for text in texts)
    return [(text, Symbol(*pair, "seed")) for text, pair in raw if pair is not None]


def _alphabet(symbols: Sequence[Symbol], seeds: Sequence[NamedSymbol], style: Style) -> Alphabet:
    plain_bytes = style.byte_level and style.marker == "none"
    alphabet = Alphabet.of_bytes([given.text[0] for given in symbols]) if plain_bytes else Alphabet(tuple(symbols))
    return with_seeds(alphabet, [(symbol.text, symbol.decoded) for _, symbol in seeds]) if seeds else alphabet


def _says_more(lacking: Sequence[int], style: Style) -> bool:
    return bool(_left_out(lacking, style)) or style.whole_words or style.joins_unknown or bool(style.continuing)


def _left_out(lacking: Sequence[int], style: Style) -> tuple[int, ...]:
    is_none = (style.byte_level and not style.unknown_bytes) or style.drops_unknown
    return tuple(lacking) if is_none else ()


def _joining(rows: PairRows, lacking: Sequence[int], style: Style) -> MergePriorities:
    return MergePriorities(
        pairs=rows, whole_words=style.whole_words, joins_unknown=style.joins_unknown, left_out=_left_out(lacking, style)
    )


def unknown_bytes(history: History) -> list[int]:
    """Return the indices of the bytes that share the id of the unknown token."""
    recipe = history.recipe
    numbers = history.numbers
    if numbers is None or recipe.base != "bytes" or recipe.unknown_text not in recipe.special_tokens:
        return []
    number = numbers[history.first_special + recipe.special_tokens.index(recipe.unknown_text)]
    return [id for id in range(len(history.alphabet.but_seeds)) if numbers[id] == number]


def joined_in_order(history: History) -> Int64s:
    """Return the pairs that are joined when a text is split, in the order in which they are joined.

    Each row holds the indices of two tokens.
    """
    joining = history.joining
    if joining is None:
        left, right = history.columns[:2]
        pairs: Int64s = np.stack([left, right], axis=1)[right >= 0].astype(np.int64)
        return pairs
    if joining.pairs is not None:
        return np.stack(joining.pairs[:2], axis=1)
    assert joining.priorities is not None
    texts = written(history)
    alone = set(joining.found_first)
    id_of = {text: id for id, text in reversed(list(enumerate(texts))) if id not in alone}
    joined: list[tuple[int, int, int]] = []
    for text, priority in zip(texts, joining.priorities.tolist(), strict=True):
        if priority != NO_PRIORITY:
            splits = ((id_of.get(text[:cut]), id_of.get(text[cut:])) for cut in range(1, len(text)))
            joined += [(priority, left, right) for left, right in splits if left is not None and right is not None]
    return np.array(sorted(joined), np.int64).reshape(-1, 3)[:, 1:]


def _notes(
    idle: Sequence[str], seeds: Sequence[NamedSymbol], never_happen: Sequence[str], lacking: Sequence[str], style: Style
) -> list[str]:
    met = "found only as a whole word" if style.whole_words else "found in no text"
    dropped = ", so they are left out of texts" if style.byte_level else ""
    dropped = f", so they become {style.unknown}" if style.unknown_bytes else dropped
    reports = [
        (idle, "tokens of the vocabulary are made by no merge, and are left out: {}"),
        ([text for text, _ in seeds], f"tokens of the vocabulary are made by no merge, so they are {met}: {{}}"),
        (never_happen, NEVER_HAPPEN),
        (() if style.drops_unknown else lacking, f"base symbols have no id in the file{dropped}: {{}}"),
    ]
    return [sentence for texts, said in reports if texts for sentence in about(texts, said)]
