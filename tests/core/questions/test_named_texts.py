"""Tests of questions about several texts: each answer covers all texts and calls each text by its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.asking import ask_about
from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, CorpusError
from bpe_core.questions import QUESTIONS, question_named
from bpe_core.recipes.recipe import Recipe

ENGLISH = ["the lowest and the newest of the wide houses", "a low house"]
GERMAN = ["die niedrigsten und die neuesten der weiten Häuser", "ein niedriges Haus", "noch eines"]
BOTH = {"en": ENGLISH, "de": GERMAN}
QUESTION: Any = bpe

TAKING_TEXTS = [
    (name, parameter.name)
    for name in QUESTIONS
    for parameter in question_named(name).parameters()
    # The question `grade` needs a result; `test_grade.py` gives it several texts.
    if parameter.kind == "files" and name != "grade"
]


BY_TIME = ("seconds",)  # the time that a search took


@pytest.fixture(scope="module")
def study() -> bpe.Study:
    return bpe.train(["the lowest newest widest house, das niedrigste neueste Haus"], "gpt2", vocab_size=280)


def _ask(name: str, parameter: str, study: bpe.Study, texts: Any) -> bpe.Answer:
    question = question_named(name)
    about = study if question.studies is None else {"ours": study}
    more: dict[str, Any] = {"rounds": 2} if name == "floor" else {}
    return ask_about(question, about, **{parameter: texts}, **more)


def test_the_benchmark_and_curves_and_sizes_and_floor_questions_accept_texts() -> None:
    assert {name for name, _ in TAKING_TEXTS} >= {"benchmark", "curves", "sizes", "floor"}


@pytest.mark.parametrize(("name", "parameter"), TAKING_TEXTS)
def test_a_question_with_several_texts_measures_every_text(name: str, parameter: str, study: bpe.Study) -> None:
    """A question measures each text separately. Only the floor is computed for all texts together."""
    named = _ask(name, parameter, study, BOTH)
    first = _ask(name, parameter, study, {"en": ENGLISH})
    second = _ask(name, parameter, study, {"de": GERMAN})
    if name == "floor":
        together = _ask(name, parameter, study, [*ENGLISH, *GERMAN])
        assert _numbers(named) == _numbers(together)
        assert _numbers(named) not in (_numbers(first), _numbers(second))
        return
    of_first, of_second, of_both = (
        [
            row["bytes_per_token"]
            for row in answer.table.records()
            if row.get("text") != "training text"  # `sizes` also measures the texts that were learned from
        ]
        for answer in (first, second, named)
    )
    assert of_both == [*of_first, *of_second]
    assert of_first != of_second


def functions_that_take_texts() -> set[str]:
    """Return the public functions and methods that have a parameter for several texts."""
    several = {"texts", "corpus", "corpora", "held_out", "documents"}
    found = set()
    for name in QUESTION.__all__:
        made = getattr(bpe, name)
        members = inspect.getmembers(made, inspect.isroutine) if inspect.isclass(made) else ()
        for function, about in [(made, name), *((value, f"{name}.{key}") for key, value in members if key[0] != "_")]:
            with suppress(TypeError, ValueError):  # this is not a function, or it is one without a signature
                parameters = inspect.signature(function).parameters
                if not inspect.isclass(function) and not several.isdisjoint(parameters):
                    found.add(about)
    return found


def _grouped(texts: Mapping[str, list[str]]) -> bpe.Corpus:
    return bpe.Corpus.grouped({name: bpe.Corpus.from_texts(lines) for name, lines in texts.items()})


def _ids_in_shards(texts: Mapping[str, list[str]], study: bpe.Study) -> int:
    with TemporaryDirectory() as folder:
        return bpe.encode_documents(study, texts, Path(folder, "shards")).ids


# For each function: a number that depends on the texts, and is equal for all texts in one list.
NUMBERS: dict[str, Callable[[Mapping[str, list[str]], bpe.Study], Any]] = {
    "train": lambda texts, study: bpe.train(texts, "gpt2", vocab_size=270).history.tokens_at_start,
    "extend": lambda texts, study: bpe.extend(_grouped(texts), study, by=5).history.pairs(),
    "replace": lambda texts, study: bpe.replace(_grouped(texts), study, swap=2).history.pairs(),
    "count_words": lambda texts, study: count_words(_grouped(texts), Recipe.preset("gpt2")).total,
    "encode_documents": _ids_in_shards,
    "Study.with_texts": lambda texts, study: study.with_texts(texts).inside.words().total,
    "Study.encode_batch": lambda texts, study: len(study.encode_batch([*chain(*texts.values())])[0]),
    "Corpus.from_texts": lambda texts, study: len([*bpe.Corpus.from_texts(chain(*texts.values())).documents()]),
    "Corpus.joined": lambda texts, study: len(
        [*bpe.Corpus.joined([bpe.Corpus.from_texts(lines) for lines in texts.values()]).documents()]
    ),
}


def test_all_functions_that_take_texts_are_tested_with_several_texts() -> None:
    of_tokens = {"History.numbered"}  # its texts are the texts of tokens
    assert functions_that_take_texts() - of_tokens == set(NUMBERS)


@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_a_question_about_several_texts_uses_every_text(name: str, study: bpe.Study) -> None:
    number = NUMBERS[name]
    named = number(BOTH, study)
    assert named == number({"all": [*ENGLISH, *GERMAN]}, study)
    assert named not in (number({"en": ENGLISH}, study), number({"de": GERMAN}, study))


def _numbers(answer: bpe.Answer) -> str:
    return repr([list(values) for name, values in answer.columns.items() if name not in {"text", *BY_TIME}])


def test_the_benchmark_table_has_a_row_for_each_tokenizer_and_each_text(study: bpe.Study) -> None:
    columns = QUESTION.benchmark({"a": study, "b": study}, texts=BOTH).columns
    assert list(zip(columns["tokenizer"], columns["text"], strict=True)) == [
        ("a", "en"),
        ("a", "de"),
        ("b", "en"),
        ("b", "de"),
    ]
    assert columns["bytes"].tolist()[:2] == [len("".join(lines).encode()) for lines in BOTH.values()]


def test_the_benchmark_of_a_study_with_several_texts_measures_each_text(study: bpe.Study) -> None:
    columns = QUESTION.benchmark({"ours": study.with_texts(BOTH)}).columns
    assert list(columns["text"]) == ["en", "de"]


def test_the_curves_question_measures_several_texts_together(study: bpe.Study) -> None:
    named = QUESTION.curves({"ours": study.with_texts(BOTH)}).columns["bytes_per_token"]
    together = QUESTION.curves({"ours": study.with_texts([*ENGLISH, *GERMAN])}).columns["bytes_per_token"]
    assert named.tolist() == together.tolist()


def test_the_token_question_finds_occurrences_of_a_token_in_every_text() -> None:
    study = bpe.train({"one": ["low lower"], "other": ["lowest low low"]}, "gpt2", vocab_size=258)
    sentences = QUESTION.token(study, token="low").sentences
    assert any("[low] lower" in sentence for sentence in sentences)
    assert any("[low]est" in sentence for sentence in sentences)


def test_the_sizes_question_shows_the_name_of_each_held_out_text(study: bpe.Study) -> None:
    answer = QUESTION.sizes({"ours": study}, held_out=BOTH)
    assert [*dict.fromkeys(answer.columns["text"])] == ["training text", "held out: en", "held out: de"]
    bits = QUESTION.sizes({"ours": study}, held_out=BOTH, bits=True)
    assert [*dict.fromkeys(bits.columns["text"])] == ["held out: en", "held out: de"]


def test_the_curves_question_draws_a_line_for_each_named_text(study: bpe.Study) -> None:
    answer = QUESTION.curves({"ours": study, "short": study.at(5)}, held_out=BOTH)
    assert {line.name for line in answer.figure.lines} == {"ours, en", "ours, de", "short, en", "short, de"}
    assert answer.listed == ("recipe", "corpus", "vocabulary", "bytes_per_token")


def test_word_counts_of_a_study_with_several_texts_include_every_text(study: bpe.Study) -> None:
    asked = study.with_texts(BOTH)
    assert asked.inside.words().total == sum(table.total for table in asked.inside.parts().values())
    assert list(asked.inside.parts()) == ["en", "de"]


def test_training_on_several_named_texts_learns_from_every_text() -> None:
    named = bpe.train(BOTH, "gpt2", vocab_size=300, min_frequency=1)
    together = bpe.train([*ENGLISH, *GERMAN], "gpt2", vocab_size=300, min_frequency=1)
    assert named.history.pairs() == together.history.pairs()


def test_a_mixture_can_weight_named_texts_as_corpus_groups() -> None:
    mixture = bpe.Mixture((bpe.Group("en", Fraction(1)), bpe.Group("de", Fraction(10))))
    named = bpe.train(BOTH, "gpt2", vocab_size=280, mixture=mixture)
    corpus = bpe.Corpus.grouped({name: bpe.Corpus.from_texts(lines) for name, lines in BOTH.items()})
    assert list(named.inside.words()) == list(count_words(corpus, named.history.recipe))
    assert next(iter(named.inside.parts()["de"]))[1] % 10 == 0
    assert sum(table.total for table in named.inside.parts().values()) == named.inside.words().total


def test_a_mixture_samples_only_the_groups_that_define_a_sample() -> None:
    mixture = bpe.Mixture((bpe.Group("en"), bpe.Group("de", sample=bpe.Sample(first_bytes=len(GERMAN[0].encode())))))
    named = bpe.train(BOTH, "gpt2", vocab_size=270, mixture=mixture)
    expected = bpe.train([*ENGLISH, GERMAN[0]], "gpt2", vocab_size=270)
    assert sorted(named.inside.words()) == sorted(expected.inside.words())


@pytest.mark.parametrize("texts", [BOTH, [*ENGLISH, *GERMAN]])
def test_training_is_refused_if_the_mixture_names_texts_that_are_not_given(
    texts: Mapping[str, list[str]] | list[str],
) -> None:
    mixture = bpe.Mixture((bpe.Group("fr", Fraction(2)),))
    with pytest.raises(CorpusError, match="fr"):
        bpe.train(texts, "gpt2", mixture=mixture)


def test_the_mixture_of_a_recipe_does_not_weight_texts_that_are_given_later() -> None:
    mixture = bpe.Mixture((bpe.Group("en", Fraction(3)), bpe.Group("de")))
    study = bpe.train(BOTH, "gpt2", vocab_size=280, mixture=mixture)
    asked = study.with_texts({"book": ENGLISH, "letter": GERMAN})
    assert asked.inside.words().total == study.with_texts([*ENGLISH, *GERMAN]).inside.words().total


def test_the_same_file_under_two_names_is_measured_as_two_texts(tmp_path: Any, study: bpe.Study) -> None:
    path = tmp_path / "a.txt"
    path.write_text("the lowest house")
    texts = {name: bpe.Corpus.from_files(path) for name in ("one", "other")}
    columns = QUESTION.benchmark({"ours": study}, texts=texts).columns
    assert list(columns["text"]) == ["one", "other"]
    assert columns["tokens"][0] == columns["tokens"][1] > 0


def test_the_benchmark_refuses_counted_words_because_documents_are_needed(study: bpe.Study) -> None:
    counted = WordTable.from_counts({"low": 3})
    with pytest.raises(BpeError, match="Only the words of these texts are known"):
        QUESTION.benchmark({"ours": study}, texts={"a": ENGLISH, "b": counted})


def test_a_mixture_can_weight_named_tables_of_counted_words() -> None:
    tables = {name: count_words(bpe.Corpus.from_texts(lines), Recipe.preset("gpt2")) for name, lines in BOTH.items()}
    mixture = bpe.Mixture((bpe.Group("en", Fraction(5)), bpe.Group("de")))
    from_tables = bpe.train(tables, "gpt2", vocab_size=280, mixture=mixture)
    from_texts = bpe.train(BOTH, "gpt2", vocab_size=280, mixture=mixture)
    assert list(from_tables.inside.words()) == list(from_texts.inside.words())
