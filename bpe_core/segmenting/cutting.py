"""Cut a text into its special tokens and words, and tell which bytes of the given text each came from."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

import numpy as np

from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.characters import utf8 as utf8
from bpe_core.support.arrays import Int32s, Int64s
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


@dataclass(frozen=True, eq=False)
class Part:
    """A special token, or a stretch of text between two of them."""

    text: str  # normalized
    special: str | None
    origins: Int64s  # for each byte of the text, and its end, the byte of the given text


class Cutting:
    finds_words = True  # by the recipe's pattern, rather than being given them

    def __init__(self, recipe: Recipe) -> None:
        self._specials = tokens_looked_for(recipe)
        self._prepared = _prepared(recipe) if recipe.preparation else None
        # Special tokens are looked for here, and only those the caller allows: later on they are ordinary text.
        self.recipe = recipe.with_changes(special_tokens=()) if recipe.special_tokens else recipe
        # Whatever preparation steps have cut is one word.
        self._splitter = Splitter(Recipe(pattern="none") if self.recipe.splits_by_steps else self.recipe)

    def allowed(self, names: Allowed) -> tuple[str, ...]:
        """Check the special tokens that a caller wants recognised, and return them."""
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
        """Whether every byte of a text belongs to a word, unchanged."""
        pattern = NAMED_PATTERNS.get(self.recipe.pattern)
        if self._prepared is not None and (self.gives_words or self._prepared.always):
            return False
        return not self.recipe.normalizes and not (pattern is not None and pattern.drops_whitespace)

    def normalized_parts(self, text: str, allowed: tuple[str, ...]) -> Iterator[tuple[str, str | None]]:
        """The special tokens of a text, and the normalized stretches between them: (text, None) or ("", token)."""
        if self._prepared is not None:
            yield from ((part, special or None) for part, special in self._prepared.texts(text, allowed))
            return
        for part, is_special in parts_of(text, allowed):
            yield ("", part) if is_special else (normalize(part, self.recipe), None)

    def laid_parts(self, text: str, allowed: tuple[str, ...]) -> Iterator[tuple[Laid | None, str | None]]:
        """The same where steps cut a text: the words of each stretch laid end to end, or a special token."""
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
        """The same parts with their places in the given text."""
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
                from bpe_core.text.normalization import normalize_with_origins  # loads the tables of all characters

                normalized = normalize_with_origins(part, self.recipe)
                length = int(normalized.origins[-1])
                yield Part(normalized.text, None, normalized.origins + done)
            done += length

    def words(self, text: str) -> Iterator[str]:
        return self._splitter.words(text)

    def placed_words(self, text: str) -> Iterator[tuple[bytes, int]]:
        """The words of a normalized text in UTF-8, and where each starts. Blanks between them may be left out."""
        if self.gives_words:
            yield raw_bytes(text), 0
            return
        data = text.encode()
        end = 0
        for word in self._splitter.words(text):
            raw = word.encode()
            start = data.index(raw, end)  # only blanks are ever left out, and no word begins with one of those
            end = start + len(raw)
            yield raw, start

    def cuts(self, text: str) -> Int32s:
        """Where the words of a normalized text start, and its end, in bytes; for patterns that leave nothing out."""
        words = self._splitter.words(text)
        lengths = map(len, words if text.isascii() else (word.encode() for word in words))
        starts = np.fromiter(lengths, np.int32)
        return np.concatenate((np.zeros(1, np.int32), np.cumsum(starts, dtype=np.int32)))


class GivenWords(Cutting):
    """Cuts one text only: given words laid end to end, so that every method cuts a table of words like any text.

    >>> found = GivenWords(Recipe.preset("gpt2"), b"isn't", np.array([0, 2, 5]))
    >>> list(found.placed_words(found.text))  # the pattern would have cut it into isn and 't
    [(b'is', 0), (b"n't", 2)]
    """

    finds_words = False
    keeps_all = True

    def __init__(self, recipe: Recipe, data: bytes, starts: Int64s) -> None:
        super().__init__(recipe)
        self.text = data.decode()
        self.data = np.frombuffer(data, np.uint8)
        self.starts = starts  # of each word, and the end

    def normalized_parts(self, text: str, allowed: tuple[str, ...]) -> Iterator[tuple[str, str | None]]:
        yield text, None

    def parts(self, text: str, allowed: tuple[str, ...]) -> Iterator[Part]:
        yield Part(text, None, np.arange(len(self.data) + 1))

    def words(self, text: str) -> Iterator[str]:
        return (word.decode() for word, _ in self.placed_words(text))

    def placed_words(self, text: str) -> Iterator[tuple[bytes, int]]:
        data, places = self.data.tobytes(), self.starts.tolist()
        return ((data[start:stop], start) for start, stop in pairwise(places))

    def cuts(self, text: str) -> Int32s:
        return self.starts.astype(np.int32)


def _prepared(recipe: Recipe) -> PreparedParts:
    from bpe_core.segmenting.prepared_parts import PreparedParts  # loads all steps there are

    return PreparedParts(recipe)


def tokens_looked_for(recipe: Recipe) -> tuple[str, ...]:
    """The special tokens, and the unknown token where a file says that texts are searched for it."""
    if not recipe.preparation:
        return recipe.special_tokens
    from bpe_core.text.preparation.pieces import AddedToken  # loads all steps, which few recipes have

    is_added = any(isinstance(step, AddedToken) and step.content == recipe.unknown_text for step in recipe.preparation)
    is_one = is_added and recipe.base == "characters" and recipe.unknown == "unk"
    return (*recipe.special_tokens, recipe.unknown_text) if is_one else recipe.special_tokens


def ids_looked_for(history: History) -> dict[str, int]:
    ids = [*range(history.first_special, history.id_count), history.alphabet.unknown_id]
    found = zip(tokens_looked_for(history.recipe), ids, strict=False)
    return {token: id for token, id in found if id is not None}
