"""The tie ledger: who won against whom, and what another rule would have made of the same text."""

from __future__ import annotations

import html

from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.window.parts.linked_text import LinkedText, link_to_step, number_in
from app.window.parts.page import Page
from app.window.parts.table_of_rows import put_headings_left, table_of_rows
from app.window.parts.theme import shades_of
from app.window.parts.widgets import label, paragraph, scrolling
from app.window.questions.ties.model import TIE_RULES, CutToken, TiesModel, WhatIf

WIDTHS = (56, 120, 120, 64, 110)


class TiesPage(Page):
    """A click on a row travels to the moment before that merge."""

    def __init__(self, model: TiesModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.model = model
        self.summary = paragraph()
        self.table = table_of_rows(model, "Merges decided by a tie", WIDTHS)
        put_headings_left(self.table)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.rule = QComboBox()
        self.rule.setAccessibleName("Another tie rule")
        for rule in TIE_RULES.values():
            self.rule.addItem(rule.label, rule.name)
        self.rule.setCurrentIndex(1)
        self.rule.setToolTip("Another rule for equal counts")
        self.train = QPushButton("Train again")
        self.train.setToolTip("Learn the same text under this rule, in the background, and compare")
        self.told = LinkedText("What the other rule would have done")
        self.told.linkActivated.connect(lambda link: model.travel_to(number_in(link)))
        self._lay_out()
        self.table.clicked.connect(self._travel)
        self.table.activated.connect(self._travel)
        self.train.clicked.connect(lambda: model.ask_what_if(self.rule.currentData()))
        model.modelReset.connect(self._show)
        model.answered.connect(self._show)
        model.failed.connect(self.told.setText)
        self._show()

    def _lay_out(self) -> None:
        left = QVBoxLayout()
        left.addWidget(self.summary)
        left.addWidget(self.table, 1)
        self.what_if = QWidget()
        row = QHBoxLayout(self.what_if)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(label("What if"))
        row.addWidget(self.rule)
        row.addWidget(self.train)
        row.addStretch()
        area = scrolling(self.told, "What the ties decided")
        right = QVBoxLayout()
        right.addWidget(self.what_if)
        right.addWidget(area, 1)
        whole = QHBoxLayout(self)
        whole.setContentsMargins(8, 6, 8, 4)
        whole.addLayout(left, 3)
        whole.addLayout(right, 2)

    def _travel(self, index: QModelIndex) -> None:
        self.model.travel_to_row(index.row())

    def _show(self) -> None:
        rule = self.model.rule
        self.summary.setText(self.model.summary + (f" (rule: {TIE_RULES[rule].label})" if rule else ""))
        for widget in (self.what_if, self.table):
            widget.setVisible(self.model.has_ties)
        self.train.setEnabled(not self.model.is_training)
        if self.model.is_training:
            self.told.setText("Learning again under the other rule …")
        else:
            found = self.model.what_if
            mark = shades_of(self.palette()).bar_next.name()
            self.told.setText("" if found is None else _answer(found, mark))


def _answer(found: WhatIf, mark: str) -> str:
    rule = TIE_RULES[found.rule].label
    if found.step is None:
        return f"<p>Under <b>{rule}</b> the same {found.merges:,} merges are learned.</p>"
    place = link_to_step(found.step - 1, f"step {found.step:,}")
    return (
        f"<p>The two part at <b>{place}</b>: <code>{html.escape(found.one)}</code> here, "
        f"<code>{html.escape(found.other)}</code> under {rule}.</p>"
        f"<p>{found.shared}</p>"
        f"<p>Your text here ({len(found.text):,} tokens):<br>{_tokens(found.text, mark)}</p>"
        f"<p>Under {rule} ({len(found.other_text):,} tokens):<br>{_tokens(found.other_text, mark)}</p>"
    )


def _tokens(tokens: tuple[CutToken, ...], mark: str) -> str:
    """The tokens with bars between them; those that the other cut does not have are marked."""
    shown = (
        f'<span style="color:{mark}">{html.escape(token.text)}</span>' if token.differs else html.escape(token.text)
        for token in tokens
    )
    return f"<code>{'|'.join(shown)}</code>"
