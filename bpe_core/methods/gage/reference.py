"""A plain and slow reference for the compressor of Philip Gage (1994), from which byte-pair encoding was developed.

**Compressing.** A text is divided into blocks. In each block, count every pair of neighbouring bytes, and replace the
most frequent pair by a byte that does not occur in the block. Repeat this until no pair saves more than its entry in
the table costs. The byte that represents a pair may be a part of other pairs. By hand, on eleven bytes:

    a a a b d a a a b a c      a+a occurs 4 times (overlaps count): Z = aa
    Z a b d Z a b a c          Z+a twice, a+b twice: a tie, which a rule must decide; Y = ab
    Z Y d Z Y a c              Z+Y twice: X = ZY
    X d X a c                  no pair occurs twice any more

    >>> words = WordTable.from_counts({"aaabdaaabac": 1})
    >>> history = train(words, Recipe.preset("gage", min_frequency=2, ties="lowest-ids"))
    >>> [(step.left, step.right, step.index, step.reasons["byte"]) for step in history]  # last: the byte for the pair
    [(97, 97, 256, 255), (97, 98, 257, 254), (256, 257, 258, 253)]

As in byte-pair encoding, each step makes a token with an id from 256 on, independent of the byte that represents it.
The next block begins with an empty table, but its ids follow the ids of the block before.

A text can also consist of other symbols than bytes, such as musical notes. Then the symbols of each block are numbered
in ascending order, and each symbol is written as its number.

**Expanding.** Each byte that represents a pair is replaced by the pair, until no such byte is left. So nothing is lost.

    >>> expand({255: (97, 97), 254: (97, 98), 253: (255, 254)}, bytes([253, 100, 253, 97, 99]))
    b'aaabdaaabac'
"""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.methods.bpe.reference import NOBODY, TokenBook, Word, allowed, as_history, count_pairs, join, ranked
from bpe_core.methods.gage.block_form import KINDS, CompressedBlock, write_block
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import Pair


class _Block:
    def __init__(self, symbols: Word, times: int, number: int, *, are_bytes: bool) -> None:
        self.tokens: Word = list(symbols)
        self.times = times
        self.number = number
        # Other symbols than bytes are numbered in their order, and written as these numbers.
        self.byte_of = {symbol: symbol if are_bytes else place for place, symbol in enumerate(sorted(set(symbols)))}
        self.pairs: dict[int, Pair] = {}  # from the byte that represents a pair to the pair

    @property
    def data(self) -> bytes:
        return bytes(self.byte_of[token] for token in self.tokens)

    def size(self) -> int:
        return len(write_block(self.pairs, self.data))


def train(words: WordTable, recipe: Recipe) -> History:
    """Compress block after block until the vocabulary is full.

    A block is finished when no pair is frequent enough to pay for its table entry, or when no byte is left for a pair.
    """
    alphabet = Alphabet.for_words(words, recipe)
    return compress(divide_into_blocks(words, recipe, alphabet), alphabet, recipe)


def compressed_blocks(data: bytes, recipe: Recipe) -> list[CompressedBlock]:
    """Return the blocks of a text after all steps.

    >>> recipe = Recipe.preset("gage", min_frequency=2, ties="lowest-ids")
    >>> [(block.pairs, list(block.data)) for block in compressed_blocks(b"aaabdaaabac", recipe)]
    [({255: (97, 97), 254: (97, 98), 253: (255, 254)}, [253, 100, 253, 97, 99])]
    """
    blocks = divide_into_blocks(WordTable.from_counts([(data, 1)]), recipe, Alphabet.of_bytes())
    starts = [0, *accumulate(len(block.tokens) for block in blocks)]
    compress(blocks, Alphabet.of_bytes(), recipe.with_changes(merges=len(data), vocab_size=None))
    return [
        CompressedBlock(*ends, block.pairs, block.data) for ends, block in zip(pairwise(starts), blocks, strict=True)
    ]


def compress(blocks: list[_Block], alphabet: Alphabet, recipe: Recipe) -> History:
    at_start = count_tokens(blocks)
    tokens = TokenBook(alphabet)
    limit = recipe.merge_limit(len(alphabet))
    rows: list[tuple[int, ...]] = []
    reasons: list[tuple[int, ...]] = []
    for block in blocks:
        while len(rows) < limit and len(set(block.byte_of.values())) < 256:
            corpus = [(block.tokens, block.times)]
            ranking = ranked(allowed(count_pairs(corpus), tokens, recipe), tokens, recipe)
            paying = [(pair, count) for pair, count in ranking if count >= recipe.min_frequency * block.times]
            if not paying:
                break
            (pair, count), (runner_up, runner_up_count) = [*paying, NOBODY][:2]
            byte = replace(block, pair, tokens.add(pair))
            rows.append((*pair, count, *runner_up, runner_up_count, count_tokens(blocks)))
            reasons.append((block.number, byte, sum(block.size() * block.times for block in blocks)))
    full = len(rows) == limit
    reason_columns = zip(*reasons, strict=True) if reasons else ((), (), ())
    columns = {name: np.array(column, kind) for (name, kind), column in zip(KINDS.items(), reason_columns, strict=True)}
    return as_history(rows, recipe, alphabet, at_start, "vocabulary full" if full else "nothing pays", reasons=columns)


def divide_into_blocks(words: WordTable, recipe: Recipe, alphabet: Alphabet) -> list[_Block]:
    """Divide all words into blocks that are not too long and do not have too many different bytes or other symbols.

    >>> recipe = Recipe.preset("gage", block_size=4, block_bytes=2)
    >>> blocks = divide_into_blocks(WordTable.from_counts({"aababc": 1}), recipe, Alphabet.of_bytes())
    >>> [bytes(block.tokens) for block in blocks]
    [b'aaba', b'bc']
    """
    blocks: list[_Block] = []
    are_bytes = recipe.base == "bytes"
    for word, times in words:
        block: Word = []
        for symbol in alphabet.symbols_of(word, recipe):
            taken = [*block, symbol]
            if len(taken) > recipe.block_size or len(set(taken)) > recipe.block_bytes:
                blocks.append(_Block(block, times, len(blocks), are_bytes=are_bytes))
                taken = [symbol]
            block = taken
        blocks.append(_Block(block, times, len(blocks), are_bytes=are_bytes))
    return blocks


def replace(block: _Block, pair: Pair, token: int) -> int:
    """Replace a pair in a block.

    In the block's tokens, the pair becomes `token`. In the block's bytes, it becomes the highest unused byte. Return
    this byte.
    """
    byte = max(set(range(256)) - set(block.byte_of.values()))
    left, right = (block.byte_of[half] for half in pair)
    block.tokens = join(block.tokens, pair, token)
    block.byte_of[token] = byte
    block.pairs[byte] = left, right
    return byte


def count_tokens(blocks: list[_Block]) -> int:
    return sum(len(block.tokens) * block.times for block in blocks)


def expand(pairs: dict[int, Pair], data: bytes) -> bytes:
    """Replace each byte that represents a pair by the pair, again and again, until only plain bytes are left."""
    expanded = bytearray()
    waiting = list(reversed(data))
    while waiting:
        byte = waiting.pop()
        if byte in pairs:
            waiting += reversed(pairs[byte])
        else:
            expanded.append(byte)
    return bytes(expanded)
