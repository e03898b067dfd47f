"""Tests of texts that contain the text of a special token.

Every function treats such texts as the library of the tokenizer file does.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
import tiktoken
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, trainers

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.formats import open_table
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.segmenting.cutting import SHORT, may_hold_special
from bpe_core.verification.import_check import check_import

CORPUS = ["the lowest of the low, the newest of the new; the widest is wider than the wide " * 3]
END, PAD = "<|endoftext|>", "<pad>"
TEXT = f"the low {END} and{PAD}{END}the new <s> widest</s>"
QUESTION: Any = bpe
Encode = Callable[[str], list[int]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spelled")


def hugging_face(folder: Path) -> tuple[Path, Encode]:
    library = tokenizers.Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=290, special_tokens=[END, PAD], initial_alphabet=alphabet, show_progress=False
    )
    library.train_from_iterator(CORPUS, trainer)
    library.add_tokens([AddedToken("new", normalized=False)])
    library.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json", lambda text: list(library.encode(text).ids)


def sentence_piece(folder: Path) -> tuple[Path, Encode]:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=written, vocab_size=40, hard_vocab_limit=False,
        control_symbols=[END], user_defined_symbols=[PAD], minloglevel=2,
    )  # fmt: skip
    (folder / "a.model").write_bytes(written.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    return folder / "a.model", lambda text: list(processor.encode(text))


def of_tiktoken(folder: Path) -> tuple[Path, Encode]:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"th": 256, b"the": 257, b" the": 258, b"<|": 259}
    pattern, specials = r"\p{L}+|\s?[^\s]+|\s+", {END: 300, PAD: 301}
    rows = " ".join(base64.b64encode(token).decode() for token in ranks)
    whole = {"pat_str": pattern, "special_tokens": specials, "bpe_ranks": f"! 0 {rows}"}
    (folder / "a.tiktoken.json").write_text(json.dumps(whole))
    encoding = tiktoken.Encoding("a", pat_str=pattern, mergeable_ranks=ranks, special_tokens=specials)
    return folder / "a.tiktoken.json", lambda text: encoding.encode_ordinary(text)


MAKERS = {"tokenizer.json": hugging_face, "sentencepiece": sentence_piece, "tiktoken.json": of_tiktoken}


@pytest.fixture(scope="module", params=MAKERS)
def opened_file(request: pytest.FixtureRequest, folder: Path) -> tuple[bpe.Study, Path, Encode]:
    path, library = MAKERS[request.param](folder)
    return bpe.open(path), path, library


@settings(max_examples=20)
@given(parts=st.lists(st.sampled_from([END, PAD, "<s>", "the", " low", "new", "é", " ", "\n", "<|", "|>"])))
def test_every_question_about_a_text_with_special_tokens_uses_the_ids_of_the_library(
    opened_file: tuple[bpe.Study, Path, Encode], parts: list[str]
) -> None:
    study, _, library = opened_file
    text = "".join(parts)
    ids = library(text)
    assert study.encode(text) == ids
    assert study.encode_batch([text, text])[0].tolist() == [*ids, *ids]
    assert [span.id for span in study.spans(text)] == ids
    assert QUESTION.look(study, text=text).columns["id"] == ids
    assert study.history.numbers_of([id for _, _, id in Tokenizer(study.history).spans(text)]).tolist() == ids


def test_the_benchmark_counts_special_tokens_in_texts_as_the_library_of_the_file_does(
    opened_file: tuple[bpe.Study, Path, Encode],
) -> None:
    study, _, library = opened_file
    long = (TEXT + "\n") * 3_000  # so that the benchmark counts words once
    columns = QUESTION.benchmark({"it": study}, texts={"short": [TEXT], "long": [long]}).columns
    assert columns["tokens"].tolist() == [len(library(TEXT)), len(library(long))]
    curves = QUESTION.curves({"it": study}, held_out=[TEXT]).columns
    assert curves["tokens"][-1] == len(library(TEXT))


def test_the_encode_command_treats_special_tokens_like_the_library_of_the_file(
    opened_file: tuple[bpe.Study, Path, Encode], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, path, library = opened_file
    assert run(["encode", "--merges", str(path), TEXT]) == 0
    assert list(map(int, capsys.readouterr().out.split())) == library(TEXT)
    (tmp_path / "it.txt").write_text(TEXT)
    assert run(["encode", "--merges", str(path), str(tmp_path / "it.txt"), "-o", str(tmp_path / "it.npy")]) == 0
    assert np.load(tmp_path / "it.npy").tolist() == library(TEXT)
    capsys.readouterr()
    assert run(["bench", str(path), "--texts", str(tmp_path / "it.txt"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["differing"] == 0


def test_check_import_treats_special_tokens_as_the_study_does_and_reports_the_treatment(
    opened_file: tuple[bpe.Study, Path, Encode],
) -> None:
    study, path, _ = opened_file
    check = check_import(path, open_table(path))
    assert check is not None
    assert check.agreeing == check.texts > 5, check.differences
    taken = "matched" if study.format == "tokenizer.json" else "as ordinary text"
    assert f"of {check.texts:,} texts by encode" in check.sentence
    assert check.sentence.endswith(f", special tokens {taken}")


def test_callers_can_choose_whether_special_tokens_in_a_text_are_recognized(
    opened_file: tuple[bpe.Study, Path, Encode], capsys: pytest.CaptureFixture[str]
) -> None:
    study, path, library = opened_file
    all_matched, none = study.encode(TEXT, allowed_special="all"), study.encode(TEXT, allowed_special=())
    assert all_matched != none
    assert library(TEXT) == (all_matched if study.format == "tokenizer.json" else none)
    for choice, ids in (("all", all_matched), ("none", none)):
        assert run(["encode", "--merges", str(path), "--specials", choice, TEXT]) == 0
        assert list(map(int, capsys.readouterr().out.split())) == ids
        assert QUESTION.look(study, text=TEXT, specials=choice).columns["id"] == ids
    assert run(["encode", "--merges", str(path), "--allow-special", TEXT]) == 0
    assert list(map(int, capsys.readouterr().out.split())) == all_matched


def test_saving_a_table_keeps_its_rule_for_special_tokens_in_texts(
    opened_file: tuple[bpe.Study, Path, Encode], tmp_path: Path
) -> None:
    study, _, library = opened_file
    study.save(tmp_path / "again.json")
    assert bpe.open(tmp_path / "again.json").encode(TEXT) == library(TEXT)


def test_a_trained_table_treats_special_tokens_in_texts_as_text_unless_the_recipe_says_otherwise() -> None:
    plain = bpe.train(CORPUS, "gpt2", vocab_size=280, special_tokens=(END,))
    matching = bpe.train(CORPUS, "gpt2", vocab_size=280, special_tokens=(END,), spelled_specials="matched")
    assert plain.encode(END) == plain.encode(END, allowed_special=()) != plain.encode(END, allowed_special="all")
    assert matching.encode(END) == plain.encode(END, allowed_special="all") == [279]
    assert matching.history.pairs() == plain.history.pairs()


def test_the_look_question_says_how_a_special_token_in_the_text_was_read(
    opened_file: tuple[bpe.Study, Path, Encode],
) -> None:
    study, _, _ = opened_file
    sentences = [sentence for sentence in QUESTION.look(study, text=TEXT).sentences if END in sentence]
    taken = "is read as a special token" if study.format == "tokenizer.json" else "is split like any other text"
    assert any(taken in sentence for sentence in sentences)


def test_counting_treats_special_tokens_in_texts_like_the_library_of_the_opened_file(
    opened_file: tuple[bpe.Study, Path, Encode],
) -> None:
    study, _, library = opened_file
    asked = study.with_texts([TEXT])
    counted = b"".join(word * count for word, count in asked.inside.words())
    assert (b"endoftext" in counted) == (study.format != "tokenizer.json")
    if study.format != "tokenizer.json":
        assert asked.inside.cut().counts(len(study.history)).sum() == len(library(TEXT))


TOKENS = st.lists(st.text(alphabet="<|ab>[", min_size=1, max_size=4), min_size=1, max_size=20, unique=True)


@given(tokens=TOKENS, text=st.text(alphabet="<|ab>[x", max_size=20), filler=st.sampled_from(["", "x" * SHORT]))
def test_special_tokens_are_found_in_texts_and_in_bytes_of_any_length(
    tokens: list[str], text: str, filler: str
) -> None:
    is_there = any(token in text for token in tokens)
    is_spelled = may_hold_special(tuple(tokens))
    assert is_spelled(filler + text) == is_spelled((filler + text).encode()) == is_there


def like_llama(folder: Path) -> tuple[bpe.Study, tokenizers.Tokenizer]:
    """Return a tokenizer that puts ▁ before each part of a text, as opened by this program and by tokenizers."""
    library = tokenizers.Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    library.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<unk>", END, *(f"<0x{byte:02X}>" for byte in range(256))], show_progress=False
    )
    library.train_from_iterator(CORPUS, trainer)
    library.add_special_tokens([AddedToken(PAD, lstrip=True, rstrip=True), AddedToken("<s>", normalized=True)])
    library.add_tokens([AddedToken("<tool>", single_word=True, normalized=False)])
    library.save(str(folder / "llama.tokenizer.json"))
    return bpe.open(folder / "llama.tokenizer.json"), library


@settings(max_examples=30, deadline=None)
@given(
    parts=st.lists(st.sampled_from([END, PAD, "<s>", "<tool>", "the", " low ", "é", " ", "\n", "", "<|"]), max_size=12),
    times=st.sampled_from([1, 9, 200]),
)
def test_text_between_special_tokens_is_normalized_as_in_the_tokenizers_library(
    llama: tuple[bpe.Study, tokenizers.Tokenizer], parts: list[str], times: int
) -> None:
    study, library = llama
    text = "".join(parts * times)
    for names in (None, "all", [END]):
        expected = study.encode(text, allowed_special=names)
        if names is None:
            assert expected == library.encode(text).ids
        batch, offsets = study.encode_batch([text, "low", text], allowed_special=names)
        assert batch[: offsets[1]].tolist() == expected == batch[offsets[2] :].tolist()
        assert study.encode_to_numpy(text, allowed_special=names).tolist() == expected


@pytest.fixture(scope="module")
def llama(folder: Path) -> tuple[bpe.Study, tokenizers.Tokenizer]:
    study, library = like_llama(folder)
    study.encode_batch(["the low " * 1_000])  # loads machine code
    return study, library
