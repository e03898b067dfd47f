"""Where the training stands, in one line below everything."""

from __future__ import annotations

from PySide6.QtWidgets import QStatusBar, QWidget

from app.window.parts.progress_bar import ProgressBar
from app.window.parts.widgets import OneLine
from app.window.training.status import TrainingStatusModel

STEPS = 1000


class StatusLine(QStatusBar):
    """A sentence on the left, a bar of progress on the right while there is any."""

    def __init__(self, model: TrainingStatusModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.sentence = OneLine()
        self.sentence.setAccessibleName("State of the training")
        self.sentence.setContentsMargins(8, 2, 8, 2)
        self.run = OneLine()
        self.run.setAccessibleName("The run that is shown")
        self.run.setToolTip("What everything shows; another run is chosen by Training > Show Run")
        self.progress = ProgressBar(STEPS, with_text=False)
        self.progress.setFixedWidth(180)
        self.progress.setFixedHeight(8)
        self.progress.setAccessibleName("Progress of the training")
        self.addWidget(self.sentence, 1)
        self.addPermanentWidget(self.progress)
        self.addPermanentWidget(self.run)
        model.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        status = self._model.status
        self.sentence.setText(status.sentence)
        self.run.setText(status.run)
        self.progress.setVisible(status.fraction is not None)
        self.progress.setValue(round(STEPS * (status.fraction or 0.0)))
