"""The package of kernels: compiled functions that work on raw arrays and do not check their arguments.

Each kernel is declared with the decorators of `jit.py` and runs without the GIL. Another process compiles all kernels
once (`compiling.py`) and stores them in one file (`stored_code.py`). Every process loads this file quickly
(`calling.py`). A kernel is called only if the caller need not wait for a compiler (`readiness.py`). Functions in other
packages check the arguments and call the kernels. Tests compare the results of these functions with those of plain
Python code.
"""

# Numbers that plain Python uses, too.

# The rank of a boundary between two symbols is the index of the merge that removes it, or one of these numbers.
NEVER = 2**31 - 1  # no merge removes the boundary
PATTERN_CUT = 2**31 - 2  # the pattern, or a special token, splits here

# A value of the byte that describes what follows a piece of Unigram: different symbols follow its occurrences.
VARIOUS = 255
WALL, TRANSPARENT = -2, -1  # in place of a script: no longer piece contains the symbol; the symbol fits any script

# Probabilities of long words leave the range of numbers. A probability below SMALL is lifted: it is multiplied by
# 2 ** SHIFT, which is exact. The number of lifts is stored beside it.
SMALL, SHIFT = 2.0**-600, 600
UNREACHED = 1 << 20  # the number of lifts of a sum that is still zero

# If log-probabilities are added in 32 bits, SentencePiece 0.2.3 begins a new sum at a place whose sum is beyond this
# limit: it subtracts that sum from the sums of this place and of all later places that tokens reach.
LARGEST_SUM = 100_000

MOST_AT_ONCE = 128  # the most bytes or entries in one part of a block's table (see `methods/gage/block_form.py`)
