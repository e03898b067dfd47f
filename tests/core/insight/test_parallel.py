"""Tests of the measures of parallel texts: a few lines of plain Python compute the same values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.measures.parallel import zipf_of
from bpe_core.questions.benchmark import OF_PARALLEL, Benchmark
from resources import parallel_samples

SENTENCES = {name: lines for name, lines in parallel_samples().items() if name in ("en", "de", "ru", "zh")}


@pytest.mark.parametrize("preset", ["gpt2", "unigram"])
def test_every_measure_of_parallel_texts_matches_a_plain_python_computation(preset: str) -> None:
    text = [line for lines in SENTENCES.values() for line in lines]
    study = bpe.train(text, preset, vocab_size=500 if preset == "gpt2" else 300)
    rows = Benchmark(parallel="own").answer({"it": study}).table.records()
    assert {*OF_PARALLEL} <= {*rows[0]}
    for row in rows:
        lines = parallel_samples()[str(row["text"])]
        sizes = [
            sum(len(line.encode()) for line in language_lines) for language_lines in (lines, parallel_samples()["en"])
        ]
        assert row["byte_premium"] == sizes[0] / sizes[1]
        words = [word for line in lines for word in regex.findall(r"[\p{L}\p{M}]+", line)]
        single = sum(len(without_blank(study, word)) == 1 for word in words)
        assert row["single_token_share"] == pytest.approx(single / len(words))
        counts = Counter(id for line in lines for id in study.encode(line))
        points = [(math.log(rank), math.log(n)) for rank, n in enumerate(sorted(counts.values(), reverse=True), 1)]
        slope, line_of = straight_line(points)
        left = sum((y - line_of(x)) ** 2 for x, y in points)
        mean = sum(y for _, y in points) / len(points)
        assert row["zipf_exponent"] == pytest.approx(-slope)
        assert row["zipf_fit"] == pytest.approx(1 - left / sum((y - mean) ** 2 for _, y in points))


def without_blank(study: bpe.Study, word: str) -> list[str]:
    """Return the tokens of a word that follows a space. If the space is a token of its own, leave it out."""
    tokens = [study.decode([id]) for id in study.encode(f"a {word}")]
    spelled = ""
    for place in range(len(tokens) - 1, -1, -1):
        spelled = tokens[place] + spelled
        if spelled.strip() == word:
            return tokens[place:]
    return tokens


def straight_line(points: list[tuple[float, float]]) -> tuple[float, Callable[[float], float]]:
    x, y = (sum(point[i] for point in points) / len(points) for i in (0, 1))
    slope = sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
    return slope, lambda at: y + slope * (at - x)


@given(st.lists(st.integers(0, 1_000), max_size=40))
def test_the_fitted_zipf_line_matches_the_fit_by_numpy(counts: list[int]) -> None:
    sorted_counts = sorted((count for count in counts if count), reverse=True)
    exponent, fit = zipf_of(np.array(counts, np.int64))
    if len(sorted_counts) < 3:
        assert math.isnan(exponent)
        return
    x, y = np.log(np.arange(1, len(sorted_counts) + 1)), np.log(sorted_counts)
    assert exponent == pytest.approx(-np.polyfit(x, y, 1)[0], abs=1e-9)
    assert 0 <= fit <= 1
    if len(set(sorted_counts)) > 1:
        assert fit == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2, abs=1e-9)
