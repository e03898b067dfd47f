"""The tokens of a vocabulary as the table that the kernels look them up in."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeAlias

import numpy as np

from bpe_core.kernels import pieces as kernel
from bpe_core.kernels.merge_word import Int32s

Numbers: TypeAlias = "Sequence[int] | Int32s"


def piece_table(texts: Sequence[bytes], roots: Numbers, ids: Numbers, births: Numbers) -> kernel.PieceTable:
    """Each token by its bytes, below the root where it is looked for."""
    starts = np.fromiter(accumulate(map(len, texts), initial=0), np.int64, len(texts) + 1)
    most = int(starts[-1]) + kernel.CONTINUING + 1
    columns = {name: np.full(most, kernel.NONE, np.int32) for name in kernel.Tree._fields[:-1]}
    tree = kernel.Tree(**columns, number=np.zeros(kernel.TREE_NUMBERS, np.int64))
    tree.children.fill(0)
    tree.first.fill(0)  # of who has none: there are no rows of children
    tree.place[: kernel.CONTINUING + 1] = range(kernel.CONTINUING + 1)
    data = np.frombuffer(b"".join(texts) or bytes(1), np.uint8)
    of_all = (np.array(column, np.int32) for column in (roots, ids, births))
    nodes = int(kernel.enter_pieces(tree, data, starts, *of_all))
    _place(tree, nodes)
    rows = np.full(int(tree.number[kernel.END]) * kernel.ROW, kernel.NONE, np.int32)
    kernel.write_rows(tree, np.int64(nodes), rows)
    return kernel.PieceTable(rows, np.zeros(1), np.zeros(kernel.PIECE_NUMBERS, np.int64))


def _place(tree: kernel.Tree, nodes: int) -> None:
    """Those with many children first; those with one fill the gaps."""
    parents = np.flatnonzero(tree.children[:nodes])
    order = parents[np.argsort(-tree.children[parents], kind="stable")]
    taken = np.zeros(2 * (nodes + kernel.BYTES), np.bool_)
    taken[: kernel.CONTINUING + 1] = True  # by the roots
    tree.number[kernel.PLACE], tree.number[kernel.END] = 1, kernel.BYTES
    placed = 0
    while (placed := int(kernel.choose_places(tree, order, np.int64(placed), taken))) < len(order):
        taken = np.concatenate((taken, np.zeros_like(taken)))
