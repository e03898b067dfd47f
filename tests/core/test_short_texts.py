"""Tests that the shortcut for encoding short texts gives the same ids as the usual code."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.errors import BpeError, FormatError
from bpe_core.history.history import NO_NUMBER, History
from bpe_core.kernels import readiness
from bpe_core.kernels.readiness import wait_until_ready
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.compiled_encoder import SHORT_TEXT
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
from tests.core.specified_encoder import specified_words

CORPUS = "the lowest of the low, the newest of the new; the widest is wider than the wide é漢 " * 3
TEXTS = st.lists(st.sampled_from(["the lowest", " wide", "é", "漢字", "\n", "<end>", "😀", " 123"]), max_size=9).map(
    "".join
)
RECIPES = [
    Recipe.preset("gpt2", vocab_size=300),
    Recipe.preset("gpt2", vocab_size=300, special_tokens=("<end>",), spelled_specials="matched"),
    Recipe.preset("sentencepiece-like", vocab_size=290),
    Recipe.preset("bert", vocab_size=60),
    Recipe.preset("unigram", vocab_size=28),
    Recipe.preset("picky", vocab_size=300),
    Recipe.preset("superbpe", vocab_size=300),
]


@pytest.fixture(scope="module", params=RECIPES, ids=lambda recipe: f"{recipe.name} {len(recipe.special_tokens)}")
def learned(request: pytest.FixtureRequest) -> History:
    return train(Corpus.from_texts([CORPUS]), request.param)


def study_of(history: History, seed: int | None) -> bpe.Study:
    """Return a study whose kernels are loaded. If `seed` is given, its file has other ids than the engine's indices."""
    assert wait_until_ready(600)
    count = history.index_count
    numbers = None if seed is None else np.random.default_rng(seed).choice(3 * count, count, replace=False)
    study = bpe.Study(history if numbers is None else history.numbered(numbers.astype(np.int64)))
    study.encode(CORPUS * 100)
    return study


@given(texts=st.lists(TEXTS, min_size=1, max_size=4), seed=st.none() | st.integers(0, 99))
def test_encoding_a_short_text_gives_the_same_ids_as_the_code_for_long_texts(
    learned: History, texts: list[str], seed: int | None
) -> None:
    study = study_of(learned, seed)
    longer = Tokenizer(study.history)
    for text in [*texts, "é" * SHORT_TEXT, *texts]:
        ids = longer.numbers(longer.encode_to_array(text))
        assert study.encode(text) == ids.tolist()
        shown = study.encode_to_numpy(text)
        assert (shown.dtype, shown.tolist()) == (ids.dtype, ids.tolist())
        study.encode(text, at=1)  # takes the same buffers for another number of steps
        assert study.encode(text.encode()) == ids.tolist()


def test_encoding_a_short_text_in_one_call_gives_the_ids_of_the_specification(monkeypatch: pytest.MonkeyPatch) -> None:
    history = train(Corpus.from_texts([CORPUS]), RECIPES[0])
    study, specified = study_of(history, seed=1), specified_words(history)
    numbers = study.history.numbers
    assert numbers is not None
    study.encode("low")  # makes the buffers for short texts
    monkeypatch.delattr(Tokenizer, "encode_to_array")  # the longer way
    for text in ["", "the", "the lowest é漢 wider", *CORPUS.split()]:
        assert study.encode(text) == numbers[specified.ids(text, len(history))].tolist()


def test_results_for_a_short_text_do_not_change_when_the_next_text_is_encoded() -> None:
    study = study_of(train(Corpus.from_texts([CORPUS]), RECIPES[0]), seed=None)
    first, _ = study.encode_to_numpy("the lowest"), study.encode_to_numpy("wider than")
    assert study.decode(first) == "the lowest"


def test_short_texts_are_encoded_by_several_threads_at_once() -> None:
    study = study_of(train(Corpus.from_texts([CORPUS]), RECIPES[0]), seed=3)
    texts = [f"the lowest {number} of the {number * number}" for number in range(2_000)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(study.encode, texts)) == study.encode(texts)


def test_the_word_cache_grows_while_short_texts_are_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "SAMPLE", 0)
    study = study_of(train(Corpus.from_texts([CORPUS]), RECIPES[0]), seed=4)
    texts = [" ".join(map(str, range(first, first + 500))) for first in range(0, 30_000, 500)]
    assert [study.encode(text) for text in texts] == study.encode(texts)


def test_a_short_text_whose_token_has_no_id_in_the_file_is_refused() -> None:
    history = train(Corpus.from_texts([CORPUS]), RECIPES[0])
    numbers = np.arange(history.index_count)
    numbers[ord("z")] = NO_NUMBER
    study = study_of(history.numbered(numbers), seed=None)
    assert study.encode("low") == Tokenizer(history).encode("low")
    with pytest.raises(FormatError, match="no id for the token “z”"):
        study.encode("low z")


def test_encoding_a_short_text_returns_ids_of_more_than_32_bits_unchanged() -> None:
    history = train(Corpus.from_texts([CORPUS]), RECIPES[0])
    study = study_of(history.numbered(np.arange(history.index_count) + 2**33), seed=None)
    ids = study.encode_to_numpy("low")
    assert ids.dtype == np.uint64
    assert study.encode("low") == ids.tolist() == [id + 2**33 for id in Tokenizer(history).encode("low")]


def test_a_short_text_with_half_a_surrogate_pair_is_refused_with_the_position_of_this_half() -> None:
    study = study_of(train(Corpus.from_texts([CORPUS]), RECIPES[0]), seed=None)
    for _ in range(2):
        with pytest.raises(BpeError, match=r"Character 5 of the text is U\+D800"):
            study.encode("low \ud800")
        assert study.decode(study.encode("low")) == "low"
