"""The keys under which machine code of kernels is stored. If the keys of two kernels are equal, their code is equal.

A kernel depends on its own source and on everything that the source names: other kernels, constants, named tuples. The
code also depends on the types of the arguments, and on the compiler. Comments, docstrings and line numbers do not
matter. So after a change to one kernel, only the code of this kernel and of its callers is compiled again.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

OURS = __name__.partition(".")[0]


def key_of(function: Callable[..., Any], arguments: tuple[Any, ...], compiler: str) -> str:
    """Return the key of a kernel's code for arguments of these types.

    `compiler` describes the compiler and its target.
    """
    described = [compiler, *map(_argument, arguments), *sorted(_everything_named(_plain(function)))]
    return hashlib.sha256("\n".join(described).encode()).hexdigest()[:32]


def _argument(value: Any) -> str:
    """Return a description of an argument: the types of arrays and numbers, and the names of fields."""
    if isinstance(value, tuple):
        names = getattr(value, "_fields", range(len(value)))
        fields = ", ".join(f"{name}: {_argument(part)}" for name, part in zip(names, value, strict=True))
        return f"{type(value).__qualname__}{' bundle' if hasattr(value, 'is_bundle') else ''}({fields})"
    if isinstance(value, np.ndarray):
        return f"{value.dtype.descr} {value.ndim} {value.flags.c_contiguous}"
    return type(value).__name__


def _everything_named(function: FunctionType) -> set[str]:
    """Return descriptions of a kernel and of all functions and constants that it uses.

    Functions and constants that it uses only through other functions are included.
    """
    descriptions: dict[str, str] = {}
    left = [function]
    while left:
        described = left.pop()
        name = f"{described.__module__}.{described.__qualname__}"
        if name in descriptions:
            continue
        descriptions[name] = f"{name}\n{_code_of(described)}"
        for other, value in _named_by(described):
            if isinstance(value, FunctionType):
                left.append(value)
            else:
                descriptions[f"{name} names {other}"] = f"{other} = {_constant(value)}"
    return {*descriptions.values()}


def code_of_module(module: ModuleType) -> str:
    """Return the source of a module without comments, blank lines and docstrings."""
    parsed = ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))
    for part in ast.walk(parsed):
        if isinstance(part, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(part) is not None:
            part.body = part.body[1:] or [ast.Pass()]
    return ast.unparse(parsed)


@cache
def _parsed(function: Callable[..., Any]) -> ast.FunctionDef:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    if not isinstance(definition, ast.FunctionDef):
        raise TypeError(f"{function.__qualname__} is not a separate function, so its source is not known.")
    return definition


def _code_of(function: Callable[..., Any]) -> str:
    """Return the source of a function without comments and docstring."""
    definition = _parsed(function)
    has_docstring = ast.get_docstring(definition) is not None
    statements = definition.body[1:] if has_docstring else definition.body
    return "\n".join(map(ast.unparse, [definition.args, *definition.decorator_list, *statements]))


def _named_by(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield each name in a function's source that is defined outside the function, with the value of the name."""
    meant = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    for name in function.__code__.co_varnames:
        meant.pop(name, None)
    for node in ast.walk(ast.Module(_parsed(function).body, [])):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = meant.get(node.value.id)
            if isinstance(module, ModuleType) and module.__name__.partition(".")[0] == OURS:
                yield f"{module.__name__}.{node.attr}", _plain(getattr(module, node.attr))
        elif isinstance(node, ast.Name) and node.id in meant and not isinstance(meant[node.id], ModuleType):
            yield node.id, _plain(meant[node.id])


def _plain(value: Any) -> Any:
    """Return the plain Python function from which a kernel was made."""
    return getattr(value, "py_func", value)


def _constant(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype.descr} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, (int, float, str, bytes, range, np.generic, np.dtype)):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, tuple):
        return f"{type(value).__name__}({', '.join(map(_constant, value))})"
    if isinstance(value, type):
        values = [*value] if issubclass(value, Enum) else getattr(value, "_fields", "")
        return f"{value.__qualname__} {values!r}"
    module = sys.modules.get(getattr(value, "__module__", ""))
    if module is not None and module.__name__.partition(".")[0] == OURS and module.__file__:
        return code_of_module(module)  # it uses other functions of its module to write LLVM code
    raise TypeError(f"A kernel cannot depend on a value of this kind: {value!r}.")
