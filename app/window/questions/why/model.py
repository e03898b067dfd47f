"""The model of a word of the user's text: its merge tree, and the reason for each boundary."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.session.repeat_code import LONGEST_ARGUMENT
from app.session.run import Run
from app.session.session import Session
from app.window.parts.lazy_model import Asked, LazyModel
from app.window.text.specials import allowed_in, chosen_reading
from app.window.text.text_model import TokenTextModel
from app.worker.job import Task
from bpe_core.asking import ask_about
from bpe_core.errors import Cancelled
from bpe_core.figures.figure import Figure, branches_of_one_tree
from bpe_core.insight.explanation import explain
from bpe_core.methods.kit.explanation import ExplainedText, Explanation, NoTree
from bpe_core.methods.kit.merge_tree import Piece
from bpe_core.questions.tree import Tree
from bpe_core.questions.ways import Ways
from bpe_core.segmenting.boundaries import NEVER
from bpe_core.segmenting.cutting import Allowed
from bpe_core.splitting.safe_cuts import SafeCuts
from bpe_core.studies.study import Study
from bpe_core.support.progress import CancelCheck, Work, never_cancelled, while_wanted

FOLLOW_MILLISECONDS = 80
MOST_BOUNDARIES = 120  # most boundaries of a word with reasons
FEW_DRAWS = 20  # for the lattice of one word


@dataclass(frozen=True)
class BoundaryFacts:
    """A boundary between two symbols of a word or at an end of the word, and the reason why it is kept or removed."""

    place: int  # before the symbol with this index
    byte: int  # in the text
    kind: str
    sentence: str
    steps: tuple[int, ...]  # merges in the sentence, to travel to


@dataclass(frozen=True)
class TreeNode:
    """A token in a merge tree. It covers the symbols from `start` to `stop`."""

    text: str
    start: int
    stop: int
    step: int | None  # that made it
    count: int | None
    until: int | None = None  # the step by which it falls apart

    def was_split_again(self, step: int) -> bool:
        return self.until is not None and self.until <= step


@dataclass(frozen=True)
class WordFacts:
    """The facts about a word: its symbols, its merge tree, and the reason for each boundary after `at` steps."""

    at: int
    byte: int  # the boundary asked about
    symbols: tuple[str, ...]
    nodes: tuple[TreeNode, ...]  # all nodes, each after its parts
    boundaries: tuple[BoundaryFacts, ...]

    @property
    def clicked_boundary(self) -> BoundaryFacts | None:
        """Return the clicked boundary: the first boundary at or after `byte`. Return None if there is none."""
        return next((boundary for boundary in self.boundaries if boundary.byte >= self.byte), None)

    @property
    def steps(self) -> tuple[int, ...]:
        """Return the steps that change the word, in order.

        The first value is 0, which stands for the word before any step.
        """
        return (0, *sorted({step for node in self.nodes for step in (node.step, node.until) if step is not None}))

    def nodes_at(self, step: int) -> list[TreeNode]:
        """Return the nodes that exist after `step` steps."""
        return [node for node in self.nodes if (node.step or 0) <= step and not node.was_split_again(step)]

    def places_at(self, step: int) -> list[TreeNode]:
        """Return the nodes that are drawn in the tree, if the tree shows the state after `step` steps.

        A step can split a node again, and a later step can join a part of it to a neighbour. Then the old and the new
        node overlap, and only one of the two is drawn. This is the node that exists after `step` steps, if there is
        one.
        """
        if all(node.until is None for node in self.nodes):
            return list(self.nodes)
        fallen = [node for node in reversed(self.nodes) if node.was_split_again(step)]
        return branches_of_one_tree([*self.nodes_at(step), *fallen, *self.nodes])

    def split_after(self, step: int) -> list[TreeNode]:
        """Return the tokens of the word after `step` steps."""
        tokens: list[TreeNode] = []
        for node in self.nodes_at(step):
            while tokens and tokens[-1].start >= node.start:
                tokens.pop()
            tokens.append(node)
        return tokens


class WhyModel(QObject, LazyModel):
    """A model of the answer for the boundary that was clicked last, at the step shown.

    `facts` holds the word at the boundary with its merge tree. If the method has no merge trees, then `place` holds the
    explanation.
    """

    has_figure = True
    changed = Signal()

    def __init__(self, session: Session, text: TokenTextModel) -> None:
        super().__init__(session)
        self.facts: WordFacts | None = None
        self.place: Explanation | None = None
        self._text = text
        self._runs = session.runs
        self._cursor = session.cursor
        self._background = session.background
        self.lattice: Figure | None = None  # all the ways to split the word at `place`
        self._lattice_of: Hashable = None
        self._byte: int | None = None
        self._other: bytes | None = None  # the text, if it is not the user's
        self._specials = session.specials
        self.refresh_on(FOLLOW_MILLISECONDS, text.text_changed, session.cursor.moved, session.runs.changed)
        session.specials.changed.connect(self.refresh_soon)

    @property
    def current_question(self) -> Asked | None:
        """Return the question about the merge tree of the word at the step shown, with its study."""
        asked = self._asked()
        study = self._runs.studies.of(self._runs.shown)
        if asked is None or study is None:
            return None
        specials = chosen_reading(study.history.recipe, self._specials.value)
        return Tree(text=asked[0], byte=asked[1], at=self._cursor.position, specials=specials), study

    @property
    def command(self) -> tuple[str, ...]:
        asked = self._asked()
        return super().command if asked is not None and len(asked[0]) <= LONGEST_ARGUMENT else ()

    def _asked(self) -> tuple[str, int] | None:
        """Return a part of the user's text around the clicked word, and the offset of the clicked boundary in this
        part.

        Return None if the word has no merge tree.
        """
        run = self._runs.shown
        if self.facts is None or run is None or run.history is None or self._byte is None:
            return None
        start, stop = self._surroundings(self._byte, run)
        return self._data[start:stop].decode(), self._byte - start

    def look_at(self, byte: int, text: str | None = None) -> None:
        """Ask about the boundary before a byte of the user's text.

        If `text` is not None, ask about a byte of this text.
        """
        self._byte = byte
        self._other = None if text is None else text.encode()
        self.refresh_soon()

    @property
    def is_asked(self) -> bool:
        """Return whether a boundary was clicked."""
        return self._byte is not None

    def ask_about_neighbour(self, byte: int) -> None:
        """Ask about a different boundary of the same text. It lies before the byte at offset `byte`."""
        self._byte = byte
        self.refresh_soon()

    def travel_to(self, step: int) -> None:
        """Move the time slider to the step right after merge `step`."""
        self._cursor.go_to(step)

    def find_lattice(self) -> None:
        """Start a background task that draws the lattice of the word at the clicked boundary.

        Do nothing if it is drawn already.
        """
        run = self._runs.shown
        byte = self._byte
        study = self._runs.studies.of(self._runs.shown)
        if run is None or study is None or byte is None:
            return
        at = min(self._cursor.position, len(study.history))
        word = _word_around(self._data, byte)
        key = run.stamp, at, word
        if not word or key == self._lattice_of:
            return
        self._lattice_of = key
        self.lattice = None

        def take(figure: Figure | None) -> None:
            self.lattice = figure
            self.changed.emit()

        def work(task: Task) -> Figure | None:
            return ask_about(Ways, study.at(at), Work(cancelled=task.cancelled), text=word, draws=FEW_DRAWS).figure

        self._background.run("lattice", work, take)

    def refresh(self) -> None:
        run = self._runs.shown
        byte = self._byte
        at = self._cursor.position
        study = self._runs.studies.of(self._runs.shown)
        self._set_refresh_pause(self._background, "why", run)
        if run is None or study is None or byte is None or not 0 <= byte <= len(self._data):
            self._take(None)
            return
        start, stop = self._surroundings(byte, run)
        text = self._data[start:stop].decode()
        allowed = allowed_in(run.recipe, self._specials.value)

        def work(task: Task) -> tuple[WordFacts | None, Explanation | None]:
            explained = explain_boundary(study, text, allowed)
            then = min(at, len(study.history))
            if task.cancelled():
                raise Cancelled("Cancelled.")
            try:
                return word_facts(study, explained, byte - start, start, then, task.cancelled), None
            except NoTree:
                return None, explained.explanation_at(byte - start, then)

        self._background.run("why", work, lambda result: self._take(*result))

    @property
    def ways(self) -> list[tuple[str, int | None]]:
        """Return lines that explain the boundary if the method has no merge tree.

        Each item has a text and a step. The text shows one way to split the word. A click on the line leads to the
        step, unless the step is None.
        """
        lines = []
        for way in () if self.place is None else self.place.ways:
            pieces = (f"{piece.text} {piece.number}".rstrip() for piece in way.pieces)
            pieces_text = f"{' + '.join(pieces)} = {way.total}" if way.total else " | ".join(pieces)
            lines.append((f"{way.title}:  {pieces_text}", way.step))
        return lines

    @property
    def _data(self) -> bytes:
        return self._text.data if self._other is None else self._other

    def _surroundings(self, byte: int, run: Run) -> tuple[int, int]:
        """Return the beginning and the end of a part of the text around a byte.

        The part is long enough that the words on both sides of the byte are split as in the whole text.
        """
        cuts = SafeCuts.of(run.recipe)
        data = self._data
        return cuts.around(data, *cuts.around(data, byte, byte))

    def _take(self, facts: WordFacts | None, place: Explanation | None = None) -> None:
        if (facts, place) != (self.facts, self.place):
            self.facts = facts
            self.place = place
            self.changed.emit()


def _word_around(data: bytes, byte: int) -> str:
    """Return the word at a byte, or else the next word, with a space before it.

    Return an empty string if no word follows. In this function, whitespace separates words.
    """
    text = data.decode(errors="replace")
    place = len(data[:byte].decode(errors="ignore"))
    before = text[:place].split()
    behind = text[place:].split()
    first = before[-1] if before and not text[:place][-1:].isspace() else ""
    last = behind[0] if behind and (not first or not text[place : place + 1].isspace()) else ""
    return f" {first}{last}" if first or last else ""


def explain_boundary(study: Study, text: str, allowed: Allowed = "all") -> ExplainedText:
    is_counted = study.inside.has_ranks and study.texts is not None and len(study.history) > 0
    return explain(text, study.history, allowed, study.inside.ranked() if is_counted else None)


def word_facts(
    study: Study,
    explained: ExplainedText,
    byte: int,
    offset: int,
    at: int,
    cancelled: CancelCheck = never_cancelled,
) -> WordFacts | None:
    """Return the facts about the word at a byte of a text, or None if there is no word.

    `offset` is where the text begins in the user's whole text. Raise `NoTree` if the word has no merge tree.
    """
    word = explained.word_at(byte, at)
    size = len(word.symbols)
    if not size:
        return None

    def boundary(place: int) -> BoundaryFacts:
        here = word.byte_at(place)
        reason = word.explanation(place, at) if 0 < place < size else explained.explanation_at(here, at)
        return BoundaryFacts(place, here + offset, reason.kind, reason.sentence, reason.steps)

    places = while_wanted([*range(min(size, MOST_BOUNDARIES)), size], cancelled, every=16)
    symbols = tuple(study.inside.by_index.texts.text[symbol] for symbol in word.symbols)
    return WordFacts(at, byte + offset, symbols, _nodes(study, word.pieces(NEVER)), tuple(map(boundary, places)))


def _nodes(study: Study, pieces: Sequence[Piece]) -> tuple[TreeNode, ...]:
    names = study.inside.by_index.texts.text
    history = study.history
    return tuple(
        TreeNode(names[piece.id], piece.start, piece.stop, piece.step or None, piece.times_joined(history), piece.until)
        for piece in pieces
    )
