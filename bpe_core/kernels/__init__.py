"""All compiled code: kernels on raw arrays that trust their callers.

Each kernel is declared with the one decorator of `jit.py`, runs without the GIL and is
cached on disk. The checked, documented faces stand outside this folder, and next to each
stands plain code that the tests hold it equal to. Importing a kernel module imports Numba,
so it happens only once `readiness` says that nobody will wait for a compiler.
"""
