"""The question `blocks`. It asks which pair each byte replaces in the blocks of a compressed text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bpe_core.asking import Answer, Question
from bpe_core.errors import BpeError
from bpe_core.figures.from_table import blocks_chart
from bpe_core.history.history import NOTHING
from bpe_core.methods.kit.compressors import sizes_of_texts
from bpe_core.methods.kit.method import Method
from bpe_core.methods.registry import METHODS
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable, Values
from bpe_core.support.progress import ALONE, Work

WHAT = "The list of replaced pairs"


@dataclass(frozen=True)
class Blocks(Question):
    """Show which pair each byte replaces in the blocks of a compressed text, and the size of all blocks over time."""

    about = "this step"
    asks = "What do the bytes stand for?"
    turn = 8
    axis = "step"
    needs = "texts if known"
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest " * 9, "gage", merges=6)
        >>> bpe.blocks(study).sentences[0]
        "The number of bytes in all blocks after each step, compared with today's compressors."
    """

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        history = study.history
        method = Method.of(history.recipe)
        if not method.starts_anew:
            titles = " and ".join(other.title for other in METHODS.values() if other.starts_anew)
            raise BpeError(f"This question works only for runs learned by {titles}. Another method learned this run.")
        words = None if study.texts is None else study.inside.words(WHAT, work)
        blocks = None if words is None else method.blocks(words, history.recipe, work)
        of_symbols = bool(history.recipe.base_symbols)  # other compressors do not read symbols
        others = {} if words is None or of_symbols else sizes_of_texts(words, cancelled=work.cancelled)
        reasons = history.reasons
        columns = history.columns
        rows: dict[str, Values] = {"step": np.arange(len(history) + 1)}
        rows |= {name: [None, *reasons[name].tolist()] for name in ("block", "byte")}
        for name, column in (("token_", history.indices), ("left_", columns.left), ("right_", columns.right)):
            rows |= study.inside.by_index.columns([NOTHING, *np.array(column).tolist()], name)
        rows |= {"byte_text": [None, *map(_written, reasons["byte"].tolist())], "pair_text": [None, *_pairs(study)]}
        rows |= {"count": [None, *columns.count.tolist()]}
        rows |= {method.name: [None if blocks is None else blocks.size_at_start, *reasons["size"].tolist()]}
        rows |= {name.lower(): [size] * (len(history) + 1) for name, size in others.items()}
        table = DataTable(rows)
        listed = ("byte_text", "token_text", "pair_text", "count", "step")
        if blocks is None or words is None:
            return Answer(table, listed=listed)
        figure = blocks_chart(table)
        places = zip(blocks.texts, blocks.starts, blocks.stops, blocks.different, strict=True)
        names = ("text", "start", "stop", "different_bytes")
        unit = "symbols" if of_symbols else "bytes"
        facts = {
            "bytes": words.size,
            "unit": unit,
            "blocks": [dict(zip(names, map(int, block), strict=True)) for block in places],
        }
        return Answer(table, (figure.sentence,), figure, listed, facts=facts)


def _written(byte: int) -> str:
    return f"0x{byte:02X}"


def _pairs(study: Study) -> Iterator[str]:
    history = study.history
    names = study.inside.by_index.texts.text
    first = len(history.alphabet)
    bytes_ = history.reasons["byte"]
    for row in range(len(history)):
        halves = history.pair(row)
        yield " + ".join(names[half] if half < first else _written(int(bytes_[half - first])) for half in halves)
