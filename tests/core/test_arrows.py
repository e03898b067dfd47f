"""Modules may import each other only in one direction: app.window -> app.session -> app.worker -> bpe_core.

In the window, the models and the views of a topic are in the same folder. Imports distinguish them: a file that imports
widgets, painters or charts from outside *draws*. Files that draw do not import the engine. Files that do not draw do
not import files that draw. Files named `wiring` and the list of all pages may import both.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from bpe_core.kernels import readiness
from tests.shared import ROOT

LAYERS = ["bpe_core", "app.worker", "app.session", "app.window"]  # each layer may import the layers before
QT = {"PySide6", "shiboken6", "pyqtgraph"}
DRAWING = ("PySide6.QtWidgets", "PySide6.QtSvgWidgets", "PySide6.QtGui.QPainter", "PySide6.QtGui.QDrag", "pyqtgraph")
# The engine's folders and files; each may import those listed before.
STAGES = [
    *("errors", "support", "text", "recipes", "splitting", "kernels", "counting", "history", "segmenting"),
    *("methods", "insight", "measures", "formats", "editing", "verification"),
    *(
        "delivery",
        "session_file",
        "sweep",
        "figures",
        "studies",
        "following",
        "asking",
        "questions",
        "report",
        "answer_page",
        "reference",
        "lessons",
        "sharing",
        "filming",
    ),
    *("warm_up", "doors", "compiler", "command_line", "__main__"),
]
# A method is a house with a room on each floor. Its door, which leads to all of them, is opened by the registry as that
# of a plug-in is: by name, when a recipe names the method.
ROOMS = {
    "facts": "recipes",
    "registry": "recipes",
    "passes": "recipes",
    "choices": "recipes",
    "files": "recipes",
    "explain": "insight",
    "model_file": "formats",
    "check_method": "doors",
    "former": "doors",
    "warm_up": "warm_up",
}
TOP_LEVEL = {"app", "bpe_core", "resources", "tests", "pyproject.toml", "README.md"}
BUILT = {"build", "dist", "__pycache__"}


def modules() -> Iterator[tuple[str, Path]]:
    for package in ("app", "bpe_core"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imports_of(source: str, *, for_types: bool = True) -> frozenset[str]:
    """Return every module that a source imports.

    A name that is imported from a package counts as a module of the package.

    Without `for_types`, leave out imports that only type checkers need.
    """
    when_run, by_checkers = _imports_of(source)
    return when_run | by_checkers if for_types else when_run


@cache
def _imports_of(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that a module imports when it runs, and those that it imports only for type checkers."""
    when_run: set[str] = set()
    by_checkers: set[str] = set()
    waiting: list[tuple[ast.AST, set[str]]] = [(ast.parse(source), when_run)]
    while waiting:
        node, imports = waiting.pop()
        if isinstance(node, ast.Import):
            imports |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide where an arrow points"
            assert node.module is not None
            imports |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting += [(child, by_checkers) for child in node.body] + [(child, imports) for child in node.orelse]
        elif not isinstance(node, ast.expr):  # no statement lies within an expression
            waiting += [(child, imports) for child in ast.iter_child_nodes(node)]
    return frozenset(when_run), frozenset(by_checkers)


def layer_of(module: str) -> str | None:
    return next((layer for layer in LAYERS if is_in(module, layer)), None)


def is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def is_wiring(module: str) -> bool:
    return module.rpartition(".")[2] == "wiring" or module == "app.window.pages"


def is_drawing(imports: frozenset[str]) -> bool:
    """Return whether a file draws on the screen: whether it imports widgets, painters or charts from other packages."""
    return any(is_in(name, source) for name in imports for source in DRAWING)


@cache
def drawing_modules() -> set[str]:
    return {
        name
        for name, path in modules()
        if is_in(name, "app.window")
        and not is_wiring(name)
        and is_drawing(imports_of(path.read_text(encoding="utf-8")))
    }


def broken_arrows(module: str, source: str) -> list[str]:
    """Return a message for each import that the project's rules for imports forbid."""
    imports = imports_of(source)
    return [
        f"{module} must not import {name}" for name in sorted(imports) if is_wrong(module, name, is_drawing(imports))
    ]


def is_wrong(module: str, imported: str, module_draws: bool) -> bool:
    layer, target = layer_of(module), layer_of(imported)
    if layer == "bpe_core":
        return imported.split(".")[0] in QT | {"app"}
    # The files at the top of app, and the system folder, start the program and may import every layer.
    if layer is None:
        return False
    if target is None:
        return is_in(imported, "app.wiring")
    if is_in(imported, "bpe_core.command_line"):  # commands run in other processes
        return True
    if LAYERS.index(target) > LAYERS.index(layer):
        return True
    if layer != "app.window" or is_wiring(module):
        return False
    if is_wiring(imported) or (is_in(module, "app.window.parts") and is_topic(imported)):
        return True
    if module_draws:  # of the engine only figures, which are drawn alike everywhere
        return target == "bpe_core" and not is_in(imported, "bpe_core.figures")
    return imported in drawing_modules()


def is_topic(module: str) -> bool:
    """Return whether a module belongs to one topic of the window. Shared modules must not import a topic."""
    return is_in(module, "app.window") and not is_in(module, "app.window.parts") and module != "app.window"


def import_cycle(sources: dict[str, str]) -> list[str]:
    """Return modules that import each other in a circle, or an empty list."""
    arrows = {
        module: imports_of(source, for_types=False) & sources.keys() - {module} for module, source in sources.items()
    }
    packages = {module for module in sources if any(is_in(other, module) for other in sources.keys() - {module})}
    # A package that only re-exports the names of its modules does not count.
    rooms = {module: targets - packages for module, targets in arrows.items() if module not in packages}
    try:
        TopologicalSorter(rooms).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_modules_of_the_project_have_no_circular_imports() -> None:
    assert import_cycle({module: path.read_text(encoding="utf-8") for module, path in modules()}) == []
    inside = {"a": "import b", "b": "def f():\n    from c import x", "c": "import a"}
    assert len(import_cycle(inside)) == 4
    for_types = "if TYPE_CHECKING:\n    import a"
    assert import_cycle(inside | {"c": for_types}) == []


def test_modules_import_each_other_only_in_the_allowed_directions() -> None:
    """One test covers all files, because hundreds of tests would take longer."""
    sources = {module: path.read_text(encoding="utf-8") for module, path in modules()}
    assert len(sources) > 400
    assert [sentence for module, source in sources.items() for sentence in broken_arrows(module, source)] == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("bpe_core.counting.words", "import PySide6.QtCore"),
        ("bpe_core.counting.words", "def f():\n    from app import worker"),
        ("app.worker", "from app.session import Session"),
        ("app.session", "import app.window.merges.merge_table"),
        ("app.session.runs", "from app import window"),
        ("app.session.manifests", "def f():\n    from bpe_core.command_line.main import run"),
        ("app.window.merges.merge_table", "from app.window.merges import merge_panel"),
        ("app.window.merges.merge_table", "from app.window.questions import wiring"),
        ("app.window.merges.merge_panel", "from PySide6.QtWidgets import QTableView\nimport bpe_core"),
        ("app.window.parts.theme", "from app.window.merges.merge_table import Column"),
    ],
)
def test_the_import_check_reports_a_forbidden_import(module: str, source: str) -> None:
    assert broken_arrows(module, source) != []


def stage_of(module: str) -> int:
    """Return the number of the layer of an engine module."""
    _, stage, *rooms = module.split(".")
    if stage != "methods":
        return STAGES.index(stage)
    if not rooms:
        return STAGES.index("recipes")
    if len(rooms) == 1 and rooms[0] not in ROOMS:
        return STAGES.index("methods" if rooms[0] == "kit" else "doors")
    return STAGES.index(ROOMS.get(rooms[-1], stage))


def test_modules_of_the_engine_never_import_a_module_of_a_later_layer() -> None:
    engine = {name: path for name, path in modules() if is_in(name, "bpe_core") and name != "bpe_core"}
    turned = [
        f"{module} must not import {imported}"
        for module, path in engine.items()
        for imported in sorted(imports_of(path.read_text(encoding="utf-8")) & set(engine))
        if stage_of(module) < stage_of(imported)
    ]
    assert turned == []


def test_the_top_level_of_the_repository_holds_exactly_the_expected_files() -> None:
    names = {path.name for path in ROOT.iterdir() if not path.name.startswith(".") and path.suffix != ".egg-info"}
    assert names - BUILT == TOP_LEVEL


by_machine_code = pytest.mark.skipif(readiness.is_forbidden(), reason="machine code is forbidden here")


@by_machine_code
def test_training_on_a_small_text_and_splitting_a_small_text_do_not_load_the_machine_code_library() -> None:
    """In a window that shows a sample, the library would take 57 MB of memory."""
    program = """
import sys
import bpe_core as bpe
from bpe_core.methods.kit.tokenizer import Tokenizer
study = bpe.train([" low lower" * 400], "gpt2", merges=4)
for text in ("the lowest" * 400, "the lowest" * 600):
    tokens = Tokenizer(study.history).segmentation(text).tokens(4)
    print(len(tokens.edges), "llvmlite.binding" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.splitlines() == ["2401 False", "3601 True"]


@by_machine_code
def test_the_first_short_text_is_encoded_without_loading_the_machine_code_library() -> None:
    """A command that encodes a few words takes a third less CPU time without the library."""
    program = """
import sys
import bpe_core as bpe
study = bpe.train([" low lower" * 400], "gpt2", merges=6)
for _ in range(2):
    print(*study.encode("the lowest low"), "llvmlite.binding" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    first, second = (line.rpartition(" ") for line in done.stdout.splitlines())
    assert first[0] == second[0]
    assert (first[2], second[2]) == ("False", "True")


def test_importing_the_engine_loads_neither_numba_nor_the_window() -> None:
    program = "import sys, bpe_core; [getattr(bpe_core, name) for name in bpe_core.__all__]; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert "bpe_core" in loaded
    assert loaded.isdisjoint({"numba", "llvmlite", "app"} | QT)
