"""Tests that studies, histories and recipes can be pickled and copied.

The pickles are small and deterministic, and the loaded objects equal the originals.
"""

# ruff: noqa: S301 - they are pickles of our own
from __future__ import annotations

import copy
import hashlib
import json
import multiprocessing
import os
import pickle
import pickletools
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.errors import BpeError, OutputError
from bpe_core.formats import FORMATS
from bpe_core.history.history import History, unpickled
from bpe_core.history.packed import packed
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.registry import METHODS
from tests.conftest import EXPLORES
from tests.core.formats.gguf_files import gguf
from tests.core.formats.hugging_face_tokenizers import KINDS, sentencepiece_model
from tests.core.formats.test_gguf import BYTES, MERGES
from tests.core.formats.test_rwkv import rows
from tests.core.formats.test_tables_of_all_methods import assert_the_same_in_all
from tests.core.formats.test_tekken import tekken
from tests.core.formats.test_tiktoken_json import content
from tests.core.formats.test_youtokentome import model
from tests.shared import ROOT, text_of

TEXT = text_of("prose")[:3_000]
GERMAN = "der Hund und die Katze und das Haus und der Garten " * 20
SHORT = [TEXT[:200], "", "né 12 <|end|>", "x" * 40]
PRESETS: dict[str, dict[str, Any]] = {
    "gpt2": dict(merges=60, special_tokens=("<|end|>",)),
    "words": dict(merges=60, marker="glued"),
    "sentencepiece-like": dict(merges=60),
    "superbpe": dict(merges=60),
    "boundless": dict(merges=60),
    "picky": dict(merges=60),
    "parity": dict(
        merges=60,
        mixture=bpe.Mixture((bpe.Group("en"), bpe.Group("de"), bpe.Group("en dev", dev_of="en"),
                             bpe.Group("de dev", dev_of="de"))),
    ),
    "gage": dict(merges=60, block_size=1_000),
    "wordpiece": dict(merges=60),
    "unigram": dict(vocab_size=120),
    "mingram": dict(vocab_size=120),
    "best": dict(vocab_size=300),
}  # fmt: skip


@cache
def train_preset(preset: str) -> bpe.Study:
    texts: Any = [TEXT]
    if preset == "parity":
        texts = {"en": TEXT, "de": GERMAN, "en dev": TEXT[:500], "de dev": GERMAN[:200]}
    return bpe.train(texts, preset, **PRESETS[preset])


def ids(study: bpe.Study) -> list[Any]:
    """Return the ids of a few texts. If the study refuses a text, the list has the error message instead."""
    results = list[Any]()
    for text in SHORT:
        for at in (None, len(study.history) // 2):
            try:
                results.append(study.encode(text, at=at))
            except BpeError as error:
                results.append(str(error))
    return results


def assert_is_the_same(copied: bpe.Study, study: bpe.Study) -> None:
    assert ids(copied) == ids(study)
    assert copied.tokens == study.tokens
    assert (repr(copied), copied.notes, copied.format) == (repr(study), study.notes, study.format)
    shown = study.encode(SHORT[0])
    for way in ("exact", "library"):
        assert copied.decode(shown, way=way) == study.decode(shown, way=way)


def test_every_method_is_covered_by_the_pickling_test() -> None:
    assert {train_preset(preset).history.recipe.method for preset in PRESETS} == set(METHODS)


@pytest.mark.parametrize("preset", PRESETS)
def test_unpickling_the_study_of_each_method_gives_an_equal_study(preset: str) -> None:
    study = train_preset(preset)
    copied = pickle.loads(pickle.dumps(study))
    assert_is_the_same(copied, study)
    assert_the_same_in_all(copied.history, study.history)
    for of_history in (
        pickle.loads(pickle.dumps(study.history)),
        copy.deepcopy(study.history),
        study.history.first(20),
    ):
        assert_the_same_in_all(unpickled(packed(of_history)), of_history)
    assert (
        pickle.loads(pickle.dumps(study.history.recipe)) == copy.deepcopy(study.history.recipe) == study.history.recipe
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_a_copied_study_keeps_its_texts_and_a_pickled_study_does_not(preset: str) -> None:
    study = train_preset(preset)
    for copied in (copy.copy(study), copy.deepcopy(study)):
        assert_is_the_same(copied, study)
        assert copied.texts is study.texts
        assert copied.inside.texts_are_own
    assert copy.deepcopy(study).history is not study.history
    assert pickle.loads(pickle.dumps(study)).texts is None
    with pytest.raises(BpeError, match="needs texts: name them"):
        bpe.sizes({"ours": pickle.loads(pickle.dumps(study))})


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_of_a_hugging_face_file_is_equal_after_pickling(kind: str) -> None:
    opened = FORMATS["tokenizer.json"].open(json.dumps(KINDS[kind]()).encode(), kind)
    study = bpe.Study(opened.history, name=kind, format=opened.format, notes=opened.notes)
    assert_is_the_same(pickle.loads(pickle.dumps(study)), study)
    assert_is_the_same(copy.deepcopy(study), study)


def test_a_study_opened_from_a_file_of_any_format_is_unchanged_by_pickling(tmp_path: Path) -> None:
    """To save time, each format saves about half of the studies that it can hold."""
    opened = set[str]()
    for name in set(FORMATS.written) - {"markdown"}:  # which is for people, and not read
        for preset in PRESETS:
            path = tmp_path / f"{preset}.{name.replace('.', '_')}{FORMATS.rows[name].endings[0]}"
            if not METHODS[train_preset(preset).history.recipe.method].fits(FORMATS[name]):
                continue
            if not EXPLORES and name in opened and crc32(f"{preset} as {name}".encode()) % 2:
                continue
            try:
                train_preset(preset).save(path, format=name)
            except OutputError:
                continue  # the format cannot hold this recipe
            study = bpe.open(path)
            copied = pickle.loads(pickle.dumps(study))
            assert_is_the_same(copied, study)
            assert pickle.dumps(copied) == pickle.dumps(study)
            opened.add(name)
    assert opened >= set(FORMATS.written) - {"markdown", "tekken", "rwkv"}


FILES: dict[str, Callable[[], bytes]] = {
    "rwkv": lambda: rows().encode(),
    "tekken": lambda: json.dumps(tekken(["<unk>", "<s>"])).encode(),
    "tiktoken.json": content,
    "youtokentome": model,
    "sentencepiece": partial(sentencepiece_model, "unigram"),
    "gguf": lambda: gguf(
        {
            "model": "gpt2",
            "pre": "llama-bpe",
            "tokens": BYTES,
            "merges": MERGES,
        }
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_study_of_a_file_of_another_library_is_equal_after_pickling(name: str) -> None:
    opened = FORMATS[name].open(FILES[name](), name)
    study = bpe.Study(opened.history, name=name, format=opened.format, notes=opened.notes)
    assert_is_the_same(pickle.loads(pickle.dumps(study)), study)
    assert_is_the_same(copy.deepcopy(study), study)


def test_saving_a_study_uses_the_named_format_and_refuses_an_unknown_format(tmp_path: Path) -> None:
    train_preset("gpt2").save(tmp_path / "own.bpe", format="tiktoken")
    assert bpe.open(tmp_path / "own.bpe").format == "tiktoken"
    with pytest.raises(OutputError, match=r"no format 'tiktokn'; the formats are .*tiktoken"):
        train_preset("gpt2").save(tmp_path / "own.bpe", format="tiktokn")


def test_a_pickled_study_is_small_and_names_only_classes_of_this_package() -> None:
    study = train_preset("gpt2")
    before = pickle.dumps(study)
    study.encode(TEXT * 20)
    bpe.sizes({"ours": study})
    assert pickle.dumps(study) == before
    assert len(before) < 6_000
    named = [str(arg) for op, arg, _ in pickletools.genops(before) if "UNICODE" in op.name]
    assert [name for name in named if name.startswith(("numpy", "builtins", "_codecs", "copyreg"))] == []
    assert {name for name in named if name.startswith("bpe_core")} == {
        *("bpe_core.studies.study", "bpe_core.history.history"),
    }


def test_the_pickle_of_a_large_table_is_smaller_than_its_file(tmp_path: Path) -> None:
    words = [f"{number:b}".replace("0", "né").replace("1", "low ") for number in range(3_000)]
    study = bpe.train(words, "gpt2", merges=1_000, min_frequency=1)
    study.save(tmp_path / "tokenizer.json")
    opened = bpe.open(tmp_path / "tokenizer.json")
    assert len(pickle.dumps(opened)) < (tmp_path / "tokenizer.json").stat().st_size


def test_columns_of_a_history_cannot_be_changed_before_or_after_pickling() -> None:
    for study in (train_preset("gpt2"), pickle.loads(pickle.dumps(train_preset("gpt2")))):
        with pytest.raises(ValueError, match="read-only"):
            study.history.columns.left[0] = 1


MAKING = """
import hashlib, pickle, sys
import bpe_core as bpe
made = [bpe.train([sys.argv[1]], preset, **choices) for preset, choices in (
    ("gpt2", dict(merges=40, special_tokens=("<|end|>", "<pad>"))), ("unigram", dict(vocab_size=120)))]
made[0].encode("something else first" * int(sys.argv[2]))
made += [bpe.open(path) for path in sys.argv[3:]]
print(*(hashlib.sha256(pickle.dumps(one)).hexdigest() for one in (*made, made[0].encode, made[1].history)))
"""


def test_equal_tables_have_equal_pickles_in_every_process(tmp_path: Path) -> None:
    """Equal pickles keep the fingerprint of an encoding function unchanged. A cache that uses it stays valid."""
    paths = [str(tmp_path / "tokenizer.json"), str(tmp_path / "own.csv")]
    for path in paths:
        train_preset("gpt2").save(path)
    digests = {
        subprocess.run(
            [sys.executable, "-c", MAKING, TEXT, str(seed), *paths],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    }
    assert len(digests) == 1
    assert hashlib.sha256(pickle.dumps(bpe.open(paths[0]))).hexdigest() in digests.pop()


class Loader:
    """A data set that can be pickled, like a data set for PyTorch's DataLoader.

    Worker processes unpickle it and encode its items.
    """

    def __init__(self, study: bpe.Study, texts: list[str]) -> None:
        self.study, self.texts = study, texts

    def __getitem__(self, place: int) -> list[int]:
        return self.study.encode(self.texts[place])


def test_worker_processes_with_a_pickled_study_encode_as_the_parent_process_does() -> None:
    study = train_preset("gpt2")
    loader = Loader(study, SHORT)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as workers:
        assert list(workers.map(loader.__getitem__, range(len(SHORT)))) == study.encode(SHORT)
        assert list(workers.map(study.encode, SHORT)) == study.encode(SHORT)
        assert workers.submit(len, study).result() == len(study)


def test_a_tokenizer_of_the_engine_can_be_pickled_and_copied() -> None:
    tokenizer = Tokenizer(train_preset("wordpiece").history)
    tokenizer.encode(TEXT)
    assert pickle.loads(pickle.dumps(tokenizer)).encode(TEXT) == tokenizer.encode(TEXT)
    assert copy.deepcopy(tokenizer).encode(TEXT) == tokenizer.encode(TEXT)


def test_a_shallow_copy_of_a_history_shares_the_columns_of_the_history() -> None:
    history = train_preset("gpt2").history
    assert copy.copy(history).columns.left is history.columns.left
    assert isinstance(copy.copy(history), History)
    numbers = np.arange(history.index_count) + 7
    assert unpickled(packed(history.numbered(numbers))).numbers.tolist() == numbers.tolist()  # type: ignore[union-attr]
