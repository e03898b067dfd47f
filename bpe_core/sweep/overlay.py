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

from collections.abc import Iterable, Mapping, Sequence

from bpe_core.counting.words import WordTable
from bpe_core.data_table import DataTable
from bpe_core.errors import BpeError, CorpusError
from bpe_core.history.given import by_name, documents_of
from bpe_core.history.history import History
from bpe_core.measures.benchmark import Tokenizers, as_meant
from bpe_core.measures.measured_sizes import some_sizes
from bpe_core.measures.morphemes import Morphemes
from bpe_core.measures.on_threads import OnThreads, Piece
from bpe_core.measures.texts_in_words import can_be_in_words, splitting_of
from bpe_core.progress import CancelCheck, ProgressReport, ignore_progress, never_cancelled
from bpe_core.recipe import Recipe
from bpe_core.sweep.measuring import Yardstick, measured
from bpe_core.sweep.results import Row, table_of
from bpe_core.sweep.samples import Drawn

MEASURED = 32  # sizes of each, closer together where the vocabulary is small


def overlay(
    tokenizers: Tokenizers,
    documents: str | Iterable[str],
    *,
    sizes: Iterable[int] | None = None,
    learned: Mapping[str, WordTable] | None = None,
    is_held_out: bool = False,
    morphemes: Morphemes | None = None,
    samples: Mapping[str, Drawn] | None = None,
    threads: int | None = None,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> DataTable:
    """A row for each tokenizer and size: those wanted, or some that it had.

    One text is one document; the bands tell how much the documents differ, so give paragraphs rather than a book. Of
    tokenizers whose words are given as `learned`, held-out bits per byte are told, too: of the documents if these are
    held out, else of a tenth of the words. Those of which `samples` tells that they differ only in what was drawn
    (`bpe_core.sweep.samples`) share a line, at the same sizes, and each row says which of them it is.
    """
    meant = {name: as_meant(given, name) for name, given in by_name(tokenizers).items()}
    histories = {name: history.first(at) for name, (history, at) in meant.items()}
    if not histories:
        raise BpeError("Curves take at least one tokenizer.")
    texts = [text for text in documents_of(documents) if text]
    if not texts:
        raise CorpusError("There is no text to measure by.")
    chosen = None if sizes is None else [int(size) for size in sizes]
    with OnThreads(threads, progress, cancelled) as pool:
        recipes = {_splitting(history): history.recipe for history in histories.values()}
        made = pool.all([_yardstick(texts, recipe) for recipe in recipes.values()], "counting", "texts")
        yardsticks = dict(zip(recipes, made, strict=True))

        drawn = samples or {}
        of_line = _sizes_of_lines(histories, drawn)

        def rows_of(name: str, history: History) -> Piece[list[Row]]:
            one = drawn.get(name)
            wanted = chosen or _reached(history, of_line[name if one is None else one.line])
            about = {"recipe": name, "corpus": "", "ties": history.recipe.ties, "seed": 0, "run": ""}
            about |= {} if one is None else {"recipe": one.line, "seed": one.seed, "run": name}
            return lambda stopped: [
                about | row
                for row in measured(
                    history,
                    wanted,
                    yardsticks[_splitting(history)],
                    learned=(learned or {}).get(name),
                    is_held_out=is_held_out,
                    morphemes=morphemes,
                    cancelled=stopped,
                )
            ]

        found = pool.all([rows_of(*one) for one in histories.items()], "measuring", "tokenizers")
    return table_of(row for rows in found for row in rows)


def _sizes_of_lines(histories: Mapping[str, History], drawn: Mapping[str, Drawn]) -> dict[str, list[int]]:
    """Where a line is of several samples, the sizes of the one that went furthest."""
    found: dict[str, list[int]] = {}
    for name, history in histories.items():
        line = drawn[name].line if name in drawn else name
        sizes = some_sizes(history, MEASURED).tolist()
        found[line] = max(found.get(line, sizes), sizes, key=lambda one: one[-1])
    return found


def _reached(history: History, sizes: list[int]) -> list[int]:
    low, high = sorted(history.vocabulary_size_at(at) for at in (0, len(history)))
    return [size for size in sizes if low <= size <= high] or [high]


def _splitting(history: History) -> Recipe | None:
    return splitting_of(history.recipe) if can_be_in_words(history.recipe) else None


def _yardstick(documents: Sequence[str], recipe: Recipe) -> Piece[Yardstick]:
    return lambda stopped: Yardstick.of(documents, recipe, stopped)
