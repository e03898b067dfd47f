"""The package of compiled code: kernels on raw arrays that do not check their arguments.

Each kernel is declared with the decorators of `jit.py` and runs without the GIL. Another process compiles all kernels
once (`compiling.py`) and stores them in one file (`kept.py`), which every process loads quickly (`calling.py`). A
kernel is called only if `readiness` says that the caller need not wait for a compiler. The checked, documented
functions are outside this package, and tests compare each of them with plain code.
"""

# Numbers that plain Python uses, too.

# The rank of a boundary between two symbols is the index of the merge that removes it, or one of these.
NEVER = 2**31 - 1  # no merge removes it
PATTERN_CUT = 2**31 - 2  # the pattern, or a special token, splits here

# What follows a piece of Unigram is kept in a byte, by or: different things at different times.
VARIOUS = 255
WALL, TRANSPARENT = -2, -1  # in place of a symbol's script: it is in no piece of several; it goes with any script

# Probabilities of long words leave the range of numbers: below SMALL they are lifted, multiplied by 2 ** SHIFT, which
# is exact; how often is kept beside them.
SMALL, SHIFT = 2.0**-600, 600
UNREACHED = 1 << 20  # lifts of what is nothing yet

# Where log-probabilities are added in 32 bits, SentencePiece 0.2.3 adds anew behind a place whose sum is beyond this:
# that sum is taken from those of the place and of all that tokens reach already.
LARGEST_SUM = 100_000

MOST_AT_ONCE = 128  # bytes left out, or entries listed, of a table of `bpe_core.learning.gage.block_form`
