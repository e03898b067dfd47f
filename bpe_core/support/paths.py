"""The real path of a file or folder."""

from __future__ import annotations

import os
from pathlib import Path


def real_path(path: Path | str) -> Path:
    """Return the absolute path without symbolic links.

    Links that lead in a circle are kept. `Path.resolve` raises an error for them before Python 3.13.
    """
    return Path(os.path.realpath(path))
