"""A study: what was learned, by which numbers a file calls its tokens, and the texts it is asked about.

    >>> from bpe_core.studies.making import train
    >>> study = train(["low low low slow slow"], "gpt2", merges=2)
    >>> study
    <Study: 2 merges, 258 tokens, recipe gpt2>
    >>> study.encode("slow"), study.decode([115, 257]), study.tokens[257]
    ([115, 257], 'slow', b'low')
    >>> [(span.text, span.start, span.stop) for span in study.spans("é low")]
    [('<0xC3>', 0, 1), ('<0xA9>', 0, 1), ('␣', 1, 2), ('low', 2, 5)]

A trained run, an opened file and a run of a session are studies. Ids are always the file's own; the engine calls tokens
by index (`by_index`), which is for those who write questions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bpe_core.errors import BpeError, OutputError
from bpe_core.figures.coloured_text import SAMPLE, sentence_html
from bpe_core.history.arguments import history_of
from bpe_core.history.history import NOTHING, History, Int64s
from bpe_core.history.token_texts import TokenBytes
from bpe_core.methods.kit.histories import has_ranks, learns_by_ranks, steps_in_words
from bpe_core.methods.kit.tokenizer import Way
from bpe_core.studies.by_index import TokenNames, TokensByIndex, indices_by_number
from bpe_core.support.data_table import Values
from bpe_core.support.progress import ALONE, Work

if TYPE_CHECKING:  # who only encodes needs none of these
    from bpe_core.counting.words import WordTable
    from bpe_core.insight.cut_words import CutWords
    from bpe_core.insight.ranked_words import FileCounts, RankedWords
    from bpe_core.recipes.recipe import Recipe
    from bpe_core.studies.texts import Texts
    from bpe_core.verification.checking import PreparedExport

Found = TypeVar("Found")


@dataclass(frozen=True)
class Span:
    """A token in its place: characters and bytes of the text, the end behind the last."""

    id: int | None  # None where the file has no number for it, as for the unknown
    text: str  # what is written on it
    start: int
    stop: int
    first_byte: int
    end_byte: int


class Study:
    """One tokenizer, with what it was learned from as far as that is known."""

    def __init__(
        self,
        history: History,
        texts: Texts | None = None,
        *,
        name: str = "",
        format: str = "",
        notes: tuple[str, ...] = (),
        sources: Hashable = (),
        texts_are_own: bool = False,
        symbol_counts: Int64s | None = None,
    ) -> None:
        """`symbol_counts` are those of the base symbols in the texts, where they were counted before."""
        self.history = history
        self.texts = texts
        self.texts_are_own = texts_are_own  # whether it was learned from these texts
        self._own_texts = texts if texts_are_own else None
        self.name = name  # of its file, or as a person calls it
        self.format = format  # of the file it was opened from
        self.notes = notes  # what the file does or lacks that the history cannot hold, a sentence each
        self.sources = sources  # which texts it was learned from, as far as a session knows
        self._lock = threading.Lock()
        self._kept: dict[str, Any] = {} if symbol_counts is None else {"symbols": symbol_counts}
        self._about: dict[str, object] = {}  # what of that was found about another object

    @classmethod
    def of(cls, given: Any, name: str = "") -> Study:
        """Return a study of whatever was learned: a study, a history, or anything that has a history."""
        return given if isinstance(given, Study) else cls(history_of(given, name), name=name)

    def __repr__(self) -> str:
        size = f"{self.history.vocabulary_size:,} tokens"
        learned = steps_in_words(self.history)
        told = [*([learned] if learned != size else []), size, f"recipe {self.history.recipe.name}"]
        return f"<Study{f' {self.name}' if self.name else ''}: {', '.join(told)}>"

    def __len__(self) -> int:
        return self.history.vocabulary_size

    def _repr_html_(self) -> str:
        return sentence_html(SAMPLE.encode(), self.by_index.tokenizer.spans(SAMPLE), repr(self).strip("<>"))

    def at(self, step: int) -> Study:
        """Return the study as it was after that many steps."""
        then = self.history.first(self.checked_step_count(step))
        return Study(then, self.texts, name=self.name, format=self.format, texts_are_own=self.texts_are_own)

    def with_texts(self, texts: Any) -> Study:
        """Return the same tokenizer, to be asked about other texts."""
        from bpe_core.studies.texts import texts_of

        other = Study(
            self.history, texts_of(texts), name=self.name, format=self.format, notes=self.notes, sources=self.sources
        )
        other._own_texts = self._own_texts
        return other

    # -- encoding and decoding -------------------------------------------------------------

    def encode(self, text: str | bytes, *, at: int | None = None, allowed_special: Any = None) -> list[int]:
        """Return the ids of a text's tokens, as the tokenizer was after `at` steps (all, if left out).

        A text that spells a special token is taken as the library of the file takes it, unless `allowed_special` says
        otherwise: "all" are that token, those of a list are, or none by an empty one.
        """
        indices = self.by_index.tokenizer.encode_to_array(text, at=at, allowed_special=allowed_special)
        ids: list[int] = self.by_index.numbers(indices).tolist()
        return ids

    def encode_batch(self, texts: Any, **choices: Any) -> tuple[Int64s, Int64s]:
        """Return the ids of many texts in one array, and the offset at which each text begins."""
        batch = self.by_index.tokenizer.encode_batch(texts, **choices)
        return self.by_index.numbers(batch.ids), batch.offsets

    def spans(self, text: str | bytes, *, at: int | None = None, allowed_special: Any = None) -> list[Span]:
        """Return the tokens of a text in their places; one with a part of a character covers the whole character."""
        written, number = self.by_index.texts.text, self.by_index.number
        found = self.by_index.tokenizer.token_spans(text, at, allowed_special)
        return [Span(number(index), written[index], *place) for index, *place in found]

    def decode(self, ids: Iterable[int], *, way: Way = "exact", skip_special: bool = False) -> str:
        """Return the text that ids stand for; bytes that are no whole character become �.

        "exact" is the text of each token, one behind the other; "library" is what the library of the file returns.
        """
        return self.by_index.tokenizer.decode(self.history.ids_of(ids), way=way, skip_special=skip_special)

    def decode_bytes(self, ids: Iterable[int], *, skip_special: bool = False) -> bytes:
        """Return the bytes that ids stand for, which may end within a character."""
        return self.by_index.tokenizer.decode_bytes(self.history.ids_of(ids), skip_special=skip_special)

    @cached_property
    def tokens(self) -> Mapping[int, bytes]:
        """Return the bytes of each token, by its number in the file."""
        texts = TokenBytes(self.history)
        return {number: texts[index] for number, index in indices_by_number(self.history).items()}

    @property
    def tokenizer(self) -> Study:
        """Return the study itself, which encodes and decodes: former versions had an object for that."""
        return self

    # -- saving ----------------------------------------------------------------------------

    def save(self, path: Path | str, *, work: Work = ALONE, **choices: Any) -> PreparedExport:
        """Write the tokenizer in the format of the name's ending, read back and compared before it is put in place."""
        from bpe_core.verification.checking import prepare_export

        prepared = prepare_export(self.history, path, work=work, **choices)
        if not prepared.verification.agrees:
            raise OutputError(f"{path} was not written: {prepared.verification.sentence}.")
        prepared.put_in_place()
        return prepared

    # -- its tokens by name and number -----------------------------------------------------

    @cached_property
    def names(self) -> TokenNames:
        """Return each token as people read it, by its number in the file."""
        return TokenNames(self.history, self.by_index)

    def id_of(self, text: str) -> int:
        """Find the oldest token with that text, or that with the file's number behind a `#`; return its number."""
        number = self.by_index.number(self.by_index.of_text(text))
        if number is None:
            raise BpeError(f"The file has no number for the token {text[:60]!r}, so no text becomes it.")
        return number

    def pair_name(self, pair: tuple[int, int]) -> str:
        """Write a pair of tokens as people read it."""
        return " + ".join(self.names[id] for id in pair if id >= 0)

    def columns(self, ids: Iterable[int | None], before: str = "") -> dict[str, Values]:
        """Make three columns about tokens: id, hex, text. Their names begin with `before`; a row of None is empty."""
        indices = (NOTHING if id is None or id < 0 else self.by_index.of_number(id) for id in ids)
        return self.by_index.columns(indices, before)

    def pair_columns(self, pairs: Sequence[tuple[int, int]], before: str = "") -> dict[str, Values]:
        """Make these three columns for both sides of pairs."""
        left, right = ([pair[side] for pair in pairs] for side in (0, 1))
        return self.columns(left, f"{before}left_") | self.columns(right, f"{before}right_")

    @cached_property
    def by_index(self) -> TokensByIndex:
        """Return the history's tokens by the engine's own indices, for questions that follow its steps."""
        return TokensByIndex(self.history)

    # -- steps -----------------------------------------------------------------------------

    def checked_step(self, step: int) -> int:
        """Refuse a step that there is not; 1 is the first."""
        if not 1 <= step <= len(self.history):
            raise BpeError(f"There is no step {step:,}; there are the steps 1 to {len(self.history):,}.")
        return step

    def checked_step_count(self, at: int | None) -> int:
        """Return after how many steps to look: all of them where nothing is said."""
        if at is None:
            return len(self.history)
        if not 0 <= at <= len(self.history):
            named = self.name or "The tokenizer"
            raise BpeError(
                f"{named} has {steps_in_words(self.history)}; `at` must be a number from 0 to that, not {at:,}."
            )
        return at

    # -- its words -------------------------------------------------------------------------

    @property
    def has_ranks(self) -> bool:
        """Return whether one step dissolves each boundary of a text for good."""
        return has_ranks(self.history)

    @property
    def learned_from(self) -> WordTable | None:
        """Return the words it was learned from, if its texts are those."""
        return self.own_words if self.texts_are_own else None

    @property
    def own_words(self) -> WordTable | None:
        """Return the words it was learned from, where they are known, even if it is asked about other texts."""
        return None if self._own_texts is None else self._own_texts.words(self.history.recipe)

    def words(self, what: str = "This question", work: Work = ALONE) -> WordTable:
        """Count the words of its texts; `what` is asked begins the sentence where there are no texts."""
        return self._needed_texts(what).words(self._counted_by, work)

    def parts(self, what: str = "This question", work: Work = ALONE) -> Mapping[str, WordTable]:
        """Count the words of each group, or of each file where there are no groups."""
        return self._needed_texts(what).parts(self._counted_by, work)

    @cached_property
    def _counted_by(self) -> Recipe:
        """Return the recipe without the special tokens that the library of an opened file takes for ordinary text."""
        recipe = self.history.recipe
        if recipe.spelled_specials != "text" or not recipe.special_tokens:
            return recipe
        return recipe.with_changes(special_tokens=self.by_index.tokenizer.allowed(None))

    def ranked(self, what: str = "This question", work: Work = ALONE) -> RankedWords:
        """Rank the boundaries in its words; only where pairs are joined one after the other."""
        from bpe_core.insight.ranked_words import RankedWords

        if not learns_by_ranks(self.history):
            raise BpeError(f"{what} is known only where pairs are joined one after the other; not of this tokenizer.")
        words = self.words(what, work)
        return self.once("ranked", lambda: RankedWords.of(words, self.history))

    def cut(self, what: str = "This question", work: Work = ALONE) -> CutWords:
        """Cut its words as its method cuts texts."""
        from bpe_core.insight.cut_words import CutWords

        words, recipe = self.words(what, work), self.history.recipe
        return self.once("cut", lambda: CutWords.of(words, recipe, self.history, cancelled=work.cancelled))

    def file_counts(self, what: str = "This question", work: Work = ALONE) -> FileCounts:
        """Look up how often a word occurs in each group, or in each file."""
        from bpe_core.insight.ranked_words import FileCounts

        return self.once("file counts", lambda: FileCounts(self.parts(what, work)))

    def symbol_counts(self, what: str = "This question", work: Work = ALONE) -> Int64s:
        """Count each base symbol in its words."""
        from bpe_core.methods.kit.layout import count_symbols

        alphabet, recipe = self.history.alphabet, self.history.recipe
        return self.once("symbols", lambda: count_symbols(self.words(what, work), alphabet, recipe))

    def _needed_texts(self, what: str) -> Texts:
        if self.texts is None:
            raise BpeError(f"{what} is about texts: name them (--corpus FILE, or texts=[...] in Python).")
        return self.texts

    def once(self, name: str, find: Callable[[], Found], about: object = None) -> Found:
        """Return what was found under that name; it is found anew where it is about another object."""
        with self._lock:
            if name not in self._kept or self._about.get(name) is not about:
                self._kept[name], self._about[name] = find(), about
            found: Found = self._kept[name]
            return found


def free_name(name: str, taken: Collection[str]) -> str:
    """Number a name that is taken.

    >>> free_name("a", ["a", "a (2)"])
    'a (3)'
    """
    place = 1
    while (free := name if place == 1 else f"{name} ({place})") in taken:
        place += 1
    return free


def as_study(given: Any) -> Study:
    return Study.of(given)


def save(given: Any, path: Path | str, **choices: Any) -> PreparedExport:
    """Write whatever was learned or opened, in the format of the name's ending, checked."""
    return Study.of(given).save(path, **choices)
