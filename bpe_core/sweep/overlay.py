"""Tokenizers that are there, measured by the same texts at many sizes of their vocabularies: for curves side by side.

>>> from bpe_core.alphabet import Alphabet
>>> from bpe_core.recipe import Recipe
>>> history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), [(108, 111), (256, 119)])  # l+o, lo+w
>>> found = overlay({"ours": history}, ["low lower", "slow"])
>>> found.columns["vocabulary"].tolist(), found.columns["tokens"].tolist()
([256, 257, 258], [13, 10, 7])

The columns are those of a sweep, and `pandas.DataFrame(found.columns)` is a table of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bpe_core.counting.words import WordTable
from bpe_core.data_table import DataTable
from bpe_core.errors import BpeError, CorpusError
from bpe_core.history.history import History
from bpe_core.measures.measured_sizes import some_sizes
from bpe_core.measures.morphemes import Morphemes
from bpe_core.measures.on_threads import OnThreads, Piece
from bpe_core.measures.texts_in_words import can_be_in_words, splitting_of
from bpe_core.progress import CancelCheck, ProgressReport, ignore_progress, never_cancelled
from bpe_core.recipe import Recipe
from bpe_core.sweep.measuring import Yardstick, measured
from bpe_core.sweep.results import Row, table_of

MEASURED = 32  # sizes of each, closer together where the vocabulary is small


def overlay(
    tokenizers: Mapping[str, History],
    documents: Sequence[str],
    *,
    sizes: Sequence[int] | None = None,
    learned: Mapping[str, WordTable] | None = None,
    morphemes: Morphemes | None = None,
    threads: int | None = None,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> DataTable:
    """A row for each tokenizer and size: those wanted, or some that it had.

    Of those whose words are given as `learned`, held-out bits per byte are told, too.
    """
    if not tokenizers:
        raise BpeError("Curves take at least one tokenizer.")
    if not any(documents):
        raise CorpusError("There is no text to measure by.")
    texts = [text for text in documents if text]
    with OnThreads(threads, progress, cancelled) as pool:
        recipes = {_splitting(history): history.recipe for history in tokenizers.values()}
        made = pool.all([_yardstick(texts, recipe) for recipe in recipes.values()], "counting", "texts")
        yardsticks = dict(zip(recipes, made, strict=True))

        def rows_of(name: str, history: History) -> Piece[list[Row]]:
            wanted = sizes or some_sizes(history, MEASURED).tolist()
            about = {"recipe": name, "corpus": "", "ties": history.recipe.ties, "seed": 0, "run": ""}
            return lambda stopped: [
                about | row
                for row in measured(
                    history,
                    wanted,
                    yardsticks[_splitting(history)],
                    learned=(learned or {}).get(name),
                    morphemes=morphemes,
                    cancelled=stopped,
                )
            ]

        found = pool.all([rows_of(*one) for one in tokenizers.items()], "measuring", "tokenizers")
    return table_of(row for rows in found for row in rows)


def _splitting(history: History) -> Recipe | None:
    return splitting_of(history.recipe) if can_be_in_words(history.recipe) else None


def _yardstick(documents: Sequence[str], recipe: Recipe) -> Piece[Yardstick]:
    return lambda stopped: Yardstick.of(documents, recipe, stopped)
