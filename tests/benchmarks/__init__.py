"""The comparison of the engine with other libraries: speed, memory and results, with the same text in one run.

python -m tests.benchmarks                                   the default text, everything
python -m tests.benchmarks big.txt --only train --sizes 100000 --peers gigatoken rustbpe
python -m tests.benchmarks English.txt code.c --only encode --vocabulary cl100k_base.tiktoken
"""
