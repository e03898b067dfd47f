"""The condition for tests of films: Pillow must be installed."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("PIL") else ["test_film.py"]
