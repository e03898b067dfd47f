"""Tests of addresses such as s3://..., which fsspec reads. In these tests, the files are in a memory file system."""

from __future__ import annotations

import gzip
import io
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as arrow
import pytest
from fsspec.implementations.memory import MemoryFile, MemoryFileSystem
from pyarrow import parquet

from bpe_core.errors import CorpusError
from bpe_core.support.threads import run_in_threads
from bpe_core.text.corpus import Corpus
from bpe_core.text.reading.remote import RemoteText, remote_texts
from tests.core.corpus_files import documents, read, sentence
from tests.core.tables_on_disk import write_tar
from tests.core.test_reading_archives import write_zip

GOOD = 100_000  # bytes that can be read before a failing file fails


class FailingFile(MemoryFile):  # type: ignore[misc]
    """A file whose bucket disappears after a few reads."""

    def read(self, size: int = -1) -> bytes:
        if self.tell() >= GOOD:
            raise OSError("the endpoint https://anna:secret@example.org went away\nand more")
        return bytes(super().read(min(size, GOOD)))


class FailingFileSystem(MemoryFileSystem):  # type: ignore[misc]
    protocol = "failing"
    store: dict[str, Any] = {}  # noqa: RUF012  # as its parent holds it
    pseudo_dirs = [""]  # noqa: RUF012

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return f"/{path.removeprefix('failing://').strip('/')}"

    def _open(self, path: str, mode: str = "rb", **more: Any) -> Any:
        if mode != "rb":
            return super()._open(path, mode, **more)
        if "secret" in path:
            raise PermissionError("403")
        return FailingFile(self, path, self.store[path].getvalue())


@pytest.fixture
def bucket() -> Iterator[MemoryFileSystem]:
    fsspec.register_implementation("failing", FailingFileSystem, clobber=True)
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    yield memory
    memory.store.clear()
    FailingFileSystem.store.clear()


def test_files_and_folders_in_cloud_storage_are_read(bucket: MemoryFileSystem, tmp_path: Path) -> None:
    parquet.write_table(arrow.table({"text": ["three", "four"]}), tmp_path / "a.parquet")
    bucket.pipe("/corpus/a.jsonl", b'{"text": "low"}\n')
    bucket.pipe("/corpus/deep/b.txt.gz", gzip.compress(b"lower"))
    bucket.pipe("/corpus/deep/c.zip", write_zip(tmp_path / "c.zip", {"1.txt": b"one", "2.txt": b"two"}).read_bytes())
    bucket.pipe("/corpus/deep/d.parquet", (tmp_path / "a.parquet").read_bytes())
    bucket.pipe("/corpus/deep/README.md", b"about")
    bucket.pipe("/corpus/e.png", b"\x89PNG\0")
    bucket.pipe("/corpus/.hidden/f.txt", b"x")
    assert read("memory://corpus/a.jsonl") == ["low"]
    assert read("memory://corpus/deep/d.parquet") == ["three", "four"]
    assert read(f"zip://2.txt::{tmp_path / 'c.zip'}") == ["two"]
    corpus = Corpus.from_files("memory://corpus")
    assert documents(corpus) == ["low", "lower", "one", "two", "three", "four"]
    assert [source.name for source in corpus.sources][:2] == [
        "memory://corpus/a.jsonl",
        "memory://corpus/deep/b.txt.gz",
    ]
    assert corpus.total_size == sum(source.size or 0 for source in corpus.sources) > 0
    assert [str(note) for note in corpus.skipped] == [
        "memory://corpus/deep/README.md describes the tables in its folder and is not a text; leave it out.",
        "memory://corpus/e.png is not a text file: it looks like a picture.",
    ]
    assert read("memory://corpus", file_patterns=["*.jsonl"]) == ["low"]
    assert (
        sentence("memory://corpus", file_patterns=["*.x"])
        == "There is no file matching *.x in the folder memory://corpus."
    )
    assert sentence("memory://corpus/none.txt") == "memory://corpus/none.txt does not exist."


def test_errors_while_reading_remote_files_are_reported(
    bucket: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    failing = fsspec.filesystem("failing")
    failing.pipe("/corpus/a.txt", b"low lower\n" * 30_000)
    failing.pipe("/corpus/b.jsonl", b'{"text": "low lower"}\n' * 30_000)
    failing.pipe("/secret/a.txt", b"low")
    texts = arrow.table({"text": [f"some text {i}" for i in range(60_000)]})
    parquet.write_table(texts, tmp_path / "a.parquet", compression=None)
    failing.pipe("/corpus/c.parquet", (tmp_path / "a.parquet").read_bytes())
    for name in ("a.txt", "b.jsonl", "c.parquet"):
        message = sentence(f"failing://corpus/{name}")
        assert message.startswith(f"failing://corpus/{name} could be read only up to byte "), message
        assert "the endpoint https://anna@example.org went away. Check the connection" in message
    assert sentence("failing://secret/a.txt") == (
        "failing://secret/a.txt could not be read: permission denied. Check that you are signed in to this storage."
    )
    assert sentence("nowhere://x/a.txt") == (
        "nowhere://x/a.txt begins with nowhere://, which no installed package can read."
    )
    monkeypatch.setitem(sys.modules, "s3fs", None)
    assert sentence("s3://bucket/a.txt") == (
        "Reading s3:// needs the package s3fs, which is not installed: pip install s3fs"
    )
    monkeypatch.setitem(sys.modules, "fsspec", None)
    assert sentence("s3://bucket/a.txt") == (
        "Reading s3:// needs the package fsspec, which is not installed: pip install fsspec"
    )


def test_several_positions_of_a_remote_file_can_be_read_concurrently(bucket: MemoryFileSystem) -> None:
    """In fsspec's in-memory file system, all readers of a file share one object with one position."""
    bucket.pipe("/corpus/a.txt", b"low lower lowest")
    (text,), _ = remote_texts("memory://corpus/a.txt", ["*"], lambda *_: None)
    with text.open() as first, text.open() as second:
        assert first.read(4) == b"low "
        assert second.read(9) == b"low lower"
        assert first.read(5) == b"lower"
        assert (first.seek(1, 1), second.seek(-6, 2)) == (10, 10)
        assert (first.read(), second.read()) == (b"lowest", b"lowest")


class Handle(io.BytesIO):
    """A file that lets other threads run between each seek and read."""

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        position = super().seek(offset, whence)
        time.sleep(0.0001)
        return position


def test_threads_that_read_from_one_archive_do_not_disturb_each_other(tmp_path: Path) -> None:
    """All members of the archive are read through one file handle."""
    members = {f"{number}.txt": f"low{number} ".encode() * 20_000 for number in range(4)}
    write_tar(tmp_path / "a.tar", members)
    archive = fsspec.filesystem("tar", fo=Handle((tmp_path / "a.tar").read_bytes()))
    contents: dict[str, bytes] = {}

    def read_all(name: str) -> None:
        with RemoteText(name, len(members[name]), archive, name).open() as file:
            contents[name] = b"".join(iter(lambda: file.read(4096), b""))

    run_in_threads(read_all, list(members))
    assert contents == members


def test_a_remote_file_that_ends_before_its_size_is_reported_as_incomplete(bucket: MemoryFileSystem) -> None:
    bucket.pipe("/corpus/a.txt", b"low lower lowest")
    corpus = Corpus.from_files("memory://corpus/a.txt")
    bucket.pipe("/corpus/a.txt", b"low low")
    with pytest.raises(CorpusError) as caught:
        documents(corpus)
    assert str(caught.value) == (
        "memory://corpus/a.txt could be read only up to byte 7: the file should have 16 bytes, but ends earlier. "
        "Check the connection and try again."
    )
