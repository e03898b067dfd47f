"""The small jobs that run every kernel once, so that all machine code is made.

The jobs run in parts, in the order in which the program needs their code. Each job calls the same functions as real
work, because only these functions pass arguments of the exact types.
"""

from __future__ import annotations

from functools import partial
from typing import get_args

import numpy as np

from bpe_core.counting.counter import Counter, count_compiled
from bpe_core.counting.words import WordColumns, WordTable, join_by_kernels
from bpe_core.formats.compiled_pieces import UsualPieces
from bpe_core.formats.compiled_recovering import FEW, parts_of
from bpe_core.formats.compiled_rows import written_rows
from bpe_core.formats.rows import Layout
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import Columns, History
from bpe_core.history.joining import MergePriorities, PairRows
from bpe_core.kernels import learn_queue, learn_score, scan, stored_code
from bpe_core.measures.compiled_bits import Cells, follow_joins
from bpe_core.measures.texts_in_words import counts_of_tokens
from bpe_core.methods.kit.compiled_pairs import CompiledLearner
from bpe_core.methods.kit.encoded_pieces import with_eos
from bpe_core.methods.kit.floor.lattice import Lattice
from bpe_core.methods.kit.floor.prices import FloorPrices
from bpe_core.methods.kit.floor.vocabulary import Vocabulary
from bpe_core.methods.kit.layout import lay_out
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.warm_up import LONG_WORD, PAIRS, TEXT, WORDS, small_inputs
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.array_splitter import FlatWords, array_splitter
from bpe_core.segmenting.by_priority import JoinedWords
from bpe_core.segmenting.changed_texts import ChangedTexts
from bpe_core.segmenting.compiled_encoder import WORDS_AT_FIRST, CompiledEncoder
from bpe_core.segmenting.compiled_methods import CompiledPriorities
from bpe_core.segmenting.compiled_ranks import CompiledRanks
from bpe_core.segmenting.compiled_runs import CompiledSuperwords, StepKernel
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.decoding import TokenTable
from bpe_core.segmenting.segmentation import Width
from bpe_core.segmenting.text_pairs import JoinedTexts
from bpe_core.text.preparation.pre_tokenizers import ByteLevel
from bpe_core.text.preparation.whole_texts import Marks, WholeTexts
from bpe_core.text.reading.plain_text import NumberedLines
from bpe_core.text.reading.source import Chunk
from bpe_core.text.reading.text_tables import texts_of_ordinary_rows
from bpe_core.text.reading.utf8 import first_invalid
from bpe_core.text.scanner import table_for


def _count() -> None:
    """Count so many different short and long words that every table of the counters must grow."""
    words = "".join(f" {i} {i:09}" for i in range(26_000)).encode()
    table = table_for("gpt2")
    assert table is not None
    count_compiled([Chunk(words, False), Chunk(words, True)], table, threads=2, block_size=len(words))
    Counter(table).add(Counter(table))  # whether threads reach this depends on their speed
    first_invalid(memoryview(bytearray(words)))
    rows = NumberedLines([Chunk(b'{"text": "low"}\n', True)], "")
    list(texts_of_ordinary_rows(rows, "text", len(words)))
    join_by_kernels([WordColumns.of([b"low", b"new"]), WordColumns.of([b"new"])])
    nothing = np.zeros(0, np.int64)
    counts_of_tokens(nothing, nothing, nothing, nothing, 0)


def _open() -> None:
    """Run the kernels that open and write files. They search for the parts of tokens, and write rows."""
    parts_of([b"lo", b"low", b"old" * FEW])  # tokens that no two parts make
    pairs = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), PAIRS)
    JoinedTexts(pairs, np.zeros(pairs.first_special, np.int64)).found(108, 111)
    UsualPieces(bytes(9), 6, 1).skip(0)
    history = History.from_pairs(Recipe.preset("gpt2", merges=1), Alphabet.of_bytes(), PAIRS[:1])
    list(written_rows(history, Layout({"step": "", "token": ","}, "\n", "", str), None))


def _measure() -> None:
    """Run the kernels that questions use, and kernels that are otherwise called only from tests."""
    _rank()
    _call_inner()


def _call_inner() -> None:
    """Call kernels that are otherwise called only from other kernels and from tests."""
    table = table_for("gpt2")
    one = np.int64(1)
    assert table is not None
    machine = scan.machine_of(table)
    registers = np.zeros(scan.REGISTERS, np.int64)
    cuts = np.empty(99, np.int32)
    end = scan.scan(machine, np.frombuffer(bytearray(32), np.uint8), np.int64(9), registers, cuts, np.int64(0))
    scan.end_text(machine, registers, cuts, np.int64(end))
    learn_queue.level_of(one)
    learn_score.compare_products(one, one, one, one)
    learn_score.compare_scores(one, one, one, one, one, one)


def _learn() -> None:
    """Run the learner in the usual way, and with the features that only long runs or large alphabets need."""
    recipe = Recipe.preset("gpt2", merges=8)
    alphabet = Alphabet.for_words(WORDS, recipe)
    learner = CompiledLearner(WORDS, alphabet, recipe, None)
    columns = Columns.with_room(8)
    learner.learn(columns, 4, 1000)
    learner.candidates(3)
    learner.tidy_arena()
    history = History(recipe, alphabet, columns.first(learner.learned))
    CompiledLearner(WORDS, alphabet, recipe, history).learn(Columns.with_room(8), 8, 1000)
    CompiledLearner(WORDS, alphabet, recipe, None, threads=2).learn(Columns.with_room(8), 8, 1000)
    words = WordTable.from_counts({"".join(map(chr, range(0x4E00, 0x5300))): 1})
    recipe = Recipe.preset("words")
    CompiledLearner(words, Alphabet.for_words(words, recipe), recipe, None, room=2)


def _learn_best() -> None:
    """Compute prices for many different pieces, so that the table of pieces is enlarged at least once."""
    words = WordTable.from_counts({f"{i}{i}": 1 for i in range(3_000)})
    lattice = Lattice.of(words, Alphabet.of_bytes(), Recipe.preset("gpt2"), longest=8)
    pricing = FloorPrices(lattice, 9, 20_000, 1.0)
    pricing.round(0.0)
    pricing.begin_couples(0.5)
    pricing.round(0.5)
    Vocabulary.wished(lattice, lattice.counts, 9)


def _rank() -> None:
    history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), PAIRS)
    layout = lay_out(WORDS, history.alphabet, history.recipe)
    ranks = CompiledRanks(history).of(layout.symbols)
    edge = np.int32(history.index_count)
    ids = np.where(layout.symbols < 0, edge, layout.symbols)
    first = np.zeros(len(history) + 1, np.int64)
    cells = Cells(ids, np.zeros(len(ids), np.int32), first, ranks)
    list(follow_joins(cells, small_inputs(WORDS, history), history, slots=4))


def _encode() -> None:
    recipe = Recipe.preset("gpt2", merges=2)
    history = History.from_pairs(recipe, Alphabet.of_bytes(), PAIRS)
    encoder = CompiledEncoder(history, Cutting(recipe))
    many_words = " ".join(map(str, range(2 * WORDS_AT_FIRST)))  # enough words for the memory to grow
    for text in (TEXT, LONG_WORD, many_words):
        encoder.ids(text, 2)
        encoder.byte_ranks(text)
        encoder.symbols(text)
    laid = array_splitter((ByteLevel(),))
    assert laid is not None
    words = laid.of(TEXT)
    encoder.ids_of_words(words.data, words.cuts, 2)
    changes = ChangedTexts(WholeTexts(None, Marks()))
    changes.of(np.frombuffer(TEXT.encode(), np.uint8), np.array([0, 3]))
    encoder.ids_of_short(TEXT, 2, changes.table)
    CompiledRanks(history).of(lay_out(WORDS, history.alphabet, recipe).symbols)
    _join_by_priorities([TEXT, LONG_WORD, many_words], words)
    data = np.frombuffer(bytearray(TEXT.encode()), np.uint8)
    CompiledSuperwords(history, Cutting(recipe)).ids_of_texts(data, np.array([0, len(data)]), 2)
    StepKernel(history, np.array([False, True])).of(np.array([256, 119], np.int32), np.array([0, 2]), 2)
    TokenTable(history, skip_special=False).with_offsets(np.array([257, 108]))
    for width in get_args(Width):
        with_eos(np.zeros(2, np.uint32), np.array([1]), 1, np.dtype(width), by_kernel=True)


def _join_by_priorities(texts: list[str], words: FlatWords) -> None:
    recipe = Recipe.preset("gpt2", merges=2)
    rows = PairRows(*np.array([(256, 119, 257), (108, 111, 256)]).T)  # lo+w comes before l+o
    joining = MergePriorities(pairs=rows, whole_words=True)
    history = History.from_pairs(recipe, Alphabet.of_bytes(), PAIRS, joining)
    encoder = CompiledPriorities(JoinedWords(history), Cutting(recipe))
    for text in texts:
        encoder.ids(text, 2)
    encoder.ids_of_words(words.data, words.cuts, 2)


_WORK = {
    stored_code.COUNTING: _count,
    stored_code.LEARNING: _learn,
    stored_code.ENCODING: _encode,
    stored_code.OPENING: _open,
    stored_code.MEASURING: _measure,
    stored_code.PRICING: _learn_best,
}


def run_part(part: str) -> None:
    """Run the kernels of one part of the machine code: the common kernels, and the kernels of each method."""
    own = (method.warm_up.get(part) for method in METHODS.own.values() if isinstance(method, Method))
    for work in dict.fromkeys((_WORK.get(part), *own)):
        if work is not None:
            work()


PARTS = {part: partial(run_part, part) for part in stored_code.PARTS}
