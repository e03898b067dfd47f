"""The base class of all file formats of merge tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, TypeVar

import numpy as np

from bpe_core.errors import FormatError, OutputError, RecipeError
from bpe_core.history.history import NO_NUMBER as NO_NUMBER
from bpe_core.history.history import History, Int64s
from bpe_core.history.token_texts import quoted
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
from bpe_core.support.wording import count_sentence

if TYPE_CHECKING:
    from bpe_core.counting.words import WordTable

# Returns the content of a sidecar file by its name, such as vocab.json for merges.txt, or None if there is no such
# file.
Beside = Callable[[str], bytes | None]
Writer = Callable[[History, BinaryIO], None]
Opened = tuple[History, Sequence[str]]  # with notes about what the file does or lacks, which the history cannot say
# Splits a text by another program: into the ids of its tokens, or into their texts where it has no ids.
Peer = Callable[[str], list[int] | list[bytes]]
T = TypeVar("T")

STEPS_BETWEEN_REPORTS = 4_096
TO_UTF8 = "save the text as UTF-8 in an editor, or with: iconv -f GB18030 -t UTF-8 OLD > NEW."
LISTED = 3  # tokens named in a sentence
MOST_GAPS = 100_000  # ids without a token, in files where the position of a token is its id

# The kinds of tables that several formats hold. A method says which of them hold its result. A kind that only one
# method has, and the models of tokenizer.json, have names of their own.
RANKS = "ranks"  # tokens joined by their rank
PAIRS = "pairs"  # each step joins a pair, everywhere in all texts
IN_WORDS = "words"  # the same, with pairs counted within words
LONGEST = "longest"  # tokens of which the longest that fits is taken
SCORES = "scores"  # tokens with log-probabilities
PIECES = "pieces"  # the same, and the best path needs no other costs


def own_numbers(history: History) -> Int64s:
    """Return the id that each token has in its file. If the history has no such ids, the indices serve as ids."""
    return history.numbers_of(np.arange(history.index_count))


def dense_numbers(history: History) -> Int64s | None:
    """Return the ids of the history, for a file in which the position of a token is its id.

    Return None if the history has no ids, or if more than `MOST_GAPS` positions would be empty.
    """
    known = history.numbers
    return known if known is not None and int(known.max()) < len(known) + MOST_GAPS else None


def complete_numbers(history: History, unknown: int | None = None) -> Int64s:
    """Return the ids of the history. Return indices instead if a token that can occur in a text has no id.

    The token with the index `unknown` may lack an id.
    """
    numbers = own_numbers(history)
    joining = history.joining
    unreachable = {unknown, *history.alphabet.idle_fallbacks}
    unreachable |= set() if joining is None else {*joining.left_out, *joining.hidden}
    lacking = set(np.flatnonzero(numbers == NO_NUMBER).tolist())
    return numbers if lacking.issubset(unreachable) else np.arange(history.index_count)


def unless_ids(numbers: Int64s) -> Int64s | None:
    return None if np.array_equal(numbers, np.arange(len(numbers))) else numbers


def ids_beside(history: History, numbers: Int64s) -> Int64s | None:
    """Return the ids of a table that was made from `history`, for `History.numbered`.

    Ids that are the indices are None. But a table whose tokens are looked up keeps the ids of its file, because a table
    without ids gets others in such a file: those of the special tokens come first.
    """
    is_numbered = history.numbers is not None and METHODS[history.recipe.method].looks_tokens_up
    return numbers if is_numbered else unless_ids(numbers)


def reported(rows: Iterable[tuple[int, T]], history: History, progress: ProgressReport) -> Iterator[T]:
    """Yield the rows to write, and report from time to time which step is being written."""
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
        raise FormatError(f"{where}: the bytes from byte {error.start + 1:,} on are not UTF-8{advice}") from error


def listed(texts: Sequence[bytes]) -> str:
    """Return a phrase for a message with the first of the given texts, in quotes.

    >>> listed([b"a", b"b", b"c", b"d"])
    '“a”, “b”, “c” and 1 more'
    """
    few = ", ".join(map(quoted, texts[:LISTED]))
    return few + (f" and {len(texts) - LISTED:,} more" if len(texts) > LISTED else "")


def about(texts: Collection[str | bytes], sentence: str) -> list[str]:
    """Return a list with one sentence about the given texts. Without texts, return an empty list.

    The sentence begins with the number of texts. In `sentence`, `{}` is replaced by the first texts.

    >>> about(["a", "b"], "characters are left out: {}"), about(["a"], "characters are left out: {}"), about([], "{}")
    (['2 characters are left out: “a”, “b”.'], ['1 character is left out: “a”.'], [])
    """
    raw = [text.encode() if isinstance(text, str) else text for text in texts]
    return [f"{count_sentence(len(raw), sentence).format(listed(raw))}."] if raw else []


def no_sidecar_files(name: str) -> bytes | None:
    """Return None for every name. A reader uses this function for a file without sidecar files."""
    return None


@dataclass(frozen=True, eq=False)
class OpenedTable:
    history: History
    format: str  # the name of the format
    notes: tuple[str, ...] = ()  # one sentence for each thing that the file does or lacks and the history cannot say
    words: WordTable | None = None  # the corpus that the table was learned from, in a session
    texts: Hashable = ()  # the texts of that corpus, as far as the session names them

    def numbers_of(self, ids: Iterable[int]) -> list[int]:
        numbers: list[int] = self.history.numbers_of(list(ids)).tolist()
        return numbers

    def ids_of(self, numbers: Iterable[int]) -> list[int]:
        return self.history.indices_of(numbers)


class Flaw(str):
    """A note about a mistake in a table. A correct program never writes such a table."""


class Format(ABC):
    """The base of all formats. A format has no state, so all callers share one object.

    Attributes
    ----------
    name
        The name that a user types, such as "csv".
    tables
        The kinds of tables that files of the format hold. A format with an empty set holds all kinds.
    methods
        The names of the methods whose tables the format holds. Older plug-ins give these names in place of `tables`.
    holds
        A phrase for the tables that the format holds. A message about a table that it cannot hold contains the phrase.
    told_late
        Whether only the end of a file proves that the file has this format.
    enough
        The number of bytes at the beginning of a file that are read. A value of 0 means that the whole file is read.
    holds_splitting
        Whether a file says how a text is split into words.
    numbers_tokens
        Whether the tokens in a file have ids.
    holds_hidden
        Whether a file can hold tokens without an id, which are only parts of other tokens.
    joins_unknown
        Whether several unknown characters in a row become one token.
    sums
        The precision in which the format's library adds log-probabilities, such as "64 bits". It is empty if the
        precision does not matter.
    peer_name
        The name of the library that `peer` calls. It is empty if there is no library.
    peer_call
        The expression that calls this library, as a user would write it.
    holds_specials
        Whether programs that load a file search texts for its special tokens.
    matches_specials
        Whether the format's library by default matches special tokens in a text. None means that the file decides.
    """

    name: ClassVar[str]
    tables: ClassVar[frozenset[str]] = frozenset({RANKS})
    methods: ClassVar[tuple[str, ...] | None] = None
    holds: ClassVar[str] = "only merges of pairs"
    told_late = False
    enough: ClassVar[int] = 0
    holds_splitting = True
    numbers_tokens = True
    holds_hidden = False
    joins_unknown = False
    sums: ClassVar[str] = ""
    peer_name: ClassVar[str] = ""
    peer_call: ClassVar[str] = "encode(text)"
    holds_specials = True
    matches_specials: ClassVar[bool | None] = False

    def can_hold(self, history: History) -> list[str]:
        """Return one sentence for each part of a history that this format cannot store."""
        return self.impossible(history) or self.does_otherwise(history)

    @abstractmethod
    def does_otherwise(self, history: History) -> list[str]:
        """Return one sentence for each difference between a history and its written file.

        The history can be written in spite of these differences.
        """

    def spelled(self, history: History) -> tuple[str, ...]:
        """Return the texts that the history and the written file split differently.

        `can_hold` reports these texts.
        """
        return ()

    def is_beyond(self, history: History, text: str) -> bool:
        """Return whether a limit that `can_hold` reports applies to a text.

        If so, the file may split the text differently.
        """
        return False

    def impossible(self, history: History) -> list[str]:
        """Return one sentence for each reason why a history cannot be written at all.

        The result is empty if the history can be written.
        """
        return []

    def refusal(self, history: History, cancelled: CancelCheck = never_cancelled) -> str:
        """Say why a history cannot be written, in one sentence. Nothing is written.

        The sentence is empty if the history can be written.
        """
        if refusal := METHODS[history.recipe.method].refusal(self):
            return refusal
        if history.recipe.base_symbols and self.tables:
            return (
                f"{self.name} stores texts, but the symbols of this table are {history.recipe.base_symbols}. Save the "
                "table as json or csv, or as a session."
            )
        if history.joining is not None and history.joining.hidden and not self.holds_hidden:
            return (
                f"{self.name} cannot store tokens without an id. Save the table as json or as a session, or trim it "
                "again so that no token without an id is left."
            )
        if history.joining is not None and not self.holds_joining(history):
            return (
                f"{self.name} cannot store merge priorities, and this table does not merge in the order of its "
                "steps. Choose the format that the table came from, tokenizer.json or a session."
            )
        return next(while_wanted(self.impossible(history), cancelled), "")

    def holds_joining(self, history: History) -> bool:
        """Return whether a file can store merge priorities that differ from the order of the steps."""
        return False

    def refuse_the_impossible(self, history: History) -> None:
        sentence = self.refusal(history)
        if sentence:
            raise OutputError(sentence)

    def write(self, history: History, file: BinaryIO, *, progress: ProgressReport = ignore_progress) -> None:
        """Write a history to an open file. `progress` may raise an exception to stop the writing."""
        self.refuse_the_impossible(history)
        self.write_all(history, file, progress)
        progress(Progress("writing", len(history), len(history), "steps"))

    def numbers(self, history: History) -> Int64s:
        """Return the id of each token in the written file. A token without an id has NO_NUMBER.

        A format should keep the ids of the history if it can. This default uses the indices as ids.
        """
        return np.arange(history.index_count)

    @abstractmethod
    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        """Write all rows of a history. Call this only if the method `impossible` returns an empty list."""

    def main_file(self, path: Path) -> Path:
        """Return the path of the main file. `path` is the path that a user names.

        The two paths differ only in formats with several files.
        """
        return path

    def companions(self, path: Path) -> dict[Path, Writer]:
        """Return the path of each sidecar file for a file at `path`, and the function that writes the sidecar file."""
        return {}

    @abstractmethod
    def recognizes(self, data: bytes) -> bool:
        """Return whether the data has this format.

        The check is quick: it looks only for features that files of other formats do not have.
        """

    def recognizes_file(self, data: bytes, name: str, beside: Beside) -> bool:
        """Return whether a file has this format, judged by its content, its name and its sidecar files."""
        return self.recognizes(data)

    @abstractmethod
    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        """Read the whole content of a file. Error messages call the file `name`.

        Invalid content raises a FormatError that names the faulty place. Time and memory grow in proportion to the
        size of the file.
        """

    def open(self, data: bytes, name: str, beside: Beside = no_sidecar_files) -> OpenedTable:
        history, notes = self.read_all(data, name, beside)
        matches = self.does_match_specials(beside)
        recipe = history.recipe
        is_open = matches is not None and not recipe.spelled_specials
        if is_open and (recipe.special_tokens or recipe.preparation):
            history.recipe = recipe.with_changes(spelled_specials="matched" if matches else "text")
        return OpenedTable(history, self.name, tuple(notes))

    def does_match_specials(self, beside: Beside) -> bool | None:
        """Return whether the format's library searches texts for special tokens.

        This can depend on the sidecar files.
        """
        return self.matches_specials

    def read(self, data: bytes, name: str) -> History:
        return self.open(data, name).history

    def differences(self, data: bytes, history: History) -> list[str] | None:
        """Return one sentence for each difference between the content of a file and a history.

        Return None if this format cannot compare them directly. Then the caller must open the file, and encode texts
        both with its table and with the history.
        """
        return None

    def peer(self, data: bytes, history: History, name: str, beside: Beside = no_sidecar_files) -> Peer | None:
        """Load the content of a file with the library of this format.

        Return None if the library or a needed file is missing.
        """
        try:
            library = import_module(self.peer_name.replace("-", "_")) if self.peer_name else None
        except ImportError:
            return None  # an optional library: it only serves for comparison
        return None if library is None else self.loaded_by(library, data, history, name, beside)

    def loaded_by(self, library: Any, data: bytes, history: History, name: str, beside: Beside) -> Peer | None:
        raise NotImplementedError


class ReadOnly(Format):
    """A format of files that this program reads but never writes."""

    why_only_read: ClassVar[str]

    def holds_joining(self, history: History) -> bool:
        return True

    def impossible(self, history: History) -> list[str]:
        return [self.why_only_read]

    def does_otherwise(self, history: History) -> list[str]:
        return []

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        self.refuse_the_impossible(history)
