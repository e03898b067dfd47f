"""What the corpus tells about a token, under the facts of the inspector."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.window.parts.figure_view import FigureView
from app.window.parts.widgets import LinkedText, link_to_step, muted, number_in
from app.window.parts.wording import count_text
from app.window.questions.token.life_model import LifeModel
from bpe_core.history.token_texts import shown
from bpe_core.insight.contexts import Context
from bpe_core.insight.token_life import Holders, TokenLife
from bpe_core.questions.token import MOST_SHOWN, reach_sentence
from bpe_core.studies.study import Study

ALL = "all:"  # before the name of a section, in a link
CHART_HEIGHT = 102
LINE_CHARACTERS = 44  # on either side of the token
LONGEST_WORD = 80  # bytes
SECTIONS = {  # in this order
    "occurs": "",
    "reach": "Can it be reached?",
    "words": "Words that hold it",
    "children": "Part of",
    "takers": "Taken by",
    "paid": "What paid for it",
    "lines": "Where it stands",
}


class Section(QWidget):
    """One answer under its title; hidden while there is none."""

    def __init__(self, title: str, link_followed: Callable[[str], None]) -> None:
        super().__init__()
        self.title = muted(title)
        self.title.setVisible(bool(title))
        self.text = LinkedText(title or "Occurrences")
        self.text.linkActivated.connect(link_followed)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 2)
        column.setSpacing(1)
        column.addWidget(self.title)
        column.addWidget(self.text)
        self.hide()

    def tell(self, text: str) -> None:
        self.text.setText(text)
        self.setVisible(bool(text))


class LifeView(QWidget):
    """A small chart and paragraphs; tokens and merges named in them are links."""

    section_wanted = Signal(QWidget)  # to be brought into view, now that it is filled
    list_wanted = Signal(str)  # the section of which all words are to be saved

    def __init__(self, model: LifeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = model
        self.hint = muted()
        self.chart = FigureView("Occurrences over time", has_legend=False)
        self.chart.setFixedHeight(CHART_HEIGHT)
        self.sections = {name: Section(title, self._follow) for name, title in SECTIONS.items()}
        self._wanted = ""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 0)
        column.setSpacing(0)
        for widget in (self.hint, self.chart, *self.sections.values()):
            column.addWidget(widget)
        self.chart.place_chosen.connect(lambda step: model.travel_to_step(int(step)))
        model.changed.connect(self._show)
        model.lines_changed.connect(self._show_lines)
        self._show()

    def _show(self) -> None:
        facts, study = self.model.facts, self.model.study
        self.hint.setText(self.model.hint)
        self.hint.setVisible(bool(self.model.hint))
        # While another token is asked about, its place is kept: nothing jumps.
        self.chart.setVisible(bool(facts.curve) if facts is not None else self.model.is_asking)
        self.chart.set_figure(self.model.figure)
        told = {} if facts is None or study is None else dict(_answers(facts, study))
        for name, section in self.sections.items():
            if name != "lines":
                section.tell(told.get(name, ""))
        self._show_lines()

    def _show_lines(self) -> None:
        self.sections["lines"].tell("".join(map(_line_text, self.model.lines)))
        self._reveal_wanted()

    def show_answer(self, name: str) -> None:
        """Bring a section into view, as soon as it is filled."""
        self._wanted = name
        self._reveal_wanted()

    def _reveal_wanted(self) -> None:
        if self._wanted and self.sections[self._wanted].isVisibleTo(self):
            self.section_wanted.emit(self.sections[self._wanted])
            if not self.model.is_waiting:  # until then it may move
                self._wanted = ""

    def _follow(self, link: str) -> None:
        if link.startswith(ALL):
            self.list_wanted.emit(link.removeprefix(ALL))
        elif link.startswith("token:"):
            self.model.look_at(number_in(link))
        else:
            self.model.travel_to_step(number_in(link))


def _answers(life: TokenLife, study: Study) -> Iterable[tuple[str, str]]:
    """What each section says; the others have nothing to say."""
    names = study.names.text
    if life.is_born:
        words = f" in {count_text(life.words.number, 'word')}" if life.words.number or not life.count else ""
        told = f"<b>Occurs {count_text(life.count, 'time')}</b>{words}"
        peak = "when it was born" if life.curve[0][1] == life.peak else "at most"
        told += f"; {life.peak:,} {peak}." if life.at > 0 and life.peak != life.count else "."
        yield "occurs", told + (" A <b>scaffold</b>: larger tokens have taken all of it." if life.is_scaffold else "")
    is_seen = life.reached.kind == "reachable" and life.count > 0
    yield "reach", "" if is_seen else html.escape(reach_sentence(life.reached, study))
    yield "words", _listed("words", life.words)
    links = (f'<a href="token:{child}">{_name(names[child])}</a>' for child in life.children[:MOST_SHOWN])
    yield "children", ", ".join(links) + _more(len(life.children) - MOST_SHOWN)
    takers = [(step, names[int(study.history.ids[step - 1])], lost) for step, lost in life.takers if step <= life.at]
    taken = (f"{link_to_step(step, _name(text))} {lost:,}" for step, text, lost in takers[:MOST_SHOWN])
    yield "takers", ", ".join(taken)
    files = sorted(life.files.items(), key=lambda file: -file[1])[:MOST_SHOWN]
    by_file = ", ".join(
        f"{_per_cent(count / life.paid.count)} from {html.escape(name)}" for name, count in files if count
    )
    by_word = _listed("paid", life.paid, with_share=True)
    yield "paid", f"<b>{by_file}</b><br>{by_word}" if by_file else by_word


def _per_cent(share: float) -> str:
    """In whole per cent, but what is there is never nothing, and what is missing never all.

    >>> _per_cent(0.94), _per_cent(0.004), _per_cent(0.997), _per_cent(1.0)
    ('94\u202f%', 'under 1\u202f%', 'over 99\u202f%', '100\u202f%')
    """
    if 0 < share < 0.01:
        return "under 1\u202f%"
    return "over 99\u202f%" if 0.99 < share < 1 else f"{share:.0%}".replace("%", "\u202f%")


def _listed(name: str, held: Holders, *, with_share: bool = False) -> str:
    """Words with their counts, and how many more there are: a link that saves all."""
    parts = (
        f"{_name(shown(word[:LONGEST_WORD]))} {count:,}{f' ({_per_cent(count / held.count)})' if with_share else ''}"
        for word, count in held.words[:MOST_SHOWN]
    )
    more = _more(held.number - MOST_SHOWN)
    return ", ".join(parts) + (f'{more} (<a href="{ALL}{name}">save all …</a>)' if more else "")


def _more(count: int) -> str:
    return f" and {count:,} more" if count > 0 else ""


def _name(text: str) -> str:
    return f"<code>{html.escape(text)}</code>"


def _line_text(line: Context) -> str:
    place = f"{html.escape(line.source)}, {'row' if line.is_row else 'line'} {line.line:,}"
    before, after = html.escape(line.before[-LINE_CHARACTERS:]), html.escape(line.after[:LINE_CHARACTERS])
    token = f"<b><u>{html.escape(line.token)}</u></b>"
    return f"<p style='margin-top: 0; margin-bottom: 4px'>{before}{token}{after}<br><small>{place}</small></p>"
