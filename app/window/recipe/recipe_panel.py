"""The recipe panel: a field for each choice, even for those not named here, and a preview of the splitting."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt, SignalInstance
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QToolButton,
    QWidget,
)

from app.window.parts.layouts import in_column
from app.window.parts.theme import fixed_font, shades_of
from app.window.parts.typed import NumberBox, mark_refused
from app.window.parts.widgets import entry, muted, paragraph, scaled
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
LARGEST_NUMBER = 100_000_000  # options of a box

MAIN = ("min_frequency", "ties", "pattern", "custom_pattern")  # always visible, after the choices of the method
_MORE = (
    *("base", "unit", "marker", "marker_text", "lowercase", "strip_ascii_punctuation", "strip_marks", "unicode_form"),
    *("special_tokens", "max_token_length", "alphabet_limit", "unknown", "unknown_text"),
)
MORE = list(dict.fromkeys((*_MORE, *CHOICES)))
for _elsewhere in ("name", "mixture", "method", "vocab_size", "merges", *MAIN, *OF_A_METHOD):
    MORE.remove(_elsewhere)
HINTS = {
    "border": "such as |, in mor|phe|mes",
    "custom_pattern": "such as \\w+|\\s+",
    "strip_marks": "such as “”’",
    "special_tokens": 'separated by spaces, or "in quotes"',
    "interventions": "such as forbid:116+104@12",
}
_LISTED = re.compile(r'("([^"]+)"|\S+)')
NOTHING_SAID = {
    "max_token_length": "no limit",
    "alphabet_limit": "all characters",
    "transition": "half of the merges",
    "most_words": "any number",
    "global_merges": "none",
    "window_size": "no window",
    "tau": "never",
}
SUFFIXES = {
    "min_frequency": "×",
    "keep_share": " %",
    "gap_to_floor": " ‰",
    "alpha": " %",
    "block_size": " bytes",
    "block_bytes": " different",
}


@dataclass(frozen=True)
class Field:
    """The box, line or tick of a choice, with functions to read, show and choose its value."""

    widget: QWidget
    value: Callable[[], Any]
    show: Callable[[Any], object]
    chosen: SignalInstance | None = None


def field_of(choice: str) -> Field:
    declared, title = CHOICES[choice], title_of(choice)
    if choice in ("preparation", "decoding"):  # only a file sets them
        steps = paragraph()
        field = Field(steps, tuple, lambda value: steps.setText(_numbered(value)))
    elif declared.among or options(choice):
        field = _option_field(options(choice))
    elif KINDS[choice] is bool:
        tick = QCheckBox(title)
        field = Field(tick, tick.isChecked, tick.setChecked, tick.clicked)
    elif declared.is_share:
        share = _share_box(NOTHING_SAID.get(choice, ""))
        field = Field(
            share, lambda: share.value() or None, lambda value: share.setValue(value or 0), share.valueChanged
        )
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


def _share_box(nothing: str) -> QDoubleSpinBox:
    box = QDoubleSpinBox()
    box.setRange(0.0, 1.0)
    box.setSpecialValueText(nothing)
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
    """Make the box of presets, grouped by method; it says so when the recipe is none of them."""
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


SIDES = 12  # the margins left and right


class RecipePanel(QScrollArea):
    """Takes each choice at once, or refuses it below the field."""

    def __init__(self, form: RecipeForm, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._form = form
        self._showing = False  # while fields are filled they choose nothing
        self._refusals: dict[str, tuple[QFormLayout, QLabel]] = {}
        self._fields: dict[str, Field] = {}
        self._layouts: dict[str, QFormLayout] = {}  # of each field
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its fields take the focus
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inside = QWidget()
        column = in_column(self._main_fields(), self._more_button(), on=inside, margins=(8, 2, SIDES - 8, 8))
        self.more = QWidget()
        self.more.hide()
        more_fields = _form_layout(self.more)
        more_fields.setContentsMargins(0, 0, 0, 0)
        for choice in MORE:
            self._add(more_fields, choice)
        column.addWidget(self.more)
        column.addStretch()
        self.setWidget(inside)
        bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        least = max(inside.minimumSizeHint().width(), self.more.minimumSizeHint().width() + SIDES)
        self.setMinimumWidth(least + bar)
        form.changed.connect(self._show)
        form.refused.connect(self._refuse)
        form.slow.connect(self._tell_slow)
        self._show()

    @property
    def choices(self) -> set[str]:
        return set(self._fields)

    def field(self, choice: str) -> Any:
        return self._fields[choice].widget

    # Fields

    def _main_fields(self) -> QFormLayout:
        self._main_layout = layout = _form_layout()
        layout.addRow(_small_label("For the next training"))
        self._add(layout, "method")
        self.preset = preset_box(self._form)
        self.explanation = _small_label()
        layout.addRow("Preset", self.preset)
        layout.addRow(self.explanation)
        self.size_box = SizeBox(self._form)
        self.size_kind = QComboBox()
        self.size_kind.addItems(["Vocabulary", ""])
        self.size_kind.setAccessibleName("What the size counts")
        self.size_kind.activated.connect(self._choose_size_kind)
        layout.addRow(self.size_kind, self.size_box)
        self._add_refusal(layout, "vocab_size")
        self.advice = _small_label()
        layout.addRow(self.advice)
        for choice in (*OF_A_METHOD, *MAIN):
            self._add(layout, choice)
        self.slow = _small_label()
        layout.addRow(self.slow)
        layout.setRowVisible(self.slow, False)
        self.preview = SplitPreview(self._form)
        layout.addRow(self.preview)
        return layout

    def _more_button(self) -> QToolButton:
        self.more_button = button = QToolButton()
        button.setAutoRaise(True)
        button.setText("More")
        button.setCheckable(True)
        button.setArrowType(Qt.ArrowType.RightArrow)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.toggled.connect(self._show_more)
        return button

    def _show_more(self, on: bool) -> None:
        self.more.setVisible(on)
        self.more_button.setArrowType(Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow)

    def _add(self, layout: QFormLayout, choice: str) -> None:
        field = field_of(choice)
        self._fields[choice], self._layouts[choice] = field, layout
        layout.addRow("" if isinstance(field.widget, QCheckBox) else title_of(choice), field.widget)
        self._add_refusal(layout, choice)
        if field.chosen is not None:
            field.chosen.connect(lambda *_: self._choose(choice))
        if isinstance(field.widget, NumberBox):
            field.widget.refused.connect(lambda sentence: self._form.refuse(choice, sentence))

    def _add_refusal(self, layout: QFormLayout, choice: str) -> None:
        label = _small_label(is_muted=False)
        label.setObjectName(f"refusal of {choice}")
        layout.addRow(label)
        layout.setRowVisible(label, False)
        self._refusals[choice] = layout, label

    # From the fields to the recipe, and back

    def _choose(self, choice: str) -> None:
        if self._showing:
            return
        field = self._fields[choice]
        value = field.value()
        if value == self._form.value(choice):
            self._form.refuse(choice, "")  # the value before an impossible entry
            return
        if choice == "method":
            self._form.choose_method(value)
        elif choice == "pattern" and value == "custom":
            self._offer_own_pattern()
        elif choice == "custom_pattern":
            self._form.choose(custom_pattern=value, pattern="custom")
        elif not self._form.choose(**{choice: value}) and not isinstance(field.widget, QLineEdit):
            self._fill()  # restored; but a line of text stays until it is corrected

    def _offer_own_pattern(self) -> None:
        self._form.choose(pattern="custom", custom_pattern=r"\w+|[^\w\s]+|\s+")
        self.field("custom_pattern").setFocus()

    def _choose_size_kind(self, index: int) -> None:
        if (index == 1) != self.size_box.counts_steps:
            self._form.choose(**({"merges": 1000} if index == 1 else {"vocab_size": 32_000}))

    def _show(self) -> None:
        for refused in self._refusals:
            if refused not in self._form.standing:
                self._refuse(refused, "")
        self._fill()

    def _fill(self) -> None:
        self._showing = True
        for choice, field in self._fields.items():
            if choice not in self._form.standing:
                field.show(self._form.value(choice))
            self._layouts[choice].setRowVisible(field.widget, self._form.applies(choice))
        self.size_kind.setItemText(1, self._form.method.wording.steps.capitalize())
        self.size_kind.setToolTip(tip(f"Count all tokens, or only the {self._form.method.wording.steps}"))
        self.size_kind.setCurrentIndex(int(self.size_box.counts_steps))
        self.explanation.setText(self._form.explanation)
        if not self._form.applies("custom_pattern"):
            self._tell_slow("")
        self.advice.setText(f"Usual sizes: {'; '.join(self._form.method.usual_sizes)}.")
        self._main_layout.setRowVisible(self.advice, bool(self._form.method.usual_sizes))
        self._showing = False

    def _tell_slow(self, why: str) -> None:
        self.slow.setText(f"Slow: {why}.")
        self.slow.setToolTip(tip("Large texts are split up to a hundred times as fast by patterns without that"))
        self._main_layout.setRowVisible(self.slow, bool(why) and self._form.applies("custom_pattern"))

    def _refuse(self, choice: str, sentence: str) -> None:
        choice = "vocab_size" if choice == "merges" else choice
        if choice in self._fields:
            mark_refused(self.field(choice), sentence)
        if choice in self._refusals:
            layout, place = self._refusals[choice]
            place.setText(sentence)
            place.setStyleSheet(f"color: {shades_of(self.palette()).error.name()}")
            layout.setRowVisible(place, bool(sentence))


def _form_layout(on: QWidget | None = None) -> QFormLayout:
    layout = QFormLayout() if on is None else QFormLayout(on)
    layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    layout.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
    layout.setVerticalSpacing(5)
    layout.setHorizontalSpacing(8)
    return layout


def _small_label(text: str = "", *, is_muted: bool = True) -> QLabel:
    return scaled(muted(text) if is_muted else paragraph(text), 0.9)
