"""What the same sentences cost in several languages: tokens of each to the tokens of one that is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bpe_core.errors import BpeError, CorpusError
from bpe_core.history.arguments import by_name, documents_of
from bpe_core.measures.benchmark import Benchmark, Columns, ratio
from bpe_core.support.arrays import Float64s
from bpe_core.support.data_table import DataTable
from bpe_core.text.corpus import Corpus

# The same sentences, in the same order, by language; of one string each line is a sentence.
Parallel = Mapping[str, str | Iterable[str]]
Sentences = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class Parity:
    premium: Float64s  # of each tokenizer and language
    summary: Columns  # a row for each tokenizer

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(f"{name}: {_told(*row)}." for name, *row in DataTable(self.summary).rows())


def _told(reference: str, language: str, worst: float | None, spread: float | None, gini: float) -> str:
    beside = f"{worst:.2f} times {reference}" if worst is not None else f"and {reference} becomes no tokens at all"
    fewest = f"most to fewest {spread:.2f}" if spread is not None else "the fewest are none at all"
    return f"worst {language}, {beside}; {fewest}; Gini {gini:.3f}"


def parity_of(measured: Benchmark, reference: str | None = None) -> Parity:
    """Compare the languages of measured parallel texts with the `reference`, else with the first."""
    chosen = measured.texts[0] if reference is None else reference
    if chosen not in measured.texts:
        raise BpeError(f"There is no language {chosen!r} to compare with; there are {', '.join(measured.texts)}.")
    tokens = measured.of("tokens")
    own = tokens[:, [measured.texts.index(chosen)]]
    premium = ratio(tokens, own)
    worst = np.argmax(tokens, axis=1)
    summary: Columns = {
        "tokenizer": list(measured.tokenizers),
        "reference": [chosen] * len(measured.tokenizers),
        "worst_language": [measured.texts[language] for language in worst],
        "worst": premium[np.arange(len(worst)), worst],
        "spread": ratio(tokens.max(axis=1), tokens.min(axis=1)),
        "gini": np.array([gini(row) for row in tokens]),
    }
    return Parity(premium.ravel(), summary)


def checked(parallel: Parallel) -> Sentences:
    found = {language: _sentences(text) for language, text in by_name(parallel).items()}
    lengths = {language: len(sentences) for language, sentences in found.items()}
    if len(set(lengths.values())) > 1:
        short, long = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        raise CorpusError(
            f"Parallel texts hold the same sentences, a line each; {short} has {lengths[short]:,}, {long} has "
            f"{lengths[long]:,}. Give each language as many lines."
        )
    return found


def parallel_texts(folder: Path | str) -> dict[str, list[str]]:
    """The sentences in a folder, a file a language (`en.txt`, `de.txt`), a line a sentence."""
    if not Path(folder).is_dir():
        raise CorpusError(f"{folder} is no folder; parallel texts are a folder with a file for each language.")
    corpus = Corpus.from_files(folder)
    found = {}
    for name, part in corpus.by_source().items():
        found[Path(name).name.partition(".")[0]] = _sentences("\n".join(part.documents()))
    checked(found)
    return found


def _sentences(text: str | Iterable[str]) -> list[str]:
    return text.rstrip().split("\n") if isinstance(text, str) else documents_of(text)


def gini(values: npt.NDArray[np.float64]) -> float:
    """
    >>> gini(np.array([2.0, 2.0])), gini(np.array([0.0, 0.0, 0.0, 1.0]))
    (0.0, 0.75)
    """
    ordered, count = np.sort(values), len(values)
    total = float(ordered.sum())
    ranks = 2 * np.arange(1, count + 1) - count - 1
    return float((ranks * ordered).sum() / (count * total)) if total else 0.0
