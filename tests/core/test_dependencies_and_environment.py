"""Tests of the required releases of other packages, and of the environment variables that the program reads."""

from __future__ import annotations

import re
import tomllib

from tests.shared import ROOT


def test_the_package_requires_exactly_the_tested_releases_of_numba() -> None:
    from bpe_core.kernels.compiling import TESTED  # loads Numba, which takes a while

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (first, last), unknown = TESTED, (TESTED[1][0], TESTED[1][1] + 1)
    wanted = "numba>={}.{},<{}.{}".format(*first, *unknown)
    assert last[1] - first[1] == 2  # three releases
    assert wanted in project["dependencies"]


def test_the_manual_names_every_environment_variable_of_the_program() -> None:
    files = [path for folder in ("app", "bpe_core") for path in (ROOT / folder).rglob("*.py")]
    read = {name for path in files for name in re.findall(r"BPE_EXPLORER_[A-Z_]+", path.read_text(encoding="utf-8"))}
    table = (ROOT / "resources" / "manual" / "commands.md").read_text(encoding="utf-8")
    documented = {*re.findall(r"^\| `(BPE_EXPLORER_[A-Z_]+)", table, re.MULTILINE)}
    assert read == documented


def test_the_manual_lists_every_environment_variable_that_the_program_or_a_test_reads() -> None:
    variable = re.compile(r'(?:environ|getenv)\b.{0,20}?"((?:BPE|XDG)_[A-Z_]+)"')
    files = [path for folder in ("app", "bpe_core", "tests") for path in (ROOT / folder).rglob("*.py")]
    read = {name for path in files for name in variable.findall(path.read_text(encoding="utf-8"))}
    pages = [ROOT / "resources" / "manual" / name for name in ("commands.md", "developers.md")]
    documented = {name for page in pages for name in re.findall(r"[A-Z]+_[A-Z_]+", page.read_text(encoding="utf-8"))}
    assert {"BPE_LONG", "BPE_KILLS", "BPE_SOAK_SEED", "XDG_DATA_HOME"} <= read
    assert read - documented == set()
