"""Tests of the version and the commit of the program. Sessions and manifests name the version."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from bpe_core.command_line import manifest
from bpe_core.session_file import schema
from bpe_core.support import version
from tests.shared import ROOT

HEAD = re.compile(
    r"^## (\S+)\n\nThis version writes sessions of version (\d+) and manifests of version (\d+)\.", re.MULTILINE
)


def test_a_new_version_of_the_session_or_manifest_format_requires_a_new_program_version() -> None:
    changes = (ROOT / "resources" / "manual" / "changes.md").read_text(encoding="utf-8")
    newest = HEAD.search(changes)
    assert newest is not None
    assert newest.start() == changes.index("\n## ") + 1
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert newest.groups() == (project["version"], str(schema.VERSION), str(manifest.VERSION))
    heads = HEAD.findall(changes)
    assert len({(sessions, manifests) for _, sessions, manifests in heads}) <= len({v.split(".")[1] for v, *_ in heads})


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_commit_hash_comes_from_the_git_clone_or_from_a_file_in_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GIT_DIR", raising=False)
    assert version.commit_of(tmp_path) == ""
    (tmp_path / "bpe_core").mkdir()
    (tmp_path / "file").write_text("1")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "file"], ["commit", "-q", "-m", "One"]):
        subprocess.run([*git, *words], check=True)
    commit = version.commit_of(tmp_path)
    whole = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout
    assert len(commit) == 12
    assert whole.startswith(commit)
    (tmp_path / "file").write_text("2")
    assert version.commit_of(tmp_path) == f"{commit}-dirty"
    (tmp_path / "bpe_core" / version.KEPT).write_text("0123456789ab\n")
    assert version.commit_of(tmp_path) == "0123456789ab"


def test_the_commit_hash_is_empty_without_git_or_without_a_valid_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    assert version.commit_of(tmp_path) == ""
    monkeypatch.setenv("PATH", "")
    assert version.commit_of(tmp_path) == ""
