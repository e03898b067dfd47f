"""The toolbar: open, recipe, size, and the training itself."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QComboBox, QMenu, QSizePolicy, QToolBar, QToolButton, QWidget

from app.window.actions import Actions
from app.window.parts.widgets import label
from app.window.recipe.fields import preset_box
from app.window.recipe.model import RecipeForm
from app.window.recipe.size_box import SizeBox
from app.window.training.speed_box import SpeedBox
from app.window.training.status import MainAction, TrainingStatusModel

MAIN_TEXTS: dict[MainAction, tuple[str, str]] = {
    "train": ("&Train", "train"),
    "pause": ("&Pause", "pause"),
    "resume": ("&Resume", "train"),
    "extend": ("&Continue", "extend"),
}


class MainToolBar(QToolBar):
    """One button carries the training: it reads Train, Pause, Resume or Continue."""

    def __init__(
        self, actions: Actions, form: RecipeForm, training: TrainingStatusModel, samples: QMenu, speed: SpeedBox
    ) -> None:
        super().__init__("Toolbar")
        self.setObjectName("main")
        self.setMovable(False)
        self.setIconSize(QSize(18, 18))
        self._actions, self._form, self._training = actions, form, training
        self.main_button = self._button("main")
        self.speed = speed
        self._size_title = label()
        open_button = self._button("open")
        actions["open"].setIconText("Open")  # what its button says, whatever becomes of the action
        open_button.setMenu(samples)
        open_button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        self.addWidget(open_button)
        self.addSeparator()
        self.addWidget(label("Recipe"))
        self.preset: QComboBox = preset_box(form)
        self.addWidget(self.preset)
        self.addWidget(self._size_title)
        self.size_box = SizeBox(form)
        self.addWidget(self.size_box)
        self.addSeparator()
        self.addWidget(self.main_button)
        self.addWidget(self._button("step"))
        self.addWidget(self._button("stop"))
        self.addSeparator()
        self.addWidget(self.speed)
        self._add_gap()
        self.addWidget(self._button("lab"))
        training.changed.connect(self._show)
        form.changed.connect(self._show_size_title)
        self._show()
        self._show_size_title()

    def _button(self, name: str) -> QToolButton:
        button = QToolButton()
        button.setDefaultAction(self._actions[name])
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setAutoRaise(True)
        return button

    def _add_gap(self) -> None:
        gap = QWidget()
        gap.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(gap)

    def _show(self) -> None:
        status = self._training.status
        text, icon_name = MAIN_TEXTS[status.main]
        self._actions["main"].setText(text)
        self._actions.set_icon("main", icon_name)
        self._actions["main"].setEnabled(not status.is_busy or status.main == "pause")
        self._actions["new_run"].setEnabled(not status.is_busy)
        self._actions["step"].setEnabled(status.can_step)
        self._actions["stop"].setEnabled(status.can_stop)
        self._actions["extend"].setEnabled(status.can_extend)

    def _show_size_title(self) -> None:
        self._size_title.setText(self._form.size_title)

    def recolor(self) -> None:
        self._show()
