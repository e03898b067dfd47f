"""The plan of the rooms: all panels of the window, and the panels that each room shows at first."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt

LEFT = Qt.DockWidgetArea.LeftDockWidgetArea
RIGHT = Qt.DockWidgetArea.RightDockWidgetArea


@dataclass(frozen=True)
class Dock:
    """The initial place of a panel. Saved layouts name the panel by its id."""

    id: str
    title: str
    area: Qt.DockWidgetArea
    behind: str = ""  # the dock whose tab comes first


DOCKS = (
    Dock("corpus", "Corpus", LEFT),
    Dock("recipe", "Recipe", LEFT),
    Dock("merges", "Merges", RIGHT),
    Dock("inspector", "Inspector", RIGHT),
    Dock("runs", "Runs", RIGHT),
    Dock("bookmarks", "Bookmarks", LEFT, behind="recipe"),
    Dock("lessons", "Lessons", LEFT, behind="bookmarks"),
)


@dataclass(frozen=True)
class Room:
    """A set of panels for one kind of work. Each room keeps its own arrangement of panels."""

    id: str
    title: str
    tip: str
    docks: tuple[str, ...] = ()  # the docks that are open at first
    parts: tuple[str, ...] = ("time",)  # the parts shown besides the charts
    centre: tuple[int, int] = (360, 300)  # shares of the text and of the charts


WATCHED = ("head", "text", "time")
ASKED = ("question_list", "text", "question_head", "time")
ROOMS = (
    Room("watch", "Watch", "Watch how a vocabulary is learned, and how your word is split", (), WATCHED, (200, 240)),
    Room("ask", "Ask", "Ask why a text is split where it is", ("merges", "inspector"), ASKED, (320, 340)),
    Room("compare", "Compare", "Compare runs and tokenizers", (), ("beside", "picker"), (420, 240)),
    Room(
        "build", "Build", "Choose texts and a recipe, and train, change or export a run", ("corpus", "recipe", "runs")
    ),
)
ROOM = {room.id: room for room in ROOMS}
