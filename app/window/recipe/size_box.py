"""How much is to be learned, as a number to type: the same box in the toolbar and in the recipe."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.window.parts.typed import NumberBox, mark_refused
from app.window.parts.wording import tip
from app.window.recipe.model import LARGEST_VOCABULARY, RecipeForm


class SizeBox(NumberBox):
    """The vocabulary size, or the number of steps where the recipe counts those."""

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
        """What was there stays; with what is wrong about the other."""
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
