"""The engine: from text to words, merges and tokens. It knows nothing of any window.

    corpus  ->  words  ->  trainer  ->  history  ->  tokenizer
    (text)      (distinct words     (merges,      (append-only     (text -> tokens,
                 with counts)        one by one)   columns)          at any merge k)

To understand the algorithm, read `bpe_core/reference.py` first: it is short and plain.

The public names below are loaded when first used: `import bpe_core` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bpe_core.alphabet import Alphabet as Alphabet
    from bpe_core.alphabet import Symbol as Symbol
    from bpe_core.counting.count_words import count_groups as count_groups
    from bpe_core.counting.count_words import count_unmixed as count_unmixed
    from bpe_core.counting.count_words import count_words as count_words
    from bpe_core.counting.grouped import GroupedWords as GroupedWords
    from bpe_core.counting.words import WordTable as WordTable
    from bpe_core.data_table import DataTable as DataTable
    from bpe_core.data_table import write_data as write_data
    from bpe_core.delivery.folder import deliver as deliver
    from bpe_core.editing.costs import costs as costs
    from bpe_core.editing.extending import extend as extend
    from bpe_core.editing.putting_together import put_together as put_together
    from bpe_core.editing.trimming import least_used as least_used
    from bpe_core.editing.trimming import surplus as surplus
    from bpe_core.editing.trimming import trim as trim
    from bpe_core.errors import BpeError as BpeError
    from bpe_core.errors import Cancelled as Cancelled
    from bpe_core.errors import CorpusError as CorpusError
    from bpe_core.errors import EncodingError as EncodingError
    from bpe_core.errors import FormatError as FormatError
    from bpe_core.errors import NothingToLearn as NothingToLearn
    from bpe_core.errors import OutputError as OutputError
    from bpe_core.errors import PatternError as PatternError
    from bpe_core.errors import RecipeError as RecipeError
    from bpe_core.errors import TooLarge as TooLarge
    from bpe_core.formats import open_table as open_table
    from bpe_core.formats import write_history as write_history
    from bpe_core.history.history import History as History
    from bpe_core.history.history import Step as Step
    from bpe_core.insight.audit import TokenPlaces as TokenPlaces
    from bpe_core.insight.audit import audit as audit
    from bpe_core.learning.growing import grown_numbers as grown_numbers
    from bpe_core.learning.protocol import Candidate as Candidate
    from bpe_core.learning.trainer import Batch as Batch
    from bpe_core.learning.trainer import Trainer as Trainer
    from bpe_core.learning.trainer import train as train
    from bpe_core.measures.benchmark import benchmark as benchmark
    from bpe_core.measures.morphemes import morpheme_agreement as morpheme_agreement
    from bpe_core.measures.morphemes import read_morphemes as read_morphemes
    from bpe_core.measures.parity import parallel_texts as parallel_texts
    from bpe_core.measures.parity import parity as parity
    from bpe_core.mixture import Group as Group
    from bpe_core.mixture import Mixture as Mixture
    from bpe_core.mixture import Sample as Sample
    from bpe_core.presets import PRESETS as PRESETS
    from bpe_core.progress import Progress as Progress
    from bpe_core.recipe import Recipe as Recipe
    from bpe_core.report.drawing import draw as draw
    from bpe_core.segmenting.tokenizer import NEVER as NEVER
    from bpe_core.segmenting.tokenizer import PATTERN_CUT as PATTERN_CUT
    from bpe_core.segmenting.tokenizer import Boundaries as Boundaries
    from bpe_core.segmenting.tokenizer import Tokenizer as Tokenizer
    from bpe_core.sweep.overlay import overlay as overlay
    from bpe_core.sweep.plan import read_plan as read_plan
    from bpe_core.text.corpus import Corpus as Corpus
    from bpe_core.text.patterns import NAMED_PATTERNS as NAMED_PATTERNS

_HOME_OF = {
    "Alphabet": "alphabet",
    "Batch": "learning.trainer",
    "Boundaries": "segmenting.tokenizer",
    "BpeError": "errors",
    "Cancelled": "errors",
    "Candidate": "learning.protocol",
    "Corpus": "text.corpus",
    "CorpusError": "errors",
    "EncodingError": "errors",
    "FormatError": "errors",
    "Group": "mixture",
    "GroupedWords": "counting.grouped",
    "Step": "history.history",
    "History": "history.history",
    "Mixture": "mixture",
    "NAMED_PATTERNS": "text.patterns",
    "NEVER": "segmenting.tokenizer",
    "NothingToLearn": "errors",
    "OutputError": "errors",
    "PATTERN_CUT": "segmenting.tokenizer",
    "PRESETS": "presets",
    "PatternError": "errors",
    "Progress": "progress",
    "Recipe": "recipe",
    "RecipeError": "errors",
    "Sample": "mixture",
    "Symbol": "alphabet",
    "Tokenizer": "segmenting.tokenizer",
    "TokenPlaces": "insight.audit",
    "TooLarge": "errors",
    "Trainer": "learning.trainer",
    "WordTable": "counting.words",
    "audit": "insight.audit",
    "benchmark": "measures.benchmark",
    "costs": "editing.costs",
    "count_groups": "counting.count_words",
    "count_unmixed": "counting.count_words",
    "count_words": "counting.count_words",
    "deliver": "delivery.folder",
    "extend": "editing.extending",
    "grown_numbers": "learning.growing",
    "least_used": "editing.trimming",
    "open_table": "formats",
    "parallel_texts": "measures.parity",
    "parity": "measures.parity",
    "put_together": "editing.putting_together",
    "surplus": "editing.trimming",
    "train": "learning.trainer",
    "trim": "editing.trimming",
    "write_history": "formats",
    "DataTable": "data_table",
    "draw": "report.drawing",
    "morpheme_agreement": "measures.morphemes",
    "overlay": "sweep.overlay",
    "read_morphemes": "measures.morphemes",
    "read_plan": "sweep.plan",
    "write_data": "data_table",
}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value  # the next use finds it at once
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
