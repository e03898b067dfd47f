"""Every setting, declared once: key, default, type."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QByteArray, QSettings, QStandardPaths

Value = TypeVar("Value", bound=object)

LOCATION = "BPE_EXPLORER_SETTINGS"  # names another file, for tests and for portable use


@dataclass(frozen=True)
class Setting(Generic[Value]):
    key: str
    default: Value


THEME = Setting("look/theme", "system")  # light, dark, or as the system is
WINDOW_GEOMETRY = Setting("window/geometry", QByteArray())  # where the window stood
ROOM = Setting("window/room", "")  # the last one; none at the first start, which knows only the first
RECENT_FILES = Setting[list[str]]("files/recent", [])  # texts opened lately, the newest first
LAST_FOLDER = Setting("files/folder", "")  # where the last file was opened or saved
SPEED = Setting("training/speed", 100)  # place of the speed slider; 100 is full speed
PLAYS = Setting("time/play after training", True)  # a small run from its beginning, as soon as it is learned
COLOUR_BY = Setting("look/colour by", "")  # "ages" or "rarity" of tokens; else by what they are
LIVE = Setting("training/at once", True)  # whether small corpora are learned when recipe or texts change
MOTION = Setting("look/motion", True)  # whether what changes may move there
COPY_HEADERS = Setting("table/copy headers", True)  # whether copied rows begin with a line of titles
PRINT_WIDTH = Setting("print/width", 120)  # of a chart for print, in millimetres
PRINT_HEIGHT = Setting("print/height", 80)
PRINT_TEXT = Setting("print/text", 8)  # points
PRINT_LIGHT = Setting("print/light", True)  # on a light ground, whatever the window's is
MANIFESTS = Setting("files/manifests", False)  # whether how it was made is kept beside what is saved
START_HERE = Setting("window/start here", True)  # whether a window without files learns its sample by itself
LESSONS_DONE = Setting[list[str]]("lessons/done", [])  # names of the lessons that were finished
LESSON_PLACES = Setting[list[str]]("lessons/places", [])  # how far the others were taken, such as 2-weights:3

MOST_RECENT_FILES = 10


def docks_in(room: str) -> Setting[QByteArray]:
    """Return the setting that keeps the places of a room's docks."""
    return Setting(f"rooms/{room}/docks", QByteArray())


def centre_of(room: str) -> Setting[QByteArray]:
    """Return the setting that keeps how text and charts share the middle of a room."""
    return Setting(f"rooms/{room}/centre", QByteArray())


def data_folder() -> Path:
    """Return the folder of safety copies: the person's own, or one beside the settings file that was named."""
    chosen = os.environ.get(LOCATION)
    if chosen:
        return Path(chosen).absolute().with_suffix(".data")
    place = QStandardPaths.StandardLocation.GenericDataLocation
    return Path(QStandardPaths.writableLocation(place)) / "bpe-explorer"


class Settings:
    """The reader and writer of settings. A value of the wrong type counts as missing."""

    def __init__(self) -> None:
        chosen = os.environ.get(LOCATION)
        ini = QSettings.Format.IniFormat
        user = QSettings.Scope.UserScope
        self._store = QSettings(chosen, ini) if chosen else QSettings(ini, user, "bpe-explorer", "bpe-explorer")

    @property
    def place(self) -> str:
        return self._store.fileName()

    def get(self, setting: Setting[Value]) -> Value:
        stored: Any = self._store.value(setting.key, setting.default)
        default: Any = setting.default
        if isinstance(default, bool):
            stored = stored if isinstance(stored, bool) else str(stored).lower() == "true"
        elif isinstance(default, int):
            stored = int(stored) if str(stored).lstrip("-").isdigit() else default
        elif isinstance(default, list):
            stored = [stored] if isinstance(stored, str) else list(stored or [])
        result: Value = stored if isinstance(stored, type(default)) else default
        return result

    def put(self, setting: Setting[Value], value: Value) -> None:
        self._store.setValue(setting.key, value)

    def add_recent(self, paths: list[str]) -> None:
        known = list(dict.fromkeys([*paths, *self.get(RECENT_FILES)]))
        self.put(RECENT_FILES, known[:MOST_RECENT_FILES])

    def remember_file(self, path: Path) -> None:
        self.add_recent([str(path.absolute())])
        self.put(LAST_FOLDER, str(path.absolute().parent))

    def save(self) -> None:
        self._store.sync()
