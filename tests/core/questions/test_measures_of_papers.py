"""Tests of measures that papers report: plain code and other libraries compute the same values."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.errors import CorpusError
from bpe_core.measures.benchmark import average_rank
from bpe_core.measures.morphemes import read_morphemes
from bpe_core.measures.token_overlap import jensen_shannon, lorenz_curve

TEXT = "low lower lowest, new newer newest; the low house by the sea"
COUNTS = st.lists(st.integers(0, 50), min_size=2, max_size=8).filter(any)
MORPH_SCORE = ",full_word,pt1,rest\n0,lower,low,er\n1,newest,new,est\n2,odd,渡,x\n3,newest,newes,t\n"


@pytest.fixture(scope="module")
def study() -> bpe.Study:
    return bpe.train([TEXT], "gpt2", merges=12)


def test_the_type_token_ratio_and_the_average_rank_match_a_plain_python_computation(study: bpe.Study) -> None:
    (row,) = bpe.benchmark({"ours": study}, {"text": TEXT}).table.records()
    counts = Counter(study.encode(TEXT))
    ranked = [count for _, count in counts.most_common()]
    assert row["type_token_ratio"] == pytest.approx(len(counts) / counts.total())
    assert row["average_rank"] == pytest.approx(
        sum(rank * count for rank, count in enumerate(ranked, 1)) / counts.total()
    )


@given(COUNTS)
def test_the_average_rank_counts_from_one_although_the_published_code_counts_from_zero(counts: list[int]) -> None:
    shares = np.sort(np.array(counts) / sum(counts))[::-1]
    assert average_rank(np.array(counts)) == pytest.approx(float((shares * np.arange(len(shares))).sum()) + 1)


@given(COUNTS, COUNTS)
def test_the_jensen_shannon_divergence_of_token_counts_matches_its_definition(
    some: list[int], others: list[int]
) -> None:
    size = max(len(some), len(others))
    first, second = (np.array(counts + [0] * (size - len(counts))) for counts in (some, others))
    shares = [counts / counts.sum() for counts in (first, second)]

    def entropy(values: np.ndarray) -> float:
        return float(-sum(value * np.log2(value) for value in values if value))

    expected = entropy((shares[0] + shares[1]) / 2) - (entropy(shares[0]) + entropy(shares[1])) / 2
    assert jensen_shannon(first, second) == pytest.approx(expected, abs=1e-9)


@given(COUNTS)
def test_the_gini_coefficient_is_twice_the_area_above_the_lorenz_curve(counts: list[int]) -> None:
    x, y = lorenz_curve(np.array(counts))
    area = float((np.diff(x) * (y[1:] + y[:-1]) / 2).sum())
    differences = sum(abs(some - other) for some in counts for other in counts)
    assert 1 - 2 * area == pytest.approx(differences / (2 * len(counts) * sum(counts)))


def test_a_row_of_a_morph_score_table_is_skipped_if_the_parts_do_not_spell_the_word(tmp_path: Path) -> None:
    path = tmp_path / "morph_data.csv"
    path.write_text(MORPH_SCORE, encoding="utf-8")
    assert read_morphemes(path) == {"lower": ("low", "er"), "newest": ("new", "est")}
    path.write_text(",full_word,pt1,rest\n0,odd,渡,x\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="holds no words"):
        read_morphemes(path)


def test_the_morph_score_ignores_words_that_are_a_single_token(tmp_path: Path) -> None:
    study = bpe.train("low low low lower", "gpt2", merges=3)  # ␣low becomes one token
    path = tmp_path / "morph_data.csv"
    path.write_text(",full_word,pt1,rest\n0,low,lo,w\n1,lower,low,er\n2,lowest,lowe,st\n", encoding="utf-8")
    points = []
    for word, border in (("low", 2), ("lower", 3), ("lowest", 4)):
        starts = {span.start - 1 for span in study.spans(f" {word}")[1:]}
        if starts:
            points.append(border in starts)
    (row,) = bpe.morphemes({"ours": study}, list=(str(path),)).table.records()
    assert row["morph_score"] == pytest.approx(sum(points) / len(points))
    assert len(points) == 2


def test_shared_tokens_of_two_languages_equal_the_intersection_of_their_id_sets(study: bpe.Study) -> None:
    texts = {"en": "the low house", "de": "das neue Haus", "xx": "lower newer"}
    answer = bpe.overlap(study.with_texts(texts))
    for row in answer.table.records():
        some, others = ({*study.encode(texts[row[name]])} for name in ("text", "other"))
        assert (row["shared"], row["either"]) == (len(some & others), len(some | others))
        assert row["jaccard"] == pytest.approx(len(some & others) / len(some | others))


def test_a_lorenz_curve_orders_languages_by_the_number_of_tokens(study: bpe.Study) -> None:
    answer = bpe.lorenz({"ours": study})
    tokens = answer.table.columns["tokens"]
    assert list(tokens) == sorted(tokens)
    assert answer.table.columns["share_of_tokens"][-1] == pytest.approx(1)
    parity = bpe.benchmark({"ours": study}, parallel="own").facts["parity"][0]
    assert f"Gini {parity['gini']:.3f}" in answer.sentences[0]


def test_the_consistency_measure_counts_words_whose_tokens_change_with_the_surrounding_text(study: bpe.Study) -> None:
    words = ("low", "newest", "the")
    rows = {row["text"]: row for row in bpe.forms({"ours": study}, words=words).table.records()}
    for place, form in (("alone", "{}"), ("in quotes", '"{}"')):
        alike = 0
        for word in words:
            ahead = form.index("{}")
            here = {span.start - ahead for span in study.spans(form.format(word))}
            usual = {span.start - 1 for span in study.spans(f" {word}")}
            inside = range(1, len(word))
            alike += here & {*inside} == usual & {*inside}
        assert rows[place]["consistency"] == pytest.approx(alike / len(words))


def test_the_forms_question_without_texts_reports_that_words_are_needed(study: bpe.Study) -> None:
    with pytest.raises(bpe.BpeError, match="needs words"):
        bpe.forms({"ours": bpe.Study(study.history)})


def test_each_token_is_counted_under_the_script_of_its_letters() -> None:
    study = bpe.train(["дом дом дом low low東", "дом東"], "words", merges=4)
    rows = {row["script"]: row for row in bpe.scripts(study).table.records()}
    texts = [raw.decode() for raw in study.tokens.values() if raw != b"<unk>"]
    for script, letters in (("Cyrillic", "дом"), ("Latin", "low"), ("Han", "東")):
        assert rows[script]["tokens"] == sum({*text} <= {*letters} for text in texts)
    assert rows["Cyrillic"]["characters"] == 3
