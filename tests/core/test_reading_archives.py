"""Tests of archives of texts: which members are read, and which messages a hostile or broken archive gives."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from bpe_core.counting.count_words import count_words
from bpe_core.errors import EncodingError
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.methods.kit.encode_corpus import encode_corpus
from bpe_core.methods.kit.encode_documents import encode_documents
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.support import limits
from bpe_core.support.progress import Progress, Work
from bpe_core.text.corpus import Corpus
from bpe_core.text.reading import archives
from tests.core.corpus_files import documents, sentence, write
from tests.core.tables_on_disk import write_tar

FILES = {
    "b.txt": b"low lower",
    "folder/a.jsonl": b'{"text": "one"}\n{"text": "two"}\n',
    ".hidden": b"x",
    "__MACOSX/b.txt": b"x",
    "picture.png": b"\x89PNG\0",
    "empty.txt": b"",
    "../evil.txt": b"evil",
    "/etc/evil.txt": b"evil",
    "C:/evil.txt": b"evil",
    "inner.zip": b"PK\3\4",
    "table.parquet": b"PAR1",
}
LEFT_OUT = [
    "picture.png is not a text file: it looks like a picture.",
    "empty.txt is empty: there is no text in it.",
    *[f"{name}: the path of this file leads out of the archive, so the file is not read." for name in list(FILES)[6:9]],
    *[
        f"{name}: archives and tables inside an archive are not read; take this file out first."
        for name in ("inner.zip", "table.parquet")
    ],
]


def write_zip(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_members_of_an_archive_are_read_according_to_their_kind_and_unreadable_members_are_reported(
    tmp_path: Path,
) -> None:
    link = tarfile.TarInfo("link.txt")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    write_tar(tmp_path / "a.tar", FILES, link)
    write_tar(tmp_path / "a.tgz", FILES, link)
    write_zip(tmp_path / "a.zip", FILES)
    for name, more in (("a.tar", 1), ("a.tgz", 1), ("a.zip", 0)):
        path = tmp_path / name
        corpus = Corpus.from_files(path)
        assert documents(corpus, 4) == ["low lower", "one", "two"]
        notes = LEFT_OUT + ["link.txt: this is a link or a device, which is not read."] * more
        assert [str(skipped) for skipped in corpus.skipped] == [f"{path}: {sentence}" for sentence in notes]
        assert [chunk.bytes_read for chunk in corpus.chunks()][-1] <= path.stat().st_size
    assert documents(Corpus.from_files(tmp_path / "a.zip"))  # the archive can be read again and again
    write_zip(tmp_path / "b.zip", {"a.txt": b"low", "b.txt": b"l\xf6w"})
    assert "b.zip: b.txt is not valid UTF-8" in sentence(tmp_path / "b.zip", error=EncodingError)


def test_hostile_and_damaged_zip_and_tar_archives_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_zip(tmp_path / "a.zip", {"a.txt": b"low lower lowest"})
    whole = path.read_bytes()
    entry = whole.index(b"PK\1\2")
    encrypted = bytearray(whole)
    encrypted[6] |= 1
    encrypted[entry + 8] |= 1
    message = sentence(write(tmp_path, "b.zip", bytes(encrypted)))
    assert message.startswith(f"There is no text in the archive {tmp_path / 'b.zip'}.")
    assert message.endswith("a.txt: the file is encrypted; unpack it yourself.")
    changed = bytearray(whole)
    changed[14:18] = changed[entry + 16 : entry + 20] = b"\0\0\0\0"  # the checksum
    write_tar(tmp_path / "a.tar", {"a.txt": b"low" * 999})
    write_tar(tmp_path / "a.tgz", {"a.txt": b"low" * 999})
    for name, content in (
        ("c.zip", bytes(changed)),
        ("d.zip", whole[:-30]),
        ("g.zip", whole[:35] + whole[40:]),
        ("e.zip", b""),
        ("f.zip", b"low lower"),
        ("c.tar", (tmp_path / "a.tar").read_bytes()[:600]),
        ("d.tar", b"low lower" * 99),
        ("e.tar", b""),
    ):
        where = write(tmp_path, name, content)
        kind = name[2:]
        assert sentence(where) == (
            f"{where} is not a valid {kind} archive, or a part of it is missing. Copy or download it again."
        )
    corpus = Corpus.from_files(write(tmp_path, "f.tar", (tmp_path / "a.tar").read_bytes()[:3584]))
    assert len(documents(corpus)) == 1, "the first of perhaps many"
    assert "f.tar lacks the end mark of its format" in str(corpus.skipped[0])
    assert "its gzip data is truncated" in sentence(write(tmp_path, "c.tgz", (tmp_path / "a.tgz").read_bytes()[:90]))
    monkeypatch.setattr(limits, "HARMLESS", 100_000)
    bomb = {"a.txt": b"a" * 1_000_000}
    write_tar(tmp_path / "bomb.tgz", bomb)
    for where in (write_zip(tmp_path / "bomb.zip", bomb), tmp_path / "bomb.tgz"):
        assert sentence(where).startswith(f"{where} unpacks to more than 250 times its size")


def test_overlong_member_names_in_an_archive_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program reads members in parts, but it holds the whole name of a member in memory."""
    monkeypatch.setattr(archives, "LONGEST_NOTE", 5_000)
    for length, is_read in ((300, True), (6_000, False)):
        path = tmp_path / f"{length}.tgz"
        write_tar(path, {f"{'a' * length}.txt": b"low lower"})
        if is_read:
            assert documents(Corpus.from_files(path)) == ["low lower"]
        else:
            assert "is not a valid tar archive" in sentence(path)


def test_reading_progress_of_an_archive_with_many_small_members_grows_evenly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names take up most of the archive, and no byte of a name is read as a text."""
    members = {f"a folder with a long name/{number:06}.txt": b"low" for number in range(2_000)}
    path = write_zip(tmp_path / "many.zip", members)
    monkeypatch.setattr(archives, "MOST_TOGETHER", 10)
    reports: list[Progress] = []
    count_words(Corpus.from_files(path), Recipe.preset("gpt2"), Work(reports.append))
    size = path.stat().st_size
    counting = [report.done for report in reports if report.stage == "counting"]
    assert counting == sorted(counting)
    assert len(counting) >= len(members) // 10
    assert counting[0] < 0.01 * size
    assert abs(counting[len(counting) // 2] - size / 2) < 0.02 * size
    assert counting[-1] == size


@pytest.mark.parametrize("is_together", [True, False])
def test_small_texts_of_a_zip_file_are_read_together_and_stay_separate_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_together: bool
) -> None:
    """In an older version, reading a zip file with very many members took 26 seconds."""
    texts = {f"{number}.txt": f"low {'é' * (number % 7)}\n" * (number % 3) for number in range(40)}
    members = {name: text.encode() for name, text in texts.items()} | {
        "9.mark.txt": "\ufeffmarked".encode(),
        "9.wide.txt": "wide".encode("utf-16"),
        "9.rows.jsonl": b'{"text": "row"}\n',
        "9.picture.png": b"\x89PNG\0",
        "9.long.txt": b"longer " * 20_000,
    }
    with zipfile.ZipFile(tmp_path / "texts.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(members):
            archive.writestr(name, members[name])
    if not is_together:
        monkeypatch.setattr(archives, "READ_AT_ONCE", -1)
    corpus = Corpus.from_files(tmp_path / "texts.zip")
    chunks = [*corpus.chunks(several=True)]
    assert (len(chunks) < 20) == is_together
    expected = [texts[name] for name in sorted(texts) if texts[name]]
    found = [*corpus.documents()]
    assert sorted(found) == sorted([*expected, "marked", "wide", "row", "longer " * 20_000])
    assert [text for text in found if text in expected] == expected
    assert any("0.txt is empty" in str(note) for note in corpus.skipped)


def test_the_error_for_invalid_text_in_a_small_member_of_a_zip_file_names_the_member(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "texts.zip", "w") as archive:
        archive.writestr("a.txt", b"low")
        archive.writestr("b.txt", b"low \xff")
    with pytest.raises(EncodingError, match=r"b\.txt"):
        documents(Corpus.from_files(tmp_path / "texts.zip"))


@pytest.mark.parametrize("work_on", ["counting", "encoding", "documents"])
def test_progress_is_reported_before_a_large_archive_is_opened(
    work_on: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", b"low lower " * 110_000)
    corpus = Corpus.from_files(path)
    events: list[str] = []
    opened = zipfile.ZipFile.__init__

    def noted(archive: zipfile.ZipFile, *given: Any, **named: Any) -> None:
        events.append("opened")
        opened(archive, *given, **named)

    monkeypatch.setattr(zipfile.ZipFile, "__init__", noted)
    work = Work(progress=lambda at: events.append(f"{at.done:,}"))
    if work_on == "counting":
        count_words(corpus, Recipe.preset("gpt2"), work)
    else:
        tokenizer = Tokenizer(History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), []))
        if work_on == "encoding":
            encode_corpus(corpus, tokenizer, tmp_path / "ids.npy", progress=work.progress)
        else:
            encode_documents(corpus, tokenizer, tmp_path / "shards", work=work)
    assert events[:2] == ["0", "opened"]
    assert events[-1] == f"{path.stat().st_size:,}"
