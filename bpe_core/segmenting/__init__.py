"""The way from a text to its tokens: all parts that `tokenizer.py` uses.

text_encoder      encodes a whole text by byte-pair encoding; chooses one of the two encoders
cutting           finds the special tokens of a text, normalizes it and splits it into words, with offsets
merging           applies merges to words, and encodes texts word by word in plain Python
compiled_encoder  does the same with the kernels of `bpe_core/kernels/encode.py`
segmentation      the question every tokenizer answers: how is this text cut after k steps?
boundaries        the answer of methods that join pairs: which merge removes each boundary of a text
word_segmenters   the answer of methods that cut every word by itself; `word_tokens` finds the tokens' offsets
encode_corpus     a whole corpus as ids in a file
"""
