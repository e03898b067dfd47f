"""The way from a text to its tokens: everything behind `tokenizer.py`.

text_encoder      a whole text by byte-pair encoding; chooses one of the two encoders
cutting           its special tokens, normalization and words, with their places
merging           the merges applied to words, and texts encoded word by word in plain Python
compiled_encoder  the same with the kernels of `bpe_core/kernels/encode.py`
segmentation      the question every tokenizer answers: how is this text cut after k steps?
boundaries        the answer where pairs are joined: which merge dissolves each boundary of a text
word_segmenters   the answer of methods that cut every word by itself; `word_tokens` places the tokens
encode_corpus     a whole corpus as ids in a file
"""
