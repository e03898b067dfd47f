"""Tests of the trainers that a lesson compares: which merges they make, and how they count their own work."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.history.token_texts import written
from bpe_core.lessons.fast_trainers import TRAINERS, Race, words_of_race
from bpe_core.methods.kit.trainer import learn
from bpe_core.recipes.recipe import Recipe
from tests.shared import ROOT

STORY = (ROOT / "resources/samples/lighthouse.txt").read_text(encoding="utf-8")
RECIPE = Recipe.preset("words", ties="largest-text", min_frequency=1)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=7), st.integers(1, 5), min_size=1, max_size=8))
def test_all_trainers_of_a_race_learn_the_same_merges_as_the_engine(
    counts: dict[str, int],
) -> None:
    assume(any(len(word) > 1 for word in counts))
    recipe = Recipe.preset("gpt2", ties="largest-text", merges=40, min_frequency=1)
    history = learn(WordTable.from_counts(counts), recipe)
    texts = written(history)
    made = [(texts[left].decode(), texts[right].decode()) for left, right in history.pairs()]
    race = Race([(tuple(word), count) for word, count in counts.items()], [*TRAINERS])
    pairs = [race.step() for _ in range(len(made) + 1)]
    if len({*(left + right for left, right in made)}) == len(made):  # tokens of one text are one token in the race
        assert pairs == [*made, None]


def test_the_naive_trainer_reads_all_symbols_twice_and_compares_all_pairs_for_each_merge() -> None:
    words = words_of_race(STORY, RECIPE)
    race = Race(words, ["naive"])
    symbols = [list(word) for word, _ in words]
    pairs, places = 0, 0
    for _ in range(12):
        merge = race.step()
        assert merge is not None
        places += 2 * sum(map(len, symbols))
        pairs += len({pair for word in symbols for pair in pairwise(word)})
        symbols = [joined_as_text(word, merge) for word in symbols]
        assert (race.work["naive"].pairs, race.work["naive"].places) == (pairs, places)


def joined_as_text(word: list[str], pair: tuple[str, str]) -> list[str]:
    text = "\0" + "\0\0".join(word) + "\0"
    return text.replace("\0{}\0\0{}\0".format(*pair), "\0" + "".join(pair) + "\0").strip("\0").split("\0\0")


def test_each_trainer_in_a_race_of_trainers_does_less_work_than_the_previous_trainer() -> None:
    work = Race(words_of_race(STORY, RECIPE), [*TRAINERS]).run(60).work
    efforts = [effort.whole for effort in work.values()]
    assert efforts == sorted(efforts, reverse=True)
    assert len({*efforts}) == 4
    assert work["index"].places < work["counts"].places / 10
    assert work["heap"].pairs < work["index"].pairs / 10


@pytest.mark.parametrize("text", ["", "a", "  ", "aaaa"])
def test_a_race_between_trainers_on_a_tiny_text_ends_after_at_most_two_merges(text: str) -> None:
    race = Race(words_of_race(text, RECIPE), [*TRAINERS]).run(60)
    assert race.merges <= 2
    assert race.step() is None


def test_a_race_of_trainers_uses_the_words_of_the_text_with_their_counts() -> None:
    counted = Counter(["the", "lamp", "lit", "the", "sea"])
    words = {"".join(symbols): count for symbols, count in words_of_race("the lamp lit the sea", RECIPE)}
    assert words == dict(counted)
