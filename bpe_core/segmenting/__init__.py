"""From a text to its tokens: what stands behind the face in `bpe_core/segmenting/tokenizer.py`.

text_encoder      a whole text; chooses one of the two encoders
cutting           its special tokens, normalization and words, with their places
plain_encoder     word by word in plain Python:
    spelling          a word as base symbols, and how many bytes each of them covers
    merging           the merges applied to it
compiled_encoder  the same with the kernels of `bpe_core/kernels/encode.py`
segmentation      the question every tokenizer answers: how is this text cut after k steps?
boundaries        the answer where pairs are joined: which merge dissolves each boundary of a text
hidden_symbols    those of its symbols that cover no byte
word_tokens       the answer where every word is cut by itself, by whatever rule
greedy            the other inference: the longest token that fits
encode_corpus     a whole corpus as ids in a file
"""
