"""The encoder of the user's text, which works while the text is edited and merges are learned."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from PySide6.QtCore import QObject

from app.session.session import Session
from app.window.parts.timing import Throttle
from app.window.text.specials import allowed_in
from app.window.text.text_model import EncodeRequest, TokenTextModel
from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.segmentation import Segmentation
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.safe_cuts import SafeCuts
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted

TOPIC = "person_text"
MOMENT = "person_text_at_step"
CHARACTERS = "person_text_characters"
LEARNING_MILLISECONDS = 200  # milliseconds between two encodings while merges stream
TYPING_MILLISECONDS = 15
LOOKED_AT = 20_000  # characters that are looked at before there is a run
TEXT_MILLISECONDS = 300  # milliseconds until the session's copy follows the text


class LiveEncoder(QObject):
    """An encoder of the text. It works after each change, with one encoding at a time."""

    def __init__(self, model: TokenTextModel, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        runs = session.runs
        recipe = session.recipe
        background = session.background
        self._model = model
        self._runs = runs
        self._cursor = session.cursor
        self._recipe = recipe
        self._background = background
        self._specials = session.specials
        self._history: History | None = None  # the history of the tokens on screen
        self._at_first: History | None = None  # the recipe of the tokens before there is a run
        self._looked_at: tuple[Recipe, str] | None = None  # the recipe, and the text whose characters it needs
        learning = Throttle(LEARNING_MILLISECONDS, self.encode, self)
        typing = Throttle(TYPING_MILLISECONDS, self.encode, self)
        copying = Throttle(TEXT_MILLISECONDS, lambda: session.text.put_quietly(model.text()), self)
        runs.changed.connect(self._use_history)
        runs.grew.connect(self._use_history)
        model.text_changed.connect(typing.call)
        model.text_changed.connect(copying.call)
        runs.grew.connect(learning.call)
        runs.changed.connect(learning.call)
        recipe.changed.connect(learning.call)
        session.cursor.moved.connect(self._show_step)
        session.specials.changed.connect(self._encode_anew)

    @property
    def is_behind(self) -> bool:
        return (
            self._background.is_busy(TOPIC, MOMENT, CHARACTERS)
            or self._model.is_pending
            or not _are_the_same(self._wanted(), self._history)
        )

    def _show_step(self, position: int) -> None:
        """Show the text at a step. If this would take long, split the words in a background task first."""
        if self._background.is_busy(MOMENT):
            return  # when it ends, follow the cursor again
        ahead = self._model.ahead_of(position)
        if ahead is None:
            self._model.set_cursor(position)
            return
        self._background.run(
            MOMENT,
            lambda task: ahead(task.cancelled),
            lambda _: self._show(position),
            lambda _: self._model.set_cursor(position),  # the failure is reported where the text is encoded
            ended=self._follow,
        )

    def _show(self, position: int) -> None:
        if self._model.ahead_of(position) is None:
            self._model.set_cursor(position)

    def _follow(self) -> None:
        if self._model.cursor != self._cursor.position:
            self._show_step(self._cursor.position)

    def _use_history(self) -> None:
        self._model.use_history(None if self._runs.shown is None else self._runs.shown.history)

    def _wanted(self) -> History | None:
        """Return the history that encodes the text. Without a run, this is a history without steps.

        Return None if the history without steps is not made yet.
        """
        run = self._runs.shown
        if run is not None and run.history is not None:
            return run.history
        return self._at_first if self._looked_at == self._to_look_at() else None

    def _to_look_at(self) -> tuple[Recipe, str]:
        recipe = self._recipe.value
        return recipe, self._model.text()[:LOOKED_AT] if recipe.base == "characters" else ""

    def _look(self) -> None:
        recipe, text = looked_at = self._to_look_at()
        if not text:
            self._take_first(looked_at, _history_without_steps(recipe, ""))
            self.encode()
            return
        self._background.run(
            CHARACTERS,
            lambda task: _history_without_steps(recipe, text),
            partial(self._take_first, looked_at),
            lambda _: self._take_first(
                looked_at, _history_without_steps(recipe, "")
            ),  # the failure is reported with the text
            ended=self.encode,
        )

    def _take_first(self, looked_at: tuple[Recipe, str], history: History) -> None:
        self._looked_at = looked_at
        self._at_first = history

    def encode(self) -> None:
        if self._background.is_busy(TOPIC, CHARACTERS):
            return
        wanted = self._wanted()
        if wanted is None:
            self._look()
            return
        request: EncodeRequest | None = None
        if not _are_the_same(wanted, self._history):
            request = EncodeRequest(self._model.revision, 0, self._model.text())
        elif self._model.is_pending:  # finding the safe cuts of a recipe takes a while at first
            request = self._model.request(SafeCuts.of(wanted.recipe))
        if request is None:
            return
        text = request.text
        at = min(self._cursor.position, len(wanted))
        specials = self._specials.value
        self._background.run(
            TOPIC,
            lambda task: encode_text(wanted, text, at, task.cancelled, specials),
            partial(self._accept, request, wanted, at),
            partial(self._fail, wanted),
            ended=self.encode,
        )

    def _encode_anew(self) -> None:
        self._history = None
        self.encode()

    def _fail(self, wanted: History, sentence: str) -> None:
        self._background.notify(sentence)
        self._history = wanted

    def _accept(self, request: EncodeRequest, history: History, at: int, segmentation: Segmentation) -> None:
        if request.revision != self._model.revision:
            return
        self._history = history
        self._model.accept(request.revision, request.start, segmentation, at)
        self._follow()


def encode_text(
    history: History, text: str, at: int, cancelled: CancelCheck = never_cancelled, specials: str = ""
) -> Segmentation:
    """Encode a text with a history, and compute its tokens after `at` steps.

    Call this function in a background task for methods that are too slow for the window's thread.
    """
    allowed = allowed_in(history.recipe, specials)
    segmentation = Tokenizer(history).segmentation(text, allowed_special=allowed, cancelled=cancelled)
    ahead = segmentation.ahead_of(at)
    if ahead is not None:
        ahead(cancelled)
    segmentation.tokens(at)
    return segmentation


def steps_that_change(
    history: History, text: str, cancelled: CancelCheck = never_cancelled, specials: str = ""
) -> list[int]:
    """Return the steps that change the tokens of a text."""
    allowed = allowed_in(history.recipe, specials)
    segmentation = Tokenizer(history).segmentation(text, allowed_special=allowed, cancelled=cancelled)
    edges = (segmentation.edges(at).tobytes() for at in while_wanted(range(len(history) + 1), cancelled))
    return [at for at, (before, now) in enumerate(pairwise(edges), start=1) if before != now]


def _history_without_steps(recipe: Recipe, text: str) -> History:
    """Return a history without steps. Its characters are those of the text, because there is no corpus."""
    words = WordTable.from_counts({character * 2: 1 for character in sorted(set(normalize(text, recipe)))})
    return History.from_pairs(recipe, Method.of(recipe).tokens_at_first(words, recipe), [])


def _are_the_same(first: History | None, second: History | None) -> bool:
    if first is None or second is None or len(first) != len(second) or first.recipe != second.recipe:
        return False
    if first.alphabet is not second.alphabet and first.alphabet != second.alphabet:
        return False  # a run without steps already knows the characters of its words
    return (
        len(first) == 0
        or first.columns.left.base is second.columns.left.base
        or bool(
            (first.columns.left == second.columns.left).all() and (first.columns.right == second.columns.right).all()
        )
    )
