"""A class that shows the layouts of the window: three built-in layouts, and one that the user has saved."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from app.settings import OWN_LAYOUT, Settings
from app.window.actions import Actions
from app.window.parts.zoom import zoom_percent
from app.window.sessions.arrangement import SavedArrangement

READY: Mapping[str, Mapping[str, Any]] = {  # by the names of their actions
    "layout_projector": {"room": "watch", "docks": {}, "centre": [200, 240], "zoom": 150},
    "layout_table": {"room": "ask", "docks": {"merges": True}, "sizes": {"merges": [560, 600]}, "centre": [600, 120]},
    "layout_charts": {"room": "ask", "docks": {}, "centre": [120, 600]},
}
NOT_SAVED = "Save a layout first: View > Layout > Save This Layout."


class Layouts:
    """An object that saves or restores a layout of the window when the user chooses the action for it.

    A layout is an arrangement of the parts of the window. It can also set the zoom.
    """

    def __init__(
        self, arrangement: SavedArrangement, actions: Actions, settings: Settings, zoom_to: Callable[[int], None]
    ) -> None:
        self._arrangement = arrangement
        self._actions = actions
        self._settings = settings
        self._zoom_to = zoom_to
        for name, layout in READY.items():
            actions.connect(**{name: partial(self.show, layout)})
        actions.connect(save_layout=self.save, own_layout=lambda: self.show(self.saved_layout))
        self._allow_own()

    @property
    def saved_layout(self) -> Mapping[str, Any]:
        """Return the layout that the user saved. If no layout was saved, the result is empty."""
        try:
            stored = json.loads(self._settings.get(OWN_LAYOUT))
        except ValueError:
            return {}
        return stored if isinstance(stored, dict) else {}

    def show(self, layout: Mapping[str, Any]) -> None:
        zoom = layout.get("zoom")
        if type(zoom) is int:
            self._zoom_to(zoom)
        self._arrangement.restore(layout)

    def save(self) -> None:
        """Save the current layout as the user's own layout. It replaces the layout that was saved before."""
        self._settings.put(OWN_LAYOUT, json.dumps(self._arrangement.now() | {"zoom": zoom_percent()}))
        self._allow_own()

    def _allow_own(self) -> None:
        self._actions.allow("own_layout", "" if self.saved_layout else NOT_SAVED)
