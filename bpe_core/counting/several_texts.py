"""The words of several texts, and which of them each text has: as many tables of words as one.

>>> words, (low, new) = count_texts([["low low"], ["new", "low"]], Recipe.preset("words"))
>>> list(words), low.rows.tolist(), sorted(zip(new.rows.tolist(), new.counts.tolist()))
([(b'low', 3), (b'new', 1)], [0], [(0, 1), (1, 1)])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bpe_core.counting.count_words import KERNELS, count_unmixed, counts_in_runs, scan_table, stretches_of
from bpe_core.counting.joining import Int64s, WordColumns, join
from bpe_core.counting.words import WordTable
from bpe_core.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.recipe import Recipe
from bpe_core.text.corpus import Corpus

LARGE = 100_000  # characters of a text, on average: looking through all tables takes as long as counting so many


class Occurring(NamedTuple):
    """The words of one text: which of all words they are, each once, and how often each occurs there."""

    rows: Int64s
    counts: Int64s


class Counted(NamedTuple):
    """The words of several texts in the order they are first seen, and for each text those that it has."""

    words: WordTable
    texts: list[Occurring]


def count_texts(
    texts: Sequence[Sequence[str]],
    recipe: Recipe,
    *,
    done: Callable[[], object] = lambda: None,
    cancelled: CancelCheck = never_cancelled,
) -> Counted:
    """Each text is some documents. Large ones are counted in common tables, by this thread alone.

    Behind each text `done` is called.
    """
    wanted = _corpora(texts, done, cancelled)
    size = sum(len(document) for documents in texts for document in documents)
    table = scan_table(recipe) if counts_in_runs(recipe) and size >= LARGE * len(texts) else None
    if table is None or not KERNELS.chooses(size, cancelled=cancelled):
        return joined([_alone(count_unmixed(corpus, recipe, cancelled=cancelled)) for corpus in wanted])
    from bpe_core.counting.compiled_texts import count_texts_compiled  # loads machine code

    found = count_texts_compiled((stretches_of(corpus, recipe, cancelled) for corpus in wanted), table)
    given = sum(len(document.encode()) for documents in texts for document in documents)
    return found._replace(words=replace(found.words, text_bytes=given))


def _corpora(texts: Sequence[Sequence[str]], done: Callable[[], object], cancelled: CancelCheck) -> Iterator[Corpus]:
    for documents in while_wanted(texts, cancelled, every=1):
        yield Corpus.from_texts(documents)
        done()


def _alone(words: WordTable) -> Counted:
    return Counted(words, [Occurring(np.arange(len(words)), words.counts)])


def joined(parts: Sequence[Counted]) -> Counted:
    """What was counted of some texts, and of those that follow them."""
    if len(parts) == 1:
        return parts[0]
    columns, rows = join([WordColumns(part.words.text, part.words.starts) for part in parts])
    counts, texts = np.zeros(len(columns), np.int64), list[Occurring]()
    for part, row in zip(parts, rows, strict=True):
        counts[row] += part.words.counts
        texts += [Occurring(row[text.rows], text.counts) for text in part.texts]
    size = sum(part.words.text_bytes or 0 for part in parts)
    return Counted(WordTable(columns.text, columns.starts, counts, text_bytes=size), texts)
