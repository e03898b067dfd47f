"""The table of the differences between the recipe of the run shown and the recipe of the next run."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from app.window.parts.layouts import STRETCH, in_column, in_row
from app.window.parts.widgets import muted_label, name_widget, paragraph, push_button
from app.window.parts.wording import tip
from app.window.recipe.recipe_form import RecipeForm

MOST_ROWS = 8  # a table from elsewhere may differ in all


class ShownRecipe(QWidget):
    def __init__(self, form: RecipeForm, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._form = form
        self._rows: list[tuple[str, str, str]] = []
        self.about = name_widget(paragraph(), "Differences between the next recipe and the recipe of the run shown")
        self.use = push_button(
            "Use This Recipe", form.use_recipe_shown, "Train the next run by the recipe of the run shown"
        )
        self.grid = QGridLayout()
        self.grid.setColumnStretch(1, 1)
        self.grid.setColumnStretch(2, 1)
        in_column(self.about, self.grid, in_row(STRETCH, self.use), on=self, margins=(2, 4, 2, 8), spacing=4)
        form.compared.connect(self._show)
        self._show()

    def _show(self) -> None:
        differ = self._form.differences
        run = self._form.shown_run
        rows = [("", "next", run.lower()), *differ[:MOST_ROWS]] if differ else []
        self.setVisible(bool(rows))
        if rows == self._rows:
            return
        self._rows = rows
        others = len(differ) - MOST_ROWS
        more = f" (with {others} more choices that differ)" if others > 0 else ""
        self.about.setText(f"{run}, the run shown, has another recipe{more}. These choices differ:")
        while (item := self.grid.takeAt(0)) is not None:
            if (cell := item.widget()) is not None:
                cell.deleteLater()
        for row, texts in enumerate(rows):
            for column, text in enumerate(texts):
                made = paragraph(text) if row and column else muted_label(text)
                made.setAlignment(Qt.AlignmentFlag.AlignTop)
                made.setToolTip(tip(text))
                self.grid.addWidget(made, row, column)
