"""All compiled code: kernels on raw arrays that trust their callers.

Each kernel is declared with the decorators of `jit.py` and runs without the GIL. Another process compiles all of them
once (`compiling.py`) and keeps them in one file (`kept.py`), which every process loads in a moment (`calling.py`). A
kernel is called only once `readiness` says that nobody will wait for a compiler. The checked, documented doors are
outside this folder, and tests compare each with plain code.
"""

# The rank of a boundary between two symbols is the index of the merge that dissolves it, or one of these.
NEVER = 2**31 - 1  # no merge dissolves it
PATTERN_CUT = 2**31 - 2  # the pattern, or a special token, cuts here

MOST_AT_ONCE = 128  # bytes left out, or entries told, of a table of `bpe_core.learning.gage.block_form`
