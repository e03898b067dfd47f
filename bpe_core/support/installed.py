"""Which version of a package is installed, as the name of the folder beside it tells.

`importlib.metadata` knows more, and takes as long to load as a third of all that a small command needs: it is asked for
what lies elsewhere than installers put it today.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache

_FOLDER = ".dist-info"


class NotInstalled(Exception):
    """No such package is there."""


def version_of(package: str) -> str:
    """
    >>> import numpy
    >>> version_of("NumPy") == numpy.__version__
    True
    """
    known = _versions().get(_plain(package))
    if known is not None:
        return known
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError as error:
        raise NotInstalled(package) from error


@cache
def _versions() -> dict[str, str]:
    found: dict[str, str] = {}
    for place in sys.path:
        with suppress(OSError), os.scandir(place or ".") as entries:
            for entry in entries:
                if entry.name.endswith(_FOLDER):
                    package, _, version = entry.name.removesuffix(_FOLDER).rpartition("-")
                    found.setdefault(_plain(package), version)  # the first is the one that is imported
    return found


def _plain(package: str) -> str:
    return package.lower().replace("-", "_").replace(".", "_")
