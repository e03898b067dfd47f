"""The tables behind the charts that are of one moment of a run, or of many runs; each loads what it is made by."""

from __future__ import annotations

import argparse

import bpe_core as bpe
from bpe_core.command_line.corpora import reading
from bpe_core.command_line.questions import has_texts, reading_texts, words_or_own
from bpe_core.command_line.tables import open_each, open_table
from bpe_core.data_table import DataTable
from bpe_core.errors import BpeError
from bpe_core.exact import of_run
from bpe_core.exact.tokens import TokenColumns
from bpe_core.learning.methods import Method, has_ranks
from bpe_core.sweep.results import MEASURES as MEASURES_OF_RUNS

LETTERS = "ABCD"
BITS, OF_MORPHEMES = "bits_per_byte", "morpheme_"

__all__ = ["MEASURES_OF_RUNS", "lab", "leading", "of_blocks", "of_many_runs", "tree_of"]


def leading(words: bpe.WordTable, history: bpe.History, at: int, tokens: TokenColumns) -> DataTable:
    """All that could be done after so many steps."""
    from bpe_core.insight.leading_pairs import leading_pairs

    return of_run.pairs(leading_pairs(words, history, at), history, at, tokens)


def of_blocks(words: bpe.WordTable, history: bpe.History, tokens: TokenColumns) -> DataTable:
    if not Method.of(history.recipe).starts_anew:
        raise BpeError("Blocks are of Gage's compressor; this table was learned by another method.")
    from bpe_core.gage_file.others import sizes_of_texts
    from bpe_core.insight.gage_blocks import blocks_of_run

    start = blocks_of_run(words, history.recipe).size_at_start
    return of_run.blocks(history, start, sizes_of_texts(words), tokens)


def tree_of(options: argparse.Namespace, history: bpe.History, at: int, tokens: TokenColumns) -> DataTable:
    if not options.text:
        raise BpeError("Which word? Name it with --text, or a text that holds it, and with --byte where it stands.")
    if not has_ranks(history):
        raise BpeError("Words have merge trees only where they are cut by merges; not by this table.")
    from bpe_core.exact import of_trees
    from bpe_core.insight.why import Why

    word = Why(options.text, history, allowed_special="all").word_at(options.byte)
    return of_trees.tree(word, at, history, tokens)


def of_many_runs(options: argparse.Namespace) -> DataTable:
    """Each table, or each run of one session, at many sizes of its vocabulary."""
    from bpe_core.sweep.overlay import overlay
    from bpe_core.sweep.samples import samples_of

    opened = open_each(options.tables)
    if has_texts(options) == bool(options.held_out):
        raise BpeError(
            "The curves of many runs are drawn by texts that are measured: name them with --corpus, or with --held-out "
            "those that no run has learned from."
        )
    with reading(options.held_out) if options.held_out else reading_texts(options) as corpus:
        documents = list(corpus.documents())
    learned = {name: one.words for name, one in opened.items() if one.words is not None}
    morphemes = None
    if options.measure.startswith(OF_MORPHEMES):
        from bpe_core.measures.morphemes import own_lists, read_morphemes

        chosen, own = options.list or "en", own_lists()
        morphemes = own[chosen] if chosen in own else read_morphemes(chosen)
    histories = {name: one.history for name, one in opened.items()}
    return overlay(
        histories,
        documents,
        learned=learned if options.measure == BITS else {},
        is_held_out=bool(options.held_out),
        morphemes=morphemes,
        samples=samples_of({name: (one.history.recipe, one.texts) for name, one in opened.items()}),
    )


def lab(options: argparse.Namespace) -> DataTable:
    """Two to four, each by a letter, on the same words."""
    from bpe_core.exact import of_texts
    from bpe_core.insight.cut_words import CutWords, whose_words
    from bpe_core.measures.measured_sizes import measured_sizes

    if not 2 <= len(options.tables) <= len(LETTERS):
        raise BpeError(f"The lab holds two to four tokenizers, not {len(options.tables):,}; name as many files.")
    opened = [open_table(table) for table in options.tables]
    place = 0 if has_texts(options) else whose_words([(one.words, one.history.recipe) for one in opened])
    source = opened[place or 0]
    words, recipe = words_or_own(options, source, "The chart lab"), source.history.recipe
    cuts = (CutWords.of(words, recipe, one.history) for one in opened)
    return of_texts.sizes({letter: measured_sizes(cut) for letter, cut in zip(LETTERS, cuts, strict=False)})
