"""Answers drawn from the full history of a training run.

    explanation       why is this text cut here?
    pairs             how did pairs fare against each other, and what did ties decide?
    table_comparison  where do two tables part ways, and why?
    side_by_side      what do several tokenizers cut differently, and which tokens do they share?
    token_life        where does a token come from, how often did it occur when, where is it used?
    contexts          in which lines of the corpus does it occur?
    reachability      can any text produce it?
    audit             which tokens deserve a second look?

Many of them use `RankedWords`: every distinct word of the corpus with the rank of each of its boundaries. Merges inside
a word happen in ascending rank, so that one array holds the corpus after any number of merges.

The questions in `bpe_core/questions` put these answers into tables, sentences and figures.
"""
