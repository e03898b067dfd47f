"""A text cut into its words, each with the place it has in the text as it was given."""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Iterator
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.recipe import Recipe
from bpe_core.records import dataclass
from bpe_core.text.normalization import normalize
from bpe_core.text.patterns import NAMED_PATTERNS
from bpe_core.text.specials import parts_of
from bpe_core.text.splitting import Splitter
from bpe_core.text.stand_ins import raw_bytes

if TYPE_CHECKING:
    from bpe_core.segmenting.laid_words import Laid
    from bpe_core.segmenting.prepared_parts import PreparedParts

LONG = 4_000  # characters: from here on arrays take less time than words one by one

Allowed = Collection[str] | Literal["all"]
Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Part:
    """A special token, or a stretch of text between two of them."""

    text: str  # normalized
    special: str | None
    origins: Offsets  # for each byte of the text, and its end, the byte of the text as it was given


class Cutting:
    """Cuts texts as one recipe wants them to be cut."""

    finds_words = True  # by the recipe's pattern, rather than being given them

    def __init__(self, recipe: Recipe) -> None:
        self._specials = tokens_looked_for(recipe)
        self._prepared = _prepared(recipe) if recipe.preparation else None
        # Special tokens are looked for here, and only those the caller allows: to the rest of the way they are text.
        self.recipe = recipe.with_changes(special_tokens=()) if recipe.special_tokens else recipe
        # What steps have cut is one word.
        self._splitter = Splitter(Recipe(pattern="none") if self.recipe.splits_by_steps else self.recipe)

    def allowed(self, names: Allowed) -> tuple[str, ...]:
        """The special tokens that a caller wants recognised, checked."""
        always = self._prepared.always if self._prepared else ()
        if isinstance(names, str):
            if names == "all":
                return self._specials
            raise BpeError(f'Give the special tokens as a list, such as ["{names}"], or say "all".')
        for name in names:
            if name not in self._specials:
                known = ", ".join(self._specials) or "none"
                raise BpeError(f"This tokenizer has no special token {name!r}; it has {known}.")
        return (*names, *(token for token in always if token not in names))

    @cached_property
    def gives_words(self) -> bool:
        """Whether the parts of a text are words already."""
        return self.recipe.splits_by_steps

    @cached_property
    def keeps_all(self) -> bool:
        """Whether every byte of a text belongs to a word, as it is."""
        pattern = NAMED_PATTERNS.get(self.recipe.pattern)
        if self._prepared is not None and (self.gives_words or self._prepared.always):
            return False
        return not self.recipe.normalizes and not (pattern is not None and pattern.drops_whitespace)

    def normalized_parts(self, text: str, allowed: tuple[str, ...]) -> Iterator[tuple[str, str | None]]:
        """The special tokens of a text, and what stands between them, normalized: (text, None) or ("", token)."""
        if self._prepared is not None:
            yield from ((part, special or None) for part, special in self._prepared.texts(text, allowed))
            return
        for part, is_special in parts_of(text, allowed):
            yield ("", part) if is_special else (normalize(part, self.recipe), None)

    def laid_parts(self, text: str, allowed: tuple[str, ...]) -> Iterator[tuple[Laid | None, str | None]]:
        """Where steps cut a text: the words of each stretch, laid end to end; or a token."""
        from bpe_core.segmenting.laid_words import Laid  # loads machine code

        assert self._prepared is not None
        at_once = self._prepared.laid
        if at_once is None:
            for special, run in groupby(self._prepared.texts(text, allowed), key=itemgetter(1)):
                if special:
                    yield from ((None, special) for _ in run)
                else:
                    yield Laid.of(word for word, _ in run), None
            return
        for stretch, special in self._prepared.stretches(text, allowed):
            if special:
                yield None, special
            elif len(stretch) < LONG or not at_once.can_cut(stretch):
                yield Laid.of(self._prepared.words_of(stretch)), None
            else:
                yield at_once.of(stretch), None

    def parts(self, text: str, allowed: tuple[str, ...]) -> Iterator[Part]:
        """The same with their places."""
        if self._prepared is not None:
            for piece, special, origins in self._prepared.placed(text, allowed):
                yield Part(piece.text, special or None, origins)
            return
        done = 0
        for part, is_special in parts_of(text, allowed):
            if is_special or not self.recipe.normalizes:
                length = len(part.encode())
                yield Part(part, part if is_special else None, np.arange(done, done + length + 1))
            else:
                from bpe_core.text.normalizing import normalize_with_origins  # with what knows all characters

                normalized = normalize_with_origins(part, self.recipe)
                length = int(normalized.origins[-1])
                yield Part(normalized.text, None, normalized.origins + done)
            done += length

    def words(self, text: str) -> Iterator[str]:
        """The words of a normalized text."""
        return self._splitter.words(text)

    def placed_words(self, text: str) -> Iterator[tuple[bytes, int]]:
        """The words of a normalized text in UTF-8, and where each starts. Blanks may be left out between them."""
        if self.gives_words:
            yield raw_bytes(text), 0
            return
        data = text.encode()
        end = 0
        for word in self._splitter.words(text):
            raw = word.encode()
            start = data.index(raw, end)  # only blanks are ever left out, and they begin no word
            end = start + len(raw)
            yield raw, start

    def cuts(self, text: str) -> npt.NDArray[np.int32]:
        """Where the words of a normalized text start, and its end, in bytes; for patterns that leave nothing out."""
        words = self._splitter.words(text)
        lengths = map(len, words if text.isascii() else (word.encode() for word in words))
        starts = np.fromiter(lengths, np.int32)
        return np.concatenate((np.zeros(1, np.int32), np.cumsum(starts, dtype=np.int32)))


def _prepared(recipe: Recipe) -> PreparedParts:
    from bpe_core.segmenting.prepared_parts import PreparedParts  # loads all steps there are

    return PreparedParts(recipe)


def tokens_looked_for(recipe: Recipe) -> tuple[str, ...]:
    """The special tokens, and the one for what is unknown where a file says that texts are searched for it."""
    if not recipe.preparation:
        return recipe.special_tokens
    from bpe_core.text.preparation.added_tokens import AddedToken  # with all steps there are, which few recipes have

    told = any(isinstance(step, AddedToken) and step.content == recipe.unknown_text for step in recipe.preparation)
    is_one = told and recipe.base == "characters" and recipe.unknown == "unk"
    return (*recipe.special_tokens, recipe.unknown_text) if is_one else recipe.special_tokens


def ids_looked_for(history: History) -> dict[str, int]:
    """The ids of all those."""
    ids = [*range(history.first_special, history.id_count), history.alphabet.unknown_id]
    found = zip(tokens_looked_for(history.recipe), ids, strict=False)
    return {token: id for token, id in found if id is not None}


def utf8(text: str) -> bytes:
    """The bytes of a text. Half of a surrogate pair is no character and has none."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise _no_character(text, error.start) from error


def utf8_view(text: str) -> npt.NDArray[np.uint8]:
    """The same bytes where the text itself keeps them, which it does from then on if it was not so before."""
    size = ctypes.c_ssize_t()
    try:
        address = _bytes_of(text, ctypes.byref(size))
    except UnicodeEncodeError as error:
        raise _no_character(text, error.start) from error
    held: Any = (ctypes.c_uint8 * size.value).from_address(address)
    held.text = text  # which must live as long as the array
    view: npt.NDArray[np.uint8] = np.frombuffer(held, np.uint8)
    view.flags.writeable = False
    return view


_bytes_of = ctypes.pythonapi.PyUnicode_AsUTF8AndSize
_bytes_of.restype, _bytes_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.POINTER(ctypes.c_ssize_t))


def _no_character(text: str, place: int) -> BpeError:
    return BpeError(
        f"Character {place + 1:,} of the text is U+{ord(text[place]):04X}, half of a surrogate pair, "
        "which is no character of its own; remove or replace it."
    )
