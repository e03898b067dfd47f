"""The data inside a study that questions need. They are computed once and shared by all questions.

A tokenizer can be used without these data. A question reads from `study.inside` the words of the texts, their ranks and
counts, and the tokens by index. An index is the engine's number of a token: first come the alphabet's tokens, then the
joined tokens in the order of the steps, then the special tokens. Indices never leave the engine: a `Study` takes and
returns the ids of the file. Only this module and the tokenizer translate between indices and ids.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from bpe_core.errors import BpeError
from bpe_core.history.arguments import steps_of
from bpe_core.history.history import NO_NUMBER, NOTHING, History
from bpe_core.history.token_texts import BLANK, TokenTexts
from bpe_core.methods.kit.histories import has_ranks, learns_by_ranks, steps_in_words
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.support.arrays import Int64s
from bpe_core.support.data_table import Values
from bpe_core.support.progress import ALONE, Work

if TYPE_CHECKING:  # not needed for encoding
    from bpe_core.counting.words import WordTable
    from bpe_core.insight.ranked_words import FileCounts, RankedWords
    from bpe_core.insight.tokenized_words import TokenizedWords
    from bpe_core.recipes.recipe import Recipe
    from bpe_core.studies.texts import Texts

Found = TypeVar("Found")

MOST_DIGITS = 25  # digits of an id that a user types


class TokensByIndex:
    """The tokens of a history. They are numbered by the engine's indices."""

    def __init__(self, history: History, tokenizer: Callable[[], Tokenizer]) -> None:
        self._history = history
        self._tokenizer = tokenizer

    @cached_property
    def texts(self) -> TokenTexts:
        """Return the readable text of each token."""
        return TokenTexts.of(self._history)

    @property
    def tokenizer(self) -> Tokenizer:
        return self._tokenizer()

    def number(self, index: int) -> int | None:
        """Return the id of a token in the file. Return None if the file has no id for it."""
        number = int(self._history.numbers_of(index))
        return None if number == NO_NUMBER else number

    def numbered_spans(self, text: str, at: int | None = None) -> list[tuple[int, int, int | None]]:
        """Split a text into tokens. Return the first byte, the end byte and the id of each token.

        The end is the offset after the last byte. With `at`, only the first `at` steps are used.
        """
        return [(start, stop, self.number(index)) for start, stop, index in self.tokenizer.spans(text, at)]

    def of_number(self, number: int) -> int:
        """Return the index of the token that has the id `number` in the file.

        Raise BpeError if there is no such token.
        """
        try:
            (index,) = self._history.indices_of([number])
        except BpeError as error:
            raise BpeError(f"There is no token {number:,}.") from error
        if not 0 <= index < self._history.index_count:
            raise BpeError(f"There is no token {number:,}; the ids go from 0 to {self._history.index_count - 1:,}.")
        return index

    def of_text(self, text: str) -> int:
        """Return the index of the oldest token with this text. `text` may also be `#` and an id, such as `#12`.

        Raise BpeError if there is no such token.
        """
        index = self.texts.id_of(text)
        if index is not None:
            return index
        if text.startswith("#") and text[1:].isascii() and text[1:].isdigit() and len(text) <= MOST_DIGITS:
            return self.of_number(int(text[1:]))
        raise BpeError(
            f"No token is written {text[:60]!r}. Write the token as in the merge table (a space or {BLANK}, bytes as "
            "<0x0A>), or give its id as #300."
        )

    def pair_name(self, pair: tuple[int, int]) -> str:
        """Return the texts of the two tokens of a pair, joined by a plus sign.

        Some steps change a single token. Then the second index is negative, and only the text of the first token is
        returned.
        """
        return " + ".join(self.texts.text[index] for index in pair if index >= 0)

    def columns(self, indices: Iterable[int], before: str = "") -> dict[str, Values]:
        """Return three columns about tokens: id, hex and text.

        The names of the columns begin with `before`. The cells of a negative index are empty.
        """
        known = [None if index < 0 else int(index) for index in indices]
        raw = self.texts.raw
        text = self.texts.text
        return {
            f"{before}id": [None if index is None else self.number(index) for index in known],
            f"{before}hex": [None if index is None else raw[index].hex(" ") for index in known],
            f"{before}text": [None if index is None else text[index] for index in known],
        }

    def pair_columns(self, pairs: Sequence[tuple[int, int]], before: str = "") -> dict[str, Values]:
        """Return six columns about the tokens of pairs.

        These are the id, the hex form and the text, first of the left token and then of the right token.
        """
        left, right = ([pair[side] for pair in pairs] for side in (0, 1))
        return self.columns(left, f"{before}left_") | self.columns(right, f"{before}right_")


class TokenNames(Mapping[int, str]):
    """A mapping from each id of the file to the readable text of its token.

    Older plug-ins read `text`, `raw` and `lengths` here. These lists are sorted by index. New code finds them in
    `Study.inside.by_index`.
    """

    def __init__(self, history: History, by_index: TokensByIndex) -> None:
        self._history = history
        self._by_index = by_index

    def __getitem__(self, number: int) -> str:
        return self._by_index.texts.text[self._by_number[number]]

    def __iter__(self) -> Iterator[int]:
        return iter(self._by_number)

    def __len__(self) -> int:
        return len(self._by_number)

    @cached_property
    def _by_number(self) -> dict[int, int]:
        return indices_by_number(self._history)

    @property
    def text(self) -> Sequence[str]:
        return self._by_index.texts.text

    @property
    def raw(self) -> Sequence[bytes]:
        return self._by_index.texts.raw

    @property
    def lengths(self) -> Sequence[int]:
        return self._by_index.texts.lengths


class Inside:
    """The words, ranks, counts and indices of a study. Each is computed when a question first needs it.

    Parameters
    ----------
    history
        The history of the study.
    texts
        The texts that questions are about. None means that there are no texts.
    tokenizer
        The function that returns the tokenizer of the history.
    own_texts
        The texts that the history was learned from, if they are known.
    name
        The name of the tokenizer in messages.
    sources
        The sources of `own_texts`, if a session stores them.
    texts_are_own
        Whether questions are about the texts that the history was learned from.
    symbol_counts
        The count of each base symbol in the texts, if it is known.

    Examples
    --------
    >>> from bpe_core.studies.making import train
    >>> inside = train(["low low lower"], "words", merges=2).inside
    >>> inside.words().total, inside.checked_step_count(None), inside.by_index.of_text("low")
    (3, 2, 7)
    """

    def __init__(
        self,
        history: History,
        texts: Texts | None = None,
        *,
        tokenizer: Callable[[], Tokenizer],
        own_texts: Texts | None = None,
        name: str = "",
        sources: Hashable = (),
        texts_are_own: bool = False,
        symbol_counts: Int64s | None = None,
    ) -> None:
        self._history = history
        self._texts = texts
        self._name = name
        self._tokenizer = tokenizer
        self.own_texts = own_texts
        self.texts_are_own = texts_are_own
        self.sources = sources
        self._lock = threading.Lock()
        self._kept: dict[str, Any] = {} if symbol_counts is None else {"symbols": symbol_counts}
        self._about: dict[str, object] = {}  # the objects that cached results depend on

    # -- tokens ----------------------------------------------------------------------------

    @cached_property
    def by_index(self) -> TokensByIndex:
        """Return the tokens, numbered by the engine's indices.

        Questions that follow the steps of a history use them.
        """
        return TokensByIndex(self._history, self._tokenizer)

    @cached_property
    def names(self) -> TokenNames:
        """Return a mapping from each id to the readable text of its token.

        An id is the number of a token in the tokenizer's file, not its index in the engine.
        """
        return TokenNames(self._history, self.by_index)

    def pair_name(self, pair: tuple[int, int]) -> str:
        """Return the readable texts of a pair of ids, joined by a plus sign."""
        return " + ".join(self.names[id] for id in pair if id >= 0)

    def columns(self, ids: Iterable[int | None], before: str = "") -> dict[str, Values]:
        """Return three columns about the tokens with these ids: id, hex and text.

        The names of the columns begin with `before`. If an id is None, its cells are empty.
        """
        indices = (NOTHING if id is None or id < 0 else self.by_index.of_number(id) for id in ids)
        return self.by_index.columns(indices, before)

    def pair_columns(self, pairs: Sequence[tuple[int, int]], before: str = "") -> dict[str, Values]:
        """Return six columns about the tokens of pairs of ids.

        These are the id, the hex form and the text, first of the left token and then of the right token.
        """
        left, right = ([pair[side] for pair in pairs] for side in (0, 1))
        return self.columns(left, f"{before}left_") | self.columns(right, f"{before}right_")

    # -- steps -----------------------------------------------------------------------------

    @property
    def has_ranks(self) -> bool:
        """Return whether each boundary between two base symbols of a text has a rank.

        Boundaries have ranks if no step restores a boundary, and if no boundary can be removed by two different steps.
        """
        return has_ranks(self._history)

    def checked_step(self, step: int) -> int:
        """Return the step unchanged, or raise BpeError if it does not exist. Steps are counted from 1."""
        if not 1 <= step <= len(self._history):
            raise BpeError(f"There is no step {step:,}; the steps go from 1 to {len(self._history):,}.")
        return step

    def checked_step_count(self, at: int | None) -> int:
        """Return `at` unchanged if the history has at least this many steps. Raise BpeError otherwise.

        If `at` is None, return the number of all steps.
        """
        if at is None:
            return len(self._history)
        if not 0 <= steps_of(at) <= len(self._history):
            named = self._name or "The tokenizer"
            raise BpeError(
                f"{named} has {steps_in_words(self._history)}; `at` must be a number from 0 to the number of steps, "
                f"not {at:,}."
            )
        return at

    # -- words -----------------------------------------------------------------------------

    @property
    def learned_from(self) -> WordTable | None:
        """Return the words that the history was learned from.

        Return None if this study answers questions about other texts.
        """
        return self.own_words if self.texts_are_own else None

    @property
    def own_words(self) -> WordTable | None:
        """Return the words that the history was learned from, even if questions are about other texts.

        Return None if these words are not stored.
        """
        return None if self.own_texts is None else self.own_texts.words(self._history.recipe)

    def words(self, what: str = "This question", work: Work = ALONE) -> WordTable:
        """Return the counted words of the texts.

        If there are no texts, raise an error whose sentence begins with `what`, such as "This question".
        """
        return self._needed_texts(what).words(self._counted_by, work)

    def parts(self, what: str = "This question", work: Work = ALONE) -> Mapping[str, WordTable]:
        """Return the counted words of each group, or of each file if there are no groups."""
        return self._needed_texts(what).parts(self._counted_by, work)

    @cached_property
    def _counted_by(self) -> Recipe:
        """Return the recipe with which words are counted.

        Some libraries read a special token in a text as ordinary text. If the study's file belongs to such a library,
        this recipe leaves out the special token.
        """
        recipe = self._history.recipe
        if recipe.spelled_specials != "text" or not recipe.special_tokens:
            return recipe
        return recipe.with_changes(special_tokens=self.by_index.tokenizer.allowed(None))

    def ranked(self, what: str = "This question", work: Work = ALONE) -> RankedWords:
        """Return the words with the rank of each boundary, for methods that join pairs one after the other.

        Raise BpeError for other methods.
        """
        from bpe_core.insight.ranked_words import RankedWords

        if not learns_by_ranks(self._history):
            raise BpeError(
                f"{what} works only for tokenizers that merge pairs one after the other. This tokenizer does not."
            )
        words = self.words(what, work)
        return self.once("ranked", lambda: RankedWords.of(words, self._history))

    def cut(self, what: str = "This question", work: Work = ALONE) -> TokenizedWords:
        """Return the words of the texts, each split into tokens."""
        from bpe_core.insight.tokenized_words import TokenizedWords

        words = self.words(what, work)
        recipe = self._history.recipe
        return self.once("cut", lambda: TokenizedWords.of(words, recipe, self._history, cancelled=work.cancelled))

    def file_counts(self, what: str = "This question", work: Work = ALONE) -> FileCounts:
        """Return the counts of the words in each group, or in each file if there are no groups."""
        from bpe_core.insight.ranked_words import FileCounts

        return self.once("file counts", lambda: FileCounts(self.parts(what, work)))

    def symbol_counts(self, what: str = "This question", work: Work = ALONE) -> Int64s:
        """Return the count of each base symbol in the words."""
        from bpe_core.methods.kit.layout import count_symbols

        alphabet = self._history.alphabet
        recipe = self._history.recipe
        return self.once("symbols", lambda: count_symbols(self.words(what, work), alphabet, recipe))

    def _needed_texts(self, what: str) -> Texts:
        if self._texts is None:
            raise BpeError(f"{what} needs texts: name them with --corpus, or with texts=[...] in Python.")
        return self._texts

    def once(self, name: str, find: Callable[[], Found], about: object = None) -> Found:
        """Return the cached result with this name. If there is none, call `find` to compute it.

        `about` is the object that the result depends on. The result is recomputed if a different object is passed.
        """
        with self._lock:
            if name not in self._kept or self._about.get(name) is not about:
                self._kept[name] = find()
                self._about[name] = about
            result: Found = self._kept[name]
            return result


def indices_by_number(history: History) -> dict[int, int]:
    """Return a dictionary from each id of the file to the index of its token, in the order of the ids."""
    if history.numbers is None:
        return {index: index for index in range(history.index_count)}
    numbers = sorted({*history.numbers.tolist()} - {NO_NUMBER})
    return dict(zip(numbers, history.indices_of(numbers), strict=True))
