"""Tests of encoding documents as shards: each document is whole, in order and followed by its end token.

This holds even if the process was killed.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.errors import BpeError, Cancelled, CorpusError, OutputError, TooLarge
from bpe_core.history.history import History
from bpe_core.methods.kit import encode_corpus as pieces
from bpe_core.methods.kit import encode_documents as module
from bpe_core.methods.kit.encode_documents import encode_documents
from bpe_core.methods.kit.encoded_pieces import with_eos
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.segmentation import Width
from bpe_core.support.progress import Progress, Work
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
from tests.shared import ROOT

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs fork and the limits of a process")
TEXTS = [
    "the lowest price is lower\n\nthan the last one. ",
    "naïve 漢字 🐦's 1234567",
    "low<end>low",
    "x" * 40 + " low" * 90,
]
LEARNED = train(Corpus.from_texts(["low lower. ab ab"]), Recipe.preset("gpt2", merges=6))


@pytest.fixture(scope="module")
def history() -> History:
    return train(Corpus.from_texts(TEXTS * 3), Recipe.preset("gpt2", merges=25, special_tokens=("<end>",)))


@pytest.fixture(scope="module")
def eos(history: History) -> int:
    return history.vocabulary_size - 1


def documents_in(folder: Path) -> list[list[int]]:
    """Read the documents from shards as the manual describes: with NumPy and the index only."""
    index = json.loads((folder / "index.json").read_bytes())
    documents = []
    for shard in index["shards"]:
        path = folder / shard["file"]
        is_npy = path.suffix == ".npy"
        ids: Any = np.load(path, mmap_mode="r") if is_npy else np.memmap(path, index["width"], "r")
        ends = np.fromfile(folder / shard["ends"], "<i8")
        assert isinstance(ids, np.memmap)
        assert (len(ids), len(ends)) == (shard["ids"], shard["documents"])
        assert ends[-1] == len(ids)
        documents += [part.tolist() for part in np.split(ids, ends[:-1])]
    assert len(documents) == index["documents"]
    return documents


def bytes_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def rows(texts: Sequence[str]) -> str:
    return "".join(json.dumps({"text": text}) + "\n" for text in texts)


@pytest.mark.parametrize("kind", ["npy", "bin"])
def test_each_row_of_a_table_and_each_text_file_is_encoded_as_one_document(
    history: History, eos: int, tmp_path: Path, kind: Any
) -> None:
    names = ["a.jsonl", "b.parquet", "c.csv", "d.txt", "e.arrow"]
    table = pa.table({"text": TEXTS})
    (tmp_path / "a.jsonl").write_text(rows(TEXTS), encoding="utf-8")
    pq.write_table(table, tmp_path / "b.parquet")
    (tmp_path / "c.csv").write_text("id,text\n" + "".join(f'{n},"{text}"\n' for n, text in enumerate(TEXTS)), "utf-8")
    (tmp_path / "d.txt").write_text(TEXTS[0], encoding="utf-8")
    with pa.ipc.new_file(tmp_path / "e.arrow", table.schema) as file:
        file.write(table)
    corpus = Corpus.from_files([tmp_path / name for name in names])
    made = encode_documents(corpus, Tokenizer(history), tmp_path / "out", eos=eos, kind=kind, shard_size=200)
    texts = [*TEXTS * 3, TEXTS[0], *TEXTS]
    tokenizer = Tokenizer(history)
    documents = documents_in(tmp_path / "out")
    assert [ids[-1] for ids in documents] == [eos] * len(texts)
    assert [tokenizer.decode(ids[:-1]) for ids in documents] == texts
    assert [ids[:-1] for ids in documents] == [tokenizer.encode(text) for text in texts]
    assert made.documents == len(texts)
    assert made.shards > 2
    index = json.loads((tmp_path / "out" / "index.json").read_bytes())
    assert index["width"] == "uint16"
    assert [Path(listed_file["name"]).name for listed_file in index["files"]] == names
    assert [listed_file["first_document"] for listed_file in index["files"]] == [0, 4, 8, 12, 13]
    assert sum(listed_file["ids"] for listed_file in index["files"]) == index["ids"] == sum(map(len, documents))


@given(
    st.lists(st.text("ab low.\n", max_size=60), max_size=12),
    st.integers(1, 60),
    st.integers(2, 40),
    st.integers(1, 5),
    st.booleans(),
    st.sampled_from([None, "uint32"]),
)
@settings(max_examples=25, deadline=None)
def test_the_ids_of_a_document_do_not_depend_on_the_sizes_of_blocks_and_shards(
    texts: list[str], shard_size: int, piece: int, most: int, has_eos: bool, width: Width | None
) -> None:
    history = LEARNED
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "PIECE", piece)
        patch.setattr(module, "MOST_DOCUMENTS", most)
        path = Path(folder) / "out"
        eos = 7 if has_eos else None
        encode_documents(
            Corpus.from_texts(texts), Tokenizer(history), path, eos=eos, shard_size=shard_size, width=width
        )
        after = [7] if has_eos else []
        expected = [Tokenizer(history).encode(text) + after for text in texts if text]
        assert documents_in(path) == expected
        shards = json.loads((path / "index.json").read_bytes())["shards"]
        assert all(shard["ids"] >= shard_size or shard["documents"] == most for shard in shards[:-1])
        assert all(shard["documents"] <= most for shard in shards)


def test_encoded_documents_have_an_index_in_the_megatron_format(history: History, eos: int, tmp_path: Path) -> None:
    """The test reads the index as the reader of Megatron does: 34 bytes of header, lengths, offsets and documents."""
    encode_documents(Corpus.from_texts(TEXTS), Tokenizer(history), tmp_path / "out", eos=eos, kind="bin")
    data = (tmp_path / "out" / "00000.idx").read_bytes()
    magic, version, code, sequences, documents = struct.unpack_from("<9sQBQQ", data)
    assert (magic, version, code) == (b"MMIDIDX\0\0", 1, 8)
    assert (sequences, documents) == (len(TEXTS), len(TEXTS) + 1)
    lengths = np.frombuffer(data, np.int32, sequences, 34)
    offsets = np.frombuffer(data, np.int64, sequences, 34 + lengths.nbytes)
    ends = np.frombuffer(data, np.int64, documents, 34 + lengths.nbytes + offsets.nbytes)
    assert ends.tolist() == list(range(documents))
    assert len(data) == 34 + lengths.nbytes + offsets.nbytes + ends.nbytes
    ids = (tmp_path / "out" / "00000.bin").read_bytes()
    read_documents = [np.frombuffer(ids, np.uint16, *place).tolist() for place in zip(lengths, offsets, strict=True)]
    assert read_documents == [[*Tokenizer(history).encode(text), eos] for text in TEXTS]


def test_a_stopped_encoding_of_documents_resumes_after_its_finished_shards(
    history: History, eos: int, tmp_path: Path
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(rows(TEXTS * 30), encoding="utf-8")
    reports: list[Progress] = []
    stops = False

    def encoded(name: str, **choices: Any) -> Any:
        work = Work(reports.append, lambda: stops)
        return encode_documents(
            Corpus.from_files(path), Tokenizer(history), tmp_path / name, eos=eos, work=work, **choices
        )

    encoded("whole", shard_size=700)
    assert reports[-1].done == reports[-1].total == path.stat().st_size
    assert {(report.stage, report.unit) for report in reports} == {("encoding", "bytes")}
    encoded("again", shard_size=700)
    assert bytes_in(tmp_path / "again") == bytes_in(tmp_path / "whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "PIECE", 500)
        patch.setattr(module._Shards, "finish", _finish_two)
        with pytest.raises(Cancelled, match="Encoding was stopped"):
            encoded("stopped", shard_size=700)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "rows.jsonl", "stopped.encoding", "whole"]
    made = encoded("stopped", shard_size=700)
    assert made.shards_before == 2
    assert bytes_in(tmp_path / "stopped") == bytes_in(tmp_path / "whole")
    assert not (tmp_path / "stopped.encoding").exists()


_finish = module._Shards.finish


def _finish_two(shards: Any) -> None:
    if len(shards.whole) == 2:
        raise Cancelled("Stopped.")
    _finish(shards)


def test_encoding_with_different_options_does_not_reuse_the_shards_of_a_stopped_encoding(
    history: History, eos: int, tmp_path: Path
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(rows(TEXTS * 30), encoding="utf-8")
    for change in ("id", "texts", "steps"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module._Shards, "finish", _finish_two)
            with pytest.raises(Cancelled):
                encode_documents(Corpus.from_files(path), Tokenizer(history), tmp_path / "out", eos=eos, shard_size=700)
        assert (tmp_path / "out.encoding").is_dir()
        if change == "texts":
            path.write_text(rows([*TEXTS * 30, "more"]), encoding="utf-8")
        ends = 5 if change == "id" else eos
        at = 20 if change == "steps" else None
        made = encode_documents(
            Corpus.from_files(path), Tokenizer(history), tmp_path / "out", eos=ends, shard_size=700, at=at
        )
        assert made.shards_before == 0
        assert documents_in(tmp_path / "out")[-1][-1] == ends


@given(
    ids=st.lists(st.integers(0, 60_000)),
    ends=st.lists(st.integers(0, 100)),
    eos=st.integers(0, 65_535),
    width=st.sampled_from(get_args(Width)),
)
def test_machine_code_and_numpy_write_the_same_separator_ids_after_documents(
    ids: list[int], ends: list[int], eos: int, width: Width
) -> None:
    numbers = np.array(ids, np.uint32)
    stops = np.array(sorted(min(end, len(ids)) for end in ends), np.int64)  # some documents have no ids
    compiled, plain = (with_eos(numbers, stops, eos, np.dtype(width), by_kernel=by) for by in (True, False))
    assert compiled.dtype == plain.dtype == width
    assert compiled.tolist() == plain.tolist()


def test_encoding_documents_starts_no_other_program(
    history: History, eos: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an earlier version, each encoding in a clone of the repository started git to find the commit.

    This took longer than encoding 1 MB of text.
    """

    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError(f"{arguments} was started")

    monkeypatch.setattr(subprocess, "run", refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    encode_documents(Corpus.from_texts(TEXTS), Tokenizer(history), tmp_path / "out", eos=eos)
    assert len(documents_in(tmp_path / "out")) == len(TEXTS)


@posix_only
def test_killing_a_process_that_encodes_documents_leaves_a_complete_old_or_new_folder() -> None:
    """A separate process makes the forks, because the process of the tests has threads and should not fork.

    With BPE_LONG=1 the encoding is killed fifty times.
    """
    kills = "50" if os.environ.get("BPE_LONG") else "12"
    command = [sys.executable, "-m", "tests.core.killing_encoding", str(os.getpid()), kills]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_invalid_requests_to_encode_documents_are_refused_without_writing_files(
    history: History, eos: int, tmp_path: Path
) -> None:
    texts = tmp_path / "rows.jsonl"
    texts.write_text(rows(TEXTS * 30) + "{broken\n", encoding="utf-8")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "letter.txt").write_text("mine")

    def encoded(folder: Path, **choices: Any) -> None:
        encode_documents(Corpus.from_files(texts), Tokenizer(history), folder, **choices)

    for wrong in (eos + 1, -1):
        with pytest.raises(BpeError, match=f"The id {wrong} belongs to no token"):
            encoded(tmp_path / "out", eos=wrong)
    with pytest.raises(BpeError, match="belongs to no token of this tokenizer after 3 steps"):
        encoded(tmp_path / "out", eos=256 + 10, at=3)
    with pytest.raises(OutputError, match=r"holds letter\.txt"):
        encoded(mine)
    with pytest.raises(OutputError, match="is a file"):
        encoded(texts)
    with pytest.raises(OutputError, match="does not exist"):
        encoded(tmp_path / "no" / "out")
    with pytest.raises(BpeError, match="Megatron's index cannot hold ids of the type uint32"):
        encoded(tmp_path / "out", kind="bin", width="uint32")
    with pytest.raises(CorpusError, match="line 121"):
        encoded(tmp_path / "out", shard_size=700)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "rows.jsonl"]
    assert [path.name for path in mine.iterdir()] == ["letter.txt"]


def test_a_word_too_long_to_encode_in_memory_is_reported_in_an_error_message(
    history: History, eos: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A memory limit takes the place of a small memory, and a word of 6 MB takes the place of a word of a gigabyte."""
    (tmp_path / "line.txt").write_text("low " * 2_000 + "x" * 6_000_000)
    monkeypatch.setenv("BPE_EXPLORER_MEMORY", "1")
    with pytest.raises(TooLarge, match=r"A word of .*line\.txt needs about .* Divide the text"):
        encode_documents(Corpus.from_files(tmp_path / "line.txt"), Tokenizer(history), tmp_path / "out", eos=eos)
    assert [path.name for path in tmp_path.iterdir()] == ["line.txt"]


def test_the_function_encode_documents_writes_the_same_ids_as_the_encode_command(
    history: History, eos: int, tmp_path: Path
) -> None:
    study = bpe.Study.of(history)
    made = bpe.encode_documents(study, TEXTS, tmp_path / "python", eos=eos)
    (tmp_path / "rows.jsonl").write_text(rows(TEXTS), encoding="utf-8")
    bpe.save(study, tmp_path / "merges.csv")
    request = ["encode", str(tmp_path / "rows.jsonl"), "--merges", str(tmp_path / "merges.csv"), "--documents"]
    assert run([*request, "--eos", str(eos), "-o", str(tmp_path / "command")]) == 0
    assert made.documents == len(TEXTS)
    assert documents_in(tmp_path / "python") == documents_in(tmp_path / "command")


@pytest.mark.parametrize("fails", [False, True])
def test_a_shard_is_saved_to_the_disk_while_the_next_documents_are_encoded(
    fails: bool, history: History, eos: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the disk fails during this time, the error is reported."""
    here = threading.current_thread()
    threads: list[bool] = []  # of each saving: whether it is the thread of the test

    def save(file: BinaryIO) -> None:
        threads.append(threading.current_thread() is here)
        if fails:
            raise OSError(5, "Input/output error")
        save_to_disk(file)

    save_to_disk = module._save
    monkeypatch.setattr(module, "_save", save)
    monkeypatch.setattr(module, "SAVED_AT_ONCE", 100)
    monkeypatch.setattr(pieces, "PIECE", 100)

    def encode() -> None:
        encode_documents(Corpus.from_texts(TEXTS * 30), Tokenizer(history), tmp_path / "out", eos=eos)

    if fails:
        with pytest.raises(OutputError, match=r"Could not write .*: Input/output error"):
            encode()
        assert list(tmp_path.iterdir()) == []
    else:
        encode()
        assert len(documents_in(tmp_path / "out")) == 30 * len(TEXTS)
        assert threads.count(True) == 3  # the ids and the ends of the whole shard, and the index
    assert threads.count(False) > 0


FULL = """
import resource, signal, sys
import bpe_core as bpe
from bpe_core.command_line.main import run
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
sys.exit(run(sys.argv[2:]))
"""


@posix_only
def test_a_full_disk_while_encoding_documents_is_reported_and_leaves_the_old_folder(
    tmp_path: Path, history: History, eos: int
) -> None:
    """A limit on the file size simulates the full disk. With the limit, too, the system refuses to write more bytes."""
    (tmp_path / "rows.jsonl").write_text(rows(TEXTS * 30), encoding="utf-8")
    table, out = tmp_path / "merges.csv", tmp_path / "out"
    train_words = ["train", str(tmp_path / "rows.jsonl"), "--merges", "20", "--output", str(table), "--quiet"]
    assert run(train_words) == 0
    request = ["encode", str(tmp_path / "rows.jsonl"), "--merges", str(table), "--documents", "-o", str(out)]
    assert run([*request, "--eos", "1"]) == 0
    before = bytes_in(out)
    command = [sys.executable, "-B", "-c", FULL]  # -B, because Python would store truncated modules
    done = subprocess.run([*command, "4000", *request, "--eos", "2"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "Could not write" in done.stderr
    assert "too large" in done.stderr
    assert bytes_in(out) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["merges.csv", "out", "rows.jsonl"]


def test_shards_written_by_the_encode_command_can_be_recreated_from_a_manifest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text(rows(TEXTS), encoding="utf-8")
    assert run(["train", "rows.jsonl", "--merges", "20", "--output", "merges.csv", "--quiet"]) == 0
    request = ["encode", "rows.jsonl", "--merges", "merges.csv"]
    shards = [*request, "--documents", "--eos", "0", "-o", "out", "--shard-size", "100"]
    assert run([*shards, "--manifest", "how.json", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report == {
        "output": "out",
        "width": "uint16",
        "shards": report["shards"],
        "documents": 4,
        "ids": report["ids"],
    }
    assert sorted(path.name for path in Path("out").glob("*.npy")) == [f"{n:05}.npy" for n in range(report["shards"])]
    assert sum(map(len, documents_in(Path("out")))) == report["ids"]
    assert run(["repeat", "how.json"]) == 0
    assert "identical" in capsys.readouterr().out
    assert run([*request, "--documents"]) == 1
    assert "Name the folder with --output" in capsys.readouterr().err
    assert run([*request, "--eos", "0", "-o", "ids.npy"]) == 1
    assert "only with --documents" in capsys.readouterr().err
