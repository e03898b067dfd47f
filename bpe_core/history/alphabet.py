"""The base symbols that a vocabulary begins with. They have the first ids.

In an alphabet of bytes, the ids 0 to 255 are the bytes themselves. An alphabet of characters begins with `<unk>` or
with 256 symbols that stand for the bytes of unknown characters, as the recipe chooses. The characters of the corpus
follow, sorted by code point. Next comes a word marker, or symbols that include a marker: `w</w>`, or `##w` for a method
that distinguishes `h` and `##h`. If a method begins with whole pieces of words, these pieces come last. They are called
seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple, TypeVar, get_args, overload

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable, are_inside
from bpe_core.history.laid_texts import ArrayOfTexts
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Int32s, Int64s, repeat
from bpe_core.support.former_names import former_classes

Number = TypeVar("Number", bound=np.generic)
T = TypeVar("T")
SymbolKind = Literal["byte", "character", "marker", "glued", "unknown", "fallback", "continuation", "seed"]


_AS_THE_CHARACTER = -1  # the symbol for an unknown character covers all its bytes
STAYS_ALONE: tuple[SymbolKind, ...] = ("unknown", "fallback")  # kinds of symbols that merges never join
KINDS: tuple[SymbolKind, ...] = get_args(SymbolKind)
NUMBER_OF_KIND = dict(zip(KINDS, range(len(KINDS)), strict=True))
_STAYS_ALONE = np.array([kind in STAYS_ALONE for kind in KINDS])
Int8s = npt.NDArray[np.int8]


class Symbol(NamedTuple):
    """A base symbol: its written form, and the bytes that it represents when ids are decoded."""

    text: bytes  # the form in tables and for tie rules: b"w</w>"
    decoded: bytes  # the form in decoded text: b"w "
    kind: SymbolKind

    @property
    def merges(self) -> bool:
        """Return whether a merge may join this symbol. A symbol for unknown characters is never joined."""
        return self.kind not in STAYS_ALONE


class RawTexts(ArrayOfTexts[bytes]):
    """A sequence of bytes objects that are stored in one array.

    >>> texts = RawTexts.of([b"low", b"", b"er"])
    >>> texts[2], [*texts.only(np.array([2, 0]))], texts.lengths.tolist()
    (b'er', [b'er', b'low'], [3, 0, 2])
    """

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> RawTexts:
        starts = np.fromiter(accumulate(map(len, texts), initial=0), np.int64, len(texts) + 1)
        return cls(np.frombuffer(b"".join(texts), np.uint8), starts)

    def read_one(self, data: bytes) -> bytes:
        return data

    @cached_property
    def all_read(self) -> list[bytes]:
        together = self.data.tobytes()
        return [together[start:end] for start, end in pairwise(self.starts.tolist())]

    @property
    def lengths(self) -> Int64s:
        return np.diff(self.starts)

    def without_beginnings(self, which: Int64s, length: int) -> RawTexts:
        """Return a copy in which the texts with the indices `which` lack their first `length` bytes."""
        stays = np.ones(len(self.data), np.bool_)
        for place in range(length):
            stays[self.starts[which] + place] = False
        widths = np.diff(self.starts)
        widths[which] -= length
        return RawTexts(self.data[stays], np.concatenate((np.zeros(1, np.int64), np.cumsum(widths))))

    def followed_by(self, more: RawTexts) -> RawTexts:
        starts = np.concatenate((self.starts[:-1], more.starts + self.starts[-1]))
        return RawTexts(np.concatenate((self.data, more.data)), starts)


class LaidSymbols(Sequence[Symbol]):
    """A sequence of base symbols that are stored in arrays.

    The arrays make it fast to open a file with very many symbols. A `Symbol` object is made only when it is read.

    >>> symbols = LaidSymbols.of([Symbol(b"w</w>", b"w ", "glued"), Symbol(b"a", b"a", "character")])
    >>> symbols[1].text, [symbol.kind for symbol in symbols]
    (b'a', ['glued', 'character'])
    """

    def __init__(self, texts: RawTexts, decoded: RawTexts, kinds: Int8s) -> None:
        self.texts = texts
        self.decoded = decoded
        self.kinds = kinds  # numbers of `KINDS`

    @classmethod
    def of(cls, symbols: Sequence[Symbol]) -> LaidSymbols:
        if isinstance(symbols, LaidSymbols):
            return symbols
        return cls(
            RawTexts.of([symbol.text for symbol in symbols]),
            RawTexts.of([symbol.decoded for symbol in symbols]),
            np.array([NUMBER_OF_KIND[symbol.kind] for symbol in symbols], np.int8),
        )

    def __len__(self) -> int:
        return len(self.kinds)

    @overload
    def __getitem__(self, place: int) -> Symbol: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Symbol, ...]: ...

    def __getitem__(self, place: int | slice) -> Symbol | tuple[Symbol, ...]:
        if isinstance(place, slice) and place.step is None and "_symbols" not in self.__dict__:
            return self._part(*place.indices(len(self))[:2])
        return self._symbols[place]

    def __iter__(self) -> Iterator[Symbol]:
        return iter(self._symbols)

    def followed_by(self, more: LaidSymbols) -> LaidSymbols:
        return LaidSymbols(
            self.texts.followed_by(more.texts),
            self.decoded.followed_by(more.decoded),
            np.concatenate((self.kinds, more.kinds)),
        )

    def is_same(self, other: LaidSymbols) -> bool:
        are_alike = self.texts == other.texts and self.decoded == other.decoded
        return are_alike and np.array_equal(self.kinds, other.kinds)

    @cached_property
    def _symbols(self) -> tuple[Symbol, ...]:
        return self._part(0, len(self))

    def _part(self, first: int, stop: int) -> tuple[Symbol, ...]:
        texts, decoded = (
            RawTexts(column.data, column.starts[first : max(first, stop) + 1]) for column in (self.texts, self.decoded)
        )
        kinds = map(KINDS.__getitem__, self.kinds[first:stop].tolist())
        return tuple(map(Symbol, texts.all_read, decoded.all_read, kinds))


class SpelledSeeds(NamedTuple):
    """The concatenated base symbols of all seeds. A seed is a piece of a word with which a method begins."""

    symbols: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]  # the first index of each seed, and the end of the last

    def only(self, chosen: npt.NDArray[np.int64] | npt.NDArray[np.int32]) -> SpelledSeeds:
        lengths = np.diff(self.starts)[chosen]
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        cells = np.arange(int(starts[-1])) + repeat(self.starts[chosen] - starts[:-1], lengths)
        return SpelledSeeds(self.symbols[cells], starts)

    def joined(self, parts: list[bytes]) -> list[bytes]:
        """Return the text of each seed. `parts` holds the text of each base symbol."""
        widths = np.fromiter(map(len, parts), np.int64, len(parts))
        written = np.frombuffer(b"".join(parts), np.uint8)
        before = np.cumsum(widths)[self.symbols]
        width = widths[self.symbols]
        ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(width)))
        together = written[np.arange(int(ends[-1])) + repeat(before - ends[1:], width)].tobytes()
        borders = ends[self.starts].tolist()
        return [together[start:end] for start, end in pairwise(borders)]


@dataclass(frozen=True, eq=False)
class Alphabet:
    """The base symbols of a vocabulary in the order of their ids.

    The last of them may be seeds: pieces of words with which a method begins. There may be many seeds, so their texts
    are computed when they are first needed.
    """

    given: Sequence[Symbol]
    spelled: SpelledSeeds | None = None  # the seeds, which come last

    def kept(self, what: object, make: Callable[[], T]) -> T:
        """Return a result that depends only on this alphabet.

        The first call with the key `what` computes the result with `make` and stores it. Later calls return the stored
        result.
        """
        if what not in self._kept:
            self._kept[what] = make()
        result: T = self._kept[what]
        return result

    @cached_property
    def _kept(self) -> dict[object, Any]:
        return {}

    def __len__(self) -> int:
        return len(self.given) + (0 if self.spelled is None else len(self.spelled.starts) - 1)

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Alphabet) or len(self) != len(other):
            return self is other
        if self.spelled is None and other.spelled is None:
            return LaidSymbols.of(self.given).is_same(LaidSymbols.of(other.given))
        return self.symbols == other.symbols

    def __hash__(self) -> int:
        return hash((self.but_seeds, len(self)))

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        if self.spelled is None:
            return tuple(self.given)
        first = len(self.given)
        seeds = zip(self.texts[first:], self.decoded[first:], strict=True)
        return (*self.given, *(Symbol(text, decoded, "seed") for text, decoded in seeds))

    @cached_property
    def texts(self) -> list[bytes]:
        given = self._given_texts
        return given if self.spelled is None else given + self.spelled.joined(given)

    @cached_property
    def _given_texts(self) -> list[bytes]:
        given = self.given
        return given.texts.all_read if isinstance(given, LaidSymbols) else [symbol.text for symbol in given]

    @cached_property
    def _given_decoded(self) -> list[bytes]:
        given = self.given
        return given.decoded.all_read if isinstance(given, LaidSymbols) else [symbol.decoded for symbol in given]

    @cached_property
    def decoded(self) -> list[bytes]:
        """Return the bytes that each symbol represents. Do not change the list."""
        given = self._given_decoded
        return given if self.spelled is None else given + self.spelled.joined(given)

    def texts_of_seeds(self, ids: npt.NDArray[np.int64]) -> list[bytes]:
        if self.spelled is None or "texts" in self.__dict__:
            return [self.texts[id] for id in ids.tolist()]
        return self.spelled.only(ids - len(self.given)).joined(self._given_texts)

    @cached_property
    def merging(self) -> list[bool]:
        """Return a list of booleans, which say whether a merge may join each symbol. Do not change the list."""
        merges: list[bool] = (~_STAYS_ALONE[self._kinds]).tolist()
        return merges + [True] * (len(self) - len(self.given))

    @cached_property
    def _kinds(self) -> Int8s:
        """Return the kind of each symbol in `given` as an index in `KINDS`."""
        given = self.given
        if isinstance(given, LaidSymbols):
            return given.kinds
        return np.array([NUMBER_OF_KIND[symbol.kind] for symbol in given], np.int8)

    def ids_of_kinds(self, *kinds: SymbolKind) -> list[int]:
        """Return the ids of the symbols in `given` that have one of these kinds. Seeds in `spelled` are left out."""
        ids: list[int] = np.flatnonzero(np.isin(self._kinds, list(map(NUMBER_OF_KIND.__getitem__, kinds)))).tolist()
        return ids

    @cached_property
    def seed_count(self) -> int:
        return int(np.count_nonzero(self._kinds == NUMBER_OF_KIND["seed"])) + len(self) - len(self.given)

    @property
    def but_seeds(self) -> tuple[Symbol, ...]:
        return tuple(self.given[: len(self) - self.seed_count])

    @cached_property
    def id_of_piece(self) -> dict[bytes, int]:
        """Return a map from text to id for each byte, each character, and each symbol with a marker such as `w</w>`.

        The marker itself is not in the map. So a word with the same text as the marker does not get the marker's id.
        """
        texts = self._given_texts
        return {texts[id]: id for id in self.ids_of_kinds("byte", "character", "glued")}

    @cached_property
    def id_of_continuation(self) -> dict[bytes, int]:
        """Return the ids of the symbols that represent characters inside a word, after its first character.

        The keys are the characters. The dictionary is empty if the alphabet has no separate symbols for such
        characters.

        Some alphabets have separate symbols for the last character of a word. For such a symbol, the key is the
        character with a space after it.
        """
        ids = self.ids_of_kinds("continuation")
        decoded = self._given_decoded if ids else []
        return {decoded[id]: id for id in ids}

    @cached_property
    def continuing(self) -> bytes:
        """Return the prefix of tokens that continue a word, such as `##`.

        The prefix is removed when tokens are joined.
        """
        ids = self.ids_of_kinds("continuation", "seed")
        pairs = ((self._given_texts[id], self._given_decoded[id]) for id in ids)
        marked = (text.removesuffix(read) for text, read in pairs if text != read and text.endswith(read))
        return next(marked, b"")

    def joined_text(self, left: bytes, right: bytes) -> bytes:
        """Return the text of the token that joins two tokens, such as `lo` for `l` and `##o`."""
        return left + right.removeprefix(self.continuing)

    @cached_property
    def marker_id(self) -> int | None:
        """Return the index of the word marker. Return None if the alphabet has no separate symbol for the marker."""
        return next(iter(self.ids_of_kinds("marker")), None)

    @cached_property
    def unknown_id(self) -> int | None:
        return next(iter(self.ids_of_kinds("unknown")), None)

    @cached_property
    def first_fallback_id(self) -> int | None:
        return next(iter(self.ids_of_kinds("fallback")), None)

    @cached_property
    def idle_fallbacks(self) -> frozenset[int]:
        """Return the ids of the fallback bytes that never occur in an encoded text.

        A fallback byte represents a byte of an unknown character. Some bytes never occur in UTF-8. An ASCII byte is
        never needed as a fallback if its character is a symbol.
        """
        first = self.first_fallback_id
        known = self.id_of_piece
        idle = (byte for byte in range(256) if byte in NOT_IN_UTF8 or (byte < 0x80 and bytes([byte]) in known))
        return frozenset() if first is None else frozenset(first + byte for byte in idle)

    @cached_property
    def is_plain_bytes(self) -> bool:
        """Return whether the base symbols are exactly the 256 bytes, and the id of each symbol is its byte."""
        return self.spelled is None and len(self.given) == 256 and tuple(self.given) == _PLAIN_BYTES.given

    @classmethod
    def of_bytes(cls, order: Sequence[int] = range(256)) -> Alphabet:
        """Return the alphabet of the 256 bytes. `order` lists the bytes in the order of their ids."""
        if list(order) == list(range(256)):
            return _PLAIN_BYTES
        return cls(tuple([Symbol(bytes([byte]), bytes([byte]), "byte") for byte in order]))

    @classmethod
    def for_words(cls, words: WordTable, recipe: Recipe) -> Alphabet:
        """Return the alphabet with which a recipe's training on these words begins."""
        if recipe.lists_bytes:
            return cls((*unknown_symbols(recipe), *_PLAIN_BYTES.symbols))
        if recipe.base == "bytes" and recipe.marker in ("none", "continuation"):
            return _PLAIN_BYTES
        if recipe.base == "bytes":
            symbols = list(_PLAIN_BYTES.symbols)
            pieces = [bytes([i]) for i in range(256)]
        else:
            symbols = unknown_symbols(recipe)
            pieces = _kept_characters(words, recipe)
            symbols += [Symbol(piece, piece, "character") for piece in pieces]
        return cls(tuple(symbols + _marker_symbols(words, recipe, set(pieces))))

    @classmethod
    def with_continuations(cls, words: WordTable, recipe: Recipe) -> Alphabet:
        """Return an alphabet with separate symbols for characters at the beginning of a word and inside a word."""
        plain = cls.for_words(words, recipe)
        marker = recipe.marker_text.encode()
        if recipe.lists_bytes:
            return plain
        inside = [piece for piece in _characters_inside(words) if piece in plain.id_of_piece]
        return cls((*plain.symbols, *(Symbol(marker + piece, piece, "continuation") for piece in inside)))

    def symbols_of(self, word: bytes, recipe: Recipe) -> list[int]:
        """Return the indices of a word's base symbols in the alphabet, including the marker.

        >>> from bpe_core.counting.words import WordTable
        >>> recipe = Recipe.preset("words", marker="symbol")
        >>> alphabet = Alphabet.for_words(WordTable.from_counts({"aab": 1}), recipe)
        >>> [alphabet.symbols[i].text for i in alphabet.symbols_of(b"ab", recipe)]
        [b'a', b'b', b'</w>']
        """
        pieces = _pieces(word, recipe)
        if self.id_of_continuation and len(pieces) > 1:
            assert self.unknown_id is not None
            inside = pieces[1:]
            inside[-1] += b" " * (recipe.marker == "glued")
            return self._ids_of_piece(pieces[0], pieces[0]) + [
                self.id_of_continuation.get(piece, self.unknown_id) for piece in inside
            ]
        glued = pieces.pop() if recipe.marker == "glued" and pieces else None
        ids = [id for piece in pieces for id in self._ids_of_piece(piece, piece)]
        if glued is not None:
            ids += self._ids_of_piece(glued + recipe.marker_text.encode(), glued)
        if self.marker_id is None:
            return ids
        return [self.marker_id, *ids] if recipe.marker == "prefix" else [*ids, self.marker_id]

    def _ids_of_piece(self, text: bytes, raw: bytes) -> list[int]:
        known = self.id_of_piece.get(text)
        if known is not None:
            return [known]
        if self.first_fallback_id is not None:
            return [self.first_fallback_id + byte for byte in raw]
        assert self.unknown_id is not None  # every alphabet of characters has an unknown token or fallback bytes
        return [self.unknown_id]


def _pieces(word: bytes, recipe: Recipe) -> list[bytes]:
    if recipe.base == "bytes":
        return [bytes([byte]) for byte in word]
    return [character.encode() for character in word.decode()]


NOT_IN_UTF8 = frozenset((0xC0, 0xC1, *range(0xF5, 0x100)))  # bytes that no character has
BYTE_TEXTS = tuple(f"<0x{byte:02X}>" for byte in range(256))  # how bytes that stand for unknown characters are written


def unknown_symbols(recipe: Recipe) -> list[Symbol]:
    """Return the symbols that represent a character outside the alphabet of a recipe."""
    return symbols_for_unknown("" if recipe.unknown == "bytes" else recipe.unknown_text)


def symbols_for_unknown(text: str) -> list[Symbol]:
    """Return a list with a symbol for unknown characters, whose text is `text`.

    If the text is empty, return the 256 fallback bytes.
    """
    if not text:
        return [Symbol(text.encode(), bytes([byte]), "fallback") for byte, text in enumerate(BYTE_TEXTS)]
    return [Symbol(text.encode(), text.encode(), "unknown")]


def _kept_characters(words: WordTable, recipe: Recipe) -> list[bytes]:
    counts = np.zeros(128, np.int64)
    ends = np.cumsum(words.lengths_in_characters())
    done = 0
    for code_points in words.code_points():
        counts = _with_room(counts, code_points)
        word_of_each = np.searchsorted(ends, np.arange(done, done + len(code_points)), side="right")
        np.add.at(counts, code_points, words.counts[word_of_each])
        done += len(code_points)
    seen = np.flatnonzero(counts)
    most_frequent = seen[np.argsort(-counts[seen], kind="stable")][: recipe.alphabet_limit]
    return [chr(code_point).encode() for code_point in sorted(most_frequent.tolist())]


def _characters_inside(words: WordTable) -> list[bytes]:
    """Return the characters that occur inside words, not only at their beginning."""
    occurs = np.zeros(128, np.bool_)
    done = 0
    ends = np.cumsum(words.lengths_in_characters())
    for code_points in words.code_points():
        occurs = _with_room(occurs, code_points)
        occurs[code_points[are_inside(ends, done, len(code_points))]] = True
        done += len(code_points)
    return [chr(code_point).encode() for code_point in np.flatnonzero(occurs).tolist()]


def _with_room(array: npt.NDArray[Number], code_points: npt.NDArray[np.uint32]) -> npt.NDArray[Number]:
    """Return the array, enlarged with zeros if it has no element for one of the given code points.

    The array grows only as needed, because an array for all code points of Unicode would slow down small corpora.
    """
    missing = int(code_points.max(initial=0)) + 1 - len(array)
    return array if missing <= 0 else np.pad(array, (0, missing))


def _marker_symbols(words: WordTable, recipe: Recipe, pieces: set[bytes]) -> list[Symbol]:
    marker = recipe.marker_text.encode()
    if recipe.marker in ("symbol", "prefix"):
        return [Symbol(marker, b" ", "marker")]
    if recipe.marker == "glued":
        # Any byte may end a word that is encoded later; only characters that ended a word in the corpus get an id.
        last = pieces if recipe.base == "bytes" else {_pieces(word, recipe)[-1] for word, _ in words} & pieces
        return [Symbol(piece + marker, piece + b" ", "glued") for piece in sorted(last)]
    return []


# --- The base symbols of a word -------------------------------------------------------------


class Spelling:
    """A converter from words to base symbols. It follows the alphabet and the recipe."""

    def __init__(self, alphabet: Alphabet, recipe: Recipe) -> None:
        self._alphabet = alphabet
        self._recipe = recipe
        self._is_plain_bytes = self._alphabet.is_plain_bytes and self._recipe.marker in ("none", "continuation")

    @cached_property
    def _widths(self) -> list[int]:
        return self._alphabet.kept("widths", lambda: list(map(_width, self._alphabet.symbols)))

    @property
    def joins_bytes(self) -> bool:
        """Return whether every base symbol is one byte."""
        is_of_bytes = self._recipe.base == "bytes" and self._recipe.marker == "none"
        return is_of_bytes and all(len(text) == 1 for text in self._alphabet.decoded)

    @cached_property
    def symbol_of_byte(self) -> Int32s | None:
        """Return the symbol of each of the 256 bytes.

        Return None if a symbol depends on its place in the word, or covers several bytes.
        """
        if self._recipe.base != "bytes" or self._recipe.marker not in ("none", "continuation"):
            return None
        return np.array([self._alphabet.id_of_piece[bytes([byte])] for byte in range(256)], np.int32)

    def symbols(self, word: bytes) -> list[int]:
        return list(word) if self._is_plain_bytes else self._alphabet.symbols_of(word, self._recipe)

    def widths(self, word: bytes, symbols: list[int]) -> list[int]:
        """Return the number of bytes that each symbol covers in the word. A marker covers no byte.

        >>> from bpe_core.recipes.recipe import Recipe
        >>> from bpe_core.counting.words import WordTable
        >>> recipe = Recipe.preset("words", marker="symbol")
        >>> alphabet = Alphabet.for_words(WordTable.from_counts({"né": 1}), recipe)
        >>> spelling = Spelling(alphabet, recipe)
        >>> word = "né漢".encode()
        >>> spelling.widths(word, spelling.symbols(word))  # n, é, <unk>, </w>
        [1, 2, 3, 0]
        """
        if self._is_plain_bytes:
            return [1] * len(symbols)
        widths: list[int] = []
        place = 0
        for symbol in symbols:
            width = self._widths[symbol]
            if width == _AS_THE_CHARACTER:
                width = _character_width(word[place])
            widths.append(width)
            place += width
        return widths


def _width(symbol: Symbol) -> int:
    if symbol.kind == "unknown":
        return _AS_THE_CHARACTER
    if symbol.kind == "marker":
        return 0
    if symbol.kind == "character":  # the character may stand for a blank
        return len(symbol.text)
    # A blank behind the character belongs to the marker. A symbol inside a word may end the word, too.
    ends_word = symbol.kind == "glued" or (symbol.kind == "continuation" and len(symbol.decoded) > 1)
    return len(symbol.decoded) - (ends_word and symbol.decoded.endswith(b" "))


def _character_width(lead: int) -> int:
    return 1 + (lead >= 0x80) + (lead >= 0xE0) + (lead >= 0xF0)


_PLAIN_BYTES = Alphabet(tuple(Symbol(bytes([i]), bytes([i]), "byte") for i in range(256)))

__getattr__ = former_classes(__name__, Spelled="SpelledSeeds")
