"""The toolbar: open, recipe, size and training."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QComboBox, QMenu, QSizePolicy, QToolBar, QToolButton, QWidget

from app.window.actions import Actions
from app.window.parts.widgets import action_button, label
from app.window.recipe.recipe_fields import SizeBox, preset_box
from app.window.recipe.recipe_form import RecipeForm
from app.window.training.run_status import MainAction, TrainingStatusModel
from app.window.training.training_views import SpeedBox

MAIN_TEXTS: dict[MainAction, tuple[str, str]] = {
    "train": ("&Train", "train"),
    "pause": ("&Pause", "pause"),
    "resume": ("&Resume", "train"),
    "extend": ("&Continue", "extend"),
}


class MainToolBar(QToolBar):
    def __init__(
        self, actions: Actions, form: RecipeForm, training: TrainingStatusModel, samples: QMenu, speed: SpeedBox
    ) -> None:
        super().__init__("Toolbar")
        self.setObjectName("main")
        self.setMovable(False)
        self.setIconSize(QSize(18, 18))
        self._actions, self._training = actions, training
        self.main_button = self._button("main")
        self.speed = speed
        self._size_title = label(form.size_title)
        open_button = self._button("open")
        actions["open"].setIconText("Open")  # the text of the button
        open_button.setMenu(samples)
        open_button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        self.addWidget(open_button)
        self.preset: QComboBox = preset_box(form)
        self.size_box = SizeBox(form)
        gap = QWidget()
        gap.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        training_buttons = (self.main_button, self._button("step"), self._button("stop"))
        for group in ((label("Recipe"), self.preset, self._size_title, self.size_box), training_buttons, (speed, gap)):
            self.addSeparator()
            for widget in group:
                self.addWidget(widget)
        self.addWidget(self._button("lab"))
        training.changed.connect(self._show)
        form.changed.connect(lambda: self._size_title.setText(form.size_title))
        self._show()

    def _button(self, name: str) -> QToolButton:
        return action_button(self._actions[name], with_text=True)

    def _show(self) -> None:
        status = self._training.status
        text, icon_name = MAIN_TEXTS[status.main]
        self._actions["main"].setText(text)
        self._actions.set_icon("main", icon_name)
        self._actions["main"].setEnabled(not status.is_busy or status.main == "pause")
        self._actions["new_run"].setEnabled(not status.is_busy)
        self._actions["step"].setEnabled(not status.is_busy)
        self._actions["stop"].setEnabled(status.can_stop)
        self._actions["extend"].setEnabled(status.can_extend)
