"""The methods that learn a vocabulary, by the name that a recipe uses.

Each folder of `bpe_core/methods` but `kit` is the house of one method: its `__init__.py` holds a `METHOD`. A plug-in
brings methods, too. No other file of the program names one.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from bpe_core import methods
from bpe_core.errors import BpeError
from bpe_core.methods.facts import MethodFacts
from bpe_core.support.plugins import Registry

KIT = "kit"


def _houses() -> dict[str, MethodFacts]:
    names = [module.name for module in iter_modules(methods.__path__) if module.ispkg and module.name != KIT]
    found: list[MethodFacts] = [import_module(f"{methods.__name__}.{name}").METHOD for name in names]
    return {method.name: method for method in sorted(found, key=lambda method: method.place)}


def _as_today(row: Any) -> MethodFacts:
    """Return a method from the row that plug-ins had before there were houses; one of today is as it is."""
    if isinstance(row, MethodFacts) or not hasattr(row, "module"):
        return row  # type: ignore[no-any-return]  # the check looks at it
    method: MethodFacts = import_module("bpe_core.methods.kit.former").method_of_today(row)
    return method


def _check(name: str, method: object) -> None:
    if not isinstance(method, MethodFacts) or not hasattr(method, "cutter"):
        raise BpeError("a method is an object of a class that derives from bpe_core.methods.kit.method.Method")
    method.name = name


METHODS: Registry[MethodFacts] = Registry("methods", _houses(), _check, _as_today)


def method_for(table: str) -> str:
    """Return the name of the method that a file is read as, of which only the kind of its table is known."""
    return next(name for name in METHODS if table in METHODS[name].tables)


# The plain way to learn, which recipes follow that name no method.
USUAL = next(iter(METHODS))
