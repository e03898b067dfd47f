"""Measure tokenizers.

    benchmark      any number of them and of texts, all measures, every figure counted
    parity         what the same sentences cost in each language
    morphemes      whether cuts fall on borders of morphemes
    size_curves    what each size of one vocabulary means for a text
    bits_per_byte  held-out bits per byte of a small model, by size

The questions in `bpe_core/questions` ask for them; `measures.py` says what each means.
"""
