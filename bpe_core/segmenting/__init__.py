"""The package that splits a text into tokens.

The class `Tokenizer` of `bpe_core/methods/kit` uses these modules:

text_encoder      encodes whole texts; it has the base class for the segmenters of all methods
cutting           finds special tokens, normalizes the text and splits it into words with offsets
merging           applies merges to words, and encodes texts word by word in plain Python
compiled_encoder  encodes texts by the kernels of `bpe_core/kernels/encode.py`
segmentation      the interface of a split text: it returns the tokens after any number of steps
boundaries        the segmentation of byte-pair encoding: it knows which merge removes each boundary
word_tokens       the segmentation of methods that split each word separately

The module `by_priority` splits single words in plain Python. It records what kernels do not record: where
each token ends, and which step changes the tokens next. The module `cut.py` of some methods does the same.
The window needs these records for explanations and for the colours of a text. For encoding, kernels are
faster, so these modules encode texts only until the kernels are ready.
"""
