"""The page that edits a text of the corpus.

The window trains on an edited text immediately, and edits can be undone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QComboBox, QStackedWidget

from app.session.corpus_texts import CorpusText, text_to_edit
from app.session.session import Session
from app.session.time import timer
from app.window.parts.layouts import in_column, in_row
from app.window.parts.lazy_model import LazyModel
from app.window.parts.page import Page
from app.window.parts.widgets import label, muted_label, name_widget
from app.window.parts.wording import without_options
from app.window.text.text_model import TokenTextModel
from app.window.text.view.editor import TokenTextEdit

TOPIC = "edited_text"
REDRAW_MILLISECONDS = 60
LARGE, REST_MILLISECONDS = 100_000, 250  # characters; the pause in typing after which so large a text is learned
NO_TEXT = "There is no text yet. Open a file, paste a text or choose a sample."
OF_SESSION = "The session learns from your edits and saves them. Undo removes them."
OF_FILE = "After an edit the text belongs to the session. The file on disk is never changed."
WAS_FILE = "You have edited the text, so it now belongs to the session. The file on disk is unchanged."


@dataclass(eq=False)
class OpenText:
    source: CorpusText  # before any edit
    first: str
    model: TokenTextModel
    now: str  # the text in the corpus


class CorpusTextModel(QObject, LazyModel):
    """A model of the text that a user edits.

    Each edit changes the corpus, and can be undone with the session's other changes.
    """

    changed = Signal()
    forgot = Signal(object)  # an OpenText that cannot come back

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.chosen: int | None = None  # the number of a text
        self.trouble = ""  # why the chosen text cannot be edited
        self._open: dict[int, OpenText] = {}
        self._asked: CorpusText | None = None
        self._corpus = session.corpus
        self._background = session.background
        self._undo = session.undo
        self._rest = timer(self, REST_MILLISECONDS, self._take_edits)
        session.corpus.texts.changed.connect(lambda _: self._follow())
        self.refresh_on(REDRAW_MILLISECONDS, session.corpus.texts.changed)

    @property
    def source(self) -> CorpusText | None:
        return next((text for text in self._corpus.texts.value if text.number == self.chosen), None)

    @property
    def opened(self) -> OpenText | None:
        return None if self.chosen is None else self._open.get(self.chosen)

    @property
    def choices(self) -> list[tuple[int, str]]:
        return [(text.number, text.name) for text in self._corpus.texts.value]

    @property
    def sentence(self) -> str:
        source = self.source
        opened = self.opened
        if source is None or opened is None:
            return self.trouble or ("Reading …" if source is not None else NO_TEXT)
        if source.place:
            return OF_FILE
        return WAS_FILE if opened.source.place else OF_SESSION

    def choose(self, number: int) -> None:
        self.chosen = number
        self.refresh()

    def refresh(self) -> None:
        texts = self._corpus.texts.value
        if self.source is None:
            self.chosen = texts[0].number if texts else None
        source = self.source
        if source is not None and self.opened is None and source != self._asked:
            self._asked = source
            self.trouble = ""
            work = partial(text_to_edit, source)
            self._background.run(TOPIC, lambda task: work(task.cancelled), partial(self._begin, source), self._refuse)
        self.changed.emit()

    def _begin(self, source: CorpusText, text: str) -> None:
        self._asked = None
        if source.number not in self._open:
            model = TokenTextModel(text, self, self._undo, f"Edit {source.name}")
            self._open[source.number] = opened = OpenText(source, text, model, text)
            model.text_changed.connect(lambda _: self._take_edit_soon(opened))
        self.changed.emit()

    def _refuse(self, sentence: str) -> None:
        self.trouble = without_options(sentence)
        self.changed.emit()

    def _take_edit_soon(self, opened: OpenText) -> None:
        """Pass an edit to the corpus.

        If the text is large, wait for a pause in typing, so that typing is not slowed down.
        """
        is_typing = opened.model.length > LARGE and not self._undo.is_walking
        self._rest.start() if is_typing else self._take_edits()

    def _take_edits(self) -> None:
        for opened in list(self._open.values()):
            text = opened.model.text()
            if text != opened.now:
                opened.now = text
                self._corpus.rewrite(opened.source, None if text == opened.first else text)

    def _follow(self) -> None:
        """Update the opened texts after a change of the corpus.

        Another view may have changed their content. A removed text is closed if undo can no longer restore it.
        """
        there = {corpus_text.number: corpus_text for corpus_text in self._corpus.texts.value}
        for number, opened in list(self._open.items()):
            source = there.get(number)
            if source is None and self._undo.count():
                continue  # undo may bring it back
            is_other = source is None or (source.place and replace(source, group=opened.source.group) != opened.source)
            if is_other:
                self._forget(number)
                continue
            assert source is not None
            text = opened.first if source.place else source.text
            if text is not opened.now and text != opened.now:
                opened.now = text
                opened.model.set_text(text)

    def _forget(self, number: int) -> None:
        opened = self._open.pop(number)
        opened.model.steps.forget()  # those that are left do nothing, as there is no text any more
        self.forgot.emit(opened)
        opened.model.deleteLater()  # or its parent keeps it for ever


class CorpusTextPage(Page):
    def __init__(self, model: CorpusTextModel) -> None:
        super().__init__(model)
        self.model = model
        self.box = name_widget(QComboBox(), "Text to edit")
        self.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.box.setMinimumContentsLength(12)
        self.sentence = muted_label()
        self.editors = QStackedWidget()
        self._known: dict[OpenText, TokenTextEdit] = {}
        above = in_row(label("Text"), (self.box, 1))
        in_column(above, self.sentence, (self.editors, 1), on=self, margins=(8, 6, 8, 4))
        self.box.activated.connect(lambda _: model.choose(self.box.currentData()))
        model.changed.connect(self._show)
        model.forgot.connect(self._forget)
        self._show()

    def _forget(self, opened: OpenText) -> None:
        editor = self._known.pop(opened, None)
        if editor is not None:
            self.editors.removeWidget(editor)
            editor.deleteLater()

    def _show(self) -> None:
        model = self.model
        opened = self.model.opened
        if [(self.box.itemData(i), self.box.itemText(i)) for i in range(self.box.count())] != model.choices:
            self.box.clear()
            for number, name in model.choices:
                self.box.addItem(name, number)
        self.box.setCurrentIndex(self.box.findData(model.chosen))
        self.sentence.setText(model.sentence)
        self.editors.setVisible(opened is not None)
        if opened is None:
            return
        if opened not in self._known:
            self._known[opened] = editor = TokenTextEdit(opened.model)
            editor.setAccessibleName("Text of the corpus")
            editor.setAccessibleDescription(OF_SESSION)
            self.editors.addWidget(editor)
        self.editors.setCurrentWidget(self._known[opened])
