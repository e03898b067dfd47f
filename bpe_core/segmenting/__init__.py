"""From a text to its tokens: what stands behind the face in `bpe_core/segmenting/tokenizer.py`.

text_encoder      a whole text; chooses one of the two encoders
cutting           its special tokens, normalization and words, with their places
plain_encoder     word by word in plain Python:
    spelling          a word as base symbols, and how many bytes each of them covers
    merging           the merges applied to it
compiled_encoder  the same with the kernels of `bpe_core/kernels/encode.py`
boundaries        which merge dissolves each boundary of a text, and so its tokens at every moment
greedy            the other inference: the longest token that fits
token_texts       what each token stands for, for decoding
"""
