"""The one decorator that turns a function into machine code."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from bpe_core.kernels.readiness import cache_folder

# Numba reads this when it is imported, if nobody did that before; without a writable folder it runs uncached.
_folder = cache_folder()
if _folder is not None:
    os.environ["NUMBA_CACHE_DIR"] = str(_folder)

import numba  # noqa: E402 - only after the cache has its place
from numba.core.registry import cpu_target  # noqa: E402

if _folder is not None:
    numba.config.CACHE_DIR = str(_folder)  # type: ignore[attr-defined]  # made when it is imported

# Numba leaves a part of its setting up to the first call of a kernel. A second thread that makes its own
# first call meanwhile would find tables half filled; here other threads wait until this import is over.
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()

Function = TypeVar("Function", bound=Callable[..., Any])

if TYPE_CHECKING:

    def kernel(function: Function) -> Function: ...

    def inlined(function: Function) -> Function: ...

else:
    # Without Numba's own memory management: kernels allocate nothing (a slice copied to a slice would), and the
    # reference counts it keeps of every array that is handed from one kernel to another cost more than the work.
    _options = dict(nogil=True, error_model="numpy", _nrt=False)
    kernel = numba.njit(cache=_folder is not None, **_options)
    # Becomes a part of the kernels that call it: handing many arrays on costs more than a small piece of work.
    inlined = numba.njit(inline="always", **_options)
