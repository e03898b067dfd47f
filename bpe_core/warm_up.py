"""Run every kernel once on a tiny job, so that all machine code is there; in parts, in the order of need.

Each job goes through the same doors as real work, as only these know the exact types of the arguments.
"""

from __future__ import annotations

import numpy as np

from bpe_core.counting.counter import Counter, count_compiled
from bpe_core.counting.words import WordColumns, WordTable, join_by_kernels
from bpe_core.formats.compiled_pieces import UsualPieces
from bpe_core.formats.compiled_recovering import FEW, parts_of
from bpe_core.formats.compiled_rows import written_rows
from bpe_core.formats.rows import Layout
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import Columns, History
from bpe_core.history.joining import Joining, PairRows
from bpe_core.kernels import kept, learn_queue, learn_score, scan
from bpe_core.measures.compiled_bits import Cells, Wanted, follow_joins, follow_words
from bpe_core.measures.texts_in_words import counts_of_tokens
from bpe_core.methods.boundless.compiled_dropping import CompiledDropping
from bpe_core.methods.gage.compiled import CompiledLearner as CompressingLearner
from bpe_core.methods.gage.compiled import compressed_blocks
from bpe_core.methods.kit.best_paths import BestPaths
from bpe_core.methods.kit.compiled_lattices import CompiledLattices, repeated
from bpe_core.methods.kit.compiled_pairs import CompiledLearner
from bpe_core.methods.kit.floor.lattice import Lattice
from bpe_core.methods.kit.floor.prices import Pricing
from bpe_core.methods.kit.floor.vocabulary import Vocabulary
from bpe_core.methods.kit.layout import lay_out
from bpe_core.methods.kit.seeds import seeded
from bpe_core.methods.parity.compiled import CompiledFollower
from bpe_core.methods.unigram.learner import UnigramLearner
from bpe_core.methods.wordpiece.compiled import CompiledScoreLearner
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.by_priority import JoinedWords
from bpe_core.segmenting.changed_texts import ChangedTexts
from bpe_core.segmenting.compiled_encoder import CompiledEncoder
from bpe_core.segmenting.compiled_methods import CompiledPaths, CompiledPriorities, compiled_pieces
from bpe_core.segmenting.compiled_runs import CompiledSuperwords, FollowedTokens
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.laid_words import Laid, laid_words
from bpe_core.segmenting.merging import compiled_ranks
from bpe_core.segmenting.remembered_words import WORDS_AT_FIRST
from bpe_core.segmenting.text_pairs import JoinedTexts
from bpe_core.segmenting.word_pieces import LongestPieces
from bpe_core.text.preparation.pre_tokenizers import ByteLevel
from bpe_core.text.preparation.whole_texts import Marks, WholeTexts
from bpe_core.text.reading.source import Chunk
from bpe_core.text.reading.utf8 import first_invalid
from bpe_core.text.scanner import table_for

_TEXT = "low lower lowest newest widest "
_WORDS = WordTable.from_counts(dict.fromkeys(_TEXT.split(), 3))
_PAIRS = [(108, 111), (256, 119)]  # l+o, lo+w


def _count() -> None:
    """Count enough different words, short and long, that every table must grow."""
    words = "".join(f" {i} {i:09}" for i in range(26_000)).encode()
    table = table_for("gpt2")
    assert table is not None
    count_compiled([Chunk(words, False), Chunk(words, True)], table, threads=2, block_size=len(words))
    Counter(table).add(Counter(table))  # whether threads come to that depends on their speed
    first_invalid(memoryview(bytearray(words)))
    join_by_kernels([WordColumns.of([b"low", b"new"]), WordColumns.of([b"new"])])
    nothing = np.zeros(0, np.int64)
    counts_of_tokens(nothing, nothing, nothing, nothing, 0)


def _open() -> None:
    """Find what tokens of files are made of, and write rows."""
    parts_of([b"lo", b"low", b"old" * FEW])  # which no two make
    pairs = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), _PAIRS)
    JoinedTexts(pairs, np.zeros(pairs.first_special, np.int64)).found(108, 111)
    UsualPieces(bytes(9), 6, 1).skip(0)
    history = History.from_pairs(Recipe.preset("gpt2", merges=1), Alphabet.of_bytes(), _PAIRS[:1])
    list(written_rows(history, Layout({"step": "", "token": ","}, "\n", "", str), None))


def _compress() -> None:
    recipe = Recipe.preset("gage", block_size=100)
    compressed_blocks(_TEXT.encode() * 9, recipe)
    words = WordTable.from_counts({_TEXT * 9: 1})
    CompressingLearner(words, Alphabet.of_bytes(), recipe, None).candidates(3)


def _measure() -> None:
    """Look at what was learned, and call kernels that otherwise only tests call."""
    _rank()
    _call_inner()


def _call_inner() -> None:
    """Call kernels that otherwise only other kernels call, and tests."""
    table, one = table_for("gpt2"), np.int64(1)
    assert table is not None
    machine, registers, cuts = scan.machine_of(table), np.zeros(scan.REGISTERS, np.int64), np.empty(99, np.int32)
    found = scan.scan(machine, np.frombuffer(bytearray(32), np.uint8), np.int64(9), registers, cuts, np.int64(0))
    scan.end_text(machine, registers, cuts, np.int64(found))
    learn_queue.level_of(one)
    learn_score.compare_products(one, one, one, one)
    learn_score.compare_scores(one, one, one, one, one, one)


def _learn() -> None:
    """Learn as runs do it, and with what only long ones, or large alphabets, need."""
    recipe = Recipe.preset("gpt2", merges=8)
    alphabet = Alphabet.for_words(_WORDS, recipe)
    learner = CompiledLearner(_WORDS, alphabet, recipe, None)
    columns = Columns.with_room(8)
    learner.learn(columns, 4, 1000)
    learner.candidates(3)
    learner.tidy_arena()
    CompiledFollower(_WORDS, alphabet, recipe).count_of(_PAIRS[0])
    history = History(recipe, alphabet, columns.first(learner.learned))
    CompiledLearner(_WORDS, alphabet, recipe, history).learn(Columns.with_room(8), 8, 1000)
    CompiledLearner(_WORDS, alphabet, recipe, None, threads=2).learn(Columns.with_room(8), 8, 1000)
    words, recipe = WordTable.from_counts({"".join(map(chr, range(0x4E00, 0x5300))): 1}), Recipe.preset("words")
    CompiledLearner(words, Alphabet.for_words(words, recipe), recipe, None, room=2)


def _learn_by_score() -> None:
    recipe = Recipe.preset("wordpiece", merges=8)
    by_score = CompiledScoreLearner(_WORDS, Alphabet.with_continuations(_WORDS, recipe), recipe, None)
    by_score.learn(Columns.with_room(8), 4, 1000)
    by_score.candidates(3)


def _learn_dropping() -> None:
    recipe = Recipe.preset("boundless", tau=0.5)
    CompiledDropping(_WORDS, Alphabet.of_bytes(), recipe, wanted=8).learn(Columns.with_room(8), 8, 1000)


def _learn_unigram() -> None:
    """Learn of enough different words that every table must grow."""
    words = WordTable.from_counts({f"{i}{i}": 1 for i in range(300)})
    recipe = Recipe.preset("unigram", merges=0)
    alphabet = seeded(words, recipe, repeated).alphabet
    seeds = alphabet.seed_count
    recipe = recipe.with_changes(merges=seeds)
    learner = UnigramLearner(words, alphabet, recipe, None, lambda *found: CompiledLattices(*found, room=16))
    columns = Columns.with_room(seeds)
    learner.learn(columns, seeds, 2**60)
    history = History(recipe, alphabet, columns)
    CompiledPaths(history, Cutting(recipe), learner.scores).cut_words([b"11"], 0)
    history = History(recipe, alphabet, columns, scores=learner.scores)
    list(follow_words(words, BestPaths(history, Cutting(recipe)), _wanted(words, history), history, slots=4))


def _learn_best() -> None:
    """Price the pieces of enough different words that their table must grow."""
    words = WordTable.from_counts({f"{i}{i}": 1 for i in range(3_000)})
    lattice = Lattice.of(words, Alphabet.of_bytes(), Recipe.preset("gpt2"), longest=8)
    Pricing(lattice, 9, 20_000, 1.0).round(0.0)
    Vocabulary.wished(lattice, lattice.counts, 9)


def _rank() -> None:
    history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), _PAIRS)
    layout = lay_out(_WORDS, history.alphabet, history.recipe)
    ranks = compiled_ranks(layout.symbols, history)
    edge = np.int32(history.id_count)
    ids, first = np.where(layout.symbols < 0, edge, layout.symbols), np.zeros(len(history) + 1, np.int64)
    cells = Cells(ids, np.zeros(len(ids), np.int32), first, ranks)
    list(follow_joins(cells, _wanted(_WORDS, history), history, slots=4))


def _wanted(words: WordTable, history: History) -> Wanted:
    steps = len(history) + 1
    return Wanted(words.counts, words.counts, np.ones(steps, np.bool_), np.zeros(steps))


def _encode() -> None:
    recipe = Recipe.preset("gpt2", merges=2)
    history = History.from_pairs(recipe, Alphabet.of_bytes(), _PAIRS)
    encoder = CompiledEncoder(history, Cutting(recipe))
    long_word = "low" * 300
    many_words = " ".join(map(str, range(2 * WORDS_AT_FIRST)))  # so that the memory grows, too
    for text in (_TEXT, long_word, many_words):
        encoder.ids(text, 2)
        encoder.byte_ranks(text)
        encoder.symbols(text)
    laid = laid_words((ByteLevel(),))
    assert laid is not None
    words = laid.of(_TEXT)
    encoder.ids_of_words(words.data, words.cuts, 2)
    _cut_in_pieces([_TEXT, long_word, many_words])
    changes = ChangedTexts(WholeTexts(None, Marks()))
    changes.of(np.frombuffer(_TEXT.encode(), np.uint8), np.array([0, 3]))
    encoder.ids_of_short(_TEXT, 2, changes.table)
    _join_by_priorities([_TEXT, long_word, many_words], words)
    data = np.frombuffer(bytearray(_TEXT.encode()), np.uint8)
    CompiledSuperwords(history, Cutting(recipe)).ids_of_texts(data, np.array([0, len(data)]), 2)
    FollowedTokens(history, np.array([False, True])).of(np.array([256, 119], np.int32), np.array([0, 2]), 2)


def _join_by_priorities(texts: list[str], words: Laid) -> None:
    recipe = Recipe.preset("gpt2", merges=2)
    rows = PairRows(*np.array([(256, 119, 257), (108, 111, 256)]).T)  # lo+w comes before l+o
    joining = Joining(pairs=rows, whole_words=True)
    history = History.from_pairs(recipe, Alphabet.of_bytes(), _PAIRS, joining)
    encoder = CompiledPriorities(JoinedWords(history), Cutting(recipe))
    for text in texts:
        encoder.ids(text, 2)
    encoder.ids_of_words(words.data, words.cuts, 2)


def _cut_in_pieces(texts: list[str]) -> None:
    recipe = Recipe.preset("wordpiece", merges=0)
    history = History.from_pairs(recipe, Alphabet.with_continuations(_WORDS, recipe), [])
    encoder = compiled_pieces(history, Cutting(recipe), LongestPieces(history))
    for text in texts:
        encoder.ids(text, 0)


_WORK = {
    kept.COUNTING: _count,
    kept.LEARNING: _learn,
    kept.ENCODING: _encode,
    kept.OPENING: _open,
    kept.SCORING: _learn_by_score,
    kept.DROPPING: _learn_dropping,
    kept.WEIGHING: _learn_unigram,
    kept.MEASURING: _measure,
    kept.COMPRESSING: _compress,
    kept.PRICING: _learn_best,
}
PARTS = {part: _WORK[part] for part in kept.PARTS}
