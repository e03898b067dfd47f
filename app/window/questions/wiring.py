"""A class that connects the pages of questions with the text, with the table of merges and with each other."""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QMenu

from app.session.background import Answer, Notice
from app.session.run import Run
from app.session.selection import Mark
from app.window.main_window import Frame
from app.window.merges.merge_table_view import MergeTableView
from app.window.pages import AUDIT, LAB, LANES, PAIRS, RACE, SIZES, TOKEN, TREE, WHY, WORDS, Pages
from app.window.parts.dialogs import TEXT_FILTER
from app.window.parts.page import PageTabs
from app.window.parts.widgets import action_button
from app.window.text.view.text_panel import TokenTextPanel
from bpe_core.history.history import Pair
from bpe_core.recipes.interventions import Act

if TYPE_CHECKING:
    from app.window.charts.pairs_page import PairsPage
    from app.window.questions.compare.lanes_model import LanesModel
    from app.window.questions.compare.panel import LanesPanel
    from app.window.questions.what_if.view import BothTexts

FORCING: dict[str, Act] = {"&Force This Pair Now": "force", "Fo&rbid This Pair from Here On": "forbid"}


class QuestionWiring(QObject):
    """An object that connects the pages of questions with the other parts of the window."""

    written = Signal(tuple, Path)  # the command that makes the same file, and its path

    def __init__(
        self,
        frame: Frame,
        pages: Pages,
        inspector: PageTabs,
        text: TokenTextPanel,
        table: MergeTableView,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session = session = frame.session
        self._runs = session.runs
        self._cursor = session.cursor
        self._messages = frame.messages
        self._window = frame.window
        self._actions = frame.actions
        self._inspector = inspector
        self._text = text
        self._editor = editor = text.editor
        self._pages = pages
        self._token = pages.page(TOKEN)
        self._connect_actions()
        self._connect_pages()
        editor.caret_placed.connect(lambda byte: pages.page(WHY).model.look_at(byte))
        editor.place_clicked.connect(lambda byte: inspector.show_page("why"))
        editor.menu_opening.connect(self._add_to_text_menu)
        table.travelled.connect(lambda position: inspector.show_page("token"))
        table.activated.connect(lambda index: self._window.show_dock("inspector"))
        table.menu_wanted.connect(self._open_merge_menu)
        session.runs.changed.connect(self._look_for_branch)

    # -- requests of pages -----------------------------------------------------------------

    def _connect_pages(self) -> None:
        pages, say = self._pages, lambda sentence: self._messages.show_notice(Notice(sentence))
        self._token.forbid_wanted.connect(self.forbid_step)
        pages.when_built(PAIRS, self._connect_pairs)
        pages.when_built(WHY, lambda page: page.enlarge_wanted.connect(self._actions["tree"].trigger))
        pages.when_built(WORDS, lambda page: page.model.failed.connect(say))
        pages.when_built(AUDIT, lambda page: page.token_wanted.connect(self.open_token_page))
        pages.when_built(AUDIT, lambda page: page.trimming.failed.connect(say))
        pages.when_built(AUDIT, lambda page: page.trimming.trimmed.connect(self._offer_comparison))
        pages.when_built(LANES, self._connect_lanes)
        pages.when_built(LAB, lambda page: page.word_chosen.connect(pages.page(LANES).look_at_word))
        pages.when_built(TREE, lambda page: page.copy_wanted.connect(self._actions["copy_chart"].trigger))
        pages.when_built(TREE, lambda page: page.close_wanted.connect(lambda: self._window.set_stage("")))

    def _connect_lanes(self, page: LanesPanel) -> None:
        page.model.failed.connect(lambda sentence: self._messages.show_notice(Notice(sentence)))
        page.model.put_together.connect(self._offer_comparison)
        page.why_wanted.connect(self._ask_why_beside)
        page.sizes.row.insertWidget(0, action_button(self._actions["play"]))

    def _connect_pairs(self, page: PairsPage) -> None:
        page.pair_chosen.connect(lambda left, right: self._follow((left, right)))
        page.menu_wanted.connect(self._open_pair_menu)

    def _offer_comparison(self, run: int, sentence: str) -> None:
        """Show a message about a vocabulary that was made from a run. The message offers to compare the two runs."""
        answer = Answer("Compare", lambda: self.compare_with(run))
        self._messages.show_notice(Notice(sentence, is_error=False, answers=(answer,)))

    def compare_with(self, run: int) -> None:
        """Compare the run shown with another run. `run` is the number of the other run."""
        self._pages.page(LANES).model.compare_with(run)
        self._actions["compare"].trigger()

    def _connect_actions(self) -> None:
        """Connect the entries of the menu, so that a user can ask every question without a mouse."""
        self._actions.connect(
            why=self._ask_why,
            token=self._ask_about_token,
            tree=self._enlarge_tree,
            paid=self._ask_what_paid,
            follow=lambda: self._follow(self._pair_of(self._cursor.position - 1)),
            forbid=lambda: self.forbid_step(self._cursor.position),
            compare=lambda: self._pages.page(LANES).choose_another(),
            duel=self._show_two,
            hold_out=self._ask_for_held_out,
        )

    # -- about a place in the text ---------------------------------------------------------

    def ask_why_at(self, byte: int | None) -> None:
        """Show why the text is split at a byte. Do nothing if `byte` is None."""
        if byte is not None:
            self._show_in_inspector("why")
            self._pages.page(WHY).model.look_at(byte)

    def enlarge_tree_at(self, byte: int | None) -> None:
        """Fill the window with the merge tree of the word at a byte of the text. Do nothing if `byte` is None."""
        if byte is not None:
            self._pages.page(WHY).model.look_at(byte)
            self._enlarge_tree()

    def ask_about_mark(self, mark: Mark) -> None:
        """Show the page of a marked token, or of the token that a marked pair became."""
        step = self._session.selection.step_of(mark)
        run = self._runs.shown
        tokens = mark.in_run(run).tokens
        if len(tokens) > 1 and step and run is not None and run.history is not None:
            tokens = (int(run.history.indices[step - 1]),)
        self._show_in_inspector("token")
        if len(tokens) == 1:
            self._token.model.pin(tokens[0])
            self._token.show_answer("occurs")

    def _ask_why(self) -> None:
        self._show_in_inspector("why")
        self._pages.page(WHY).model.look_at(self._editor.caret_byte)

    def _show_two(self) -> None:
        """Show only the two lanes that are compared step by step.

        The page below the lanes is hidden, so that there is more space for their texts.
        """
        self._actions["lab"].trigger()
        self._pages.page(LANES).model.keep_pair()
        self._window.centre.setSizes([self._window.height(), 0])

    def _ask_why_beside(self, lane: int, byte: int) -> None:
        model = self._pages.page(LANES).model
        model.keep_lanes()
        self._ask_why_of(model, lane, byte)

    def _ask_why_of(self, model: LanesModel, lane: int, byte: int) -> None:
        """Ask why one of the compared lanes splits its text at a byte.

        The window then shows the run and step of that lane.
        """
        asked = model.lanes[lane]
        step = asked.wanted
        if self._runs.shown is not asked.run:
            self._runs.show(asked.run)
        self._cursor.go_to(step)
        self._pages.page(WHY).model.look_at(byte, model.specimen)
        self._window.show_dock("inspector", here=True)
        self._inspector.show_page("why")

    def _enlarge_tree(self) -> None:
        """Fill the window with the merge tree of the clicked word.

        Without a click, use the word at the text cursor.
        """
        if not self._pages.page(WHY).model.is_asked:
            self._pages.page(WHY).model.look_at(self._editor.caret_byte)
        self._window.set_stage("tree")
        self._pages.page(TREE).setFocus()

    def _ask_about_token(self) -> None:
        """Show the page of a token.

        If the text has the focus, then it is the token at the text cursor. Otherwise it is the token of the step shown.
        """
        if self._editor.hasFocus():
            token = self._editor.model.token_at(min(self._editor.caret_byte, self._editor.model.byte_length - 1))
            self._token.model.show_briefly(token.id if token else None)
        self._show_in_inspector("token")

    def open_token_page(self, token: int) -> None:
        """Show the page of a token, and move the time slider to the step at which it was learned."""
        self._token.model.travel_to(token)
        self._show_in_inspector("token")

    def _add_to_text_menu(self, menu: QMenu) -> None:
        first = menu.actions()[0]
        menu.insertActions(first, [self._actions["why"], self._actions["token"]])
        menu.insertSeparator(first)

    def _show_in_inspector(self, page: str) -> None:
        self._window.show_dock("inspector")
        self._inspector.show_page(page)

    # -- about a merge ---------------------------------------------------------------------

    def _open_merge_menu(self, merge: int, place: QPoint) -> None:
        self._cursor.go_to(merge + 1)
        self.merge_menu = menu = self._new_menu()
        menu.addActions([self._actions[name] for name in ("token", "paid", "follow", "ties")])
        menu.addSeparator()
        menu.addAction(self._actions["forbid"])
        menu.addSeparator()
        menu.addActions([self._actions[name] for name in ("bookmark", "copy_tsv", "chart_chosen")])
        menu.popup(place)

    def _new_menu(self) -> QMenu:
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        return menu

    def _open_pair_menu(self, left: int, right: int, at: int, place: QPoint) -> None:
        self.pair_menu = menu = self._new_menu()
        pair = (left, right)
        run = self._runs.shown
        menu.addAction("Follow This Pair Through &Time").triggered.connect(lambda: self._follow(pair))
        if run is not None and right >= 0:
            menu.addSeparator()
            for text, act in FORCING.items():
                menu.addAction(text).triggered.connect(
                    lambda _=False, act=act: self._make_branch(run, at + 1, act, pair)
                )
        menu.popup(place)

    def forbid_step(self, step: int) -> None:
        run = self._runs.shown
        pair = self._pair_of(step - 1)
        if run is None or pair is None:
            self._messages.show_notice(Notice("There is no step to forbid here: go to a step first."))
            return
        self._make_branch(run, step, "forbid", pair)

    def _make_branch(self, run: Run, step: int, act: Act, pair: Pair) -> None:
        """Make a branch, and show how the branch and its original run split the text."""
        self._runs.branch(run, step, act, pair)
        if self._runs.shown is not run:
            self._window.show_room("ask")
            self.both_texts.open(True)

    def _look_for_branch(self) -> None:
        if self._runs.shown is not None and self._runs.branched_from(self._runs.shown) is not None:
            self.both_texts.follow()

    @cached_property
    def both_texts(self) -> BothTexts:
        """Return the view that compares a branch with its original run. The view is above the text."""
        from app.window.questions.what_if.model import WhatIfModel
        from app.window.questions.what_if.view import BothTexts

        both = BothTexts(WhatIfModel(self._session))
        self._runs.changed.connect(both.follow)
        self._text.put_above(both)
        both.opened.connect(partial(self._text.give_room, both))
        both.place_clicked.connect(partial(self._ask_why_of, both.model))
        return both

    def _ask_what_paid(self) -> None:
        self._token.model.pin(None)
        self._show_in_inspector("token")
        self._token.show_answer("paid")

    def _pair_of(self, merge: int) -> tuple[int, int] | None:
        run = self._runs.shown
        if run is None or run.history is None or not 0 <= merge < len(run.history):
            return None
        return run.history.pair(merge)

    def _follow(self, pair: tuple[int, int] | None) -> None:
        if pair is not None:
            self._pages.page(RACE).form.add_pair("pairs", pair)
        self._actions["race"].trigger()

    # -- about texts that are not learned from ---------------------------------------------

    def _ask_for_held_out(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self._window, "A held-out text", "", TEXT_FILTER)
        if name:
            self._pages.page(SIZES).form.choose_files("held_out", name)
            self._actions["sizes"].trigger()
