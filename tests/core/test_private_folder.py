"""Tests of private folders: the program trusts files only in folders that no other user can change."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from bpe_core.support import private_folder as private
from bpe_core.support.private_folder import home, make_private_file, private_folder
from tests.permissions import mode

pytestmark = pytest.mark.skipif(os.name != "posix", reason="elsewhere a person's folders are closed to others")
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")

STRANGER = 54_321


def test_a_private_folder_and_its_parents_are_made_with_private_permissions(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        made = private_folder(tmp_path / "a" / "b" / "c")
    finally:
        os.umask(before)
    assert made == (tmp_path / "a" / "b" / "c").resolve()
    assert {mode(made), mode(made.parent), mode(made.parent.parent)} == {0o700}
    assert private_folder(made) == made


def test_a_private_folder_that_others_could_read_gets_private_permissions(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o755)
    private_folder(tmp_path / "mine")
    assert mode(tmp_path / "mine") == 0o700


def test_a_private_folder_that_others_could_write_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine").chmod(0o777)
    with pytest.raises(PermissionError, match="other users can change it"):
        private_folder(tmp_path / "mine")


def test_a_link_or_a_file_in_place_of_a_private_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    (tmp_path / "round").symlink_to(tmp_path / "round")
    (tmp_path / "file").touch()
    for name in ("link", "nowhere", "round", "file"):
        with pytest.raises(OSError, match="is not a folder"):
            private_folder(tmp_path / name)
    assert not (tmp_path / "missing").exists()


def test_a_link_in_the_path_of_a_private_folder_is_followed_and_its_target_checked(tmp_path: Path) -> None:
    (tmp_path / "safe").mkdir()
    (tmp_path / "unsafe").mkdir()
    (tmp_path / "unsafe").chmod(0o777)
    (tmp_path / "to safe").symlink_to(tmp_path / "safe")
    (tmp_path / "to unsafe").symlink_to(tmp_path / "unsafe")
    assert private_folder(tmp_path / "to safe" / "mine") == (tmp_path / "safe" / "mine").resolve()
    with pytest.raises(PermissionError, match="unsafe"):
        private_folder(tmp_path / "to unsafe" / "mine")
    assert list((tmp_path / "unsafe").iterdir()) == []


@pytest.mark.parametrize("permissions", [0o777, 0o757])
def test_a_parent_folder_that_others_can_change_is_refused_unless_its_sticky_bit_is_set(
    tmp_path: Path, permissions: int
) -> None:
    parent = tmp_path / "common"
    parent.mkdir()
    parent.chmod(permissions)
    with pytest.raises(PermissionError, match="common"):
        private_folder(parent / "mine")
    parent.chmod(permissions | stat.S_ISVTX)
    assert mode(private_folder(parent / "mine")) == 0o700


def test_a_parent_folder_may_be_group_writable_if_only_the_user_is_in_the_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = tmp_path / "parent"
    parent.mkdir()
    parent.chmod(0o775)
    monkeypatch.setattr(private, "_is_group_of_one", lambda gid: gid == parent.stat().st_gid)
    assert private_folder(parent / "mine").is_dir()
    monkeypatch.setattr(private, "_is_group_of_one", lambda gid: False)
    with pytest.raises(PermissionError, match="parent"):
        private_folder(parent / "mine")


def test_a_group_is_not_recognized_as_private_if_the_user_account_has_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert not private._is_group_of_one(os.getegid())


@as_root
@pytest.mark.parametrize("name", ["common/mine", "common", "."])
def test_a_private_folder_in_a_folder_of_another_user_is_refused(tmp_path: Path, name: str) -> None:
    place = tmp_path / "all" / "common" / "mine"
    place.mkdir(parents=True, mode=0o700)
    os.chown(tmp_path / "all" / name, STRANGER, STRANGER)
    with pytest.raises(PermissionError, match="belongs to another user"):
        private_folder(place)


def test_a_private_file_gets_private_permissions_and_replaces_no_existing_file(tmp_path: Path) -> None:
    make_private_file(tmp_path / "file")
    assert mode(tmp_path / "file") == 0o600
    with pytest.raises(FileExistsError):
        make_private_file(tmp_path / "file")


def test_the_home_folder_of_a_user_without_a_name_comes_only_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import pwd

    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.setenv("HOME", "/home/somebody")
    assert home() == Path("/home/somebody")
    monkeypatch.setenv("HOME", "not/from/the/root")
    assert home() is None
    monkeypatch.delenv("HOME")
    assert home() is None
