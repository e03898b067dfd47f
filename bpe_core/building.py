"""The hook that the build tool of packages calls. It stores the id of the commit and, if requested, machine code.

If machine code was requested and cannot be made, the build fails. If a package has no machine code, the program
compiles it in a second process at its first start.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WITH_MACHINE_CODE = "BPE_EXPLORER_MACHINE_CODE"  # environment variable: 1 requests a wheel for this Python and platform
COMPILED_WITH = ("numpy", "numba", "regex", "backports.zstd")
PATIENCE = 3_600.0  # seconds; compiling takes two minutes, and much longer on a busy machine
# The path of the sources is passed, because build tools remove installed folders from the path of modules.
MAKE = """
import json
import sys
sys.path.insert(0, sys.argv[1])
from bpe_core.compiler import compile_kernels
from bpe_core.kernels import stored_code

if not compile_kernels():
    raise SystemExit("There is no folder for the machine code.")
code, place = stored_code.to_install()
print(json.dumps([str(code), place]))
"""


class BuildHook(BuildHookInterface):  # type: ignore[misc]  # where packages are not built, its class is unknown
    def dependencies(self) -> list[str]:
        all_needed = self.metadata.core.dependencies
        return (
            [requirement for requirement in all_needed if requirement.startswith(COMPILED_WITH)]
            if self._wants_machine_code()
            else []
        )

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the commit and the requested machine code to a wheel.

        An editable installation needs neither, because it reads the commit from git and compiles at the first start.
        """
        if version == "editable":
            return
        self._folder = TemporaryDirectory()
        ours = runpy.run_path(str(Path(self.root, "bpe_core", "support", "version.py")))
        place = f"bpe_core/{ours['KEPT']}"
        if not Path(self.root, place).exists() and (commit := ours["commit_of"](Path(self.root))):
            file = Path(self._folder.name, ours["KEPT"])
            file.write_text(f"{commit}\n", encoding="ascii")
            build_data["force_include"][str(file)] = place
        if self._wants_machine_code():
            self._include_machine_code(build_data)

    def finalize(self, version: str, build_data: dict[str, Any], artifact: str) -> None:
        if version != "editable":
            self._folder.cleanup()

    def _wants_machine_code(self) -> bool:
        return self.target_name == "wheel" and os.environ.get(WITH_MACHINE_CODE) == "1"

    def _include_machine_code(self, build_data: dict[str, Any]) -> None:
        try:
            code, place = self._made()
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise SystemExit(
                f"{WITH_MACHINE_CODE}=1 asks for machine code, but compiling it failed: {error}"
            ) from error
        build_data["force_include"][code] = place
        build_data |= {"pure_python": False, "infer_tag": True}  # for this kind of computer and Python

    def _made(self) -> tuple[str, str]:
        """Make machine code in a process with a time limit. Return the path of the file, and its path in the wheel."""
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
            raise OSError((done.stderr.strip().splitlines() or ["The compiler ended without a message."])[-1])
        code, place = json.loads(done.stdout)
        return code, place
