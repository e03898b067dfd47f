"""The word that is looked at, and the scene of it that is shown."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.session.aside import Aside
from app.session.timer import timer
from app.window.start.word_life import Taught, WordLife
from bpe_core import Recipe
from resources import samples

FIRST_WORD = "lighthouses"
RECIPE = Recipe.preset("gpt2", vocab_size=512)
SCENE_MILLISECONDS = 900  # long enough to read what is joined, and to see it


class WordModel(QObject):
    """Learns from the sample once somebody looks; then every word plays from its beginning."""

    changed = Signal()

    def __init__(self, aside: Aside, parent: QObject) -> None:
        super().__init__(parent)
        self.life: WordLife | None = None
        self.scene = 0
        self._aside, self._word = aside, FIRST_WORD
        self._taught: Taught | None = None
        self._next = timer(self, SCENE_MILLISECONDS, self.forward, repeats=True)

    def begin(self) -> None:
        """Somebody looks now."""
        if self._taught is None:
            self._aside.ask("start", lambda task: Taught.by(samples()[0].text(), RECIPE), self._take)
        elif self.life is not None:
            self.again()

    def rest(self) -> None:
        """Nobody looks."""
        self._next.stop()

    def look_at(self, word: str) -> None:
        """Another word; of none, the one that stands there at first."""
        self._word = word or FIRST_WORD
        if self._taught is not None:
            self.life = self._taught.life_of(self._word)
            self.again()

    def again(self) -> None:
        self._go_to(0)
        self._next.start()

    def back(self) -> None:
        self.rest()
        self._go_to(self.scene - 1)

    def forward(self) -> None:
        self._go_to(self.scene + 1)

    @property
    def is_at_end(self) -> bool:
        return self.life is not None and self.scene == len(self.life.scenes) - 1

    def _take(self, taught: Taught) -> None:
        self._taught = taught
        self.look_at(self._word)

    def _go_to(self, scene: int) -> None:
        if self.life is not None:
            self.scene = min(max(0, scene), len(self.life.scenes) - 1)
            if self.is_at_end:
                self._next.stop()
            self.changed.emit()
