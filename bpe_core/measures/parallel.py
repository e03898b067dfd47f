"""Measures of how a tokenizer encodes the same sentences in several languages.

The number of tokens is measured in the file `benchmark.py` instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import regex

from bpe_core.measures.benchmark import Columns, Contender, Sentences, Tokenizers, contenders_of, ratio
from bpe_core.measures.morphemes import SplitWordList
from bpe_core.support.arrays import Float64s, Int64s
from bpe_core.support.progress import ALONE, Work

WORD = regex.compile(r"[\p{L}\p{M}]+")
LEAST_RANKS = 3  # two points always lie on a line


def parallel_columns(tokenizers: Tokenizers, texts: Sentences, reference: str, work: Work = ALONE) -> Columns:
    """Return the columns of this module's measures for a benchmark, with a row for each tokenizer and language."""
    sizes = {name: sum(len(sentence.encode()) for sentence in sentences) for name, sentences in texts.items()}
    words = {name: Counter(WORD.findall("\n".join(sentences))) for name, sentences in texts.items()}
    contenders = contenders_of(tokenizers)
    jobs = [(contender, name) for contender in contenders for name in texts]
    bytes_of = np.array([sizes[name] for _, name in jobs], np.int64)
    bytes_of_reference = np.full(len(jobs), sizes[reference], np.int64)
    single: list[float] = []
    zipf: list[tuple[float, float]] = []
    for contender, name in jobs:
        work.check()
        single.append(single_token_share(contender, words[name]))
        zipf.append(zipf_of(_token_counts(contender, texts[name])))
    exponents, fits = np.array(zipf, np.float64).reshape(-1, 2).T
    return {
        "byte_premium": ratio(bytes_of, bytes_of_reference),
        "single_token_share": np.array(single),
        "zipf_exponent": exponents,
        "zipf_fit": fits,
    }


def single_token_share(contender: Contender, words: Counter[str]) -> float:
    """Return the share of the words in a text that are a single token after a space.

    Each occurrence of a word counts.
    """
    if not words:
        return float("nan")
    whole = SplitWordList({word: (word,) for word in words}, contender.tokenizer.history).whole(contender.at)
    history = contender.tokenizer.history
    unknown = {id for id, symbol in enumerate(history.alphabet.but_seeds) if symbol.kind == "unknown"}
    if unknown:  # an unknown token does not count as a whole word
        ids = (contender.tokenizer.encode(word, at=contender.at) for word in words)
        whole &= np.array([unknown.isdisjoint(split) for split in ids])
    counts = np.fromiter(words.values(), np.int64, len(words))
    return float(counts[whole].sum() / counts.sum())


def zipf_of(counts: Int64s) -> tuple[float, float]:
    """Fit a line to counts over their ranks on logarithmic axes. Return how steeply it falls, and how well it fits.

    The first number is the slope without its minus sign. The second number is 1 for a perfect fit. Counts of zero are
    ignored. Both numbers are NaN if too few counts remain.

    >>> zipf_of(np.array([1200, 600, 400, 300]))
    (1.0, 1.0)
    """
    ordered = np.sort(counts[counts > 0])[::-1].astype(np.float64)
    if len(ordered) < LEAST_RANKS:
        return float("nan"), float("nan")
    x = _centred(np.log(np.arange(1, len(ordered) + 1)))
    y = _centred(np.log(ordered))
    slope = float((x * y).sum() / (x * x).sum())
    spread = float((y * y).sum())
    fit = 1.0 if not spread else 1 - float(((y - slope * x) ** 2).sum()) / spread
    return round(-slope, 12) + 0.0, round(fit, 12)


def _centred(values: Float64s) -> Float64s:
    centred: Float64s = values - values.mean()
    return centred


def _token_counts(contender: Contender, sentences: Sequence[str]) -> Int64s:
    def ids() -> Iterator[Int64s]:
        for sentence in sentences:
            yield contender.tokenizer.encode_to_array(sentence, at=contender.at).astype(np.int64)

    return np.bincount(np.concatenate([np.zeros(0, np.int64), *ids()])).astype(np.int64)
