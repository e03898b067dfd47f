"""The fields of the recipe form, the size box, and the preview of how the text is split.

A choice that is not named here gets a field, too: its declaration in the recipe says of which kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLabel, QLineEdit, QSizePolicy, QSpinBox, QWidget

from app.window.parts.theme import fixed_font, shades_of
from app.window.parts.typed import NumberBox, mark_refused
from app.window.parts.widgets import entry
from app.window.parts.wording import from_the_left, tip
from app.window.recipe.recipe_form import (
    DECLARED,
    KINDS,
    LARGEST_VOCABULARY,
    OF_A_METHOD,
    Option,
    RecipeForm,
    options,
    presets,
    title_of,
)

NO_PRESET = "own choices"
NO_LIMIT = 0
LARGEST_NUMBER = 100_000_000  # a box offers

MAIN = ("min_frequency", "ties", "pattern", "custom_pattern")  # always visible, after the choices of the method
_MORE = (
    *("base", "unit", "marker", "marker_text", "lowercase", "strip_ascii_punctuation", "strip_marks", "unicode_form"),
    *("special_tokens", "max_token_length", "alphabet_limit", "unknown", "unknown_text"),
)
MORE = list(dict.fromkeys((*_MORE, *DECLARED)))
for _elsewhere in ("name", "mixture", "method", "vocab_size", "merges", *MAIN, *OF_A_METHOD):
    MORE.remove(_elsewhere)
HINTS = {
    "custom_pattern": "such as \\w+|\\s+",
    "strip_marks": "such as “”’",
    "special_tokens": 'separated by spaces, or "in quotes"',
    "interventions": "such as forbid:116+104@12",
}
_LISTED = re.compile(r'("([^"]+)"|\S+)')
NOTHING_SAID = {"max_token_length": "no limit", "alphabet_limit": "all characters"}
SUFFIXES = {"min_frequency": "×", "keep_share": " %", "block_size": " bytes", "block_bytes": " different"}


def field_of(choice: str) -> QWidget:
    declared, title = DECLARED[choice], title_of(choice)
    field: QWidget
    if choice == "preparation":  # it comes from a file and goes with it
        field = QLabel()
        field.setWordWrap(True)
    elif declared.among or options(choice):
        field = option_box(options(choice))
    elif KINDS[choice] is bool:
        field = QCheckBox(title)
    elif KINDS[choice] is float:
        field = _share_box(declared.least, declared.most)
    elif declared.least is not None:
        least = NO_LIMIT if declared.optional else declared.least
        field = _number_box(least, declared.most, SUFFIXES.get(choice, ""), NOTHING_SAID.get(choice, ""))
    else:
        field = entry(HINTS.get(choice, ""))
    field.setAccessibleName(title)
    field.setToolTip(tip(declared.tip))
    return field


def connect(field: QWidget, chosen: Callable[[], None], refused: Callable[[str], None]) -> None:
    """Call `chosen` at each new value, and `refused` with a sentence where the text is no value."""
    if isinstance(field, NumberBox):
        field.refused.connect(refused)
    if isinstance(field, QComboBox):
        field.setMinimumContentsLength(6)
        field.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        field.activated.connect(lambda _: chosen())
    elif isinstance(field, QCheckBox):
        field.clicked.connect(lambda _: chosen())
    elif isinstance(field, QSpinBox | QDoubleSpinBox):
        field.valueChanged.connect(lambda _: chosen())
    elif isinstance(field, QLineEdit):
        field.editingFinished.connect(chosen)


def value_in(field: QWidget, *, is_list: bool) -> Any:
    if isinstance(field, QComboBox):
        return field.currentData()
    if isinstance(field, QCheckBox):
        return field.isChecked()
    if isinstance(field, QSpinBox):
        return field.value() or None
    if isinstance(field, QDoubleSpinBox):
        return field.value()
    assert isinstance(field, QLineEdit)
    return listed(field.text()) if is_list else field.text()


def put_into(field: QWidget, value: Any) -> None:
    if isinstance(field, QComboBox):
        field.setCurrentIndex(field.findData(value))
        field.setToolTip(tip(field.currentData(Qt.ItemDataRole.ToolTipRole) or ""))
    elif isinstance(field, QCheckBox):
        field.setChecked(value)
    elif isinstance(field, QSpinBox):
        field.setValue(min(value or NO_LIMIT, field.maximum()))
    elif isinstance(field, QDoubleSpinBox):
        field.setValue(value)
    elif isinstance(field, QLabel):
        field.setText("\n".join(f"{place}. {step.words}" for place, step in enumerate(value, start=1)))
    elif isinstance(field, QLineEdit):
        field.setText(written(value))


def written(value: Any) -> str:
    return " ".join(map(_quoted, map(str, value))) if isinstance(value, tuple) else str(value)


def listed(line: str) -> tuple[str, ...]:
    """Read the items of a line, separated by spaces; a quoted item may contain spaces.

    >>> listed('<s> "<end of text>"'), written(("<s>", "<end of text>"))
    (('<s>', '<end of text>'), '<s> "<end of text>"')
    """
    return tuple(found[1] or found[0] for found in _LISTED.findall(line))


def _quoted(text: str) -> str:
    return f'"{text}"' if " " in text else text


def option_box(offered: list[Option]) -> QComboBox:
    box = QComboBox()
    for option in offered:
        _add_option(box, option)
    return box


def preset_box(form: RecipeForm) -> QComboBox:
    """Make the box of presets, grouped by method; it shows when the recipe is none of them."""
    box = QComboBox()
    for title, offered in presets().items():
        if len(presets()) > 1:
            _add_heading(box, title)
        for option in offered:
            _add_option(box, option)
    box.setAccessibleName("Preset")
    box.setMinimumContentsLength(9)
    box.setToolTip("A recipe to start from")

    def show() -> None:
        box.setCurrentIndex(box.findData(form.preset) if form.preset else -1)

    box.setPlaceholderText(NO_PRESET)
    box.activated.connect(lambda _: form.choose_preset(box.currentData()))
    form.changed.connect(show)
    show()
    return box


def _add_option(box: QComboBox, option: Option) -> None:
    box.addItem(option.title, option.value)
    box.setItemData(box.count() - 1, option.explanation, Qt.ItemDataRole.ToolTipRole)


def _add_heading(box: QComboBox, title: str) -> None:
    """Add a heading, which cannot be chosen."""
    box.addItem(title)
    box.setItemData(box.count() - 1, Qt.ItemFlag.NoItemFlags.value, Qt.ItemDataRole.UserRole - 1)


def _number_box(least: int, most: int, suffix: str, none: str) -> NumberBox:
    box = NumberBox(least, min(most, LARGEST_NUMBER))
    box.setSuffix(suffix)
    box.setKeyboardTracking(False)
    box.setSpecialValueText(none)
    return box


def _share_box(least: float | None, most: float) -> QDoubleSpinBox:
    box = QDoubleSpinBox()
    box.setRange(least or 0.0, min(most, 1.0))
    box.setSingleStep(0.05)
    box.setKeyboardTracking(False)
    return box


class SizeBox(NumberBox):
    """The vocabulary size, or the number of steps if the recipe counts those."""

    def __init__(self, form: RecipeForm, parent: QWidget | None = None) -> None:
        super().__init__(0, LARGEST_VOCABULARY, parent)
        self._form = form
        self.setKeyboardTracking(False)  # only a finished number is a choice
        self.setAccelerated(True)
        self.setSingleStep(1000)
        form.changed.connect(self._show)
        form.refused.connect(self._show_refusal)
        self.valueChanged.connect(self._choose)
        self.refused.connect(lambda sentence: form.refuse(self._choice, sentence))
        self._show()

    @property
    def counts_steps(self) -> bool:
        return self._form.value("merges") is not None

    @property
    def _choice(self) -> str:
        return "merges" if self.counts_steps else "vocab_size"

    def _choose(self, size: int) -> None:
        self._form.choose(**{self._choice: size})

    def _show_refusal(self, choice: str, sentence: str) -> None:
        """Go back to the old size, and say what is wrong with the new one."""
        if choice in ("merges", "vocab_size"):
            self._show()
            mark_refused(self, sentence)

    def _show(self) -> None:
        self.blockSignals(True)
        self.setValue(self._form.value(self._choice))
        self.setAccessibleName(f"Number of {self._form.step}s" if self.counts_steps else "Vocabulary size")
        goal = "The vocabulary shrinks to this size" if self._form.shrinks else "How large the vocabulary grows"
        mark_refused(self, "")
        self.setToolTip(tip("\n".join((f"{goal}:", *(f"• {usual}" for usual in self._form.usual_sizes)))))
        self.blockSignals(False)


LINES = 4
PADDING = 3.0
GAP = 3.0


class SplitPreview(QWidget):
    """A few lines of words in boxes, which no merge crosses."""

    def __init__(self, form: RecipeForm, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words: list[str] = []
        self._sentence = ""
        self.setFont(fixed_font(self.font().pointSizeF() * 0.9))
        self.setAccessibleName("Preview of the splitting")
        self.setToolTip("How your text is split before anything is merged; merges never cross from one box to the next")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        form.split.connect(self.show_words)
        form.split_failed.connect(self.show_sentence)

    @property
    def words(self) -> list[str]:
        return self._words

    def show_words(self, words: tuple[str, ...]) -> None:
        self._words, self._sentence = [from_the_left(word) for word in words], ""
        self.setAccessibleDescription(" | ".join(self._words[:40]))
        self.update()

    def show_sentence(self, sentence: str) -> None:
        self._words, self._sentence = [], sentence
        self.setAccessibleDescription(sentence)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, int(LINES * self._line_height() + GAP))

    def _line_height(self) -> float:
        return QFontMetricsF(self.font()).height() + GAP + 1

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            shades = shades_of(self.palette())
            if self._sentence:
                painter.setPen(shades.error)
                painter.drawText(self.rect(), Qt.TextFlag.TextWordWrap, self._sentence)
                return
            metrics = QFontMetricsF(self.font())
            x, y, height = 0.0, 0.0, self._line_height()
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for i, word in enumerate(self._words):
                width = min(metrics.horizontalAdvance(word) + 2 * PADDING, float(self.width()))
                if x + width > self.width():
                    x, y = 0.0, y + height
                if y + height > self.height():
                    return
                box = QRectF(x, y, width, height - GAP)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(shades.mark_ground if i % 2 else shades.hairline)
                painter.drawRoundedRect(box, 2.5, 2.5)
                painter.setPen(self.palette().text().color())
                text = metrics.elidedText(word, Qt.TextElideMode.ElideRight, width - 2 * PADDING + 1)
                painter.drawText(box.adjusted(PADDING, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, text)
                x += width + GAP
