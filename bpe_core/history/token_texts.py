r"""The texts of tokens, as bytes and as readable text.

Each merge may double the length of a text, so the text of a token made by 27 merges can be 134 MB long. Therefore
lengths are computed without texts. Whole texts are made only within a limit of memory, and readable texts are
shortened.

>>> shown(b" the\n"), shown("né".encode()[:2]), shown("␣".encode())
('␣the⏎', 'n<0xC3>', '<0xE2><0x90><0xA3>')
>>> parse_shown("␣the⏎"), parse_shown(" the<0x0A>")
(b' the\n', b' the\n')
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from bpe_core.errors import BpeError, FormatError, TooLarge
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.columns import MOST_LENGTH
from bpe_core.history.history import History, Int64s, Pair
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.escaped_bytes import escape, unescape
from bpe_core.support.limits import check_room
from bpe_core.support.result_cache import cached
from bpe_core.support.wording import count_text

HEAD = 16  # bytes, compared as two numbers, in which nearly all tokens differ


def ranks(texts: Sequence[bytes]) -> npt.NDArray[np.int64]:
    """Return the rank of each text among the sorted texts. Equal texts have the same rank."""
    heads = np.array(texts, f"S{HEAD}").view(">u8").reshape(len(texts), 2).astype(np.uint64)
    order = np.lexsort((heads[:, 1], heads[:, 0]))
    in_order = heads[order]
    tied = np.zeros(len(texts) + 1, np.int8)
    tied[1:-1] = (in_order[1:] == in_order[:-1]).all(axis=1)
    is_new = tied[:-1] == 0
    starts = np.flatnonzero(np.diff(tied) > 0)
    stops = np.flatnonzero(np.diff(tied) < 0) + 1
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        some = sorted(order[start:stop].tolist(), key=texts.__getitem__)
        order[start:stop] = some
        is_new[start + 1 : stop] = [texts[after] != texts[before] for before, after in pairwise(some)]
    rank_of_text = np.empty(len(texts), np.int64)
    rank_of_text[order] = np.cumsum(is_new) - 1
    return rank_of_text


T = TypeVar("T")

BUDGET = 2**29  # bytes of all texts that are joined for one purpose; only a malicious table needs more
LONGEST_SHOWN = 4_096  # bytes; they fit into a cell of a spreadsheet, which holds 32,767 characters
SHORTEST_SHOWN = 64  # bytes of each further token once the budget is used up
LONGEST_QUOTED = 60  # characters of a token in a sentence
CUT_OFF = "…"

BLANK = "␣"
NEWLINE = "⏎"
TAB = "⇥"
_OURS = frozenset((BLANK, NEWLINE, TAB))
_SIGNS = str.maketrans({" ": BLANK} | {sign: "".join(f"<0x{byte:02X}>" for byte in sign.encode()) for sign in _OURS})
_MEANT = str.maketrans({BLANK: " ", NEWLINE: "\n", TAB: "\t"})


# --- For a user -----------------------------------------------------------------------


def shown(raw: bytes, longest: int = LONGEST_SHOWN) -> str:
    """Return bytes as text without invisible characters, shortened to `longest` bytes.

    A space, a newline and a tab are each replaced by a visible character. Other invisible characters are escaped. If
    the three visible characters occur in the text itself, they are escaped too.
    """
    if len(raw) > longest:
        return shown(raw[:longest]) + CUT_OFF
    text = raw.decode(errors="surrogateescape")
    if text.isprintable() and "<0x" not in text and "<#" not in text and (text.isascii() or _OURS.isdisjoint(text)):
        return text.replace(" ", BLANK)  # a fast way for nearly all tokens
    return escape(raw).translate(_SIGNS).replace("<0x0A>", NEWLINE).replace("<0x09>", TAB)


def with_names(recipe: Recipe, write: Callable[[bytes], str] = shown) -> Callable[[bytes], str]:
    """Return a function that converts the bytes of a token to readable text, like `write`. If the base symbols of the
    recipe have names, the text consists of these names.
    """
    names = recipe.names
    return (lambda raw: names.shown(write(raw))) if recipe.base_symbols else write


def parse_shown(text: str) -> bytes:
    """Return the bytes of a text that `shown` returned. Raise ValueError if it contains half of a surrogate pair."""
    return unescape(text.translate(_MEANT))


def quoted(text: bytes | str) -> str:
    raw = text.encode("utf-8", "replace") if isinstance(text, str) else text
    text = shown(raw[: 4 * LONGEST_QUOTED])
    return f"“{text[:LONGEST_QUOTED]}{CUT_OFF if len(text) > LONGEST_QUOTED else ''}”"


class TokenTexts:
    """The texts of all tokens, as bytes and as readable text. One thread may add tokens while other threads read."""

    def __init__(
        self,
        alphabet: Alphabet,
        write: Callable[[bytes], str] = shown,
        longest: int = LONGEST_SHOWN,
        *,
        decoded: bool = False,
    ) -> None:
        self.base = len(alphabet)
        self.text: list[str] = []
        self.raw: list[bytes] = []  # the shown bytes of each token
        self.lengths: list[int] = []  # full lengths in bytes, without a word marker
        self._cut_off = set[int]()
        self._continuing = b"" if decoded else alphabet.continuing
        self._write = write
        self._longest = longest
        self._room = BUDGET
        self._places: Int64s = np.zeros(0, np.int64)
        for text, stands_for in zip(alphabet.decoded if decoded else alphabet.texts, alphabet.decoded, strict=True):
            self._enter(text, len(stands_for))
        for id, symbol in enumerate(alphabet.symbols if write is shown else ()):
            if symbol.kind == "fallback":  # the alphabet already writes these as `<0xC3>`
                self.text[id] = symbol.text.decode()

    @classmethod
    def of(cls, history: History, write: Callable[[bytes], str] = shown, longest: int = LONGEST_SHOWN) -> TokenTexts:
        """Return the texts of all tokens of a finished history. Special tokens are included."""
        texts = cls(history.alphabet, with_names(history.recipe, write), longest)
        texts.grow(history)
        for special in history.recipe.special_tokens:
            texts._enter(special.encode(), len(special.encode()))
        return texts

    def grow(self, history: History, at_once: int = 1_000, between: Callable[[], None] = lambda: None) -> None:
        """Add the new tokens of a history in parts of `at_once` tokens. `between` is called before each part."""
        for start in range(len(self.raw) - self.base, history.first_special - self.base, at_once):
            between()
            self.add(history.pairs(start, start + at_once))

    def add(self, pairs: Iterable[Pair]) -> None:
        """Add a token for each of the given pairs. The token joins the pair.

        >>> texts = TokenTexts(Alphabet.of_bytes(), longest=4)
        >>> texts.add([(97, 98), (256, 256), (257, 32)])  # a+b, ab+ab, abab and a blank
        >>> texts.text[256:], texts.lengths[256:]
        (['ab', 'abab', 'abab…'], [2, 4, 5])
        """
        lengths = self.lengths
        texts = self.text
        raws = self.raw
        cut_off = self._cut_off
        longest = self._longest
        room = self._room
        continuing = self._continuing
        for left, right in pairs:
            raw = raws[left] + (raws[right].removeprefix(continuing) if continuing else raws[right])
            if len(raw) > longest or left in cut_off or right in cut_off:
                raw = raw[:longest]
                cut_off.add(len(texts))
                texts.append(self._write(raw) + CUT_OFF)
            else:
                texts.append(self._write(raw))
            lengths.append(min(lengths[left] + lengths[right], MOST_LENGTH))
            raws.append(raw)
            room -= len(raw)
            if room < 0:
                longest = min(longest, SHORTEST_SHOWN)
        self._longest = longest
        self._room = room

    def _enter(self, text: bytes, length: int) -> None:
        kept = text[: self._longest]
        if len(kept) < len(text):
            self._cut_off.add(len(self.text))
        self.text.append(self._write(kept) + (CUT_OFF if len(kept) < len(text) else ""))
        self.lengths.append(length)
        self.raw.append(kept)

    def id_of(self, text: str) -> int | None:
        """Return the index of the oldest token with this text. Return None if there is no such token.

        The text may be written as `shown` writes it, with visible characters for spaces.
        """
        try:
            raw = parse_shown(text)
        except ValueError:
            return None
        if raw in self.raw:
            return self.raw.index(raw)
        return self.text.index(text) if text in self.text else None  # a name of a symbol that is no text

    def places(self, tokens: int) -> Int64s:
        """Return the position of each of the first `tokens` tokens in the order of their bytes.

        If an earlier call has sorted more tokens, return the positions from that call. They give the same order.
        """
        if len(self._places) < tokens:
            self._places = ranks(self.raw[:tokens])
        return self._places

    @property
    def cut_off(self) -> list[int]:
        return sorted(self._cut_off)


# --- Whole texts ------------------------------------------------------------------------


def is_text(raw: bytes) -> bool:
    """Return whether the bytes are valid UTF-8."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def written(history: History) -> list[bytes]:
    """Return the whole text of each token with its word marker. Special tokens are left out."""
    alphabet = history.alphabet
    if not len(history):
        return [*alphabet.texts]
    return [*of_tokens("written", history, lambda: _put_together(history, alphabet.texts, alphabet.continuing))]


def decoded(history: History) -> list[bytes]:
    """Return the bytes that each token represents. Special tokens are left out."""
    alphabet = history.alphabet
    if alphabet.decoded == alphabet.texts and not alphabet.continuing:
        return written(history)
    return [*of_tokens("decoded", history, lambda: _put_together(history, alphabet.decoded, b""))]


def _put_together(history: History, symbols: Sequence[bytes], continuing: bytes) -> list[bytes]:
    texts = [*symbols]
    size = 0
    for left, right in history.pairs():
        text = texts[left] + (texts[right].removeprefix(continuing) if continuing else texts[right])
        size += len(text)
        if size > BUDGET:
            check_total_size(size)
        texts.append(text)
    return texts


def check_total_size(size: int) -> None:
    """Raise TooLarge if texts of `size` bytes in all are larger than the limit of memory for whole texts."""
    if size > BUDGET:
        raise TooLarge(
            f"The tokens have more than {BUDGET:,} bytes in all; this program can show only their beginnings."
        )


def of_tokens(what: object, history: History, find: Callable[[], T]) -> T:
    """Return the result of `find`, and store it in a cache under the key `what`.

    The result must depend only on the base symbols of a history and on the pairs that it joins. For a second
    history with the same base symbols and pairs, the cached result is returned.
    """
    return cached(what, history, find, _have_same_tokens)


def _have_same_tokens(history: History, other: History) -> bool:
    pairs = zip(history.columns[:2], other.columns[:2], strict=True)
    return all(np.array_equal(*halves) for halves in pairs) and history.alphabet == other.alphabet


class TokenBytes(dict[int, bytes]):
    """A dictionary from token indices to the bytes that the tokens represent. They are computed when first needed."""

    def __init__(self, history: History) -> None:
        super().__init__(enumerate(history.alphabet.decoded))
        self._history = history
        specials = history.recipe.special_tokens
        self.update((history.first_special + j, token.encode()) for j, token in enumerate(specials))
        self._room = BUDGET
        self._longest = max(map(len, self.values()), default=0)
        self._puts_blanks = bool(history.alphabet.continuing)  # between words

    def __missing__(self, id: int) -> bytes:
        if not 0 <= id < self._history.index_count:
            raise BpeError(f"There is no token {id:,}; the ids go from 0 to {self._history.index_count - 1:,}.")
        length = int(self._lengths[id])
        if length > self._room:
            raise TooLarge(
                f"Token {id:,} is longer than the {count_text(self._room, 'byte')} that are left for the texts "
                "of tokens."
            )
        self._room -= length
        self._longest = max(self._longest, length)
        text = self[id] = self._put_together(id)
        return text

    def _put_together(self, id: int) -> bytes:
        """Join the bytes of a token's parts, and return them.

        If a part occurs twice, its bytes are computed only once.
        """
        text = bytearray()
        place_of: dict[int, int] = {}
        waiting = [id]
        while waiting:
            token = waiting.pop()
            known = self.get(token)
            place = place_of.get(token)
            if known is not None:
                text += known
            elif place is not None:
                text += text[place : place + int(self._lengths[token])]
            else:
                place_of[token] = len(text)
                parts = self._history.parts(token)
                assert parts is not None  # all other parts are known
                waiting += reversed(parts)
        return bytes(text)

    def _continues(self, id: int) -> bool:
        while (parts := self._history.parts(id)) is not None:
            id = parts[0]
        symbols = self._history.alphabet.symbols
        return id < len(symbols) and symbols[id].text != symbols[id].decoded

    @cached_property
    def _lengths(self) -> Int64s:
        return self._history.token_lengths([len(self[id]) for id in range(len(self._history.alphabet))])

    def joined(self, ids: Iterable[int]) -> bytes:
        """Return the joined bytes of several tokens.

        If tokens inside words have a marker such as `##`, a space is put before each token that begins a word.
        """
        return self._join(self._parts(ids))

    def with_places(self, ids: Sequence[int]) -> tuple[bytes, Int64s]:
        """Return the joined bytes of several tokens, and the offset of each token in them.

        Some tokenizers put a space before a token. The offset is then the offset after this space.
        """
        parts = self._parts(ids)
        ends = np.fromiter(accumulate(map(len, parts)), np.int64, len(parts))
        return self._join(parts), ends - np.fromiter((len(self[id]) for id in ids), np.int64, len(parts))

    def _parts(self, ids: Iterable[int]) -> list[bytes]:
        given = list(ids)
        if not (self._puts_blanks and given):
            return list(map(self.__getitem__, given))
        for id in {*given} - self._after_blank.keys():
            self._after_blank[id] = self[id] if self._continues(id) else b" " + self[id]
        return [self[given[0]], *map(self._after_blank.__getitem__, given[1:])]

    @cached_property
    def _after_blank(self) -> dict[int, bytes]:
        """Return a cache with the bytes of tokens that follow another token in a text.

        If such a token begins a word, its bytes include the space before the word.
        """
        return {}

    def joined_by_number(self, numbers: Iterable[int]) -> bytes:
        """Return the joined bytes of the tokens with these ids. `numbers` are ids as in the tokenizer's file."""
        by_number = self._by_number
        if by_number is None:
            return self.joined(self._history.indices_of(numbers))
        return self._join(list(map(by_number.__getitem__, numbers)))

    def _join(self, parts: list[bytes]) -> bytes:
        if len(parts) * self._longest > BUDGET:
            check_room(sum(map(len, parts)), "Decoding", "Decode fewer tokens at once.")
        return b"".join(parts)

    @cached_property
    def _by_number(self) -> NumberedBytes | None:
        """Return a mapping from the ids in the tokenizer's file to the bytes of their tokens.

        Return None if the ids are equal to the engine's indices, or if the bytes of a token depend on its position in a
        text.
        """
        history = self._history
        return None if history.numbers is None or self._puts_blanks else NumberedBytes(history, self)


class NumberedBytes(dict[int, bytes]):
    """A dictionary from the ids in a tokenizer's file to the bytes of their tokens.

    The bytes of a token are looked up when they are first needed.
    """

    def __init__(self, history: History, by_index: TokenBytes) -> None:
        super().__init__()
        self._history = history
        self._by_index = by_index

    def __missing__(self, number: int) -> bytes:
        (index,) = self._history.indices_of([number])
        text = self[number] = self._by_index[index]
        return text


def check_budget(lengths: Sequence[int] | Int64s, base: int, where: str) -> None:
    """Raise FormatError if the texts of all tokens together would need too much memory.

    The message begins with `where`.
    """
    over = np.flatnonzero(np.cumsum(np.minimum(lengths[base:], BUDGET + 1)) > BUDGET)
    if len(over):
        raise FormatError(
            f"{where}, step {over[0] + 1:,}: the tokens up to this step have more than {BUDGET:,} bytes in all."
        )
