"""The benchmark, which compares tokenizers on texts. All texts are counted completely, so no number is an estimate."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.counting.count_words import count_texts
from bpe_core.counting.words import CountedWords
from bpe_core.errors import BpeError, CorpusError
from bpe_core.history.arguments import Learned, by_name, documents_of, history_of
from bpe_core.history.history import History
from bpe_core.measures.measures import UNKNOWN_AT_MOST
from bpe_core.measures.size_curves import USUAL_POWER, renyi_efficiency
from bpe_core.measures.texts_in_words import (
    AT_BLANKS,
    BetweenSpaces,
    TextsInWords,
    encodes_everything,
    finds_specials,
    shared_splitting,
)
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Float64s, Int64s
from bpe_core.support.data_table import DataTable, Values
from bpe_core.support.progress import ALONE, CancelCheck, Work, while_wanted
from bpe_core.support.rounding import with_interval
from bpe_core.support.threads import Job, Steps, WorkerPool
from bpe_core.support.wording import count_text
from bpe_core.text.characters import count_parts_between_blanks
from bpe_core.text.corpus import Corpus
from resources import OWN_SENTENCES, parallel_samples

Stand = Learned | tuple[Learned, int]
Tokenizers = Mapping[str, Stand]  # by name; a number says after how many steps the tokenizer is measured
Columns = Mapping[str, Values]
Texts = Mapping[str, str | Iterable[str]]  # by name; several documents together are a group with one row

NOTHING_TO_MEASURE = "A benchmark needs at least one tokenizer and one text."
HELD = 1_000_000  # characters of texts that are counted together
WORTH_COUNTING = 200_000  # characters of all texts; for more, words are counted first
NAMED = 3  # texts named in the sentence about what a tokenizer cannot encode
TIMED = 32_000  # characters of a text whose encoding is timed


class Contender(NamedTuple):
    name: str
    tokenizer: Tokenizer
    at: int


@dataclass(frozen=True, eq=False)
class Benchmark:
    """The result of a benchmark, with a row for each tokenizer and text. The rows are sorted by tokenizer."""

    tokenizers: tuple[str, ...]
    texts: tuple[str, ...]
    columns: Columns

    def of(self, column: str) -> npt.NDArray[np.float64]:
        """Return the values of one measure as a matrix with a row for each tokenizer and a column for each text.

        `column` is the name of the measure.
        """
        values = np.asarray(self.columns[column], np.float64)
        return values.reshape(len(self.tokenizers), len(self.texts))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return warnings about the comparison.

        A tokenizer that leaves a part of a text unencoded gets a warning, because it needs fewer tokens than a
        tokenizer that encodes the whole text. Another warning is given if the vocabularies have different sizes.
        """
        shares = self.of("unencoded_share")
        return tuple(filter(None, (*map(self._unknown, self.tokenizers, shares.tolist()), self._unequal)))

    @property
    def _unequal(self) -> str:
        """Return a warning if the vocabularies have different sizes, and otherwise an empty string."""
        sizes = self.of("vocabulary")[:, 0]
        if sizes.min() == sizes.max():
            return ""
        between = f"{sizes.min():,.0f} to {sizes.max():,.0f} tokens"
        return (
            f"The vocabularies have different sizes ({between}). A larger vocabulary needs fewer tokens for the same "
            "text."
        )

    def _unknown(self, tokenizer: str, shares: Sequence[float]) -> str:
        known = zip(self.texts, shares, strict=True)
        unencoded = sorted(
            (share_of_text for share_of_text in known if share_of_text[1] > 0),
            key=lambda share_of_text: -share_of_text[1],
        )
        if not unencoded:
            return ""
        some = ", ".join(f"{share:.2%} of {text}" for text, share in unencoded[:NAMED])
        more = f" and parts of {count_text(len(unencoded) - NAMED, 'more text')}" if len(unencoded) > NAMED else ""
        return (
            f"{tokenizer} cannot encode everything: {some}{more} (shares of the bytes, spaces not counted) become "
            "unknown tokens or no tokens. So its other values for these texts look too good."
        )


def benchmark(
    tokenizers: Tokenizers,
    texts: Texts,
    *,
    relative_to: str | None = None,
    power: float = USUAL_POWER,
    threads: int | None = None,
    work: Work = ALONE,
) -> Benchmark:
    """Measure every text with every tokenizer.

    The number of tokens is compared with the number that the tokenizer `relative_to` needs. By default this is the
    first tokenizer.
    """
    contenders = contenders_of(tokenizers)
    groups = _groups(texts)
    if not contenders or not groups:
        raise BpeError(NOTHING_TO_MEASURE)
    chosen = contenders[0].name if relative_to is None else relative_to
    if chosen not in tokenizers:
        raise BpeError(f"There is no tokenizer {chosen!r} to compare with; choose one of {', '.join(tokenizers)}.")
    jobs = [(contender, name) for contender in contenders for name in groups]
    with WorkerPool(threads, work) as pool:
        cells = _measured(contenders, groups, power, pool)
    return Benchmark(tuple(tokenizers), tuple(groups), _columns(jobs, groups, cells, chosen))


def contenders_of(tokenizers: Tokenizers) -> list[Contender]:
    """Return a contender for each name. A contender is a tokenizer with its name and its number of steps.

    Contenders with the same history share one tokenizer object.
    """
    made: dict[int, Tokenizer] = {}
    contenders = []
    for name, given in by_name(tokenizers).items():
        history, at = as_meant(given, name)
        learned = given[0] if isinstance(given, tuple) else given
        tokenizer = learned if isinstance(learned, Tokenizer) else made.setdefault(id(history), Tokenizer(history))
        contenders.append(Contender(name, tokenizer, at))
    return contenders


def as_meant(given: Stand, name: str) -> tuple[History, int]:
    learned, at = given if isinstance(given, tuple) else (given, None)
    history = history_of(learned, name)
    if at is not None and not 0 <= at <= len(history):
        raise BpeError(f"{name} has {count_text(len(history), 'step')}, so it cannot be measured after step {at:,}.")
    return history, len(history) if at is None else at


class _Cell(NamedTuple):
    tokens: int
    used: int
    unknown: int
    efficiency: float
    average_rank: float
    seconds: float
    unencoded: float


def _groups(texts: Texts) -> Mapping[str, Sequence[str]]:
    groups = {name: documents_of(given) for name, given in by_name(texts).items()}
    for name, documents in groups.items():
        if not any(documents):
            raise CorpusError(f"The text {name!r} is empty. Leave this text out, or add words to it.")
    return groups


def _measured(
    contenders: list[Contender], groups: Mapping[str, Sequence[str]], power: float, threads: WorkerPool
) -> list[_Cell]:
    in_words = _word_tables(contenders, groups, threads)
    between = None
    if not all(encodes_everything(contender.tokenizer) for contender in contenders):
        between = BetweenSpaces.of_words(in_words[AT_BLANKS]) if AT_BLANKS in in_words else None
        if between is None:
            (between,) = threads.all([lambda stopped: BetweenSpaces.of(groups, stopped)], "counting", "texts")

    def row_of(contender: Contender) -> Job[list[_Cell]]:
        splitting = shared_splitting(contender.tokenizer.history.recipe)
        is_matched = splitting in in_words and finds_specials(contender.tokenizer, groups)
        known = None if splitting is None or is_matched else in_words.get(splitting)

        def row(stopped: CancelCheck) -> list[_Cell]:
            lost = [0.0] * len(groups)
            if between is not None and not encodes_everything(contender.tokenizer):
                lost = between.unencoded(contender.tokenizer, contender.at, stopped)
            return list(steps.counted(_cells(contender, groups, known, lost, power, stopped)))

        return row

    steps = Steps(len(contenders) * len(groups))
    rows = threads.all([row_of(contender) for contender in contenders], "measuring", "texts", steps)
    return [cell for row in rows for cell in row]


def _word_tables(
    contenders: list[Contender], groups: Mapping[str, Sequence[str]], threads: WorkerPool
) -> dict[Recipe, TextsInWords]:
    """Count the words of long texts, so that each tokenizer encodes each different word only once.

    Return a table of words for each different way to split texts into words. Return an empty dictionary if the texts
    are short.
    """
    if sum(len(text) for documents in groups.values() for text in documents) < WORTH_COUNTING:
        return {}
    shared = (shared_splitting(contender.tokenizer.history.recipe) for contender in contenders)
    wanted_by = [recipe for recipe in shared if recipe is not None]
    if not all(encodes_everything(contender.tokenizer) for contender in contenders):
        wanted_by.append(AT_BLANKS)  # for the share of text that is not encoded
    splittings = list(dict.fromkeys(wanted_by))

    texts = list(groups.values())
    borders = sorted({len(texts) * part // threads.count for part in range(threads.count + 1)})

    def count(recipe: Recipe, some: Sequence[Sequence[str]]) -> Job[CountedWords]:
        return lambda stopped: count_texts(some, recipe, done=steps.add, cancelled=stopped)

    def together(recipe: Recipe, parts: Sequence[CountedWords]) -> Job[TextsInWords]:
        return lambda stopped: TextsInWords.of_counted(groups, parts, recipe)

    steps = Steps(len(splittings) * len(texts))
    jobs = _spread_evenly([(recipe, start, stop) for recipe in splittings for start, stop in pairwise(borders)])
    wanted = [count(recipe, texts[start:stop]) for recipe, start, stop in jobs]
    counted = dict(zip(jobs, threads.all(wanted, "counting", "texts", steps), strict=True))
    parts = [
        together(recipe, [counted[recipe, start, stop] for start, stop in pairwise(borders)]) for recipe in splittings
    ]
    return dict(zip(splittings, threads.all(parts, "joining", "splittings"), strict=True))


def _spread_evenly(jobs: Sequence[tuple[Recipe, int, int]]) -> list[tuple[Recipe, int, int]]:
    """Sort jobs so that the jobs that normalize texts are spread evenly among the other jobs.

    Normalizing holds the GIL. The other jobs release the GIL, so they can run at the same time.
    """
    kinds = [[job for job in jobs if job[0].normalizes is wanted] for wanted in (True, False)]
    placed = [(place / len(kind), job) for kind in kinds for place, job in enumerate(kind)]
    return [job for _, job in sorted(placed, key=itemgetter(0))]


def _cells(
    contender: Contender,
    groups: Mapping[str, Sequence[str]],
    in_words: TextsInWords | None,
    lost: list[float],
    power: float,
    cancelled: CancelCheck,
) -> Iterator[_Cell]:
    history = contender.tokenizer.history
    at = contender.at
    cut = None if in_words is None else in_words.cut(history, at, cancelled=cancelled)
    unknown = [id for id, symbol in enumerate(history.alphabet.but_seeds) if symbol.kind == "unknown"]
    for (name, documents), unencoded in zip(while_wanted(groups.items(), cancelled, every=1), lost, strict=True):
        if cut is None:
            counts, seconds = _encoded(contender, documents, cancelled)
        else:
            counts = cut.counts(name)
            seconds = _seconds(contender, documents)
        yield _Cell(
            int(counts.sum()),
            int(np.count_nonzero(counts)),
            int(counts[unknown].sum()),
            renyi_efficiency(counts, power),
            average_rank(counts),
            seconds,
            unencoded,
        )


def _encoded(contender: Contender, documents: Sequence[str], cancelled: CancelCheck) -> tuple[Int64s, float]:
    counts = np.zeros(contender.tokenizer.history.index_count, np.int64)
    seconds = 0.0
    held: list[npt.NDArray[np.int32]] = []
    for text in while_wanted(documents, cancelled, every=1):
        began = time.thread_time()
        held.append(contender.tokenizer.encode_to_array(text, at=contender.at))
        seconds += time.thread_time() - began
        if sum(map(len, held)) > HELD:
            counts += np.bincount(np.concatenate(held), minlength=len(counts))
            held = []
    if held:
        counts += np.bincount(np.concatenate(held), minlength=len(counts))
    return counts, seconds


def _seconds(contender: Contender, documents: Sequence[str]) -> float:
    whole = sum(map(len, documents))
    taken = 0
    began = time.thread_time()
    for text in documents:
        contender.tokenizer.encode_to_array(text[: TIMED - taken], at=contender.at)
        taken += min(len(text), TIMED - taken)
        if taken >= TIMED:
            break
    return (time.thread_time() - began) * whole / taken


def _columns(
    jobs: list[tuple[Contender, str]], groups: Mapping[str, Sequence[str]], cells: list[_Cell], chosen: str
) -> Columns:
    recipe = jobs[0][0].tokenizer.history.recipe
    sizes = {
        name: recipe.size_of(sum(len(text.encode(errors="surrogatepass")) for text in group))
        for name, group in groups.items()
    }
    words = {name: sum(map(count_parts_between_blanks, group)) for name, group in groups.items()}
    of_chosen = {
        name: cell.tokens for (contender, name), cell in zip(jobs, cells, strict=True) if contender.name == chosen
    }
    size, word = (np.array([of[name] for _, name in jobs], np.int64) for of in (sizes, words))
    vocabulary = np.array([job.tokenizer.vocabulary_size(job.at) for job, _ in jobs], np.int64)
    tokens, used, unknown = (np.array(column, np.int64) for column in list(zip(*cells, strict=True))[:3])
    return {
        "tokenizer": [job.name for job, _ in jobs],
        "text": [name for _, name in jobs],
        "step": np.array([job.at for job, _ in jobs], np.int64),
        "vocabulary": vocabulary,
        "bytes": size,
        "words": word,
        "tokens": tokens,
        "bytes_per_token": ratio(size, tokens),
        "tokens_per_word": ratio(tokens, word),
        "renyi_efficiency": np.array([cell.efficiency for cell in cells]),
        "share_in_use": ratio(used, vocabulary),
        "type_token_ratio": ratio(used, tokens),
        "average_rank": np.array([cell.average_rank for cell in cells]),
        "unknown_share": ratio(unknown, tokens),
        "unencoded_share": np.array([cell.unencoded for cell in cells]),
        "relative_tokens": ratio(tokens, np.array([of_chosen[name] for _, name in jobs], np.int64)),
        "seconds": np.array([cell.seconds for cell in cells]),
    }


def average_rank(counts: Int64s) -> float:
    """Return the average rank of the tokens in a text. The most frequent token has rank 1, and each occurrence counts.

    >>> average_rank(np.array([1, 0, 3]))
    1.25
    """
    ordered = np.sort(counts[counts > 0])[::-1]
    total = int(ordered.sum())
    return float(ordered @ np.arange(1, len(ordered) + 1)) / total if total else float("nan")


def ratio(some: Int64s | Float64s, of: Int64s | Float64s) -> Float64s:
    """Divide numbers element by element. The result of a division by zero is NaN."""
    ratios: Float64s = np.where(of > 0, some / np.maximum(of, 1), np.nan)
    return ratios


# The same sentences in the same order, by language. In a string, each line is a sentence.
Parallel = Mapping[str, str | Iterable[str]]
Sentences = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class Parity:
    premium: Float64s  # for each tokenizer and language
    summary: Columns  # a row for each tokenizer

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(map(parity_sentence, DataTable(self.summary).records()))


def parity_sentence(row: Mapping[str, Any]) -> str:
    """Return a sentence about a row of the summary. If the row has intervals, the sentence includes them."""

    def value(name: str, digits: int) -> str:
        low, high = (row.get(f"{name}_{end}") for end in ("low", "high"))
        if low is None or high is None or low != low or high != high:
            return f"{row[name]:.{digits}f}"
        return with_interval(row[name], low, high)

    left_out = row["left_out"]
    without = (
        f"without {left_out}, because more than {UNKNOWN_AT_MOST:.0%} of the text is not encoded: " if left_out else ""
    )
    if row["worst_language"] is None or row["gini"] is None:
        return f"{row['tokenizer']}: {without}no two texts are left to compare."
    reference = row["reference"]
    beside = f"and {reference} has no tokens" if row["worst"] is None else f"{value('worst', 2)} times {reference}"
    fewest = "one text has no tokens"
    if row["spread"] is not None:
        fewest = f"the most tokens are {value('spread', 2)} times the fewest"
    return f"{row['tokenizer']}: {without}worst {row['worst_language']}, {beside}; {fewest}; Gini {value('gini', 3)}."


def parity_of(measured: Benchmark, reference: str | None = None) -> Parity:
    """Compare how many tokens each language needs for the same sentences.

    `reference` is the language that the others are compared with, by default the first. If a tokenizer cannot encode a
    language, its unknown tokens would make the count too small, so this language is left out.
    """
    chosen = measured.texts[0] if reference is None else reference
    if chosen not in measured.texts:
        raise BpeError(f"There is no language {chosen!r} to compare with; choose one of {', '.join(measured.texts)}.")
    tokens = measured.of("tokens")
    place = measured.texts.index(chosen)
    premium = ratio(tokens, tokens[:, [place]])
    is_encoded = measured.of("unencoded_share") <= UNKNOWN_AT_MOST
    is_compared = is_encoded & is_encoded[:, [place]]  # no comparison is possible if the reference is not encoded
    summary: dict[str, list[Any]] = {
        name: [] for name in ("tokenizer", "reference", "worst_language", "worst", "spread", "gini", "left_out")
    }
    for row, name in enumerate(measured.tokenizers):
        left_out = [text for text, kept in zip(measured.texts, is_encoded[row], strict=True) if not kept]
        known = np.flatnonzero(is_compared[row])
        if left_out and len(known) < 2:  # the reference is not compared with itself
            known = known[:0]
        of_known = tokens[row, known]
        worst = int(known[of_known.argmax()]) if len(known) else None
        summary["tokenizer"].append(name)
        summary["reference"].append(chosen)
        summary["worst_language"].append(None if worst is None else measured.texts[worst])
        summary["worst"].append(np.nan if worst is None else float(premium[row, worst]))
        summary["spread"].append(float(ratio(of_known.max(), of_known.min())) if len(known) else np.nan)
        summary["gini"].append(gini(of_known) if len(known) else np.nan)
        summary["left_out"].append(", ".join(left_out))
    numbers = {name: np.array(summary[name], np.float64) for name in ("worst", "spread", "gini")}
    return Parity(premium.ravel(), {**summary, **numbers})


def checked_parallel(parallel: Parallel) -> Sentences:
    sentences_by_language = {language: sentences_of(text) for language, text in by_name(parallel).items()}
    lengths = {language: len(sentences) for language, sentences in sentences_by_language.items()}
    if len(set(lengths.values())) > 1:
        short = min(lengths, key=lengths.__getitem__)
        long = max(lengths, key=lengths.__getitem__)
        raise CorpusError(
            "Parallel texts must hold the same sentences, one in each line. But "
            f"{short} has {count_text(lengths[short], 'line')}, and {long} has {lengths[long]:,}. "
            "Give each language the same number of lines."
        )
    return sentences_by_language


def parallel_texts(folder: Path | str) -> dict[str, list[str]]:
    """Return a dictionary from the name of each language in a folder to its sentences.

    The folder has a file for each language (`en.txt`, `de.txt`), with one sentence in each line. If `folder` is
    `OWN_SENTENCES`, return the sentences that come with the program.
    """
    if folder == OWN_SENTENCES:
        return parallel_samples()
    if not Path(folder).is_dir():
        raise CorpusError(f"{folder} is not a folder. Parallel texts are a folder with a file for each language.")
    corpus = Corpus.from_files(folder)
    texts = {}
    for name, part in corpus.by_source().items():
        texts[Path(name).name.partition(".")[0]] = sentences_of("\n".join(part.documents()))
    checked_parallel(texts)
    return texts


def sentences_of(text: str | Iterable[str]) -> list[str]:
    return text.rstrip().split("\n") if isinstance(text, str) else documents_of(text)


def gini(values: npt.NDArray[np.float64]) -> float:
    """Return the Gini coefficient of values: 0 if all values are equal, near 1 if one value has everything.

    >>> gini(np.array([2.0, 2.0])), gini(np.array([0.0, 0.0, 0.0, 1.0]))
    (0.0, 0.75)
    """
    ordered = np.sort(values)
    count = len(values)
    total = float(ordered.sum())
    ranks = 2 * np.arange(1, count + 1) - count - 1
    return float((ranks * ordered).sum() / (count * total)) if total else 0.0
