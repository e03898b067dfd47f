"""The recipe as a form: preset, size, rules, and a preview of how the text is split."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSpinBox,
    QStyle,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.window.parts.theme import shades_of
from app.window.parts.widgets import entry, muted, number_box, paragraph
from app.window.recipe.model import OPTIONS, TIPS, USUAL_SIZES, RecipeForm
from app.window.recipe.size_box import SizeBox
from app.window.recipe.split_preview import SplitPreview

NO_PRESET = "own choices"
NO_LIMIT = 0
SIDES = 12  # the margins left and right


class RecipePanel(QScrollArea):
    """Each choice is made at once; one that cannot be is refused right below it."""

    def __init__(self, form: RecipeForm, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._form = form
        self._showing = False  # while the fields are filled, they choose nothing
        self._refusals: dict[str, QLabel] = {}
        self._fields: dict[str, QWidget] = {}
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its fields have it
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(8, 2, SIDES - 8, 8)
        column.addLayout(self._main_fields())
        column.addWidget(self._more_button())
        self.more = QWidget()
        self.more.hide()
        self.more.setLayout(self._more_fields())
        column.addWidget(self.more)
        column.addStretch()
        self.setWidget(inside)
        bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        least = max(inside.minimumSizeHint().width(), self.more.minimumSizeHint().width() + SIDES)
        self.setMinimumWidth(least + bar)
        form.changed.connect(self._show)
        form.refused.connect(self._refuse)
        self._show()

    def field(self, choice: str) -> Any:
        """The widget where that choice is made."""
        return self._fields[choice]

    # Fields

    def _main_fields(self) -> QFormLayout:
        self._main_layout = layout = _form_layout()
        self.preset = preset_box(self._form)
        self.explanation = _small_label()
        layout.addRow("Preset", self.preset)
        layout.addRow(self.explanation)
        self.size_box = SizeBox(self._form)
        self.size_kind = QComboBox()
        self.size_kind.addItems(["Vocabulary", "Merges"])
        self.size_kind.setToolTip("Count all tokens, or only the merges")
        self.size_kind.setAccessibleName("What the size counts")
        self.size_kind.activated.connect(self._choose_size_kind)
        layout.addRow(self.size_kind, self.size_box)
        self._add_refusal(layout, "vocab_size")
        self.advice = _small_label("Usual sizes: " + "; ".join(USUAL_SIZES) + ".")
        layout.addRow(self.advice)
        self._add(layout, "min_frequency", "At least", self._number(1, 1_000_000, suffix="×"))
        self._add(layout, "ties", "Ties", option_box("ties"))
        self._add(layout, "pattern", "Split by", option_box("pattern"))
        self._add(layout, "custom_pattern", "Pattern", entry("such as \\w+|\\s+"))
        self.preview = SplitPreview(self._form)
        layout.addRow(self.preview)
        return layout

    def _more_fields(self) -> QFormLayout:
        layout = _form_layout()
        layout.setContentsMargins(0, 0, 0, 0)
        self._add(layout, "base", "Starts from", option_box("base"))
        self._add(layout, "unit", "Unit", option_box("unit"))
        self._add(layout, "marker", "Marker", option_box("marker"))
        self._add(layout, "marker_text", "Marker text", entry())
        self._add(layout, "lowercase", "", QCheckBox("Lower case"))
        self._add(layout, "strip_ascii_punctuation", "", QCheckBox("No ASCII punctuation"))
        self._add(layout, "strip_marks", "Remove also", entry("such as “”’"))
        self._add(layout, "unicode_form", "Unicode", option_box("unicode_form"))
        self._add(layout, "special_tokens", "Special tokens", entry("separated by blanks"))
        self._add(layout, "max_token_length", "Longest token", self._number(NO_LIMIT, 10_000, none="no limit"))
        self._add(layout, "alphabet_limit", "Alphabet", self._number(NO_LIMIT, 1_000_000, none="all characters"))
        self._add(layout, "unknown", "Unknown as", option_box("unknown"))
        return layout

    def _more_button(self) -> QToolButton:
        button = QToolButton()
        button.setAutoRaise(True)
        button.setText("More")
        button.setCheckable(True)
        button.setArrowType(Qt.ArrowType.RightArrow)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.toggled.connect(lambda on: self.more.setVisible(on))
        button.toggled.connect(
            lambda on: button.setArrowType(Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow)
        )
        self.more_button = button
        return button

    def _add(self, layout: QFormLayout, choice: str, title: str, field: QWidget) -> None:
        field.setAccessibleName(title or field.property("text"))
        field.setToolTip(TIPS[choice])
        self._fields[choice] = field
        layout.addRow(title, field)
        self._add_refusal(layout, choice)
        self._connect(choice, field)

    def _add_refusal(self, layout: QFormLayout, choice: str) -> None:
        label = _small_label(is_muted=False)
        label.setObjectName(f"refusal of {choice}")
        layout.addRow(label)
        layout.setRowVisible(label, False)
        self._refusals[choice] = label

    def _connect(self, choice: str, field: QWidget) -> None:
        if isinstance(field, QComboBox):
            field.setMinimumContentsLength(6)
            field.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            field.activated.connect(lambda _: self._choose(choice))
        elif isinstance(field, QCheckBox):
            field.clicked.connect(lambda _: self._choose(choice))
        elif isinstance(field, QSpinBox):
            field.valueChanged.connect(lambda _: self._choose(choice))
        elif isinstance(field, QLineEdit):
            field.editingFinished.connect(lambda: self._choose(choice))

    @staticmethod
    def _number(least: int, most: int, suffix: str = "", none: str = "") -> QSpinBox:
        box = number_box(least, most)
        box.setSuffix(suffix)
        box.setKeyboardTracking(False)
        box.setSpecialValueText(none)
        return box

    # From the fields to the recipe, and back

    def _choose(self, choice: str) -> None:
        if self._showing:
            return
        value = self._value_in(choice)
        if value == self._form.value(choice):
            return
        if choice == "pattern" and value == "custom":
            self._offer_own_pattern()
        elif choice == "custom_pattern":
            self._form.choose(custom_pattern=value, pattern="custom")
        elif not self._form.choose(**{choice: value}):
            self._fill()  # as it was

    def _value_in(self, choice: str) -> Any:
        field = self._fields[choice]
        if isinstance(field, QComboBox):
            return field.currentData()
        if isinstance(field, QCheckBox):
            return field.isChecked()
        if isinstance(field, QSpinBox):
            return field.value() or None
        text = field.text()  # type: ignore[attr-defined]
        return tuple(text.split()) if choice == "special_tokens" else text

    def _offer_own_pattern(self) -> None:
        """An own pattern begins as the one that is chosen now, so that there is something to change."""
        self._form.choose(pattern="custom", custom_pattern=r"\w+|[^\w\s]+|\s+")
        self.field("custom_pattern").setFocus()

    def _choose_size_kind(self, index: int) -> None:
        if (index == 1) != self.size_box.counts_merges:
            self._form.choose(**({"merges": 1000} if index == 1 else {"vocab_size": 32_000}))

    def _show(self) -> None:
        """The recipe as it is now; it is a possible one, so nothing is refused any more."""
        for refused in self._refusals:
            self._refuse(refused, "")
        self._fill()

    def _fill(self) -> None:
        self._showing = True
        for choice, field in self._fields.items():
            _put_into(field, self._form.value(choice))
            field.setEnabled(self._form.applies(choice))
        self.size_kind.setCurrentIndex(int(self.size_box.counts_merges))
        option = next((option for option in OPTIONS["preset"] if option.value == self._form.preset), None)
        self.explanation.setText(option.explanation if option else "Choices of your own.")
        self._main_layout.setRowVisible(self.field("custom_pattern"), self._form.applies("custom_pattern"))
        self._showing = False

    def _refuse(self, choice: str, sentence: str) -> None:
        place = self._refusals.get("vocab_size" if choice == "merges" else choice)
        if place is None:
            return
        place.setText(sentence)
        place.setStyleSheet(f"color: {shades_of(self.palette()).error.name()}")
        layout = next(found for found in self.findChildren(QFormLayout) if found.indexOf(place) >= 0)
        layout.setRowVisible(place, bool(sentence))


def option_box(choice: str) -> QComboBox:
    """What can be chosen there, each explained where the mouse rests on it."""
    box = QComboBox()
    for option in OPTIONS[choice]:
        box.addItem(option.title, option.value)
        box.setItemData(box.count() - 1, option.explanation, Qt.ItemDataRole.ToolTipRole)
    return box


def preset_box(form: RecipeForm) -> QComboBox:
    """A box to choose a preset by name; it says where the recipe is none of them."""
    box = option_box("preset")
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


def _put_into(field: QWidget, value: Any) -> None:
    if isinstance(field, QComboBox):
        field.setCurrentIndex(field.findData(value))
        field.setToolTip(field.currentData(Qt.ItemDataRole.ToolTipRole))
    elif isinstance(field, QCheckBox):
        field.setChecked(value)
    elif isinstance(field, QSpinBox):
        field.setValue(min(value or NO_LIMIT, field.maximum()))
    elif isinstance(field, QLineEdit):
        field.setText(" ".join(value) if isinstance(value, tuple) else value)


def _form_layout() -> QFormLayout:
    layout = QFormLayout()
    layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    layout.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
    layout.setVerticalSpacing(5)
    layout.setHorizontalSpacing(8)
    return layout


def _small_label(text: str = "", *, is_muted: bool = True) -> QLabel:
    label = muted(text) if is_muted else paragraph(text)
    font = label.font()
    font.setPointSizeF(font.pointSizeF() * 0.9)
    label.setFont(font)
    return label
