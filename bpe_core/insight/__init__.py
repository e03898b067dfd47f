"""Answers drawn from the full history of a training run, one small file a question.

    why               why is this text cut here?
    ties              what did the ties decide?
    table_comparison  where do two tables part ways, and why?
    token_life        where does a token come from, how often did it occur when, where is it used?
    contexts          in which lines of the corpus does it stand?
    reachability      can any text produce it?
    race              how did chosen pairs fare against each other, and what cut them down?
    contributions     which words and files paid for a merge?

Nearly all of them ask one thing, `RankedWords`: every distinct word of the corpus with the
rank of each of its boundaries. Merges inside a word happen in ascending rank, so that one
array holds the corpus as it stood after any number of merges.

`bpe_core.tables` gives the answers as columns, of tokenizers and texts:

    >>> from bpe_core import Corpus, Recipe, tables, train
    >>> history = train(Corpus.from_texts(["low low lower"]), Recipe.preset("gpt2", merges=2))
    >>> tables.ranks(history, "slow low").columns["text"]
    ['low', '␣', 's']
"""
