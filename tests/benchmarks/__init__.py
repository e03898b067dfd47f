"""The comparison of the engine with other libraries: speed, memory and results on the same text.

Examples of commands:

    python -m tests.benchmarks
    python -m tests.benchmarks big.txt --only train --sizes 100000 --peers gigatoken rustbpe
    python -m tests.benchmarks English.txt code.c --only encode --vocabulary cl100k_base.tiktoken

Without arguments, all measurements are made on the default text.
"""
