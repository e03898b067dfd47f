"""The words of many texts in one table.

Tokenizers that split texts into the same words share the table, so the words are counted once. Each tokenizer
encodes each distinct word once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.counting.count_words import count_texts
from bpe_core.counting.words import CountedWords, PartCounts, WordColumns, WordTable
from bpe_core.history.history import History
from bpe_core.insight.tokenized_words import TokenizedWords, tokens_by_word
from bpe_core.kernels.readiness import use_machine_code
from bpe_core.kernels.stored_code import COUNTING
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.choice import LARGEST_NUMBER
from bpe_core.recipes.parts import CUSTOM_PATTERN, SplittingChoices
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.cutting import may_hold_special
from bpe_core.segmenting.segmentation import NO_TOKEN
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.splitter import Splitter
from bpe_core.support.arrays import Int64s, repeat
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.text.characters import CodePoints, code_points, may_join_previous


def can_be_in_words(recipe: Recipe) -> bool:
    """Return whether a text can be encoded word by word, with the same tokens as the whole text.

    This is false if a custom pattern or the operations of a tokenizer file split the text, or if the whole text is one
    word.
    """
    return not recipe.preparation and recipe.pattern not in (CUSTOM_PATTERN, "none")


def shared_splitting(recipe: Recipe) -> Recipe | None:
    """Return a recipe with only the choices for splitting texts into words.

    If two recipes have equal results, they can share a table of words. Return None if a text cannot be encoded
    word by word.
    """
    return splitting_of(recipe) if can_be_in_words(recipe) else None


def finds_specials(tokenizer: Tokenizer, texts: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a text contains a special token that the tokenizer matches.

    Such a text cannot be encoded word by word.
    """
    matched = tokenizer.allowed(None)
    return bool(matched) and any(
        may_hold_special(matched)(document) for documents in texts.values() for document in documents
    )


def splitting_of(recipe: Recipe) -> Recipe:
    """Return a recipe that keeps only the choices for splitting texts into words, without special tokens."""
    chosen = {field.name: getattr(recipe, field.name) for field in fields(SplittingChoices)}
    return Recipe(**{**chosen, "special_tokens": ()})


@dataclass(frozen=True, eq=False)
class TextsInWords:
    """The words of all texts, and the count of each word in each text."""

    words: WordTable
    texts: Mapping[str, PartCounts]
    counted_by: Recipe

    @classmethod
    def of(
        cls, texts: Mapping[str, Sequence[str]], recipe: Recipe, *, cancelled: CancelCheck = never_cancelled
    ) -> TextsInWords:
        recipe = splitting_of(recipe)
        return cls.of_counted(texts, [count_texts(list(texts.values()), recipe, cancelled=cancelled)], recipe)

    @classmethod
    def of_counted(cls, names: Iterable[str], parts: Sequence[CountedWords], recipe: Recipe) -> TextsInWords:
        counted = CountedWords.joined(parts)
        return cls(counted.words, dict(zip(names, counted.texts, strict=True)), recipe)

    def cut(self, history: History, at: int, *, cancelled: CancelCheck = never_cancelled) -> TokenizedTexts:
        return TokenizedTexts(
            self, history, *tokens_by_word(self.words, self.counted_by, history, at, cancelled=cancelled)
        )

    def cuts(self, history: History, *, cancelled: CancelCheck = never_cancelled) -> Callable[[int], TokenizedTexts]:
        """Return a function that encodes the words with the first steps of a history.

        Its argument is the number of steps. Only one thread may use the function at a time.
        """
        cut = TokenizedWords.of(self.words, self.counted_by, history, cancelled=cancelled)
        return lambda at: TokenizedTexts(self, history, *cut.by_word(at))


@dataclass(frozen=True, eq=False)
class TokenizedTexts:
    """The tokens of each word. The token counts of each text are computed from them."""

    in_words: TextsInWords
    history: History
    ids: Int64s
    starts: Int64s  # the first index of each word's tokens, and the end

    @cached_property
    def tokens_by_word(self) -> Int64s:
        return np.diff(self.starts)

    @cached_property
    def tokens_by_text(self) -> Int64s:
        texts = self.in_words.texts.values()
        return np.array([(self.tokens_by_word[text.rows] * text.counts).sum() for text in texts], np.int64)

    @property
    def counts_in_all(self) -> Int64s:
        return self._counts(self.ids, repeat(self.in_words.words.counts, self.tokens_by_word))

    def counts(self, text: str) -> Int64s:
        rows, times, *_ = self.in_words.texts[text]
        if use_machine_code(self.ids.nbytes, COUNTING):
            return counts_of_tokens(self.ids, self.starts, rows, times, self.history.index_count)
        lengths = self.tokens_by_word[rows]
        ends = np.cumsum(lengths)
        places = np.arange(int(lengths.sum())) + repeat(self.starts[rows] - ends + lengths, lengths)
        return self._counts(self.ids[places], repeat(times, lengths))

    def _counts(self, ids: Int64s, times: Int64s) -> Int64s:
        return np.bincount(ids, weights=times, minlength=self.history.index_count).astype(np.int64)


def counts_of_tokens(ids: Int64s, starts: Int64s, rows: Int64s, times: Int64s, id_count: int) -> Int64s:
    """Return the count of each token in the words `rows`. The word `rows[i]` occurs `times[i]` times."""
    from bpe_core.kernels import word_tables  # loads machine code

    counts = np.zeros(id_count, np.int64)
    word_tables.count_tokens(ids, starts, rows, times, counts)
    return counts


# --- Text that a tokenizer cannot encode: it becomes an unknown token, or no token ---

LETTER = "a"
SIGMAS = "σς"  # the first becomes the second at the end of a word


def is_always_encoded(history: History) -> Callable[[str], bool]:
    """Return a function that tests whether a character is encoded in every word.

    A character is not encoded if the alphabet lacks it. Then it becomes an unknown token, or is left out. If the
    function returns False, the character may still be encoded in some words. Only splitting the words shows this.
    """
    recipe = history.recipe.with_changes(special_tokens=())  # measures treat special tokens as plain text
    if recipe.preparation or recipe.pattern == CUSTOM_PATTERN or recipe.base != "characters":
        return lambda character: False
    is_known = _test_of_alphabet(history)
    splitter = Splitter(recipe)

    def is_encoded(character: str) -> bool:
        if recipe.unicode_form and may_join_previous(character, recipe.unicode_form):
            return False
        became = normalize(character, recipe)
        if len(became) != 1:
            return not became
        forms = SIGMAS if became in SIGMAS else became
        return all(is_known(form, _is_always_a_word(form, splitter, recipe)) for form in forms)

    return is_encoded


def _test_of_alphabet(history: History) -> Callable[[str, bool], bool]:
    """Return a function that tests whether the alphabet has all symbols that a character needs.

    A character may need one symbol at the beginning of a word, one inside a word and one at the end. The second
    argument of the function says whether the character is always a word by itself.
    """
    alphabet = history.alphabet
    marker = history.recipe.marker_text.encode()
    begins = {
        symbol.text for symbol in alphabet.but_seeds if symbol.kind == "character" and symbol.text == symbol.decoded
    }
    continues = alphabet.id_of_continuation
    if Method.of(history.recipe).has_continuations or continues:
        return lambda character, alone: character.encode() in begins and (alone or character.encode() in continues)
    if history.recipe.marker == "glued":
        ends = alphabet.id_of_piece
        return lambda character, _: character.encode() in begins and character.encode() + marker in ends
    return lambda character, _: character.encode() in begins


def _is_always_a_word(character: str, splitter: Splitter, recipe: Recipe) -> bool:
    """Return whether the character is always a word by itself, like a punctuation mark."""
    if recipe.pattern != "bert":
        return False
    return len(list(splitter.words(LETTER + character + character + LETTER))) == 4


BYTES = 256
CHARACTERS_BETWEEN_CHECKS = 100
AT_BLANKS = splitting_of(Recipe(pattern="whitespace"))  # finds the same parts in texts without the following characters
ONLY_OF_PYTHON = np.arange(0x1C, 0x20, dtype=np.uint8)  # characters that only `str.split` treats as blanks


def encodes_everything(tokenizer: Tokenizer) -> bool:
    kinds = Counter(symbol.kind for symbol in tokenizer.history.alphabet.but_seeds)
    return BYTES in (kinds["byte"], kinds["fallback"])


class Stretches(NamedTuple):
    together: str
    starts: Int64s  # bytes of each part
    lengths: Int64s

    @classmethod
    def of(cls, words: WordColumns) -> Stretches:
        lengths = np.diff(words.starts)
        starts = words.starts[:-1] + np.arange(len(words))
        data = np.full(len(words.text) + len(words), ord(" "), np.uint8)
        data[np.arange(len(words.text)) + repeat(np.arange(len(words)), lengths)] = words.text
        return cls(data.tobytes().decode(), starts, lengths)

    def sums(self, of_bytes: npt.NDArray[np.generic]) -> Int64s:
        before = np.concatenate([[0], np.cumsum(of_bytes, dtype=np.int64)])
        sums: Int64s = before[self.starts + self.lengths] - before[self.starts]
        return sums


@dataclass(frozen=True, eq=False)
class BetweenSpaces:
    """The distinct parts of texts that are separated by whitespace, and the count of each part in each text.

    They are used to find text that a tokenizer cannot encode. Often the alphabet of the tokenizer already shows whether
    it can encode a part. Then the part is not encoded.
    """

    words: WordColumns
    texts: Mapping[str, PartCounts]

    @classmethod
    def of(cls, texts: Mapping[str, Sequence[str]], cancelled: CancelCheck = never_cancelled) -> BetweenSpaces:
        places: dict[str, int] = {}
        by_text = {}
        for name, documents in while_wanted(texts.items(), cancelled, every=1):
            counted: Counter[str] = Counter()
            for text in documents:
                counted.update(text.encode(errors="replace").decode().split())
            which = np.array([places.setdefault(part, len(places)) for part in counted], np.int64)
            by_text[name] = PartCounts(which, np.array(list(counted.values()), np.int64))
        return cls(WordColumns.of([part.encode() for part in places]), by_text)

    @classmethod
    def of_words(cls, texts_in_words: TextsInWords) -> BetweenSpaces | None:
        """Return the parts of texts between whitespace. The recipe `AT_BLANKS` must have been used to count the words.

        Return None if the texts contain a character that `str.split` treats as whitespace, but the recipe does not.
        """
        if np.isin(texts_in_words.words.text, ONLY_OF_PYTHON).any():
            return None
        return cls(WordColumns(texts_in_words.words.text, texts_in_words.words.starts), texts_in_words.texts)

    def unencoded(self, tokenizer: Tokenizer, at: int, cancelled: CancelCheck = never_cancelled) -> list[float]:
        """Return the share of each text's bytes that no token encodes after `at` steps.

        Whitespace is not counted.
        """
        lengths = self._stretches.lengths
        lost = self._lost(tokenizer, at, cancelled)
        shares = []
        for which, times, *_ in self.texts.values():
            whole = int((lengths[which] * times).sum())
            shares.append(int((lost[which] * times).sum()) / whole if whole else 0.0)
        return shares

    @cached_property
    def _stretches(self) -> Stretches:
        return Stretches.of(self.words)

    @cached_property
    def _codes(self) -> CodePoints:
        codes = code_points(self._stretches.together)
        return repeat(codes, _bytes_of(codes))

    @cached_property
    def _different(self) -> list[int]:
        occurs = np.zeros(0x110000, np.bool_)
        occurs[self._codes] = True
        occurs[ord(" ")] = False
        return [int(code) for code in np.flatnonzero(occurs)]

    def _lost(self, tokenizer: Tokenizer, at: int, cancelled: CancelCheck) -> Int64s:
        """Count the lost bytes of each part.

        A byte is lost if it is in an unknown token, in no token, or in a character that is left out. To find
        characters that are left out, each character is encoded alone. In a longer text, the bytes of such a character
        would seem to belong to the next token.
        """
        is_encoded = is_always_encoded(tokenizer.history)
        left_out, is_unsure = np.zeros((2, 0x110000), np.bool_)
        for code in while_wanted(self._different, cancelled, every=CHARACTERS_BETWEEN_CHECKS):
            character = chr(code)
            left_out[code] = not tokenizer.encode(character, at=at)
            is_unsure[code] = not is_encoded(character)
        lost = self._stretches.sums(left_out[self._codes])
        recipe = tokenizer.history.recipe
        longest = Method.of(recipe).longest_word_of(recipe)
        is_long = self._stretches.lengths > (LARGEST_NUMBER if longest is None else longest)
        unsure = (self._stretches.sums(is_unsure[self._codes]) > 0) | is_long
        lost[unsure] = _lost(Stretches.of(self.words.where(unsure)), left_out, tokenizer, at, cancelled)
        return lost


def _lost(
    stretches: Stretches, left_out: npt.NDArray[np.bool_], tokenizer: Tokenizer, at: int, cancelled: CancelCheck
) -> Int64s:
    tokens = tokenizer.segmentation(stretches.together, cancelled=cancelled).tokens(at)
    symbols = tokenizer.history.alphabet.but_seeds
    unknown = [id for id, symbol in enumerate(symbols) if symbol.kind == "unknown"]
    codes = code_points(stretches.together)
    is_lost = repeat(left_out[codes], _bytes_of(codes))
    in_none = (tokens.ids == NO_TOKEN) | np.isin(tokens.ids, unknown)
    is_lost[tokens.edges[0] : tokens.edges[-1]] |= repeat(in_none, np.diff(tokens.edges))
    return stretches.sums(is_lost)


def _bytes_of(codes: CodePoints) -> Int64s:
    sizes: Int64s = 1 + (codes >= 0x80) + (codes >= 0x800) + (codes >= 0x10000).astype(np.int64)
    return sizes
