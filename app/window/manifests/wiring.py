"""Manifests of what is saved from the window, where a person wants them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject

from app.session.manifests import RESULT, SESSION, Manifests
from app.session.session import Session
from app.settings import MANIFESTS
from app.window.charts.wiring import Charting
from app.window.compress.wiring import Compressing
from app.window.exchange.wiring import Exchanging
from app.window.file.wiring import Filing
from app.window.main_window import Frame
from app.window.questions.wiring import Asking

REPORT = ("report", SESSION, "--output", RESULT)


class Keeping(QObject):
    """Hears of every file that is saved, and by which command it can be made."""

    def __init__(
        self,
        session: Session,
        frame: Frame,
        charting: Charting,
        exchanging: Exchanging,
        filing: Filing,
        others: Sequence[Compressing | Asking],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self.manifests = Manifests(session)
        self._settings = frame.settings
        self.manifests.noticed.connect(frame.messages.show_notice)
        charting.saved.connect(self.manifests.keep)
        for other in others:
            other.written.connect(self.manifests.keep)
        filing.document.reported.connect(lambda path: self.manifests.keep(REPORT, path))
        exchanging.export.placed.connect(self._keep_export)
        action = frame.actions["manifests"]
        action.toggled.connect(self._turn)
        action.setChecked(frame.settings.get(MANIFESTS))

    def _turn(self, on: bool) -> None:
        self.manifests.is_on = on
        self._settings.put(MANIFESTS, on)

    def _keep_export(self, path: Path, told: tuple[str, ...]) -> None:
        self.manifests.keep(("export", "--merges", SESSION, RESULT, *told), path)
