"""The question that compares tokenizers by all measures, on one or more texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bpe_core.asking import Answer, Question, parameter
from bpe_core.asking.answer import ends_of_interval
from bpe_core.asking.shared import at_sizes, power_parameter, sentences_parameter, sizes_parameter
from bpe_core.errors import BpeError
from bpe_core.figures.from_table import dots_chart
from bpe_core.measures.benchmark import benchmark, parallel_texts, parity_of, parity_sentence
from bpe_core.measures.benchmark_sums import sums_of
from bpe_core.measures.inside_tokens import inside_of_texts
from bpe_core.measures.intervals import DrawnTexts, interval_columns, parity_intervals
from bpe_core.measures.measures import MEASURES, OF_BENCHMARK
from bpe_core.measures.parallel import parallel_columns
from bpe_core.measures.size_curves import checked_power
from bpe_core.studies.study import Study
from bpe_core.studies.texts import Texts
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work

INSIDE = "inside"
OF_PARALLEL = ("premium", "byte_premium", "single_token_share", "zipf_exponent", "zipf_fit")
DRAWN = (
    *("tokens", "bytes_per_token", "tokens_per_word", "renyi_efficiency", "share_in_use", "type_token_ratio"),
    *("average_rank", "unknown_share", "unencoded_share", "relative_tokens", INSIDE, "seconds", *OF_PARALLEL),
)
COLUMNS = "\n".join(f"  {name:<18} {MEASURES[name].meaning}" for name in (*OF_BENCHMARK, INSIDE, *OF_PARALLEL))

ENGLISH = "en"  # the usual language to compare others with


@dataclass(frozen=True)
class Benchmark(Question):
    """Compare tokenizers on texts, and count the tokens that the same sentences need in each language."""

    about = "other tokenizers"
    asks = "Which is best on which text?"
    turn = 4
    needs = "texts if known"
    studies = (1, 1_000)
    rests = True
    of_page = "sums"
    examples = f"""\
examples:
  bpe-explorer benchmark ours.csv theirs.tokenizer.json --texts news/ book.txt --output figures.parquet
      Write a row for each file and tokenizer; pandas.read_parquet("figures.parquet") reads them.

  bpe-explorer benchmark ours.csv --sizes 1000 2000 4000 --group de texts/de --group code src
      Compare the tokenizer at three vocabulary sizes, by groups of texts.

  bpe-explorer benchmark ours.csv theirs.tiktoken --parallel sentences/ --reference en
      Count the tokens of the same sentences in each language: a file for each (en.txt, de.txt), one sentence in a line.

  bpe-explorer benchmark ours=a.json theirs=b.model --texts news.jsonl --intervals --seed 1 --latex
      Give each figure with its interval, from 1,000 draws of whole documents. The table rounds each figure by its
      interval.

  bpe-explorer benchmark ours=a.json theirs=b.model --texts domains/ --weights en=70% code=30% --report choice.html
      Give the tokenizers names. The page has the figures, the sums by the shares of the texts (by their file names),
      how much the sums would change with other documents, and a recommendation.

columns:
{COLUMNS}
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> two = {"ours": study, "half": study.at(3)}
        >>> bpe.benchmark(two, {"en": "the lowest", "de": "die niedrigste"}).columns["tokens"].tolist()
        [6, 13, 8, 13]
    """

    texts: Texts | None = parameter(None, help="files and folders; each file is a text", metavar="FILE", title="Texts")
    parallel: str = sentences_parameter("none")
    reference: str = parameter(
        "",
        help="the reference language for the comparison (default: en, or the first)",
        metavar="NAME",
        of_column="text",
        only_with="parallel",
        title="Language to compare with",
        in_words={"": "en, or the first"},
        is_extra=True,
    )
    sizes: tuple[int, ...] = sizes_parameter()
    relative_to: str = parameter(
        "",
        help="the reference tokenizer for the comparison (default: the first)",
        metavar="TABLE",
        of_column="tokenizer",
        title="Tokenizer to compare with",
        in_words={"": "the first"},
        is_extra=True,
    )
    weights: tuple[str, ...] = parameter(
        (),
        help="add up all texts by these shares, such as de=70%% code=30%%, or by factors",
        metavar="NAME=SHARE",
        title="Weights of texts",
        example="en=70% de=30%",
        is_extra=True,
    )
    sums: bool = parameter(
        False,
        help="add up all texts by their bytes, and recommend a tokenizer",
        title="Add up all texts",
        is_extra=True,
    )
    intervals: bool = parameter(
        False,
        help="also give intervals, by drawing whole documents (or the sentences of --parallel) again and again",
        title="Intervals by drawing documents",
        is_extra=True,
    )
    seed: int = parameter(
        0,
        help="the seed of the random draws (default: 0)",
        metavar="N",
        title="Seed of the random draws",
        is_extra=True,
    )
    measure: str = parameter("tokens", help=f"the measure to draw: {', '.join(DRAWN)}", choices=DRAWN)
    power: float = power_parameter()
    ends: bool = parameter(
        False,
        help="also measure the share of the ends of words that fall inside a token",
        title="Ends of words",
        is_extra=True,
    )

    def asks_corpus(self, *, has_texts: bool) -> bool:
        return not self.parallel and self.texts is None

    def answer(self, studies: Mapping[str, Study], work: Work = ALONE) -> Answer:
        if self.reference and not self.parallel:
            raise BpeError(
                "--reference names a language of parallel texts, so add --parallel. To name one of the tables, use "
                "--relative-to."
            )
        tokenizers = dict(at_sizes(studies, self.sizes))
        texts = self.texts_of(studies)
        power = checked_power(self.power)
        measured = benchmark(
            tokenizers, texts, relative_to=_chosen(tokenizers, self.relative_to), power=power, work=work
        )
        columns = dict(measured.columns)
        sentences = [*measured.remarks]
        facts = dict[str, Any]()
        drawn = None
        if self.intervals:
            is_parallel = bool(self.parallel)
            drawn = DrawnTexts.of(tokenizers, texts, seed=self.seed, is_parallel=is_parallel, work=work)
        reference = ""
        if self.parallel:
            parity = parity_of(measured, self.reference or (ENGLISH if ENGLISH in texts else None))
            columns["premium"] = parity.premium
            reference = str(parity.summary["reference"][0])
            columns |= parallel_columns(tokenizers, texts, reference, work)
            compared = DataTable(parity.summary).records()
            if drawn is not None:
                ends = parity_intervals(measured, drawn, reference)
                compared = [row | of_row for row, of_row in zip(compared, ends, strict=True)]
            sentences = [*map(parity_sentence, compared), *sentences]
            facts = {"parity": compared}
        if drawn is not None:
            relative_to = _chosen(tokenizers, self.relative_to) or measured.tokenizers[0]
            columns |= interval_columns(measured, drawn, relative_to, reference)
            sentences += drawn.sentences
        if self.ends or self.measure == INSIDE:
            columns |= inside_of_texts(tokenizers, texts, work)
        if self.sums or self.weights:
            sums = sums_of(measured, tokenizers, texts, self.weights, seed=self.seed, work=work)
            sentences = [*sums.sentences, *sentences]
            facts |= {"sums": sums.table.records(), "weights": {name: float(of) for name, of in sums.weights.items()}}
        if self.measure not in columns:
            raise BpeError(f"{self.measure} needs parallel texts: name them with --parallel.")
        table = DataTable(columns)
        with_ends = [each for name in DRAWN for each in (name, *ends_of_interval(name))]
        listed = ("tokenizer", "text", *(name for name in with_ends if name in columns))
        return Answer(table, tuple(sentences), dots_chart(table, self.measure), listed, facts=facts)

    def texts_of(self, studies: Mapping[str, Study]) -> Mapping[str, Sequence[str]]:
        if self.parallel:
            return parallel_texts(self.parallel)
        texts = self.texts or next(iter(studies.values())).texts
        if texts is None:
            raise BpeError("A benchmark measures texts: name them with --texts, --group or --parallel.")
        with texts.reading() as corpus:
            parts = corpus.by_source() if corpus.groups == ("",) else corpus.parts()
            return {name: list(part.documents()) for name, part in parts.items()}


def _chosen(tokenizers: Mapping[str, object], name: str) -> str | None:
    if not name or name in tokenizers:
        return name or None
    return next((tokenizer for tokenizer in tokenizers if tokenizer.startswith(f"{name}@")), name)
