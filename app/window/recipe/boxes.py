"""The boxes in which a user chooses a preset and a vocabulary size."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QWidget

from app.window.parts.typed_text import NumberBox, mark_refused
from app.window.parts.wording import tip
from app.window.recipe.fields import add_option
from app.window.recipe.recipe_form import LARGEST_VOCABULARY, RecipeForm, presets

NO_PRESET = "own choices"


def preset_box(form: RecipeForm) -> QComboBox:
    """Return a box that lists the presets by method. If the recipe differs from all presets, the box says so."""
    box = QComboBox()
    by_method = presets()
    for title, offered in by_method.items():
        if len(by_method) > 1:
            _add_heading(box, title)
        for option in offered:
            add_option(box, option)
    box.setAccessibleName("Preset")
    box.setMinimumContentsLength(9)
    box.setToolTip("A recipe to start from")

    def show() -> None:
        box.setCurrentIndex(box.findData(form.preset) if form.preset else -1)

    box.setPlaceholderText(NO_PRESET)

    def choose(place: int) -> None:
        if (name := box.itemData(place)) is not None:  # a heading, or nothing
            form.choose_preset(name)

    box.activated.connect(choose)
    form.changed.connect(show)
    show()
    return box


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
        goal = "The vocabulary shrinks to this size" if self._form.shrinks else "The size to which the vocabulary grows"
        mark_refused(self, "")
        self.setToolTip(tip("\n".join((f"{goal}:", *(f"• {usual}" for usual in self._form.method.usual_sizes)))))
        self.blockSignals(False)
