"""How much is to be learned, as a number to type: the same box in the toolbar and in the recipe."""

from __future__ import annotations

from PySide6.QtWidgets import QSpinBox, QWidget

from app.window.parts.wording import tip
from app.window.recipe.model import LARGEST_VOCABULARY, USUAL_SIZES, RecipeForm


class SizeBox(QSpinBox):
    """The vocabulary size, or the number of steps where the recipe counts those."""

    def __init__(self, form: RecipeForm, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._form = form
        self.setRange(0, LARGEST_VOCABULARY)
        self.setGroupSeparatorShown(True)
        self.setKeyboardTracking(False)  # only a finished number is a choice
        self.setAccelerated(True)
        self.setSingleStep(1000)
        form.changed.connect(self._show)
        form.refused.connect(lambda choice, sentence: self._show())
        self.valueChanged.connect(self._choose)
        self._show()

    @property
    def counts_steps(self) -> bool:
        return self._form.value("merges") is not None

    def _choose(self, size: int) -> None:
        self._form.choose(**{"merges" if self.counts_steps else "vocab_size": size})

    def _show(self) -> None:
        self.blockSignals(True)
        self.setValue(self._form.value("merges") if self.counts_steps else self._form.value("vocab_size"))
        self.setAccessibleName(f"Number of {self._form.step}s" if self.counts_steps else "Vocabulary size")
        goal = "The vocabulary shrinks to this size" if self._form.shrinks else "How large the vocabulary grows"
        self.setToolTip(tip(f"{goal}:\n" + "\n".join(f"• {usual}" for usual in USUAL_SIZES)))
        self.blockSignals(False)
