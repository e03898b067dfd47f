"""Tests that a Dask cluster writes the same shards of ids as one computer without a cluster.

The shards are the same even if a worker dies.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.errors import Cancelled, ClusterError, CorpusError
from bpe_core.history.history import History
from bpe_core.methods.kit import encode_on_cluster
from bpe_core.methods.kit.encode_documents import encode_documents
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.support import cluster
from bpe_core.support.progress import Progress, Work
from bpe_core.text.corpus import Corpus
from tests.core.corpus_files import files, write
from tests.core.learning import train

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own, about ports and event loops
TEXT = "The lowest price of naïve 漢字 is low<end> lower than 1234.\n"


@pytest.fixture(scope="module", autouse=True)
def random_numbers_of_dask() -> None:
    """Give Dask its own random generator, because threads of Dask may draw numbers after these tests have ended."""
    for module in ("dask.sizeof", "distributed.comm.core", "distributed.scheduler", "distributed.utils_comm"):
        import_module(module).random = Random()  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def history() -> History:
    return train(Corpus.from_texts([TEXT]), Recipe.preset("gpt2", merges=25, special_tokens=("<end>",)))


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    import distributed  # importing takes time, which every process that only collects tests would spend

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, processes=False, dashboard_address=None) as local,
        distributed.Client(local) as client,
    ):
        yield client


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Write files with long texts, a short text and an empty text, and tables with a text in each row.

    The long texts are encoded in spans.
    """
    rows = "".join(json.dumps({"text": TEXT * (number % 4)}) + "\n" for number in range(40))
    write(tmp_path / "texts", "a.txt", TEXT * 60)
    write(tmp_path / "texts", "b.jsonl", rows)
    write(tmp_path / "texts", "c.txt", TEXT * 3)
    write(tmp_path / "texts", "d.jsonl", '{"text": ""}\n')
    write(tmp_path / "texts", "e.jsonl.gz", gzip.compress(rows.encode()))
    write(tmp_path / "texts", "f.txt", TEXT * 90)
    return Corpus.from_files(tmp_path / "texts")


@pytest.mark.parametrize("shard_size", [200, 10**9])
@pytest.mark.parametrize(("kind", "eos", "specials"), [("npy", None, None), ("bin", 256, {"<end>"})])
def test_cluster_workers_write_the_same_shards_as_the_local_process(
    tmp_path: Path,
    corpus: Corpus,
    history: History,
    client: Any,
    monkeypatch: pytest.MonkeyPatch,
    shard_size: int,
    kind: Any,
    eos: int | None,
    specials: Any,
) -> None:
    choices: dict[str, Any] = dict(shard_size=shard_size, kind=kind, eos=eos, allowed_special=specials)
    reports: list[Progress] = []
    monkeypatch.setattr(encode_on_cluster, "PART_SIZE", 1_000)
    expected = encode_documents(corpus, Tokenizer(history), tmp_path / "expected", **choices)
    made = encode_documents(
        corpus, Tokenizer(history), tmp_path / "made", client=client, work=Work(reports.append), **choices
    )
    assert files(tmp_path / "made") == files(tmp_path / "expected")
    assert (made.documents, made.ids, made.shards) == (expected.documents, expected.ids, expected.shards)
    assert reports[-1].done == corpus.total_size
    assert len(reports) > len(corpus.sources), "long texts are encoded in several parts"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["expected", "made", "texts"]


def test_a_stopped_encoding_on_a_cluster_continues_after_its_finished_parts(
    tmp_path: Path, corpus: Corpus, history: History, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encode_on_cluster, "PART_SIZE", 1_000)
    encode_documents(corpus, Tokenizer(history), tmp_path / "expected", shard_size=200)
    encode_part = encode_on_cluster._encode_part

    def failing(place: Path, request: Any, part: Any) -> int:
        if part.number > 4:
            raise OSError("the network is gone")
        return encode_part(place, request, part)

    with monkeypatch.context() as patch:
        patch.setattr(encode_on_cluster, "_encode_part", failing)
        with pytest.raises(ClusterError, match="the network is gone"):
            encode_documents(corpus, Tokenizer(history), tmp_path / "made", shard_size=200, client=client)
    work = Work(cancelled=lambda: True)
    with pytest.raises(Cancelled):
        encode_documents(corpus, Tokenizer(history), tmp_path / "made", shard_size=200, client=client, work=work)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["expected", "made.encoding", "texts"]
    encoded: list[int] = []

    def noted(place: Path, request: Any, part: Any) -> int:
        encoded.append(part.number)
        return encode_part(place, request, part)

    monkeypatch.setattr(encode_on_cluster, "_encode_part", noted)
    encode_documents(corpus, Tokenizer(history), tmp_path / "made", shard_size=200, client=client)
    assert 0 not in encoded, "the first part was finished"
    assert files(tmp_path / "made") == files(tmp_path / "expected")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["expected", "made", "texts"]


def test_killing_a_cluster_worker_does_not_change_the_shards(
    tmp_path: Path, corpus: Corpus, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encode_on_cluster, "PART_SIZE", 1_000)
    encode_documents(corpus, Tokenizer(history), tmp_path / "expected", shard_size=200)
    with cluster.cluster("local", workers=1) as client:
        worker = next(iter(client.run(os.getpid).values()))
        killed: list[int] = []

        def kill(progress: Progress) -> None:
            if not killed:
                killed.append(worker)
                os.kill(worker, signal.SIGKILL)

        encode_documents(corpus, Tokenizer(history), tmp_path / "made", shard_size=200, client=client, work=Work(kill))
        assert killed
        assert next(iter(client.run(os.getpid).values())) != worker
    assert files(tmp_path / "made") == files(tmp_path / "expected")


def test_the_encode_command_encodes_documents_on_a_local_cluster(
    tmp_path: Path,
    corpus: Corpus,
    history: History,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    bpe.save(bpe.Study.of(history), "merges.csv")
    request = ["encode", "texts", "--merges", "merges.csv", "--documents", "--eos", "7", "--shards", "bin"]
    assert run([*request, "-o", "expected"]) == 0
    assert run([*request, "-o", "made", "--on", "local", "--workers", "1"]) == 0
    assert "Encoding on a cluster" in capsys.readouterr().err
    assert files(tmp_path / "made") == files(tmp_path / "expected")
    assert run(["encode", "texts/a.txt", "--merges", "merges.csv", "-o", "ids.npy", "--on", "local"]) == 1
    assert "Add --documents" in capsys.readouterr().err


def test_encoding_standard_input_on_a_cluster_is_refused(tmp_path: Path, history: History, client: Any) -> None:
    with pytest.raises(CorpusError, match="standard input cannot be read by a cluster"):
        encode_documents(Corpus.from_files("-"), Tokenizer(history), tmp_path / "made", client=client)
    assert list(tmp_path.iterdir()) == []
