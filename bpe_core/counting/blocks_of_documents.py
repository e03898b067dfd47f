"""The counts of a group in several blocks. A block is a random part of the documents of the group.

The blocks show how much a result depends on the choice of documents. If a group has only a few long documents, such as
a single book, their text is divided into ranges of lines instead. Each of these ranges is then a block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from random import Random

from bpe_core.counting.count_words import count_unmixed
from bpe_core.counting.words import WordTable
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import ALONE, Work
from bpe_core.text.corpus import Corpus

BLOCKS = 32  # blocks in each group
FEW = 8  # documents; fewer than this are divided
HELD = 1 << 24  # characters that wait to be counted
SEED = 1


def count_in_blocks(
    parts: Mapping[str, Corpus], recipe: Recipe, work: Work = ALONE
) -> dict[str, tuple[WordTable, ...]]:
    """Divide each group into blocks, and count the words of each block. Return a table for each block."""
    recipe = recipe.with_changes(mixture=None)
    return {name: tuple(_blocks(part.documents(), recipe, work)) for name, part in parts.items()}


def _blocks(documents: Iterator[str], recipe: Recipe, work: Work) -> Iterator[WordTable]:
    first = list(islice(documents, FEW))
    if len(first) < FEW:
        for piece in in_ranges("\n".join(first)):
            yield _counted([piece], recipe, work)
        return
    counted: list[list[WordTable]] = [[] for _ in range(BLOCKS)]
    for held in _assigned_at_random(first, documents):
        for block, some in enumerate(held):
            if some:
                counted[block].append(_counted(some, recipe, work))
    yield from (WordTable.merged(tables) for tables in counted if tables)


def _assigned_at_random(first: Sequence[str], rest: Iterator[str]) -> Iterator[list[list[str]]]:
    """Assign documents to blocks at random.

    Yield the new documents of all blocks whenever enough characters are collected, and once more at the end.
    """
    chance = Random(SEED)
    waiting = 0
    held: list[list[str]] = [[] for _ in range(BLOCKS)]
    for documents in (first, rest):
        for document in documents:
            held[chance.randrange(BLOCKS)].append(document)
            waiting += len(document)
            if waiting > HELD:
                yield held
                held = [[] for _ in range(BLOCKS)]
                waiting = 0
    yield held


def _counted(documents: Sequence[str], recipe: Recipe, work: Work) -> WordTable:
    return count_unmixed(Corpus.from_texts(documents), recipe, Work(cancelled=work.cancelled))


def in_ranges(text: str) -> Iterator[str]:
    """Divide a text into ranges of about equal length. A range has whole lines, or whole words if there are few lines.

    >>> list(in_ranges("so it was"))
    ['so', ' it', ' was']
    """
    lines = text.splitlines(keepends=True)
    parts = lines if len(lines) >= BLOCKS else re.findall(r"\s*\S*", text)
    begin = 0
    held = list[str]()
    block = 0
    for part in parts:
        now = begin * BLOCKS // max(1, len(text))
        if held and now > block:
            yield "".join(held)
            held = []
        block = now
        held.append(part)
        begin += len(part)
    if any(held):
        yield "".join(held)
