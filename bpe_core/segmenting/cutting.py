"""The splitting of a text into special tokens and words, with the offsets of their bytes in the original text."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import groupby, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np

from bpe_core.errors import BpeError
from bpe_core.recipes.parts import Normalization
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.normalization import (
    byte_origins,
    byte_starts,
    normalize_with_origins,
    normalize_with_sources,
    normalizer,
)
from bpe_core.splitting.splitter import Splitter
from bpe_core.support.arrays import Int32s, Int64s
from bpe_core.text.characters import code_points, raw_bytes
from bpe_core.text.characters import utf8 as utf8
from bpe_core.text.patterns import NAMED_PATTERNS
from bpe_core.text.preparation.pieces import AddedToken, TracedPiece, find_added_tokens
from bpe_core.text.specials import FEW, Find, finder, parts_of

if TYPE_CHECKING:
    from bpe_core.segmenting.array_splitter import ArraySplitter, FlatWords
    from bpe_core.text.preparation.steps import WordSplitter

MOST_GROUPS = 8  # groups of special tokens with the same beginning, each searched separately
FEW_CHARACTERS = 3  # with which special tokens begin
SHORT = 1_000  # characters; for shorter texts one expression for all tokens is faster
ESCAPED = "surrogateescape"  # how words are encoded, which may begin or end inside a character
LONG = 4_000  # characters; from this length on, arrays are faster than single words

Item = TypeVar("Item")  # a word
Allowed = Collection[str] | Literal["all"] | None  # special tokens to search; None leaves the choice to the recipe
ALLOWED: Mapping[str, Allowed] = {"": None, "all": "all", "none": ()}  # the tokens to search, by the name of the choice


@dataclass(frozen=True, eq=False)
class Part:
    """A special token, or a part of the text between two special tokens."""

    text: str  # normalized
    special: str | None
    origins: Int64s  # for each byte of the text and its end, the offset in the given text


class AllowedTokens(NamedTuple):
    """The tokens to search for in a text.

    These are the special tokens that the caller allows, and the added tokens that are searched for in every text.
    """

    find: Find  # finds tokens in the given text
    find_changed: Find  # finds the other tokens in the normalized text
    changed: dict[str, str]  # the other tokens, by their normalized texts
    added: dict[str, AddedToken]


def _tokens_sought(
    as_changed: Mapping[str, str], later: Collection[str], added: Mapping[str, AddedToken], allowed: tuple[str, ...]
) -> AllowedTokens:
    wanted = set(allowed)
    changed = {changed: token for changed, token in as_changed.items() if token in wanted and changed}
    as_given = tuple(token for token in allowed if token not in later)
    added_by_text = {text: added[token] for text, token in changed.items()}
    return AllowedTokens(finder(as_given), finder(tuple(changed)), changed, added_by_text)


class Cutting:
    finds_words = True  # whether the recipe's pattern finds the words

    def __init__(self, recipe: Recipe) -> None:
        self._specials = recipe.tokens_looked_for
        self._matches = recipe.spelled_specials == "matched"
        self._recipe = recipe
        self.normalizes = recipe.normalizes
        self.normalizes_by_steps = recipe.normalizes_by_steps
        self._changes_ascii = recipe.normalizes_ascii
        self.gives_words = recipe.splits_by_steps  # whether a file's operations find words, so that parts are words
        self._added = {step.content: step for step in recipe.preparation if isinstance(step, AddedToken)}
        self._always = tuple(content for content, token in self._added.items() if not token.special)
        # Some tokens are normalized and then searched in the normalized text.
        self._later = frozenset(content for content, token in self._added.items() if token.normalized)
        self._as_changed = {self._change(content): content for content in self._added if content in self._later}
        # Some files have thousands of tokens. A method of this object would keep the object in memory.
        self._sought = lru_cache(maxsize=4)(partial(_tokens_sought, self._as_changed, self._later, self._added))

    @cached_property
    def recipe(self) -> Recipe:
        """Return the recipe without special tokens, because the caller says which special tokens to search for."""
        return self._recipe.with_changes(special_tokens=()) if self._recipe.special_tokens else self._recipe

    @cached_property
    def _splitter(self) -> Splitter:
        return Splitter(Recipe(pattern="none")) if self.gives_words else Splitter(self._recipe, specials=())

    def allowed(self, names: Allowed) -> tuple[str, ...]:
        """Return the special tokens to search for in a text, and the added tokens that every text is searched for.

        If `names` is None, return the special tokens that the recipe itself matches. Raise BpeError if a name is not a
        special token.
        """
        if names is None:
            return self._specials if self._matches else self._always
        if isinstance(names, str) and names == "all":
            return self._specials
        if isinstance(names, str) or not isinstance(names, Collection):
            example = names if isinstance(names, str) else "<|end|>"
            raise BpeError(f'Give the special tokens as a list, such as ["{example}"], or write "all".')
        if not names:
            return self._always
        for name in names:
            if name not in self._specials:
                known = ", ".join(self._specials) or "none"
                raise BpeError(f"This tokenizer has no special token {name!r}; its special tokens are {known}.")
        return (*names, *(token for token in self._always if token not in names))

    def spelled(self, allowed: tuple[str, ...], texts: Iterable[Any]) -> tuple[str, ...]:
        """Return the tokens to search for in these texts.

        Return no tokens if a fast check shows that none of the texts contains one.
        """
        if not allowed or (self.normalizes and not self._later.isdisjoint(allowed)):
            return allowed
        is_spelled = may_hold_special(allowed)
        return allowed if any(map(is_spelled, texts)) else ()

    @cached_property
    def _steps(self) -> WordSplitter:
        from bpe_core.text.preparation.steps import preparing  # loads all operations, which few recipes have

        return preparing(self._recipe.preparation, shows_bytes=self._recipe.shows_bytes)

    @cached_property
    def of_changed(self) -> Recipe:
        """Return the recipe without its normalization, for texts that are already normalized."""
        return self.recipe.with_changes(preparation=(), **dataclasses.asdict(Normalization()))

    @cached_property
    def _change(self) -> Callable[[str], str]:
        return normalizer(self._recipe)

    @cached_property
    def _wants_places(self) -> bool:
        return self.gives_words and self._steps.wants_places

    @cached_property
    def keeps_all(self) -> bool:
        """Return whether the concatenated words of a text are always equal to the bytes of the text."""
        pattern = NAMED_PATTERNS.get(self._recipe.pattern)
        drops = pattern is not None and pattern.drops_whitespace
        return not (self.gives_words or self._always or self.normalizes or drops)

    def may_change(self, text: str) -> bool:
        """Return whether normalization may change this text. The result is False only if a change is impossible."""
        return self._changes_ascii or not text.isascii()

    def normalized_parts(self, text: str, allowed: tuple[str, ...]) -> Iterator[tuple[str, str | None]]:
        """Yield the parts of a text in order: its special tokens, and the normalized text between them.

        A special token is yielded as ("", token), and normalized text as (text, None). If the operations of a tokenizer
        file split texts into words, each word is a part.
        """
        if not (self._wants_places or (allowed and self._added)):  # no offsets are needed
            for part, is_special in parts_of(text, allowed) if allowed else ((text, False),):
                changes = self.normalizes and not is_special and self.may_change(part)
                changed = self._change(part) if changes else part
                if is_special:
                    yield "", part
                elif changed and self.gives_words:
                    yield from ((word, None) for word in self._steps.texts_of_words(changed))
                elif changed:
                    yield changed, None
            return
        for piece, token in self._stretches(text, self._sought(allowed), places=self._wants_places):
            if token:
                yield "", token
            elif self.gives_words:
                yield from ((word, None) for word in self.words_of(piece))
            else:
                yield piece.text, None

    def words_by_steps(self, text: str) -> Iterable[str]:
        """Split a text into words by the operations of a tokenizer file, and return the words.

        Special tokens in the text are treated as ordinary text.
        """
        if self._wants_places:
            return [word for word, _ in self.normalized_parts(text, ())]
        changed = self._change(text) if self.normalizes else text
        return self._steps.texts_of_words(changed) if changed else ()

    def words_of(self, piece: TracedPiece) -> Iterable[str]:
        """Return the words of a part of a text. The part contains no special token."""
        if not self.gives_words:
            return self.words(piece.text)
        if self._steps.wants_places:
            return (word.text for word in self._steps.words(piece))
        return self._steps.texts_of_words(piece.text)

    def concatenated_words(self, pieces: Sequence[TracedPiece]) -> FlatWords:
        """Return the words of all parts of a text, one word after another.

        This method is for recipes that split texts by the operations of a tokenizer file and not by a pattern.
        """
        from bpe_core.segmenting.array_splitter import FlatWords  # loads machine code

        at_once = self._array_splitter if sum(len(piece.text) for piece in pieces) >= LONG else None
        if at_once is None:
            return FlatWords.of(map(self.words_of, pieces))
        runs = groupby(pieces, key=lambda piece: at_once.can_cut(piece.text))
        return FlatWords.joined(
            at_once.of(*(piece.text for piece in run)) if can_cut else FlatWords.of(map(self.words_of, run))
            for can_cut, run in runs
        )

    def stretches(self, texts: Iterable[str], allowed: tuple[str, ...]) -> Iterator[Iterator[tuple[TracedPiece, str]]]:
        """Divide each text at its special tokens. For each text, yield its parts in order.

        A part is a pair. The first item is the text of the part, which is normalized if it is ordinary text. The second
        item is the special token, or "" for ordinary text. `allowed` lists the special tokens to find.
        """
        sought = self._sought(allowed)
        return (self._stretches(text, sought, places=self._wants_places) for text in texts)

    def finds_all_in_given_texts(self, allowed: tuple[str, ...]) -> bool:
        """Return whether these special tokens are searched for only in texts that are not normalized yet.

        If so, each part between two tokens can be normalized later.
        """
        return not (self.gives_words or self._sought(allowed).changed)

    def given_stretches(
        self, texts: Iterable[str], allowed: tuple[str, ...]
    ) -> Iterator[Iterator[tuple[TracedPiece, str]]]:
        """Divide each text at its special tokens like `stretches`, but do not normalize the parts."""
        find = self._sought(allowed).find
        return (
            (
                (TracedPiece.bare(text[start:stop]), token)
                for start, stop, token in find_added_tokens(text, find, self._added)
            )
            for text in texts
        )

    def _stretches(self, text: str, sought: AllowedTokens, *, places: bool) -> Iterator[tuple[TracedPiece, str]]:
        for start, stop, token in find_added_tokens(text, sought.find, self._added):
            if token:
                yield TracedPiece.whole(text[start:stop], start), token
                continue
            given = text[start:stop]
            piece = self._changed(given, start) if places else TracedPiece.bare(self._change(given))
            if not sought.changed and piece.text:
                yield piece, ""
                continue
            for first, end, changed_text in find_added_tokens(piece.text, sought.find_changed, sought.added):
                yield piece.part(first, end), sought.changed.get(changed_text, "")

    def _changed(self, text: str, first: int) -> TracedPiece:
        if not self.normalizes:
            return TracedPiece.whole(text, first)
        changed, sources = normalize_with_sources(text, self._recipe)
        return TracedPiece(changed, (sources + first).tolist(), first + len(text))

    @cached_property
    def _array_splitter(self) -> ArraySplitter | None:
        """Return the splitter that splits many texts into words at once by array operations.

        Return None if the operations of the tokenizer file do not split texts into words, or if one of them has no
        equivalent array operation.
        """
        from bpe_core.segmenting.array_splitter import array_splitter  # loads machine code

        return array_splitter(self._steps.cuts, shows_bytes=self._recipe.shows_bytes) if self.gives_words else None

    def parts(self, text: str, allowed: tuple[str, ...]) -> Iterator[Part]:
        """Yield the special tokens of a text, and the normalized parts between them, each with its offsets.

        The offsets are those in the original text. If the operations of a tokenizer file split the text, each word is a
        part.
        """
        if self._added or self.gives_words:
            yield from self._placed(text, allowed)
            return
        done = 0
        for part, is_special in parts_of(text, allowed):
            if is_special or not self.normalizes:
                length = len(part.encode())
                yield Part(part, part if is_special else None, np.arange(done, done + length + 1))
            else:
                normalized = normalize_with_origins(part, self.recipe)
                length = int(normalized.origins[-1])
                yield Part(normalized.text, None, normalized.origins + done)
            done += length

    def _placed(self, text: str, allowed: tuple[str, ...]) -> Iterator[Part]:
        placed: list[tuple[TracedPiece, str]] = []
        for piece, token in self._stretches(text, self._sought(allowed), places=True):
            words = self._steps.words(piece) if self.gives_words and not token else (piece,)
            placed += ((word, token) for word in words if word.text)
        starts = byte_starts(text)
        codes = code_points("".join(piece.text for piece, _ in placed))
        sources = np.fromiter((source for piece, _ in placed for source in piece.sources), np.int64, len(codes))
        origins, edges = byte_origins(codes, sources, code_points(text), starts)
        place = least = 0
        for piece, token in placed:
            own = origins[edges[place] : edges[place + len(piece.text)]]
            own = np.maximum.accumulate(np.maximum(own, least))  # bytes before the last word are taken
            place = place + len(piece.text)
            end = max(int(starts[piece.stop]), int(own[-1]))
            least = end if token else int(own[-1])  # the next word can begin inside the last character
            yield Part(piece.text, token or None, np.append(own, end))

    def words(self, text: str) -> Iterator[str]:
        return self._splitter.words(text)

    def placed_words(self, text: str) -> Iterator[tuple[bytes, int]]:
        """Yield the words of a normalized text in UTF-8, each with its offset in bytes.

        A pattern may drop the spaces between words.
        """
        if self.gives_words:
            yield raw_bytes(text), 0
            return
        data = text.encode()
        end = 0
        for word in self.words(text):
            raw = word.encode()
            start = data.index(raw, end)  # only blanks are left out, and no word begins with a blank that is left out
            end = start + len(raw)
            yield raw, start

    def cuts(self, text: str) -> Int32s:
        """Return the offsets in bytes of the words in a normalized text, and the end of the text.

        The pattern must not drop any characters.
        """
        words = self._splitter.words(text)
        lengths = map(len, words if text.isascii() else (word.encode() for word in words))
        starts = np.fromiter(lengths, np.int32)
        return np.concatenate((np.zeros(1, np.int32), np.cumsum(starts, dtype=np.int32)))


class UnknownTogether(Cutting):
    """A splitter that joins neighbouring words if they are unknown.

    It is used for tables in which a sequence of unknown words becomes a single unknown token.

    >>> cutting = UnknownTogether(Recipe(pattern="gpt2"), {b" sea"})
    >>> list(cutting.words("by far the sea to go"))
    ['by far the', ' sea', ' to go']
    """

    def __init__(self, recipe: Recipe, known: Collection[bytes]) -> None:
        super().__init__(recipe)
        self._known = known

    def words(self, text: str) -> Iterator[str]:
        for is_known, run in groupby(super().words(text), lambda word: raw_bytes(word) in self._known):
            words = list(run)
            yield from words if is_known else ("".join(words),)


class GivenWords(Cutting):
    """A splitter that does not use the pattern. It divides the text at offsets that the caller gives.

    So every method can split a table of words as if the table were a text.

    >>> given = GivenWords(Recipe.preset("gpt2"), b"isn't", np.array([0, 2, 5]))
    >>> list(given.placed_words(given.text))  # the pattern would have split it into isn and 't
    [(b'is', 0), (b"n't", 2)]
    """

    finds_words = False
    keeps_all = True

    def __init__(self, recipe: Recipe, data: bytes, starts: Int64s) -> None:
        super().__init__(recipe)
        self.text = data.decode()
        self.data = np.frombuffer(data, np.uint8)
        self.starts = starts  # offset of each word, and the end

    def normalized_parts(self, text: str, allowed: tuple[str, ...]) -> Iterator[tuple[str, str | None]]:
        yield text, None

    def parts(self, text: str, allowed: tuple[str, ...]) -> Iterator[Part]:
        yield Part(text, None, np.arange(len(self.data) + 1))

    def words(self, text: str) -> Iterator[str]:
        return (word.decode() for word, _ in self.placed_words(text))

    def placed_words(self, text: str) -> Iterator[tuple[bytes, int]]:
        data = self.data.tobytes()
        places = self.starts.tolist()
        return ((data[start:stop], start) for start, stop in pairwise(places))

    def cuts(self, text: str) -> Int32s:
        return self.starts.astype(np.int32)


@lru_cache(maxsize=16)
def may_hold_special(specials: tuple[str, ...]) -> Callable[[Any], bool]:
    """Return a fast function that checks whether a text may hold a special token.

    If the function returns False, the text holds no special token. If it returns True, the text must be searched.
    """
    expressions = _grouped_expressions(specials)
    of_bytes = [re.compile(expression.encode()) for expression in expressions]
    of_text = [re.compile(expression) for expression in expressions]
    of_short = re.compile("|".join(expressions))
    first_characters = set(map(itemgetter(slice(1)), specials))
    if len(first_characters) > FEW_CHARACTERS:
        first_characters = {""}

    def is_spelled(text: Any) -> bool:
        if not isinstance(text, str):
            return any(compiled.search(text) for compiled in of_bytes)
        for character in first_characters:  # Python finds one character much faster than an expression
            if character in text:
                break
        else:
            return False
        if len(text) < SHORT:
            return of_short.search(text) is not None
        return any(compiled.search(text) for compiled in of_text)

    return is_spelled


def _grouped_expressions(specials: tuple[str, ...]) -> list[str]:
    """Return regular expressions that find all places in a text at which a special token may begin.

    There is one expression for all tokens with the same first two characters. All these searches together are much
    faster than one search for all tokens. If a group has many tokens, its expression is only the first two characters.
    If there are many groups, a single expression covers all of them.
    """
    groups: dict[str, list[str]] = {}
    for token in specials:
        groups.setdefault(token[:2], []).append(re.escape(token))
    if len(groups) > MOST_GROUPS:
        return ["|".join(map(re.escape, groups if len(specials) > FEW else specials))]
    return ["|".join(group if len(group) <= FEW else [re.escape(begin)]) for begin, group in groups.items()]


def ids_of_each(items: Iterable[Item], cut: Callable[[Item], Sequence[int]]) -> Int32s:
    """Return the tokens of many words, one word after another.

    `cut` splits a word into tokens. It is called only once for equal words.
    """
    ids: list[int] = []
    known: dict[Item, Sequence[int]] = {}
    for item in items:
        tokens = known.get(item)
        if tokens is None:
            tokens = known[item] = cut(item)
        ids += tokens
    return np.array(ids, np.int32)
