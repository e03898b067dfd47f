"""Plain files: encodings, invalid bytes, what is no text, compression, folders."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import random
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.errors import Cancelled, EncodingError
from bpe_core.text.corpus import Corpus
from bpe_core.text.reading.files import texts_in
from bpe_core.text.reading.skipped import SHOWN_PER_SOURCE, SkipLog
from bpe_core.text.reading.source import ReadingOptions
from bpe_core.text.reading.utf8 import cut_points, first_invalid, whole_characters
from tests import permissions
from tests.core.reading_texts import documents, read, sentence, write

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TEXT = "Ünïcode 😀 text\r\nwith ſeveral lines\n" * 50
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1}),
}
NEARLY_UTF8 = st.lists(
    st.sampled_from(
        [b"a", "é".encode(), "€".encode(), "😀".encode(), b"\x80", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xff"]
    )
    | st.sampled_from([b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe0\x80\x80"])
    | st.binary(max_size=3)
).map(b"".join)


# --- UTF-8 and its two questions -----------------------------------------------------------


@given(NEARLY_UTF8)
def test_first_invalid_is_where_python_finds_it(data: bytes) -> None:
    try:
        data.decode()
        expected = -1
    except UnicodeDecodeError as error:
        expected = error.start
    assert first_invalid(data) == first_invalid(memoryview(data)) == first_invalid(bytearray(data)) == expected


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 30))
def test_valid_text_is_cut_between_characters(text: str, length: int) -> None:
    data = text.encode()
    cut = whole_characters(data[:length])
    assert length - 3 <= cut <= length or cut == len(data)
    assert first_invalid(data[:cut]) == -1


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(4, 9))
def test_cut_points_reach_every_byte_once(text: str, size: int) -> None:
    data = text.encode()
    cuts = cut_points(data, size)
    parts = [data[a:b] for a, b in pairwise(cuts)]
    assert b"".join(parts) == data
    assert all(len(part) <= size and first_invalid(part) == -1 for part in parts)


@given(data=NEARLY_UTF8, padding=st.integers(0, 70), size=st.integers(1, 70))
def test_invalid_bytes_are_treated_as_if_the_file_were_read_at_once(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, padding: int, size: int
) -> None:
    data = b"x" * padding + data.replace(b"\0", b"")
    path = write(tmp_path_factory.mktemp("bad"), "a.txt", b"start" + data)
    assert "".join(read(path, size, on_invalid="replace")) == "start" + data.decode("utf-8", "replace")
    assert "".join(read(path, size, on_invalid="skip")) == "start" + data.decode("utf-8", "ignore")
    bad = first_invalid(data)
    if bad < 0:
        assert "".join(read(path, size)) == "start" + data.decode()
    else:
        assert f"at offset {bad + 5:,}." in sentence(path, error=EncodingError)


def test_an_invalid_byte_is_named_with_file_place_and_advice(tmp_path: Path) -> None:
    path = write(tmp_path, "latin.txt", b"a" * 5_000_000 + "né".encode("latin-1") + b"!")
    assert sentence(path, error=EncodingError) == (
        f"{path} is not valid UTF-8: byte 0xE9 at offset 5,000,001. "
        "Give the encoding it was written in (such as cp1252), or choose to replace or skip invalid bytes."
    )


def test_a_character_cut_off_by_the_end_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "cut.txt", "x" * 100 + "€")
    path.write_bytes(path.read_bytes()[:-1])
    assert "byte 0xE2 at offset 100" in sentence(path)


@pytest.mark.parametrize(
    ("choice", "text", "report"),
    [
        ("replace", "a�b��c�", "3 places that are not UTF-8 replaced by �, the first at byte 1"),
        ("skip", "ab�c", "4 bytes that are not UTF-8 left out, the first at byte 1"),
    ],
)
def test_mended_bytes_are_counted(tmp_path: Path, choice: str, text: str, report: str) -> None:
    path = write(tmp_path, "a.txt", b"a\xffb\xff" + "�".encode() + b"c\xe2\x82")
    corpus = Corpus.from_files(path, on_invalid=choice)  # type: ignore[arg-type]
    assert documents(corpus) == [text]
    assert [(skipped.source, skipped.sentence) for skipped in corpus.skipped] == [(str(path), report)]


def test_a_file_of_nothing_but_bad_bytes(tmp_path: Path) -> None:
    assert read(write(tmp_path, "a.txt", b"\xff\xff\xff"), on_invalid="skip") == []


def test_many_reports_are_summed_up(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", (b"\xff" + b"a" * 63) * 200)
    corpus = Corpus.from_files(path, on_invalid="skip")
    documents(corpus, 64)
    assert len(corpus.skipped) == SHOWN_PER_SOURCE + 1
    assert corpus.skipped[-1].sentence == f"and {200 - SHOWN_PER_SOURCE} more"


# --- Other encodings -------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("size", [1, 64, 65, 1 << 20])
def test_a_byte_order_mark_tells_the_encoding(tmp_path: Path, encoding: str, size: int) -> None:
    path = write(tmp_path, "a.txt", TEXT.encode(encoding))
    assert "".join(read(path, size)) == TEXT
    assert Corpus.from_files(path).sources[0].encoding == encoding


@pytest.mark.parametrize("encoding", ["utf-16-be", "utf-32-be"])
def test_big_endian_byte_order_marks(tmp_path: Path, encoding: str) -> None:
    assert read(write(tmp_path, "a.txt", ("\ufeff" + TEXT).encode(encoding))) == [TEXT]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "“naïve” €" * 40),
        ("shift_jis", "吾輩は猫である。" * 40),
        ("gb18030", "红楼梦😀" * 40),
        ("utf-16-le", TEXT),
    ],
)
@pytest.mark.parametrize("size", [1, 67, 1 << 20])
def test_a_named_encoding(tmp_path: Path, encoding: str, text: str, size: int) -> None:
    path = write(tmp_path, "a.txt", text.encode(encoding))
    assert "".join(read(path, size, encoding=encoding)) == text


def test_a_byte_order_mark_outweighs_the_encoding_named(tmp_path: Path) -> None:
    first = write(tmp_path, "a.txt", "né".encode("cp1252"))
    second = write(tmp_path, "b.txt", "né".encode("utf-16"))
    assert read([first, second], encoding="cp1252") == ["né", "né"]


@pytest.mark.parametrize("size", [1, 64, 99, 1 << 20])
@pytest.mark.parametrize("text", ["x" * 300, "猫" * 150])
def test_bytes_invalid_in_another_encoding(tmp_path: Path, size: int, text: str) -> None:
    encoded = text.encode("shift_jis")
    path = write(tmp_path, "a.txt", encoded + b"\xff" + encoded)
    told = sentence(path, encoding="shift_jis", size=size, error=EncodingError)
    assert f"{path} is not valid shift_jis" in told
    assert "byte 0xFF at offset 300." in told
    assert "".join(read(path, size, encoding="shift_jis", on_invalid="skip")) == text * 2
    corpus = Corpus.from_files(path, encoding="shift_jis", on_invalid="replace")
    assert "".join(documents(corpus, size)) == text + "�" + text
    assert "the first at byte 300" in corpus.skipped[0].sentence


def test_utf_16_that_is_cut_off(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "long enough".encode("utf-16")[:-1])
    assert "not valid utf-16: truncated data, byte 0x68 at offset 22" in sentence(path, error=EncodingError)
    assert read(path, on_invalid="skip") == ["long enoug"]


@pytest.mark.parametrize("encoding", ["klingon", "rot13", "hex", "a\0b", "ü"])
def test_an_unknown_encoding(tmp_path: Path, encoding: str) -> None:
    told = sentence(write(tmp_path, "a.txt", "low"), encoding=encoding, error=EncodingError)
    assert f"no encoding named {encoding!r}" in told


# --- What is no text -------------------------------------------------------------------


def test_a_missing_file(tmp_path: Path) -> None:
    assert sentence(tmp_path / "gone.txt") == f"{tmp_path / 'gone.txt'} does not exist."


@pytest.mark.parametrize("content", [b"", "\ufeff".encode(), "\ufeff".encode("utf-16-le")])
def test_an_empty_file(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path, "empty.txt", content)
    assert sentence(path) == f"{path} is empty: there is no text in it."


@pytest.mark.skipif(os.name != "posix", reason="files are locked otherwise there")
def test_an_unreadable_file(tmp_path: Path) -> None:
    path = write(tmp_path, "locked.txt", "low")
    path.chmod(0)
    with permissions.obeyed():
        told = f"{path} cannot be opened: permission denied."
        assert sentence(path) == told
        assert sentence(tmp_path) == told


def test_a_permission_refused_while_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "locked.txt", "low")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    assert sentence(path) == f"{path} cannot be opened: permission denied."


def test_an_impossible_path(tmp_path: Path) -> None:
    assert "a\\x00b" in sentence("a\0b")
    assert "cannot be" in sentence("x" * 5000)


@pytest.mark.parametrize(
    ("content", "description"),
    [
        (b"\x89PNG\r\n\x1a\n", "a picture"),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"PK\x03\x04", "a zip archive"),
        (gzip.compress(b"low", mtime=0), "gzip data; let its name end in .gz"),
        (b"low\0er", "byte 3 is zero"),
        ("low".encode("utf-16-le"), "give the encoding"),
    ],
)
def test_a_binary_file(tmp_path: Path, content: bytes, description: str) -> None:
    path = write(tmp_path, "a.txt", content)
    told = sentence(path)
    assert told.startswith(f"{path} is not a text file: ")
    assert description in told


def test_a_zero_byte_deep_inside_a_text_is_a_character_like_any_other(tmp_path: Path) -> None:
    text = "a" * 100_000 + "\0b"
    assert read(write(tmp_path, "a.txt", text)) == [text]


def test_a_path_that_is_not_valid_text_can_be_shown(tmp_path: Path) -> None:
    told = sentence(str(tmp_path / os.fsdecode(b"caf\xe9.txt")))
    told.encode()
    assert told.endswith("does not exist.")


# --- Compressed files -------------------------------------------------------------------


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_compressed_files(tmp_path: Path, ending: str) -> None:
    compressed = COMPRESSORS[ending]((TEXT * 300).encode())
    corpus = Corpus.from_files(write(tmp_path, f"a.txt{ending}", compressed))
    assert documents(corpus, 100_000) == [TEXT * 300]
    assert corpus.total_size == len(compressed)
    progress = [chunk.bytes_read for chunk in corpus.chunks(100_000)]
    assert progress == sorted(progress)
    assert progress[-1] == len(compressed)


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_several_compressed_parts_in_one_file(tmp_path: Path, ending: str) -> None:
    compress = COMPRESSORS[ending]
    assert read(write(tmp_path, f"a{ending}", compress(b"low ") + compress(b"lower"))) == ["low lower"]


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_a_truncated_compressed_file(tmp_path: Path, ending: str) -> None:
    noise = os.urandom(300_000).hex().encode()
    compressed = COMPRESSORS[ending](noise)
    path = write(tmp_path, f"a{ending}", compressed[: len(compressed) * 2 // 3])
    told = sentence(path)
    assert told.startswith(f"{path} ends too early: its ")
    assert "data is cut off" in told


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_what_only_claims_to_be_compressed(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path, f"a{ending}", "just a plain text " * 20)
    told = sentence(path)
    assert told.startswith(f"{path} is not sound ")
    assert "another name ending" in told


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("ending", COMPRESSORS)
def test_a_damaged_compressed_file(tmp_path: Path, ending: str, seed: int) -> None:
    """Whatever nonsense it unpacks to before the damage is found, such as bytes that are no text."""
    compressed = bytearray(COMPRESSORS[ending](random.Random(seed).randbytes(300_000).hex().encode()))
    middle = len(compressed) // 2
    compressed[middle : middle + 64] = bytes(64)
    path = write(tmp_path, f"a{ending}", bytes(compressed))
    told = sentence(path)
    assert told.startswith(f"{path} is not sound ")


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_an_empty_compressed_file(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path, f"a{ending}", COMPRESSORS[ending](b""))
    assert sentence(path) == f"{path} is empty: there is no text in it."


def test_an_invalid_byte_in_a_compressed_file_is_placed_in_its_text(tmp_path: Path) -> None:
    path = write(tmp_path, "a.gz", gzip.compress(b"a" * 70_000 + b"\xff"))
    assert "offset 70,000 of the decompressed text" in sentence(path, error=EncodingError)


def test_zstd_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "backports", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    path = write(tmp_path, "a.zst", zstd.compress(b"low"))
    assert sentence(path) == f"{path} cannot be read: this Python lacks zstd. Install the package backports.zstd."


# --- Folders ----------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.txt", "a.txt", "c.md", "sub/d.txt", "sub/deep/e.txt", ".hidden.txt", ".git/config", "sub-x/f.txt"):
        write(tmp_path, name, name)
    return tmp_path


def test_a_folder_is_read_in_order_without_hidden_files(folder: Path) -> None:
    expected = ["a.txt", "b.txt", "c.md", "sub/d.txt", "sub/deep/e.txt", "sub-x/f.txt"]
    assert read(folder) == expected
    assert read(str(folder) + os.sep) == expected


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["*.md"], ["c.md"]),
        (["*.md", "a.*"], ["a.txt", "c.md"]),
        (["sub/*.txt"], ["sub/d.txt", "sub/deep/e.txt"]),
    ],
)
def test_patterns_choose_files(folder: Path, patterns: list[str], expected: list[str]) -> None:
    assert read(folder, file_patterns=patterns) == expected


def test_a_folder_without_a_matching_file(folder: Path) -> None:
    assert sentence(folder, file_patterns=["*.rst", "*.tex"]) == (
        f"There is no file matching *.rst, *.tex in the folder {folder}."
    )


def test_what_is_no_text_in_a_folder_is_reported(folder: Path) -> None:
    picture = write(folder, "picture.png", b"\x89PNG\0")
    empty = write(folder, "empty.txt", b"")
    corpus = Corpus.from_files(folder)
    assert len(corpus.sources) == 6
    assert [(skipped.source, skipped.sentence) for skipped in corpus.skipped] == [
        (str(empty), f"{empty} is empty: there is no text in it."),
        (str(picture), f"{picture} is not a text file: it looks like a picture."),
    ]


def test_a_folder_of_nothing_but_pictures(tmp_path: Path) -> None:
    write(tmp_path, "picture.png", b"\x89PNG\0")
    told = sentence(tmp_path)
    assert told.startswith(f"There is no text file in the folder {tmp_path}.")
    assert "picture.png" in told


def test_an_unreadable_file_in_a_folder_is_not_passed_over(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    real_open = open

    def refuse(path: Path, *arguments: object, **choices: object) -> object:
        if Path(path).name == "a.txt":
            raise PermissionError(13, "Permission denied")
        return real_open(path, *arguments, **choices)  # type: ignore[call-overload]

    monkeypatch.setattr("builtins.open", refuse)
    assert sentence(folder) == f"{folder / 'a.txt'} cannot be opened: permission denied."


def test_a_folder_of_nothing_at_all(tmp_path: Path) -> None:
    assert sentence(tmp_path) == f"There is no file in the folder {tmp_path}."


def listed(folder: Path) -> tuple[list[str], list[str]]:
    """What a window shows: the texts of a folder, and what it tells of the rest."""
    log = SkipLog()
    texts = texts_in(folder, ("*",), ReadingOptions(), log, is_strict=False)
    return [Path(text.name).name for text in texts], [report.sentence for report in log.reports()]


def test_links_in_a_circle_are_told_and_not_followed(folder: Path) -> None:
    try:
        (folder / "sub" / "again").symlink_to(folder, target_is_directory=True)
        (folder / "round.txt").symlink_to(folder / "round.txt")
        (folder / "nowhere.txt").symlink_to(folder / "gone.txt")
    except OSError:
        return  # this system or user may not make links
    assert len(read(folder)) == 6
    assert listed(folder)[1] == [f"{folder / 'sub' / 'again'} is a link to a folder, and such links are not followed."]


def test_an_unreadable_folder_in_a_folder_is_refused_or_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_scandir = os.scandir

    def refuse(path: str) -> object:
        if Path(path).name == "sub":
            raise PermissionError(13, "Permission denied", path)
        return real_scandir(path)

    monkeypatch.setattr("os.scandir", refuse)
    told = f"The folder {folder / 'sub'} cannot be opened: permission denied."
    assert sentence(folder) == told
    assert listed(folder) == (["a.txt", "b.txt", "c.md", "f.txt"], [told])


def test_what_vanishes_while_a_folder_is_listed_is_told_and_the_rest_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_scandir, real_open = os.scandir, open

    def scan(path: str) -> object:
        if Path(path).name == "deep":
            Path(path, "e.txt").unlink()
            Path(path).rmdir()
        return real_scandir(path)

    def vanish(path: Path, *arguments: object, **choices: object) -> object:
        if Path(path).name == "a.txt":
            Path(path).unlink(missing_ok=True)
        return real_open(path, *arguments, **choices)  # type: ignore[call-overload]

    monkeypatch.setattr("os.scandir", scan)
    monkeypatch.setattr("builtins.open", vanish)
    corpus = Corpus.from_files(folder)
    assert [Path(source.name).name for source in corpus.sources] == ["b.txt", "c.md", "d.txt", "f.txt"]
    assert [skipped.sentence for skipped in corpus.skipped] == [
        f"The folder {folder / 'sub' / 'deep'} does not exist.",
        f"{folder / 'a.txt'} does not exist.",
    ]


def test_looking_through_a_folder_can_be_stopped(folder: Path) -> None:
    with pytest.raises(Cancelled):
        texts_in(folder, ("*",), ReadingOptions(), SkipLog(), cancelled=lambda: True)


def _remove_nested(folder: Path) -> None:
    """From the inside: what removes whole trees calls itself for each folder."""
    os.chdir(folder)
    depth = 0
    while Path("d").is_dir():
        os.chdir("d")
        depth += 1
    for _ in range(depth):
        Path("b.txt").unlink(missing_ok=True)
        os.chdir("..")
        Path("d").rmdir()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no paths so deep")
def test_folders_nested_a_thousand_deep(tmp_path: Path) -> None:
    """What the system has no name for is told; the rest is read."""
    (tmp_path / "a.txt").write_text("low")
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        for depth in range(2_100):
            Path("d").mkdir()
            os.chdir("d")
            if depth == 1_200:
                Path("b.txt").write_text("lower")
        os.chdir(before)
        found, told = listed(tmp_path)
    finally:
        _remove_nested(tmp_path)
        os.chdir(before)
    assert [Path(name).name for name in found] == ["a.txt", "b.txt"]
    assert len(told) == 1
    assert "cannot be read" in told[0]
    assert len(told[0]) < 700


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_into_a_folder_that_may_not_be_looked_into(tmp_path: Path, folder: Path) -> None:
    locked = tmp_path / ".locked"
    (locked / "inner").mkdir(parents=True)
    (locked / "inner" / "c.txt").write_text("low")
    (folder / "link").symlink_to(locked / "inner")
    (folder / "text.txt").symlink_to(locked / "inner" / "c.txt")
    locked.chmod(0)
    try:
        with permissions.obeyed():
            found, told = listed(folder)
    finally:
        locked.chmod(0o700)
    assert sorted(found) == ["a.txt", "b.txt", "c.md", "d.txt", "e.txt", "f.txt"]
    assert sorted(told) == [f"{folder / name} cannot be opened: permission denied." for name in ("link", "text.txt")]
