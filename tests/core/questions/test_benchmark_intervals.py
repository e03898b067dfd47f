"""Tests of the intervals of a benchmark. They are computed from documents that are drawn at random.

A plain implementation also draws documents, and gives nearly the same intervals.
"""

from __future__ import annotations

import random

import pytest

import bpe_core as bpe
from bpe_core.command_line.asking import table_lines
from bpe_core.support.rounding import with_interval

CHANCE = random.Random(3)
WORDS = ["wave", "harbour", "keeper", "lighthouse", "storm", "ship", "log"]
DOCUMENTS = [" ".join(CHANCE.choices(WORDS, k=CHANCE.randint(3, 60))) for _ in range(40)]
LANGUAGES = {
    "en": [" ".join(CHANCE.choices(WORDS, k=8)) for _ in range(30)],
    "de": [" ".join(CHANCE.choices(["Welle", "Hafen", "Leuchtturm"], k=CHANCE.randint(4, 12))) for _ in range(30)],
}


@pytest.fixture(scope="module")
def studies() -> dict[str, bpe.Study]:
    study = bpe.train(DOCUMENTS, "gpt2", vocab_size=320)
    return {"whole": study, "half": study.at(20)}


def row_of(answer: bpe.Answer, tokenizer: str, text: str) -> dict[str, float]:
    return next(row for row in answer.table.records() if (row["tokenizer"], row["text"]) == (tokenizer, text))


def drawn_by_plain_code(values: list[int], of: list[int], draws: int = 4_000) -> tuple[float, float]:
    """Draw documents at random `draws` times, and divide the sum of their `values` by the sum of their `of`.

    Return the interval with the middle 95 percent of these ratios.
    """
    chance = random.Random(11)
    drawn = []
    for _ in range(draws):
        places = chance.choices(range(len(values)), k=len(values))
        drawn.append(sum(values[place] for place in places) / sum(of[place] for place in places))
    drawn.sort()
    return drawn[draws // 40], drawn[-draws // 40]


def test_benchmark_intervals_agree_with_plain_python_code_that_resamples_documents(
    studies: dict[str, bpe.Study],
) -> None:
    row = row_of(bpe.benchmark(studies, {"sea": DOCUMENTS}, intervals=True), "whole", "sea")
    tokens = [len(studies["whole"].encode(document)) for document in DOCUMENTS]
    low, high = drawn_by_plain_code([len(document.encode()) for document in DOCUMENTS], tokens)
    assert row["bytes_per_token_low"] == pytest.approx(low, abs=(high - low) / 8)
    assert row["bytes_per_token_high"] == pytest.approx(high, abs=(high - low) / 8)
    assert row["bytes_per_token_low"] < row["bytes_per_token"] < row["bytes_per_token_high"]


def test_the_interval_of_a_difference_is_computed_from_the_same_documents_for_both_tokenizers(
    studies: dict[str, bpe.Study],
) -> None:
    answer = bpe.benchmark(studies, {"sea": DOCUMENTS}, intervals=True)
    first, second = (row_of(answer, name, "sea") for name in studies)
    assert (first["relative_tokens_low"], first["relative_tokens_high"]) == (1, 1)
    whole, half = ([len(study.encode(document)) for document in DOCUMENTS] for study in studies.values())
    low, high = drawn_by_plain_code(half, whole)
    assert second["relative_tokens_low"] == pytest.approx(low, abs=(high - low) / 8)
    assert second["relative_tokens_high"] == pytest.approx(high, abs=(high - low) / 8)


def test_benchmark_intervals_are_computed_by_resampling_documents_instead_of_lines(
    studies: dict[str, bpe.Study],
) -> None:
    lines = "\n".join(DOCUMENTS)
    answer = bpe.benchmark(studies, {"one file": [lines], "rows": DOCUMENTS}, intervals=True)
    assert row_of(answer, "whole", "one file")["bytes_per_token_low"] is None
    assert row_of(answer, "whole", "rows")["bytes_per_token_low"] is not None
    assert any("one file has 1 document" in sentence for sentence in answer.sentences)


def test_equal_seeds_give_equal_intervals_and_different_seeds_give_different_intervals(
    studies: dict[str, bpe.Study],
) -> None:
    first, again, other = (
        row_of(bpe.benchmark(studies, {"sea": DOCUMENTS}, intervals=True, seed=seed), "half", "sea")
        for seed in (1, 1, 2)
    )
    columns = ("bytes_per_token_low", "relative_tokens_high")
    assert [first[name] for name in columns] == [again[name] for name in columns]
    assert [first[name] for name in columns] != [other[name] for name in columns]


def test_intervals_of_language_premiums_resample_the_same_sentences_in_each_language(
    studies: dict[str, bpe.Study], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("parallel")
    for language, sentences in LANGUAGES.items():
        (folder / f"{language}.txt").write_text("\n".join(sentences))
    answer = bpe.benchmark(studies, parallel=str(folder), intervals=True)
    study = studies["whole"]
    counts = {name: [len(study.encode(text)) for text in texts] for name, texts in LANGUAGES.items()}
    low, high = drawn_by_plain_code(counts["de"], counts["en"])
    row = row_of(answer, "whole", "de")
    assert row["premium_low"] == pytest.approx(low, abs=(high - low) / 8)
    assert row["premium_high"] == pytest.approx(high, abs=(high - low) / 8)
    english = row_of(answer, "whole", "en")
    assert (english["premium_low"], english["premium_high"]) == (1, 1)
    parity = answer.facts["parity"][0]
    assert parity["gini_low"] < parity["gini"] < parity["gini_high"]
    assert parity["worst_low"] == pytest.approx(row["premium_low"])
    for name in ("worst", "spread", "gini"):
        assert with_interval(*(parity[f"{name}{end}"] for end in ("", "_low", "_high"))) in answer.sentences[0]


def test_a_table_in_the_terminal_shows_each_value_with_its_interval_and_rounds_the_value_accordingly(
    studies: dict[str, bpe.Study],
) -> None:
    answer = bpe.benchmark(studies, {"sea": DOCUMENTS}, intervals=True)
    row = row_of(answer, "whole", "sea")
    heading, first, *_ = table_lines(answer, 1)
    assert with_interval(*(row[f"bytes_per_token{end}"] for end in ("", "_low", "_high"))) in first
    assert "per token low" not in heading


def test_values_in_a_printed_table_are_rounded_according_to_their_intervals(studies: dict[str, bpe.Study]) -> None:
    answer = bpe.benchmark(studies, {"sea": DOCUMENTS}, intervals=True)
    row = row_of(answer, "whole", "sea")
    expected = with_interval(*(row[f"bytes_per_token{end}"] for end in ("", "_low", "_high")))
    printed = answer.to_latex("Benchmark.")
    assert expected in printed
    assert "low" not in printed.split(r"\midrule")[0]


@pytest.mark.parametrize(("half", "digits"), [(0.5, 2), (0.05, 3), (0.0312, 3), (12.0, 0), (340.0, 0)])
def test_a_rounded_value_keeps_two_digits_of_its_uncertainty(half: float, digits: int) -> None:
    value = 1234.56789
    assert with_interval(value, value - half, value + half).startswith(f"{value:,.{digits}f} (")
