"""Tests of estimated shares: how much of its training texts a table learned from each group.

If the true shares are known, the estimate finds them. The estimate solves a linear program.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bpe_core.command_line.main import run
from bpe_core.counting.blocks_of_documents import count_in_blocks
from bpe_core.counting.count_words import count_words
from bpe_core.counting.grouped import GroupedWords
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.figures.figure import BarFigure
from bpe_core.figures.painter import draw
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.insight.drawn_documents import DrawnDocuments
from bpe_core.insight.shares import Evidence, Program
from bpe_core.methods.kit.trainer import learn
from bpe_core.questions import ask, mixture
from bpe_core.recipes.recipe import Recipe
from bpe_core.reference.shares import lines
from bpe_core.studies.making import train
from bpe_core.studies.study import Study
from bpe_core.support.progress import Work
from bpe_core.text.corpus import Corpus

highspy = pytest.importorskip("highspy", reason="the package highspy is not installed")

OWN = Path(__file__).parents[1] / "texts"
RECIPE = Recipe.preset("gpt2")
TEN = ("arabic", "chinese", "code", "cyrillic", "greek", "hebrew", "latin", "poem", "prose", "thai")
SHARES = (0.21, 0.02, 0.17, 0.05, 0.11, 0.03, 0.14, 0.01, 0.19, 0.07)


def group_texts(texts: Mapping[str, str]) -> GroupedWords:
    return GroupedWords.of({name: count_words(Corpus.from_texts([text]), RECIPE) for name, text in texts.items()})


def learn_mixture(groups: GroupedWords, shares: Any, merges: int) -> History:
    """Learn `merges` merges of bytes from a mixture. `shares` says how much each group contributes to the mixture."""
    parts = [
        share * groups.counts_in(name) / groups.bytes_in(name)
        for name, share in zip(groups.groups, shares, strict=True)
    ]
    counts = np.rint(np.sum(parts, axis=0) * 1e12).astype(np.int64)
    return learn(groups.words.recounted(counts), RECIPE.with_changes(merges=merges, vocab_size=None))


def estimate(groups: GroupedWords, history: History) -> Program:
    program = Program(Evidence(groups, history))
    program.explain()
    return program


@pytest.fixture(scope="module")
def ten_groups() -> tuple[GroupedWords, Program]:
    groups = group_texts({name: (OWN / f"{name}.txt").read_text(encoding="utf-8") for name in TEN})
    return groups, estimate(groups, learn_mixture(groups, SHARES, 300))


def least_unexplained_part(groups: list[dict[bytes, int]], merges: list[tuple[int, int]]) -> float:
    """Return a measure of how badly the best mixture of the groups explains the merges.

    It is the smallest value of a linear program, which is solved with all its rows.
    """
    solver: Any = highspy.Highs()
    solver.silent()
    columns: dict[object, int] = {}

    def column(name: object, cost: float, most: float) -> int:
        if name not in columns:
            columns[name] = len(columns)
            solver.addCol(cost, 0.0, most, 0, [], [])
        return columns[name]

    shares = [column(("share", number), 0.0, 1.0) for number in range(len(groups))]
    solver.addRow(1.0, 1.0, len(shares), shares, [1.0] * len(shares))
    for step, rival, oftener in lines(groups, merges):
        places = [*shares, column(("step", step), 1.0, 1e30), column(("rival", rival), 1.0, 1e30)]
        solver.addRow(0.0, 1e30, len(places), places, [*oftener, 1.0, 1.0])
    solver.run()
    return float(solver.getInfo().objective_function_value)


@pytest.mark.parametrize("seed", range(6))
def test_a_mixture_estimated_from_few_constraints_is_as_good_as_one_estimated_from_all_constraints(seed: int) -> None:
    """The merges were learned from words that the groups do not have, so no mixture explains all merges."""
    chance = Random(seed)

    def words() -> dict[bytes, int]:
        return {bytes(chance.choices(b"aabc", k=chance.randint(2, 6))): chance.randint(1, 9) for _ in range(12)}

    groups, other = [words() for _ in range(3)], words()
    history = learn(WordTable.from_counts(other.items()), RECIPE.with_changes(merges=8, min_frequency=1))
    program = estimate(
        GroupedWords.of({str(number): WordTable.from_counts(group.items()) for number, group in enumerate(groups)}),
        history,
    )
    assert program.unexplained == pytest.approx(least_unexplained_part(groups, history.pairs()), rel=0.005)
    assert len(program.lines) < len([*lines(groups, history.pairs())])
    for line, oftener in program.lines.items():
        pair = program.rivals[line.rival].pair
        same = [more for step, rival, more in lines(groups, history.pairs()) if (step, rival) == (line.step, pair)]
        assert oftener == pytest.approx(same[0], abs=1e-6)


def test_estimated_shares_are_near_the_true_shares_of_ten_groups(ten_groups: tuple[GroupedWords, Program]) -> None:
    _, program = ten_groups
    assert np.abs(program.shares - SHARES).max() < 0.01
    assert program.unexplained < 1, "occurrences in a million bytes"
    low, high = program.equally_good_shares()
    assert (low - 1e-4 <= SHARES).all()
    assert (high + 1e-4 >= SHARES).all()
    assert program.equally_good_shares()[0] == pytest.approx(low, abs=1e-6), "the program is as it was"


def test_moving_a_share_beyond_its_bound_violates_a_constraint(
    ten_groups: tuple[GroupedWords, Program],
) -> None:
    _, program = ten_groups
    constraints = 0
    for group in range(len(TEN)):
        others = np.delete(program.shares, group)
        for side, bound in zip((-1, 1), program.bounds(group), strict=True):
            if bound is not None:
                constraints += 1
                assert side * (bound.share - program.shares[group]) > -1e-5
                for moved, holds in ((bound.share - side * 1e-4, True), (bound.share + side * 1e-4, False)):
                    mixture = np.insert(others * (1 - moved) / others.sum(), group, moved)
                    assert (program.lines[bound.line] @ mixture >= 0) == holds
    assert constraints > len(TEN)


def test_shares_estimated_from_other_texts_of_the_same_groups_are_near_the_true_shares(
    ten_groups: tuple[GroupedWords, Program],
) -> None:
    """Two samples of 20,000 words are drawn from each group: one for learning, the other for estimating."""
    chance, groups = np.random.default_rng(1), ten_groups[0]

    def drawn() -> GroupedWords:
        counts_by_group = {}
        for name in ("prose", "code", "cyrillic", "greek"):
            counts = groups.counts_in(name)
            counts_by_group[name] = groups.words.recounted(chance.multinomial(20_000, counts / counts.sum()))
        return GroupedWords.of(counts_by_group)

    shares = np.array([0.4, 0.3, 0.2, 0.1])
    program = estimate(drawn(), learn_mixture(drawn(), shares, 150))
    spread = 2 * program.spread(10, 1)
    assert program.unexplained > 1
    assert np.abs(program.shares - shares).max() < 0.03
    assert (np.abs(program.shares - shares) <= spread + 0.002).all()
    assert program.spread(3, 1) == pytest.approx(program.spread(3, 1), abs=1e-4)


def test_the_mixture_question_returns_shares_with_their_bounds_and_the_unexplained_part() -> None:
    texts = {name: (OWN / f"{name}.txt").read_text(encoding="utf-8") for name in ("prose", "cyrillic")}
    history = learn_mixture(group_texts(texts), (0.7, 0.3), 120)
    answer = ask(Study(history).with_texts(texts), "mixture", draws=3)
    rows = answer.table.records()
    assert [row["group"] for row in rows] == ["prose", "cyrillic"]
    assert rows[0]["share"] == pytest.approx(0.7, abs=0.01)
    assert all(row["low"] <= row["share"] <= row["high"] for row in rows)
    assert isinstance(answer.figure, BarFigure)
    assert draw(answer).count("<line") == 6, "a whisker for each group"
    assert "is at least" in " ".join(answer.sentences)
    wrong = {"latin": (OWN / "latin.txt").read_text(encoding="utf-8"), "greek": texts["cyrillic"]}
    worse = ask(Study(history).with_texts(wrong), "mixture", draws=2, steps=60)
    assert worse.facts["unexplained"] > answer.facts["unexplained"]
    assert "times too often in each million bytes" in " ".join(worse.sentences)


def test_the_mixture_command_prints_only_json_with_the_json_option(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    texts = {name: (OWN / f"{name}.txt").read_text(encoding="utf-8") for name in ("prose", "code")}
    Study(learn_mixture(group_texts(texts), (0.5, 0.5), 40)).save(tmp_path / "merges.tiktoken")
    groups = [word for name in texts for word in ("--group", name, str(OWN / f"{name}.txt"))]
    assert run(["mixture", str(tmp_path / "merges.tiktoken"), *groups, "--json"]) == 0
    report = json.loads(capfd.readouterr().out)
    assert "all known patterns, gpt2 fits best" in report["sentences"][0]
    assert sum(row["share"] for row in report["rows"]) == pytest.approx(1)


def test_invalid_uses_of_the_mixture_question_are_refused_with_an_error_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = {"one": "so it was and so it is", "other": "und so war es"}
    study = train(list(texts.values()), "gpt2", merges=5, min_frequency=1)
    unigram = train("so it was and so it is so " * 9, "unigram", merges=3)
    chinese = {"one": "漢字", "other": "漢字漢字"}
    for asked, given, message in (
        (study, None, "name at least two"),
        (study, {"one": "so"}, "only one"),
        (study, texts | {"none": ""}, "'none' holds no words"),
        (study, chinese, "None of the first 5 merges occurs"),
        (unigram, texts, "does not"),
    ):
        about = Study(asked.history) if given is None else asked.with_texts(given)
        with pytest.raises(BpeError, match=message):
            ask(about, "mixture")
    with pytest.raises(BpeError, match="must be at least 1"):
        ask(study.with_texts(texts), "mixture", steps=0)
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(BpeError, match=r"bpe-explorer\[mixture\]"):
        ask(study.with_texts(texts), "mixture")


def test_the_mixture_question_refuses_a_group_whose_characters_the_table_lacks() -> None:
    texts = {"one": "so it was and so it is", "other": "und so war es und ist es"}
    study = train(list(texts.values()), "words", merges=5, min_frequency=1)
    assert ask(study.with_texts(texts), "mixture").columns["group"]
    with pytest.raises(BpeError, match="Only 0% of the text in the group 'greek'"):
        ask(study.with_texts(texts | {"greek": "και ήταν έτσι"}), "mixture")


def test_the_mixture_question_refuses_a_table_without_merges() -> None:
    nothing = Study(History.from_pairs(RECIPE, Alphabet.of_bytes(), []))
    with pytest.raises(BpeError, match="does not"):
        ask(nothing.with_texts({"one": "so", "other": "war"}), "mixture")


def test_the_uncertainty_of_estimated_shares_is_computed_by_resampling_documents() -> None:
    """The interval of an estimate is narrower for many similar documents than for a few different documents."""
    prose = (OWN / "prose.txt").read_text(encoding="utf-8")
    latin = (OWN / "latin.txt").read_text(encoding="utf-8")
    history = learn_mixture(group_texts({"prose": prose, "latin": latin}), (0.6, 0.4), 150)
    sentences = {"prose": prose.split(". "), "latin": latin.split(". ")}
    alike = {name: [" ".join(group_sentences)] * 40 for name, group_sentences in sentences.items()}
    unlike = {
        name: [" ".join(group_sentences[part::9]) for part in range(9)] for name, group_sentences in sentences.items()
    }
    apart = []
    for texts in (alike, unlike):
        answer = ask(Study(history).with_texts(texts), "mixture", draws=8, pattern="gpt2")
        rows = {row["group"]: row for row in answer.table.records()}
        apart.append(rows["latin"]["high"] - rows["latin"]["low"])
        assert not any("Only the words" in sentence for sentence in answer.sentences)
    assert apart[0] < 0.02 < apart[1]
    again = ask(Study(history).with_texts(unlike), "mixture", draws=8, pattern="gpt2").table.records()
    assert again == answer.table.records(), "the same documents are drawn"


def test_a_group_with_the_share_zero_in_all_draws_gets_an_interval_wider_than_zero() -> None:
    """All draws may give the share 0, although other documents could give a small share."""
    shares = np.array([0.6, 0.4, 0.0])
    program: Any = SimpleNamespace(shares=shares, equally_good_shares=lambda work: (shares, shares))
    drawn: Any = SimpleNamespace(shares=lambda *_: np.array([[0.57, 0.43, 0.0], [0.63, 0.37, 0.0]]))
    low, high = mixture.Mixture()._interval(program, drawn, Work())
    assert low == pytest.approx([0.45, 0.25, 0.0])
    assert high == pytest.approx([0.75, 0.55, 0.01])


def test_the_mixture_question_says_if_only_the_words_of_the_texts_are_known() -> None:
    texts = {name: (OWN / f"{name}.txt").read_text(encoding="utf-8") for name in ("prose", "cyrillic")}
    history = learn_mixture(group_texts(texts), (0.7, 0.3), 60)
    words = {name: count_words(Corpus.from_texts([text]), RECIPE) for name, text in texts.items()}
    answer = ask(Study(history).with_texts(words), "mixture", draws=3, pattern="gpt2")
    assert any("Only the words of these texts are known" in sentence for sentence in answer.sentences)


@pytest.mark.parametrize("documents", [1, 3, 8, 50])
def test_word_counts_of_document_blocks_add_up_to_the_word_counts_of_all_documents(documents: int) -> None:
    text = (OWN / "prose.txt").read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    parts = ["".join(lines[part::documents]) for part in range(documents)]
    blocks = count_in_blocks({"prose": Corpus.from_texts(parts)}, RECIPE)["prose"]
    assert len(blocks) > 3
    whole = count_words(Corpus.from_texts(parts), RECIPE)
    together = WordTable.merged(blocks)
    assert together.text_bytes == pytest.approx(whole.text_bytes, abs=documents)
    letters = []
    for table in (together, whole):
        letters.append(Counter[bytes]())
        for word, count in table:
            letters[-1][word.strip()] += count
        del letters[-1][b""]  # blanks at the borders of stretches are other words
    assert letters[0] == letters[1]


def test_resampled_documents_keep_the_size_of_each_group_on_average() -> None:
    texts = {"a": ["low " * 5, "new " * 5] * 6, "b": ["slow " * 9] * 12}
    groups = GroupedWords.of({name: count_words(Corpus.from_texts(of), RECIPE) for name, of in texts.items()})
    blocks = count_in_blocks({name: Corpus.from_texts(of) for name, of in texts.items()}, RECIPE)
    drawn = DrawnDocuments(groups, blocks)
    counts, sizes = drawn.draw(1, 0)
    assert counts.shape == (len(groups.words), 2)
    drawn_sizes = counts.T @ np.diff(groups.words.starts)
    assert (np.abs(drawn_sizes - sizes) <= 60).all(), "the last blank of a document is in no word of its own"
    assert [sum(of) for of in zip(*(drawn.draw(1, number)[1] for number in range(200)), strict=True)] == pytest.approx(
        [200 * groups.bytes_in("a"), 200 * groups.bytes_in("b")], rel=0.1
    )
