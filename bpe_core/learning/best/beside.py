"""What is set beside a floor: the fewest tokens by a table's own vocabulary, and what other methods make of the words.

Unigram and MinGram learn from characters. Where symbols are bytes, each byte is a character to them, so that all have
as many pieces of the same words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import NothingToLearn, SizeDoesNotFit
from bpe_core.history.alphabet import Alphabet, Spelled
from bpe_core.history.columns import DROPPED
from bpe_core.history.history import History
from bpe_core.learning.methods import UNLIMITED
from bpe_core.learning.mingram import method as mingram
from bpe_core.learning.trainer import Trainer
from bpe_core.learning.unigram import method as unigram
from bpe_core.learning.unigram.cells import Stretches, piece_cells
from bpe_core.learning.unigram.lattices import Lattices, PlainLattices
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Bools, Bytes
from bpe_core.support.progress import Work

AT_ONCE = 0.2  # seconds of learning before somebody is asked whether they still wait
BEGINNINGS = {"unigram": unigram.pieces_at_first, "mingram": mingram.pieces_at_first}


def learned_beside(
    words: WordTable, recipe: Recipe, pieces: Sequence[int], longest: int, work: Work
) -> Mapping[str, list[int | None]]:
    """Let each method learn vocabularies of so many pieces; None where it finds fewer. Return the tokens of the corpus.

    Where letters at the ends of words, or inside, are other symbols, nothing can be set beside them.
    """
    if recipe.base == "characters" and recipe.marker not in ("none", "prefix"):
        return {}
    if recipe.base == "bytes":
        words = _as_characters(words)
    marker = (
        {"marker": "none", "marker_text": "▁", "sums": "64 bits"}
        if recipe.base == "bytes" or recipe.marker == "none"
        else {}
    )
    found = dict[str, list[int | None]]()
    for name in BEGINNINGS:
        chosen = recipe.with_changes(method=name, special_tokens=(), max_token_length=longest, **marker)
        found[name] = [_learned(words, chosen, wanted, work) for wanted in pieces]
    return found


def _learned(words: WordTable, recipe: Recipe, wanted: int, work: Work) -> int | None:
    recipe = recipe.with_changes(vocab_size=len(Alphabet.for_words(words, recipe)) + wanted)
    try:
        begun = History.from_pairs(recipe, BEGINNINGS[recipe.method](words, recipe), ())
        trainer = Trainer(words, recipe, history=begun)
    except (NothingToLearn, SizeDoesNotFit):
        return None
    while not trainer.advance(seconds=AT_ONCE).finished:
        work.check()
    return int(trainer.history.tokens_after[-1])


def _as_characters(words: WordTable) -> WordTable:
    """The same words with each byte as a Latin letter, as Unigram's pieces hold letters of one script."""
    other = ~is_letter(words.text)  # which become U+0100 to U+01FF
    places = np.concatenate((np.zeros(1, np.int64), np.cumsum(other + np.int64(1))))
    text = np.empty(int(places[-1]), np.uint8)
    text[places[:-1]] = np.where(other, 0xC4 + (words.text >> 6), words.text)
    text[places[1:][other] - 1] = 0x80 | words.text[other] & 0x3F
    return WordTable(text, places[words.starts], words.counts)


def is_letter(text: Bytes) -> Bools:
    found: Bools = (text | 0x20 >= ord("a")) & (text | 0x20 <= ord("z"))
    return found


def fewest_tokens(words: WordTable, history: History, steps: Sequence[int]) -> list[int]:
    """How few tokens the words can be cut into by a table's vocabulary after each of these numbers of steps."""
    base, spelled = history.alphabet.but_seeds, list[tuple[int, ...]]()
    if history.alphabet.seed_count:
        seeds, starts = piece_cells(history.alphabet, history.recipe)
        spelled = [tuple(seeds[first:stop].tolist()) for first, stop in pairwise(starts.tolist())]
    number_of = dict[tuple[int, ...], int]()
    known = np.full(history.id_count, -1)
    for id in range(len(base), history.id_count):
        symbols = spelled[id - len(base)] if id < len(history.alphabet) else tuple(history.symbols_of(id))
        known[id] = number_of.setdefault(symbols, len(number_of)) if len(symbols) > 1 else -1
    bounds = np.cumsum([0, *map(len, number_of)])
    pieces = Spelled(np.array([symbol for piece in number_of for symbol in piece], np.int32), bounds)
    alphabet = Alphabet(base, pieces) if number_of else history.alphabet
    stretches = Stretches.of(words, alphabet, history.recipe)
    lattices = _lattices(words, stretches, alphabet, history.recipe)
    found = []
    for at in steps:
        ids = known[history.first(at).vocabulary]
        scores = np.full(len(alphabet), DROPPED, np.float32)
        scores[: len(base)] = scores[len(base) + ids[ids >= 0]] = -mingram.COST
        start = 0
        while start < len(lattices):
            start, _ = lattices.cut(start, UNLIMITED, scores)
        found.append(lattices.tokens + stretches.unknown_tokens)
    return found


def _lattices(words: WordTable, stretches: Stretches, alphabet: Alphabet, recipe: Recipe) -> Lattices:
    if not unigram.KERNELS.chooses(len(words.text)):
        return PlainLattices(stretches, alphabet, recipe)
    from bpe_core.learning.unigram.compiled import CompiledLattices  # loads machine code

    return CompiledLattices(stretches, alphabet, recipe)
