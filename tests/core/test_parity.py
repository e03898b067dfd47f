"""Tests of parity-aware merging.

All learners agree with the specification, which agrees with the trainer of the library `tokenizers`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.counting.count_words import count_words
from bpe_core.counting.grouped import GroupedWords
from bpe_core.counting.words import Language, WordTable, without_rare
from bpe_core.editing.extending import extend
from bpe_core.errors import CorpusError, RecipeError
from bpe_core.formats import write_history
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import Columns, History
from bpe_core.insight.pairs import compared_by, leading_pairs, measure_of
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.kit.learner import Way
from bpe_core.methods.kit.reasons import LANGUAGE, THERE
from bpe_core.methods.kit.trainer import Trainer, learn
from bpe_core.methods.parity import METHOD
from bpe_core.methods.parity.reference import train as specified
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.reading import read_session
from bpe_core.studies.sessions import write_run
from bpe_core.text.corpus import Corpus
from bpe_core.text.mixture import Group, Mixture
from bpe_core.text.patterns import NAMED_PATTERNS
from bpe_core.text.stand_ins import stand_ins
from tests.core.learning import all_columns

TEXTS = Path(__file__).parents[1] / "texts"
NAMES = ("latin", "greek", "cyrillic")
LINES = [(TEXTS / f"{name}.txt").read_text(encoding="utf-8").splitlines() for name in NAMES]
MERGES = 60  # three windows, and twenty merges after those of all languages together
TRAIN, DEV = [lines[::2] for lines in LINES], [lines[1::2] for lines in LINES]


@dataclass(frozen=True)
class Parity:
    """The parameters of a training run, under short names. The function `recipe_of` makes a recipe of them."""

    merges: int
    ratio: Sequence[float] = ()
    global_merges: int = 0
    window: int = 0
    alpha: float = 2.0
    least: int = 1


WAYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "dev": ({}, {}),
    "all together first": ({"global_merges": 40}, {"global_merges": 40}),
    "a minimum": ({"least": 2}, {"min_frequency": 2}),
    "a large minimum": ({"least": 9}, {"min_frequency": 9}),
    "ratios": ({"ratio": (1.0, 1.5, 2.0)}, {"ratio": [1.0, 1.5, 2.0]}),
    "a window of 10": ({"window": 10}, {"variant": "window", "window_size": 10}),
    "a narrow window": ({"window": 16, "alpha": 1.2}, {"variant": "window", "window_size": 16, "alpha": 1.2}),
    "a window of ratios": (
        {"ratio": (1.0, 1.5, 2.0), "window": 8, "alpha": 1.5},
        {"ratio": [1.0, 1.5, 2.0], "variant": "window", "window_size": 8, "alpha": 1.5},
    ),
}
WAYS_TO_LEARN = [way for way in (METHOD.plain, METHOD.compiled) if way is not None]
BOTH = pytest.mark.parametrize("way", WAYS_TO_LEARN, ids=["specified", "compiled"])


def words_of(lines: list[str]) -> dict[bytes, int]:
    expression = NAMED_PATTERNS["gpt2"].expression
    return Counter(word.encode() for line in lines for word in regex.findall(expression, line))


def recipe_of(how: Parity, names: tuple[str, ...] = NAMES, **choices: Any) -> Recipe:
    given = [Group(name, ratio=Fraction(str(ratio))) for name, ratio in zip(names, how.ratio, strict=False)]
    dev = [Group(f"{name} (dev)", dev_of=name) for name in names]
    return Recipe.preset(
        "parity",
        merges=how.merges,
        min_frequency=how.least,
        global_merges=how.global_merges or None,
        window_size=how.window or None,
        alpha=round(100 * how.alpha),
        mixture=Mixture(tuple(given or dev)),
        **choices,
    )


def table_of(train: list[dict[bytes, int]], dev: list[dict[bytes, int]], how: Parity) -> WordTable:
    """Make a word table with several languages, in the form that a learner expects."""
    tables, texts = ([WordTable.from_counts(item.items()) for item in each] for each in (train, dev))
    ratios, none = how.ratio or [1.0] * len(train), [None] * len(train)
    parts = zip(NAMES, tables, texts or none, ratios, strict=False)
    return replace(WordTable.merged(tables), languages=tuple(Language(*item) for item in parts))


def learn_in_portions(way: Way, words: WordTable, recipe: Recipe, work: int = 2**60) -> History:
    learner, columns = way.learner(words, Alphabet.of_bytes(), recipe, None), Columns.with_room(recipe.merges or 0)
    end = ""
    while not end and learner.learned < len(columns.left):
        end = learner.learn(columns, len(columns.left), work)
    first_columns = columns.first(learner.learned)
    return History(
        recipe, Alphabet.of_bytes(), first_columns, reasons=learner.reasons, tokens_at_start=learner.tokens_at_start
    )


def as_rows(history: History) -> list[tuple[int, ...]]:
    languages, there = (history.reasons[name].tolist() for name in (LANGUAGE, THERE))
    counts = history.columns.count.tolist()
    return [(*pair, *numbers) for pair, *numbers in zip(history.pairs(), languages, there, counts, strict=True)]


@pytest.mark.parametrize("name", WAYS)
def test_parity_aware_merges_match_the_tokenizers_library(name: str) -> None:
    tokenizers = pytest.importorskip("tokenizers", minversion="0.23")
    ours, theirs = WAYS[name]
    dev = [] if "ratio" in ours else DEV
    other = tokenizers.Tokenizer(tokenizers.models.BPE())
    other.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.ParityBpeTrainer(num_merges=MERGES, show_progress=False, **theirs)
    more = {"dev_iterators": [list(lines) for lines in dev]} if dev else {}
    trainer.train_from_iterator(other, train_iterators=[list(lines) for lines in TRAIN], **more)
    expected = [tuple(pair) for pair in json.loads(other.to_str())["model"]["merges"]]
    how = Parity(MERGES, **ours)
    train, measured = ([words_of(lines) for lines in each] for each in (TRAIN, dev))
    words, recipe = table_of(train, measured, how), recipe_of(how)
    served = as_rows(specified(words, recipe))
    written = list(stand_ins())
    for left, right, *_ in served:
        written.append(written[left] + written[right])
    assert [(written[left], written[right]) for left, right, *_ in served] == expected
    assert len(expected) == MERGES or how.least > 2
    assert (served[0][2] == -1) == (name == "all together first")
    histories = [learn_in_portions(way, words, recipe, work=50_000) for way in WAYS_TO_LEARN]
    assert [as_rows(history) for history in histories] == [served, served]
    assert all_columns(histories[0]) == all_columns(histories[1])


TIES = ["largest-printed", "first-seen", "lowest-ids", "smallest-text"]
LETTERS = st.text("ab", min_size=1, max_size=9).map(str.encode)
WORDS = st.dictionaries(LETTERS, st.integers(1, 9), min_size=1, max_size=5)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[dict[bytes, int]], list[dict[bytes, int]], Parity]:
    languages = draw(st.integers(2, 3))
    train = draw(st.lists(WORDS, min_size=languages, max_size=languages))
    by_dev = draw(st.booleans())
    how = Parity(
        draw(st.integers(1, 30)),
        ratio=() if by_dev else draw(st.tuples(*[st.sampled_from([0.5, 1.0, 1.3, 2.0])] * languages)),
        global_merges=draw(st.integers(0, 5)),
        window=draw(st.sampled_from([0, 1, 3, 10])),
        alpha=draw(st.sampled_from([1.0, 1.2, 2.0])),
        least=draw(st.integers(1, 4)),
    )
    return train, draw(st.lists(WORDS, min_size=languages, max_size=languages)) if by_dev else [], how


@BOTH
@given(cases(), st.sampled_from([1, 50_000, 2**60]), st.sampled_from(TIES), st.integers(2, 5) | st.none())
def test_every_step_of_parity_aware_training_matches_the_specification(
    way: Way,
    case: tuple[list[dict[bytes, int]], list[dict[bytes, int]], Parity],
    work: int,
    ties: str,
    longest: int | None,
) -> None:
    train, dev, how = case
    words, recipe = table_of(train, dev, how), recipe_of(how, NAMES[: len(train)], ties=ties, max_token_length=longest)
    history, expected = learn_in_portions(way, words, recipe, work), specified(words, recipe)
    assert as_rows(history) == as_rows(expected)
    assert all_columns(history) == all_columns(expected)
    assert history.tied.tolist() == expected.tied.tolist()


def test_each_parity_aware_merge_joins_a_pair_of_the_language_with_the_longest_text() -> None:
    how = Parity(9)
    words = table_of([{b"aab": 9}, {b"xyz": 1}], [{b"aab": 1}, {b"xyzxyz": 1}], how)
    served = specified(words, recipe_of(how, NAMES[:2]))
    assert served.reasons[LANGUAGE].tolist() == [1, 1, 0, 0]
    assert served.end_reason == "no pairs"


@pytest.fixture(scope="module")
def study() -> bpe.Study:
    texts = dict(zip(NAMES, TRAIN, strict=True))
    texts |= {f"{name} (dev)": lines for name, lines in zip(NAMES, DEV, strict=True)}
    return bpe.train(texts, recipe_of(Parity(90)))


def test_leading_pairs_of_parity_aware_training_are_sorted_by_counts_in_the_language_of_the_next_merge(
    study: bpe.Study,
) -> None:
    leading = leading_pairs(study.inside.words(), study.history, 20, 12)
    reason = compared_by(study.history.recipe, leading)
    measured = [measure_of(candidate, reason) for candidate in leading]
    assert measured == [candidate.reasons[THERE] for candidate in leading] == sorted(measured, reverse=True)
    assert len({*measured}) > 1


def test_parity_aware_training_can_be_resumed_from_any_step(study: bpe.Study) -> None:
    words = study.texts.words(study.history.recipe)  # type: ignore[union-attr]
    for steps in (0, 30, 90):
        trainer = Trainer(words, study.history.recipe, history=study.history.first(steps))
        best = trainer.candidates(1)
        trainer.advance()
        assert all_columns(trainer.history) == all_columns(study.history)
        assert as_rows(trainer.history) == as_rows(study.history)
        if steps < 90:
            expected = (*study.history.pair(steps), study.history[steps].count)
            assert (best[0].left, best[0].right, best[0].count) == expected
            assert best[0].reasons[THERE] == study.history.reasons[THERE][steps]


def test_a_session_file_keeps_the_languages_of_a_parity_aware_run(study: bpe.Study, tmp_path: Path) -> None:
    words = study.texts.words(study.history.recipe)  # type: ignore[union-attr]
    write_run(study.history.first(40), words, tmp_path / "run.bpex")
    run = read_session(tmp_path / "run.bpex").runs[0]
    assert run.words is not None
    assert [(language.name, language.ratio) for language in run.words.languages] == [(name, 1.0) for name in NAMES]
    grown = learn(run.words, study.history.recipe, history=run.history)
    assert as_rows(grown) == as_rows(study.history)


def test_the_tokenizers_library_encodes_with_a_parity_aware_table_as_the_program_does(
    study: bpe.Study, tmp_path: Path
) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    write_history(study.history, tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    text = " ".join(line for lines in DEV for line in lines)
    assert theirs.encode(text).ids == study.encode(text)


def test_extending_a_parity_aware_table_adds_the_most_frequent_pairs_of_the_new_corpus(study: bpe.Study) -> None:
    corpus = Corpus.from_texts(["lower and lower, the lowest of the low"] * 3)
    grown = extend(corpus, study.history, by=6).history
    words, recipe = count_words(corpus, grown.recipe), grown.recipe
    assert (recipe.method, recipe.mixture, recipe.ties) == ("bpe", None, "largest-printed")
    expected = reference.train(words, recipe.with_changes(grown_from=0), given=study.history.pairs())
    assert grown.pairs() == expected.pairs()
    assert grown.pairs()[:90] == study.history.pairs()


def test_removing_rare_words_affects_each_language_but_not_the_development_texts(study: bpe.Study) -> None:
    words = study.texts.words(study.history.recipe)  # type: ignore[union-attr]
    kept, _ = without_rare(words, 2)
    known = {word for word, _ in kept}
    for before, after in zip(words.languages, kept.languages, strict=True):
        assert dict(after.words) == {word: count for word, count in before.words if word in known}
        assert after.dev is before.dev


LOW = WordTable.from_counts({"low": 3})


@pytest.mark.parametrize(
    ("tables", "mixture", "message"),
    [
        ({"a": LOW, "b": LOW, "c": LOW}, Mixture((Group("c", dev_of="a"),)), "'b' has no dev text, but 'a' has a"),
        ({"a": LOW, "b": LOW}, Mixture((Group("a", ratio=Fraction(1)),)), "'b' has no ratio, but 'a' has a"),
        ({"a": LOW, "c": LOW}, Mixture((Group("c", dev_of="b"),)), "'a' has no dev text, but 'b' has a"),
        ({"c": LOW}, Mixture((Group("c", dev_of="b"),)), "no group 'b' to learn from"),
        ({"a": LOW, "c": WordTable.from_counts({})}, Mixture((Group("c", dev_of="a"),)), "'a' has no words"),
    ],
)
def test_languages_that_cannot_be_compared_are_refused_by_parity_aware_training(
    tables: dict[str, WordTable], mixture: Mixture, message: str
) -> None:
    with pytest.raises(CorpusError, match=message):
        GroupedWords.of(tables).learned_by(Recipe.preset("parity", mixture=mixture))


def test_invalid_language_settings_for_parity_aware_training_are_refused() -> None:
    both = Group("a", ratio=Fraction(1)), Group("b", dev_of="a")
    for groups, message in ((both, "remove the dev texts"), ((both[1], Group("c", dev_of="a")), "two dev texts")):
        with pytest.raises(RecipeError, match=message):
            Mixture(groups)
    for wrong, message in ((dict(ratio=Fraction(0)), "above 0"), (dict(dev_of="a"), "its own dev text")):
        with pytest.raises(RecipeError, match=message):
            Group("a", **wrong)
    with pytest.raises(RecipeError, match="alpha must be at least 100"):
        Recipe.preset("parity", window_size=9, alpha=50)
    for words in (LOW, GroupedWords.of({"a": LOW, "b": LOW}).learned_by(Recipe.preset("parity"))):
        with pytest.raises(CorpusError, match="Put the texts of each language into a group"):
            learn(words, Recipe.preset("parity"))
    mixture = Mixture((Group("a", ratio=Fraction("1.3")), Group("b", weight=Fraction(2))))
    assert Mixture.from_json_value(mixture.to_json_value()) == mixture
