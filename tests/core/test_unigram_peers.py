"""Tests that compare Unigram with SentencePiece.

If both begin with the same pieces, their rounds, vocabularies and encodings must be the same.
"""

from __future__ import annotations

import io
import os
import re
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from bpe_core.counting.count_words import count_words
from bpe_core.formats.recovering import with_seeds
from bpe_core.history.alphabet import Alphabet
from bpe_core.methods.kit.cells import Stretches
from bpe_core.methods.kit.compiled_lattices import CompiledLattices
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.methods.unigram import reference as reference
from bpe_core.methods.unigram.learner import UnigramLearner
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting import compiled_encoder
from bpe_core.text.corpus import Corpus
from tests.core.unigram_model import history_of
from tests.shared import MADE, available_texts, text_of

sentencepiece = pytest.importorskip("sentencepiece")

TEXTS = available_texts("made/english", "data/tinyshakespeare.txt")
SIZE = {"made/english": 600, "data/tinyshakespeare.txt": 8_000}


def learn_unigram(text: str, size: int) -> tuple[Trainer, UnigramLearner]:
    recipe = Recipe.preset("unigram", vocab_size=size, unicode_form="", special_tokens=("<s>", "</s>"))
    trainer = Trainer(count_words(Corpus.from_texts([text]), recipe), recipe)
    trainer.advance()
    learner = trainer._learner
    assert isinstance(learner, UnigramLearner)
    return trainer, learner


def train_sentencepiece(
    lines: list[str], size: int, log: pytest.CaptureFixture[str], seeds: str = ""
) -> tuple[bytes, str]:
    """Train a model by SentencePiece. Return the model and the log of the training."""
    model = io.BytesIO()
    log.readouterr()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=size, model_type="unigram",
        normalization_rule_name="identity", character_coverage=1.0, num_threads=1, max_sentence_length=10_000_000,
        seed_sentencepieces_file=seeds, minloglevel=0,  # the log level of the last call stays set for the whole process
    )  # fmt: skip
    return model.getvalue(), log.readouterr().err


def scores_of(trainer: Trainer) -> dict[str, float]:
    """Return the log-probability of each token, by its text."""
    history, symbols = trainer.history, trainer.alphabet.symbols
    assert history.scores is not None
    scores = history.scores.at(len(history))
    return {symbols[id].text.decode(): float(scores[id]) for id in history.vocabulary.tolist()}


def pieces_of(theirs: Any) -> dict[str, float]:
    return {theirs.id_to_piece(id): theirs.get_score(id) for id in range(theirs.get_piece_size())}


@pytest.mark.parametrize("name", TEXTS)
def test_unigram_training_from_the_same_seeds_goes_through_the_same_rounds_as_sentencepiece(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text, size = text_of(name), SIZE[name]
    trainer, learner = learn_unigram(text, size)
    seeds, symbols = tmp_path / "seeds.tsv", trainer.alphabet.symbols
    counts = learner.coverage.tolist()
    texts = [
        (symbol.text.decode(), count) for symbol, count in zip(symbols, counts, strict=True) if symbol.kind == "seed"
    ]
    seeds.write_text("".join(f"{text}\t{count // len(text)}\n" for text, count in texts), encoding="utf-8")
    model, log = train_sentencepiece(text.splitlines(), size, capfd, str(seeds))
    rounds = re.findall(r"EM sub_iter=\d+ size=(\d+) obj=([\d.]+)", log)
    assert [em_pass.size for em_pass in learner.passes] == [int(size) for size, _ in rounds]
    # Many words are equally frequent in these texts, so rounding to 32 bits decides which of them is dropped.
    is_made = name in MADE
    for number, (em_pass, (_, objective)) in enumerate(zip(learner.passes, rounds, strict=True)):
        assert em_pass.objective == pytest.approx(float(objective), rel=1e-3 if is_made and number > 1 else 1e-5)
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model)
    ours, pieces = scores_of(trainer), pieces_of(theirs)
    both = ours.keys() & pieces.keys() - {"<unk>"}
    assert len(both) >= (0.98 if is_made else 0.999) * (size - 3)
    assert is_made or max(abs(ours[piece] - pieces[piece]) for piece in both) < 1e-3


LONG = ("data/udhr-languages.txt", "data/wikitext2-train-unk.txt") if os.environ.get("BPE_LONG") else ()
FEWER_SEEDS = {"data/udhr-languages.txt": 55}  # SentencePiece has another script for some characters
LEAST_SHARED = {
    "made/english": 0.98, "data/tinyshakespeare.txt": 0.999, "data/udhr-languages.txt": 0.983,
    "data/wikitext2-train-unk.txt": 0.9969,
}  # fmt: skip


def log_likelihood(scores: dict[str, float], learner_of: Trainer) -> float:
    """Return the log-likelihood of the words from which a trainer learns.

    `scores` are the log-probabilities of the pieces.
    """
    words, recipe = learner_of.words, learner_of.recipe
    base = Alphabet.for_words(words, recipe)
    longer = [text for text in scores if len(text) > 1 and text not in ("<unk>", "<s>", "</s>")]
    alphabet = with_seeds(base, [(text.encode(), text.replace("▁", " ").encode()) for text in longer])
    known = [scores.get(symbol.text.decode(), -np.inf) for symbol in alphabet.symbols[1:]]
    lattices = CompiledLattices(Stretches.of(words, alphabet, recipe), alphabet, recipe)
    lattices.expect(0, 2**60, np.array([-np.inf, *known], np.float32))
    return lattices.log_likelihood


@pytest.mark.parametrize("name", available_texts(*TEXTS, *LONG))
def test_unigram_training_without_given_seeds_learns_nearly_the_same_pieces_as_sentencepiece(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Both trainers get the same lines, which have only spaces as blanks and no special tokens of SentencePiece."""
    lines = [" ".join(line.split()) for line in text_of(name).replace("<unk>", "unk").split("\n")]
    trainer, _ = learn_unigram("\n".join(lines), SIZE.get(name, 8_000))
    model, log = train_sentencepiece(lines, SIZE.get(name, 8_000), capfd)
    seeds = len(trainer.alphabet) - 1 - FEWER_SEEDS.get(name, 0)  # <unk> is none
    assert f"Initialized {seeds} seed pieces" in log
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model)
    ours, pieces = scores_of(trainer), pieces_of(theirs)
    assert len(ours.keys() & pieces.keys()) >= LEAST_SHARED[name] * len(ours)
    assert log_likelihood(ours, trainer) > 1.0005 * log_likelihood(pieces, trainer)


@pytest.fixture(scope="module")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a Unigram model that SentencePiece learned from lines in many languages."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text_of("languages").splitlines()), model_writer=model, vocab_size=1_500,
        model_type="unigram", normalization_rule_name="identity", character_coverage=0.999, num_threads=1,
    )  # fmt: skip
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


@pytest.mark.parametrize("name", available_texts("languages", "data/udhr-languages.txt"))
def test_unigram_encodes_lines_as_sentencepiece_does(
    name: str, small_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that one text may empty the cache before the next text.
    monkeypatch.setattr(compiled_encoder, "MOST_PATHS", 100)
    history = history_of(small_model)
    tokenizer, texts = Tokenizer(history), [symbol.text.decode() for symbol in history.alphabet.symbols]
    theirs = [small_model.id_to_piece(id) for id in range(small_model.get_piece_size())]
    lines = [" ".join(line.split()) for line in text_of(name).splitlines() if "▁" not in line]
    if name.startswith("data/") and not os.environ.get("BPE_LONG"):
        lines = lines[::97]
    wanted = [[theirs[id] for id in ids] for ids in small_model.encode(lines)]
    for line, pieces in zip(lines, wanted, strict=True):
        assert [texts[id] for id in tokenizer.encode(line)] == pieces
    for _ in range(2):
        assert [texts[id] for id in tokenizer.encode("\n".join(lines))] == [*chain.from_iterable(wanted)]


MIXED = (
    *("model", "model1", "gpt4", "gpt3", "x86", "b2b", "12ab", "covid19", "ковид19", "v2", "в2", "abcабв", "1999"),
    *("2001a", "é1", "日本1", "1日本", "カナabc"),
)


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"split_by_number": False},
        {"split_by_unicode_script": False},
        {"split_by_unicode_script": False, "split_by_number": False},
    ],
)
def test_unigram_pieces_may_mix_scripts_and_digits_as_sentencepiece_allows(
    choices: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    chance, model = Random(1), io.BytesIO()
    lines = [" ".join(chance.choices(MIXED, k=8)) for _ in range(400)]
    capfd.readouterr()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=56, model_type="unigram", num_threads=1,
        normalization_rule_name="identity", character_coverage=1.0, hard_vocab_limit=False, minloglevel=0, **choices,
    )  # fmt: skip
    log = capfd.readouterr().err
    recipe = Recipe.preset("unigram", vocab_size=56, unicode_form="", special_tokens=("<s>", "</s>"), **choices)
    words = count_words(Corpus.from_texts(["\n".join(lines)]), recipe)
    trainer = Trainer(words, recipe)
    trainer.advance()
    assert f"Initialized {len(trainer.alphabet) - 1} seed pieces" in log
    texts = {trainer.alphabet.texts[id].decode() for id in trainer.history.vocabulary.tolist()} - {"<unk>"}
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    assert texts >= pieces_of(theirs).keys() - {"<unk>", "<s>", "</s>"}
    assert any(re.search(r"[a-z]\d", text) for text in texts) is bool(choices)
    plain = reference.train(words, recipe)
    assert {plain.alphabet.texts[id].decode() for id in plain.vocabulary.tolist()} - {"<unk>"} == texts
