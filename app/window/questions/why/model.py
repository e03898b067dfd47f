"""One word of the person's text, closely: its merge tree, and for each boundary why it stands or fell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.session.run import Run
from app.session.session import Session
from app.window.parts.watched import Asked, Watched
from app.window.text.text_model import TokenTextModel
from app.worker.job import Task
from bpe_core.errors import Cancelled
from bpe_core.history.history import History
from bpe_core.insight.explanation import explain
from bpe_core.insight.merge_tree import Node
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.insight.reasons import Explanation
from bpe_core.insight.reasons import Way as Way
from bpe_core.insight.why import Reason, Why, WordInText, sentence
from bpe_core.learning.methods import has_ranks
from bpe_core.questions.tree import MOST_SYMBOLS, Tree
from bpe_core.segmenting.boundaries import NEVER
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.text.safe_cuts import SafeCuts

FOLLOW_MILLISECONDS = 80
MOST_BOUNDARIES = 120  # of a word; nobody reads more reasons
MOST_DRAWN = MOST_SYMBOLS  # of a word whose tree is drawn at each of its steps
LONGEST_ARGUMENT = 10_000  # characters that a command is given


@dataclass(frozen=True)
class Joint:
    """A boundary between two symbols of the word (or at one of its ends), and what is to be said about it."""

    place: int  # before the symbol with this index
    byte: int  # in the text
    kind: str
    sentence: str
    steps: tuple[int, ...]  # the merges spoken of, to travel to
    rank: int | None  # the merge that dissolves it, whenever that is


@dataclass(frozen=True)
class TreeNode:
    """A token of the tree with all that is shown of it."""

    id: int
    text: str
    start: int
    stop: int
    step: int | None
    count: int | None
    left: TreeNode | None = None
    right: TreeNode | None = None


@dataclass(frozen=True)
class StepShown:
    """A moment in the encoding of the word."""

    step: int | None  # None before any merge
    tokens: tuple[TreeNode, ...]


@dataclass(frozen=True)
class WordFacts:
    """The word as of merge `at`."""

    at: int
    byte: int  # the one that was asked about
    symbols: tuple[str, ...]
    trees: tuple[TreeNode, ...]
    joints: tuple[Joint, ...]
    steps: tuple[StepShown, ...]

    @property
    def asked(self) -> Joint | None:
        """The boundary that was asked about."""
        return next((joint for joint in self.joints if joint.byte >= self.byte), None)


@dataclass(frozen=True)
class PlaceFacts:
    """A place between two bytes as of step `at`, where the method has no merge trees to show."""

    at: int
    byte: int
    explanation: Explanation


class WhyModel(QObject, Watched):
    """Answers for the place that was clicked last, at the moment shown, while somebody looks."""

    has_figure = True
    changed = Signal()

    def __init__(self, session: Session, text: TokenTextModel) -> None:
        super().__init__(session)
        self.facts: WordFacts | None = None
        self.place: PlaceFacts | None = None
        self._text, self._runs, self._cursor, self._aside = text, session.runs, session.cursor, session.aside
        self._byte: int | None = None
        self._other: bytes | None = None  # a text that is asked about instead of the person's
        self.refresh_on(FOLLOW_MILLISECONDS, text.text_changed, session.cursor.moved, session.runs.changed)

    @property
    def asked(self) -> Asked | None:
        """The tree of the word at the moment shown."""
        asked, study = self._asked(), self._runs.studies.of(self._runs.shown)
        if asked is None or study is None:
            return None
        return Tree(text=asked[0], byte=asked[1], at=self._cursor.position), study

    @property
    def command(self) -> tuple[str, ...]:
        asked = self._asked()
        return super().command if asked is not None and len(asked[0]) <= LONGEST_ARGUMENT else ()

    def _asked(self) -> tuple[str, int] | None:
        """The text around the word, and where in it the word is asked about; if there is one with a tree."""
        run = self._runs.shown
        if self.facts is None or run is None or run.history is None or self._byte is None:
            return None
        start, stop = self._surroundings(self._byte, run)
        return self._data[start:stop].decode(), self._byte - start

    def look_at(self, byte: int, text: str | None = None) -> None:
        """Ask about the boundary before this byte of the person's text, or of another."""
        self._byte, self._other = byte, None if text is None else text.encode()
        self.refresh_soon()

    @property
    def is_asked(self) -> bool:
        """Whether there is a place to answer for."""
        return self._byte is not None

    def look_next_to(self, byte: int) -> None:
        """Ask about another place of the same text."""
        self._byte = byte
        self.refresh_soon()

    def travel_to(self, step: int) -> None:
        """Go to the moment right after that merge."""
        self._cursor.go_to(step)

    def refresh(self) -> None:
        run, byte = self._runs.shown, self._byte
        self._rest_as_long(self._aside, "why", run)
        if run is None or run.history is None or byte is None or not 0 <= byte <= len(self._data):
            self._take(None)
            return
        start, stop = self._surroundings(byte, run)
        text = self._data[start:stop].decode()
        at, history = self._cursor.position, run.history
        if has_ranks(history):
            self._ask_for_the_word(run, text, byte, start, at)
            return

        def explained(task: Task) -> PlaceFacts:
            at_byte = explain(text, history, "all")
            if task.cancelled():
                raise Cancelled("Cancelled.")
            return PlaceFacts(at, byte, at_byte(byte - start, min(at, len(history))))

        self._aside.ask("why", explained, lambda place: self._take(None, place))

    def _ask_for_the_word(self, run: Run, text: str, byte: int, start: int, at: int) -> None:
        history, ranked = run.history, self._runs.studies.ranked(run)
        assert history is not None
        names = _names_of(run, history)

        def work(task: Task) -> WordFacts | None:
            corpus = ranked() if ranked is not None else None
            return word_facts(text, byte - start, start, history, at, names, corpus, task.cancelled)

        self._aside.ask("why", work, self._take)

    @property
    def _data(self) -> bytes:
        return self._text.data if self._other is None else self._other

    def _surroundings(self, byte: int, run: Run) -> tuple[int, int]:
        """A part of the text that holds the words on both sides of this byte, and whatever their cuts depend on."""
        cuts, data = SafeCuts.of(run.recipe), self._data
        return cuts.around(data, *cuts.around(data, byte, byte))

    def _take(self, facts: WordFacts | None, place: PlaceFacts | None = None) -> None:
        if (facts, place) != (self.facts, self.place):
            self.facts, self.place = facts, place
            self.changed.emit()


def _names_of(run: Run, history: History) -> Callable[[int], str]:
    """What is written on a token. The run's list may be longer than this history by now, where specials begin."""
    texts = run.names.text if run.names is not None else []
    specials, first_special = history.recipe.special_tokens, history.first_special
    return lambda id: texts[id] if id < first_special else specials[id - first_special]


def word_facts(
    text: str,
    byte: int,
    offset: int,
    history: History,
    at: int,
    name: Callable[[int], str],
    corpus: RankedWords | None,
    cancelled: CancelCheck = never_cancelled,
) -> WordFacts | None:
    """All about the word that holds this byte of the text, which itself begins at `offset`."""
    why = Why(text, history, corpus=corpus, allowed_special="all")
    word = why.word_at(byte)
    if not word.symbols:
        return None
    trees = tuple(_shown(node, history, name) for node in word.trees(at))
    return WordFacts(
        at=at,
        byte=byte + offset,
        symbols=tuple(map(name, word.symbols)),
        trees=trees,
        joints=tuple(_joints(why, word, at, offset, name, cancelled)),
        steps=tuple(
            StepShown(
                None if step.rank is None else step.rank + 1,
                tuple(_shown(node, history, name, deep=len(word.symbols) <= MOST_DRAWN) for node in step.tokens),
            )
            for step in while_wanted(word.steps(), cancelled)
        ),
    )


def _joints(
    why: Why, word: WordInText, at: int, offset: int, name: Callable[[int], str], cancelled: CancelCheck
) -> list[Joint]:
    """The ends of the word and every boundary inside it."""

    def joint(place: int, byte: int, reason: Reason, rank: int | None) -> Joint:
        return Joint(place, byte + offset, reason.kind, sentence(reason, name), reason.steps, rank)

    found = [joint(0, word.start, why.at_byte(word.start, at), None)]
    for place in while_wanted(range(1, min(len(word.symbols), MOST_BOUNDARIES)), cancelled, every=16):
        rank = word.ranks[place - 1]
        reason = why.in_word(word, place, at)
        found.append(joint(place, word.starts[place], reason, rank if rank != NEVER else None))
    found.append(joint(len(word.symbols), word.stop, why.at_byte(word.stop, at), None))
    return found


def _shown(node: Node, history: History, name: Callable[[int], str], *, deep: bool = True) -> TreeNode:
    count = None
    if node.rank is not None and history.has_counts:
        count = int(history.columns.count[node.rank])
    return TreeNode(
        id=node.id,
        text=name(node.id),
        start=node.start,
        stop=node.stop,
        step=None if node.rank is None else node.rank + 1,
        count=count,
        left=_shown(node.left, history, name) if deep and node.left is not None else None,
        right=_shown(node.right, history, name) if deep and node.right is not None else None,
    )
