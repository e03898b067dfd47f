"""The second stage of SuperBPE. It uses the kernels of byte-pair encoding.

The kernels treat the tokens of the first stage as symbols, because a corpus has about five times as many
bytes as tokens. For each token, the kernels also get the number of words that it contains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

from bpe_core.counting.words import PADDING, WordColumns, WordTable, join, join_by_kernels
from bpe_core.errors import TooLarge
from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.history.history import Columns, EndReason, History
from bpe_core.history.token_texts import written
from bpe_core.kernels.learn_state import BEGINS_BLANK, ENDS_BLANK, ENDS_COLON, HOLDS_COLON, SPAN_SHIFT
from bpe_core.kernels.scan import REGISTERS, Machine, machine_of, scan_pieces
from bpe_core.kernels.stored_tables import named_table
from bpe_core.methods.kit.compiled_pairs import CompiledLearner as CompiledLearner
from bpe_core.methods.kit.layout import MOST_CELLS, Layout, layout_of_parts
from bpe_core.methods.kit.learner import UNLIMITED
from bpe_core.methods.kit.runs import Inside
from bpe_core.methods.superbpe.runs import BLANK, COLON, first_stage_recipe
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.compiled_runs import Cut as Cut
from bpe_core.segmenting.compiled_runs import TokensOfRuns
from bpe_core.support.arrays import Bytes, Int32s, Int64s, repeat
from bpe_core.support.threads import available_threads, run_in_threads
from bpe_core.support.wording import count_text

EVERY_WORD = 2**24  # more words than a token can hold
Cutter = Callable[[History], Cut]
AT_ONCE = 1 << 23  # bytes of runs in a block, so that temporary arrays stay small
Part = TypeVar("Part")


class CompiledAcross(CompiledLearner):
    """The learner of the second stage. Its symbols are the tokens of the first stage.

    If the recipe limits the length of tokens, the symbols are bytes, and the learner repeats the merges of the first
    stage.
    """

    def __init__(
        self, words: WordTable, alphabet: Alphabet, recipe: Recipe, known: History, made: int, *, cutter: Cutter
    ) -> None:
        self._recipe = recipe
        self._made = 0
        if recipe.max_token_length is not None:
            self._symbols = alphabet
            super().__init__(words, alphabet, recipe, History.from_pairs(recipe, alphabet, known.pairs()))
            self.learn(Columns.with_room(made), made, UNLIMITED)
            return
        first = known.first(made)
        tokens = (Symbol(text, text, "seed") for text in written(first)[len(alphabet) : len(alphabet) + made])
        self._symbols = Alphabet((*alphabet.symbols, *tokens))
        left = (intervention.after(made) for intervention in recipe.interventions)
        behind = recipe.with_changes(interventions=tuple(map(str, filter(None, left))))
        forced = History(behind, self._symbols, known.columns.behind(made))
        super().__init__(words, self._symbols, behind, forced, layout=lay_out_tokens(words, first, cutter(first)))
        self._made = made

    @property
    def learned(self) -> int:
        return self._made + super().learned

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        return super().learn(columns.behind(self._made), stop_at - self._made, work)

    def _limit(self) -> None:
        most = self._recipe.most_words
        past_colons = self._recipe.past_colons
        if most is not None or not past_colons:
            self._state.run[0]["most_words"] = EVERY_WORD if most is None else min(most, EVERY_WORD)
            spans = [span_of(symbol.text, past_colons) for symbol in self._symbols.symbols]
            self._state.spans[: len(spans)] = spans


def span_of(text: bytes, past_colons: bool) -> int:
    """Pack facts about a token into one number for the kernels: its number of words, and flags for spaces and colons.

    The flags say whether the token begins or ends with a space, and whether it contains or ends with a colon. If
    `past_colons` is true, the flags for colons are not set.
    """
    words = sum(map(bool, text.split(BLANK)))
    colons = 0 if past_colons else ENDS_COLON * text.endswith(b":") | HOLDS_COLON * (COLON in text)
    ends = BEGINS_BLANK * text.startswith(BLANK) | ENDS_BLANK * text.endswith(BLANK)
    return words << SPAN_SHIFT | ends | colons


# --- The words of runs --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Runs:
    """A group of runs, and the words that each run consists of. A run is a stretch of text with several words."""

    text: Bytes
    starts: Int64s  # offsets of the words, and the end of the last
    firsts: Int64s  # indices of the words that begin the runs, and the number of words


def inside_of(words: WordTable, recipe: Recipe) -> Inside:
    """Split runs of words into ordinary words. Each entry of `words` is a run, such as "in the end".

    Return all ordinary words in first-seen order, and the words that each run consists of.
    """
    machine = _machine(recipe)

    def numbered(part: slice) -> tuple[WordColumns, Int32s, Int64s]:
        runs = _runs(words, machine, part)
        joined = join_by_kernels([WordColumns(runs.text, runs.starts)])
        return joined.columns, joined.rows[0].astype(np.int32), np.diff(runs.firsts)

    parts = _run_on_parts(numbered, words)
    joined = join([columns for columns, _, _ in parts])
    rows = np.concatenate(
        [of_part.astype(np.int32)[own] for of_part, (_, own, _) in zip(joined.rows, parts, strict=True)]
    )
    lengths = np.concatenate([lengths for _, _, lengths in parts])
    counts = np.zeros(len(joined.columns), np.int64)
    np.add.at(counts, rows, repeat(words.counts, lengths))
    return Inside(WordTable(*joined.columns, counts), rows, np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))))


def words_inside(words: WordTable, recipe: Recipe) -> WordTable:
    """Return the ordinary words in all runs of `words`, with their counts, in first-seen order.

    Each entry of `words` is a run: one or several ordinary words, one after another.
    """
    machine = _machine(recipe)

    def counted(part: slice) -> WordTable:
        runs = _runs(words, machine, part)
        joined = join_by_kernels([WordColumns(runs.text, runs.starts)])
        counts = np.zeros(len(joined.columns), np.int64)
        np.add.at(counts, joined.rows[0], np.repeat(words.counts[part], np.diff(runs.firsts)))
        return WordTable(*joined.columns, counts)

    return WordTable.merged(_run_on_parts(counted, words))


def lay_out_tokens(words: WordTable, history: History, cut: Cut) -> Layout:
    """Return the words of the table as one array of tokens.

    For this method, each entry of the word table is a run of several ordinary words. `history` splits each run
    into tokens.
    """
    tokens = TokensOfRuns(history, cut)

    def in_tokens(part: slice) -> tuple[Int32s, Int64s]:
        text, starts = _text(words, part)
        ids, borders = tokens.of(text, starts, len(history))
        return ids, np.diff(borders)

    return layout_of_parts(_run_on_parts(in_tokens, words), words.counts)


def _machine(recipe: Recipe) -> Machine:
    return machine_of(named_table(first_stage_recipe(recipe).pattern))


def _run_on_parts(work: Callable[[slice], Part], words: WordTable) -> list[Part]:
    """Divide a table of runs of words into parts. Call `work` with the slice of each part, on all threads.

    Return the results in the order of the parts.
    """
    size = len(words.text)
    if size > MOST_CELLS:
        raise TooLarge(
            f"The distinct runs of words hold {count_text(size, 'byte')}, but training can use at most {MOST_CELLS:,}."
        )
    borders = np.unique(np.append(np.searchsorted(words.starts[:-1], np.arange(0, size, AT_ONCE)), len(words)))
    parts = [slice(*ends) for ends in pairwise(borders.tolist())]
    threads = max(1, min(available_threads(), len(parts)))
    results = run_in_threads(lambda some: [work(part) for part in some], [parts[i::threads] for i in range(threads)])
    return [results[i % threads][i // threads] for i in range(len(parts))]


def _text(words: WordTable, part: slice) -> tuple[Bytes, Int32s]:
    borders = words.starts[part.start : part.stop + 1]
    return words.text[borders[0] : borders[-1]], (borders - borders[0]).astype(np.int32)


def _runs(words: WordTable, machine: Machine, part: slice) -> _Runs:
    text, borders = _text(words, part)
    cuts = np.empty(len(text) + 4, np.int32)
    padded = np.concatenate([text, np.zeros(PADDING, np.uint8)])
    count = scan_pieces(machine, padded, borders, np.zeros(REGISTERS, np.int64), cuts)
    starts = cuts[:count].astype(np.int64)
    return _Runs(text, starts, np.searchsorted(starts, borders))
