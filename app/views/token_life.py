"""What the corpus tells about a token, under the facts of the inspector."""

from __future__ import annotations

import html
from collections.abc import Iterable

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QHideEvent, QPalette, QShowEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.models.token_life import LifeFacts, Line, Share, TokenLifeModel
from app.models.wording import count_text
from app.views.life_chart import LifeChart

LINE_CHARACTERS = 44  # on either side of the token


class TokenLife(QWidget):
    """A small chart and paragraphs; tokens and merges named in them are links."""

    def __init__(self, model: TokenLifeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.hint = QLabel(wordWrap=True)
        self.hint.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.chart = LifeChart()
        self.told = QLabel(wordWrap=True, textFormat=Qt.TextFormat.RichText)
        self.told.setAccessibleName("The life of the token")
        self.lines = QLabel(wordWrap=True, textFormat=Qt.TextFormat.RichText)
        self.lines.setAccessibleName("Lines of the corpus in which the token stands")
        for label in (self.told, self.lines):
            label.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.LinksAccessibleByMouse
            )
            label.linkActivated.connect(self._follow)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 0)
        for widget in (self.hint, self.chart, self.told, self.lines):
            column.addWidget(widget)
        self.chart.time_chosen.connect(model.travel_to_step)
        model.changed.connect(self._show)
        model.lines_changed.connect(self._show_lines)
        self._show()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._model.watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._model.watch(False)

    def _show(self) -> None:
        facts = self._model.facts
        self.hint.setText(self._model.hint)
        self.hint.setVisible(bool(self._model.hint))
        for widget in (self.chart, self.told, self.lines):
            widget.setVisible(facts is not None)
        self.chart.show_life(facts)
        self.told.setText("" if facts is None else "".join(_paragraphs(facts)))
        self._show_lines()

    def _show_lines(self) -> None:
        self.lines.setText("".join(map(_line_text, self._model.lines)))

    def _follow(self, link: str) -> None:
        url = QUrl(link)
        number = int(url.path())
        if url.scheme() == "token":
            self._model.look_at(number)
        else:
            self._model.travel_to_step(number)


def _paragraphs(facts: LifeFacts) -> Iterable[str]:
    if facts.is_born:
        yield f"<p><b>Occurs {count_text(facts.count, 'time')}</b> in {count_text(facts.word_count, 'word')}"
        yield f"; {facts.peak:,} when it was born.</p>" if facts.at > 0 and facts.peak != facts.count else ".</p>"
    if facts.is_scaffold:
        yield "<p><b>A scaffold:</b> larger tokens have taken all of it.</p>"
    if facts.reach:
        yield f"<p>{html.escape(facts.reach)}</p>"
    if facts.words:
        yield f"<p>In {_listed(facts.words, facts.word_count)}</p>"
    if facts.children:
        links = (f'<a href="token:{child}">{_name(text)}</a>' for child, text in facts.children)
        yield f"<p>Part of {', '.join(links)}{_more(facts.child_count - len(facts.children))}</p>"
    if facts.takers:
        taken = (f'<a href="step:{step}">{_name(text)}</a> {lost:,}' for step, text, lost in facts.takers)
        yield f"<p>Taken by {', '.join(taken)}</p>"
    if facts.paid_by:
        yield f"<p>Paid for by {_listed(facts.paid_by, facts.payer_count, with_share=True)}</p>"
    if facts.files:
        shares = (f"{one.share:.0%} from {html.escape(one.text)}" for one in facts.files)
        yield f"<p>Of its count, {', '.join(shares)}.</p>"


def _listed(shares: tuple[Share, ...], count: int, *, with_share: bool = False) -> str:
    """Words with their counts, and how many more there are."""
    parts = (f"{_name(one.text)} {one.count:,}" + (f" ({one.share:.0%})" if with_share else "") for one in shares)
    return ", ".join(parts) + _more(count - len(shares))


def _more(count: int) -> str:
    return f" and {count:,} more" if count > 0 else ""


def _name(text: str) -> str:
    return f"<code>{html.escape(text)}</code>"


def _line_text(line: Line) -> str:
    place = f"{html.escape(line.source)}, {'row' if line.is_row else 'line'} {line.line:,}"
    before, after = html.escape(line.before[-LINE_CHARACTERS:]), html.escape(line.after[:LINE_CHARACTERS])
    return f"<p>{before}<b><u>{html.escape(line.token)}</u></b>{after}<br><small>{place}</small></p>"
