"""Each method as the articles describe it: short, plain and slow; the tests hold everything fast equal to it.

Byte-pair encoding, in `bpe.py`, comes first.
"""
