"""Answers drawn from the full history of a training run, one small file a question.

    why_split         why is this text cut here?
    tie_ledger        what did the ties decide, and what if they had been decided otherwise?
    biography         where does a token come from, how often did it occur when, where is it used?
    contexts          in which lines of the corpus does it stand?
    reachability      can any text produce it?
    race              how did chosen pairs fare against each other, and what cut them down?
    vocabulary_size   what would another size have meant, for this text and for others?
    contributions     which words and files paid for a merge?
    encode_corpus     a whole corpus as ids in a file

Nearly all of them ask one thing, `RankedWords`: every distinct word of the corpus with the
rank of each of its boundaries. Merges inside a word happen in ascending rank, so that one
array holds the corpus as it stood after any number of merges.
"""
