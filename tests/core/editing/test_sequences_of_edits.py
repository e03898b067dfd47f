"""Tests of tables that are changed several times, in any order: every id still decodes to the same bytes."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.counting.count_words import count_words
from bpe_core.editing.extending import extend
from bpe_core.editing.growing import can_repeat_steps, grown_numbers, without_counts
from bpe_core.editing.putting_together import put_together
from bpe_core.editing.trimming import NEEDED, trim
from bpe_core.editing.without_tokens import numbers_of
from bpe_core.errors import BpeError
from bpe_core.history.history import History, Int64s
from bpe_core.history.token_texts import written
from bpe_core.insight.reachability import first_learned
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import learn
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
from tests.shared import text_of

OLD, NEW = text_of("poem")[:600], text_of("prose")[:600]
TEXTS = (OLD[:90], NEW[:90], "lownew wider wolves 🐺 né")
RECIPES = {
    "bytes": Recipe.preset("gpt2", merges=30, special_tokens=("<|end|>", "<a blank>")),
    "characters": Recipe.preset("sentencepiece-like", merges=30, vocab_size=None),
    "wordpiece": Recipe.preset("wordpiece", merges=30, vocab_size=None, special_tokens=("[PAD]",)),
    "unigram": Recipe.preset("unigram", vocab_size=None, merges=20),
    "mingram": Recipe.preset("mingram", vocab_size=None, merges=10),
}


class State(NamedTuple):
    """A history, and the id of each of its tokens in the tokenizer file."""

    history: History
    numbers: Int64s

    def bytes_by_number(self) -> dict[int, bytes]:
        """Return a dictionary from each file id to the bytes of its token."""
        tokenizer = Tokenizer(self.history)
        gone = {*range(self.history.first_special)} - {*self.history.vocabulary.tolist()}
        numbers = enumerate(self.numbers.tolist())
        return {number: tokenizer.decode_bytes([id]) for id, number in numbers if number >= 0 and id not in gone}


@cache
def learn_table(kind: str, text: str) -> History:
    return train(Corpus.from_texts([text]), RECIPES[kind])


def kind_of(history: History) -> str:
    recipe = history.recipe
    return recipe.base if recipe.method == "bpe" else recipe.method


def edit_table(state: State, act: str, data: st.DataObject) -> tuple[State, set[int]]:
    """Return the table after one edit, and the ids whose meaning may have changed."""
    history, numbers = state
    if act == "extend":
        grown = extend(Corpus.from_texts([NEW]), history.numbered(numbers), data.draw(st.integers(1, 8)))
        return State(grown.history, numbers_of(grown.history)), set()
    if act == "trim":
        tokens = history.vocabulary[history.vocabulary >= first_learned(history)].tolist()
        chosen = data.draw(st.sets(st.sampled_from(tokens), max_size=8)) if tokens else set()
        needed, ids = data.draw(st.sampled_from(tuple(NEEDED))), numbers[[*chosen]].tolist()
        rest = trim(history.numbered(numbers), ids, needed=needed, renumber=False)
        return State(rest.history, numbers_of(rest.history)), {*rest.removed, *rest.hidden}
    if act == "merge":
        both = put_together(history.numbered(numbers), learn_table(kind_of(history), NEW))
        return State(both.history, numbers_of(both.history)), set()
    steps = len(history) if can_repeat_steps(history) else 0
    step = data.draw(st.integers(1, max(1, steps)))
    if step > steps or step <= history.recipe.grown_from:
        raise BpeError("There is no such step.")
    left, right = history.pair(step - 1)
    recipe = history.recipe.with_changes(merges=steps, interventions=(f"forbid:{left}+{right}@{step}",))
    words = count_words(Corpus.from_texts([OLD + NEW]), recipe)
    branch = learn(words, recipe, history=without_counts(history.first(step - 1)))
    numbers = grown_numbers(branch, numbers)
    behind = history.indices[step - 1 :].tolist()
    return State(branch, numbers), {int(state.numbers[id]) for id in behind}


@settings(max_examples=12)
@given(data=st.data())
def test_a_table_keeps_its_old_ids_and_decodes_texts_correctly_after_any_sequence_of_edits(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(tuple(RECIPES)))
    history = learn_table(kind, OLD)
    state = State(history, np.arange(history.index_count) * 3 + 7)  # a file may number its tokens differently
    first = [Tokenizer(history).encode(text) for text in TEXTS]
    texts_before = [Tokenizer(history).decode(ids) for ids in first]
    for act in data.draw(st.lists(st.sampled_from(["extend", "trim", "forbid", "merge"]), min_size=1, max_size=4)):
        before = state.bytes_by_number()
        try:
            state, gone = edit_table(state, act, data)
        except BpeError:  # impossible acts are reported
            continue
        after = state.bytes_by_number()
        assert {number: after.get(number) for number in before.keys() - gone} == {
            number: text for number, text in before.items() if number not in gone
        }
        tokenizer = Tokenizer(state.history)
        for text, text_before, known in zip(TEXTS, texts_before, first, strict=True):
            ids = tokenizer.encode(text)
            assert (state.numbers[ids] >= 0).all()
            if text_before == text:
                assert tokenizer.decode(ids) == text
            if history.alphabet.unknown_id not in known:
                assert state.history.alphabet.unknown_id not in ids
                assert tokenizer.decode(ids) == text_before
    assert len(written(state.history)) == state.history.first_special
