"""From a text to its tokens: what stands behind the face in `bpe_core/tokenizer.py`.

cutting        a text, its special tokens apart, normalized and split into words with their places
spelling       a word as base symbols, and how many bytes each of them covers
merging        the merges applied to one word, in plain Python
greedy         the other inference: the longest token that fits
boundaries     which merge dissolves each boundary of a text, and so its tokens at every moment
token_texts    what each token stands for, for decoding
"""
