"""The real texts and independently computed results that tests are held against.

They are no part of the project: they lie in `../shared`, or in the folder that the
environment variable BPE_SHARED names. Without them those tests skip and say why.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("BPE_SHARED") or ROOT.parent / "shared")


def shared_file(name: str) -> Path:
    """The file of that name, such as "data/raven.txt"; the test skips where it is missing."""
    path = SHARED / name
    if not path.is_file():
        pytest.skip(f"{name} is not in {SHARED}; name the folder that holds it with BPE_SHARED")
    return path


def shared_text(name: str) -> str:
    """The text of a file, byte for byte: line ends are kept as they are."""
    return shared_file(name).read_bytes().decode()


def expected(name: str) -> Any:
    """One of the results in `expected/`."""
    return json.loads(shared_text(f"expected/{name}"))
