"""The one decorator that turns a function into machine code, and where Numba leaves and finds it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.registry import cpu_target

from bpe_core.kernels import kept

_place = kept.place_of_code()  # None where nothing can be kept: then kernels are compiled in memory

# Numba leaves a part of its setting up to the first call of a kernel. A second thread that makes its own
# first call meanwhile would find tables half filled; here other threads wait until this import is over.
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()

Function = TypeVar("Function", bound=Callable[..., Any])


class _Place:
    """Tells Numba the one folder; by itself it would look in several, and write to each."""

    def __init__(self, function) -> None:
        self._py_file = function.__code__.co_filename
        self._line = function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function, file):
        return cls(function)

    def get_cache_path(self):
        return str(_place)

    def ensure_cache_path(self) -> None:
        """It is there."""

    def get_source_stamp(self):
        return ""  # the folder is for this very state of the sources

    def get_disambiguator(self):
        return str(self._line)


class _Files(CompileResultCacheImpl):
    _locator_classes = [_Place]  # type: ignore[list-item]  # noqa: RUF012


class _Writing(FunctionCache):
    _impl_class = _Files


class _Reading(FunctionCache):
    """Loads what was looked through as a whole, and changes nothing."""

    _impl_class = _Files

    def load_overload(self, signature, target):
        """None where it must be compiled, in memory."""
        if not kept.is_sound():
            return None
        try:
            return super().load_overload(signature, target)  # type: ignore[no-untyped-call]
        except Exception:  # whatever comes of a file that was damaged since
            kept.distrust()
            return None

    def save_overload(self, signature, result) -> None:
        """Leaves it in memory."""


if TYPE_CHECKING:

    def kernel(function: Function) -> Function: ...

    def inlined(function: Function) -> Function: ...

else:
    # Without Numba's own memory management: kernels allocate nothing (a slice copied to a slice would), and the
    # reference counts it keeps of every array that is handed from one kernel to another cost more than the work.
    _options = dict(nogil=True, error_model="numpy", _nrt=False)

    def kernel(function):
        made = numba.njit(**_options)(function)
        if _place is not None:
            with contextlib.suppress(RuntimeError):  # a person's own setting sends Numba elsewhere
                cache = (_Writing if kept.is_making() else _Reading)(function)
                made._cache = cache if cache.cache_path == str(_place) else made._cache
        return made

    # Becomes a part of the kernels that call it: handing many arrays on costs more than a small piece of work.
    inlined = numba.njit(inline="always", **_options)
