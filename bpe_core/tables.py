"""What a tokenizer and texts tell, as tables: for Python, and for data frames.

Each function takes a tokenizer or a history, and mostly texts; each gives a table whose `columns` data frames take
as they are: `pandas.DataFrame(table.columns)`, `polars.DataFrame(table.columns)`. `write_data(table, "name.parquet")`
writes it.

>>> import bpe_core as bpe
>>> history = bpe.train(bpe.Corpus.from_texts(["low low lower newest widest"] * 2), bpe.Recipe.preset("gpt2", merges=4))
>>> steps(history).columns["token_text"], steps(history).columns["count"].tolist()
(['lo', 'low', '␣low', 'es'], [6, 6, 4, 4])
>>> ranks(history, "slow news").columns["text"]
['s', '␣', 'e', 'n', 'w', 'low']
>>> ties(history).columns["loser_right_text"]
['w', 's', 't']
>>> sizes(history, {"a text": "lowest", "another": "wide"}).columns["tokens"]
[6, 5, 4, 4, 3, 4, 4, 4, 4, 4]
>>> [round(bits, 2) for bits in bits(history, ["low lower"], held_out=["lowest"]).columns["bits_per_byte"]]
[4.46, 4.48, 4.37, 4.57, 3.82]
>>> race(history, "low low lower newest widest", [4]).columns["count"]
[2, 0]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bpe_core.counting.count_words import count_unmixed
from bpe_core.counting.words import WordTable
from bpe_core.data_table import DataTable
from bpe_core.errors import BpeError
from bpe_core.exact import of_run, of_texts
from bpe_core.exact.tokens import TokenColumns
from bpe_core.history.history import History
from bpe_core.insight.cut_words import CutWords
from bpe_core.insight.race import most_dramatic
from bpe_core.insight.race import race as followed
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.insight.ties import ties as decided
from bpe_core.learning.methods import has_ranks, learns_by_ranks
from bpe_core.measures.bits_per_byte import bits_per_byte, tenth_apart
from bpe_core.measures.measured_sizes import measured_sizes
from bpe_core.measures.size_curves import size_curves
from bpe_core.segmenting.tokenizer import Tokenizer
from bpe_core.text.corpus import Corpus

Learned = History | Tokenizer
Text = str | Sequence[str]  # several documents are one text
RUNNERS = 5


def steps(learned: Learned) -> DataTable:
    """All steps, with all that is known of each: what was joined, its count, who would have been next."""
    history = _history(learned)
    return of_run.steps(history, range(len(history)), TokenColumns.for_history(history))


def ties(learned: Learned) -> DataTable:
    """The steps that a tie decided: what won, what lost, and when that won after all."""
    history = _history(learned)
    return of_run.tie_list(decided(history), TokenColumns.for_history(history))


def ranks(learned: Learned, text: Text, *, at: int | None = None) -> DataTable:
    """Every token that stands in a text and how often, the most frequent first; after `at` steps, or all."""
    history = _history(learned)
    after = len(history) if at is None else min(at, len(history))
    cut = CutWords.of(_words(history, text), history.recipe, history)
    return of_run.ranks(cut.counts(after), TokenColumns.for_history(history))


def sizes(learned: Learned, texts: Text | Mapping[str, Text]) -> DataTable:
    """What each size of the vocabulary means for each text: tokens, bytes per token, Rényi efficiency ..."""
    history = _history(learned)
    named = texts if isinstance(texts, Mapping) else {"text": texts}
    curves: dict[str, of_texts.Curves] = {}
    for name, text in named.items():
        words = _words(history, text)
        if has_ranks(history):
            curves[name] = size_curves(words, history)
        else:
            curves[name] = measured_sizes(CutWords.of(words, history.recipe, history))
    return of_texts.sizes(curves)


def bits(learned: Learned, learned_from: Text, *, held_out: Text | None = None) -> DataTable:
    """Held-out bits per byte of a model of pairs of tokens, by size; without `held_out` a tenth is held out."""
    history = _history(learned)
    words = _words(history, learned_from)
    both = tenth_apart(words) if held_out is None else (words, _words(history, held_out))
    return of_texts.bits({"text": bits_per_byte(*both, history)})


def race(learned: Learned, text: Text, which: Sequence[int] = ()) -> DataTable:
    """How often the pairs of these steps, counted from 1, stood in the text through the training; else some."""
    history = _history(learned)
    if not learns_by_ranks(history):
        raise BpeError("Pairs run against each other only where they are joined one after the other; not in this.")
    for step in which:
        if not 1 <= step <= len(history):
            raise BpeError(f"There is no step {step:,}; there are {len(history):,}, counted from 1.")
    ranked = RankedWords.of(_words(history, text), history)
    pairs = [history.pair(step - 1) for step in which] or most_dramatic(ranked, RUNNERS)
    return of_texts.race(followed(ranked, pairs).runners, TokenColumns.for_history(history))


def _history(learned: Learned) -> History:
    return learned.history if isinstance(learned, Tokenizer) else learned


def _words(history: History, text: Text) -> WordTable:
    return count_unmixed(Corpus.from_texts([text] if isinstance(text, str) else text), history.recipe)
