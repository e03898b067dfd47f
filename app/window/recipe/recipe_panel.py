"""The panel of the recipe: a field for each choice, including the choices of plug-ins, and a preview of the words."""

from __future__ import annotations

from typing import Any, cast

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QStyle,
    QToolButton,
    QWidget,
)

from app.window.parts.layouts import in_column
from app.window.parts.theme import shades_of
from app.window.parts.typed_text import NumberBox, mark_refused
from app.window.parts.widgets import muted_label, paragraph, scale_font
from app.window.parts.wording import tip
from app.window.parts.zoom import USUAL, set_zoomed, zoom_percent
from app.window.recipe.boxes import SizeBox, preset_box
from app.window.recipe.fields import Field, field_of
from app.window.recipe.recipe_form import COMMON, RecipeForm, choices_of_methods, title_of
from app.window.recipe.split_preview import SplitPreview

MAIN = ("min_frequency", "ties", "pattern", "custom_pattern")  # always visible, after the choices of the method
_MORE = (
    *("base", "unit", "marker", "marker_text", "lowercase", "strip_ascii_punctuation", "strip_marks", "unicode_form"),
    *("special_tokens", "max_token_length", "alphabet_limit", "unknown", "unknown_text"),
)
_ELSEWHERE = ("name", "mixture", "method", "vocab_size", "merges", *MAIN, *choices_of_methods())
MORE = [choice for choice in dict.fromkeys((*_MORE, *COMMON)) if choice not in _ELSEWHERE]
SIDES = 12  # the margins left and right


class RecipePanel(QScrollArea):
    """A panel with a field for each choice. A new value changes the recipe at once.

    If a value is refused, the reason is shown below the field.
    """

    def __init__(self, form: RecipeForm, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._form = form
        self._showing = False  # while the program fills the fields, they choose nothing
        self._refusals: dict[str, QLabel] = {}
        self._fields: dict[str, Field] = {}
        self._layouts: dict[str, QFormLayout] = {}  # the layout of each field, and of the size
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
        set_zoomed(self, QWidget.setMinimumWidth, (least + bar) * USUAL / zoom_percent())
        form.changed.connect(self._show)
        form.refused.connect(self._refuse)
        form.slow.connect(self._report_slow_pattern)
        self._show()

    @property
    def choices(self) -> set[str]:
        return set(self._fields)

    def field(self, choice: str) -> Any:
        return self._fields[choice].widget

    def go_to_field(self, choice: str) -> None:
        """Show the field of a choice, and move the focus to the field."""
        if choice in MORE:
            self.more_button.setChecked(True)
        self.field(choice).setFocus()

    # -- fields ----------------------------------------------------------------------------

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
        self.size_kind.setAccessibleName("Unit of the vocabulary size")
        self.size_kind.activated.connect(self._choose_size_kind)
        layout.addRow(self.size_kind, self.size_box)
        self._layouts["vocab_size"] = layout
        self.advice = _small_label()
        layout.addRow(self.advice)
        for choice in (*choices_of_methods(), *MAIN):
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
        self._fields[choice] = field
        self._layouts[choice] = layout
        layout.addRow("" if isinstance(field.widget, QCheckBox) else title_of(choice), field.widget)
        if field.chosen is not None:
            field.chosen.connect(lambda *_: self._choose(choice))
        if isinstance(field.widget, NumberBox):
            field.widget.refused.connect(lambda sentence: self._form.refuse(choice, sentence))

    def _add_refusal(self, choice: str) -> None:
        """Add the label below a field that says why its value was refused. Most fields never need one."""
        self._refusals[choice] = label = _small_label(is_muted=False)
        label.setObjectName(f"refusal of {choice}")
        layout = self._layouts[choice]
        field = self.size_box if choice == "vocab_size" else self.field(choice)
        row, _ = cast(tuple[int, QFormLayout.ItemRole], layout.getWidgetPosition(field))
        layout.insertRow(row + 1, label)

    # -- from the fields to the recipe, and back -------------------------------------------

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
            self._fill()  # restored, except a line of text, which stays until it is corrected

    def _offer_own_pattern(self) -> None:
        self._form.choose(pattern="custom", custom_pattern=r"\w+|[^\w\s]+|\s+")
        self.field("custom_pattern").setFocus()

    def _choose_size_kind(self, index: int) -> None:
        if (index == 1) != self.size_box.counts_steps:
            self._form.choose(**({"merges": 1000} if index == 1 else {"vocab_size": 32_000}))

    def _show(self) -> None:
        for refused in self._layouts:
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
            self._report_slow_pattern("")
        self.advice.setText(f"Usual sizes: {'; '.join(self._form.method.usual_sizes)}.")
        self._main_layout.setRowVisible(self.advice, bool(self._form.method.usual_sizes))
        self._showing = False

    def _report_slow_pattern(self, why: str) -> None:
        self.slow.setText(f"Slow: {why}.")
        self.slow.setToolTip(tip("Patterns without this part split large texts up to a hundred times as fast"))
        self._main_layout.setRowVisible(self.slow, bool(why) and self._form.applies("custom_pattern"))

    def _refuse(self, choice: str, sentence: str) -> None:
        choice = "vocab_size" if choice == "merges" else choice
        if choice in self._fields:
            mark_refused(self.field(choice), sentence)
        if sentence and choice in self._layouts and choice not in self._refusals:
            self._add_refusal(choice)
        if choice in self._refusals:
            place = self._refusals[choice]
            place.setText(sentence)
            place.setStyleSheet(f"color: {shades_of(self.palette()).error.name()}")
            self._layouts[choice].setRowVisible(place, bool(sentence))


def _form_layout(on: QWidget | None = None) -> QFormLayout:
    layout = QFormLayout() if on is None else QFormLayout(on)
    layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    layout.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
    layout.setVerticalSpacing(5)
    layout.setHorizontalSpacing(8)
    return layout


def _small_label(text: str = "", *, is_muted: bool = True) -> QLabel:
    return scale_font(muted_label(text) if is_muted else paragraph(text), 0.9)
