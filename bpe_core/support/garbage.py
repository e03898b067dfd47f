"""Functions that keep Python's garbage collector from doing needless work."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Switch the garbage collector off until the `with` block ends.

    The collector would run often while many objects are created, and it would find no garbage.
    """
    searches = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searches:
            gc.enable()


def exclude_present_objects() -> None:
    """Switch the garbage collector on, but let it ignore all objects that exist now.

    This is safe for loaded modules, which stay in use, and in a process that ends soon, because the system then frees
    all memory.
    """
    gc.freeze()
    gc.enable()
