"""Tests of the build hook: a wheel that needs machine code contains it, or the build fails."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

INTERFACE = "hatchling.builders.hooks.plugin.interface"
HOOK = "bpe_core.building"


@pytest.fixture
def building(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield the module of the build hook.

    The package hatchling is installed only during a build, so another class stands in for the base class of the
    hook.
    """
    interface = ModuleType(INTERFACE)
    interface.BuildHookInterface = object  # type: ignore[attr-defined]
    parts = INTERFACE.split(".")
    for end in range(1, len(parts)):
        monkeypatch.setitem(sys.modules, ".".join(parts[:end]), ModuleType(".".join(parts[:end])))
    monkeypatch.setitem(sys.modules, INTERFACE, interface)
    monkeypatch.delitem(sys.modules, HOOK, raising=False)
    yield importlib.import_module(HOOK)
    sys.modules.pop(HOOK, None)


def hook_after(building: Any, monkeypatch: pytest.MonkeyPatch, **done: Any) -> Any:
    """Return a hook that builds a wheel with machine code.

    `done` holds the attributes of the compiler process after its end.
    """
    monkeypatch.setenv(building.WITH_MACHINE_CODE, "1")
    monkeypatch.setattr(building.subprocess, "run", lambda *_, **__: SimpleNamespace(**done))
    hook = building.BuildHook()
    hook.root = "."
    hook.target_name = "wheel"
    return hook


@pytest.mark.parametrize(
    ("stderr", "reason"),
    [("There is no folder for the machine code.", "There is no folder"), ("", "The compiler ended without a message")],
)
def test_a_build_fails_if_the_requested_machine_code_cannot_be_made(
    building: Any, monkeypatch: pytest.MonkeyPatch, stderr: str, reason: str
) -> None:
    hook = hook_after(building, monkeypatch, returncode=1, stderr=stderr, stdout="")
    with pytest.raises(SystemExit, match=f"asks for machine code, but compiling it failed: {reason}"):
        hook._include_machine_code({"force_include": {}})


def test_a_build_fails_if_compiling_takes_too_long(building: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("python", building.PATIENCE)

    hook = hook_after(building, monkeypatch)
    monkeypatch.setattr(building.subprocess, "run", wait)
    with pytest.raises(SystemExit, match=r"compiling it failed: .* timed out"):
        hook._include_machine_code({"force_include": {}})


def test_a_build_puts_the_requested_machine_code_into_the_wheel(building: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = hook_after(building, monkeypatch, returncode=0, stderr="", stdout=json.dumps(["/cache/code", "made/code"]))
    data: dict[str, Any] = {"force_include": {}}
    assert hook._wants_machine_code()
    hook._include_machine_code(data)
    assert data == {"force_include": {"/cache/code": "made/code"}, "pure_python": False, "infer_tag": True}
