"""Where in the text of a row one reads, and how to get to any other place of it."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.window.parts.typed import NumberBox
from app.window.parts.widgets import OneLine, icon_button, small_button
from app.window.parts.wording import tip
from app.window.questions.benchmark.reading import AT_ONCE, Reading


class ReadingBar(QWidget):
    """Back and on by a stretch, or to a character; and away."""

    def __init__(self, reading: Reading, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._reading = reading
        self.name, self.until = OneLine(), OneLine()
        self.back, self.on = small_button("The characters before"), small_button("The characters behind")
        self.back.setText("‹")
        self.on.setText("›")
        self.start = NumberBox(1, 1)
        self.start.setAccessibleName("The first character shown")
        self.start.setToolTip("The first character shown; type a number to read from there")
        self.start.setKeyboardTracking(False)  # a number is meant when it is finished
        self.start.setSingleStep(AT_ONCE)
        self.close_button = icon_button("close", "What was found, instead of the text")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.name, 1)
        for widget in (self.back, self.start, self.until, self.on, self.close_button):
            row.addWidget(widget)
        self.back.clicked.connect(lambda: self._turn(-AT_ONCE))
        self.on.clicked.connect(lambda: self._turn(AT_ONCE))
        self.start.valueChanged.connect(lambda number: self._go(number - 1))
        self.close_button.clicked.connect(reading.close)

    def show_place(self) -> None:
        """Where what is shown stands; hidden while there is none."""
        stretch, row = self._reading.stretch, self._reading.row
        self.setVisible(stretch is not None)
        if stretch is None or row is None:
            return
        name = f"{row.text}, {row.tokenizer}"
        self.name.setText(name)
        self.name.setToolTip(tip("\n".join(filter(None, (name, row.place)))))
        self.start.blockSignals(True)
        self.start.setRange(1, max(1, stretch.length))
        self.start.setValue(stretch.start + 1)
        self.start.blockSignals(False)
        self.until.setText(f"to {stretch.stop:,} of {stretch.length:,}")
        self.back.setEnabled(stretch.start > 0)
        self.on.setEnabled(stretch.stop < stretch.length)

    def _turn(self, by: int) -> None:
        if self._reading.stretch is not None:
            self._go(max(0, self._reading.stretch.start + by))

    def _go(self, character: int) -> None:
        if self._reading.stretch is not None and character != self._reading.stretch.start:
            self._reading.turn_to(character)
