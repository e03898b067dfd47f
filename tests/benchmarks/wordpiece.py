"""The comparison of our WordPiece with the tokenizers library: training, and encoding with one vocabulary.

Words are split as in BERT. Texts for training are not normalized. For encoding, both programs clean the text, convert
it to lowercase and remove accents.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from tests.benchmarks.peers import BpeExplorer, Peer, Tokenizers, pieces

# The rules of WordPiece, and our byte-pair encoding for comparison.
TRAINING = {"bpe-explorer": ("count", "score", "bpe"), "tokenizers": ("count",)}
ENCODING = {"bpe-explorer": ("",), "tokenizers": ("",)}
ENCODED_WITH = 30_000

Encoder = Callable[[str], Any]


def trainer(peer: Peer, size: int, rule: str) -> Callable[[Path], Any]:
    """Return a function that trains a vocabulary on a file. `size` is the size of the vocabulary."""
    if isinstance(peer, Tokenizers):
        return lambda path: _trained_by(peer, path, size)
    assert isinstance(peer, BpeExplorer)
    bpe = peer.bpe
    if rule == "bpe":
        recipe = bpe.Recipe.preset("gpt2", vocab_size=size)
    else:
        recipe = bpe.Recipe.preset("wordpiece", wordpiece_rule=rule, vocab_size=size)
    return lambda path: bpe.train(bpe.Corpus.from_files([path]), recipe).history


def _trained_by(peer: Tokenizers, path: Path, size: int) -> Any:
    tokenizer = peer.library.Tokenizer(peer.library.models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = peer.library.pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(
        pieces(path),
        peer.library.trainers.WordPieceTrainer(
            vocab_size=size, min_frequency=2, special_tokens=["[UNK]"], show_progress=False
        ),
    )
    return tokenizer


def size_of(trained: Any) -> int:
    return int(trained.get_vocab_size() if hasattr(trained, "get_vocab_size") else trained.vocabulary_size)


def encoder(peer: Peer, learned_from: Path) -> Encoder:
    """Return a function that encodes by a vocabulary that our engine learns from a text."""
    history = _history(learned_from)
    if isinstance(peer, BpeExplorer):
        from bpe_core.methods.kit.tokenizer import Tokenizer

        encode: Encoder = Tokenizer(history).encode_to_array
        return encode
    assert isinstance(peer, Tokenizers)
    from bpe_core.history.token_texts import written

    library, ids = peer.library, dict[str, int]()
    for id, text in enumerate(written(history)):
        ids.setdefault(text.decode(), id)
    tokenizer = library.Tokenizer(library.models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = library.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = library.pre_tokenizers.BertPreTokenizer()
    return lambda text: tokenizer.encode(text).ids


@cache
def _history(learned_from: Path) -> Any:
    import bpe_core

    recipe = bpe_core.Recipe.preset("bert", vocab_size=ENCODED_WITH)
    return bpe_core.train(bpe_core.Corpus.from_files([learned_from]), recipe).history
