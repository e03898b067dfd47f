"""Tests that large objects are freed as soon as nobody uses them.

An object that refers to itself stays in memory until the garbage collector finds it. In the window, this can take a
minute, and meanwhile each answer to a question would leave such objects behind.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import suppress

import pytest

from bpe_core.errors import BpeError
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.splitting.splitter import Splitter
from tests.core.learning import words_of
from tests.core.test_pickles import PRESETS, TEXT, train_preset


@pytest.fixture(autouse=True)
def no_garbage_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("preset", PRESETS)
def test_a_tokenizer_of_each_method_is_freed_as_soon_as_nobody_uses_it(preset: str) -> None:
    history = train_preset(preset).history
    tokenizer = Tokenizer(history)
    tokenizer.encode(TEXT)
    with suppress(BpeError):  # not all methods can stop earlier
        tokenizer.encode(TEXT[:100], at=len(history) // 2)
    left = [weakref.ref(part) for part in (tokenizer, tokenizer._segmenter, tokenizer._cutting)]
    del tokenizer
    assert [part() for part in left] == [None, None, None]


@pytest.mark.parametrize("preset", ["gpt2", "superbpe"])
def test_words_with_ranks_are_freed_as_soon_as_nobody_uses_them(preset: str) -> None:
    history = train_preset(preset).history
    ranked = RankedWords.of(words_of(TEXT, history.recipe), history)
    stages = ranked.stages
    assert stages[-1].words is ranked
    assert ranked.at(0) is stages[0].words
    left = weakref.ref(ranked)
    del ranked, stages
    assert left() is None


def test_a_splitter_is_freed_as_soon_as_nobody_uses_it() -> None:
    splitter = Splitter(train_preset("gpt2").history.recipe)
    assert "".join(splitter.words(TEXT)) == TEXT
    left = weakref.ref(splitter)
    del splitter
    assert left() is None
