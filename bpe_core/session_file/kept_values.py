"""What a session file keeps by name, as JSON or as it is."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from bpe_core.errors import FormatError, cause_of


class KeptValues:
    """The values of an open session, by their names."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._name = name
        self._texts: dict[str, str] = dict(connection.execute("SELECT key, value FROM session"))

    def text(self, key: str) -> str:
        return self._texts.get(key, "")

    def json(self, key: str, otherwise: object) -> object:
        return self.parsed(self._texts[key]) if key in self._texts else otherwise

    def of_run(self, key: str, run: int) -> object:
        """What a value says of one run, if anything."""
        return self.as_object(self.json(key, {})).get(str(run))

    def as_object(self, value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise FormatError(f"{self._name}: a value that should be a JSON object is none.")
        return value

    def parsed(self, text: str) -> object:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{self._name}: a value is not valid JSON: {cause_of(error)}.") from error
