"""The settings of the program. Each setting is declared once, with its key, its default and its type."""

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


THEME = Setting("look/theme", "system")  # light, dark or system
ZOOM = Setting("look/zoom", 100)  # percent
WINDOW_GEOMETRY = Setting("window/geometry", QByteArray())  # position and size of the window
OWN_LAYOUT = Setting("window/own layout", "")  # the layout that the user saved, as JSON
ROOM = Setting("window/room", "")  # the last room; empty at the first start, which shows only the first
RECENT_FILES = Setting[list[str]]("files/recent", [])  # recently opened texts, newest first
LAST_FOLDER = Setting("files/folder", "")  # the folder of the last opened or saved file
TOKENIZER_FOLDER = Setting("files/tokenizers", "")  # a folder of tokenizers for the shelf
SPEED = Setting("training/speed", 100)  # position of the speed slider; 100 is full speed
PLAYS = Setting("time/play after training", True)  # whether a small run is played as soon as it is learned
COLOUR_BY = Setting("look/colour by", "")  # "ages" or "rarity" of tokens; empty for colours by bytes
LIVE = Setting("training/at once", True)  # whether small corpora are learned when recipe or texts change
MOTION = Setting("look/motion", True)  # whether changes are animated
COPY_HEADERS = Setting("table/copy headers", True)  # whether copied rows begin with a line of titles
PRINT_WIDTH = Setting("print/width", 120)  # width of a printed chart in millimetres
PRINT_HEIGHT = Setting("print/height", 80)
PRINT_TEXT = Setting("print/text", 8)  # size of its text in points
PRINT_LIGHT = Setting("print/light", True)  # print on a light ground, even if the window is dark
PRINT_CAPTION = Setting("print/caption", False)  # also write the rows, and a caption for LaTeX
MANIFESTS = Setting("files/manifests", False)  # whether a manifest is written next to each saved file
START_HERE = Setting("window/start here", True)  # whether a window that opens without files learns its sample at once
LESSONS_DONE = Setting[list[str]]("lessons/done", [])  # names of finished lessons
LESSON_PLACES = Setting[list[str]]("lessons/places", [])  # steps reached in other lessons, such as 2-weights:3

MOST_RECENT_FILES = 10


def docks_in(room: str) -> Setting[QByteArray]:
    """Return the setting that stores the positions of the docks in a room."""
    return Setting(f"rooms/{room}/docks", QByteArray())


def centre_of(room: str) -> Setting[QByteArray]:
    """Return the setting that stores the heights of the text and of the charts in one room of the window.

    `room` is the id of the room, such as "ask".
    """
    return Setting(f"rooms/{room}/centre", QByteArray())


def data_folder() -> Path:
    """Return the folder of safety copies.

    If an environment variable names the settings file, the folder is beside this file.
    """
    chosen = os.environ.get(LOCATION)
    if chosen:
        return Path(chosen).absolute().with_suffix(".data")
    place = QStandardPaths.StandardLocation.GenericDataLocation
    return Path(QStandardPaths.writableLocation(place)) / "bpe-explorer"


class Settings:
    """A reader and writer of settings. A stored value of the wrong type counts as missing."""

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
