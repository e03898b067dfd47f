"""The intervals of a benchmark. They show how much a measure would change if other documents were measured.

The documents are drawn at random, and each draw is used for all tokenizers. If the texts are parallel, the
same sentences are drawn in each language.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bpe_core.measures.benchmark import Benchmark, Columns, Contender, Tokenizers, contenders_of, gini
from bpe_core.measures.benchmark_sums import tokens_of_parts
from bpe_core.measures.bootstrap import DRAWS, LEAST, Bootstrap, interval, ratios
from bpe_core.measures.measures import UNKNOWN_AT_MOST
from bpe_core.support.arrays import Float64s
from bpe_core.support.progress import ALONE, Progress, Work
from bpe_core.support.wording import count_text
from bpe_core.text.characters import count_parts_between_blanks

Texts = Mapping[str, Sequence[str]]
OF_INTERVALS = ("bytes_per_token", "tokens_per_word", "relative_tokens", "premium")
NAMED = 3  # texts named in a sentence


@dataclass(frozen=True, eq=False)
class DrawnTexts:
    """The results of random draws from the documents of each text.

    Each array has a row for each draw. The row holds sums over the drawn documents, such as the number of tokens.
    """

    documents: Mapping[str, int]
    seed: int
    tokens: Mapping[str, Float64s]  # by text, with a column for each tokenizer
    bytes: Mapping[str, Float64s]
    words: Mapping[str, Float64s]

    @classmethod
    def of(
        cls, tokenizers: Tokenizers, texts: Texts, *, seed: int = 0, is_parallel: bool = False, work: Work = ALONE
    ) -> DrawnTexts:
        """Draw the documents of all texts.

        Parameters
        ----------
        tokenizers
            A dictionary from names to tokenizers.
        texts
            A dictionary from the name of each text to its documents. Texts with fewer than five documents are left out.
        seed
            The seed of the draws.
        is_parallel
            Whether the documents are the same sentences in several languages. Then a draw takes the same sentences in
            each language.
        work
            The callbacks that receive the progress and may cancel the work.
        """
        contenders = contenders_of(tokenizers)
        sums: dict[str, Float64s] = {}
        for place, (name, documents) in enumerate(texts.items()):
            work.check()
            work.progress(Progress("drawing random documents", place, len(texts), "texts"))
            if len(documents) >= LEAST:
                draws = Bootstrap(len(documents), seed if is_parallel else (seed, place))
                sums[name] = draws.sums(_rows_of(contenders, documents))
        several = len(contenders)
        return cls(
            {name: len(documents) for name, documents in texts.items()},
            seed,
            {name: drawn[:, :several] for name, drawn in sums.items()},
            {name: drawn[:, several] for name, drawn in sums.items()},
            {name: drawn[:, several + 1] for name, drawn in sums.items()},
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return sentences about the resampling of documents. One of them may name texts with too few documents."""
        few = [name for name, count in self.documents.items() if count < LEAST]
        said = [
            f"The columns …_low and …_high hold the ends of a 95 % interval over resampled documents ({DRAWS:,} draws, "
            f"seed {self.seed}). All tokenizers get the same draws."
        ]
        if few:
            more = f" and {len(few) - NAMED:,} more" if len(few) > NAMED else ""
            have = count_text(self.documents[few[0]], "document")
            said.append(
                f"No interval is known for {', '.join(few[:NAMED])}{more}: {few[0]} has {have}, and at least {LEAST} "
                "are needed. Put several files into a group, or name a file with a document in each row."
            )
        return tuple(said)


def interval_columns(measured: Benchmark, drawn: DrawnTexts, relative_to: str, reference: str = "") -> Columns:
    """Return the limits of the confidence intervals of a benchmark as columns, with a row per tokenizer and text.

    Parameters
    ----------
    measured
        The benchmark of the tokenizers and texts that were drawn.
    drawn
        The draws of the benchmark's texts.
    relative_to
        The tokenizer that the other tokenizers are compared with.
    reference
        The language that the other languages are compared with. If it is empty, the columns of language premiums
        are left out.
    """
    other = measured.tokenizers.index(relative_to)
    names = OF_INTERVALS if reference else OF_INTERVALS[:-1]
    columns: dict[str, list[float]] = {f"{name}_{end}": [] for name in names for end in ("low", "high")}
    for place in range(len(measured.tokenizers)):
        for text in measured.texts:
            ends = _intervals(drawn, text, place, other, reference) if text in drawn.tokens else {}
            for name in names:
                low, high = ends.get(name, (np.nan, np.nan))
                columns[f"{name}_low"].append(float(low))
                columns[f"{name}_high"].append(float(high))
    return {name: np.array(values, np.float64) for name, values in columns.items()}


def parity_intervals(measured: Benchmark, drawn: DrawnTexts, reference: str) -> list[dict[str, Any]]:
    """Return the intervals of three measures of each tokenizer: worst premium, spread and Gini coefficient.

    The intervals are computed from randomly drawn documents. As in the comparison itself, languages that a
    tokenizer does not encode are left out.
    """
    is_encoded = measured.of("unencoded_share") <= UNKNOWN_AT_MOST
    rows: list[dict[str, Any]] = []
    for place, name in enumerate(measured.tokenizers):
        known = [text for text, kept in zip(measured.texts, is_encoded[place], strict=True) if kept]
        row: dict[str, Any] = {"tokenizer": name}
        if reference in known and len(known) > 1 and all(text in drawn.tokens for text in known):
            tokens = np.array([drawn.tokens[text][:, place] for text in known]).T
            of_reference = tokens[:, [known.index(reference)]]
            most = tokens.max(axis=1)
            values = {
                "worst": ratios(most, of_reference[:, 0]),
                "spread": ratios(most, tokens.min(axis=1)),
                "gini": np.apply_along_axis(gini, 1, tokens),
            }
            for measure, draws in values.items():
                row[f"{measure}_low"], row[f"{measure}_high"] = (float(end) for end in interval(draws))
        rows.append(row)
    return rows


def _intervals(
    drawn: DrawnTexts, text: str, place: int, other: int, reference: str
) -> dict[str, tuple[Float64s, Float64s]]:
    tokens = drawn.tokens[text][:, place]
    draws = {
        "bytes_per_token": ratios(drawn.bytes[text], tokens),
        "tokens_per_word": ratios(tokens, drawn.words[text]),
        "relative_tokens": ratios(tokens, drawn.tokens[text][:, other]),
    }
    if reference in drawn.tokens:
        draws["premium"] = ratios(tokens, drawn.tokens[reference][:, place])
    return {name: interval(values) for name, values in draws.items()}


def _rows_of(contenders: Sequence[Contender], documents: Sequence[str]) -> Float64s:
    """Return an array with a column for each document.

    The first rows hold the number of tokens, with one row for each tokenizer. The last two rows hold the number of
    bytes, and the number of parts between blanks.
    """
    parts = [[document] for document in documents]
    tokens = [tokens_of_parts(contender, parts) for contender in contenders]
    recipe = contenders[0].tokenizer.history.recipe
    sizes = [recipe.size_of(len(document.encode(errors="surrogatepass"))) for document in documents]
    return np.array([*tokens, sizes, list(map(count_parts_between_blanks, documents))], np.float64)
