"""The decorators that mark a function as a kernel, so that it becomes machine code.

What the decorators do depends on the process. A process that compiles (`bpe_core.compiler`) has the decorators of
`compiling.py`. Every other process has light decorators, which load stored code and never import Numba. If machine code
cannot be made or loaded in this way, the decorators are those of Numba, with Numba's own cache.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from bpe_core.kernels import stored_code
from bpe_core.kernels.calling import Kernel

Function = TypeVar("Function", bound=Callable[..., Any])
Tuple = TypeVar("Tuple", bound=tuple[Any, ...])


def bundle(named_tuple: type[Tuple]) -> type[Tuple]:
    """Return a class of named tuples whose tuples cache the addresses of their arrays.

    The new class has the fields of `named_tuple`. The cache makes calls of kernels faster. No array of such a tuple may
    be resized in place.
    """
    details = {name: getattr(named_tuple, name) for name in ("__doc__", "__module__", "__qualname__")}
    details["is_bundle"] = True
    return type(named_tuple.__name__, (named_tuple,), details)  # without __slots__, unlike its parent


def uses_numba() -> bool:
    if stored_code.is_making():
        return os.environ[stored_code.COMPILES] == stored_code.FOR_NUMBA
    pack = stored_code.pack()
    return pack is not None and bool(pack.fallback)


if TYPE_CHECKING:

    def kernel(function: Function) -> Function: ...

    def inlined(function: Function) -> Function: ...

    def intrinsic(function: Callable[..., Any]) -> Callable[..., Any]: ...

elif uses_numba():
    if stored_code.can_be_made():
        os.environ.setdefault("NUMBA_CACHE_DIR", str(stored_code.folder() / "numba"))  # read when Numba is imported

    from numba import njit
    from numba.extending import intrinsic as intrinsic

    kernel = njit(nogil=True, error_model="numpy", cache=stored_code.can_be_made())
    inlined = njit(nogil=True, error_model="numpy", inline="always")
elif stored_code.is_making():
    from bpe_core.kernels.compiling import inlined as inlined
    from bpe_core.kernels.compiling import intrinsic as intrinsic
    from bpe_core.kernels.compiling import kernel as kernel
else:
    kernel = Kernel

    def inlined(function):
        """Return the function unchanged, because only the compiler process inlines functions into kernels."""
        return function

    intrinsic = inlined
