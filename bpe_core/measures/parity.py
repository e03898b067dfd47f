"""What the same sentences cost in several languages: tokens of each to the tokens of one that is chosen.

>>> from bpe_core.alphabet import Alphabet
>>> from bpe_core.recipe import Recipe
>>> history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), [])
>>> found = parity({"bytes": history}, {"en": ["yes", "no"], "de": ["ja", "nein"], "ru": ["да", "нет"]})
>>> found.columns["language"], found.columns["premium"].tolist()
(['en', 'de', 'ru'], [1.0, 1.2, 2.0])
>>> found.summary["worst_language"], found.summary["worst"].tolist(), found.summary["spread"].tolist()
(['ru'], [2.0], [2.0])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bpe_core.errors import BpeError, CorpusError
from bpe_core.history.history import History as History
from bpe_core.measures.benchmark import Benchmark, Columns, Tokenizers, benchmark
from bpe_core.progress import CancelCheck, ProgressReport, ignore_progress, never_cancelled
from bpe_core.records import dataclass
from bpe_core.text.corpus import Corpus

Parallel = Mapping[str, Sequence[str]]  # the same sentences, in the same order, by language

MEANINGS = {
    "premium": "Tokens of the language to those of the reference language, for the same sentences",
    "worst": "The largest premium",
    "spread": "The most tokens that any language needs, to the fewest",
    "gini": "How unevenly tokens are shared out among the languages: 0 if all need as many, near 1 if one needs all",
}


@dataclass(frozen=True, eq=False)
class Parity:
    """A row for each tokenizer and language in `columns`; one for each tokenizer in `summary`."""

    reference: str
    measured: Benchmark
    columns: Columns
    summary: Columns


def parity(
    tokenizers: Tokenizers,
    parallel: Parallel,
    reference: str | None = None,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> Parity:
    """Measure parallel texts; without a `reference` language the first is one."""
    return parity_of(benchmark(tokenizers, checked(parallel), progress=progress, cancelled=cancelled), reference)


def parity_of(measured: Benchmark, reference: str | None = None) -> Parity:
    """The same, of parallel texts that are measured already."""
    chosen = measured.texts[0] if reference is None else reference
    if chosen not in measured.texts:
        raise BpeError(f"There is no language {chosen!r} to compare with; there are {', '.join(measured.texts)}.")
    tokens = measured.of("tokens")
    own = tokens[:, [measured.texts.index(chosen)]]
    premium = np.where(own > 0, tokens / np.maximum(own, 1), np.nan)
    worst = np.argmax(tokens, axis=1)
    columns = {
        "tokenizer": measured.columns["tokenizer"],
        "language": measured.columns["text"],
        "tokens": measured.columns["tokens"],
        "premium": premium.ravel(),
    }
    summary: Columns = {
        "tokenizer": list(measured.tokenizers),
        "reference": [chosen] * len(measured.tokenizers),
        "worst_language": [measured.texts[language] for language in worst],
        "worst": premium[np.arange(len(worst)), worst],
        "spread": tokens.max(axis=1) / np.maximum(tokens.min(axis=1), 1),
        "gini": np.array([gini(row) for row in tokens]),
    }
    return Parity(chosen, measured, columns, summary)


def checked(parallel: Parallel) -> Parallel:
    """The same texts, if they can be parallel: as many sentences in each."""
    lengths = {language: len(sentences) for language, sentences in parallel.items()}
    if len(set(lengths.values())) > 1:
        short, long = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        raise CorpusError(
            f"Parallel texts hold the same sentences, a line each; {short} has {lengths[short]:,}, {long} has "
            f"{lengths[long]:,}. Give each language as many lines."
        )
    return parallel


def parallel_texts(folder: Path | str) -> dict[str, list[str]]:
    """The sentences in a folder, a file a language (`en.txt`, `de.txt`), a line a sentence."""
    if not Path(folder).is_dir():
        raise CorpusError(f"{folder} is no folder; parallel texts are a folder with a file for each language.")
    corpus = Corpus.from_files(folder)
    found = {}
    for name, part in corpus.by_source().items():
        text = "\n".join(part.documents())
        found[Path(name).name.partition(".")[0]] = text.rstrip().split("\n")
    checked(found)
    return found


def gini(values: npt.NDArray[np.float64]) -> float:
    """
    >>> gini(np.array([2.0, 2.0])), gini(np.array([0.0, 0.0, 0.0, 1.0]))
    (0.0, 0.75)
    """
    ordered, count = np.sort(values), len(values)
    total = float(ordered.sum())
    ranks = 2 * np.arange(1, count + 1) - count - 1
    return float((ranks * ordered).sum() / (count * total)) if total else 0.0
