"""The vocabularies that prove that some words can be covered by few tokens. Such a vocabulary is called a witness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.insight.ways_of_corpus import fewest_tokens_by
from bpe_core.insight.word_lattice import token_symbols
from bpe_core.methods.kit.floor.witness import Piece, Witness
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import ALONE, Work


def unchanged(text: bytes) -> bytes:
    return text


@dataclass(frozen=True, eq=False)
class FloorTask:
    """The conditions under which vocabularies are compared: the words, the base symbols, and the largest length of a
    piece."""

    words: WordTable
    alphabet: Alphabet
    recipe: Recipe
    longest: int
    other_tokens: int = 0  # tokens for unknown characters

    def witness(
        self, history: History, wanted: int, read: Callable[[bytes], bytes] = unchanged, work: Work = ALONE
    ) -> Witness | None:
        """Return the vocabulary of a history as a witness, with the number of tokens that it needs for the words.

        A witness proves that no more tokens than this number are necessary.

        Pieces with more symbols than `longest`, the limit of this task, are left out. Return None if more than `wanted`
        pieces remain. `read` converts the text of a symbol in the history to its text in the task's `alphabet`.
        """
        pieces = pieces_of(history, self.alphabet, read)
        short = tuple(piece for piece in pieces if len(piece) <= self.longest)
        if len(short) > wanted:
            return None
        fewest = fewest_tokens_by(short, self.words, self.alphabet, self.recipe, work)
        return Witness(fewest + self.other_tokens, short)


def pieces_of(history: History, alphabet: Alphabet, read: Callable[[bytes], bytes]) -> list[Piece]:
    """Return the pieces of a history that the symbols of an alphabet can spell."""
    number_of = {symbol.text: number for number, symbol in enumerate(alphabet.but_seeds) if symbol.merges}
    own = [number_of.get(read(symbol.text), -1) for symbol in history.alphabet.but_seeds]
    pieces = {tuple(own[symbol] for symbol in symbols) for symbols in token_symbols(history) if len(symbols) > 1}
    return sorted(piece for piece in pieces if min(piece) >= 0)
