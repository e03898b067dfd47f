"""Tests of folders: the order of files, which files are read, and the reasons for skipped files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bpe_core.errors import Cancelled
from bpe_core.text.corpus import Corpus
from bpe_core.text.reading.files import texts_in
from bpe_core.text.reading.source import ReadingOptions, SkipLog
from tests import permissions
from tests.core.corpus_files import read, sentence, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.txt", "a.txt", "c.md", "sub/d.txt", "sub/deep/e.txt", ".hidden.txt", ".git/config", "sub-x/f.txt"):
        write(tmp_path, name, name)
    return tmp_path


def test_a_folder_is_read_in_sorted_order_without_hidden_files(folder: Path) -> None:
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
def test_file_patterns_choose_the_files_of_a_folder(folder: Path, patterns: list[str], expected: list[str]) -> None:
    assert read(folder, file_patterns=patterns) == expected


def test_a_folder_without_a_file_that_matches_the_patterns_is_refused(folder: Path) -> None:
    assert sentence(folder, file_patterns=["*.rst", "*.tex"]) == (
        f"There is no file matching *.rst, *.tex in the folder {folder}."
    )


def test_files_of_a_folder_that_are_not_texts_are_skipped_and_reported(folder: Path) -> None:
    picture = write(folder, "picture.png", b"\x89PNG\0")
    empty = write(folder, "empty.txt", b"")
    corpus = Corpus.from_files(folder)
    assert len(corpus.sources) == 6
    assert [(skipped.source, skipped.sentence) for skipped in corpus.skipped] == [
        (str(empty), f"{empty} is empty: there is no text in it."),
        (str(picture), f"{picture} is not a text file: it looks like a picture."),
    ]


def test_a_folder_that_contains_only_pictures_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "picture.png", b"\x89PNG\0")
    message = sentence(tmp_path)
    assert message.startswith(f"There is no text file in the folder {tmp_path}.")
    assert "picture.png" in message


def test_an_unreadable_file_in_a_folder_is_reported_as_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    real_open = open

    def refuse(path: Path, *arguments: object, **choices: object) -> object:
        if Path(path).name == "a.txt":
            raise PermissionError(13, "Permission denied")
        return real_open(path, *arguments, **choices)  # type: ignore[call-overload]

    monkeypatch.setattr("builtins.open", refuse)
    assert sentence(folder) == f"{folder / 'a.txt'} cannot be opened: permission denied."


def test_using_an_empty_folder_as_a_corpus_is_refused(tmp_path: Path) -> None:
    assert sentence(tmp_path) == f"There is no file in the folder {tmp_path}."


def list_folder(folder: Path) -> tuple[list[str], list[str]]:
    """Return the names of a folder's texts and the messages about skipped files, as the window shows them."""
    log = SkipLog()
    texts = texts_in(folder, ("*",), ReadingOptions(), log, is_strict=False)
    return [Path(text.name).name for text in texts], [report.sentence for report in log.reports()]


def test_circular_links_in_a_folder_are_reported_and_not_followed(folder: Path) -> None:
    try:
        (folder / "sub" / "again").symlink_to(folder, target_is_directory=True)
        (folder / "round.txt").symlink_to(folder / "round.txt")
        (folder / "nowhere.txt").symlink_to(folder / "gone.txt")
    except OSError:
        return  # this system or user may not make links
    assert len(read(folder)) == 6
    assert list_folder(folder)[1] == [
        (
            f"{folder / 'sub' / 'again'} is a link to a folder, and links to folders are not followed; name the folder "
            "itself."
        )
    ]


def test_an_unreadable_subfolder_is_refused_or_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_scandir = os.scandir

    def refuse(path: str) -> object:
        if Path(path).name == "sub":
            raise PermissionError(13, "Permission denied", path)
        return real_scandir(path)

    monkeypatch.setattr("os.scandir", refuse)
    message = f"The folder {folder / 'sub'} cannot be opened: permission denied."
    assert sentence(folder) == message
    assert list_folder(folder) == (["a.txt", "b.txt", "c.md", "f.txt"], [message])


def test_files_that_disappear_while_a_folder_is_listed_are_reported_and_other_files_are_read(
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


def test_listing_the_files_of_a_folder_can_be_cancelled(folder: Path) -> None:
    with pytest.raises(Cancelled):
        texts_in(folder, ("*",), ReadingOptions(), SkipLog(), cancelled=lambda: True)


def _remove_nested(folder: Path) -> None:
    """Remove nested folders, the innermost folder first.

    Functions that remove whole trees are recursive, and these folders may be nested too deeply for them.
    """
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
def test_folders_nested_a_thousand_deep_are_read_or_reported(tmp_path: Path) -> None:
    """Files too deep for a path on this system are reported, and the others are read."""
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
        names, messages = list_folder(tmp_path)
    finally:
        _remove_nested(tmp_path)
        os.chdir(before)
    assert [Path(name).name for name in names] == ["a.txt", "b.txt"]
    assert len(messages) == 1
    assert "cannot be read" in messages[0]
    assert len(messages[0]) < 700


@pytest.mark.skipif(os.name == "nt", reason="on Windows links need rights of their own")
def test_a_link_in_a_folder_to_an_unreadable_folder_is_reported(tmp_path: Path, folder: Path) -> None:
    locked = tmp_path / ".locked"
    (locked / "inner").mkdir(parents=True)
    (locked / "inner" / "c.txt").write_text("low")
    (folder / "link").symlink_to(locked / "inner")
    (folder / "text.txt").symlink_to(locked / "inner" / "c.txt")
    locked.chmod(0)
    try:
        with permissions.permissions_for_root():
            names, messages = list_folder(folder)
    finally:
        locked.chmod(0o700)
    assert sorted(names) == ["a.txt", "b.txt", "c.md", "d.txt", "e.txt", "f.txt"]
    assert sorted(messages) == [
        f"{folder / name} cannot be opened: permission denied." for name in ("link", "text.txt")
    ]
