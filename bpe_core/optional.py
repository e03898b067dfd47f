"""Packages that only some files need: asked for when such a file is met, and missed in a sentence."""

from __future__ import annotations

from typing import Any

MISSING_PYARROW = "needs the package pyarrow, which is not installed: pip install 'bpe-explorer[parquet]'."

MISSING_CLUSTER = "needs the packages of a cluster, which are not installed: pip install 'bpe-explorer[cluster]'."


def pyarrow_or_none() -> Any:
    """The package, or None; it is large, so it is loaded only when a file of its kinds is wanted."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        return None
    return pyarrow


def distributed_or_none() -> Any:
    """Dask's package for clusters, or None."""
    try:
        import distributed
    except ImportError:
        return None
    return distributed
