"""Machine code that is kept: made once, trusted only where nobody else can have touched it, thrown away if damaged."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bpe_core.formats import read_history
from bpe_core.kernels import kept, policy, readiness
from bpe_core.kernels.policy import Policy
from bpe_core.lock import Lock
from tests.conftest import EXPLORES
from tests.shared import ROOT

posix_only = pytest.mark.skipif(os.name != "posix", reason="elsewhere a person's folders are closed to others")

# A warm-up of one kernel takes a second, that of all of them half a minute.
ONE_KERNEL = """
import subprocess, sys, types
import numpy as np
from bpe_core import compiler
from bpe_core.kernels import kept, readiness

def work():
    from bpe_core.kernels.utf8 import sound_until
    text = np.frombuffer("né".encode() * 9 + b"\\xff", np.uint8)
    assert 0 <= sound_until(text) <= 27

sys.modules["bpe_core.warm_up"] = types.SimpleNamespace(PARTS=(work,))
"""
# The work is that of the second process: none, what it makes, or what both make.
TWO_PARTS = """
first, in_second = map(dict.get, [globals()] * 2, sys.argv[1:3])
sys.modules["bpe_core.warm_up"].PARTS = (first or (lambda: None), work)
again = [sys.executable, "-c", sys.orig_argv[2], *sys.argv[1:3]]
readiness.start_compiler = lambda *arguments: subprocess.Popen([*again, *arguments])
sys.exit(compiler.main(sys.argv[3:]) if in_second or not sys.argv[3:] else 1)
"""
MAKE = ONE_KERNEL + "sys.exit(0 if compiler.compile_kernels() else 1)"
# What a compiler leaves that ends in the middle of its work.
MAKE_HALF = MAKE.replace("def work():", "def work():\n    (kept.place_of_code() / 'half.o').write_bytes(b'half')")
USE = (
    ONE_KERNEL
    + """
assert kept.is_sound() == (sys.argv[1] != "damaged"), "sound or not"
if sys.argv[1] == "damaged later":
    for file in kept.place_of_code().glob("*.o" if sys.argv[2] == "code" else "index"):
        file.write_bytes(file.read_bytes()[:-30])
work()
assert ("numba" in sys.modules) == (sys.argv[1] != "sound")
"""
)
# The compiler is not started: it would work on for half a minute after the test.
TRAIN = """
import sys
from bpe_core.command_line.main import run
from bpe_core.kernels import readiness
readiness.prepare = lambda: None
code = run(["train", *sys.argv[1:], "--quiet"])
assert "bpe_core.kernels.learn" not in sys.modules
sys.exit(code)
"""


def python(program: str, cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *arguments]
    environment = {**os.environ, kept.LOCATION: str(cache)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def succeed(program: str, cache: Path, *arguments: str) -> None:
    done = python(program, cache, *arguments)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cache = tmp_path_factory.mktemp("made")
    succeed(ONE_KERNEL + TWO_PARTS, cache, "nothing", "work")
    return cache


@pytest.fixture
def cache(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "cache"))


def code(cache: Path) -> Path:
    (folder,) = cache.iterdir()
    return folder / "code"


def is_sound(cache: Path) -> bool:
    """What the next process to start will find."""
    place = code(cache).parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "folder", lambda: place)
        patch.setattr(kept, "_sound", False)
        return kept.is_sound()


def change_all(change: Callable[[bytes], bytes], files: str = "[!s]*") -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        for file in folder.glob(files):
            file.write_bytes(change(file.read_bytes()))

    return damage


def noise(content: bytes) -> bytes:
    return random.Random(len(content)).randbytes(len(content))


def remove_one(folder: Path) -> None:
    max(folder.glob("*.o")).unlink()


def add_one(folder: Path) -> None:
    (folder / "more.o").write_bytes(b"")


DAMAGES: dict[str, Callable[[Path], None]] = {
    "cut off": change_all(lambda content: content[: len(content) // 2]),
    "empty": change_all(lambda content: b""),
    "zeros": change_all(lambda content: bytes(len(content))),
    "noise": change_all(noise),
    "one bit": change_all(lambda content: content[:-40] + bytes([content[-40] ^ 1]) + content[-39:], "*.o"),
    "longer": change_all(lambda content: content + b"\0"),
    "seal cut off": change_all(lambda content: content[:-70], "seal"),
    "seal empty": change_all(lambda content: b"", "seal"),
    "seal noise": change_all(noise, "seal"),
    "seal gone": lambda folder: (folder / "seal").unlink(),
    "one gone": remove_one,
    "one more": add_one,
    "all gone": shutil.rmtree,
}


def test_it_is_made_once_and_used_by_all(cache: Path) -> None:
    before = {file: file.read_bytes() for file in code(cache).iterdir()}
    assert len(before) == 3
    succeed(USE, cache, "sound")
    succeed(MAKE, cache)
    assert {file: file.read_bytes() for file in code(cache).iterdir()} == before
    assert [path.name for path in code(cache).parent.iterdir()] == ["code"]


@pytest.mark.parametrize(("first", "in_second"), [("work", "work"), ("nothing", "fails")])
def test_of_two_processes_one_makes_what_the_other_could_not(tmp_path: Path, first: str, in_second: str) -> None:
    succeed(ONE_KERNEL + TWO_PARTS, tmp_path, first, in_second)
    assert is_sound(tmp_path)
    assert len((code(tmp_path) / "index").read_text().splitlines()) == 1
    assert len(list(code(tmp_path).iterdir())) == 3


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_whatever_is_damaged_is_found(cache: Path, damage: Callable[[Path], None], monkeypatch) -> None:
    place = code(cache)
    monkeypatch.setattr(kept, "folder", lambda: place.parent)
    monkeypatch.setattr(kept, "_sound", False)
    assert kept.is_sound()
    monkeypatch.setattr(kept, "_sound", False)
    damage(place)
    assert not kept.is_sound()
    assert not readiness.ready() or "bpe_core.warm_up" in sys.modules


@pytest.mark.parametrize("name", ["cut off", "noise", "seal empty"] if EXPLORES else ["cut off"])
def test_while_it_is_damaged_plain_python_serves(cache: Path, tmp_path: Path, name: str) -> None:
    DAMAGES[name](code(cache))
    text = tmp_path / "text.txt"
    text.write_text(" ".join(f"{i:b}" for i in range(3_000)))
    succeed(TRAIN, cache, str(text), "--merges", "9", "--output", str(tmp_path / "merges.csv"))
    assert len(read_history(tmp_path / "merges.csv")) == 9


@pytest.mark.parametrize("which", ["code", "index"])
def test_what_is_damaged_after_it_was_looked_through_is_compiled_in_memory_and_distrusted(
    cache: Path, which: str
) -> None:
    succeed(USE, cache, "damaged later", which)
    assert not is_sound(cache)


@posix_only
def test_what_is_damaged_is_made_anew_even_after_a_compiler_that_was_killed(cache: Path) -> None:
    """Nothing is used that the killed one has left."""
    DAMAGES["cut off"](code(cache))
    killed = MAKE_HALF.replace("b'half')", "b'half'); import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert python(killed, cache).returncode == -signal.SIGKILL
    assert [path.name for path in code(cache).with_name("code.part").iterdir()] == ["half.o"]
    assert not is_sound(cache)
    succeed(MAKE, cache)
    succeed(USE, cache, "sound")
    assert [path.name for path in code(cache).parent.iterdir()] == ["code"]


def test_a_compiler_that_fails_leaves_nothing_and_says_so(tmp_path: Path) -> None:
    done = python(MAKE_HALF.replace("b'half')", "b'half'); raise OSError(28, 'No space left')"), tmp_path)
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert list(code(tmp_path).parent.iterdir()) == []


def test_one_compiler_works_at_a_time(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "folder", lambda: code(cache).parent)
    first = kept.claim()
    assert isinstance(first, Lock)
    assert kept.claim() is None
    first.release()


# --- Whose it is ------------------------------------------------------------------------------


@posix_only
def test_what_others_could_have_left_is_neither_loaded_nor_looked_into(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger can write the seal that belongs to what they leave."""
    place = code(cache)
    (line,) = (place / "index").read_text().splitlines()
    (place / "index").write_text(json.dumps({**json.loads(line), "symbol": "of_a_stranger"}) + "\n")
    (place / "seal").write_bytes(kept._description(place))
    monkeypatch.setenv(kept.LOCATION, str(cache))
    assert kept.folder.__wrapped__() == place.parent
    for unsafe in (cache, place.parent):
        unsafe.chmod(0o777)
        assert kept.folder.__wrapped__() is None
        if unsafe == place.parent or EXPLORES:
            succeed(USE, cache, "damaged")
            assert (place / "seal").exists()
        unsafe.chmod(0o700)
    assert python(USE, cache, "sound").returncode != 0
    assert not (place / "seal").exists()  # what was loaded is distrusted, so that we know it would have been


def test_what_was_installed_is_used_wherever_the_home_is(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = Path(shutil.copytree(code(made).parent, tmp_path / "made" / code(made).parent.name))
    monkeypatch.setattr(kept, "_INSTALLED", str(tmp_path / "made"))
    monkeypatch.setenv(kept.LOCATION, str(tmp_path / "told"))
    assert kept.folder.__wrapped__() != installed
    monkeypatch.delenv(kept.LOCATION)
    assert kept.folder.__wrapped__() == installed
    DAMAGES["one bit"](installed / "code")
    assert kept.folder.__wrapped__() != installed


@posix_only
def test_without_a_folder_of_ones_own_nothing_is_kept_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(kept.LOCATION, raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "not/from/the/root")
    assert kept.folder.__wrapped__() is None
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".cache").write_text("a file where the folder should be")
    assert kept.folder.__wrapped__() is None
    (tmp_path / ".cache").unlink()
    monkeypatch.setenv("XDG_CACHE_HOME", "not/from/the/root")
    found = kept.folder.__wrapped__()
    assert found is not None
    assert found.parent == tmp_path / ".cache" / "bpe-explorer"


def test_where_nothing_can_be_kept_only_large_work_compiles_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BPE_EXPLORER_PLAIN", raising=False)
    monkeypatch.setattr(readiness, "ready", lambda: False)
    monkeypatch.setattr(kept, "folder", lambda: None)
    monkeypatch.setattr(readiness, "_compiler", None)
    work = Policy("not loaded", small=10, large=1_000)
    assert [work.chooses(size) for size in (9, 999, 1_000)] == [False, False, True]
    assert not work.chooses(1_000, cancelled=lambda: True)
    monkeypatch.setattr(policy, "WORTH_COMPILING", 500)
    assert [Policy("not loaded", small=10).chooses(size) for size in (499, 500)] == [False, True]
    monkeypatch.setenv("BPE_EXPLORER_PLAIN", "1")
    assert not work.chooses(1_000)
