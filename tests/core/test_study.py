"""Tests of studies: attributes have documented names, ids are the ids of the file, and other names are private."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import sentencepiece
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import decoders, models, pre_tokenizers, trainers

import bpe_core as bpe
from bpe_core.errors import BpeError
from bpe_core.methods.kit import tokenizer
from bpe_core.studies.study import FORMER, Study
from bpe_core.support.version import PROGRAM, version_of

POEM = "the lowest of the low, the newest of the new; the widest is wider than the wide. " * 3
TEXTS = ["the lowest widow", "", "né, a␣b"]
OF_A_STUDY = {
    *("history", "texts", "name", "format", "notes", "inside"),
    *("of", "at", "with_texts", "save"),
    *("encode", "encode_batch", "encode_to_numpy", "spans", "decode", "decode_batch", "decode_bytes"),
    "decode_with_offsets",
    *("names", "tokens", "id_of", "token_to_id", "id_to_token", "get_vocab", "vocab_size"),
}


class OpenedTable(NamedTuple):
    """A table of another library, opened by the library and by the program."""

    study: bpe.Study
    library: tokenizers.Tokenizer


@pytest.fixture(scope="module")
def hugging_face(tmp_path_factory: pytest.TempPathFactory) -> OpenedTable:
    library = tokenizers.Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<|end|>", "<pad>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    library.train_from_iterator([POEM], trainer)
    path = tmp_path_factory.mktemp("hugging_face") / "tokenizer.json"
    library.save(str(path))
    return OpenedTable(bpe.open(path), library)


@pytest.fixture(scope="module")
def unigram() -> bpe.Study:
    """Return a study that was trained with Unigram. Unigram drops tokens, and the remaining tokens keep their ids."""
    return bpe.train([POEM], "unigram", vocab_size=24)


@pytest.fixture(scope="module")
def bytes_for_unknown() -> bpe.Study:
    return bpe.train([POEM], "sentencepiece-like", vocab_size=300)


def test_a_study_lists_only_the_documented_public_names(hugging_face: OpenedTable) -> None:
    assert {name for name in dir(hugging_face.study) if not name.startswith("_")} == OF_A_STUDY
    assert FORMER.isdisjoint(OF_A_STUDY)


@pytest.mark.parametrize("name", sorted(FORMER))
def test_a_former_attribute_of_a_study_works_and_causes_a_warning_that_gives_the_new_name(name: str) -> None:
    study: Any = bpe.train([POEM], "gpt2", merges=5)
    with pytest.warns(DeprecationWarning, match=rf"Study\.{name} is .*(inside\.{name}|study itself) now"):
        value = getattr(study, name)
    assert value == (study if name == "tokenizer" else getattr(study.inside, name))


def test_an_unknown_attribute_of_a_study_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        bpe.train([POEM], "gpt2", merges=5).trian  # type: ignore[attr-defined]  # noqa: B018


def test_the_vocabulary_of_a_study_is_the_same_as_in_the_tokenizers_library(hugging_face: OpenedTable) -> None:
    study, library = hugging_face
    there = library.get_vocab()
    assert study.vocab_size == library.get_vocab_size() == len(study.get_vocab())
    assert sorted(study.get_vocab().values()) == sorted(there.values())
    for token, id in there.items():
        assert study.token_to_id(token) == id
        name = study.id_to_token(id)
        assert name is not None
        assert study.token_to_id(name) == study.get_vocab()[name] == id
        assert study.token_to_id(study.tokens[id]) == id
    assert study.id_to_token(300) is None
    assert study.token_to_id("no such token") is None
    assert study.token_to_id(b"\xff\xff") is None


def test_the_vocabulary_of_a_study_is_the_same_as_in_sentencepiece_except_for_the_unknown_token(
    tmp_path: Path, bytes_for_unknown: bpe.Study
) -> None:
    bytes_for_unknown.save(tmp_path / "own.model")
    library = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "own.model"))
    study = bpe.open(tmp_path / "own.model")
    pieces = {library.id_to_piece(id): id for id in range(library.vocab_size()) if not library.is_unknown(id)}
    assert {piece: study.token_to_id(piece) for piece in pieces} == pieces
    assert study.vocab_size == len(pieces)


@pytest.mark.parametrize("made", ["unigram", "bytes_for_unknown"])
def test_token_to_id_and_id_to_token_are_inverse_functions(made: str, request: pytest.FixtureRequest) -> None:
    study: bpe.Study = request.getfixturevalue(made)
    for token, id in study.get_vocab().items():
        assert study.token_to_id(token) == id
        assert study.id_to_token(id) == token
    assert study.vocab_size == len(study)


def test_a_dropped_token_is_not_in_the_vocabulary_of_a_study(unigram: bpe.Study) -> None:
    history = unigram.history
    dropped = history.indices[history.columns.right == -1].tolist()
    assert dropped
    assert not set(dropped) & set(unigram.get_vocab().values())
    assert unigram.id_to_token(dropped[0]) is None
    assert unigram.token_to_id(unigram.names[dropped[0]]) is None
    assert unigram.vocab_size == 24
    assert {id for text in TEXTS[:1] for id in unigram.encode(text)} <= set(unigram.get_vocab().values())


def test_a_study_encodes_and_decodes_several_texts_at_once(hugging_face: OpenedTable) -> None:
    study, library = hugging_face
    ids = study.encode(TEXTS)
    assert ids == [study.encode(text) for text in TEXTS] == [encoding.ids for encoding in library.encode_batch(TEXTS)]
    assert study.encode(tuple(text.encode() for text in TEXTS)) == ids
    assert study.encode([]) == []
    assert study.decode_batch(ids) == TEXTS
    assert study.decode_batch(*study.encode_batch(TEXTS)) == TEXTS
    assert study.decode_batch([study.encode("<pad>low")], skip_special=True) == ["low"]


def test_the_function_encode_to_numpy_returns_the_ids_as_an_array(hugging_face: OpenedTable) -> None:
    array = hugging_face.study.encode_to_numpy(POEM)
    assert array.dtype == np.uint32
    assert array.tolist() == hugging_face.study.encode(POEM)
    at_first = hugging_face.study.encode_to_numpy("low", at=0)
    assert len(at_first) == 3


def test_changing_a_returned_array_does_not_change_ids_that_are_returned_later(hugging_face: OpenedTable) -> None:
    study = hugging_face.study
    for text in ("<pad>", "low", POEM):
        ids = study.encode(text)
        study.encode_to_numpy(text)[:] = 0
        assert study.encode(text) == ids


def test_ids_of_more_than_32_bits_are_returned_unchanged(
    hugging_face: OpenedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenizer, "NUMBERED_AT_ONCE", 7)  # ids, so that a few words are several parts
    history = hugging_face.study.history
    indices = Study(history.numbered(None)).encode(POEM)
    for first, kind in ((0, np.uint32), (2**32 - 500, np.uint32), (2**32, np.uint64)):
        numbers = first + np.arange(history.index_count)[::-1]
        ids, _ = Study(history.numbered(numbers)).encode_batch([POEM])
        assert ids.dtype == kind
        assert ids.tolist() == numbers[indices].tolist()


def test_tokens_that_share_an_id_count_once_in_the_vocabulary_size(tmp_path: Path) -> None:
    pieces = [["<unk>", 0.0], ["ab", -1.5], ["a", -1.0], ["b", -2.0]]
    model = {"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": False}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"version": "1.0", "added_tokens": [], "model": model}))
    study = bpe.open(tmp_path / "tokenizer.json")
    library = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert study.vocab_size == library.get_vocab_size() == 4
    assert study.get_vocab() == library.get_vocab()


@settings(max_examples=20)
@given(st.permutations(range(300)), st.text(max_size=9))
def test_a_study_uses_the_ids_of_its_file_even_if_the_ids_are_shuffled_and_have_gaps(
    hugging_face: OpenedTable, order: list[int], text: str
) -> None:
    history = hugging_face.study.history
    study = bpe.Study(history.numbered(np.array(order)[: history.index_count] * 2 + 1))
    assert study.encode_to_numpy(text).tolist() == study.encode(text) == study.encode([text])[0]
    for id in study.encode(text):
        name = study.id_to_token(id)
        assert name is not None
        assert study.token_to_id(name) == study.token_to_id(study.tokens[id]) == id


def test_the_version_attribute_equals_the_version_of_the_package() -> None:
    assert bpe.__version__ == version_of(PROGRAM)
    assert re.fullmatch(r"\d+\.\d+\.\d+", bpe.__version__)
    assert "__version__" in dir(bpe)


@pytest.mark.parametrize("at", ["5", 5.5, [5]])
def test_a_number_of_steps_that_is_not_a_whole_number_is_refused_with_an_error_message(at: Any) -> None:
    study = bpe.train("low lower lowest", "gpt2", merges=2)
    for asked in (study.at, lambda steps: study.encode("low", at=steps), lambda steps: study.spans("low", at=steps)):
        with pytest.raises(BpeError, match="`at` is a number of steps, so it cannot be"):
            asked(at)


@pytest.mark.parametrize("allowed", [True, 5, "<|x|>"])
def test_special_tokens_that_are_not_a_list_are_refused_with_an_error_message(allowed: Any) -> None:
    study = bpe.train("low lower lowest", "gpt2", merges=2, special_tokens=["<|x|>"])
    with pytest.raises(BpeError, match="Give the special tokens as a list"):
        study.encode("low", allowed_special=allowed)


@pytest.mark.parametrize("ids", ["abc", [1.5], 100, None, ["1"], [None], [[1]]])
@pytest.mark.parametrize("way", ["exact", "library"])
def test_decoding_values_other_than_ids_is_refused_with_an_error_message(ids: Any, way: Any) -> None:
    study = bpe.train("low lower lowest", "gpt2", merges=2)
    with pytest.raises(BpeError, match="Ids are whole numbers"):
        study.decode(ids, way=way)
    with pytest.raises(BpeError, match="Ids are whole numbers"):
        study.decode_batch([ids])
    with pytest.raises(BpeError, match="Ids are whole numbers"):
        study.decode_batch(5)  # type: ignore[arg-type]
