"""What can be said of tokenizers in numbers; arguments are tokenizers and texts, by the names you give them.

    benchmark      bpe.benchmark(tokenizers, texts): any number of both, all measures, every figure counted
    parity         bpe.parity(tokenizers, parallel): what the same sentences cost in each language
    morphemes      bpe.morpheme_agreement(tokenizers, lists): whether cuts stand at borders of morphemes
    size_curves    what every size of one vocabulary means for a text, where pairs are joined
    measured_sizes the same of some sizes, by any method
    bits_per_byte  held-out bits per byte of a small model, by size

A tokenizer is what `train` returned, a `Tokenizer`, what `open_table` found in a file, or a pair of one of these and
the number of steps after which it is meant. A text is a string or documents: a list, or a column of a data frame.
What comes back has `columns`, which data frames take as they are:

    >>> import bpe_core as bpe
    >>> history = bpe.train(bpe.Corpus.from_texts(["low low lower"]), bpe.Recipe.preset("gpt2", merges=2))
    >>> found = bpe.benchmark({"ours": history, "bytes": (history, 0)}, {"a text": "low", "another": ["lower", "slow"]})
    >>> found.columns["tokens"].tolist(), found.columns["bytes_per_token"].round(2).tolist()
    ([1, 5, 3, 9], [3.0, 1.8, 1.0, 1.0])

`pandas.DataFrame(found.columns)` and `polars.DataFrame(found.columns)` are tables of it. Curves over the sizes of
many tokenizers are told by `bpe.overlay`, and what runs and texts tell otherwise by `bpe_core.tables`.
"""
