"""Films are tested where Pillow is installed, as it is for whoever tests all."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("PIL") else ["test_film.py"]
