"""The arrows of the house point one way: app.views -> app.models -> app.session -> app.worker -> bpe_core."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shared import ROOT

LAYERS = ["bpe_core", "app.worker", "app.session", "app.models", "app.views"]  # each may use those before it
QT = {"PySide6", "shiboken6", "pyqtgraph"}
TOP_LEVEL = {"app", "bpe_core", "resources", "tests", "pyproject.toml", "README.md"}
BUILT = {"build", "dist", "__pycache__"}


def modules() -> Iterator[tuple[str, Path]]:
    for package in ("app", "bpe_core"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imports_of(source: str) -> set[str]:
    """Every module a source imports, anywhere in it; names imported from a package count as its modules."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide where an arrow points"
            assert node.module is not None
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def layer_of(module: str) -> str | None:
    return next((layer for layer in LAYERS if module == layer or module.startswith(layer + ".")), None)


def broken_arrows(module: str, source: str) -> list[str]:
    """The sentences to show for imports that point the wrong way."""
    layer = layer_of(module)
    broken = []
    for imported in sorted(imports_of(source)):
        target = layer_of(imported)
        if layer == "bpe_core":
            wrong = imported.split(".")[0] in QT | {"app"}
        elif layer is None:  # the files at the top of app wire everything together
            wrong = False
        else:
            upwards = target is not None and LAYERS.index(target) > LAYERS.index(layer)
            wires = imported.split(".")[0] == "app" and target is None and imported not in ("app", *TOP_OF_APP)
            skips = layer == "app.views" and target == "bpe_core"
            wrong = upwards or skips or wires
        if wrong:
            broken.append(f"{module} must not import {imported}")
    return broken


# Files at the top of `app` that hold no wiring, only values any layer may read.
TOP_OF_APP: set[str] = set()


@pytest.mark.parametrize(("module", "path"), list(modules()), ids=lambda value: value if isinstance(value, str) else "")
def test_no_arrow_turns_round(module: str, path: Path) -> None:
    assert broken_arrows(module, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("bpe_core.words", "import PySide6.QtCore"),
        ("bpe_core.words", "def f():\n    from app import worker"),
        ("app.worker", "from app.session import Session"),
        ("app.models.merges", "from app import views"),
        ("app.session", "import app.models.merges"),
        ("app.views.table", "import bpe_core"),
        ("app.views.table", "from bpe_core.history import Merge"),
    ],
)
def test_the_check_itself_sees_a_turned_arrow(module: str, source: str) -> None:
    assert broken_arrows(module, source) != []


def test_the_top_level_holds_what_it_should_and_nothing_else() -> None:
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".") and path.suffix != ".egg-info"}
    assert found - BUILT == TOP_LEVEL


def test_importing_the_engine_loads_no_compiler_and_no_window() -> None:
    program = "import sys, bpe_core; [getattr(bpe_core, name) for name in bpe_core.__all__]; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert "bpe_core" in loaded
    assert loaded.isdisjoint({"numba", "llvmlite", "app"} | QT)
