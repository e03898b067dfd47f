"""The registry of all methods. It finds a method by the name that recipes use.

Each folder of `bpe_core/methods` except `kit` holds one method: its `__init__.py` has a `METHOD`. Plug-ins can add
methods. No other file of the program names a method.
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


def _folders() -> dict[str, MethodFacts]:
    names = [module.name for module in iter_modules(methods.__path__) if module.ispkg and module.name != KIT]
    installed: list[MethodFacts] = [import_module(f"{methods.__name__}.{name}").METHOD for name in names]
    return {method.name: method for method in sorted(installed, key=lambda method: method.place)}


def _as_today(row: Any) -> MethodFacts:
    """Return the facts of a method in the current format. Older plug-ins register them in a former format.

    All other values are returned unchanged.
    """
    if isinstance(row, MethodFacts) or not hasattr(row, "module"):
        return row  # type: ignore[no-any-return]  # `_check` refuses other values
    method: MethodFacts = import_module("bpe_core.methods.kit.former").method_of_today(row)
    return method


def _check(name: str, method: object) -> None:
    if not isinstance(method, MethodFacts) or type(method).cutter is MethodFacts.cutter:
        raise BpeError("a method must be an object of a class that derives from bpe_core.methods.kit.method.Method")
    method.name = name


METHODS: Registry[MethodFacts] = Registry("methods", _folders(), _check, _as_today)


def method_for(table: str) -> str:
    """Return the name of the first method whose results can be stored in this kind of table.

    If a file does not name its method, the program assumes this method.
    """
    return next(name for name in METHODS if table in METHODS[name].tables)


# The name of the method for recipes that name no method.
USUAL = next(iter(METHODS))
