"""Tests of the sentences in lessons, and of the answers that the engine gives to their questions."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise

import pytest

from app.window.lessons.lesson_values import as_html
from bpe_core.counting.count_words import count_words
from bpe_core.lessons.answers import candidates, pair_of, reply_to_guess, text_of_step
from bpe_core.lessons.bench import Bench, words_by_replacing_text
from bpe_core.lessons.lessons import Lesson, LessonStep, filled, is_same_answer, lessons
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.gui.lessons.lesson_names import NAMES, lesson_named
from tests.shared import available_texts, path_of


def bench_of(lesson: Lesson, step: LessonStep) -> Bench:
    """Return the bench of a lesson as it is at the beginning of a page.

    It holds the words of the lesson, split by the merges of all earlier pages.
    """
    whole = Bench.of_groups(lesson.texts, step.recipe)
    return Bench(whole.words, whole.history.first(step.merges))


@pytest.mark.parametrize("lesson", lessons(), ids=NAMES)
def test_the_engine_can_answer_every_question_in_the_lessons(lesson: Lesson) -> None:
    for step in lesson.steps:
        bench = bench_of(lesson, step)
        assert len(bench.history) == step.merges, "the merges made before this step are there"
        for text in (step.say, step.after):
            filled_text = filled(text, step, bench)
            assert not re.search(r"\{\w+\}", filled_text), filled_text
            assert "<p" in as_html(filled_text, "#eee", "monospace") or not filled_text
        if step.query is not None:
            answer = step.query.answer(bench)
            assert answer
            assert not step.choices or answer in step.choices
            assert len(set(step.choices)) == len(step.choices)
            assert step.hint, "every wrong answer is explained"
            assert set(step.wrong) <= set(step.choices) - {answer}
        elif step.kind == "predict":
            merged = bench.to_the_end.history[step.merges]
            choices = candidates(bench)
            assert (merged.left, merged.right) in choices
            assert len(choices) > 1, "there is something to choose from"


# What independent code found out about the articles' examples, by lesson and step.
FACTS = {
    ("first-merge", 1): "4",
    ("first-merge", 5): "5",
    ("weights", 2): "26",
    ("end-of-word", 2): "b ook s </w>",
    ("end-of-word", 3): "car + </w>",
    ("end-of-word", 4): "low l y </w>",
    ("merge-order", 2): "a bc",
    ("merge-order", 3): "ab c",
    ("merge-order", 4): "cat c h",
    ("newer", 1): "6",
    ("newer", 4): "new e r </w>",
    ("best", 1): "13",
    ("best", 5): "19",
    ("best", 6): "18",
    ("ways", 1): "cart o n",
    ("ways", 2): "car ton",
    ("ways", 3): "10",
    ("ways", 4): "25",
    ("ways", 5): "2.25",
    ("printed-mistakes", 1): "1744",
    ("printed-mistakes", 3): "9",
    ("printed-mistakes", 5): "ha t",
    ("fast", 1): "40",
    ("fast", 3): "e + s",
    ("fast", 5): "2",
    ("fast", 6): "3",
}
MERGED = {  # the merge that is to be predicted, and its count
    ("fast", 2): ("s + t", 9),
    ("first-merge", 2): ("a + a", 4),
    ("first-merge", 3): ("aa + a", 2),
    ("first-merge", 4): ("aaa + b", 2),
    ("weights", 1): ("o + o", 45),
    ("weights", 3): ("oo + k", 26),
    ("weights", 4): ("oo + t", 19),
    ("ties", 1): ("e + s", 9),
    ("ties", 2): ("es + t", 9),
    ("ties", 3): ("s + t", 9),
    ("end-of-word", 1): ("ook + </w>", 20),
    ("newer", 2): ("n + e", 6),
    ("printed-mistakes", 2): ("n + e", 6),
    ("best", 2): ("▁tea", 6),
    ("best", 3): ("▁sea", 4),
    ("best", 4): ("▁heat", 3),
}


@pytest.mark.parametrize(("place", "fact"), FACTS.items(), ids=str)
def test_lesson_exercises_have_the_expected_answers(place: tuple[str, int], fact: str) -> None:
    lesson = lesson_named(place[0])
    step = lesson.steps[place[1]]
    assert step.query is not None
    assert step.query.answer(bench_of(lesson, step)) == fact


@pytest.mark.parametrize(("place", "fact"), MERGED.items(), ids=str)
def test_the_predictions_that_lessons_ask_for_have_the_expected_answers(
    place: tuple[str, int], fact: tuple[str, int]
) -> None:
    lesson = lesson_named(place[0])
    step = lesson.steps[place[1]]
    assert step.kind == "predict"
    bench = bench_of(lesson, step)
    merge = bench.to_the_end.history[step.merges]
    assert (text_of_step((merge.left, merge.right), bench), merge.count) == fact


def test_values_printed_in_lessons_are_the_expected_values() -> None:
    def filled_text_of(name: str, number: int) -> str:
        lesson = lesson_named(name)
        step = lesson.steps[number]
        return filled(step.say + step.after, step, bench_of(lesson, step))

    assert "As numbers: 258 100 258 97 99" in filled_text_of("first-merge", 5)
    assert "together 26 times" in filled_text_of("weights", 2)
    assert "occurs 19 times" in filled_text_of("weights", 2)
    assert "10 times. After it comes `ca + r`, then `ca + t`" in filled_text_of("weights", 6)
    assert "with the count 19 would be next" in filled_text_of("end-of-word", 1)
    assert "the third merge is `ca + t`" in filled_text_of("end-of-word", 3)
    assert "occurs 5 times" in filled_text_of("end-of-word", 3)
    assert "the word would be `low l y`" in filled_text_of("end-of-word", 4)
    assert "`low est</w>`" in filled_text_of("newer", 0)
    assert "`n e w e r </w>`" in filled_text_of("newer", 1)
    assert "joins `e + a`. With its three tokens the corpus has **36** tokens" in filled_text_of("best", 1)
    assert "needs **36**" in filled_text_of("best", 5)
    assert "here to **19**" in filled_text_of("best", 6)
    assert "`ton` is one token **81** times" in filled_text_of("ways", 4)
    assert "so that is **2** tokens" in filled_text_of("ways", 5)
    assert "only 5 times now; three pairs occur 6 times" in filled_text_of("printed-mistakes", 2)


def test_six_given_merges_in_a_lesson_split_words_into_the_expected_tokens() -> None:
    bench = Bench.of_words({"low": 5, "lower": 2, "newest": 6, "widest": 3}, Recipe.preset("words", marker="symbol"))
    printed = bench.with_rules(["e s", "es t", "est </w>", "l o", "lo w", "low </w>"])
    for word, cut in (("lowest", "low est</w>"), ("newest", "n e w est</w>"), ("newer", "n e w e r </w>")):
        assert printed.texts(Tokenizer(printed.history).encode(word)) == cut


# Distinct tokens by merging symbols and by replacing text, and the steps in which the two do not the same.
POEMS = {"poem": (135, 145, 23), "data/raven.txt": (173, 263, 46)}


@pytest.mark.parametrize("name", available_texts(*POEMS))
def test_correct_and_wrong_merging_of_a_poem_give_the_expected_token_counts(name: str) -> None:
    recipe = Recipe.preset("clean-words", merges=150)
    bench = Bench.trained(count_words(Corpus.from_files([path_of(name)]), recipe), recipe)
    right = len({id for word in bench.words_at(150) for id in word.ids})
    wrong = len({piece for word in words_by_replacing_text(bench, 150) for piece in word.split()})
    assert (right, wrong, steps_that_replace_too_much(bench)) == POEMS[name]


def test_the_lesson_on_printed_mistakes_states_the_expected_token_counts_of_the_poem() -> None:
    said = " ".join(step.say for step in lesson_named("printed-mistakes").steps)
    right, wrong, too_much = POEMS["data/raven.txt"]
    assert f"left with {wrong} distinct tokens" in said
    assert f"there are {right} distinct tokens. In {too_much} of the article's 150 steps" in said


def steps_that_replace_too_much(bench: Bench) -> int:
    """Count the steps at which a replacement in the text also joins tokens that are not the pair of the step."""
    words = [" ".join(word.texts) for word in bench.words_at(0)]
    weights = [count for _, count in bench.words]
    number = 0
    for _ in range(len(bench.history)):
        counts: Counter[tuple[str, str]] = Counter()
        for word, weight in zip(words, weights, strict=True):
            for pair in pairwise(word.split()):
                counts[pair] += weight
        left, right = max(counts, key=lambda pair: counts[pair])
        proper = [" ".join(_join_pair(word.split(), left, right)) for word in words]
        words = [word.replace(f"{left} {right}", left + right) for word in words]
        number += words != proper
    assert words == words_by_replacing_text(bench, len(bench.history))
    return number


def _join_pair(pieces: list[str], left: str, right: str) -> list[str]:
    joined: list[str] = []
    while pieces:
        if pieces[:2] == [left, right]:
            joined, pieces = [*joined, left + right], pieces[2:]
        else:
            joined, pieces = [*joined, pieces[0]], pieces[1:]
    return joined


def test_the_lessons_together_cover_all_planned_topics() -> None:
    assert len(lessons()) == 19
    titles = ("by hand", "weights", "equal", "ends", "greedily", "newer", "emoji", "vocabulary", "mistakes")
    for words in (
        *titles,
        "WordPiece",
        "compressor",
        "Unigram",
        "MinGram",
        "Best",
        "many ways",
        "Boundless",
        "Parity",
        "fast",
    ):
        assert any(words in lesson.title for lesson in lessons()), words
    for lesson in lessons():
        assert any(step.kind == "predict" for step in lesson.steps), f"{lesson.name} lets nothing be predicted"
        assert any(step.kind == "ask" for step in lesson.steps)
    lesson = lesson_named("mingram")
    assert bench_of(lesson, lesson.steps[0]).words_at(0)[0].texts == ("▁he",), "what will drop is whole before any does"


def test_values_in_the_lesson_on_the_method_named_best_match_an_exhaustive_search() -> None:
    counts = {"▁tea": 6, "▁sea": 4, "▁heat": 3, "▁he": 2}
    pieces = {word[begin:end] for word in counts for end in range(len(word) + 1) for begin in range(end - 1)}

    def fewest(word: str, known: tuple[str, ...]) -> int:
        best = [0]
        for end in range(1, len(word) + 1):
            best.append(1 + min(best[begin] for begin in range(end) if end - begin == 1 or word[begin:end] in known))
        return best[-1]

    needs = {known: sum(n * fewest(word, known) for word, n in counts.items()) for known in combinations(pieces, 3)}
    assert min(needs.values()) == 19
    saves = {piece: (len(piece) - 1) * sum(n * word.count(piece) for word, n in counts.items()) for piece in pieces}
    assert sorted(saves.values())[-4:] == [12, 12, 13, 18]
    assert [saves[piece] for piece in ("▁tea", "ea", "▁sea", "▁heat")] == [18, 13, 12, 12]


def test_lesson_answers_are_compared_without_regard_to_spaces() -> None:
    assert is_same_answer(" low  est</w> ", "low est</w>")
    assert not is_same_answer("", "low")


def test_a_lesson_accepts_any_unused_piece_as_a_prediction_of_the_next_drop() -> None:
    """A piece that no word uses has no score, so nothing shows which of these pieces is dropped first."""
    lesson = lesson_named("unigram")
    whole = Bench.of_groups(lesson.texts, lesson.steps[0].recipe)
    bench = Bench(whole.words, whole.history.first(1))
    for piece in ("lk", "ump", "alk"):
        for again in (False, True):
            guess = pair_of(piece, bench)
            assert guess is not None
            feedback = reply_to_guess(guess, whole.history.pair(1), bench, again=again)
            assert feedback.mood == "right"
            assert "is not used" in feedback.sentence
            assert not re.search(r"comes to [.,]|, [.,]", feedback.sentence)


@pytest.mark.parametrize(
    ("name", "asked", "answer"),
    [
        ("unigram", "way", "1/32"),
        ("unigram", "row", "1/4 1/8 1/16"),
        ("unigram", "loss", "13"),
        ("unigram", "expected", "10 2 5 8 8"),
        ("unigram", "new probability", "8/33"),
        ("mingram", "row of fewest", "1 2 1 2 2 2"),
    ],
)
def test_arithmetic_answers_in_lessons_match_results_computed_by_hand(name: str, asked: str, answer: str) -> None:
    step = next(step for step in lesson_named(name).steps if step.query is not None and step.query.what == asked)
    assert step.query is not None
    assert step.query.answer(bench_of(lesson_named(name), step)) == answer
    assert len(step.query.cells) in (0, len(answer.split()))
    assert is_same_answer(" ".join(f"{float(Fraction(number)):.3g}" for number in answer.split()), answer), "rounded"
    assert not is_same_answer(" ".join(["1/3"] * len(answer.split())), answer)


def test_the_wordpiece_lesson_shows_the_pairs_chosen_by_score_and_by_count() -> None:
    lesson = lesson_named("wordpiece")
    said = " ".join(filled(step.say + step.after, step, bench_of(lesson, step)) for step in lesson.steps)
    assert "by score: `##c + ##k`, `q + ##u`, `##g + ##h`. By count: `##i + ##g`" in said


def test_the_size_lesson_names_vocabulary_sizes_in_use_today() -> None:
    lesson = lesson_named("size")
    step = lesson.steps[-1]
    assert "100,000–200,000 for many languages and code" in filled(step.say, step, bench_of(lesson, step))


def test_a_typed_pair_is_parsed_with_or_without_a_space_or_plus_sign() -> None:
    bench = Bench.of_words({"low": 2}, Recipe.preset("words", merges=1))  # l+o is 4
    assert pair_of("lo+w", bench) == pair_of(" lo w", bench) == (4, 3)
    assert pair_of("low", bench) is pair_of("x + y", bench) is None
    assert words_by_replacing_text(Bench.of_words({"ha": 6, "hat": 1, "at": 4}, bench.history.recipe), 2)[1] == "hat"


def test_the_lesson_on_ways_to_split_lists_every_token_inside_the_word_carton() -> None:
    lesson = lesson_named("ways")
    step = next(step for step in lesson.steps if step.query is not None and step.query.what == "ways to split")
    bench = bench_of(lesson, step)
    named = set(re.findall("`([^`]+)`", step.say))
    tokens = {bench.names.text[id] for id in bench.history.indices}
    assert {token for token in tokens if token in "carton"} <= named
