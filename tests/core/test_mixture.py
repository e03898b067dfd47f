"""Tests of weighted groups of texts: weights are exact, and the order of the groups does not matter."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.command_line.main import run
from bpe_core.counting.count_words import count_groups, count_words
from bpe_core.counting.grouped import GroupedWords, hashes
from bpe_core.counting.words import WordColumns, WordTable, join_by_kernels, join_plainly
from bpe_core.errors import CorpusError, RecipeError
from bpe_core.recipes.recipe import Recipe
from bpe_core.reference.mixture import hash_of, weighted
from bpe_core.text.corpus import Corpus
from bpe_core.text.mixture import Group, Mixture, Sample, weight_of
from tests.core.corpus_files import write

WORDS = st.sampled_from(
    [word.encode() for word in ["a", "b", "low", "lower", "lowest", "new", "né", "😀", "a\x00", "\x00"]] + [b"x" * 70]
)
COUNTS = st.integers(1, 9) | st.integers(1, 10**12)
TABLES = st.lists(st.dictionaries(WORDS, COUNTS, min_size=1), min_size=1, max_size=3)
FACTORS = st.fractions(0, 5, max_denominator=10**9)


def mixture_of_weights(by: str = "times", /, **weights: str) -> Mixture:
    return Mixture(tuple(Group(name, weight_of(weight)) for name, weight in weights.items()), by)  # type: ignore[arg-type]


def group_tables(tables: list[dict[bytes, int]]) -> GroupedWords:
    return GroupedWords.of({f"g{i}": WordTable.from_counts(table.items()) for i, table in enumerate(tables)})


@given(tables=TABLES)
def test_kernels_and_plain_python_join_word_tables_in_the_same_way(tables: list[dict[bytes, int]]) -> None:
    columns = [WordColumns.of(list(table)) for table in tables]
    plain, fast = join_plainly(columns), join_by_kernels(columns)
    assert [*fast.columns.words()] == [*plain.columns.words()] == [*dict.fromkeys(chain.from_iterable(tables))]
    assert [rows.tolist() for rows in fast.rows] == [rows.tolist() for rows in plain.rows]
    expected: dict[bytes, int] = {}
    for table in tables:
        for word, count in table.items():
            expected[word] = expected.get(word, 0) + count
    assert list(WordTable.merged(WordTable.from_counts(table.items()) for table in tables)) == list(expected.items())
    hash_values = hashes(columns[0], np.arange(len(columns[0])))
    assert hash_values.tolist() == [hash_of(word) for word in columns[0].words()]


@given(data=st.data(), tables=TABLES)
def test_weighted_word_counts_match_the_reference_exactly(data: st.DataObject, tables: list[dict[bytes, int]]) -> None:
    factors = [data.draw(FACTORS) for _ in tables]
    if not any(factors):
        factors[0] = Fraction(1, 3)
    groups = tuple(Group(f"g{i}", factor) for i, factor in enumerate(factors))
    words = group_tables(tables)
    weighted_words = words.weighted(Mixture(groups))
    assert list(weighted_words) == list(weighted(tables, factors).items())
    whole = sum((factor * sum(table.values()) for factor, table in zip(factors, tables, strict=True)), Fraction())
    assert abs(weighted_words.total - whole) <= Fraction(len(tables), 2)
    for place, (table, factor) in enumerate(zip(tables, factors, strict=True)):
        alone = weighted([table], [factor])
        assert all(abs(alone.get(word, 0) - count * factor) < 1 for word, count in table.items())
        assert dict(words.table_of(f"g{place}")) == table


@given(tables=TABLES, data=st.data())
def test_weighted_counts_have_the_requested_shares_and_do_not_depend_on_the_order_of_groups(
    tables: list[dict[bytes, int]], data: st.DataObject
) -> None:
    names = [f"g{i}" for i in range(len(tables))]
    order = data.draw(st.permutations(names))
    shuffled = {name: dict(data.draw(st.permutations(list(tables[int(name[1:])].items())))) for name in order}
    weights = [data.draw(st.integers(1, 50)) for _ in tables]
    mixture = Mixture(
        tuple(Group(name, Fraction(weight, sum(weights))) for name, weight in zip(names, weights, strict=True)), "words"
    )
    words = group_tables(tables)
    other = GroupedWords.of({name: WordTable.from_counts(table.items()) for name, table in shuffled.items()})
    assert dict(other.weighted(mixture)) == dict(words.weighted(mixture))
    factors = words.factors(mixture)
    assert min(factors.values()) == 1, "the one that has most for its share counts once"
    whole = sum(factors[name] * words.words_in(name) for name in names)
    assert [factors[name] * words.words_in(name) / whole for name in names] == [
        group.weight for group in mixture.groups
    ]


@pytest.mark.parametrize("preset", ["gpt2", "unigram", "clean-words"])
def test_groups_of_weight_one_give_the_counts_of_an_ungrouped_corpus(preset: str) -> None:
    texts = ["low lower\nlow low\n", "new lower newest\n", "low new"]
    recipe = Recipe.preset(preset)
    whole = count_words(Corpus.from_texts(texts), recipe)
    corpus = Corpus.grouped({"a": Corpus.from_texts(texts[:2]), "b": Corpus.from_texts(texts[2:])})
    words = count_groups(corpus, recipe)
    for table in (words.words, words.weighted(mixture_of_weights(a="1", b="100%")), count_words(corpus, recipe)):
        assert list(table) == list(whole)
        assert (table.line_ends is None) == (whole.line_ends is None)
        assert whole.line_ends is None or table.line_ends.tolist() == whole.line_ends.tolist()  # type: ignore[union-attr]
    assert sum(words.counts_in(group) for group in words.groups).tolist() == whole.counts.tolist()  # type: ignore[union-attr]
    heavier = count_words(corpus, recipe.with_changes(mixture=mixture_of_weights(a="1/3", b="0")))
    assert 0 < heavier.total <= whole.total
    assert heavier.line_ends is None or (heavier.line_ends <= heavier.counts).all()
    assert list(count_words(corpus, recipe.with_changes(mixture=mixture_of_weights(a="2", b="2")))) == [
        (word, 2 * count) for word, count in whole
    ]


def texts_read(mixture: Mixture, **groups: list[str]) -> list[list[str]]:
    corpus = Corpus.grouped({name: Corpus.from_texts(texts) for name, texts in groups.items()})
    read = []
    for part in corpus.parts(mixture).values():
        read.append([""])
        for chunk in part.chunks(4):
            read[-1][-1] += bytes(chunk.data).decode()
            if chunk.ends_document:
                read[-1].append("")
    return [texts[:-1] for texts in read]


def test_duplicate_lines_or_documents_of_a_group_are_left_out_and_counted() -> None:
    groups = {"a": ["low\nnew\n", "low\n", "low\n"], "b": ["low\n"]}
    of_lines = Mixture((Group("a", unique="lines"),))
    assert texts_read(of_lines, **groups) == [["low\n", "new\n"], ["low\n"]], "another group is read for itself"
    assert texts_read(Mixture((Group("a", unique="documents"),)), **groups) == [["low\nnew\n", "low\n"], ["low\n"]]
    corpus = Corpus.grouped({name: Corpus.from_texts(texts) for name, texts in groups.items()})
    count_groups(corpus, Recipe(mixture=of_lines))
    assert [str(note) for note in corpus.skipped] == ["2 duplicate lines of the group 'a' were left out"]


def test_samples_contain_the_chosen_part_of_each_group() -> None:
    first = Mixture((Group("a", sample=Sample(first_bytes=6)),))
    assert texts_read(first, a=["low", "né new"], b=["low"]) == [["low", "né"], ["low"]], "no character is cut"
    assert texts_read(first, a=["low", "newer", "low"]) == [["low", "new"]]
    lines = [f"line {i % 7}\n" for i in range(2_000)]
    by_chance = Mixture((Group("a", sample=Sample(fraction=Fraction(1, 10), of="lines", seed=3)),))
    (taken,) = texts_read(by_chance, a=["".join(lines)])
    assert 120 < len(taken) < 280
    assert len(set(taken)) == 7, "of equal lines some are taken"
    assert texts_read(by_chance, a=["".join(lines)]) == [taken]
    other = Mixture((Group("a", sample=Sample(fraction=Fraction(1, 10), of="lines", seed=4)),))
    assert texts_read(other, a=["".join(lines)]) != [taken]


@pytest.mark.parametrize("of", ["documents", "lines"])
def test_a_sample_and_the_texts_outside_the_sample_together_contain_all_texts(of: Any) -> None:
    texts = [f"text {number}\nits second line {number}\n" for number in range(200)]

    def taken(*, rest: bool) -> list[str]:
        sample = Sample(fraction="90%", of=of, seed=7, rest=rest)
        again = Mixture.from_json_value(Mixture((Group("a", sample=sample),)).to_json_value())
        assert again.groups[0].sample == sample
        (rest_texts,) = texts_read(again, a=texts)
        return [line for text in rest_texts for line in text.splitlines()]

    most, others = taken(rest=False), taken(rest=True)
    assert 10 < len(others) < 80
    assert Counter([*most, *others]) == Counter(line for text in texts for line in text.splitlines())
    with pytest.raises(RecipeError, match="no rest"):
        Sample(rest=True)


def test_the_count_command_with_the_rest_option_reads_only_documents_outside_the_sample(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "texts").mkdir()
    for number in range(60):
        (tmp_path / "texts" / f"{number}.txt").write_text(f"word{number} " * 3, encoding="utf-8")
    words = list[set[str]]()
    for part in ([], ["--rest"]):
        out = tmp_path / f"{len(part)}.parquet"
        asked = ["count", str(tmp_path / "texts"), "--sample", "80%", "--seed", "3", *part, "-o", str(out)]
        assert run([*asked, "--preset", "words"]) == 0
        counted = count_words(Corpus.from_files(str(out)), Recipe.preset("words"))
        words.append({word.decode().strip() for word, _ in counted})
    assert not words[0] & words[1]
    assert words[0] | words[1] == {f"word{number}" for number in range(60)}
    assert run(["count", str(tmp_path / "texts"), "--rest", "-o", str(tmp_path / "none.parquet")]) == 1
    assert "--sample" in capsys.readouterr().err


def test_sampled_texts_do_not_depend_on_the_order_of_files(tmp_path: Path) -> None:
    paths = [write(tmp_path, f"{i}.txt", "".join(f"{i * j % 23} low\n" for j in range(40))) for i in range(6)]
    sample = Sample(fraction=Fraction(1, 3), of="lines", seed=1)
    recipe = Recipe(mixture=Mixture((Group("a", weight_of("2.5"), sample, "lines"),)))
    corpora = [Corpus.grouped({"a": Corpus.from_files(order)}) for order in (paths, paths[::-1])]
    tables = [dict(count_words(corpus, recipe)) for corpus in corpora]
    assert tables[0] == tables[1]


def test_a_file_named_twice_is_counted_once_unless_counting_twice_is_requested(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "low")
    names = [path, tmp_path, tmp_path / ".." / tmp_path.name / "a.txt"]
    corpus = Corpus.from_files(names)
    assert list(count_words(corpus, Recipe())) == [(b"low", 1)]
    assert len(corpus.skipped) == 2
    assert "named more than once and counts once" in str(corpus.skipped[0])
    assert list(count_words(Corpus.from_files(names, twice=True), Recipe())) == [(b"low", 3)]
    groups = {"a": Corpus.from_files(path), "b": Corpus.from_files(tmp_path)}
    once = Corpus.grouped(groups)
    assert once.groups == ("a",)
    assert "in the group 'a'" in str(once.skipped[0])
    assert list(count_words(Corpus.grouped(groups, twice=True), Recipe())) == [(b"low", 2)]


def test_a_recipe_stores_its_mixture_in_json_only_if_a_weight_differs_from_one() -> None:
    sample = Sample(10**6, Fraction(1, 20), "lines", 7)
    mixture = Mixture((Group("de", weight_of("70%"), sample, "lines"), Group("code", weight_of("30%"))), "bytes")
    recipe = Recipe.preset("gpt2", mixture=mixture)
    assert Recipe.from_json(recipe.to_json()) == recipe
    assert not recipe.is_same_but_for_size(recipe.with_changes(mixture=None))
    assert "mixture" not in Recipe(mixture=mixture_of_weights(de="1")).to_dict()
    assert json.loads(recipe.to_json())["mixture"]["groups"][1] == {"name": "code", "weight": "3/10"}


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "negative": (lambda: mixture_of_weights(a="-2"), "negative"),
    "all zero": (lambda: mixture_of_weights(a="0", b="0%"), "zero"),
    "do not add up": (lambda: mixture_of_weights("bytes", a="70%", b="20%"), "add up to 100 %; 70 % [+] 20 % are 90 %"),
    "no number": (lambda: weight_of("much"), "not a weight"),
    "division by zero": (lambda: weight_of("1/0"), "not a weight"),
    "endless": (lambda: weight_of("0.1234567890123456789"), "digits"),
    "twice": (lambda: Mixture((Group("a"), Group("a"))), "twice"),
    "by what": (lambda: mixture_of_weights("colour", a="1"), "colour"),
    "more than all": (lambda: Sample(fraction=Fraction(2)), "at most 1 of a group"),
    "no list": (lambda: Mixture.from_json_value({"groups": 3}), "list of groups"),
    "not known": (lambda: Mixture.from_json_value({"groups": [{"name": "a", "wait": 1}]}), "wait"),
    "no number of bytes": (lambda: Sample(first_bytes=0), "at least 1"),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_impossible_mixture_of_groups_is_refused_with_an_error_message(case: str) -> None:
    wrong, message = WRONG[case]
    with pytest.raises(RecipeError, match=message):
        wrong()


def test_a_mixture_whose_groups_differ_from_the_groups_of_the_corpus_is_refused() -> None:
    corpus = Corpus.grouped({"de": Corpus.from_texts(["neu"]), "code": Corpus.from_texts([" "])})

    def words(mixture: Mixture, of: Corpus = corpus) -> WordTable:
        return count_words(of, Recipe.preset("words", mixture=mixture))

    for mixture, message in (
        (mixture_of_weights(fr="2"), "has the group 'fr', but the texts are in the groups 'de', 'code'"),
        (mixture_of_weights("words", de="100%"), "'code' has no share"),
        (
            mixture_of_weights("words", de="50%", code="50%"),
            "'code' should be 50 % of the corpus, but it holds no words",
        ),
    ):
        with pytest.raises(CorpusError, match=message):
            words(mixture)
    assert list(words(mixture_of_weights(de="1000000000000000"))) == [(b"neu", 10**15)]
    with pytest.raises(CorpusError, match="in no groups"):
        words(mixture_of_weights(de="2"), Corpus.from_texts(["neu"]))
    huge = GroupedWords.of({"a": WordTable.from_counts({"low": 2**59})})
    with pytest.raises(CorpusError, match="64-bit"):
        huge.weighted(mixture_of_weights(a="1000"))


@pytest.mark.parametrize(
    ("value", "former", "new"),
    [
        (Group("de"), "hangs_together", "must_be_read_whole"),
        (Mixture(), "says_nothing", "has_no_effect"),
        (Corpus.from_texts(["low"]), "apart", "independent_copy"),
        (Corpus.from_texts(["low"]), "bunches", "parts_of_size"),
    ],
)
def test_former_attributes_of_corpora_and_mixtures_cause_warnings_that_give_the_new_names(
    value: object, former: str, new: str
) -> None:
    title = type(value).__name__
    with pytest.warns(DeprecationWarning, match=rf"{title}\.{former} is called {title}\.{new} now"):
        assert getattr(value, former) == getattr(value, new)
