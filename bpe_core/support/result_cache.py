"""A cache of results that are needed several times during a piece of work. They are kept until the work ends.

>>> with cached_results():
...     [cached("length", "low", lambda: print("counted") or 3) for _ in range(2)]
counted
[3, 3]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from operator import eq
from typing import Any, TypeVar, cast

Given = TypeVar("Given")
Found = TypeVar("Found")

_kept: ContextVar[dict[object, list[tuple[Any, Any]]] | None] = ContextVar("kept", default=None)


@contextmanager
def cached_results() -> Iterator[None]:
    """Cache the results of `cached` until the `with` block ends. An inner block uses the cache of the outer block."""
    if _kept.get() is not None:
        yield
        return
    before = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(before)


def cached(
    what: object, given: Given, find: Callable[[], Found], are_same: Callable[[Given, Given], bool] = eq
) -> Found:
    """Return the result of the function `find`. It is cached under the name `what` and the values in `given`.

    The result may depend only on `given`. Neither the values nor the result may be changed. Outside a block of
    `cached_results` nothing is cached.
    """
    kept = _kept.get()
    if kept is None:
        return find()
    for other, result in kept.get(what, ()):
        if other is given or are_same(other, given):
            return cast(Found, result)
    new = find()
    kept.setdefault(what, []).append((given, new))
    return new
