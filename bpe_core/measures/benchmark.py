"""Which of these tokenizers is better for these texts? Any number of both, and every figure counted, none estimated.

>>> from bpe_core.alphabet import Alphabet
>>> from bpe_core.recipe import Recipe
>>> history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), [(108, 111), (256, 119)])  # l+o, lo+w
>>> found = benchmark({"bytes": (history, 0), "ours": history}, {"low": "low low", "new": ["new", "news"]})
>>> found.columns["tokenizer"], found.columns["text"]
(['bytes', 'bytes', 'ours', 'ours'], ['low', 'new', 'low', 'new'])
>>> found.columns["tokens"].tolist(), found.columns["tokens_per_word"].tolist()
([7, 7, 3, 7], [3.5, 3.5, 1.5, 3.5])

`pandas.DataFrame(found.columns)` is a table of it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.data_table import DataTable, Values
from bpe_core.errors import BpeError, Cancelled, CorpusError
from bpe_core.history.history import History
from bpe_core.measures.size_curves import BYTES, FORMULA, USUAL_POWER, renyi_efficiency
from bpe_core.progress import CancelCheck, Progress, ProgressReport, ignore_progress, never_cancelled
from bpe_core.segmenting.tokenizer import Tokenizer

Int64s = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]
Stand = History | Tokenizer | tuple[History | Tokenizer, int]
Tokenizers = Mapping[str, Stand]  # by name; with a number it is meant as it stood after so many steps
Columns = Mapping[str, Values]
Texts = Mapping[str, str | Sequence[str]]  # by name; several documents are one group, and one row

MEANINGS = {
    "step": "After how many steps of its training the tokenizer is meant",
    "vocabulary": "How many tokens it has then, special ones included",
    "bytes": "Of the text as it was given, in UTF-8",
    "words": "Stretches between blanks and line ends, the same for all tokenizers; of a script without blanks, lines",
    "tokens": "How many tokens the text becomes",
    "bytes_per_token": f"More: each token stands for more of the text. {BYTES.partition('. ')[0]}.",
    "tokens_per_word": "Fertility: tokens of the text to its words, which are the stretches between blanks",
    "renyi_efficiency": FORMULA,
    "share_in_use": "The part of the vocabulary that occurs in the text at all",
    "unknown_share": "The part of the tokens that stands for what the tokenizer cannot encode",
    "relative_tokens": "Tokens to those that the first tokenizer, or the one chosen, needs for the same text",
    "seconds": "Time of one processor that encoding took; the first text of a tokenizer pays for its preparation",
}
CANCELLED = "The measuring was stopped."
NOTHING_TO_MEASURE = "A benchmark takes at least one tokenizer and one text."
WAIT = 0.05  # seconds between two questions whether anybody still wants to know
HELD = 1_000_000  # tokens that are counted together


class Contender(NamedTuple):
    """A tokenizer as it stood after so many steps."""

    name: str
    tokenizer: Tokenizer
    at: int


@dataclass(frozen=True, eq=False)
class Benchmark:
    """A row for each tokenizer and text: all texts of the first tokenizer, then those of the next."""

    tokenizers: tuple[str, ...]
    texts: tuple[str, ...]
    columns: Columns

    @property
    def table(self) -> DataTable:
        return DataTable(self.columns)

    def of(self, column: str) -> npt.NDArray[np.float64]:
        """One measure as a table: a row for each tokenizer, a column for each text."""
        values = np.asarray(self.columns[column], np.float64)
        return values.reshape(len(self.tokenizers), len(self.texts))


def benchmark(
    tokenizers: Tokenizers,
    texts: Texts,
    *,
    relative_to: str | None = None,
    power: float = USUAL_POWER,
    threads: int | None = None,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> Benchmark:
    """Measure every text by every tokenizer; what the columns mean stands in `MEANINGS`.

    Tokens are compared with those of `relative_to`, or else of the first tokenizer.
    """
    contenders, groups = contenders_of(tokenizers), _groups(texts)
    if not contenders or not groups:
        raise BpeError(NOTHING_TO_MEASURE)
    chosen = contenders[0].name if relative_to is None else relative_to
    if chosen not in tokenizers:
        raise BpeError(f"There is no tokenizer {chosen!r} to compare with; there are {', '.join(tokenizers)}.")
    jobs = [(contender, name) for contender in contenders for name in groups]
    cells = _measured(jobs, groups, power, threads, progress, cancelled)
    return Benchmark(tuple(tokenizers), tuple(groups), _columns(jobs, groups, cells, chosen))


def contenders_of(tokenizers: Tokenizers) -> list[Contender]:
    """Each history becomes one tokenizer, at however many steps it is meant."""
    made: dict[int, Tokenizer] = {}
    found = []
    for name, given in tokenizers.items():
        one, at = given if isinstance(given, tuple) else (given, None)
        history = one.history if isinstance(one, Tokenizer) else one
        tokenizer = one if isinstance(one, Tokenizer) else made.setdefault(id(one), Tokenizer(one))
        if at is not None and not 0 <= at <= len(history):
            raise BpeError(f"{name} has {len(history):,} steps, so it cannot be measured after {at:,}.")
        found.append(Contender(name, tokenizer, len(history) if at is None else at))
    return found


class _Cell(NamedTuple):
    """What was counted of one text cut by one tokenizer."""

    tokens: int
    used: int
    unknown: int
    efficiency: float
    seconds: float


def _groups(texts: Texts) -> dict[str, Sequence[str]]:
    groups = {name: [given] if isinstance(given, str) else given for name, given in texts.items()}
    for name, documents in groups.items():
        if not any(documents):
            raise CorpusError(f"The text {name!r} is empty; leave it out, or put something into it.")
    return groups


def _measured(
    jobs: list[tuple[Contender, str]],
    groups: Mapping[str, Sequence[str]],
    power: float,
    threads: int | None,
    progress: ProgressReport,
    cancelled: CancelCheck,
) -> list[_Cell]:
    """All of them, on several threads: encoding leaves the interpreter to the others."""
    stopped = False

    def is_over() -> bool:
        return stopped

    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        running = [pool.submit(_cell, contender, groups[name], power, is_over) for contender, name in jobs]
        try:
            waiting = set(running)
            while waiting:
                done, waiting = wait(waiting, WAIT, FIRST_COMPLETED)
                if cancelled():
                    raise Cancelled(CANCELLED)
                for one in done:
                    one.result()
                progress(Progress("measuring", len(jobs) - len(waiting), len(jobs), "texts"))
        except BaseException:
            stopped = True
            pool.shutdown(cancel_futures=True)
            raise
    return [one.result() for one in running]


def _cell(contender: Contender, documents: Sequence[str], power: float, cancelled: CancelCheck) -> _Cell:
    history = contender.tokenizer.history
    counts, seconds = np.zeros(history.id_count, np.int64), 0.0
    held: list[npt.NDArray[np.int32]] = []
    for text in _while_wanted(documents, cancelled):
        began = time.thread_time()
        held.append(contender.tokenizer.encode_to_array(text, at=contender.at))
        seconds += time.thread_time() - began
        if sum(map(len, held)) > HELD:
            counts += np.bincount(np.concatenate(held), minlength=len(counts))
            held = []
    if held:
        counts += np.bincount(np.concatenate(held), minlength=len(counts))
    unknown = [id for id, symbol in enumerate(history.alphabet.symbols) if symbol.kind == "unknown"]
    return _Cell(
        int(counts.sum()),
        int(np.count_nonzero(counts)),
        int(counts[unknown].sum()),
        renyi_efficiency(counts, power),
        seconds,
    )


def _while_wanted(documents: Sequence[str], cancelled: CancelCheck) -> Iterator[str]:
    for text in documents:
        if cancelled():
            raise Cancelled(CANCELLED)
        yield text


def _columns(
    jobs: list[tuple[Contender, str]], groups: Mapping[str, Sequence[str]], cells: list[_Cell], chosen: str
) -> Columns:
    sizes = {name: sum(len(text.encode(errors="surrogatepass")) for text in group) for name, group in groups.items()}
    words = {name: sum(len(text.split()) for text in group) for name, group in groups.items()}
    of_chosen = {
        name: cell.tokens for (contender, name), cell in zip(jobs, cells, strict=True) if contender.name == chosen
    }
    size, word = (np.array([of[name] for _, name in jobs], np.int64) for of in (sizes, words))
    vocabulary = np.array([one.tokenizer.vocabulary_size(one.at) for one, _ in jobs], np.int64)
    tokens, used, unknown = (np.array(column, np.int64) for column in list(zip(*cells, strict=True))[:3])
    return {
        "tokenizer": [one.name for one, _ in jobs],
        "text": [name for _, name in jobs],
        "step": np.array([one.at for one, _ in jobs], np.int64),
        "vocabulary": vocabulary,
        "bytes": size,
        "words": word,
        "tokens": tokens,
        "bytes_per_token": ratio(size, tokens),
        "tokens_per_word": ratio(tokens, word),
        "renyi_efficiency": np.array([cell.efficiency for cell in cells]),
        "share_in_use": ratio(used, vocabulary),
        "unknown_share": ratio(unknown, tokens),
        "relative_tokens": ratio(tokens, np.array([of_chosen[name] for _, name in jobs], np.int64)),
        "seconds": np.array([cell.seconds for cell in cells]),
    }


def ratio(some: Int64s, of: Int64s) -> Numbers:
    """No number where there is nothing to divide by."""
    found: Numbers = np.where(of > 0, some / np.maximum(of, 1), np.nan)
    return found
