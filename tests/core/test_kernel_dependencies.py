"""Tests of the key under which the machine code of a kernel is stored.

The key depends on the code that the kernel uses, on the types of its arguments, and on the compiler.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from bpe_core.kernels import dependencies, stored_code
from bpe_core.kernels.stored_code import Pack
from tests.shared import ROOT

SOURCE = '''
"""Kernels that call each other."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from bpe_core.kernels import merge_word
from bpe_core.kernels.jit import kernel
from bpe_core.kernels.memory import prefetch

LIMIT, OTHER_LIMIT = 3, 4
TABLE = np.arange(3)


class Color(IntEnum):
    RED = 1


class Desk(NamedTuple):
    cells: object


@kernel
def lowest(cells):
    """The lowest of all."""
    return cells[0] + LIMIT  # which is sorted


@kernel
def middle(cells):
    return lowest(cells) + Color.RED + TABLE[1]


@kernel
def highest(cells):
    return Desk(middle(cells))


@kernel
def alone(cells):
    prefetch(cells, 0)
    return cells[1] + merge_word.SHORT
'''
NAMES = ("lowest", "middle", "highest", "alone")
# A change in the source, and the functions whose code changes.
CHANGES = [
    ("# which is sorted", "# always", set()),
    ('"""The lowest of all."""', '"""The first."""', set()),
    ("\n\n\n@kernel\ndef alone", "\n\n\n\n\n\n\n@kernel\ndef alone", set()),
    ("OTHER_LIMIT = 3, 4", "OTHER_LIMIT = 3, 5", set()),
    ("return cells[0]", "return cells[2]", {"lowest", "middle", "highest"}),
    ("LIMIT, OTHER_LIMIT = 3", "LIMIT, OTHER_LIMIT = 9", {"lowest", "middle", "highest"}),
    ("Color.RED +", "2 * Color.RED +", {"middle", "highest"}),
    ("RED = 1", "RED = 2", {"middle", "highest"}),
    ("arange(3)", "arange(4)", {"middle", "highest"}),
    ("cells: object", "others: object", {"highest"}),
    ("cells[1]", "cells[2]", {"alone"}),
]


@pytest.fixture
def keys(tmp_path: Path) -> Callable[[str], dict[str, str]]:
    def find(source: str) -> dict[str, str]:
        module = import_source(tmp_path, source)
        cells = np.zeros(3, np.int32)
        return {name: dependencies.key_of(getattr(module, name).py_func, (cells,), "Numba 1") for name in NAMES}

    return find


def import_source(folder: Path, source: str) -> ModuleType:
    file = folder / f"source_{len(list(folder.iterdir()))}.py"
    file.write_text(source, encoding="utf-8")
    spec = spec_from_file_location("bpe_core.kernels.example", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("before", "after", "changed"), CHANGES, ids=[after for _, after, _ in CHANGES])
def test_a_change_in_a_kernel_makes_the_kernel_and_its_callers_outdated(
    keys: Callable[[str], dict[str, str]], before: str, after: str, changed: set[str]
) -> None:
    assert SOURCE.count(before) == 1
    first, second = keys(SOURCE), keys(SOURCE.replace(before, after))
    assert {name for name in NAMES if first[name] != second[name]} == changed


def test_the_storage_key_of_a_kernel_depends_on_argument_types_and_compiler(tmp_path: Path) -> None:
    module = import_source(tmp_path, SOURCE)
    function = module.alone.py_func
    other = import_source(tmp_path, SOURCE.replace("cells: object", "others: object"))
    given: list[Any] = [
        np.zeros(3, np.int32), np.zeros(3, np.int64), np.zeros((3, 3), np.int32), np.zeros(6, np.int32)[::2],
        1, 1.0, np.int32(1), (1,), module.Desk(1), other.Desk(1),
    ]  # fmt: skip
    keys = {dependencies.key_of(function, (argument,), "Numba 1") for argument in given}
    assert len(keys) == len(given)
    assert dependencies.key_of(function, (given[0],), "Numba 2") not in keys


def test_a_kernel_that_depends_on_an_unknown_kind_of_value_is_refused(tmp_path: Path) -> None:
    module = import_source(tmp_path, SOURCE.replace("TABLE = np.arange(3)", "TABLE = {1: object()}"))
    with pytest.raises(TypeError, match="cannot depend on a value of this kind"):
        dependencies.key_of(module.middle.py_func, (), "")


MAKE_A_PART = """
import json
from bpe_core.kernels import compiling
compiled, old = [], compiling._compiled
compiling._compiled = lambda kernel, arguments: compiled.append(kernel.name) or old(kernel, arguments)
import numpy as np
from bpe_core.kernels import utf8, word_memory
slots = np.zeros(8, np.uint64)
word_memory.grow_slots(slots, np.zeros(16, np.uint64))
utf8.valid_until(np.zeros(3, np.uint8))
from bpe_core.kernels import stored_code
stored_code.store_pack(stored_code.Pack(kernels=compiling.made))
print(json.dumps(compiled))
"""


def test_after_an_edit_only_the_edited_kernel_is_compiled_again(tmp_path: Path) -> None:
    engine = Path(shutil.copytree(ROOT / "bpe_core", tmp_path / "sources" / "bpe_core"))
    (cache := tmp_path / "cache").mkdir(mode=0o700)
    environment = {**os.environ, stored_code.LOCATION: str(cache), stored_code.COMPILES: stored_code.MACHINE_CODE}

    def compiled() -> list[str]:
        command = [sys.executable, "-c", MAKE_A_PART]
        done = subprocess.run(command, cwd=engine.parent, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        names: list[str] = json.loads(done.stdout)
        return names

    assert compiled() == ["word_memory.grow_slots", "utf8.valid_until"]
    assert compiled() == []
    file = engine / "kernels" / "word_memory.py"
    source = file.read_text(encoding="utf-8")
    head = next(line for line in source.splitlines() if line.startswith("def grow_slots("))
    file.write_text(source.replace(head, f"{head}\n    nothing = 0"), encoding="utf-8")
    assert compiled() == ["word_memory.grow_slots"]
    packs = [Pack.read(path.read_bytes()) for path in cache.glob("*/code")]
    assert [{name for name, _ in pack.kernels} for pack in packs] == [
        {"word_memory.grow_slots", "utf8.valid_until"}
    ] * 2
