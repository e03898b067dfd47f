"""All compiled code: kernels on raw arrays that trust their callers.

Each kernel is declared with the one decorator of `jit.py`, runs without the GIL and is kept on disk as
an object file (`objects.py`), which LLVM loads in a moment. Numba makes it (`compiling.py`), once, in another
process; a kernel is called only once `readiness` says that nobody will wait for that. The checked, documented
faces stand outside this folder, and next to each stands plain code that the tests hold it equal to.
"""
