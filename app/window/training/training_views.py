"""The views of training: the speed, the status line, and the list of runs."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy, QSlider, QStatusBar, QWidget

from app.session.time import timer
from app.window.parts.layouts import in_column, in_row
from app.window.parts.tables import list_of_rows
from app.window.parts.widgets import (
    OneLine,
    ProgressBar,
    add_entry,
    add_key_action,
    filled_menu,
    keep_room_for,
    label,
    muted_label,
    name_widget,
    push_button,
)
from app.window.parts.wording import tip, without_options
from app.window.parts.zoom import set_zoomed
from app.window.training.run_status import RunListModel, TrainingStatusModel

FULL = 100
DECADES = 4  # from 1 to 10,000 merges a second before full speed


def merges_per_second(place: int) -> float | None:
    """Return the speed at a position of the slider. None means full speed.

    >>> merges_per_second(0), merges_per_second(100)
    (1.0, None)
    """
    return None if place >= FULL else float(10 ** (DECADES * place / (FULL - 1)))


class SpeedBox(QWidget):
    """A logarithmic slider for the speed. A text beside it shows the speed."""

    def __init__(self, place: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, FULL)
        self.slider.setValue(place)
        set_zoomed(self.slider, QWidget.setFixedWidth, 72)
        self.slider.setAccessibleName("Speed of training and playing")
        self.slider.setToolTip(
            "The speed of training and playing: from one step a second to full speed. At full speed a whole run "
            "plays in 20 seconds"
        )
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)  # keeps its title beside it
        self._meaning = label()
        keep_room_for(self._meaning, "10,000 a second ")
        in_row(label("Speed"), self.slider, self._meaning, on=self, margins=(0, 0, 0, 0))
        self.slider.valueChanged.connect(self._show)
        self._show(place)

    def _show(self, place: int) -> None:
        speed = merges_per_second(place)
        self._meaning.setText("full" if speed is None else f"{speed:,.0f} a second")
        self.slider.setAccessibleDescription(self._meaning.text())


PROGRESS_STEPS = 1000
BEING_MADE = (
    "Machine code is being made for this computer, only once. Until it is ready, large tasks are slower or wait. You "
    "can close the window meanwhile"
)
LOOK_MILLISECONDS = 1_000  # pause between two checks of how much machine code is made


class StatusLine(QStatusBar):
    """A status line with a sentence on the left and a description of the run shown on the right.

    During work it has a progress bar.
    """

    def __init__(self, model: TrainingStatusModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.sentence = name_widget(OneLine(), "State of the training")
        self.sentence.setContentsMargins(8, 2, 8, 2)
        self.run = name_widget(
            OneLine(), "The run that is shown", "All panels show this run. Choose another run with Training > Show Run"
        )
        self.progress = ProgressBar(PROGRESS_STEPS, with_text=False)
        set_zoomed(self.progress, QWidget.setFixedWidth, 180)
        set_zoomed(self.progress, QWidget.setFixedHeight, 8)
        self.progress.setAccessibleName("Progress of the training")
        self.faster = name_widget(OneLine(), "Progress of compiling", BEING_MADE)
        self._look = timer(self, LOOK_MILLISECONDS, self._show_machine_code, repeats=True)
        self.addWidget(self.sentence, 1)
        self.addPermanentWidget(self.faster)
        self.addPermanentWidget(self.progress)
        self.addPermanentWidget(self.run)
        model.changed.connect(self._show)
        self._show()
        self._look.start()
        self._show_machine_code()

    def _show_machine_code(self) -> None:
        self._model.update_if_busy()
        state = self._model.machine_code
        is_on_its_way = state.is_being_made
        self.faster.setVisible(is_on_its_way or bool(state.why))
        self.faster.setText(f"Making machine code: {state.percent}" if is_on_its_way else f"By {state.way}")
        self.faster.setToolTip(tip(BEING_MADE if is_on_its_way else f"By {state.way}: {state.why}"))
        if state.share == 1:
            self._look.stop()

    def _show(self) -> None:
        status = self._model.status
        self.sentence.setText(without_options(status.sentence))
        self.run.setText(status.run)
        self.progress.setVisible(status.fraction is not None)
        self.progress.setValue(round(PROGRESS_STEPS * (status.fraction or 0.0)))


HINT = "Each training is kept here as a run. A new run never overwrites an older run."


class RunsPanel(QWidget):
    compare_wanted = Signal(int)  # the number of the run to compare with the one shown

    def __init__(self, model: RunListModel, below: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.list = list_of_rows(model, "Runs")
        self.list.setSpacing(2)
        self.hint = muted_label(HINT)
        again = "Learn from the same texts with another tie rule, as a new run"
        self.again = name_widget(QPushButton("Train Again"), "Train Again", again)
        self.again_menu = filled_menu("", self.again, self._fill_again)
        self.again.setMenu(self.again_menu)
        compare = "Compare the chosen run with the run shown"
        self.compare = push_button("Compare", lambda: self.compare_wanted.emit(model.rows[self.chosen].number), compare)
        rename = "Give the chosen run another name (F2)"
        self.rename = push_button("Rename", lambda: self.list.edit(self.list.currentIndex()), rename)
        delete = "Delete the chosen run and its branches (Del)"
        self.delete = push_button("Delete", lambda: model.delete(self.chosen), delete)
        add_key_action(self.list, "Delete Run", QKeySequence.StandardKey.Delete, self.delete.click)
        self._lay_out(below)
        self._connect()
        self._show()

    @property
    def chosen(self) -> int:
        return self.list.currentIndex().row()

    def _lay_out(self, below: QWidget) -> None:
        rows = (self.again, self.compare), (self.rename, self.delete)
        for button in (*rows[0], *rows[1]):
            button.setMinimumWidth(0)
        buttons = (in_row(*row, spacing=4) for row in rows)
        in_column(self.hint, (self.list, 1), below, *buttons, on=self, margins=(4, 4, 8, 4))

    def _connect(self) -> None:
        self.list.clicked.connect(self._look_at)
        self.list.activated.connect(self._look_at)
        self.list.selectionModel().currentChanged.connect(lambda *_: self._show())
        self._model.modelReset.connect(self._choose_shown)
        self._model.dataChanged.connect(lambda *_: self._show())

    def _look_at(self, index: QModelIndex) -> None:
        self._model.show(index.row())

    def _choose_shown(self) -> None:
        row = self._model.shown_row
        self.list.setCurrentIndex(self._model.index(row) if row >= 0 else QModelIndex())
        self._show()

    def _fill_again(self, menu: QMenu) -> None:
        for rule in self._model.rules(self.chosen):
            add_entry(menu, f"With the tie rule {rule}", partial(self._model.train_again, self.chosen, rule))

    def _show(self) -> None:
        row = self.chosen
        is_chosen = 0 <= row < self._model.rowCount()
        self.hint.setVisible(self._model.rowCount() == 0)
        self.again.setEnabled(is_chosen and bool(self._model.rules(row)))
        for button in (self.rename, self.delete):
            button.setEnabled(is_chosen)
        self.compare.setEnabled(is_chosen and row != self._model.shown_row)
