"""Tests of encoding a corpus to a file: the file has the ids of the corpus texts."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from bpe_core.errors import BpeError, Cancelled, OutputError
from bpe_core.history.history import History
from bpe_core.methods.kit import encode_corpus as module
from bpe_core.methods.kit.encode_corpus import Piece, encode_corpus
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.batches import Texts
from bpe_core.segmenting.segmentation import Width
from bpe_core.support.progress import never_cancelled
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
from tests.shared import available_texts, text_of

TEXTS = ["the lowest price is lower\n\nthan the last one. ", "naïve 漢字 🐦's 1234567", ""]


@pytest.fixture
def history() -> History:
    return train(Corpus.from_texts(TEXTS * 3), Recipe.preset("gpt2", merges=25, special_tokens=("<end>",)))


@pytest.mark.parametrize("width", [None, "uint16", "uint32", "int32", "int64"])
@pytest.mark.parametrize("ending", [".npy", ".bin"])
def test_the_file_written_by_encoding_contains_the_ids_of_all_texts(
    history: History, tmp_path: Path, ending: str, width: str | None
) -> None:
    output = tmp_path / f"ids{ending}"
    result = encode_corpus(Corpus.from_texts(TEXTS), Tokenizer(history), output, at=20, width=width)  # type: ignore[arg-type]
    tokenizer = Tokenizer(history)
    expected = [id for text in TEXTS for id in tokenizer.encode(text, at=20)]
    kind = np.dtype(width or "uint16")
    ids = np.load(output, mmap_mode="r") if ending == ".npy" else np.fromfile(output, kind)
    assert ids.dtype == kind
    assert ids.tolist() == expected
    assert result.tokens == len(expected)


def test_encoding_a_corpus_reports_token_counts_for_each_file(history: History, tmp_path: Path) -> None:
    paths, texts = [], [text for text in TEXTS if text]
    for number, text in enumerate(texts):
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_text(text, encoding="utf-8")
    result = encode_corpus(Corpus.from_files(paths), Tokenizer(history), tmp_path / "ids.npy")
    ids = np.load(tmp_path / "ids.npy")
    for figures, text in zip(result.files, texts, strict=True):
        encoded = Tokenizer(history).encode(text)
        assert figures.tokens == len(encoded)
        assert figures.different_tokens == len(set(encoded))
        assert figures.bytes == len(text.encode())
        assert ids[figures.first : figures.first + figures.tokens].tolist() == encoded
        assert figures.bytes_per_token == len(text.encode()) / len(encoded)
    assert result.groups == []
    first, second = Corpus.from_files(paths), Corpus.from_texts(texts)
    both, other = encode_corpus(
        Corpus.grouped({"one": first, "two": second}), Tokenizer(history), tmp_path / "ids.npy"
    ).groups
    assert (both.name, both.tokens, both.first) == ("one", len(ids), 0)
    assert (other.name, other.tokens, other.first) == ("two", len(ids), len(ids))
    assert both.different_tokens == other.different_tokens == len(set(ids.tolist()))


@pytest.mark.parametrize("name", available_texts("prose", "languages", "data/wikitext2-valid.raw.txt"))
@pytest.mark.parametrize("preset", ["gpt2", "cl100k", "o200k", "english", "words", "clean-words"])
def test_a_long_document_is_divided_for_encoding_without_changing_its_tokens(
    preset: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PIECE", 300)
    text = text_of("poem") + text_of(name)[:20_000]
    history = train(Corpus.from_texts([text]), Recipe.preset(preset).with_changes(merges=200))
    corpus = Corpus.from_texts([text])
    widths: list[Width] = ["uint16", "uint32"]  # with uint32, ids need no conversion
    for width in widths:
        encode_corpus(corpus, Tokenizer(history), tmp_path / "ids.npy", width=width)
        assert np.load(tmp_path / "ids.npy").tolist() == Tokenizer(history).encode(text)


def test_special_tokens_in_an_encoded_corpus_are_recognized_only_if_they_are_allowed(
    history: History, tmp_path: Path
) -> None:
    corpus = Corpus.from_texts(["low<end>low"])
    special = history.vocabulary_size - 1
    encode_corpus(corpus, Tokenizer(history), tmp_path / "a.npy")
    encode_corpus(corpus, Tokenizer(history), tmp_path / "b.npy", allowed_special="all")
    assert special not in np.load(tmp_path / "a.npy")
    assert special in np.load(tmp_path / "b.npy")


def test_invalid_encoding_requests_are_refused_before_a_file_is_written(history: History, tmp_path: Path) -> None:
    corpus = Corpus.from_texts(TEXTS)
    with pytest.raises(OutputError, match=r"must end in \.npy or \.bin"):
        encode_corpus(corpus, Tokenizer(history), tmp_path / "ids.txt")
    with pytest.raises(BpeError, match="width"):
        encode_corpus(corpus, Tokenizer(history), tmp_path / "ids.npy", width="int8")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_an_id_width_too_narrow_for_the_vocabulary_is_refused(tmp_path: Path) -> None:
    recipe = Recipe.preset("gpt2", special_tokens=tuple(f"<{n}>" for n in range(70_000)), vocab_size=80_000)
    history = History.from_pairs(recipe, train(Corpus.from_texts(["low"]), Recipe.preset("gpt2")).alphabet, [])
    with pytest.raises(BpeError, match="largest id"):
        encode_corpus(Corpus.from_texts(["low"]), Tokenizer(history), tmp_path / "ids.npy", width="uint16")
    assert encode_corpus(Corpus.from_texts(["low"]), Tokenizer(history), tmp_path / "ids.npy").width == "uint32"


def test_cancelling_while_a_corpus_is_encoded_leaves_the_old_file_unchanged(history: History, tmp_path: Path) -> None:
    output = tmp_path / "ids.bin"
    output.write_bytes(b"old")
    with pytest.raises(Cancelled):
        encode_corpus(Corpus.from_texts(TEXTS), Tokenizer(history), output, cancelled=lambda: True)
    assert output.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["ids.bin"]


def piece(number: int) -> Piece:
    return Piece(number, Texts(np.zeros(0, np.uint8), np.zeros(1, np.int64)), 0, np.zeros(0, np.int64))


def test_parts_that_several_threads_read_and_encode_are_yielded_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fourth part is encoded slowly, so that the parts after it are ready earlier."""
    monkeypatch.setattr(module, "available_threads", lambda: 4)
    read_parts: list[int] = []

    def pieces() -> Iterator[Piece]:
        for number in range(40):
            read_parts.append(number)
            yield piece(number)

    def encode(given: Piece) -> int:
        time.sleep(0.003 if given.source % 4 == 0 else 0)
        return given.source**2

    ahead = []
    answers = []
    for given, answer in module.on_all_cores(pieces(), encode, never_cancelled):
        assert answer == given.source**2
        answers.append(given.source)
        ahead.append(len(read_parts) - len(answers))
    assert answers == [*range(40)]
    assert max(ahead) <= 3 * 4


@pytest.mark.parametrize("place", ["read", "encode", "stop"])
def test_all_threads_stop_after_an_error_while_parts_are_read_or_encoded(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "available_threads", lambda: 3)
    before = threading.active_count()
    answered = list[Piece]()

    def pieces() -> Iterator[Piece]:
        for number in count():
            if place == "read" and number == 20:
                raise BpeError("The file is damaged.")
            yield piece(number)

    def encode(given: Piece) -> None:
        if place == "encode" and given.source == 20:
            raise BpeError("The text has no tokens.")

    stops = {
        "read": pytest.raises(BpeError, match="damaged"),
        "encode": pytest.raises(BpeError, match="no tokens"),
        "stop": pytest.raises(Cancelled),
    }
    with stops[place]:
        for given, _ in module.on_all_cores(pieces(), encode, lambda: place == "stop" and len(answered) == 20):
            answered.append(given)
    assert [given.source for given in answered] == [*range(20)]
    assert threading.active_count() == before
