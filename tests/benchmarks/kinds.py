"""Tokenizer files of several kinds, for the table of encoding times.

The kinds are SentencePiece's byte-pair encoding and Unigram, the `tokenizer.json` of both, and a WordPiece
vocabulary with BERT's normalization. `python -m tests.benchmarks --only encode-kinds` measures each kind with
this program and with the libraries that read the file. The vocabularies are learned from one text, and other
texts are encoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.benchmarks.encode_table import Table
from tests.benchmarks.peers import BpeExplorer

SIZE = 16_000
WORDPIECE_SIZE = 30_000
LONGEST_LINE = 4_000  # characters of a line to learn from


class Kind(NamedTuple):
    """A tokenizer file for the benchmark, and the libraries that give the same ids with it as this program."""

    title: str
    table: Table
    libraries: tuple[str, ...]


def make_kinds(source: Path, folder: Path) -> Iterator[Kind]:
    """Learn a vocabulary of each kind from a text, and yield it."""
    import sentencepiece

    ours = BpeExplorer()
    ours.warm_up()
    lines = [line[:LONGEST_LINE] for line in source.read_text(encoding="utf-8").split("\n")]
    for kind, libraries in {"bpe": ("sentencepiece", "gigatoken"), "unigram": ("sentencepiece",)}.items():
        model = folder / f"{kind}.model"
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_prefix=str(model.with_suffix("")), model_type=kind, vocab_size=SIZE,
            byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False,
            hard_vocab_limit=False, minloglevel=2,
        )  # fmt: skip
        yield Kind(f"SentencePiece {kind}", _table(model, is_model=True), libraries)
        whole = folder / f"{kind}-tokenizer.json"
        ours.bpe.open(model).save(whole)
        yield Kind(f"tokenizer.json of SentencePiece {kind}", _table(whole), ("tokenizers",))
    words = folder / "bert-tokenizer.json"
    ours.bpe.train(ours.bpe.Corpus.from_files([source]), "bert", vocab_size=WORDPIECE_SIZE).save(words)
    yield Kind("tokenizer.json of WordPiece with BERT's normalization", _table(words), ("tokenizers",))


def _table(path: Path, **how: Any) -> Table:
    return Table("", str(path), "", is_ranks=False, keeps_all=False, **how)
