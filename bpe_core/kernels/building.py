"""Make the machine code while the package is built, so that nobody who installs it waits for a compiler.

Only the tool that builds packages calls this (see `pyproject.toml`). Where machine code cannot be made, the package is
built without it, and the program's first start has it made by a second process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PATIENCE = 900.0  # seconds; it takes half a minute
# The sources are named here, as tools leave out of the path what is already installed from the same place.
MAKE = """
import json
import sys
sys.path.insert(0, sys.argv[1])
from bpe_core.compiler import compile_kernels
from bpe_core.kernels import kept

if not compile_kernels():
    raise SystemExit("There is no folder to make it in.")
code, place = kept.to_install()
print(json.dumps([str(code), place]))
"""


class KernelBuilding(BuildHookInterface):  # type: ignore[misc]  # where packages are not built, its class is unknown
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """An installation from which the sources are run (`editable`) finds the machine code where it was made."""
        try:
            code, place = self._made()
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self.app.display_warning(f"Built without machine code, which the first start will make: {error}")
            return
        if version != "editable":
            build_data["force_include"][code] = place
            build_data |= {"pure_python": False, "infer_tag": True}  # for this kind of computer and Python

    def _made(self) -> tuple[str, str]:
        """Have it made by a process that can be ended: where it is, and where it belongs in the package."""
        done = subprocess.run(
            [sys.executable, "-P", "-c", MAKE, self.root],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        if done.returncode:
            raise OSError((done.stderr.strip().splitlines() or ["It ended without a word."])[-1])
        code, place = json.loads(done.stdout)
        return code, place
