"""The weighted mean of a benchmark over all its texts, with an interval that shows how uncertain the mean is.

For each tokenizer, the weighted sum of its tokens per byte over all texts is computed. Other documents of the same
kinds would give another sum. To estimate this effect, the documents of each text are drawn many times with replacement.
All tokenizers get the same draws. If a difference between two tokenizers occurs in nearly all draws, it comes from the
tokenizers and not from the documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from bpe_core.errors import BpeError, RecipeError
from bpe_core.measures.benchmark import Benchmark, Contender, Tokenizers, contenders_of, ratio
from bpe_core.measures.measures import UNKNOWN_AT_MOST
from bpe_core.support.arrays import Float64s, Int64s
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Progress, Work
from bpe_core.support.wording import short_names
from bpe_core.text.mixture import refuse_repeated, share_text, weight_of

DRAWS = 1_000
MOST_PARTS = 500  # parts of a text to draw from; neighbouring documents are joined if there are more
LEAST_PARTS = 20  # with fewer parts, no interval is given
BETWEEN = (2.5, 97.5)  # percentiles: 95 of 100 draws lie between them
DIGITS = 3
MUCH_LARGER = 1.5  # a vocabulary this many times larger is mentioned in the sentence


@dataclass(frozen=True, eq=False)
class Sums:
    """The weighted means over all texts of a benchmark, with a row for each tokenizer.

    Each mean has an interval from `low` to `high`, which shows how uncertain the mean is. To find it, documents or
    lines are drawn from each text many times. If a text has too few of them, both limits are NaN.
    """

    tokenizers: tuple[str, ...]
    weights: Mapping[str, Fraction]  # the weight of each text; they add up to 1
    bytes_per_token: Float64s
    low: Float64s
    high: Float64s
    beside_best: Float64s  # tokens a byte, relative to the best tokenizer
    beside_low: Float64s
    beside_high: Float64s
    is_encoded: tuple[bool, ...]  # a tokenizer that leaves out more than a little of a text is not compared
    best: int | None
    by_text: Mapping[str, int | None]  # the best tokenizer for each text
    vocabularies: tuple[int, ...]

    @property
    def table(self) -> DataTable:
        return DataTable(
            {
                "tokenizer": list(self.tokenizers),
                "vocabulary": np.array(self.vocabularies, np.int64),
                "bytes_per_token": self.bytes_per_token,
                "from": self.low,
                "to": self.high,
                "tokens_beside_best": self.beside_best,
                "beside_from": self.beside_low,
                "beside_to": self.beside_high,
            }
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return sentences that recommend a tokenizer and compare the others with it.

        If a different tokenizer is better for some text, a sentence says so.
        """
        if self.best is None:
            return ("No tokenizer encodes all texts, so no tokenizer is recommended.",)
        names = self.tokenizers
        best = self.best
        said = [f"Over all texts ({self._weights}) {names[best]} makes the fewest tokens: {self._figure(best)}."]
        alike = [place for place in self._rows_to_compare if self.beside_low[place] <= 1]
        for place in self._rows_to_compare:
            more = f"{names[place]} needs {self.beside_best[place] - 1:.1%} more"
            turned = "; with other documents the order could change" if place in alike else ""
            said.append(f"{more} ({self._interval(place)}){turned}.")
        for text, winner in zip(short_names([*self.by_text]), self.by_text.values(), strict=True):
            if winner is not None and winner != best:
                said.append(f"For {text} alone, {names[winner]} makes fewer tokens.")
        left_out = [name for name, is_encoded in zip(names, self.is_encoded, strict=True) if not is_encoded]
        if left_out:
            said.append(
                f"Tokenizers that are not compared, because they leave out more than {UNKNOWN_AT_MOST:.0%} of a "
                f"text: {', '.join(left_out)}."
            )
        return (*said, self._recommendation([best, *alike]))

    def _recommendation(self, equal: Sequence[int]) -> str:
        names = self.tokenizers
        sizes = self.vocabularies
        if len(equal) == 1:
            larger = "" if len(self._rows_to_compare) == 0 else self._about_size(equal[0])
            return f"Recommended: {names[equal[0]]}{larger}."
        least = min(equal, key=lambda place: sizes[place])
        equals = " and ".join(names[place] for place in equal)
        if len({sizes[place] for place in equal}) == 1:
            return f"Recommended: {equals} equally. These texts do not show which tokenizer is better."
        return (
            f"Recommended: {names[least]}. These texts show no difference between {equals}, and {names[least]} has the "
            "smallest vocabulary."
        )

    def _about_size(self, best: int) -> str:
        smallest = min(self._rows_to_compare, key=lambda place: self.vocabularies[place])
        size = self.vocabularies[best]
        other = self.vocabularies[smallest]
        if size < MUCH_LARGER * other:
            return ""
        return f", whose vocabulary of {size:,} is {size / other:.1f} times that of {self.tokenizers[smallest]}"

    @property
    def _rows_to_compare(self) -> list[int]:
        """Return the rows of all tokenizers that are compared with the best tokenizer, sorted by their distance from
        it.

        Tokenizers that leave text unencoded are not compared.
        """
        known = [place for place, is_encoded in enumerate(self.is_encoded) if is_encoded and place != self.best]
        return sorted(known, key=lambda place: float(self.beside_best[place]))

    @property
    def _weights(self) -> str:
        weights = zip(short_names([*self.weights]), self.weights.values(), strict=True)
        return ", ".join(f"{text} {share_text(weight)}" for text, weight in weights)

    def _figure(self, place: int) -> str:
        value, low, high = (float(of[place]) for of in (self.bytes_per_token, self.low, self.high))
        between = (
            f" (95 % interval over resampled documents: {low:.{DIGITS}f} to {high:.{DIGITS}f})" if low == low else ""
        )
        return f"{value:.{DIGITS}f} bytes per token{between}"

    def _interval(self, place: int) -> str:
        low = float(self.beside_low[place])
        high = float(self.beside_high[place])
        if low != low:
            return "from too few documents to estimate the uncertainty"
        return f"{low - 1:.1%} to {high - 1:.1%}"


def sums_of(
    measured: Benchmark,
    tokenizers: Tokenizers,
    texts: Mapping[str, Sequence[str]],
    weights: Sequence[str] = (),
    *,
    seed: int = 0,
    work: Work = ALONE,
) -> Sums:
    """Return the weighted sums of a benchmark.

    `weights` are texts such as NAME=SHARE. By default the weight of a text is its number of bytes.
    """
    shares = _shares(measured, weights)
    by_place = np.array([float(shares[text]) for text in measured.texts])
    tokens_per_byte = measured.of("tokens") / measured.of("bytes")
    documents = [texts[name] for name in measured.texts]
    drawn = _draw_parts(contenders_of(tokenizers), documents, tokens_per_byte, seed, work)
    whole = tokens_per_byte @ by_place
    weighed = by_place > 0
    draws = np.einsum("tcd,t->cd", drawn[weighed], by_place[weighed])
    is_encoded = ((measured.of("unencoded_share") <= UNKNOWN_AT_MOST) | (by_place == 0)).all(axis=1)
    known = np.flatnonzero(is_encoded)
    best = int(known[whole[known].argmin()]) if len(known) else None
    beside = whole / whole[best] if best is not None else np.full(len(whole), np.nan)
    beside_draws = draws / draws[best] if best is not None else np.full_like(draws, np.nan)
    high, low = _percentiles(1 / draws)[::-1]
    beside_low, beside_high = _percentiles(beside_draws)
    by_text = {
        text: int(known[tokens_per_byte[known, place].argmin()]) if len(known) and weighed[place] else None
        for place, text in enumerate(measured.texts)
    }
    sizes = measured.of("vocabulary")[:, 0].astype(int).tolist()
    return Sums(
        measured.tokenizers,
        shares,
        1 / whole,
        low,
        high,
        beside,
        beside_low,
        beside_high,
        tuple(is_encoded.tolist()),
        best,
        by_text,
        tuple(sizes),
    )


def _shares(measured: Benchmark, weights: Sequence[str]) -> dict[str, Fraction]:
    if not weights:
        sizes = measured.of("bytes")[0].astype(int).tolist()
        return {text: Fraction(size, sum(sizes)) for text, size in zip(measured.texts, sizes, strict=True)}
    named = list[tuple[str, Fraction]]()
    names = dict(zip(measured.texts, short_names(measured.texts), strict=True))
    for weight in weights:
        name, equals, value = weight.rpartition("=")
        chosen = [text for text, apart in names.items() if name in (text, apart, short_name(text))]
        if not equals or len(chosen) != 1:
            known = ", ".join(names.values())
            raise BpeError(f"--weights {weight}: write NAME=SHARE with the name of a text. The texts are {known}.")
        named.append((chosen[0], weight_of(value)))
    refuse_repeated((text for text, _ in named), "--weights")
    given = dict(named)
    whole = sum(given.values(), Fraction(0))
    if any(value < 0 for value in given.values()) or not whole:
        raise RecipeError(
            "Weights of texts must be shares or factors of at least 0, and at least one weight must be above 0."
        )
    if all(weight.strip().endswith("%") for weight in weights) and whole != 1:
        raise RecipeError(f"The weights of the texts must add up to 100 %, not to {share_text(whole)}.")
    return {text: given.get(text, Fraction(0)) / whole for text in measured.texts}


def short_name(text: str) -> str:
    r"""Return the name of a file without its folder and ending, as `--weights` accepts it.

    >>> short_name("news/de.txt"), short_name(r"news\de.txt"), short_name("de")
    ('de', 'de', 'de')
    """
    last = text.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return last.partition(".")[0] or last


def _draw_parts(
    contenders: Sequence[Contender],
    texts: Sequence[Sequence[str]],
    tokens_per_byte: Float64s,
    seed: int,
    work: Work,
) -> Float64s:
    """Draw parts of each text many times. Return the tokens per byte for each text, tokenizer and draw.

    A line that is encoded alone can have more tokens than in its text, for example if a line end and the next word are
    one token. So the values are scaled: all parts together have the `tokens_per_byte` of the whole text. The values of
    a text with too few parts are NaN.
    """
    chance = np.random.default_rng(seed)
    drawn = np.full((len(texts), len(contenders), DRAWS), np.nan)
    for place, documents in enumerate(texts):
        work.check()
        work.progress(Progress("drawing random documents", place, len(texts), "texts"))
        parts = _parts(documents)
        if len(parts) >= LEAST_PARTS:
            many = chance.multinomial(len(parts), np.full(len(parts), 1 / len(parts)), DRAWS)
            sizes = np.array([sum(len(text.encode(errors="surrogatepass")) for text in part) for part in parts])
            for row, contender in enumerate(contenders):
                tokens = tokens_of_parts(contender, parts)
                scale = ratio(tokens_per_byte[row, place] * sizes.sum(), tokens.sum())
                drawn[place, row] = scale * ratio(many @ tokens, many @ sizes)
    return drawn


def tokens_of_parts(contender: Contender, parts: Sequence[Sequence[str]]) -> Int64s:
    """Return the number of tokens of each part. A part is a list of texts."""
    flat = [text for part in parts for text in part]
    batch = contender.tokenizer.encode_batch(flat, at=contender.at)
    ends = np.array([*batch.offsets[: len(flat)].tolist(), len(batch.ids)], np.int64)
    edges = np.cumsum([0, *map(len, parts)])
    tokens: Int64s = ends[edges[1:]] - ends[edges[:-1]]
    return tokens


def _parts(documents: Sequence[str]) -> list[list[str]]:
    """Divide a text into at most MOST_PARTS parts, from which random samples are drawn later.

    A part is a group of documents. If there are few documents, a part is a group of lines.
    """
    texts = [text for text in documents if text]
    if len(texts) < MOST_PARTS // 5:
        texts = [line for text in texts for line in text.splitlines(keepends=True)]
    edges = np.unique(np.linspace(0, len(texts), min(MOST_PARTS, len(texts)) + 1).astype(int)).tolist()
    return [texts[start:stop] for start, stop in pairwise(edges)]


def _percentiles(draws: Float64s) -> tuple[Float64s, Float64s]:
    low, high = np.percentile(draws, BETWEEN, axis=1)
    return low, high
