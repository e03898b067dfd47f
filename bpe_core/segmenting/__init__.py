"""The package that splits a text into tokens. The module `tokenizer.py` uses all its modules:

text_encoder      encodes a whole text by kernels or by a specification; the segmenters of methods derive from it
cutting           finds the special tokens of a text, normalizes the text and splits it into words, with offsets
merging           applies merges to words, and encodes texts word by word in plain Python
compiled_encoder  encodes texts by the kernels of `bpe_core/kernels/encode.py`
segmentation      the interface of a split text: each tokenizer returns the tokens after k steps
boundaries        the segmentation of methods that join pairs: the merge that removes each boundary of a text
word_tokens       the segmentation of methods that split each word separately

The module `by_priority` splits single words and records what kernels do not record: where each token ends, and which
step changes the tokens next. Some methods do the same in their `cut.py`. The window uses this for explanations and for
the colours of a text. It does not replace the kernels: kernels encode texts, and this code encodes texts only until the
kernels are ready.
"""
