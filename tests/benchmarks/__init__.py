"""Compare the speed, memory and results of the engine with other libraries, on the same text in one run.

python -m tests.benchmarks                                   the default text, everything
python -m tests.benchmarks big.txt --only train --sizes 100000 --peers gigatoken rustbpe
"""
