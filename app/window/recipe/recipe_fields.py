"""The fields of the recipe form (also for choices not named here, by their declaration), size box and preview."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt, SignalInstance
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QSizePolicy, QWidget

from app.window.parts.theme import fixed_font, shades_of
from app.window.parts.typed import NumberBox, mark_refused
from app.window.parts.widgets import entry, paragraph
from app.window.parts.wording import from_the_left, tip
from app.window.recipe.recipe_form import (
    CHOICES,
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
MORE = list(dict.fromkeys((*_MORE, *CHOICES)))
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


@dataclass(frozen=True)
class Field:
    """The box, line or tick of a choice, and how its value is read, shown and chosen."""

    widget: QWidget
    value: Callable[[], Any]
    show: Callable[[Any], object]
    chosen: SignalInstance | None = None


def field_of(choice: str) -> Field:
    declared, title = CHOICES[choice], title_of(choice)
    if choice == "preparation":  # it comes from a file and goes with it
        steps = paragraph()
        field = Field(steps, tuple, lambda value: steps.setText(_numbered(value)))
    elif declared.among or options(choice):
        field = _option_field(options(choice))
    elif KINDS[choice] is bool:
        tick = QCheckBox(title)
        field = Field(tick, tick.isChecked, tick.setChecked, tick.clicked)
    elif KINDS[choice] is float:
        share = _share_box(declared.least, declared.most)
        field = Field(share, share.value, share.setValue, share.valueChanged)
    elif declared.least is not None:
        field = _number_field(choice, NO_LIMIT if declared.optional else int(declared.least), int(declared.most))
    else:
        line = entry(HINTS.get(choice, ""))
        read = listed if KINDS[choice] is tuple else str
        field = Field(line, lambda: read(line.text()), lambda value: line.setText(written(value)), line.editingFinished)
    field.widget.setAccessibleName(title)
    field.widget.setToolTip(tip(declared.tip))
    return field


def _numbered(steps: tuple[Any, ...]) -> str:
    return "\n".join(f"{place}. {step.words}" for place, step in enumerate(steps, start=1))


def _option_field(offered: list[Option]) -> Field:
    box = QComboBox()
    box.setMinimumContentsLength(6)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    for option in offered:
        _add_option(box, option)

    def show(value: Any) -> None:
        box.setCurrentIndex(box.findData(value))
        box.setToolTip(tip(box.currentData(Qt.ItemDataRole.ToolTipRole) or ""))

    return Field(box, box.currentData, show, box.activated)


def _number_field(choice: str, least: int, most: int) -> Field:
    box = NumberBox(least, min(most, LARGEST_NUMBER))
    box.setSuffix(SUFFIXES.get(choice, ""))
    box.setKeyboardTracking(False)
    box.setSpecialValueText(NOTHING_SAID.get(choice, ""))

    def show(value: int | None) -> None:
        box.setValue(min(value or NO_LIMIT, box.maximum()))

    return Field(box, lambda: box.value() or None, show, box.valueChanged)


def _share_box(least: float | None, most: float) -> QDoubleSpinBox:
    box = QDoubleSpinBox()
    box.setRange(least or 0.0, min(most, 1.0))
    box.setSingleStep(0.05)
    box.setKeyboardTracking(False)
    return box


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


class SizeBox(NumberBox):
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
        self.setAccessibleName(
            f"Number of {self._form.method.wording.steps}" if self.counts_steps else "Vocabulary size"
        )
        goal = "The vocabulary shrinks to this size" if self._form.shrinks else "How large the vocabulary grows"
        mark_refused(self, "")
        self.setToolTip(tip("\n".join((f"{goal}:", *(f"• {usual}" for usual in self._form.method.usual_sizes)))))
        self.blockSignals(False)


LINES = 4
PADDING = 3.0
GAP = 3.0


class SplitPreview(QWidget):
    """A few lines of words in boxes, which no merge crosses."""

    def __init__(self, form: RecipeForm, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words: list[str] = []
        self._sentence = ""
        self.setFont(fixed_font(self.font().pointSizeF() * 0.9))
        self.setAccessibleName("Preview of the splitting")
        self.setToolTip("How your text is split before anything is merged; merges never cross from one box to the next")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        form.split.connect(self.show_words)
        form.split_failed.connect(self.show_sentence)

    def show_words(self, words: tuple[str, ...]) -> None:
        self.words, self._sentence = [from_the_left(word) for word in words], ""
        self.setAccessibleDescription(" | ".join(self.words[:40]))
        self.update()

    def show_sentence(self, sentence: str) -> None:
        self.words, self._sentence = [], sentence
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
            for i, word in enumerate(self.words):
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
