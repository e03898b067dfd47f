"""Folders that no other user can change. They contain files that the program trusts, such as machine code."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path


def home() -> Path | None:
    """Return the user's home folder. Return None if the user has no home folder on this computer."""
    try:
        folder = Path.home()
    except RuntimeError:
        return None
    return folder if folder.is_absolute() else None


def private_folder(path: Path) -> Path:
    """Return the folder at `path`, and make it if it is missing. Raise OSError if the folder is not safe.

    A safe folder belongs to this user, is not a link, and cannot be changed by other users. If other users can read it,
    this function closes it to them. Each folder that contains it belongs to this user or to the system. In such an
    outer folder, other users may change nothing, or only their own files, as in the common temporary folder.

    Only POSIX systems need these checks.
    """
    if os.name != "posix":  # elsewhere a user's folders are closed to others from the beginning
        path.mkdir(parents=True, exist_ok=True)
        return path
    place = Path(os.path.realpath(path.parent), path.name)
    for parent in reversed(place.parents):
        _check_parent(parent, _made(parent))
    status = _made(place)
    if status.st_uid != os.geteuid() or _can_be_changed_by_others(status):
        raise _refusal(place)
    if stat.S_IMODE(status.st_mode) & 0o077:
        place.chmod(0o700)
    return place


def make_private_file(path: Path) -> None:
    """Make an empty file that no other user may read. Raise OSError if the file exists."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _made(folder: Path) -> os.stat_result:
    with contextlib.suppress(FileExistsError):
        if not os.path.lexists(folder):
            folder.mkdir(mode=0o700)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise OSError(errno.ENOTDIR, f"{folder} is not a folder", str(folder))
    return status


def _check_parent(folder: Path, status: os.stat_result) -> None:
    is_sticky = bool(status.st_mode & stat.S_ISVTX)  # only the owner of a file in it can rename or remove it
    if status.st_uid not in (0, os.geteuid()) or (_can_be_changed_by_others(status) and not is_sticky):
        raise _refusal(folder)


def _refusal(folder: Path) -> OSError:
    return PermissionError(errno.EPERM, f"{folder} belongs to another user, or other users can change it", str(folder))


def _can_be_changed_by_others(status: os.stat_result) -> bool:
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and not _is_group_of_one(status.st_gid)


def _is_group_of_one(gid: int) -> bool:
    """Return whether a group has no members besides this user.

    On many systems each user has such a group, and new files are often writable for it.
    """
    import grp
    import pwd

    try:
        user = pwd.getpwuid(os.geteuid())
        group = grp.getgrgid(gid)
    except KeyError:
        return False
    return gid == user.pw_gid and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}
