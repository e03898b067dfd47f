"""The model of the user's text with its tokens at every step, for the text view and the ids view.

An edit moves the tokens that are encoded already, and leaves a range of the text that is not encoded. A listener to
`text_changed` calls `request()`, encodes that range, and passes the result to `accept()`. Results for older revisions
of the text are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.session.changes import Step, Steps
from app.window.text.chunks import ChunksChange, TextChunks, utf8_length
from app.window.text.colours import Scale
from bpe_core.history.history import History
from bpe_core.history.ids_in_use import sentence_about_large_ids
from bpe_core.segmenting.boundaries import Boundaries
from bpe_core.segmenting.segmentation import NO_TOKEN as NO_TOKEN
from bpe_core.segmenting.segmentation import Ahead, Segmentation
from bpe_core.segmenting.segmentation import Tokens as Tokens
from bpe_core.splitting.safe_cuts import SafeCuts
from bpe_core.support.arrays import Int32s
from bpe_core.support.numbered_symbols import WIDTH, number_of
from bpe_core.text.characters import count_parts_between_blanks

LARGEST_BYTE = 255  # the largest number before anything is learned
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class TextChange:
    """A change of the text: `removed` was replaced by `added` at one place."""

    start: int  # in characters
    removed: str
    added: str
    chunks: ChunksChange
    is_whole: bool  # the whole text was replaced


@dataclass(frozen=True)
class EncodeRequest:
    revision: int
    start: int
    text: str


@dataclass(frozen=True)
class TokenAt:
    start: int
    stop: int
    id: int  # NO_TOKEN if it is unknown, or there is none
    data: bytes

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.stop


@dataclass(frozen=True)
class TokenCounts:
    """The counts that are shown below the text. A ratio is None if its divisor is 0."""

    characters: int
    bytes: int
    tokens: int
    words: int
    known: bool  # false while a part of the text waits to be encoded
    unknown: int = 0  # number of unknown tokens
    unknown_bytes: int = 0  # bytes of the unknown tokens
    has_symbols: bool = False  # whether private characters stand for symbols, such as notes

    @property
    def bytes_per_token(self) -> float | None:
        """Return the mean length of a token in bytes, or None if there are no tokens.

        Unknown tokens and their bytes do not count.
        """
        tokens = self.tokens - self.unknown
        return (self.bytes - self.unknown_bytes) / tokens if tokens else None

    @property
    def symbols_per_token(self) -> float | None:
        """Return the mean length of a token in symbols. Return None if it is not known.

        In the text, a character of `WIDTH` bytes represents each symbol. So this is the mean length in bytes, divided
        by `WIDTH`.
        """
        return None if self.bytes_per_token is None else self.bytes_per_token / WIDTH

    @property
    def tokens_per_word(self) -> float | None:
        return self.tokens / self.words if self.words else None


class TokenTextModel(QObject):
    text_changed = Signal(object)  # a TextChange
    tokens_changed = Signal()  # the same text has other tokens
    colours_changed = Signal()  # the tokens have other colours

    def __init__(
        self, text: str = "", parent: QObject | None = None, undo: Steps | None = None, label: str = "Edit the text"
    ) -> None:
        """Make the model of a text. `label` names an edit in the Edit menu."""
        super().__init__(parent)
        self.undo = undo or Steps(self)
        self.steps = TextSteps(self.undo, self._change, label)
        self.chunks = TextChunks(_encodable(text))
        self.revision = 0
        self._segmentation: Segmentation = Boundaries.unknown(self.chunks.text().encode())
        self.cursor = 0
        self.scale: Scale | None = None  # None colours by bytes
        self._history: History | None = None  # history of the run shown
        self._words: int | None = None
        self._tokens: int | None = None
        self._edges: Int32s | None = None

    # -- the text --------------------------------------------------------------------------

    def text(self) -> str:
        return self.chunks.text()

    @property
    def length(self) -> int:
        return self.chunks.length

    @property
    def byte_length(self) -> int:
        return self.chunks.byte_length

    def set_text(self, text: str) -> None:
        """Replace the whole text. This cannot be undone."""
        self._change(Edit(0, self.text(), _encodable(text)))
        self.steps.forget()

    def replace(self, start: int, stop: int, added: str, *, joins: bool = False) -> None:
        """Replace the characters from `start` to `stop`. Successive edits with `joins` are undone together."""
        edit = Edit(start, self.chunks.slice(start, stop), _encodable(added))
        if edit.removed != edit.added:
            self.steps.make(edit, joins=joins)

    def _change(self, edit: Edit) -> None:
        start_byte = self.chunks.byte_of(edit.start)
        words = None if self._words is None else self._words + self._words_gained(edit)
        change = self.chunks.replace(edit.start, edit.start + len(edit.removed), edit.added)
        self._segmentation.splice(start_byte, utf8_length(edit.removed), edit.added.encode())
        self.revision += 1
        self._forget_counts()
        self._words = words
        is_whole = len(edit.added) == self.length
        self.text_changed.emit(TextChange(edit.start, edit.removed, edit.added, change, is_whole))

    def _words_gained(self, edit: Edit) -> int:
        """Return the number of words after an edit minus the number of words before it.

        The characters next to the edit are taken into account, because words can be joined or separated there.
        """
        stop = edit.start + len(edit.removed)
        left = self.chunks.slice(max(0, edit.start - 1), edit.start)
        right = self.chunks.slice(stop, min(stop + 1, self.length))
        return count_parts_between_blanks(left + edit.added + right) - count_parts_between_blanks(
            left + edit.removed + right
        )

    # -- questions to the engine, and its answers ------------------------------------------

    @property
    def data(self) -> bytes:
        return self._segmentation.data

    def request(self, cuts: SafeCuts) -> EncodeRequest | None:
        """Return the next range to encode, or None if the whole text is encoded.

        The pattern always splits the text at both ends of this range.
        """
        if self._segmentation.pending is None:
            return None
        start, stop = cuts.around(self.data, *self._segmentation.pending)
        return EncodeRequest(self.revision, start, self.data[start:stop].decode())

    def accept(self, revision: int, start: int, answer: Segmentation, at: int | None = None) -> bool:
        """Store the tokens of the text after byte `start`. Return False if the text changed after the request.

        `revision` is the version of the text that was encoded. `at` is the step for which a background task has
        computed the tokens. The text shows the tokens of step `at` until those of the current step are computed.
        """
        if revision != self.revision:
            return False
        if len(answer.data) == self.byte_length:
            self._segmentation = answer
            if at is not None and answer.ahead_of(self.cursor) is not None:
                self.cursor = at
        else:
            self._segmentation.put(start, answer)
        self._forget_counts()
        self.tokens_changed.emit()
        return True

    def use_history(self, history: History | None) -> None:
        """Use the ids and the unknown token of a history."""
        before = self._history
        self._history = history
        is_same = before is not None and history is not None and before.alphabet is history.alphabet
        if not is_same or before.numbers is not history.numbers:  # type: ignore[union-attr]
            self.tokens_changed.emit()

    def colour_by(self, scale: Scale | None) -> None:
        if scale != self.scale:
            self.scale = scale
            self.colours_changed.emit()

    def number_of(self, id: int) -> int:
        numbers = None if self._history is None else self._history.numbers
        if numbers is None or id == NO_TOKEN:
            return id
        return int(numbers[id]) if id < len(numbers) else NO_TOKEN

    @property
    def largest_number(self) -> int:
        """Return the largest id of all steps, so that the view has the same width at all steps."""
        if self._history is None:
            return LARGEST_BYTE
        numbers = self._history.numbers
        return self._history.index_count - 1 if numbers is None else int(numbers.max(initial=0))

    @property
    def sentence_about_ids(self) -> str:
        """Return a sentence if the largest id is not smaller than the size of the vocabulary after the last step.

        Otherwise return an empty string.
        """
        return "" if self._history is None else sentence_about_large_ids(self._history)

    @property
    def unknown_id(self) -> int | None:
        return None if self._history is None else self._history.alphabet.unknown_id

    @property
    def is_pending(self) -> bool:
        return self._segmentation.pending is not None

    # -- the time cursor -------------------------------------------------------------------

    def ahead_of(self, merges: int) -> Ahead | None:
        """Return a function that a background task must call before the step `merges` can be shown.

        Return None if there is no need.
        """
        return self._segmentation.ahead_of(merges)

    def set_cursor(self, merges: int) -> None:
        if merges != self.cursor:
            self.cursor = merges
            self._tokens = self._edges = None
            self.tokens_changed.emit()

    # -- tokens ----------------------------------------------------------------------------

    def tokens_between(self, start: int, stop: int, cursor: int | None = None) -> Tokens:
        """Return the tokens that overlap a range. `cursor` is the step, or None for the step shown."""
        return self._segmentation.tokens_between(start, stop, self.cursor if cursor is None else cursor)

    def token_at(self, byte: int) -> TokenAt | None:
        if not 0 <= byte < self.byte_length:
            return None
        tokens = self.tokens_between(byte, byte + 1)
        start = int(tokens.edges[0])
        stop = int(tokens.edges[1])
        pending = self._segmentation.pending
        is_known = pending is None or stop < pending[0] or start > pending[1]
        return TokenAt(start, stop, int(tokens.ids[0]) if is_known else NO_TOKEN, self.data[start:stop])

    def token_count(self) -> int:
        if self._tokens is None:
            self._tokens = self._segmentation.count(self.cursor)
        return self._tokens

    def counts(self) -> TokenCounts:
        if self._words is None:
            self._words = count_parts_between_blanks(self.text())
        unknown = 0
        hidden = 0
        is_known = not self.is_pending
        if self.unknown_id is not None and is_known:
            unknown = self._segmentation.count_unknown(self.cursor, self.unknown_id)
        if unknown:
            edges = (tokens := self._segmentation.tokens(self.cursor)).edges
            ids = tokens.ids
            hidden = int(np.diff(edges)[ids == self.unknown_id].sum())
        counted = self.length, self.byte_length, self.token_count(), self._words
        first = self.chunks.slice(0, 1)
        return TokenCounts(*counted, is_known, unknown, hidden, bool(first) and number_of(first) is not None)

    def edges(self) -> Int32s:
        """Return the offset of each token in bytes, and the end of the last token.

        A token without bytes ends where it begins.
        """
        if self._edges is None:
            self._edges = self._segmentation.edges(self.cursor).astype(np.int32)
        return self._edges

    def ids_between(self, first: int, stop: int) -> Tokens:
        edges = self.edges()
        start = int(edges[first])
        end = int(edges[stop])
        tokens = self._segmentation.with_empty(self.tokens_between(start, end), self.cursor, of_neighbours=True)
        skipped = first - int(np.searchsorted(edges, np.int32(start)))
        count = stop - first
        return Tokens(tokens.edges[skipped : skipped + count + 1], tokens.ids[skipped : skipped + count])

    def ids_in(self, start: int, stop: int) -> list[int]:
        """Return the ids of the tokens in a range.

        Tokens that cover no byte of the text are included if their word is in the range.
        """
        tokens = self.tokens_between(start, stop)
        return [id for id in self._segmentation.with_empty(tokens, self.cursor).ids.tolist() if id != NO_TOKEN]

    def token_of_index(self, index: int) -> TokenAt | None:
        start, stop = self.edges()[index : index + 2].tolist()
        if start < stop:
            return self.token_at(start)
        return TokenAt(start, stop, int(self.ids_between(index, index + 1).ids[0]), b"")

    def index_of_token(self, byte: int) -> int:
        return int(np.searchsorted(self.edges(), np.int32(byte), side="right")) - 1

    def _forget_counts(self) -> None:
        self._tokens = self._edges = None


def _encodable(text: str) -> str:
    """Replace halves of surrogate pairs, which UTF-8 cannot hold, by U+FFFD."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


REMEMBERED_CHARACTERS = 64 * 2**20  # older edits are forgotten


@dataclass(frozen=True)
class Edit:
    """An edit of a text: `removed` was replaced by `added` at character `start`.

    >>> Edit(3, "old", "new").reversed()
    Edit(start=3, removed='new', added='old')
    """

    start: int
    removed: str = ""
    added: str = ""

    def reversed(self) -> Edit:
        return Edit(self.start, self.added, self.removed)

    def joined(self, later: Edit) -> Edit | None:
        if self.removed and not self.added and later.removed and not later.added:
            if later.start == self.start:  # Delete, again and again
                return replace(self, removed=self.removed + later.removed)
            if later.start + len(later.removed) == self.start:  # Backspace
                return Edit(later.start, later.removed + self.removed)
        goes_on = later.start == self.start + len(self.added) and not later.removed
        starts_word = self.added[-1:].isspace() and not later.added[:1].isspace()
        if self.added and goes_on and not starts_word and "\n" not in later.added:
            return replace(self, added=self.added + later.added)
        return None


class TextSteps:
    def __init__(self, stack: Steps, change: Callable[[Edit], None], label: str) -> None:
        self._stack = stack
        self._change = change
        self._label = label
        self._known: list[Step] = []
        self._is_sealed = False

    def end_typing(self) -> None:
        self._is_sealed = True

    def forget(self) -> None:
        """Make all steps on the undo stack ineffective, because the window now shows a different text."""
        for step in self._known:
            step.before = step.after = Edit(0)
        self._known.clear()

    def make(self, edit: Edit, *, joins: bool) -> None:
        """Make an edit as a step that can be undone.

        If `joins` is true, the edit may become a part of the last step.
        """
        stack = self._stack
        if stack.is_walking:
            self._change(edit)
            return
        last = self._known[-1] if self._known and joins and not self._is_sealed and not stack.canRedo() else None
        whole = last.after.joined(edit) if last is not None and stack.command(stack.count() - 1) is last else None
        if last is not None and whole is not None:
            last.before = whole.reversed()
            last.after = whole
            self._change(edit)
        else:
            step = Step(stack, self._label, self._walk, edit.reversed(), edit)
            self._known = [*(known for known in self._known if not known.is_undone), step]
            stack.push(step)
            self._forget_the_oldest()
        self._is_sealed = not joins

    def _walk(self, edit: Edit) -> None:
        self._is_sealed = True
        if edit.removed != edit.added:
            self._change(edit)

    def _forget_the_oldest(self) -> None:
        size = sum(len(step.after.removed) + len(step.after.added) for step in self._known)
        while size > REMEMBERED_CHARACTERS and len(self._known) > 1:
            oldest = self._known.pop(0)
            size -= len(oldest.after.removed) + len(oldest.after.added)
            oldest.before = oldest.after = Edit(0)
