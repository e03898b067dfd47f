"""Tests of Gage's compressor: all learners make the same steps, and each block is encoded by its own table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.errors import FormatError, NothingToLearn, OutputError
from bpe_core.formats import write_history
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, Columns, History
from bpe_core.insight.pairs import runners_up_never_merged, ties
from bpe_core.insight.reachability import reachability
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.gage import METHOD
from bpe_core.methods.gage import cut as gage_cut
from bpe_core.methods.gage import reference as gage
from bpe_core.methods.kit.by_specification import SpecifiedLearner
from bpe_core.methods.kit.learner import Learner
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import TIE_RULES
from bpe_core.segmenting.segmentation import Segmentation
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.values import SavedRun, SavedSession
from bpe_core.session_file.writing import write_session
from bpe_core.support.progress import Progress
from bpe_core.text.corpus import Corpus
from tests.core.gage_texts import recipes, words
from tests.core.learning import all_columns, train
from tests.shared import text_of

MakeLearner = Callable[[WordTable, Alphabet, Recipe, History | None], Learner]
assert METHOD.plain is not None
assert METHOD.compiled is not None
LEARNERS: dict[str, MakeLearner] = {"specified": METHOD.plain.learner, "compiled": METHOD.compiled.learner}
A_LOT = 2**60
EXAMPLE = WordTable.from_counts({"aaabdaaabac": 1})

each_learner = pytest.mark.parametrize("make_learner", LEARNERS.values(), ids=LEARNERS)


def columns_and_reasons(history: History) -> dict[str, list[int]]:
    """Return all columns and reasons of a history."""
    return all_columns(history) | {name: column.tolist() for name, column in history.reasons.items()}


def learn_in_portions(
    make: MakeLearner, words: WordTable, recipe: Recipe, steps: int = A_LOT, work: int = A_LOT
) -> History:
    limit = min(steps, recipe.merge_limit(256))
    columns = Columns.with_room(limit)
    learner = make(words, Alphabet.of_bytes(), recipe, None)
    end = ""
    while learner.learned < limit and not end:
        end = learner.learn(columns, limit, work)
    return History(recipe, Alphabet.of_bytes(), columns.first(learner.learned), reasons=learner.reasons)


def train_gage(text: str, **changes: object) -> History:
    return train(Corpus.from_texts([text]), Recipe.preset("gage", **changes))


# --- Learning ---------------------------------------------------------------------------


@each_learner
@settings(max_examples=30)
@given(words=words(), recipe=recipes(), work=st.sampled_from([1, 2_000, A_LOT]))
def test_each_gage_learner_makes_the_same_steps_as_the_reference(
    make_learner: MakeLearner, words: WordTable, recipe: Recipe, work: int
) -> None:
    reference_history = gage.train(words, recipe)
    steps = learn_in_portions(make_learner, words, recipe, work=work)
    assert columns_and_reasons(steps) == columns_and_reasons(reference_history)
    learner = make_learner(words, reference_history.alphabet, recipe, None)
    assert learner.tokens_at_start == reference_history.tokens_at_start == words.total_bytes


@each_learner
@pytest.mark.parametrize("rule", TIE_RULES)
def test_each_gage_learner_obeys_each_tie_rule(make_learner: MakeLearner, rule: str) -> None:
    words = WordTable.from_counts({"abba baab cd dc abcd dcba ad da": 1, "\xe9\xe8 \xe8\xe9 bac cab": 2})
    recipe = Recipe.preset("gage", min_frequency=2, ties=rule, block_size=24)
    assert columns_and_reasons(learn_in_portions(make_learner, words, recipe)) == columns_and_reasons(
        gage.train(words, recipe)
    )


def test_progress_of_gage_training_counts_bytes_of_text_if_the_number_of_steps_is_unknown() -> None:
    words = WordTable.from_counts([(text_of("prose").encode()[:2_000], 1)])
    trainer = Trainer(words, Recipe.preset("gage", block_size=500))
    shares = []
    while not trainer.advance(max_merges=10).finished:
        shares.append((trainer.progress().done, trainer.progress().total, trainer.progress().unit))
    assert shares == sorted(shares)
    assert {total for _, total, _ in shares} == {2_000}
    assert {done for done, _, _ in shares} == {500, 1_000, 1_500, 2_000}
    assert trainer.gone_through == (2_000, 2_000, "bytes", "the text")
    few = Trainer(words, Recipe.preset("gage", block_size=500, merges=20))
    few.advance(max_merges=15)
    assert few.progress() == Progress("training", 15, 20, "replacements")


@each_learner
@settings(max_examples=25)
@given(words=words(), recipe=recipes(), steps=st.integers(0, 12), wanted=st.integers(1, 9))
def test_the_first_candidate_of_a_gage_learner_is_the_pair_of_the_next_step(
    make_learner: MakeLearner, words: WordTable, recipe: Recipe, steps: int, wanted: int
) -> None:
    recipe = recipe.with_changes(merges=steps + 2)
    whole = gage.train(words, recipe)
    learner = make_learner(words, whole.alphabet, recipe, None)
    learner.learn(Columns.with_room(steps), steps, A_LOT)
    candidates = learner.candidates(wanted)
    assert candidates == learner.candidates(wanted + 1)[:wanted]  # looking changes nothing
    pairs = [(candidate.left, candidate.right, candidate.count) for candidate in candidates[:2]]
    if len(whole) <= steps:
        assert pairs == []
        return
    step = whole[steps]
    expected = [(step.left, step.right, step.count)]
    if not isinstance(learner, SpecifiedLearner):  # this learner knows only the next step
        expected += [(*step.runner_up, step.runner_up_count)] if step.runner_up else []
    assert pairs == expected[:wanted]


@pytest.mark.parametrize(
    ("rule", "pairs"),
    [
        ("first-seen", [(97, 97), (256, 97), (257, 98)]),
        ("lowest-ids", [(97, 97), (97, 98), (256, 257)]),
        ("largest-text", [(97, 97), (256, 97), (257, 98)]),
    ],
)
def test_the_gage_method_compresses_an_example_of_eleven_bytes_as_computed_by_hand(
    rule: str, pairs: list[tuple[int, int]]
) -> None:
    recipe = Recipe.preset("gage", min_frequency=2, ties=rule)
    trainer = Trainer(EXAMPLE, recipe)
    trainer.advance()
    history = trainer.history
    assert (history.pairs(), history.end_reason) == (pairs, "nothing pays")
    assert history.reasons["byte"].tolist() == [255, 254, 253]
    assert history.columns.tokens_left.tolist() == [9, 7, 5]  # XdXac
    # Each size: two ranges, the byte between the ranges, the codes of pairs, the length, the data.
    assert history.reasons["size"].tolist() == [3 + 2 + 2 + 9, 3 + 2 + 3 + 2 + 7, 3 + 2 + 5 + 2 + 5]
    assert Tokenizer(history).decode([258, 100, 258, 97, 99]) == "aaabdaaabac"


def test_each_block_of_the_gage_method_starts_with_an_empty_pair_table() -> None:
    history = train_gage("low lower lowest\n" * 40, block_size=170)
    block, byte = history.reasons["block"], history.reasons["byte"]
    assert block.tolist() == sorted(block.tolist())
    assert set(block.tolist()) == {0, 1, 2, 3}
    for number in set(block.tolist()):
        assert byte[block == number].tolist() == list(range(255, 255 - np.count_nonzero(block == number), -1))
    assert len(set(history.pairs())) < len(history)
    assert len({history.row_joining(history.pair(row), row) for row in range(len(history))}) == len(history)


def test_a_gage_block_that_uses_all_256_bytes_replaces_no_pair() -> None:
    words = WordTable.from_counts([(bytes(range(256)) + b"ab" * 50, 1)])
    trainer = Trainer(words, Recipe.preset("gage", block_bytes=256))
    trainer.advance()
    assert (len(trainer.history), trainer.end_reason, trainer.candidates(3)) == (0, "nothing pays", [])
    trainer = Trainer(words, Recipe.preset("gage"))  # blocks end before that
    trainer.advance()
    assert [step.left for step in trainer.history][:1] == [97]
    with pytest.raises(NothingToLearn, match="no two bytes"):
        Trainer(WordTable.from_counts({"a": 3}), Recipe.preset("gage"))


@settings(max_examples=25)
@given(words=words(), recipe=recipes(), data=st.data())
def test_gage_training_resumed_after_any_step_gives_the_same_history(
    words: WordTable, recipe: Recipe, data: st.DataObject
) -> None:
    if words.total_bytes < 2 * words.total:
        return
    whole = gage.train(words, recipe)
    trainer = Trainer(words, recipe, history=whole.first(data.draw(st.integers(0, len(whole)))))
    trainer.advance()
    assert columns_and_reasons(trainer.history) == columns_and_reasons(whole)


def test_resuming_gage_training_with_a_history_learned_from_different_words_is_refused() -> None:
    history = train_gage("low lower lowest\n" * 40)
    for other in ("low lower lowest " * 40, "ab"):
        with pytest.raises(FormatError, match="do not belong to these words"):
            Trainer(WordTable.from_counts({other: 1}), history.recipe, history=history)


# --- Cutting texts ----------------------------------------------------------------------


@settings(max_examples=25)
@given(words=words(), recipe=recipes(), text=st.text("abc low\xff", max_size=60), data=st.data())
def test_the_gage_method_splits_a_text_with_the_pair_table_of_the_block_at_the_shown_step(
    words: WordTable, recipe: Recipe, text: str, data: st.DataObject
) -> None:
    history = gage.train(words, recipe.with_changes(special_tokens=("c l",)))
    tokenizer = Tokenizer(history)
    segmentation = tokenizer.segmentation(text)
    for at in data.draw(st.lists(st.integers(0, len(history)), min_size=1, max_size=5)):
        tokens = list(text.encode())
        for row in range(at):
            if history.reasons["block"][row] == history.reasons["block"][at - 1]:
                tokens = reference.join(tokens, history.pair(row), int(history.indices[row]))
        assert tokenizer.encode(text, at=at) == tokens
        assert [id for *_, id in tokenizer.spans(text, at)] == tokens == segmentation.tokens(at).ids.tolist()
        assert segmentation.count(at) == len(tokens)
        assert segmentation.edges(at).tolist() == segmentation.tokens(at).edges.tolist()
        if text:
            between = segmentation.tokens_between(0, 1, at)
            assert (between.edges[0], between.ids.tolist()) == (0, tokens[:1])


def test_asking_for_a_gage_step_after_the_last_step_gives_the_tokens_of_the_last_step() -> None:
    """The window may ask for a step after the last step of the answer."""
    history = train_gage("low lower lowest\n" * 40, block_size=170)
    for known in (history, history.first(0)):
        segmentation = Tokenizer(known).segmentation("low lower")
        for at in (len(known) + 1, len(known) + 1_000):
            assert segmentation.tokens(at).ids.tolist() == segmentation.tokens(len(known)).ids.tolist()
            assert segmentation.count(at) == len(segmentation.edges(at)) - 1


def test_special_tokens_of_a_gage_run_are_encoded_and_decoded_at_every_step() -> None:
    history = train_gage("low lower lowest\n" * 40, block_size=170, special_tokens=("<end>",))
    for at in (0, 3, len(history)):
        ids = Tokenizer(history).encode("low<end>low", at=at, allowed_special="all")
        assert ids.count(history.first_special) == 1
        assert Tokenizer(history).decode(ids) == "low<end>low"


def test_tokens_of_a_text_that_the_gage_method_splits_are_updated_after_edits() -> None:
    history = train_gage("low lower lowest\n" * 40, block_size=170)
    tokenizer = Tokenizer(history)
    at, later = 3, len(history)
    segmentation: Segmentation = tokenizer.segmentation("low lower")
    segmentation.tokens(at)
    segmentation.splice(4, 0, b"low ")
    assert (segmentation.data, segmentation.pending) == (b"low low lower", (4, 8))
    segmentation.put(0, tokenizer.segmentation("low low lower"))
    assert segmentation.pending is None
    for steps in (at, later, at):
        assert segmentation.tokens(steps).ids.tolist() == tokenizer.encode("low low lower", at=steps)


def test_a_long_text_is_split_in_advance_before_a_different_gage_block_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gage_cut, "AT_ONCE", 8)
    history = train_gage("low lower lowest\n" * 40, block_size=170)
    tokenizer, later = Tokenizer(history), len(history)
    segmentation = tokenizer.segmentation("low lower")
    segmentation.tokens(3)
    assert segmentation.ahead_of(2) is None  # the text is split by this block already
    ahead = segmentation.ahead_of(later)
    assert ahead is not None
    ahead(lambda: False)
    assert segmentation.ahead_of(later) is None
    assert segmentation.tokens(later).ids.tolist() == tokenizer.encode("low lower", at=later)
    ahead = segmentation.ahead_of(3)
    assert ahead is not None
    segmentation.splice(0, 0, b"s")  # meanwhile
    ahead(lambda: False)
    assert segmentation.ahead_of(3) is not None
    assert segmentation.tokens(3).ids.tolist() == tokenizer.encode("slow lower", at=3)
    assert tokenizer.segmentation("low low").ahead_of(3) is None  # a short text is not split in advance


# --- Facts about its steps --------------------------------------------------------------


def test_ties_and_never_merged_pairs_are_determined_separately_for_each_gage_block() -> None:
    """In the first block, the pairs `ab`, `bc` and `cd` tie. In the second block, other pairs tie.

    A pair is compared only with pairs of its own block.
    """
    words = WordTable.from_counts({"abcd" * 4 + "abcd": 1, "xyxyxyxyx" + "uvuvuvuv": 1})
    history = gage.train(words, Recipe.preset("gage", block_size=20))
    for tie in ties(history):
        block = history.reasons["block"]
        if tie.loser_step is not None:
            assert block[tie.loser_step - 1] == block[tie.step - 1]
    for pair in runners_up_never_merged(history):
        assert history.row_joining(pair.pair, pair.closest_step - 1) is None


def test_token_counts_of_a_gage_history_are_correct_even_if_pairs_are_joined_several_times() -> None:
    text = text_of("prose")[:4_000]
    history = train_gage(text, block_size=700)
    counts = history.token_counts(np.bincount(np.frombuffer(text.encode(), np.uint8), minlength=256))
    assert counts.min() >= 0
    assert counts.sum() == history.columns.tokens_left[-1]
    assert (history.columns.runner_up_count[history.columns.runner_up_left == NOTHING] == NOTHING).all()
    assert (counts * history.token_lengths()).sum() == len(text.encode())


def test_each_reachable_gage_token_is_produced_at_a_step_of_its_own_block() -> None:
    history = train_gage("low lower lowest\n" * 40, block_size=170)
    answers = {token: reachability(history, token) for token in range(256, history.first_special)}
    for token, reached in answers.items():
        if reached.kind == "reachable":
            assert reached.witness is not None
            at = history.last_step_beside(token, len(history))
            assert token in Tokenizer(history).encode(reached.witness, at=at)
    assert [answers[row + 256].kind for row in range(len(history)) if row in (0, len(history) - 1)] == ["reachable"] * 2


def test_a_gage_run_cannot_be_exported_as_a_merges_file(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="compress the text to a file, choose a table such as csv"):
        write_history(train_gage("low lower lowest\n" * 40), tmp_path / "merges.txt")


def test_a_session_file_keeps_the_blocks_of_a_gage_run(tmp_path: Path) -> None:
    history = train_gage("low lower lowest\n" * 40, block_size=170)
    path = tmp_path / "gage.bpex"
    saved = SavedSession(history.recipe, runs=(SavedRun(1, history.recipe, history=history, state="ended"),))
    write_session(saved, path)
    loaded = read_session(path).runs[0].history
    assert loaded is not None
    assert columns_and_reasons(loaded) == columns_and_reasons(history)
    assert Tokenizer(loaded).encode("low lower") == Tokenizer(history).encode("low lower")


@pytest.mark.parametrize(
    ("column", "row", "value", "message"),
    [
        ("block", 0, -1, "out of order"),
        ("block", 5, 3, "out of order"),
        ("byte", 5, 256, "out of order"),
        ("block", slice(3, None), 3, "a token of another block"),
        ("byte", None, None, "do not name their blocks"),
    ],
)
def test_impossible_gage_histories_are_refused(column: str, row: Any, value: int, message: str) -> None:
    history = train_gage("low lower lowest\n" * 40, block_size=170)
    reasons = {name: values.copy() for name, values in history.reasons.items()}
    assert METHOD.what_is_wrong(history) == METHOD.what_is_wrong(history.first(0)) == ""
    if row is None:
        del reasons[column]
    else:
        reasons[column][row] = value
    assert message in METHOD.what_is_wrong(History(history.recipe, history.alphabet, history.columns, reasons=reasons))


def test_the_list_of_gage_steps_shows_the_block_and_the_new_byte_of_each_step() -> None:
    history = train_gage("low lower lowest\n" * 40, block_size=170)
    first = history[0]
    assert [reason.text(first.count, first.reasons) for reason in METHOD.reasons(history.recipe)][:2] == ["1", "0xFF"]
    assert all(len(reason.values(history)) == len(history) for reason in METHOD.reasons(history.recipe))
