"""The text of a benchmark row, with the tokens of the row's tokenizer.

Only one part of the text is split and shown at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.session.background import BackgroundTasks
from app.window.questions.question_model import QuestionModel
from app.worker.job import Task
from bpe_core.asking import Answer
from bpe_core.asking.shared import at_sizes
from bpe_core.history.history import History
from bpe_core.history.token_texts import shown
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted

TOPIC = "benchmark_text"
AT_ONCE = 600  # characters that are shown
AROUND = 2_000  # characters on both sides that can influence how the part is split
BAR = "|"


@dataclass(frozen=True, eq=False)
class Documents:
    """The documents of a text, with a line end between two documents.

    The documents are never joined into one string.
    """

    documents: Sequence[str]

    @cached_property
    def _stops(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.cumsum([len(document) + 1 for document in self.documents], dtype=np.int64)

    @property
    def length(self) -> int:
        """Return the number of characters, including the line ends between documents."""
        return max(0, int(self._stops[-1]) - 1) if len(self.documents) else 0

    def part(self, start: int, stop: int) -> str:
        """Return the characters from `start` to `stop`.

        >>> Documents(["one", "", "two"]).part(2, 6), Documents(["one", "", "two"]).length
        ('e\\n\\nt', 8)
        """
        stops = self._stops
        first, last = (int(np.searchsorted(stops, place, side="right")) for place in (start, stop))
        parts = []
        for place in range(first, min(last + 1, len(self.documents))):
            before = int(stops[place - 1]) if place else 0
            parts.append(self.documents[place][max(0, start - before) : max(0, stop - before)])
        return "\n".join(parts)


@dataclass(frozen=True, eq=False)
class Row:
    """A row of the benchmark: a text, and the tokenizer that splits it."""

    text: str
    tokenizer: str
    history: History
    at: int
    documents: Callable[[], Documents]  # called on another thread: texts may be in files


@dataclass(frozen=True)
class TextPart:
    """A part of a text, from one character to another, split into tokens."""

    start: int
    stop: int
    length: int  # length of the whole text
    in_tokens: str


def text_part(row: Row, start: int, cancelled: CancelCheck = never_cancelled) -> TextPart:
    """Return the part of a row's text that begins at character `start`, split into tokens.

    Some text before and after the part is encoded, too, because it can change the tokens of the part.
    """
    documents = row.documents()
    length = documents.length
    start = max(0, min(start, length - 1))
    stop = min(length, start + AT_ONCE)
    from_ = max(0, start - AROUND)
    around = documents.part(from_, min(length, stop + AROUND))
    data = around.encode(errors="replace")
    first, last = (len(around[: place - from_].encode(errors="replace")) for place in (start, stop))
    spans = while_wanted(Tokenizer(row.history).spans(data.decode(), row.at), cancelled)
    in_tokens = BAR.join(shown(data[begin:end]) for begin, end, _ in spans if first <= begin < last)
    return TextPart(start, stop, length, in_tokens)


class RowReader(QObject):
    """A background task that encodes the text of the row that a user opened last."""

    changed = Signal()

    def __init__(self, model: QuestionModel, background: BackgroundTasks) -> None:
        super().__init__(model)
        self.row: Row | None = None
        self.stretch: TextPart | None = None
        self._model = model
        self._background = background
        self._answer: Answer | None = None
        self._tokenizers: dict[str, tuple[History, int]] = {}
        self._documents: Callable[[str], Documents] | None = None
        model.changed.connect(self._take_answer)

    def _take_answer(self) -> None:
        answer = self._model.answer
        asked = self._model.current_question
        if answer is self._answer:
            return
        self._answer = answer
        self._tokenizers = {}
        self._documents = None
        self.close()
        if answer is not None and asked is not None:
            question, studies = asked
            texts = cache(lambda: question.texts_of(studies))
            self._documents = cache(lambda name: Documents(texts()[name]))
            self._tokenizers = dict(at_sizes(studies, self._model.value(self._model.parameter("sizes"))))

    def look_at(self, row: int) -> None:
        """Encode the beginning of a text, so that the user can see its tokens.

        The text and the tokenizer are those in row `row` of the answer.
        """
        if self._answer is None or self._documents is None:
            return
        documents = self._documents
        columns = self._answer.columns
        text = columns["text"][row]
        tokenizer = columns["tokenizer"][row]
        self.row = Row(text, tokenizer, *self._tokenizers[tokenizer], lambda: documents(text))
        self.go_to_part(0)

    def go_to_part(self, character: int) -> None:
        """Encode the part of the row's text that begins at the index `character`, counted from 0."""
        row = self.row
        if row is None:
            return

        def cut(task: Task) -> TextPart:
            return text_part(row, character, task.cancelled)

        def take(stretch: TextPart) -> None:
            if self.row is row:
                self.stretch = stretch
                self.changed.emit()

        self._background.run(TOPIC, cut, take)

    def close(self) -> None:
        """Cancel the task, and forget the row."""
        self.row = self.stretch = None
        self._background.cancel(TOPIC)
        self.changed.emit()
