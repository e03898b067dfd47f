"""The bar at the top of the window, with the rooms on the left, and with texts and training on the right."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolBar, QToolButton, QWidget

from app.window.actions import Actions
from app.window.parts.widgets import action_button
from app.window.room_plan import ROOMS
from app.window.training.run_status import MainAction, TrainingStatusModel

MAIN_TEXTS: dict[MainAction, tuple[str, str]] = {
    "train": ("&Train", "train"),
    "pause": ("&Pause", "pause"),
    "resume": ("&Resume", "train"),
    "extend": ("&Continue", "extend"),
    "take over": ("Take &Over", "train"),
}


class MainToolBar(QToolBar):
    def __init__(self, actions: Actions, training: TrainingStatusModel, samples: QMenu) -> None:
        super().__init__("Toolbar")
        self.setObjectName("main")
        self.setMovable(False)
        self._actions = actions
        self._training = training
        for room in ROOMS:
            action = actions[f"room_{room.id}"]
            self.addAction(action)
            self.widgetForAction(action).setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a toolbar's own cannot be reached
        gap = QWidget()
        gap.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(gap)
        self.main_button = self._button("main")
        open_button = self._button("open")
        actions["open"].setIconText("Open")  # the text of the button
        open_button.setMenu(samples)
        open_button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        for widget in (open_button, self.main_button):
            self.addWidget(widget)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.addAction(actions["stop"])
        training.changed.connect(self._show)
        self._show()

    def _button(self, name: str) -> QToolButton:
        return action_button(self._actions[name], with_text=True)

    def _show(self) -> None:
        status = self._training.status
        text, icon_name = MAIN_TEXTS[status.main]
        self._actions["main"].setText(text)
        self._actions.set_icon("main", icon_name)
        self._actions["main"].setEnabled(not status.is_busy or status.main != "train")
        self._actions["new_run"].setEnabled(not status.is_busy)
        self._actions["step"].setEnabled(not status.is_busy)
        self._actions["stop"].setVisible(status.can_stop)
        self._actions["extend"].setEnabled(status.can_extend)
