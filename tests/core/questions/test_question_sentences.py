"""Tests of the sentences that ask and describe each question."""

from __future__ import annotations

from bpe_core import train
from bpe_core.asking import ask_about
from bpe_core.questions import description_of, question_named, question_names
from bpe_core.support.subjects import SUBJECTS
from resources import samples

LONGEST = 32  # characters, which the list of questions in the window has room for


def test_each_question_is_asked_in_one_short_sentence() -> None:
    described = {name: description_of(name) for name in question_names()}
    assert {name: one.asks for name, one in described.items() if not one.asks.endswith("?")} == {}
    assert {name: one.asks for name, one in described.items() if len(one.asks) > LONGEST} == {}
    assert len({one.asks for one in described.values()}) == len(described)
    assert {one.about for one in described.values()} == {*SUBJECTS}


def test_question_descriptions_read_from_the_source_match_the_question_classes() -> None:
    for name in question_names():
        question = question_named(name)
        read = description_of(name)
        assert (read.about, read.asks, read.turn) == (question.about, question.asks, question.turn)
        assert read.summary == question.summary()


def test_each_question_accepts_the_example_value_of_each_of_its_fields() -> None:
    study = train([samples()[0].text()], "gpt2", vocab_size=420)
    with_it: dict[str, dict[str, object]] = {"benchmark": {"parallel": "own"}}
    asked = []
    for name in question_names():
        question = question_named(name)
        about = study if question.studies is None else {"one": study, "other": study}
        for parameter in question.parameters():
            if parameter.example:
                chosen = {parameter.name: parameter.read(parameter.example), **with_it.get(name, {})}
                assert ask_about(question, about, **chosen).sentences, (name, parameter.name)
                asked.append((name, parameter.name))
    assert len(asked) > 8
