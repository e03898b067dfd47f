"""A comparison of a floor with the numbers of tokens that several training methods need for the same words.

A floor is a lower bound on the number of tokens that a vocabulary of the same size needs.

The methods choose among pieces that consist of characters. If the base symbols of the words are bytes, each byte is
represented by a character. So all methods learn pieces from the same words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled, NothingToLearn, SizeDoesNotFit
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.insight.witnesses import FloorTask, unchanged
from bpe_core.methods.kit.floor.witness import Witness
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Bools, Bytes
from bpe_core.support.progress import Work

AT_ONCE = 0.2  # seconds of learning between two checks for cancellation


@dataclass(frozen=True)
class OtherResult:
    """The result of a method on a corpus: the number of tokens, and the vocabulary.

    The vocabulary is a witness: it proves that this number of tokens is enough.
    """

    tokens: int
    witness: Witness | None


def other_methods_results(
    task: FloorTask, pieces: Sequence[int], work: Work, seconds: float = math.inf
) -> tuple[Mapping[str, list[OtherResult | None]], list[str]]:
    """Return the results of each method whose steps drop pieces, as a dictionary from the method's name.

    There is one result for each number in `pieces`. It is None if the method cannot learn so many pieces. If the
    symbols have a marker for the end or the inside of a word, the methods cannot be compared. Then the dictionary is
    empty.

    Also return the names of the methods that did not learn all numbers of pieces within `seconds`. They have no
    results.
    """
    words = task.words
    recipe = task.recipe
    if recipe.base == "characters" and recipe.marker not in ("none", "prefix"):
        return {}, []
    read = unchanged
    if recipe.base == "bytes":
        words = _as_characters(words)
        read = _as_byte
    marker = (
        {"marker": "none", "marker_text": "▁", "sums": "64 bits"}
        if recipe.base == "bytes" or recipe.marker == "none"
        else {}
    )
    results = dict[str, list[OtherResult | None]]()
    late = list[str]()
    choosing = [name for name, method in METHODS.items() if method.looks_tokens_up and method.single == "drop"]
    for name in choosing:
        chosen = recipe.with_changes(method=name, special_tokens=(), max_token_length=task.longest, **marker)
        limited = work.limited_to(seconds)
        try:
            learned = [_history_of_method(words, chosen, wanted, limited) for wanted in pieces]
        except Cancelled:
            work.check()
            late.append(name)
            continue
        results[name] = [
            None
            if history is None
            else OtherResult(int(history.tokens_after[-1]), task.witness(history, wanted, read, work))
            for history, wanted in zip(learned, pieces, strict=True)
        ]
    return results, late


def _history_of_method(words: WordTable, recipe: Recipe, wanted: int, work: Work) -> History | None:
    recipe = recipe.with_changes(vocab_size=len(Alphabet.for_words(words, recipe)) + wanted)
    try:
        alphabet = Method.of(recipe).pieces_at_first(words, recipe)
        if alphabet is None:
            return None
        begun = History.from_pairs(recipe, alphabet, ())
        trainer = Trainer(words, recipe, history=begun, cancelled=work.cancelled, progress=work.progress)
    except (NothingToLearn, SizeDoesNotFit):
        return None
    while not trainer.advance(seconds=AT_ONCE).finished:
        work.check()
    return trainer.history


def _as_characters(words: WordTable) -> WordTable:
    """Return the words with each byte written as a Latin letter.

    A method may allow only pieces with letters of one script, so all bytes need letters of the same script.
    """
    other = ~is_letter(words.text)  # bytes become U+0100 to U+01FF
    places = np.concatenate((np.zeros(1, np.int64), np.cumsum(other + np.int64(1))))
    text = np.empty(int(places[-1]), np.uint8)
    text[places[:-1]] = np.where(other, 0xC4 + (words.text >> 6), words.text)
    text[places[1:][other] - 1] = 0x80 | words.text[other] & 0x3F
    return WordTable(text, places[words.starts], words.counts)


def _as_byte(text: bytes) -> bytes:
    return bytes([ord(text.decode()) & 0xFF]) if len(text.decode()) == 1 else text


def is_letter(text: Bytes) -> Bools:
    mask: Bools = (text | 0x20 >= ord("a")) & (text | 0x20 <= ord("z"))
    return mask
