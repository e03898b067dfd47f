"""Tests of merge files of other programs, such as CLIP, fastBPE and the first GPT of OpenAI."""

from __future__ import annotations

import gzip
import json
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.errors import FormatError
from bpe_core.formats import byte_level, is_table, open_table, written_merges
from bpe_core.formats.merges_pair import CLIP_SPECIALS, CLIP_WORDS
from bpe_core.formats.written_merges import PlacedMerges, WrittenMerges
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.verification.import_check import check_import
from tests.core.formats.samples import languages, texts


def clip() -> tuple[Any, list[str]]:
    """Return a tokenizer that the library `tokenizers` trains with CLIP's settings, and the lines of its merges."""
    tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
    pre, changes = tokenizers.pre_tokenizers, tokenizers.normalizers
    made = tokenizers.Tokenizer(tokenizers.models.BPE(end_of_word_suffix="</w>"))
    made.normalizer = changes.Sequence([changes.NFC(), changes.Lowercase()])
    words = pre.Split(tokenizers.Regex(CLIP_WORDS), "removed", invert=True)
    made.pre_tokenizer = pre.Sequence([words, pre.ByteLevel(add_prefix_space=False, use_regex=False)])
    letters = sorted(pre.ByteLevel.alphabet())
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=900, initial_alphabet=letters, end_of_word_suffix="</w>", show_progress=False
    )
    made.train_from_iterator([languages()], trainer)
    learned = [tuple(merge) for merge in json.loads(made.to_str())["model"]["merges"]]
    order = [chr(code) for code in (*range(33, 127), *range(161, 173), *range(174, 256), *range(256, 324))]
    vocabulary = [*order, *(token + "</w>" for token in order), *map("".join, learned), *CLIP_SPECIALS]
    numbers = {text: number for number, text in enumerate(dict.fromkeys(vocabulary))}
    made.model = tokenizers.models.BPE(numbers, learned, end_of_word_suffix="</w>")
    return made, [" ".join(merge) for merge in learned]


def test_the_merge_file_of_the_clip_model_gives_the_same_ids_as_in_the_tokenizers_library(tmp_path: Path) -> None:
    theirs, lines = clip()
    body = "\n".join(lines) + "\n"
    whole = tmp_path / "whole"
    whole.mkdir()
    for name, content in (
        ("bpe_simple_vocab_16e6.txt.gz", gzip.compress(b'"bpe_simple_vocab_16e6.txt#version: 0.2\n' + body.encode())),
        ("whole/merges.txt", body.encode("utf-8-sig")),
        ("whole/vocab.json", json.dumps(theirs.get_vocab()).encode()),
    ):
        (tmp_path / name).write_bytes(content)
    for name in ("bpe_simple_vocab_16e6.txt.gz", "whole/merges.txt", "whole/vocab.json"):
        assert is_table(tmp_path / name), name
        opened = open_table(tmp_path / name)
        assert opened.history.recipe.special_tokens == CLIP_SPECIALS
        assert any("as CLIP does" in note for note in opened.notes)
        ours = Tokenizer(opened.history)
        for text in (*texts(), "Café ÉTÉ <|endoftext|>"):
            assert opened.numbers_of(ours.encode(text, allowed_special=())) == theirs.encode(text).ids, text[:60]
    long = " <|endoftext|>\n".join(texts()) + languages()[:70_000]  # the kernels take these
    assert opened.numbers_of(ours.encode(long)) == theirs.encode(long).ids
    agreement = check_import(whole / "merges.txt", open_table(whole / "merges.txt"))
    assert agreement is not None
    assert not agreement.differences


def test_ids_of_the_clip_model_are_decoded_to_the_same_texts_as_in_transformers(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="the package transformers is not installed")
    theirs, lines = clip()
    (tmp_path / "merges.txt").write_text("#version: 0.2\n" + "\n".join(lines) + "\n", "utf-8")
    (tmp_path / "vocab.json").write_text(json.dumps(theirs.get_vocab()), "utf-8")
    library = transformers.CLIPTokenizer.from_pretrained(tmp_path)
    opened = open_table(tmp_path / "merges.txt")
    ours = Tokenizer(opened.history)
    for text in (*texts(), "", "  a  <|endoftext|> b <|endoftext|>", "it's 12, é\u0301!"):
        ids = theirs.encode(text).ids
        own = opened.history.indices_of(ids)
        assert ours.decode(own, way="library") == library.decode(ids), text
        assert ours.decode(own, way="library", skip_special=True) == library.decode(ids, skip_special_tokens=True), text


def test_merge_files_with_counts_and_merge_files_without_a_version_line_are_opened(tmp_path: Path) -> None:
    codes, plain, alone = tmp_path / "fast.codes", tmp_path / "plain.codes", tmp_path / "alone.txt"
    codes.write_text("l o 12\nlo w</w> 7\né t 3\n")
    plain.write_text("\ufeff#version: 0.2 - Trained by `another program`\nl o\nlo w</w>\né t\n")
    opened = open_table(codes)
    assert any("fastBPE" in note for note in opened.notes)
    assert opened.history.pairs() == open_table(plain).history.pairs()
    assert Tokenizer(opened.history).encode("low") == Tokenizer(open_table(plain).history).encode("low")
    alone.write_text("Ġ t\nh e\nĠt he\n")
    merges = open_table(alone)
    assert (merges.format, len(merges.history)) == ("merges.txt", 3)
    assert not is_table(Path(__file__))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<unk>\t0\n<s>\t0\n\xe2\x96\x81a\t-3.25\n", "open the .model file in its folder"),
        (b'{"tokenizer_class": "LlamaTokenizer", "model_max_length": 9}', "says how a tokenizer is used"),
        (b"<s>\t0\n</s>\t0\na\t0\n", "open the .model file in its folder"),
        (b"[PAD]\t0\n[UNK]\t0\nin\t-0\nat\t-1\n", "open the .model file in its folder"),
        (b"[\\u0000] 0\n[!] 33\n[e][ ] -> [e ] 256\n", "the readable list that minbpe writes"),
        (b"'<pad>_'\n'<EOS>_'\n', _'\n'._'\n'the_'\n", "subwords of Tensor2Tensor"),
        (b"### SubwordTextEncoder\n### Metadata: {}\n'the_'\n', '\n'a_'\n'in_'\n'of_'\n", "subwords of Tensor2Tensor"),
        (b"2 9\nthe 0.1 -0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9\n", "vectors of words"),
        (b'"</s>": 0\n"<unk>": 1\nthe: 2\n', "list of words with numbers"),
        (b'{"unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.5]]}', "only Unigram's model"),
        (b"fmgg\x65\0\0\0", "older than GGUF"),
        (b"a 17\nthe@@ 9\nb 4\n", "fairseq's dict.txt"),
        (b"v3;false;true;false;<w>;</w>\ne </w>\ns </w>\n", "codes of OpenNMT's Tokenizer"),
        (b"17 40\n3 31\n99 8\n4 2\n", "a dictionary of fairseq"),
        (b"101,32,256\n44,32,257\n100,32,258\n46,32,259\n", "merges as ids"),
        (b"bpe v1\n\\w+\n0\n101 32\n116 104\n116 32\n", "based on minbpe"),
        (b"PK\x03\x04\0\0", "is an archive"),
        (b"\0\x05\x16\x07\0\2\0\0Mac OS X", "notes of macOS"),
        (b"lCRF\xc0\xc0\t\0", "but not its tokenizer"),
        ("#version: 0.2\n的 一\n".encode("utf-16"), "iconv -f UTF-16"),
        ("的 一\n是 的\n".encode("gb18030"), r"is not UTF-8\. .* iconv -f GB18030"),
        (b"e + r = er\nt + h = th\ni + n = in\nth + e = the\n", "merges in an unknown form"),
        (b"th@@ e ca@@ t\nsa@@ t o@@ n th@@ e\n", "a text that was split into tokens"),
        (b"e r\ni n\no n\nr e\ns t\no r\na t\ne n\nt h\n", "put its vocab.json into the same folder"),
        (b'{"0": "a", "1": "b"}', "in an unknown form"),
        (b'{"vocab_size": 9, "fields": []}', "is JSON, but not a tokenizer"),
        (b"\x80\x04\x95\x83", "objects of a Python program"),
        (b"\x1b\0\0\0\0\0\0\0\x05\0\0\0<unk>\0\0", "that llama2.c reads"),
        (b'["<unk>", "</s>", "the"]', "list of tokens or words"),
        (b'["[PAD]","[UNK]","the","##s"]', "list of tokens or words"),
        (b"<unk>\nC\n[C@@H]\n=\nBr\n", "list of tokens or words"),
        (b"0: <pad>\n1: <unk>\n2: a b\n3: c\n4: d\n", "list of tokens or words"),
        (b'{"properties": {"regex": "C"}, "vocabulary": ["C"]}', "in an unknown form"),
        (b'{"word2idx": {"the": 1}}', "in an unknown form"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "git lfs pull"),
        (b"<!DOCTYPE html>\n<html>\n", "is a web page"),
        (b"Entry not found", "did not send the file"),
        (b"Temporary Redirect. Redirecting to /api/resolve-cache/models/a/b/tokenizer.json", "did not send the file"),
        (b"../blobs/3f5c/tokenizer.json\n", "path of another file"),
        (b'{"tokenizer": {"class_name": "Tokenizer", "config": {}}}', "word index of Keras"),
        (b'{"class_name": "Tokenizer", "config": {"num_words": 9}}', "word index of Keras"),
        (b'"{\\"class_name\\": \\"Tokenizer\\", \\"config\\": {}}"', "word index of Keras"),
        (b'{"split": " ", "lower": true, "index_word": {"1": "a"}}', "word index of Keras"),
        (b'{"eos_token": "<e>", "vocab": {"a": 1}}', "in an unknown form"),
        (b'{"bos_token": "<s>"}', "the roles of special tokens"),
        (b'{"architectures": ["LlamaForCausalLM"]}', "describes a model"),
        (gzip.compress(b"l o\n" * 99, mtime=0)[:-9], "ends too early"),
        (b"\x1f\x8b\x08 what", "holds damaged gzip data"),
    ],
)
def test_sidecar_files_of_a_tokenizer_are_recognized_by_their_names(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert not is_table(path)
    with pytest.raises(FormatError, match=message):
        open_table(path)


TOKENS = st.sampled_from(["a", "b", "ab", "ba", "aa", "aba", "c"])
PARTS = st.lists(st.tuples(TOKENS, TOKENS), max_size=5)


def merges_of(parts: list[tuple[str, str]]) -> WrittenMerges:
    return WrittenMerges([left for left, _ in parts], [right for _, right in parts], range(1, len(parts) + 1))


@given(parts=PARTS)
@settings(max_examples=100)
def test_parsing_merges_in_one_batch_gives_the_same_result_as_parsing_them_individually(
    parts: list[tuple[str, str]],
) -> None:
    merges, base = merges_of(parts), {"a": 0, "b": 1}
    at_once = written_merges.resolved_at_once(base, 2, merges)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(written_merges, "resolved_at_once", lambda *_: None)
        try:
            one_by_one = written_merges.resolve(base, 2, merges, "merge {}")
        except FormatError:
            one_by_one = None
    if one_by_one is None or one_by_one.never_happen:
        assert at_once is None
    else:
        assert at_once is not None
        assert [tuple(pair) for pair in np.array(at_once.pairs).tolist()] == one_by_one.pairs
        assert (at_once.texts, at_once.never_happen) == (one_by_one.texts, [])
        assert place_merges(parts).are_in_order(base)


def place_merges(parts: list[tuple[str, str]]) -> PlacedMerges:
    merges = merges_of(parts)
    return PlacedMerges(merges, list(dict.fromkeys(["a", "b", *merges.left, *merges.right, *merges.made])))


@given(parts=st.lists(st.tuples(TOKENS, TOKENS), max_size=12))
@settings(max_examples=200)
def test_merges_of_an_unordered_list_are_added_as_soon_as_the_two_tokens_of_each_merge_exist(
    parts: list[tuple[str, str]],
) -> None:
    base, pairs = {"a": 0, "b": 1}, list[tuple[int, int]]()
    id_of = dict(base)

    def can_happen(left: str, right: str) -> bool:
        return left in id_of and right in id_of and left + right not in id_of

    while (first := next((part for part in parts if can_happen(*part)), None)) is not None:
        pairs.append((id_of[first[0]], id_of[first[1]]))
        id_of["".join(first)] = len(id_of)
    resolved = place_merges(parts).resolved_in_turn(base, len(base))
    assert [tuple(pair) for pair in np.array(resolved.pairs).tolist()] == pairs
    assert resolved.texts == list(id_of)[len(base) :]
    rows = place_merges(parts).pair_rows(place_merges(parts).places(list(id_of)))
    last = {pair: row for row, pair in enumerate(parts) if pair[0] in id_of and pair[1] in id_of}
    assert list(zip(*(column.tolist() for column in rows), strict=True)) == [
        (id_of[left], id_of[right], id_of[left + right]) for left, right in sorted(last, key=last.__getitem__)
    ]


def test_only_the_merges_that_the_clip_model_uses_are_read_from_its_merge_file(tmp_path: Path) -> None:
    """CLIP reads lines 1 to 49,152 - 256 - 2 of the file, so its two special tokens have the ids 49,406 and 49,407."""
    signs = [byte_level.stand_ins()[byte] for byte in byte_level.stand_in_order()]
    pairs = (f"{left} {right}" for left in signs for right in signs)
    path = tmp_path / "bpe_simple_vocab_16e6.txt"
    lines = ['"bpe_simple_vocab_16e6.txt#version: 0.2', *islice(pairs, 60_000)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    opened = open_table(path)
    assert len(opened.history) == 48_894
    study = bpe.open(path)
    assert [study.id_of(token) for token in CLIP_SPECIALS] == [49_406, 49_407]
    assert study.encode(f"ab{CLIP_SPECIALS[1]}")[-1] == 49_407  # the pattern of CLIP matches special tokens
    assert "the first 48,894 of the 60,000 merges" in " ".join(opened.notes)


@pytest.mark.parametrize("asked", ["vocab.bpe", "encoder.json", "."])
def test_merges_of_a_vocab_bpe_file_get_their_ids_from_encoder_json(tmp_path: Path, asked: str) -> None:
    """OpenAI published the first GPT with a list of merges and a JSON file of ids.

    In these merges, the marker `</w>` stands at the end of a word.
    """
    (tmp_path / "vocab.bpe").write_text("#version: 0.2\nl o\nlo w</w>\ne r</w>\n", encoding="utf-8")
    names = [
        "<unk>",
        ".",
        "e",
        "l",
        "o",
        "r",
        "w",
        "e</w>",
        "l</w>",
        "o</w>",
        "r</w>",
        "w</w>",
        "low</w>",
        "lo",
        "er</w>",
    ]
    numbers = {name: number for number, name in enumerate(names)}
    (tmp_path / "encoder.json").write_text(json.dumps(numbers), encoding="utf-8")
    study = bpe.open(tmp_path / asked)
    assert study.format == "merges.txt"
    assert study.encode("low") == [numbers["low</w>"]]
    assert study.encode("lower") == [numbers["lo"], numbers["w"], numbers["er</w>"]]


def test_a_vocab_bpe_file_without_a_vocabulary_is_opened_as_subword_nmt_codes(tmp_path: Path) -> None:
    (tmp_path / "vocab.bpe").write_text("#version: 0.2\nl o\nlo w</w>\n", encoding="utf-8")
    assert bpe.open(tmp_path / "vocab.bpe").format == "subword-nmt"
