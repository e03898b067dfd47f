"""Machine code as it is kept: a file a kernel and kind of arguments, and a list of them all.

LLVM puts the files into memory and joins their parts; Numba, which made them, is not needed for that.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bpe_core.kernels import kept
from bpe_core.kernels.calling import Made

if TYPE_CHECKING:
    from bpe_core.kernels.calling import Kernel

INDEX = "index"  # a line a file: what it is, and a checksum


def machine_code(kernel: Kernel, kinds: str, arguments: tuple[Any, ...]) -> tuple[Made, int, bool]:
    """What is known of it, its address, and whether there is more of the same kernel for other kinds."""
    found = _kept(kernel, kinds) if kept.is_sound() and not kept.is_making() else None
    if found is not None:
        return found
    from bpe_core.kernels.compiling import compiled

    made, code, address = compiled(kernel, kinds, arguments)
    if kept.is_making():
        _keep(made, code)
    return made, address, True


def _kept(kernel: Kernel, kinds: str) -> tuple[Made, int, bool] | None:
    """The same where it was kept; what was damaged since it was looked through is compiled in memory."""
    try:
        known = _index().get(kernel.name, {})
        if kinds not in known:
            return None
        made, checksum = known[kinds]
        return made, _loaded(made, checksum), len(known) > 1
    except (OSError, RuntimeError, ValueError):
        kept.distrust()
        return None


def _keep(made: Made, code: bytes) -> None:
    place = kept.place_of_code()
    assert place is not None
    (place / _file_name(made)).write_bytes(code)
    with open(place / INDEX, "a", encoding="utf-8") as file:
        file.write(json.dumps({**asdict(made), "checksum": hashlib.sha256(code).hexdigest()}) + "\n")


def take_over(place: Path) -> None:
    """What another process has made there meanwhile, but for what this one has made as well."""
    here = kept.place_of_code()
    assert here is not None
    with open(here / INDEX, "a", encoding="utf-8") as file:
        for line, made, _checksum in _lines(place):
            if not (here / _file_name(made)).exists():
                (place / _file_name(made)).rename(here / _file_name(made))
                file.write(line + "\n")
    shutil.rmtree(place)


def _file_name(made: Made) -> str:
    return f"{made.kernel}.{hashlib.sha256(made.kinds.encode()).hexdigest()[:12]}.o"


@cache
def _index() -> dict[str, dict[str, tuple[Made, str]]]:
    """By kernel and kinds of arguments."""
    place = kept.place_of_code()
    found: dict[str, dict[str, tuple[Made, str]]] = {}
    assert place is not None
    for _line, made, checksum in _lines(place):
        found.setdefault(made.kernel, {})[made.kinds] = made, checksum
    return found


def _lines(place: Path) -> Iterator[tuple[str, Made, str]]:
    for line in (place / INDEX).read_text(encoding="utf-8").splitlines():
        values = json.loads(line)
        checksum = values.pop("checksum")
        yield line, Made(**values), checksum


def _loaded(made: Made, checksum: str) -> int:
    """The address of what a file holds, once it is in memory."""
    place = kept.place_of_code()
    assert place is not None
    code = (place / _file_name(made)).read_bytes()
    if hashlib.sha256(code).hexdigest() != checksum:
        raise ValueError("It is not what was written.")
    from llvmlite import binding

    engine = _engine()
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address: int = engine.get_function_address(made.symbol)
    if not address:
        raise ValueError("It does not hold what it should.")
    return address


@cache
def _engine() -> Any:
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    return binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
