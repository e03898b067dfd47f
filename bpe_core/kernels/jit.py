"""The decorators of what becomes machine code.

A `Kernel` is called like the function it is made of. Its machine code is loaded where it was kept (`objects.py`), or
made by Numba (`compiling.py`), which is imported for nothing else. Here nobody imports it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from bpe_core.kernels.calling import Kernel

Function = TypeVar("Function", bound=Callable[..., Any])


class Inlined:
    """A function that becomes a part of the kernels that call it; Numba asks it the names below."""

    targetoptions = {"inline": "always"}  # noqa: RUF012

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        self.__doc__ = function.__doc__


class Intrinsic:
    """A function that writes the code of one operation itself, for what Numba has no word."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        self.__doc__ = function.__doc__


if TYPE_CHECKING:

    def kernel(function: Function) -> Function: ...

    def inlined(function: Function) -> Function: ...

else:
    kernel = Kernel
    # Handing many arrays on costs more than a small piece of work.
    inlined = Inlined
