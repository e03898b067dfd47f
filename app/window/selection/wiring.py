"""A class that connects the selection with all views.

Each view reports the token under the pointer, and highlights the token that another view reported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QCursor, QGuiApplication, QShortcut

from app.session.run import Run
from app.session.selection import Mark
from app.session.time import timer
from app.window.main_window import Frame
from app.window.merges.merge_table_view import MergeTableView
from app.window.pages import LANES, PAGES, Pages
from app.window.parts.page import Page
from app.window.rooms.watch_panel import WatchPanel
from app.window.selection.card import TokenCard
from app.window.selection.facts import CardText, card_text, text_of
from app.window.text.highlighted_places import places_of
from app.window.text.text_model import TokenAt
from app.window.text.view.text_panel import TokenTextPanel

if TYPE_CHECKING:
    from app.window.questions.compare.panel import LanesPanel

DWELL_MILLISECONDS = 500  # the pointer must rest this long before a card appears
NOT_CHOSEN = "Select several rows in the table of steps first."
LONGEST_SELECTED = 200  # bytes of a selected text whose places are highlighted
MOST_SEARCHED = 4_000_000  # bytes of a text in which a place is looked for


class SelectionWiring(QObject):
    """An object that connects the selection with all views.

    It also owns the card: a small box beside the pointer that describes a token.
    """

    def __init__(
        self,
        frame: Frame,
        pages: Pages,
        text: TokenTextPanel,
        table: MergeTableView,
        watch: WatchPanel,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self.card = TokenCard(frame.window)
        self._frame = frame
        self._selection = selection = frame.session.selection
        self._runs = frame.session.runs
        self._pages = pages
        self._text = text
        self._table = table
        self._watch = watch
        self._place = QPoint()  # where the card was kept, in the window
        self._reason = ""  # the reason for a split, if the card shows one
        self._reason_run: Run | None = None  # the run that it is about
        self._dwell = timer(self, DWELL_MILLISECONDS, self._show_card)
        self._escape = QShortcut(Qt.Key.Key_Escape, frame.window, self._let_go)
        self._escape.setEnabled(False)
        self._connect_views()
        self._connect_pages()
        frame.actions.connect(chart_chosen=self._chart_chosen)
        selection.steps_changed.connect(self._allow_chosen)
        self._allow_chosen()
        selection.changed.connect(self._show_highlights)
        selection.changed.connect(self._show_soon)
        selection.kept_changed.connect(self._follow_kept)
        self._runs.changed.connect(self._follow_run)
        frame.session.cursor.moved.connect(lambda _: self._follow_time())
        frame.window.room_changed.connect(lambda _: self._leave())
        frame.window.stage_changed.connect(lambda _: self._leave())

    # -- what is pointed at ----------------------------------------------------------------

    def _connect_views(self) -> None:
        text = self._text
        text.token_hovered.connect(self._point_at_text)
        text.editor.place_clicked.connect(self._keep_in_text)
        text.ids.grid.token_chosen.connect(lambda token: self._keep(self._mark_at(token)))
        text.editor.model.text_changed.connect(lambda _: self._let_go())
        text.editor.selection_changed.connect(self._select)
        table = self._table
        table.step_pointed.connect(self._point_at_step)
        table.travelled.connect(lambda step: self._keep(Mark.of_step(self._runs.shown, step)))
        table.steps_chosen.connect(self._selection.choose_steps)
        view = self._watch.view
        view.token_pointed.connect(lambda token: self._point(token))
        view.token_clicked.connect(lambda token: self._keep(Mark.of(self._runs.shown, token)))
        view.split_clicked.connect(self._watch.word.ask_why_before)
        self._watch.word.explained.connect(self._show_reason)

    def _connect_pages(self) -> None:
        for row in PAGES:
            self._pages.when_built(row, self._connect_page)
        self._pages.when_built(LANES, self._connect_lanes)

    def _connect_page(self, page: Page) -> None:
        page.step_pointed.connect(self._point_at_step)
        page.step_clicked.connect(lambda step: self._keep(Mark.of_step(self._runs.shown, step)))
        page.tokens_pointed.connect(lambda tokens: self._point(*tokens))
        page.tokens_clicked.connect(lambda tokens: self._keep(Mark.of(self._runs.shown, *tokens)))
        page.word_pointed.connect(lambda word: self._selection.point(Mark.of_word(self._runs.shown, word or b"")))
        page.word_clicked.connect(lambda word: self._keep(Mark.of_word(self._runs.shown, word)))
        page.show_highlight(self._selection.shown_highlight)

    def _select(self, span: tuple[int, int] | None) -> None:
        """Highlight all occurrences of the selected text. Highlight nothing if no text is selected, or a long one."""
        is_short = span is not None and span[1] - span[0] <= LONGEST_SELECTED
        selected = self._text.editor.model.data[slice(*span)] if span is not None and is_short else b""
        self._selection.select(Mark.of_word(self._runs.shown, selected))

    def _connect_lanes(self, page: LanesPanel) -> None:
        page.mark_pointed.connect(self._selection.point)
        page.why_wanted.connect(lambda lane, byte: self._keep(self._selection.pointed))

    def _point(self, *tokens: int) -> None:
        self._selection.point(Mark.of(self._runs.shown, *tokens))

    def _point_at_step(self, step: int) -> None:
        self._selection.point(Mark.of_step(self._runs.shown, step))

    def _mark_at(self, token: TokenAt | None) -> Mark | None:
        return None if token is None else Mark.of(self._runs.shown, token.id, byte=token.start)

    def _point_at_text(self, token: TokenAt | None) -> None:
        self._selection.point(self._mark_at(token))

    def _keep_in_text(self, byte: int) -> None:
        model = self._text.editor.model
        self._keep(self._selection.pointed or self._mark_at(model.token_at(min(byte, model.byte_length - 1))))

    # -- what is kept ----------------------------------------------------------------------

    def _keep(self, mark: Mark | None) -> None:
        self._place = self._pointer()
        self._reason = ""
        self._selection.keep(mark)
        self._update_card()

    def _let_go(self) -> None:
        self._reason = ""
        self._dwell.stop()
        self._escape.setEnabled(False)
        self._selection.let_go()
        self.card.hide()

    def _leave(self) -> None:
        """Clear the selection before the window shows another of its rooms, such as Compare."""
        self._selection.point(None)
        self._let_go()

    def _follow_kept(self) -> None:
        self._escape.setEnabled(self._selection.kept is not None)
        if self._selection.kept is None:
            self.card.hide()

    def _follow_run(self) -> None:
        """Update the card after the run has changed.

        Hide the card if no run is shown, or if the card explains a split by another run.
        """
        run = self._runs.shown
        if run is None or (self._reason and run is not self._reason_run):
            self._let_go()
        else:
            self._update_card()

    def _follow_time(self) -> None:
        """Update the card after the time slider has moved to another step.

        If the card explains a reason, hide the card, because the reason is true only at the previous step.
        """
        if self._reason:
            self._let_go()
        else:
            self._update_card()

    # -- the light -------------------------------------------------------------------------

    def _show_highlights(self) -> None:
        light = self._selection.shown_highlight
        for view in (self._text.editor, self._text.ids.grid, self._table, self._watch.view):
            view.show_highlight(light.highlight)
        for row in PAGES:
            page = self._pages.known(row)
            if page is not None:
                page.show_highlight(light)

    def _allow_chosen(self) -> None:
        self._frame.actions.allow("chart_chosen", "" if self._selection.steps else NOT_CHOSEN)

    def _chart_chosen(self) -> None:
        """Enlarge the selected steps in all charts. A double click on a chart shows the whole chart again."""
        steps = self._selection.steps
        for row in PAGES:
            page = self._pages.known(row)
            if page is not None and steps:
                page.show_steps(steps[0], steps[-1])

    # -- the card --------------------------------------------------------------------------

    def _pointer(self) -> QPoint:
        """Return the place of the pointer in the window.

        If the pointer is outside of the window, return the middle of the widget with the focus.
        """
        window = self._frame.window
        place = window.mapFromGlobal(QCursor.pos())
        focused = window.focusWidget()
        if window.rect().contains(place) or focused is None:
            return place
        return focused.mapTo(window, focused.rect().center())

    def _show_soon(self) -> None:
        if self._selection.kept is not None:
            return
        if self._selection.pointed is not None:
            self._dwell.start()
            return
        self._dwell.stop()
        if not self._reason:
            self.card.hide()

    def _show_card(self) -> None:
        self._reason = ""
        self._place = self._pointer()
        self._update_card(appears=True)

    def _update_card(self, *, appears: bool = False) -> None:
        """Show facts about the clicked mark on the card. If `appears` is true, the mark under the pointer is enough.

        If the card shows the reason for a boundary, it does not change.
        """
        selection = self._selection
        run = self._runs.shown
        mark = selection.kept or selection.pointed
        is_wanted = appears or selection.kept is not None
        if self._reason or mark is None or run is None or not is_wanted:
            return
        occurs = self._byte_of(mark) is not None
        self.card.show_text(card_text(run, mark, occurs=occurs), self._place, is_kept=selection.kept is not None)

    def _show_reason(self, sentence: str) -> None:
        """Show on the card why the word is split at the clicked boundary."""
        self._selection.let_go()
        self._dwell.stop()
        self._reason = sentence
        self._reason_run = self._runs.shown
        self._place = self._pointer()
        self._escape.setEnabled(True)
        self.card.show_text(CardText("Why it is split here", sentence=sentence), self._place, is_kept=False)

    def _byte_of(self, mark: Mark) -> int | None:
        """Return a byte offset in the user's text at which a token, pair or word occurs at the step shown.

        Return None if there is no such offset, or if the text is too long to search.
        """
        model = self._text.editor.model
        if mark.byte is not None and mark.byte < model.byte_length:
            return mark.byte
        if not model.byte_length or model.byte_length > MOST_SEARCHED:
            return None
        places = places_of(mark.in_run(self._runs.shown), model.data, model.tokens_between(0, model.byte_length))
        return places[0][0] if places else None

    # -- what one can do -------------------------------------------------------------------

    def connect_buttons(self, **actions: Callable[[Mark, int | None], object]) -> None:
        """Connect the buttons of the card with functions.

        Each function has two arguments. The first is the clicked token, pair or word. The second is the offset of a
        byte where it occurs in the text, or None.
        """

        def act(name: str) -> None:
            mark = self._selection.kept
            if mark is not None:
                byte = self._byte_of(mark)
                if name != "copy":
                    self._let_go()
                actions[name](mark, byte)

        self.card.wanted.connect(act)

    @staticmethod
    def copy(mark: Mark, byte: int | None) -> None:
        QGuiApplication.clipboard().setText(text_of(mark))
