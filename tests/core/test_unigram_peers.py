"""Unigram beside SentencePiece: from the same seeds the same rounds, the same vocabulary, the same cuts."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.learning.trainer import Trainer
from bpe_core.learning.unigram.learner import UnigramLearner
from tests.shared import MADE, here, text_of

sentencepiece = pytest.importorskip("sentencepiece")

TEXTS = here("made/english", "data/tinyshakespeare.txt")
SIZE = {"made/english": 600, "data/tinyshakespeare.txt": 8_000}


def learned(text: str, size: int) -> tuple[Trainer, UnigramLearner]:
    recipe = bpe.Recipe.preset("unigram", vocab_size=size, unicode_form="", special_tokens=("<s>", "</s>"))
    trainer = Trainer(bpe.count_words(bpe.Corpus.from_texts([text]), recipe), recipe)
    trainer.advance()
    learner = trainer._learner
    assert isinstance(learner, UnigramLearner)
    return trainer, learner


def learned_there(text: str, size: int, seeds: Path, log: pytest.CaptureFixture[str]) -> tuple[bytes, str]:
    """The model, and what was said meanwhile."""
    model = io.BytesIO()
    log.readouterr()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text.splitlines()), model_writer=model, vocab_size=size, model_type="unigram",
        normalization_rule_name="identity", character_coverage=1.0, num_threads=1, max_sentence_length=10_000_000,
        seed_sentencepieces_file=str(seeds),
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
    model, said = learned_there(text, size, seeds, capfd)
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
