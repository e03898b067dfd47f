"""All compiled code: kernels on raw arrays that trust their callers.

Each kernel is declared with the decorators of `jit.py` and runs without the GIL. Another process compiles all of them
once (`compiling.py`) and keeps them in one file (`kept.py`), which every process loads in a moment (`calling.py`). A
kernel is called only once `readiness` says that nobody will wait for a compiler. The checked, documented doors are
outside this folder, and tests compare each with plain code.
"""
