"""The former names of modules, classes and attributes, for older plug-ins.

A plug-in can import a moved module under its former name. A `DeprecationWarning` gives the new name. Classes
that plug-ins use also keep their former names.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

FORMER = {
    "bpe_core.recipes.methods": "bpe_core.methods.kit.former",
    "bpe_core.recipes.mixture": "bpe_core.text.mixture",
    "bpe_core.learning.methods": "bpe_core.methods.kit.former",
    "bpe_core.learning.bpe.method": "bpe_core.methods.bpe.former",
    "bpe_core.learning.trainer": "bpe_core.methods.kit.trainer",
    "bpe_core.learning.layout": "bpe_core.methods.kit.layout",
    "bpe_core.learning.growing": "bpe_core.editing.growing",
    "bpe_core.segmenting.tokenizer": "bpe_core.methods.kit.tokenizer",
    "bpe_core.segmenting.best_paths": "bpe_core.methods.kit.best_paths",
    "bpe_core.segmenting.encode_corpus": "bpe_core.methods.kit.encode_corpus",
    "bpe_core.insight.reasons": "bpe_core.methods.kit.explanation",
    "bpe_core.text.normalization": "bpe_core.splitting.normalization",
    "bpe_core.text.splitting": "bpe_core.splitting.splitter",
    "bpe_core.text.safe_cuts": "bpe_core.splitting.safe_cuts",
}
_PACKAGES = {"bpe_core.learning", "bpe_core.learning.bpe"}


class FormerNames:
    """A finder and loader that imports modules by their former names.

    It has no base class, because `importlib.abc` takes longer to load than all names.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in FORMER or fullname in _PACKAGES:
            # The type of the argument asks for a base class, but the import system asks only for the two methods.
            return ModuleSpec(fullname, self, is_package=fullname in _PACKAGES)  # type: ignore[arg-type]
        return None

    def create_module(self, spec: ModuleSpec) -> None:
        return None  # an ordinary module

    def exec_module(self, module: ModuleType) -> None:
        """Fill the module with the names of the module that replaced it."""
        now = FORMER.get(module.__name__)
        if now is None:
            return
        warnings.warn(f"{module.__name__} is {now} now.", DeprecationWarning, stacklevel=2)
        home = import_module(now)

        def give(name: str) -> Any:
            return getattr(home, name)

        module.__dict__["__getattr__"] = give


def find_former_names() -> None:
    """Let Python import modules by their former names from now on."""
    if not any(isinstance(finder, FormerNames) for finder in sys.meta_path):
        sys.meta_path.append(FormerNames())


def former_classes(module: str, **new_names: str) -> Callable[[str], Any]:
    """Return a `__getattr__` for a module whose classes were renamed. It finds each class by its former name.

    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     found = former_classes("bpe_core.support.former_names", Finder="FormerNames")("Finder")
    >>> found.__name__, len(said)
    ('FormerNames', 1)
    """

    def find(name: str) -> Any:
        if name not in new_names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warnings.warn(f"{module}.{name} is called {new_names[name]} now.", DeprecationWarning, stacklevel=2)
        return getattr(sys.modules[module], new_names[name])

    return find


def former_attributes(**new_names: str) -> Callable[[Any, str], Any]:
    """Return a `__getattr__` for a class whose attributes were renamed. It finds each attribute by its former name."""

    def find(self: Any, name: str) -> Any:
        if name not in new_names:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        title = type(self).__name__
        warnings.warn(f"{title}.{name} is called {title}.{new_names[name]} now.", DeprecationWarning, stacklevel=2)
        return getattr(self, new_names[name])

    return find


def former_methods(kind: type, **new_names: str) -> None:
    """Accept a class that defines a renamed method under its former name.

    The method is also stored under its new name, and a warning gives the new name. Each item of `new_names` has
    the form `former_name="new_name"`.
    """
    own = vars(kind)
    for name in new_names.keys() & own.keys():
        now = f"{kind.__name__}.{name} is called {new_names[name]} now."
        warnings.warn(now, DeprecationWarning, stacklevel=3)
        if new_names[name] not in own:
            setattr(kind, new_names[name], own[name])
