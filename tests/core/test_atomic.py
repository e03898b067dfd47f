"""Tests of file replacement: a file has either the old or the new content, and temporary files of a killed writer are
removed.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bpe_core.errors import OutputError
from bpe_core.formats import open_table, write_history
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.writing import write_session
from bpe_core.support import lock
from bpe_core.support.atomic import (
    STREAMS,
    files_in,
    folder_for,
    path_to_read,
    place_immediately,
    replace_atomically,
    reserve,
    write_atomically,
    write_together,
)
from bpe_core.support.journal import complete_all_in
from bpe_core.support.lock import Lock
from tests.core.formats.samples import learn_text
from tests.core.session_file.sessions import RECIPES, run_of, session
from tests.shared import PATIENCE, ROOT

posix_only = pytest.mark.skipif(os.name != "posix", reason="Windows kills processes in another way")

WRITER = """
import sys
from bpe_core.support.atomic import write_atomically
with write_atomically(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("written", flush=True)
    sys.stdin.read()
"""


def writer(target: Path) -> subprocess.Popen[str]:
    """Start a process that stops in the middle of writing. It continues when its input ends."""
    command = [sys.executable, "-c", WRITER, str(target)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "written\n"
    return process


def end(process: subprocess.Popen[str]) -> int:
    process.communicate(timeout=PATIENCE)
    return process.returncode


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(target: Path, content: bytes) -> None:
    with write_atomically(target) as file:
        file.write(content)


@posix_only
@pytest.mark.parametrize("name", ["merges.csv", "日本語" * 28, "a" * 255, "é.a[b]*?"])
def test_temporary_files_of_a_killed_writer_are_removed_by_the_next_writer(tmp_path: Path, name: str) -> None:
    target = tmp_path / name
    target.write_bytes(b"old")
    with writer(target) as killed:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    assert target.read_bytes() == b"old"
    assert len(names(tmp_path)) == 2
    write(target, b"new")
    assert target.read_bytes() == b"new"
    assert names(tmp_path) == [name]


@posix_only
def test_temporary_files_of_a_running_writer_are_not_removed(tmp_path: Path) -> None:
    target = tmp_path / "merges.csv"
    with writer(target) as living:
        write(target, b"by another")
        assert len(names(tmp_path)) == 2
        assert target.read_bytes() == b"by another"
        assert end(living) == 0
    assert target.read_bytes() == b"half"
    assert names(tmp_path) == ["merges.csv"]


def test_two_writers_of_one_file_in_one_process_do_not_disturb_each_other(tmp_path: Path) -> None:
    target = tmp_path / "merges.csv"
    with write_atomically(target) as file:
        file.write(b"first begun")
        thread = threading.Thread(target=write, args=(target, b"second begun"))
        thread.start()
        thread.join()
        assert target.read_bytes() == b"second begun"
    assert target.read_bytes() == b"first begun"
    assert names(tmp_path) == ["merges.csv"]


def test_files_named_similarly_to_a_temporary_file_are_not_removed(tmp_path: Path) -> None:
    others = [".merges.csv.0123456789abcdef.part.txt", ".merges.csv.part", ".other.csv.0123456789abcdef.part"]
    for name in others:
        (tmp_path / name).write_text("of others")
    (tmp_path / ".merges.csv.0123456789abcdef.part").mkdir()
    write(tmp_path / "merges.csv", b"new")
    assert {*others, "merges.csv", ".merges.csv.0123456789abcdef.part"} == set(names(tmp_path))


@posix_only
def test_a_link_named_like_a_temporary_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / ".merges.csv.0123456789abcdef.part").symlink_to(tmp_path / "precious")
    write(tmp_path / "merges.csv", b"new")
    assert (tmp_path / "precious").read_text() == "precious"


TO_ITS_OUTPUT = """
from bpe_core.support.atomic import write_atomically
print("begun, ", end="", flush=True)
with write_atomically("/dev/stdout") as file:
    file.write(b"written, ")
print("told", end="")
"""


@posix_only
@pytest.mark.parametrize(("mode", "kept"), [("ab", b"old, "), ("wb", b"")])
def test_writing_to_a_log_that_is_also_the_standard_output_appends_to_the_log(
    tmp_path: Path, mode: str, kept: bytes
) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"old, ")
    with open(log, mode) as output:
        subprocess.run([sys.executable, "-c", TO_ITS_OUTPUT], cwd=ROOT, stdout=output, check=True)
    assert log.read_bytes() == kept + b"begun, written, told"
    assert names(tmp_path) == ["log"]


def fail_while_writing(target: Path, error: BaseException) -> None:
    with write_atomically(target) as file:
        file.write(b"half")
        raise error


def test_a_failed_write_leaves_the_old_file_and_no_temporary_file(tmp_path: Path) -> None:
    target = tmp_path / "merges.csv"
    target.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        fail_while_writing(target, KeyboardInterrupt())
    with pytest.raises(OutputError, match="unchanged"):
        fail_while_writing(target, OSError(28, "No space left on device"))
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["merges.csv"]


@pytest.mark.parametrize("opened", [write_atomically, replace_atomically, folder_for])
def test_a_signal_just_after_a_temporary_file_is_made_leaves_no_file(
    opened: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = lock._take

    def take_and_hear(handle: int) -> bool:
        signal.raise_signal(signal.SIGINT)
        return take(handle)

    monkeypatch.setattr(lock, "_take", take_and_hear)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), opened(tmp_path / "made"):
            pass
    finally:
        signal.signal(signal.SIGINT, before)
    assert [*tmp_path.iterdir()] == []


def test_a_temporary_file_that_cannot_be_renamed_is_removed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError), replace_atomically(tmp_path / "folder") as beside:
        beside.touch()
    assert names(tmp_path) == ["folder"]


def test_files_are_written_even_if_the_file_system_does_not_support_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(handle: int) -> bool:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("bpe_core.support.lock._take", refuse)
    (tmp_path / ".merges.csv.0123456789abcdef.part").write_text("perhaps somebody writes it")
    write(tmp_path / "merges.csv", b"new")
    assert (tmp_path / "merges.csv").read_bytes() == b"new"
    assert len(names(tmp_path)) == 2


@posix_only
def test_a_file_is_synced_before_it_is_renamed_and_its_folder_is_synced_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    target = tmp_path / "merges.csv"

    def note(handle: int) -> None:
        kind = "folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file"
        synced.append(f"{kind}, {'with' if target.exists() else 'without'} the name")

    monkeypatch.setattr(os, "fsync", note)
    write(target, b"new")
    assert synced == ["file, without the name", "folder, with the name"]


@posix_only
def test_a_replaced_file_keeps_its_permissions_and_a_new_file_gets_default_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write(tmp_path / "new", b"new")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode
    (tmp_path / "new").chmod(0o640)
    write(tmp_path / "new", b"newer")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_session_file_whose_name_has_special_characters_leaves_no_temporary_file(tmp_path: Path) -> None:
    target = tmp_path / "one? 100% #1.bpex"
    write_session(session(run_of(RECIPES[1])), target)
    assert len(read_session(target).runs) == 1
    assert names(tmp_path) == [target.name]


@posix_only
def test_a_lock_file_that_is_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        Lock.acquire(tmp_path / "link")
    assert not (tmp_path / "elsewhere").exists()


IN_A_FOLDER = """
import sys, time
from bpe_core.support.atomic import folder_for
with folder_for(sys.argv[1]) as place:
    (place / "one").write_bytes(b"1")
    print("half", flush=True)
    time.sleep(60)
"""


@posix_only
def test_a_new_folder_is_created_completely_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    with subprocess.Popen([sys.executable, "-c", IN_A_FOLDER, folder], cwd=ROOT, stdout=subprocess.PIPE) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == b"half\n"
        killed.kill()
    assert not folder.exists()
    for times in (1, 2):
        with folder_for(folder) as place:
            (place / "one").write_bytes(b"%d" % times)
    assert names(tmp_path) == ["new"]  # and no files of the killed process
    assert (folder / "one").read_bytes() == b"2"
    (tmp_path / ".new.0123456789abcdef.part").touch()  # a file of a process that was killed after the replacement
    with folder_for(folder):
        assert names(tmp_path) == ["new"]


def test_an_error_about_a_file_in_a_new_folder_names_the_requested_folder(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    with pytest.raises(OutputError) as caught, folder_for(folder) as place:
        fail_while_writing(place / "one", OSError(28, "No space left on device"))
    sentence = f"Could not write {folder / 'one'}: No space left on device. Existing files are unchanged."
    assert str(caught.value) == sentence


def test_files_written_together_are_replaced_only_after_all_are_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure before the first replacement leaves all files unchanged."""
    paths = [tmp_path / name for name in ("merges.txt", "vocab.json", "more.json")]
    for path in paths:
        write(path, b"old")
    done: list[str] = []
    sync, replace = os.fsync, os.replace

    def noted_sync(handle: int) -> None:
        done.append("sync")
        sync(handle)

    def noted_replace(source: Path, target: Path) -> None:
        done.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(os, "replace", noted_replace)
    with write_together(*paths) as files:
        for file in files:
            file.write(b"new")
    assert [path.read_bytes() for path in paths] == [b"new"] * 3
    assert done[:3] == ["sync"] * 3
    assert done.count("rename") == 3
    assert names(tmp_path) == sorted(path.name for path in paths)

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OutputError, match=r"merges\.txt: No space left"), write_together(*paths) as files:
        files[-1].write(b"newer")
    assert [path.read_bytes() for path in paths] == [b"new"] * 3
    assert names(tmp_path) == sorted(path.name for path in paths)


@pytest.mark.parametrize("is_first", [True, False])
def test_replacing_a_folder_removes_all_files_of_the_old_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_first: bool
) -> None:
    folder, rename = tmp_path / "counts", Path.rename
    for times in (1, 2):
        with folder_for(folder, replaces=True) as place:
            assert place != folder
            (place / f"of {times}").touch()
    assert (names(tmp_path), names(folder)) == (["counts"], ["of 2"])

    def refuse(source: Path, target: Path) -> Path:
        if (source == folder) is is_first:
            monkeypatch.undo()
            raise OSError(16, "Device or resource busy")
        return rename(source, target)

    monkeypatch.setattr(Path, "rename", refuse)
    sentence = r"counts: Device or resource busy\. Existing files are unchanged"
    with pytest.raises(OutputError, match=sentence), folder_for(folder, replaces=True) as place:
        (place / "of 3").touch()
    assert (names(tmp_path), names(folder)) == (["counts"], ["of 2"])


KILLED_BETWEEN = """
import os, signal, sys
from pathlib import Path
from bpe_core.support.atomic import folder_for

def killed(one, other):
    os.kill(os.getpid(), signal.SIGKILL)

with folder_for(sys.argv[1], replaces=True) as place:
    (place / "new").touch()
    rename = Path.rename
    def once(one, other):
        Path.rename = killed
        return rename(one, other)
    Path.rename = once
"""


@posix_only
def test_a_new_folder_that_a_killed_process_did_not_rename_is_renamed_later(tmp_path: Path) -> None:
    folder = tmp_path / "counts"
    folder.mkdir()
    (folder / "old").touch()
    subprocess.run([sys.executable, "-c", KILLED_BETWEEN, folder], cwd=ROOT, check=False)
    assert not folder.exists()
    with pytest.raises(OutputError, match="No space left"), folder_for(folder, replaces=True):
        raise OSError(28, "No space left on device")
    assert (names(tmp_path), names(folder)) == (["counts"], ["new"])


MAKER = """
import sys
from bpe_core.support.atomic import reserve
with reserve(*sys.argv[1:]):
    print("making", flush=True)
    sys.stdin.read()
"""


def maker(*targets: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", MAKER, *map(str, targets)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "making\n"
    return process


@posix_only
@pytest.mark.parametrize("end_by", ["itself", "kill"])
def test_a_result_file_can_be_made_by_only_one_process_at_a_time(tmp_path: Path, end_by: str) -> None:
    table, folder, link = tmp_path / "table.csv", tmp_path / "new", tmp_path / "link.csv"
    link.symlink_to(table)
    with maker(table, folder) as first:
        for late in (table, link, folder):
            with pytest.raises(OutputError, match="another process is writing it"), reserve(tmp_path / "other", late):
                pass
        assert "other" not in "".join(names(tmp_path))
        with reserve(tmp_path / "other"):
            write(table, b"by one who does not ask")
        if end_by == "kill":
            first.kill()
            first.wait()
        else:
            assert end(first) == 0
    with reserve(link, folder):
        write(table, b"new")
    assert names(tmp_path) == ["link.csv", "table.csv"]


@posix_only
def test_results_are_written_even_if_no_lock_can_be_created(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(handle: int) -> bool:
        raise OSError(95, "Operation not supported")

    with reserve(tmp_path / "no folder" / "table.csv", "/dev/stdout", "/", "s3://bucket/counts"):
        pass
    monkeypatch.setattr("bpe_core.support.lock._take", refuse)
    with reserve(tmp_path / "table.csv"):
        write(tmp_path / "table.csv", b"new")
    assert names(tmp_path) == ["table.csv"]


@posix_only
def test_a_manifest_path_that_is_a_pipe_or_a_log_is_not_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "log").touch()
    monkeypatch.setitem(STREAMS, str(tmp_path / "log"), 1)
    for manifest in ("pipe", "log"):
        with reserve(tmp_path / "table.csv", manifest=tmp_path / manifest):
            write(tmp_path / "table.csv", b"new")
    assert names(tmp_path) == ["log", "pipe", "table.csv"]


class OldResults(NamedTuple):
    """A table, a folder and a manifest of an earlier command."""

    table: Path
    folder: Path
    manifest: Path


@pytest.fixture
def old_results(tmp_path: Path) -> OldResults:
    results = OldResults(tmp_path / "table.csv", tmp_path / "folder", tmp_path / "how.json")
    write(results.table, b"old")
    write(results.manifest, b"of the old ones")
    results.folder.mkdir()
    return results


def test_a_manifest_is_kept_while_none_of_its_results_changes(old_results: OldResults, tmp_path: Path) -> None:
    table, folder, manifest = old_results
    with reserve(table, folder, manifest=manifest):
        write(tmp_path / "another", b"another file")
        with pytest.raises(KeyboardInterrupt):
            fail_while_writing(table, KeyboardInterrupt())
    assert manifest.exists()


def test_the_old_manifest_is_removed_before_a_file_in_a_result_folder_changes(old_results: OldResults) -> None:
    table, folder, manifest = old_results
    with reserve(table, folder, manifest=manifest):
        write(folder / "part", b"new")
        assert manifest.exists()
        assert not (folder / "part").exists()
        assert {name: path.read_bytes() for name, path in files_in(folder).items()} == {"part": b"new"}
    assert not manifest.exists()
    assert names(folder) == ["part"]


def test_the_old_manifest_is_removed_before_a_result_folder_is_replaced(old_results: OldResults) -> None:
    table, folder, manifest = old_results
    with reserve(folder, manifest=manifest):
        write(table, b"new")
        with folder_for(folder, replaces=True) as place:
            (place / "new").touch()
            assert place != folder
        assert manifest.exists()
        assert not (folder / "new").exists()
        assert (path_to_read(folder) / "new").exists()
    assert not manifest.exists()
    assert names(folder) == ["new"]


def test_the_old_manifest_is_removed_before_a_result_is_written_without_a_temporary_file(
    old_results: OldResults,
) -> None:
    table, _, manifest = old_results
    with reserve(table, manifest=manifest):
        with place_immediately():
            write(table, b"half of it")
        assert (manifest.exists(), table.read_bytes()) == (False, b"half of it")
        write(table, b"all of it")
        assert table.read_bytes() == b"half of it"
    assert table.read_bytes() == b"all of it"


def test_the_old_manifest_is_removed_before_a_growing_result_file_changes(old_results: OldResults) -> None:
    table, _, manifest = old_results
    with reserve(table, manifest=manifest, grows=True):
        write(table, b"new")
        assert not manifest.exists()
        assert table.read_bytes() == b"new"


def test_the_old_manifest_is_removed_before_the_new_result_is_renamed(
    old_results: OldResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, _, manifest = old_results
    rename = os.replace

    def check_and_rename(source: Path, target: Path) -> None:
        assert target != table or not manifest.exists()
        rename(source, target)

    with reserve(table, manifest=manifest):
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", check_and_rename)
            write(table, b"new")
        assert (table.read_bytes(), path_to_read(table).read_bytes()) == (b"old", b"new")
        write(manifest, b"of the new one")
        assert manifest.read_bytes() == b"of the old ones"
    assert table.read_bytes() == b"new"
    write(table, b"by a command without a manifest")
    assert manifest.read_bytes() == b"of the new one"


@pytest.mark.parametrize("removed", [".former", ".together", ".part"])
def test_a_signal_takes_effect_only_after_all_files_are_in_place_and_all_old_files_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, removed: str
) -> None:
    """The signal comes when the first old file, journal or claim is removed."""
    paths = [tmp_path / name for name in ("merges.txt", "vocab.json")]
    for path in paths:
        write(path, b"old")
    # Tests that run in the background inherit an ignored Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unlink = Path.unlink
    seen: list[Path] = []

    def be_asked_to_stop(path: Path, missing_ok: bool = False) -> None:
        if path.name.endswith(removed):
            seen.append(path)
        if len(seen) == 1:
            signal.raise_signal(signal.SIGINT)
        unlink(path, missing_ok=missing_ok)

    def write_pair() -> None:
        with reserve(*paths), write_together(*paths) as files:
            for file in files:
                file.write(b"new")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", be_asked_to_stop)
        with pytest.raises(KeyboardInterrupt):
            write_pair()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"merges.txt": b"new", "vocab.json": b"new"}


def test_all_files_keep_their_content_if_one_of_several_files_cannot_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / name for name in ("merges.txt", "vocab.json")]
    for path in paths:
        write(path, b"old")
    rename = os.replace
    for refused in paths:

        def refuse(source: Path, target: Path, refused: Path = refused) -> None:
            if target == refused:
                raise OSError(13, "Permission denied")
            rename(source, target)

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", refuse)
            with pytest.raises(OutputError, match="unchanged"), write_together(*paths) as files:
                files[1].write(b"new")
        assert [path.read_bytes() for path in paths] == [b"old"] * 2
        assert names(tmp_path) == ["merges.txt", "vocab.json"]
    (tmp_path / "vocab.json").unlink()
    (tmp_path / "vocab.json").mkdir()
    with pytest.raises(OutputError, match="directory"), write_together(*paths) as files:
        files[0].write(b"new")
    assert (names(tmp_path), paths[0].read_bytes()) == (["merges.txt", "vocab.json"], b"old")


KILLED_AT_THE_SECOND = """
import os, signal, sys
from pathlib import Path
from bpe_core.support.atomic import write_together
rename, places = os.replace, []
def once(one, other):
    if places:
        os.kill(os.getpid(), signal.SIGKILL)
    places.append(other)
    rename(one, other)
os.replace = once
with write_together(*map(Path, sys.argv[1:])) as files:
    for file in files:
        file.write(b"new")
"""


@pytest.fixture
def half_replaced_files(tmp_path: Path) -> list[Path]:
    """Return the paths of two files. A writer was killed while it replaced them.

    The first file is missing, and the second file has the new content.
    """
    paths = [tmp_path / name for name in ("merges.txt", "vocab.json")]
    for path in paths:
        write(path, b"old")
    subprocess.run([sys.executable, "-c", KILLED_AT_THE_SECOND, *paths], cwd=ROOT, check=False)
    assert not paths[0].exists()
    assert paths[1].read_bytes() == b"new"
    return paths


@posix_only
@pytest.mark.parametrize("place", [0, 1])
def test_opening_either_of_two_half_replaced_files_completes_both_files(
    half_replaced_files: list[Path], place: int
) -> None:
    assert path_to_read(half_replaced_files[place]) == half_replaced_files[place]
    assert [path.read_bytes() for path in half_replaced_files] == [b"new"] * 2
    assert names(half_replaced_files[0].parent) == ["merges.txt", "vocab.json"]


@posix_only
def test_a_reader_without_write_permission_reads_the_new_content_of_half_replaced_files(
    half_replaced_files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = names(half_replaced_files[0].parent)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Lock, "acquire", refuse)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert [path_to_read(path).read_bytes() for path in half_replaced_files] == [b"new"] * 2
    assert names(half_replaced_files[0].parent) == before


@posix_only
def test_completing_an_interrupted_replacement_of_files_does_not_overwrite_a_later_edit(
    half_replaced_files: list[Path],
) -> None:
    half_replaced_files[0].write_bytes(b"by a person")
    assert path_to_read(half_replaced_files[1]) == half_replaced_files[1]
    assert [path.read_bytes() for path in half_replaced_files] == [b"by a person", b"old"]
    assert names(half_replaced_files[0].parent) == ["merges.txt", "vocab.json"]


@posix_only
def test_half_replaced_files_in_a_moved_folder_are_completed_there(
    half_replaced_files: list[Path], tmp_path: Path
) -> None:
    folder = tmp_path.with_name("moved")
    tmp_path.rename(folder)
    complete_all_in(folder)
    assert [(folder / path.name).read_bytes() for path in half_replaced_files] == [b"new"] * 2
    assert names(folder) == ["merges.txt", "vocab.json"]


@posix_only
def test_a_forged_journal_of_half_replaced_files_cannot_move_other_files(
    half_replaced_files: list[Path], tmp_path: Path
) -> None:
    """A folder from another person may hold a journal that names a private file."""
    precious, other = tmp_path / "precious", tmp_path / "other"
    precious.write_bytes(b"mine")
    (tmp_path / "evil").write_bytes(b"evil")
    journal = next(
        path for path in tmp_path.iterdir() if path.name.startswith(".merges") and path.suffix == ".together"
    )
    whole = json.loads(journal.read_bytes())
    for row in (
        {"place": "precious", "part": "evil", "was": None, "is": None},
        {"place": "../precious", "part": "../evil", "was": None, "is": None},
        {"place": "precious", "part": ".precious.0123456789abcdef.part", "was": None, "is": None},
    ):
        journal.write_text(json.dumps({"moves": [row]}))
        complete_all_in(tmp_path)
        assert (precious.read_bytes(), (tmp_path / "evil").read_bytes()) == (b"mine", b"evil")
        journal.touch()
    with writer(other) as living:
        part = next(path for path in tmp_path.iterdir() if path.name.startswith(".other"))
        status = part.stat()
        of_another = {"place": "other", "part": part.name, "was": None, "is": [status.st_size, status.st_mtime_ns]}
        journal.write_text(json.dumps({"moves": [of_another]}))
        complete_all_in(tmp_path)
        assert not other.exists()
        assert end(living) == 0
    assert other.read_bytes() == b"half"
    journal.write_text(json.dumps(whole)[:-9])  # not whole: nothing was done yet
    complete_all_in(tmp_path)
    assert not journal.exists()


@posix_only
def test_if_a_process_is_killed_then_files_written_together_are_all_old_or_all_new() -> None:
    """The forks are made in a separate process, because a process with threads must not fork.

    With BPE_LONG=1, the test kills the process at every line.
    """
    total = "0" if os.environ.get("BPE_LONG") else "40"
    command = [sys.executable, "-m", "tests.core.killing_file_replacement", str(os.getpid()), total]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@posix_only
@pytest.mark.parametrize("name", ["merges.txt", "é" * 70 + ".merges.txt", "link.merges.txt"])
def test_opening_tokenizer_files_after_an_interrupted_replacement_reads_the_new_table(
    tmp_path: Path, name: str
) -> None:
    """The two files are opened by the name of either file, by their folder, and through a link."""
    history = learn_text("low lower lowest", "gpt2", merges=2)
    others = {"merges.txt": "vocab.json"}.get(name, name.replace("merges.txt", "vocab.json"))
    for way in (name, others, ""):
        folder = tmp_path / (way or "folder")
        folder.mkdir()
        merges, vocabulary = folder / name, folder / others
        write_history(history.first(1), merges)
        new = {path: path.read_bytes() for path in (merges, vocabulary)}
        write_history(history, merges)
        content = json.dumps({str(path): data.decode() for path, data in new.items()})
        subprocess.run([sys.executable, "-c", KILLED_WITH, content], cwd=ROOT, check=False)
        assert not merges.exists()
        opened = folder / way
        if name.startswith("link"):
            opened = tmp_path / f"to {way or 'the folder'}"
            opened.symlink_to(folder / way)
        if way or name == "merges.txt":
            assert len(open_table(opened).history) == 1
            assert {path: path.read_bytes() for path in new} == new


KILLED_WITH = KILLED_AT_THE_SECOND.replace("with write_together(*map(Path, sys.argv[1:])) as files:", "").replace(
    """    for file in files:
        file.write(b"new")
""",
    """
import json
new = json.loads(sys.argv[1])
with write_together(*map(Path, new)) as files:
    for file, content in zip(files, new.values()):
        file.write(content.encode())
""",
)


def test_the_root_of_the_file_system_is_read_from_its_own_path() -> None:
    assert path_to_read("/") == Path("/")
