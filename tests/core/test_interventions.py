"""Tests of forbidden and forced pairs: every learner equals the reference, and impossible requests are reported."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.editing.growing import growing_recipe, without_counts
from bpe_core.errors import RecipeError
from bpe_core.history.columns import Columns
from bpe_core.history.history import History
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.kit.compiled_pairs import CompiledLearner
from bpe_core.methods.kit.plain_pairs import PlainLearner
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.methods.superbpe import METHOD as SUPERBPE
from bpe_core.methods.superbpe import reference as superbpe
from bpe_core.methods.wordpiece import METHOD as WORDPIECE
from bpe_core.methods.wordpiece import reference as wordpiece
from bpe_core.methods.wordpiece.compiled import CompiledScoreLearner
from bpe_core.recipes.interventions import Act, Intervention
from bpe_core.recipes.recipe import Recipe
from tests.conftest import EXAMPLES
from tests.core.learning import all_columns, learn_fast, pairs_of
from tests.core.random_training import recipes, words

WORDS = WordTable.from_counts({"low": 5, "lower": 2, "newest": 6, "widest": 3})
BY_SCORE = Recipe.preset("wordpiece", wordpiece_rule="score", merges=40, min_frequency=1)
IN_STAGES = Recipe.preset("superbpe", merges=12, transition=5, min_frequency=1)
A_LOT = 2**60
assert SUPERBPE.plain is not None
assert SUPERBPE.compiled is not None
assert WORDPIECE.plain is not None
LEARNERS = {
    "bpe": (PlainLearner, CompiledLearner),
    "wordpiece": (WORDPIECE.plain.learner, CompiledScoreLearner),
    "superbpe": (SUPERBPE.plain.learner, SUPERBPE.compiled.learner),
}


def reference_run(words: WordTable, recipe: Recipe) -> History:
    by = {"wordpiece": wordpiece, "superbpe": superbpe}.get(recipe.method, reference)
    return by.train(words, recipe)  # type: ignore[no-any-return]


def possible_pairs(words: WordTable, history: History, steps: int) -> list[tuple[int, int]]:
    """Return the pairs that could be joined after the first `steps` steps."""
    recipe, first = history.recipe, history.first(steps)
    tokens = reference.TokenBook(history.alphabet)
    corpus = [(history.alphabet.symbols_of(word, recipe), count) for word, count in words]
    for pair in pairs_of(first):
        token = tokens.add(pair)
        corpus = [(reference.join(word, pair, token), count) for word, count in corpus]
    boundless = recipe.with_changes(max_token_length=None)
    return [*reference.allowed(reference.count_pairs(corpus), tokens, boundless)]


@st.composite
def recipes_with_interventions(draw: st.DrawFn) -> tuple[WordTable, Recipe]:
    """Draw words, and a recipe with a few interventions that are possible for these words."""
    table = draw(words())
    recipe = draw(recipes() | st.sampled_from([BY_SCORE, IN_STAGES]))
    for _ in range(draw(st.integers(1, 3))):
        history = reference_run(table, recipe)
        step = draw(st.integers(1, len(history) + 1))
        pairs = possible_pairs(table, history, step - 1)
        act: Act = draw(st.sampled_from(["forbid", "force"]))
        if not pairs or (act == "force" and step > recipe.merge_limit(len(history.alphabet))):
            continue
        pair = draw(st.sampled_from(sorted(pairs)))
        earlier = [
            intervention
            for intervention in recipe.interventions
            if intervention.step <= step and intervention.pair != pair
        ]
        if not any(intervention.step == step and intervention.act == act == "force" for intervention in earlier):
            recipe = recipe.with_changes(interventions=(*earlier, Intervention(step, act, *pair)))
    return table, recipe


def learn_in_portions(
    make: Any, words: WordTable, history: History, work: int, known: History | None = None
) -> dict[str, Any]:
    """Call a learner again and again until it ends. Each call does about `work` units of work.

    Return the learner's columns, its reasons, the cause of its end, and the pair that it would join next, if there is
    one.
    """
    recipe, room = history.recipe, history.recipe.merge_limit(len(history.alphabet))
    columns = Columns.with_room(room)
    learner, end = make(words, history.alphabet, recipe, known), ""
    while learner.learned < room and not end:
        end = learner.learn(columns, room, work)
    done = History(recipe, history.alphabet, columns.first(learner.learned), reasons=learner.reasons)
    leading = [(candidate.left, candidate.right) for candidate in learner.candidates(1)]
    reasons = {name: column.tolist() for name, column in learner.reasons.items()}
    return {**all_columns(done), **reasons, "end": end or "vocabulary full", "forbidden": [*map(tuple, leading)]}


@settings(max_examples=EXAMPLES // 2)
@given(steered=recipes_with_interventions(), work=st.sampled_from([1, 700, A_LOT]), data=st.data())
def test_each_learner_with_interventions_makes_the_same_steps_as_the_reference(
    steered: tuple[WordTable, Recipe], work: int, data: st.DataObject
) -> None:
    table, recipe = steered
    plain = reference_run(table, recipe)
    known = plain.first(data.draw(st.integers(0, len(plain)), label="steps known"))
    reasons = {name: column.tolist() for name, column in plain.reasons.items()}
    for make in LEARNERS[recipe.method]:
        for given_first in (None, known):
            result = learn_in_portions(make, table, plain, work, given_first)
            leading = result.pop("forbidden")
            assert result == {**all_columns(plain), **reasons, "end": plain.end_reason}
            assert not {*leading} & {
                intervention.pair for intervention in recipe.interventions if intervention.act == "forbid"
            }


@settings(max_examples=EXAMPLES // 2)
@given(first=words(), second=words(), recipe=recipes(), by=st.integers(1, 9))
def test_extending_a_table_with_a_different_corpus_keeps_its_merges_as_the_first_steps(
    first: WordTable, second: WordTable, recipe: Recipe, by: int
) -> None:
    """The words of the other corpus are learned with the alphabet of the table."""
    old = reference.train(first, recipe)
    growing = growing_recipe(old, by)
    plain = reference.train(second, growing, old.alphabet, old.pairs())
    reasons = {name: column.tolist() for name, column in plain.reasons.items()}
    for make in (PlainLearner, CompiledLearner):
        result = learn_in_portions(make, second, plain, A_LOT, without_counts(old))
        del result["forbidden"]
        assert result == {**all_columns(plain), **reasons, "end": plain.end_reason}
    assert plain.pairs()[: len(old)] == old.pairs()


def test_training_with_the_recipe_of_a_branch_gives_the_same_steps_as_the_branch() -> None:
    """The counts were computed on paper: e+s 9, es+t 9, then l+o 7 and lo+w 7, and further pairs."""
    parent = learn_fast(WORDS, Recipe.preset("gpt2", merges=6, ties="lowest-ids"))
    e, s, t = b"est"
    assert pairs_of(parent)[:2] == [(e, s), (256, t)]
    without = parent.recipe.with_changes(interventions=("forbid:256+116@2",))
    trainer = Trainer(WORDS, without, history=parent.first(1))
    trainer.advance()
    branch = trainer.history
    assert pairs_of(branch)[0] == (e, s)
    assert (256, t) not in pairs_of(branch)
    assert all_columns(branch) == all_columns(learn_fast(WORDS, Recipe.from_json(without.to_json())))
    forced = learn_fast(WORDS, without.with_changes(interventions=(*without.interventions, "force:119+105@3")))
    assert pairs_of(forced)[2] == (119, 105)  # w+i, in 3 words only
    assert (forced[2].count, forced.forced, forced[2].tied) == (3, [2], False)
    assert parent.recipe.interventions == ()


@pytest.mark.parametrize(
    ("interventions", "sentence"),
    [
        (["forbid t+h"], "is not an intervention. Write forbid"),
        ("forbid:1+2@3", "must be a list"),
        (["force:1+2@0"], "the first step is 1"),
        (["force:108+111@2", "force:101+115@2"], "both force a pair at the same step"),
        (["forbid:108+111@1", "force:108+111@2"], "remove one of them"),
        (["forbid:108+111@7"], "There is no step 7"),
        (["forbid:256+111@1"], "names the token 256, which does not exist before step 1"),
        (["force:122+122@2"], "occurs nowhere in the text"),
        (["force:101+115@1", "force:101+115@2"], "occurs nowhere in the text"),
    ],
)
def test_recipes_with_impossible_forced_or_forbidden_pairs_are_refused(interventions: Any, sentence: str) -> None:
    with pytest.raises(RecipeError, match=sentence):
        learn_fast(
            WORDS, Recipe.from_dict({**Recipe.preset("gpt2", merges=6).to_dict(), "interventions": interventions})
        )


def test_interventions_at_unreachable_steps_or_for_methods_without_merges_are_refused() -> None:
    with pytest.raises(RecipeError, match=r"There is no step 90 for .* after 12 steps"):
        learn_fast(WORDS, Recipe.preset("gpt2", vocab_size=400, interventions=("forbid:1+2@90",)))
    with pytest.raises(RecipeError, match="Unigram does not merge pairs"):
        Recipe.preset("unigram", interventions=("forbid:1+2@9",))
