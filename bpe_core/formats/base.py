"""Define what every file format of a merge table can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, TypeVar

import numpy as np

from bpe_core.errors import FormatError, OutputError, RecipeError
from bpe_core.history.history import NO_NUMBER as NO_NUMBER
from bpe_core.history.history import History, Int64s
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import (
    CancelCheck,
    Progress,
    ProgressReport,
    ignore_progress,
    never_cancelled,
    while_wanted,
)

if TYPE_CHECKING:
    from bpe_core.counting.words import WordTable

# The content of a file beside the one that is opened, such as vocab.json beside merges.txt; None: it is not there.
Beside = Callable[[str], bytes | None]
Writer = Callable[[History, BinaryIO], None]
Opened = tuple[History, Sequence[str]]  # with what the file does or lacks that the history cannot say
# What another program makes of a text: the numbers of its tokens, or where it knows no numbers their texts.
Peer = Callable[[str], list[int] | list[bytes]]
T = TypeVar("T")

STEPS_BETWEEN_REPORTS = 4_096
TO_UTF8 = "change a text in another encoding in an editor, or by: iconv -f GB18030 -t UTF-8 OLD > NEW."
MOST_GAPS = 100_000  # numbers without a token, in files that number tokens by their place

# The kinds of tables that several formats are. A method says which of them hold what it learned; a kind that it has
# alone, and the models of tokenizer.json, go by names of their own.
RANKS = "ranks"  # merges by their rank
PAIRS = "pairs"  # each step joins a pair, in every text
IN_WORDS = "words"  # the same, and the pairs were counted within words
LONGEST = "longest"  # tokens of which the longest that fits is taken
SCORES = "scores"  # tokens with log-probabilities
PIECES = "pieces"  # the same, and the best path needs no other costs


def own_numbers(history: History) -> Int64s:
    """Return the number of each token; its id where the history has no other numbers."""
    return history.numbers_of(np.arange(history.id_count))


def dense_numbers(history: History) -> Int64s | None:
    """Return the history's own numbers unless most of a file that lists tokens by place would be gaps."""
    known = history.numbers
    return known if known is not None and int(known.max()) < len(known) + MOST_GAPS else None


def complete_numbers(history: History, unknown: int | None = None) -> Int64s:
    """Return the own numbers if only tokens that no text becomes lack one, or `unknown`; otherwise the ids."""
    numbers, joining = own_numbers(history), history.joining
    unreachable = {unknown, *history.alphabet.idle_fallbacks}
    unreachable |= set() if joining is None else {*joining.left_out, *joining.hidden}
    lacking = set(np.flatnonzero(numbers == NO_NUMBER).tolist())
    return numbers if lacking.issubset(unreachable) else np.arange(history.id_count)


def unless_ids(numbers: Int64s) -> Int64s | None:
    return None if np.array_equal(numbers, np.arange(len(numbers))) else numbers


def reported(rows: Iterable[tuple[int, T]], history: History, progress: ProgressReport) -> Iterator[T]:
    """Yield what is written, and report now and then behind which step it is."""
    for step, row in rows:
        yield row
        if step % STEPS_BETWEEN_REPORTS == 0:
            progress(Progress("writing", step, len(history), "steps"))


def recipe_from(where: str, /, **choices: Any) -> Recipe:
    try:
        return Recipe(vocab_size=None, **choices)
    except RecipeError as error:
        raise FormatError(f"{where}: {error}") from error


def decoded(raw: bytes, where: str, encoding: str = "utf-8", *, in_text: bool = True) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        advice = f"; {TO_UTF8}" if in_text else "."
        raise FormatError(f"{where}: the bytes at place {error.start + 1:,} are not UTF-8{advice}") from error


def nothing_beside(name: str) -> bytes | None:
    """Find no file: for content that lies in no folder."""
    return None


@dataclass(frozen=True, eq=False)
class OpenedTable:
    history: History
    format: str  # the name of the format
    notes: tuple[str, ...] = ()  # what the file does or lacks that the history cannot say, a sentence each
    words: WordTable | None = None  # that it was learned from, of a session
    texts: Hashable = ()  # which texts these were, as far as the session says

    def numbers_of(self, ids: Iterable[int]) -> list[int]:
        found: list[int] = self.history.numbers_of(list(ids)).tolist()
        return found

    def ids_of(self, numbers: Iterable[int]) -> list[int]:
        return self.history.ids_of(numbers)


class Flaw(str):
    """A note about something that a table does not have if it was learned and written as it should be."""


class Format(ABC):
    """One kind of file; without state, so one object serves everybody."""

    name: ClassVar[str]  # as a person names it: "csv"
    tables: ClassVar[frozenset[str]] = frozenset({RANKS})  # which kinds its files are; none: they hold those of all
    methods: ClassVar[tuple[str, ...] | None] = None  # the names of methods instead, as older plug-ins say it
    holds: ClassVar[str] = "joined pairs only"  # what it holds, of a history of another method
    told_late = False  # whether only the end of a file says for sure that it is one
    enough: ClassVar[int] = 0  # how many of the first bytes of a file are read; 0: all of them
    holds_splitting = True  # whether the file says how text becomes words
    numbers_tokens = True  # whether its tokens have numbers
    holds_hidden = False  # whether it holds tokens that are steps to others only
    joins_unknown = False  # whether several unknown characters in a row are one token
    sums: ClassVar[str] = ""  # how its library adds log-probabilities, as a recipe says it
    peer_name: ClassVar[str] = ""  # the library that `peer` asks
    peer_call: ClassVar[str] = "encode(text)"  # how it is asked, as one would write it
    holds_specials = True  # whether special tokens are found in a text by those who load the file
    # Whether its library takes texts that spell special tokens for these by default; None: the file may say it.
    matches_specials: ClassVar[bool | None] = False

    def can_hold(self, history: History) -> list[str]:
        """List what this format cannot hold of the history, a sentence each."""
        return self.impossible(history) or self.does_otherwise(history)

    @abstractmethod
    def does_otherwise(self, history: History) -> list[str]:
        """List the sentences that still leave a way to write it."""

    def spelled(self, history: History) -> tuple[str, ...]:
        """Return texts that this format takes for something else wherever they occur; `can_hold` says so."""
        return ()

    def is_beyond(self, history: History, text: str) -> bool:
        """Return whether a text meets a limit that `can_hold` reports, so that results may differ."""
        return False

    def impossible(self, history: History) -> list[str]:
        """List the sentences that leave no way to write the history at all."""
        return []

    def refusal(self, history: History, cancelled: CancelCheck = never_cancelled) -> str:
        """Say why there is no way to write the history at all, before anything is tried; empty: there is one."""
        if refusal := METHODS[history.recipe.method].refusal(self):
            return refusal
        if history.joining is not None and history.joining.hidden and not self.holds_hidden:
            return (
                f"{self.name} has no place for tokens that are steps to others only and have no id: trim the table so "
                "that what others are made of stays, or is lost with them, or keep it as json or a session."
            )
        if history.joining is not None and not self.holds_joining(history):
            return (
                f"{self.name} cannot say in which order this table joins texts, which is not the order of its steps: "
                "choose the format it came from or tokenizer.json, or keep it as a session."
            )
        return next(while_wanted(self.impossible(history), cancelled), "")

    def holds_joining(self, history: History) -> bool:
        """Return whether the file can hold merge priorities that differ from the order of the steps."""
        return False

    def refuse_the_impossible(self, history: History) -> None:
        sentence = self.refusal(history)
        if sentence:
            raise OutputError(sentence)

    def write(self, history: History, file: BinaryIO, *, progress: ProgressReport = ignore_progress) -> None:
        """Write a history; an exception that `progress` raises ends the writing."""
        self.refuse_the_impossible(history)
        self.write_all(history, file, progress)
        progress(Progress("writing", len(history), len(history), "steps"))

    def numbers(self, history: History) -> Int64s:
        """Return the number of each id in the file: the history's own where the format can, NO_NUMBER for no place."""
        return np.arange(history.id_count)

    @abstractmethod
    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        """Write a history that is not impossible, row by row."""

    def main_file(self, path: Path) -> Path:
        """Return the file to write for a person who names this one, if the format has several."""
        return path

    def companions(self, path: Path) -> dict[Path, Writer]:
        """Return the files that belong beside the one at `path`, and who writes them."""
        return {}

    @abstractmethod
    def recognizes(self, data: bytes) -> bool:
        """Return whether data has this format, judged only by its marks."""

    def recognizes_file(self, data: bytes, name: str, beside: Beside) -> bool:
        """Do the same for a file of that name, with others beside it."""
        return self.recognizes(data)

    @abstractmethod
    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        """Read a whole file, which errors call `name`.

        What no valid file holds raises a FormatError that says where; time and memory stay in proportion to its size.
        """

    def open(self, data: bytes, name: str, beside: Beside = nothing_beside) -> OpenedTable:
        history, notes = self.read_all(data, name, beside)
        matches, recipe = self.does_match_specials(beside), history.recipe
        is_open = matches is not None and not recipe.spelled_specials
        if is_open and (recipe.special_tokens or recipe.preparation):
            history.recipe = recipe.with_changes(spelled_specials="matched" if matches else "text")
        return OpenedTable(history, self.name, tuple(notes))

    def does_match_specials(self, beside: Beside) -> bool | None:
        """Return whether the format's library matches special tokens, given the sidecar files."""
        return self.matches_specials

    def read(self, data: bytes, name: str) -> History:
        return self.open(data, name).history

    def differences(self, data: bytes, history: History) -> list[str] | None:
        """List where the content differs from the history; None: `open` it and see what it encodes."""
        return None

    def peer(self, data: bytes, history: History, name: str, beside: Beside = nothing_beside) -> Peer | None:
        """Load the content in the real library; None where that or a file is missing, or there is no such library."""
        try:
            library = import_module(self.peer_name.replace("-", "_")) if self.peer_name else None
        except ImportError:
            return None  # it is not needed to run: only asked whether it agrees
        return None if library is None else self.loaded_by(library, data, history, name, beside)

    def loaded_by(self, library: Any, data: bytes, history: History, name: str, beside: Beside) -> Peer | None:
        raise NotImplementedError


class ReadOnly(Format):
    """A kind of file that is never written."""

    why_only_read: ClassVar[str]

    def holds_joining(self, history: History) -> bool:
        return True

    def impossible(self, history: History) -> list[str]:
        return [self.why_only_read]

    def does_otherwise(self, history: History) -> list[str]:
        return []

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        self.refuse_the_impossible(history)
