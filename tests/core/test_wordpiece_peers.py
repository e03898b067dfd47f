"""Tests that compare WordPiece with the libraries tokenizers and transformers: vocabularies and encodings are equal.

If two pairs are equally frequent, the library chooses by the order of a hash table, which differs in each run. So the
tests follow its merges one by one, and each merge must join one of the most frequent pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import tokenizers
from tokenizers import models, normalizers, pre_tokenizers, trainers

from bpe_core.counting.count_words import count_words
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import Columns
from bpe_core.history.token_texts import written
from bpe_core.methods.kit.plain_pairs import PlainLearner
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import Pair
from bpe_core.text.corpus import Corpus
from tests.conftest import EXPLORES
from tests.core.learning import train
from tests.shared import available_texts, text_of

LANGUAGES = available_texts("made/languages", "data/udhr-languages.txt")
TEXTS = available_texts("made/english", "data/tinyshakespeare.txt", "data/wikitext2-valid.raw.txt") + LANGUAGES
LEARNED_FROM = 1_000_000 if EXPLORES else 100_000  # characters
TOKENS = 8_000 if EXPLORES else 600
EVERY = 1 if EXPLORES else 25  # line of a long text

Ids = Callable[[str], list[int]]


class FollowingLearner(PlainLearner):
    """A learner that follows another library when pairs are tied.

    If several pairs are equally frequent, it joins the pair that the other library joined.
    """

    wanted: list[str]
    ties = 0

    def _choose(self) -> Pair | None:
        best = self._best()
        if best is None or self.learned == len(self.wanted):
            return None
        most, wanted, limit = self._counts[best], self.wanted[self.learned].encode(), 8
        while True:
            leading = [
                (candidate.left, candidate.right) for candidate in self.candidates(limit) if candidate.count == most
            ]
            self.ties += limit == 8 and len(leading) > 1
            fitting = [pair for pair in leading if self._joined_text(*(self._texts[id] for id in pair)) == wanted]
            if fitting or len(leading) < limit:
                assert len(fitting) == 1, f"{wanted!r} is none of the {len(leading)} that occur {most} times"
                return fitting[0]
            limit *= 8


def peer(model: Any) -> Any:
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


@pytest.mark.parametrize("name", TEXTS)
def test_the_wordpiece_trainer_of_tokenizers_learns_the_same_vocabulary(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    text, recipe = text_of(name)[:LEARNED_FROM], Recipe.preset("bert", special_tokens=(), merges=TOKENS)
    words = count_words(Corpus.from_texts([text]), recipe)
    alphabet = Alphabet.with_continuations(words, recipe)
    trained = peer(models.WordPiece(unk_token="[UNK]"))
    trainer = trainers.WordPieceTrainer(
        vocab_size=len(alphabet) + TOKENS, min_frequency=2, special_tokens=["[UNK]"], show_progress=False
    )
    trained.train_from_iterator([text], trainer)
    theirs = sorted(trained.get_vocab(), key=trained.get_vocab().__getitem__)
    assert set(theirs[: len(alphabet)]) == {symbol.text.decode() for symbol in alphabet.symbols}
    learner = FollowingLearner(words, alphabet, recipe, None)
    learner.wanted = theirs[len(alphabet) :]
    assert len(learner.wanted) == TOKENS
    learner.learn(Columns.with_room(TOKENS), TOKENS, 2**60)
    assert learner.learned == TOKENS
    record_property("decided by ties", learner.ties)


@cache
def learned(name: str) -> tuple[Tokenizer, dict[str, int]]:
    """Train our tokenizer on a text. Return the tokenizer, and a vocabulary for other libraries.

    If several tokens have the same text, the vocabulary has only the oldest of them.
    """
    recipe = Recipe.preset("bert", special_tokens=(), vocab_size=None, merges=3_000, alphabet_limit=1_500)
    history = train(Corpus.from_texts([text_of(name)]), recipe)
    ids: dict[str, int] = {}
    for id, text in enumerate(written(history)):
        ids.setdefault(text.decode(), id)
    return Tokenizer(history), ids


def by_tokenizers(vocabulary: dict[str, int]) -> Ids:
    tokenizer = peer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    return lambda line: list(tokenizer.encode(line).ids)


def by_transformers(vocabulary: dict[str, int]) -> Ids:
    transformers = pytest.importorskip("transformers")
    named = {**vocabulary, **{f"[{name}]": len(vocabulary) + i for i, name in enumerate(("PAD", "CLS", "SEP", "MASK"))}}
    tokenizer = transformers.BertTokenizer(vocab=named)
    return lambda line: list(tokenizer.encode(line, add_special_tokens=False))


@pytest.mark.parametrize("other", [by_tokenizers, by_transformers])
@pytest.mark.parametrize("name", LANGUAGES)
def test_each_line_gets_the_same_tokens_as_in_the_wordpiece_model_of_the_tokenizers_library(
    name: str, other: Callable[[dict[str, int]], Ids]
) -> None:
    tokenizer, vocabulary = learned(name)
    theirs = other(vocabulary)
    lines = [*text_of(name).splitlines()[::EVERY], "x" * 100, "x" * 101, "don't\u200b STOP\x00\ufffd, ΟΔΟΣ 漢字 İ각"]
    assert [line for line in lines if tokenizer.encode(line) != theirs(line)] == []
    assert tokenizer.encode("\n".join(lines)) == theirs("\n".join(lines))
