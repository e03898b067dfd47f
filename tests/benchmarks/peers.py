"""The adapters of the compared libraries and of this program. Each adapter trains and encodes by the same calls.

An adapter imports its library in `warm_up`, in a separate process. Only the work of `train` and of an encoder is timed.
Work that only makes the results of libraries comparable is not timed.
"""

from __future__ import annotations

import io
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

from tests.benchmarks.vocabulary import Vocabulary, printable_bytes

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
PIECE = 128 * 1024  # bytes

Encoder = Callable[[str], Any]  # to ids, as a list or an array

LONG_TEXT = 100_000  # characters; a shorter one is never given to more than one thread


class Peer(ABC):
    """An adapter of a library. `ties` are the tie rules by which the library can train."""

    package: ClassVar[str]  # its name for import
    distribution: ClassVar[str]  # its name for installing
    ties: ClassVar[tuple[str, ...]] = ()
    has_own_ids: ClassVar[bool] = False  # its ids cannot be compared

    @abstractmethod
    def warm_up(self) -> None:
        """Import the library, train on a few words and encode them.

        Later measurements then do not include the time to start.
        """

    def train(self, path: Path, size: int, ties: str) -> Any:
        """Train a vocabulary of `size` tokens on a file, and return the library's object for the vocabulary."""
        raise NotImplementedError(f"{self.distribution} does not train")

    def tokens(self, trained: Any) -> list[bytes] | None:
        """Return the tokens in the order in which they were learned. The tokens of single bytes are left out.

        Return None if the tokens cannot be compared.
        """
        raise NotImplementedError

    @abstractmethod
    def encoder(self, vocabulary: Vocabulary) -> Encoder:
        """Return the library's fastest function that encodes a text on one thread."""


class BpeExplorer(Peer):
    package = "bpe_core"
    distribution = "bpe-explorer"
    ties = ("lowest-ids", "byte-alphabet")

    def warm_up(self) -> None:
        import bpe_core
        from bpe_core.kernels.readiness import wait_until_ready

        self.bpe = bpe_core
        if not wait_until_ready(600):
            raise RuntimeError("the kernels could not be compiled")
        from bpe_core.warm_up import PARTS  # a small text alone would not load the kernels

        for part in PARTS.values():
            part()

    def train(self, path: Path, size: int, ties: str) -> Any:
        recipe = self.bpe.Recipe.preset("gpt2", vocab_size=size, min_frequency=1, ties=ties)
        return self.bpe.train(self.bpe.Corpus.from_files([path]), recipe).history

    def tokens(self, trained: Any) -> list[bytes]:
        return Vocabulary(tuple((merge.left, merge.right) for merge in trained), None).tokens[256:]

    def encoder(self, vocabulary: Vocabulary) -> Encoder:
        from bpe_core.history.alphabet import Alphabet
        from bpe_core.methods.kit.tokenizer import Tokenizer

        recipe = self.bpe.Recipe.preset("gpt2", vocab_size=256 + len(vocabulary.pairs))
        tokenizer = Tokenizer(self.bpe.History.from_pairs(recipe, Alphabet.of_bytes(), vocabulary.pairs))
        tokenizer.encode_batch(["low lower lowest"], threads=1)  # loads what only large texts need
        return lambda text: (
            tokenizer.encode_to_array(text) if len(text) < LONG_TEXT else tokenizer.encode_batch([text], threads=1).ids
        )


class Tokenizers(Peer):
    package = "tokenizers"
    distribution = "tokenizers"
    ties = ("byte-alphabet",)

    def warm_up(self) -> None:
        import tokenizers

        self.library = tokenizers
        self._trained(iter(["low lower lowest"]), 260)

    def _trained(self, texts: Iterator[str], size: int) -> Any:
        byte_level = self.library.pre_tokenizers.ByteLevel
        tokenizer = self.library.Tokenizer(self.library.models.BPE())
        tokenizer.pre_tokenizer = byte_level(add_prefix_space=False)
        trainer = self.library.trainers.BpeTrainer(
            vocab_size=size, min_frequency=1, show_progress=False, initial_alphabet=sorted(byte_level.alphabet())
        )
        tokenizer.train_from_iterator(texts, trainer)
        return tokenizer

    def train(self, path: Path, size: int, ties: str) -> Any:
        return self._trained(pieces(path), size)

    def tokens(self, trained: Any) -> list[bytes]:
        byte_of = {character: byte for byte, character in enumerate(printable_bytes())}
        merges = json.loads(trained.to_str())["model"]["merges"]
        return [bytes(byte_of[character] for part in merge for character in part) for merge in merges]

    def encoder(self, vocabulary: Vocabulary) -> Encoder:
        tokenizer = self.library.Tokenizer.from_str(vocabulary.as_hugging_face())
        return lambda text: tokenizer.encode(text).ids


class RustBpe(Peer):
    package = "rustbpe"
    distribution = "rustbpe"
    ties = ("lowest-ids",)

    def warm_up(self) -> None:
        import rustbpe

        self.library = rustbpe
        self._trained(iter(["low lower lowest"]), 260)

    def _trained(self, texts: Iterator[str], size: int) -> Any:
        tokenizer = self.library.Tokenizer()
        tokenizer.train_from_iterator(texts, size, buffer_size=256, pattern=GPT2)
        return tokenizer

    def train(self, path: Path, size: int, ties: str) -> Any:
        return self._trained(pieces(path), size)

    def tokens(self, trained: Any) -> list[bytes]:
        ranked = sorted(trained.get_mergeable_ranks(), key=lambda item: item[1])
        return [bytes(token) for token, _ in ranked[256:]]

    def encoder(self, vocabulary: Vocabulary) -> Encoder:
        if vocabulary.trained_on is None:
            raise NotImplementedError("rustbpe cannot load a vocabulary")
        encode: Encoder = self._trained(pieces(vocabulary.trained_on), len(vocabulary.tokens)).encode
        return encode


class Gigatoken(Peer):
    package = "gigatoken"
    distribution = "gigatoken"
    ties = ("lowest-ids", "byte-alphabet")

    OWN_NAMES: ClassVar = {"lowest-ids": "raw_token_ids", "byte-alphabet": "huggingface"}

    def warm_up(self) -> None:
        import gigatoken

        self.library = gigatoken
        gigatoken.train_bpe(b"low lower lowest", 260, [])

    def train(self, path: Path, size: int, ties: str) -> Any:
        return self.library.train_bpe(path, size, [], self.OWN_NAMES[ties])

    def tokens(self, trained: Any) -> list[bytes]:
        _, merges = trained
        return [left + right for left, right in merges]

    def encoder(self, vocabulary: Vocabulary) -> Encoder:
        encode: Encoder = self.library.Tokenizer.from_json(vocabulary.as_hugging_face()).encode
        return encode


class SentencePiece(Peer):
    package = "sentencepiece"
    distribution = "sentencepiece"
    ties = ("its own",)  # only the most frequent pairs take part, and it splits text in a way of its own
    has_own_ids = True

    def warm_up(self) -> None:
        import sentencepiece

        self.library = sentencepiece

    def train(self, path: Path, size: int, ties: str) -> bytes:
        model = io.BytesIO()
        self.library.SentencePieceTrainer.Train(
            input=str(path),
            model_writer=model,
            model_type="bpe",
            vocab_size=size,
            normalization_rule_name="identity",
            max_sentence_length=2**30,
            num_threads=2,
            minloglevel=2,
        )
        return model.getvalue()

    def tokens(self, trained: Any) -> None:
        return None

    def encoder(self, vocabulary: Vocabulary) -> Encoder:
        if vocabulary.trained_on is None:
            raise NotImplementedError("sentencepiece cannot use this vocabulary")
        model = self.train(vocabulary.trained_on, len(vocabulary.tokens), "")
        processor = self.library.SentencePieceProcessor(model_proto=model)
        return lambda text: processor.EncodeAsIds(text)


class Tiktoken(Peer):
    package = "tiktoken"
    distribution = "tiktoken"

    def warm_up(self) -> None:
        import tiktoken

        self.library = tiktoken

    def encoder(self, vocabulary: Vocabulary) -> Encoder:
        ranks = {token: id for id, token in reversed(list(enumerate(vocabulary.tokens)))}
        encoding = self.library.Encoding("benchmark", pat_str=GPT2, mergeable_ranks=ranks, special_tokens={})
        return lambda text: encoding.encode_to_numpy(text, disallowed_special=())


OURS = BpeExplorer.distribution
PEERS: dict[str, type[Peer]] = {
    peer.distribution: peer for peer in (BpeExplorer, Gigatoken, RustBpe, Tokenizers, SentencePiece, Tiktoken)
}


def pieces(path: Path) -> Iterator[str]:
    """Yield a text in pieces, for libraries that process several texts at a time.

    A piece ends before a space that follows a visible ASCII character. GPT-2's pattern always begins a new word at such
    a space, so the pieces have the same words as the whole text.
    """
    held = b""
    with path.open("rb") as file:
        while block := file.read(PIECE):
            held += block
            cuts = [match.start() + 1 for match in re.finditer(rb"[!-~] ", held[-1_000:])]
            if cuts:
                cut = cuts[-1] + max(0, len(held) - 1_000)
                yield held[:cut].decode()
                held = held[cut:]
    if held:
        yield held.decode()
