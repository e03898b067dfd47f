"""Unigram beside SentencePiece: from the same seeds the same rounds, the same vocabulary, the same cuts."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.learning.trainer import Trainer
from bpe_core.learning.unigram.learner import UnigramLearner
from tests.core.unigram_model import history_of
from tests.shared import MADE, here, text_of

sentencepiece = pytest.importorskip("sentencepiece")

TEXTS = here("made/english", "data/tinyshakespeare.txt")
SIZE = {"made/english": 600, "data/tinyshakespeare.txt": 8_000}


def learned(text: str, size: int, **changes: Any) -> tuple[Trainer, UnigramLearner]:
    recipe = bpe.Recipe.preset("unigram", vocab_size=size, unicode_form="", special_tokens=("<s>", "</s>"), **changes)
    trainer = Trainer(bpe.count_words(bpe.Corpus.from_texts([text]), recipe), recipe)
    trainer.advance()
    learner = trainer._learner
    assert isinstance(learner, UnigramLearner)
    return trainer, learner


def learned_there(lines: list[str], size: int, log: pytest.CaptureFixture[str], seeds: str = "") -> tuple[bytes, str]:
    """The model, and what was said meanwhile."""
    model = io.BytesIO()
    log.readouterr()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=size, model_type="unigram",
        normalization_rule_name="identity", character_coverage=1.0, num_threads=1, max_sentence_length=10_000_000,
        seed_sentencepieces_file=seeds,
    )  # fmt: skip
    return model.getvalue(), log.readouterr().err


@pytest.mark.parametrize("name", TEXTS)
def test_the_same_seeds_lead_to_the_same_rounds(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text, size = text_of(name), SIZE[name]
    trainer, learner = learned(text, size)
    seeds, symbols = tmp_path / "seeds.tsv", trainer.alphabet.symbols
    counts = learner.coverage.tolist()
    texts = [
        (symbol.text.decode(), count) for symbol, count in zip(symbols, counts, strict=True) if symbol.kind == "seed"
    ]
    seeds.write_text("".join(f"{text}\t{count // len(text)}\n" for text, count in texts), encoding="utf-8")
    model, said = learned_there(text.splitlines(), size, capfd, str(seeds))
    rounds = re.findall(r"EM sub_iter=\d+ size=(\d+) obj=([\d.]+)", said)
    assert [one.size for one in learner.passes] == [int(size) for size, _ in rounds]
    is_made = name in MADE  # where many words occur as often as others, so that 32 bits decide which of them is dropped
    for number, (one, (_, objective)) in enumerate(zip(learner.passes, rounds, strict=True)):
        assert one.objective == pytest.approx(float(objective), rel=1e-3 if is_made and number > 1 else 1e-5)
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model)
    history = trainer.history
    assert history.scores is not None
    scores = history.scores.at(len(history))
    ours = {symbols[id].text.decode(): float(scores[id]) for id in history.vocabulary.tolist()}
    pieces = {theirs.id_to_piece(id): theirs.get_score(id) for id in range(theirs.get_piece_size())}
    both = ours.keys() & pieces.keys() - {"<unk>"}
    assert len(both) >= (0.98 if is_made else 0.999) * (size - 3)
    assert is_made or max(abs(ours[piece] - pieces[piece]) for piece in both) < 1e-3


@pytest.mark.parametrize("name", TEXTS)
def test_the_same_seeds_are_found_where_no_line_holds_two_words(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """SentencePiece takes the ends of words within lines for something else than those at their ends."""
    text, size = text_of(name), SIZE[name]
    trainer, _ = learned(text, size, seed_words=None)
    model, said = learned_there(text.split(), size, capfd)
    assert f"Initialized {len(trainer.alphabet) - 1} seed pieces" in said  # <unk> is none
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model)
    symbols = trainer.alphabet.symbols
    ours = {symbols[id].text.decode() for id in trainer.history.vocabulary.tolist()}
    pieces = {theirs.id_to_piece(id) for id in range(theirs.get_piece_size())}
    assert len(ours & pieces) >= 0.98 * (size - 2)


@pytest.fixture(scope="module")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Theirs, of a text that is split at blanks alone."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text_of("languages").splitlines()), model_writer=model, vocab_size=1_500,
        model_type="unigram", normalization_rule_name="identity", character_coverage=0.999, num_threads=1,
    )  # fmt: skip
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


@pytest.mark.parametrize("name", here("languages", "data/udhr-languages.txt"))
def test_lines_are_cut_as_sentencepiece_cuts_them(name: str, small_model: Any) -> None:
    history = history_of(small_model)
    tokenizer, texts = bpe.Tokenizer(history), [symbol.text.decode() for symbol in history.alphabet.symbols]
    theirs = [small_model.id_to_piece(id) for id in range(small_model.get_piece_size())]
    lines = [" ".join(line.split()) for line in text_of(name).splitlines() if "▁" not in line]
    if name.startswith("data/") and not os.environ.get("BPE_LONG"):
        lines = lines[::97]
    for line, ids in zip(lines, small_model.encode(lines), strict=True):
        assert [texts[id] for id in tokenizer.encode(line)] == [theirs[id] for id in ids]
    for line in lines[:: 1 if os.environ.get("BPE_LONG") else 5]:
        found = [[texts[id] for id in ids] for ids in tokenizer.n_best(line, 5)]
        assert found == [[theirs[id] for id in ids] for ids in small_model.nbest_encode_as_ids(line, 5)]
