"""The comparison of our Unigram with the libraries SentencePiece and tokenizers.

It compares training, and encoding with the vocabulary that SentencePiece learned. Words are split at blanks, and texts
are not normalized.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.peers import BpeExplorer, Peer, SentencePiece, Tokenizers, pieces

TRAINING = {"bpe-explorer": ("",), "sentencepiece": ("",), "tokenizers": ("",)}
ENCODING = {"bpe-explorer": ("",), "sentencepiece": ("",)}
SIZE = 8_000

Encoder = Callable[[str], Any]


def trainer(peer: Peer) -> Callable[[Path], Any]:
    """Return a function that trains a vocabulary on a file."""
    if isinstance(peer, BpeExplorer):
        bpe = peer.bpe
        recipe = bpe.Recipe.preset("unigram", vocab_size=SIZE, unicode_form="")
        return lambda path: bpe.train(bpe.Corpus.from_files([path]), recipe).history
    if isinstance(peer, SentencePiece):
        return lambda path: _processor(peer, path)
    assert isinstance(peer, Tokenizers)
    return lambda path: _trained_by(peer, path)


def _processor(peer: SentencePiece, path: Path) -> Any:
    model = io.BytesIO()
    peer.library.SentencePieceTrainer.Train(
        input=str(path),
        model_writer=model,
        model_type="unigram",
        vocab_size=SIZE,
        normalization_rule_name="identity",
        character_coverage=1.0,
        max_sentence_length=2**30,
        num_threads=1,
        minloglevel=2,
    )
    return peer.library.SentencePieceProcessor(model_proto=model.getvalue())


def _trained_by(peer: Tokenizers, path: Path) -> Any:
    tokenizer = peer.library.Tokenizer(peer.library.models.Unigram())
    tokenizer.pre_tokenizer = peer.library.pre_tokenizers.Metaspace()
    trainer = peer.library.trainers.UnigramTrainer(vocab_size=SIZE, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(pieces(path), trainer)
    return tokenizer


def size_of(trained: Any) -> int:
    if hasattr(trained, "get_piece_size"):
        return int(trained.get_piece_size())
    return int(trained.get_vocab_size() if hasattr(trained, "get_vocab_size") else trained.vocabulary_size)


def encoder(peer: Peer, learned_from: Path) -> Encoder:
    """Return a function that encodes texts with a library.

    The function uses a vocabulary that SentencePiece learns from the text `learned_from`.
    """
    library = SentencePiece()
    library.warm_up()
    processor = _processor(library, learned_from)
    if isinstance(peer, SentencePiece):
        return lambda text: np.fromiter(chain.from_iterable(processor.encode(text.splitlines())), np.int32)
    assert isinstance(peer, BpeExplorer)
    from bpe_core.methods.kit.tokenizer import Tokenizer
    from tests.core.unigram_model import history_of

    encode: Encoder = Tokenizer(history_of(processor)).encode_to_array
    return encode
