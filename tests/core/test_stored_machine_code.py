"""Tests of stored machine code: it is compiled once, loaded only from a private folder, and compiled again
if damaged.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from bpe_core import compiler
from bpe_core.errors import Cancelled
from bpe_core.formats import read_history
from bpe_core.kernels import readiness, stored_code
from bpe_core.kernels.readiness import use_machine_code
from bpe_core.kernels.stored_code import Pack, StoredKernel
from bpe_core.support.lock import Lock
from bpe_core.support.progress import Work
from tests.conftest import EXPLORES
from tests.shared import PATIENCE, ROOT

LARGE = 40_000_000  # bytes
posix_only = pytest.mark.skipif(os.name != "posix", reason="elsewhere a person's folders are closed to others")

# The warm-up of one kernel takes seconds, and the warm-up of all kernels takes half a minute.
ONE_KERNEL = """
import os, signal, subprocess, sys, types
import numpy as np
from bpe_core import compiler
from bpe_core.errors import Cancelled
from bpe_core.kernels import stored_code

def work():
    from bpe_core.kernels.utf8 import valid_until
    text = np.frombuffer("né".encode() * 9 + b"\\xff", np.uint8)
    assert 0 <= valid_until(text) <= 27

def start(*arguments, **how):
    return subprocess.Popen([sys.executable, "-c", sys.orig_argv[2], *arguments], **how)

compiler.start_compiler = start
stored_code.PARTS = {"all": 1.0}
sys.modules["bpe_core.warm_up"] = types.SimpleNamespace(PARTS={"all": work})
"""
MAKE = ONE_KERNEL + "sys.exit(compiler.main(sys.argv[1:]))"
# Tests of stored machine code, which do not test its compilation, use code that was compiled before.
GIVEN = "compiler._part = lambda *_: stored_code.Pack.read(open({!r}, 'rb').read())\n"
AS_A_NEW_NUMBA = """
    if os.environ.get(stored_code.COMPILES) == stored_code.MACHINE_CODE:
        raise ImportError("This Numba is too new.")
    from"""
USE = (
    ONE_KERNEL
    + """
assert (stored_code.pack() is not None) == (sys.argv[1] != "damaged"), "sound or not"
work()
assert ("numba" in sys.modules) == (sys.argv[1] == "by Numba")
"""
)
# The test does not start the compiler, which would run on for half a minute after the test.
TRAIN = """
import sys
from bpe_core.command_line.main import run
from bpe_core.kernels import readiness
readiness.prepare = lambda **how: None
code = run(["train", *sys.argv[1:], "--quiet"])
assert "bpe_core.kernels.learn" not in sys.modules
sys.exit(code)
"""


def python(program: str, cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *arguments]
    environment = {**os.environ, stored_code.LOCATION: str(cache)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def succeed(program: str, cache: Path, *arguments: str) -> None:
    done = python(program, cache, *arguments)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def compiled_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cache = tmp_path_factory.mktemp("made")
    succeed(MAKE, cache)
    return cache


@pytest.fixture
def cache(compiled_cache: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(compiled_cache, tmp_path / "cache"))


def code(cache: Path) -> Path:
    (folder,) = cache.iterdir()
    return folder / "code"


def is_valid(cache: Path) -> bool:
    """Return whether the next process will accept the stored machine code."""
    place = code(cache).parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_code, "folder", lambda: place)
        patch.setattr(stored_code, "loaded", None)
        return stored_code.pack() is not None


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut off": lambda content: content[: len(content) // 2],
    "one byte less": lambda content: content[:-1],
    "empty": lambda content: b"",
    "checksum alone": lambda content: content[:32],
    "zeros": lambda content: bytes(len(content)),
    "noise": lambda content: random.Random(len(content)).randbytes(len(content)),
    "one bit": lambda content: content[:-40] + bytes([content[-40] ^ 1]) + content[-39:],
    "another checksum": lambda content: bytes(32) + content[32:],
    "longer": lambda content: content + b"\0",
}


def damage(name: str, file: Path) -> None:
    file.write_bytes(DAMAGES[name](file.read_bytes()))


def test_machine_code_is_compiled_once_and_used_by_all_processes(cache: Path) -> None:
    before = code(cache).stat()
    assert is_valid(cache)
    succeed(USE, cache, "sound")
    succeed(MAKE, cache)
    after = code(cache).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert [path.name for path in code(cache).parent.iterdir()] == ["code"]


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_machine_code_on_disk_is_detected(cache: Path, name: str) -> None:
    damage(name, code(cache))
    assert not is_valid(cache)
    code(cache).unlink()
    assert not is_valid(cache)


def test_machine_code_of_another_llvmlite_version_is_stored_separately(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = stored_code._fingerprint()
    monkeypatch.setattr("llvmlite.__version__", "0.1")
    assert stored_code._fingerprint() != ours


def test_each_part_of_machine_code_is_stored_after_compilation_and_compiled_only_once(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Pack.read(code(cache).read_bytes())
    place = code(cache).parent
    monkeypatch.setattr(stored_code, "folder", lambda: place)
    for name, start in (("loaded", None), ("_looked_at", None), ("PARTS", {"counting": 0.25, "others": 0.75})):
        monkeypatch.setattr(stored_code, name, start)
    code(cache).unlink()
    assert (stored_code.is_stored("counting"), stored_code.stored_share()) == (False, 0.0)
    works: list[str] = []

    def make(part: str, way: str) -> Pack:
        works.append(part)
        if part == "others" and len(works) == 2:
            raise OSError(28, "No space left")
        return replace(whole, parts=(part,))

    monkeypatch.setattr(compiler, "_part", make)
    monkeypatch.setattr(compiler, "AT_ONCE", 1)
    with pytest.raises(OSError, match="No space"):
        compiler.compile_kernels()
    monkeypatch.setattr(stored_code, "loaded", None)
    assert (
        stored_code.is_stored("counting"),
        stored_code.is_stored("others"),
        stored_code.is_stored(),
        stored_code.stored_share(),
    ) == (True, False, False, 0.25)
    assert compiler.compile_kernels()
    assert (stored_code.is_stored("others"), stored_code.is_stored(), stored_code.stored_share()) == (True, True, 1.0)
    assert works == ["counting", "others", "others"]


def test_stored_parts_of_machine_code_are_joined() -> None:
    first_kernel, second_kernel = StoredKernel("a", "i", b"one"), StoredKernel("b", "", b"two")
    first, second = (
        Pack(kernels={("k", "i8"): first_kernel}, tables={"t": b"3"}),
        Pack(kernels={("k", "f8"): second_kernel}),
    )
    joined = Pack(kernels={("k", "i8"): first_kernel, ("k", "f8"): second_kernel}, tables={"t": b"3"})
    assert Pack.read(first.joined(second).written()) == joined


@pytest.mark.parametrize("name", ["cut off", "noise", "empty"] if EXPLORES else ["cut off"])
def test_plain_python_trains_while_machine_code_on_disk_is_damaged(cache: Path, tmp_path: Path, name: str) -> None:
    damage(name, code(cache))
    text = tmp_path / "text.txt"
    text.write_text(" ".join(f"{i:b}" for i in range(3_000)))
    succeed(TRAIN, cache, str(text), "--merges", "9", "--output", str(tmp_path / "merges.csv"))
    assert len(read_history(tmp_path / "merges.csv")) == 9


@posix_only
def test_damaged_machine_code_is_compiled_again_even_after_a_compiler_was_killed(
    compiled_cache: Path, cache: Path
) -> None:
    damage("cut off", code(cache))
    killed = (
        GIVEN.format(str(code(compiled_cache)))
        + "stored_code.store_pack = lambda made: os.kill(os.getpid(), signal.SIGKILL)\nsys.exit("
    )
    killed = MAKE.replace("sys.exit(", killed)
    assert python(killed, cache).returncode == -signal.SIGKILL
    assert not is_valid(cache)
    succeed(MAKE, cache)
    succeed(USE, cache, "sound")
    assert [path.name for path in code(cache).parent.iterdir()] == ["code"]


def test_a_compiler_process_that_fails_leaves_no_file_and_reports_the_error(tmp_path: Path) -> None:
    done = python(MAKE.replace("def work():", "def work():\n    raise OSError(28, 'No space left')"), tmp_path)
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert list(code(tmp_path).parent.iterdir()) == []


@posix_only
@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (MAKE.replace("\n    from", AS_A_NEW_NUMBA), "This Numba is too new."),
        (MAKE.replace("sys.exit(", "compiler._try = lambda pack: os.abort()\nsys.exit("), "-6"),
    ],
    ids=["cannot be made", "crashes"],
)
def test_the_cache_of_numba_is_used_if_the_numba_version_is_unknown(tmp_path: Path, program: str, reason: str) -> None:
    succeed(program, tmp_path)
    assert reason in Pack.read(code(tmp_path).read_bytes()).fallback
    if reason == "-6" and not EXPLORES:
        return  # the rest depends only on the file
    succeed(USE, tmp_path, "by Numba")
    assert list((code(tmp_path).parent / "numba").rglob("*valid_until*.nbc"))
    succeed(MAKE, tmp_path)  # after the removal of this Numba version
    succeed(USE, tmp_path, "sound")


def test_machine_code_that_cannot_be_stored_is_passed_to_the_parent_process(
    compiled_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {**os.environ, stored_code.LOCATION: str(tmp_path / "file")}
    (tmp_path / "file").write_text("in the way of a folder")
    given = MAKE.replace("sys.exit(", GIVEN.format(str(code(compiled_cache))) + "sys.exit(")
    command = [sys.executable, "-c", given, "hand over"]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    monkeypatch.setattr(stored_code, "loaded", None)
    with pytest.raises(ValueError, match="damaged"):
        stored_code.use_code(done.stdout[:-1])
    stored_code.use_code(done.stdout)
    assert stored_code.pack() is not None
    assert {name for name, _ in Pack.read(done.stdout).kernels} >= {"utf8.valid_until"}


def test_a_full_disk_is_reported_when_machine_code_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("is_ready", "is_preparing"):
        monkeypatch.setattr(readiness, name, lambda part="": False)
    monkeypatch.delenv("BPE_EXPLORER_PLAIN", raising=False)
    monkeypatch.setattr(stored_code, "folder", lambda: tmp_path)
    monkeypatch.setattr(readiness, "_compiler", None)
    assert stored_code.can_be_made()
    assert readiness.why_not() == ""
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=stored_code.ROOM - 1))
    assert not stored_code.can_be_made()
    assert stored_code.LOCATION in readiness.why_not()


def test_waiting_for_the_compiler_of_another_process_is_reported(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = code(cache).parent
    code(cache).unlink()
    monkeypatch.setattr(stored_code, "folder", lambda: place)
    monkeypatch.setattr(compiler, "PATIENCE", 0.0)
    for name in ("loaded", "_looked_at"):
        monkeypatch.setattr(stored_code, name, None)
    other = stored_code.claim()
    assert other is not None
    with pytest.raises(SystemExit, match="another process is still making the machine code"):
        compiler.main([])
    other.release()


def test_plain_python_is_used_where_no_compiler_process_can_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(readiness, "is_ready", lambda part="": False)
    monkeypatch.delenv("BPE_EXPLORER_PLAIN", raising=False)
    for name, start in (("_compiler", None), ("_refusal", "")):
        monkeypatch.setattr(readiness, name, start)
    for place in (tmp_path, None):
        monkeypatch.setattr(stored_code, "folder", lambda place=place: place)
        monkeypatch.setattr(readiness, "_refusal", "")
        assert not readiness.by_machine_code(LARGE, "", is_needed=False)
        assert "unavailable" in readiness._refusal
    monkeypatch.setattr(stored_code, "folder", lambda: tmp_path)
    assert not readiness.make_now()
    assert "Resource temporarily unavailable" in readiness.why_not()


def test_only_one_process_compiles_machine_code_at_a_time(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_code, "folder", lambda: code(cache).parent)
    first = stored_code.claim()
    assert isinstance(first, Lock)
    assert stored_code.claim() is None
    first.release()


# --- Whose it is ------------------------------------------------------------------------------


@posix_only
def test_machine_code_in_a_folder_that_others_can_write_to_is_never_loaded(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user could write malicious code with a valid checksum."""
    place = code(cache)
    monkeypatch.setenv(stored_code.LOCATION, str(cache))
    assert stored_code.folder.__wrapped__() == place.parent
    for unsafe in (cache, place.parent):
        unsafe.chmod(0o777)
        assert stored_code.folder.__wrapped__() is None
        assert python(USE, cache, "sound").returncode != 0
        unsafe.chmod(0o700)
    succeed(USE, cache, "sound")


def test_machine_code_of_the_package_is_used_unless_the_code_is_damaged_or_another_folder_is_set(
    compiled_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = Path(shutil.copytree(code(compiled_cache).parent, tmp_path / "made" / code(compiled_cache).parent.name))
    monkeypatch.setattr(stored_code, "_INSTALLED", str(tmp_path / "made"))
    monkeypatch.setenv(stored_code.LOCATION, str(tmp_path / "told"))
    assert stored_code.folder.__wrapped__() != installed
    monkeypatch.delenv(stored_code.LOCATION)
    assert stored_code.folder.__wrapped__() == installed
    damage("one bit", installed / "code")
    assert stored_code.folder.__wrapped__() != installed


@posix_only
def test_no_machine_code_is_stored_for_a_user_without_a_usable_cache_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(stored_code.LOCATION, raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "not/from/the/root")
    assert stored_code.folder.__wrapped__() is None
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".cache").write_text("a file where the folder should be")
    assert stored_code.folder.__wrapped__() is None
    (tmp_path / ".cache").unlink()
    monkeypatch.setenv("XDG_CACHE_HOME", "not/from/the/root")
    folder = stored_code.folder.__wrapped__()
    assert folder is not None
    assert folder.parent == tmp_path / ".cache" / "bpe-explorer"


def test_work_in_plain_python_does_not_wait_for_machine_code_that_cannot_be_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("BPE_EXPLORER_PLAIN", raising=False)
    monkeypatch.setattr(readiness, "is_ready", lambda part="": False)
    monkeypatch.setattr(readiness, "start_compiler", lambda *arguments, **how: pytest.fail("nothing is worth it"))
    monkeypatch.setattr(stored_code, "folder", lambda: None)
    monkeypatch.setattr(readiness, "_compiler", None)
    for waits in (False, True):
        assert [use_machine_code(size, waits=waits) for size in (9, 999, LARGE)] == [False, False, False]
    with pytest.raises(Cancelled):
        readiness.by_machine_code(LARGE, "", Work(cancelled=lambda: True))
    started: list[bool] = []
    monkeypatch.setattr(readiness, "prepare", lambda in_memory=False, aside=True: started.append(in_memory))
    monkeypatch.setattr(readiness, "wait_until_ready", lambda part, work: True)
    assert readiness.by_machine_code(LARGE, "")
    assert started == [True]
    monkeypatch.setenv("BPE_EXPLORER_PLAIN", "1")
    assert not readiness.by_machine_code(LARGE, "", is_needed=False)


def test_the_pipe_from_the_compiler_process_is_closed_when_the_program_ends() -> None:
    program = """
import os, subprocess, sys
from bpe_core.kernels import readiness, stored_code
os.environ.pop("BPE_EXPLORER_PLAIN", None)
readiness.is_ready = lambda part="": False
stored_code.can_be_made = lambda: True
stored_code.is_being_made = lambda: False
readiness.start_compiler = lambda *arguments, **how: subprocess.Popen([sys.executable, "-c", ""], **how)
readiness.prepare()
print(readiness._compiler.wait())
"""
    command = [sys.executable, "-W", "always::ResourceWarning", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_no_second_compiler_is_started_while_another_process_compiles_kernels(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BPE_EXPLORER_PLAIN", raising=False)
    place = code(cache).parent
    code(cache).unlink()
    monkeypatch.setattr(stored_code, "folder", lambda: place)
    for name in ("loaded", "_looked_at"):
        monkeypatch.setattr(stored_code, name, None)
    monkeypatch.setattr(readiness, "_compiler", None)
    monkeypatch.setattr(readiness, "start_compiler", lambda *arguments, **how: pytest.fail("another one works already"))
    other = stored_code.claim()
    assert other is not None
    readiness.prepare()
    assert readiness.is_preparing()
    monkeypatch.setattr(os, "nice", lambda less: less, raising=False)  # else later tests of this process would be slow
    assert compiler.main(["aside"]) == 0  # a compiler that starts too late ends at once
    other.release()
    assert not readiness.is_preparing()


@pytest.mark.parametrize("wait", [readiness.make_now, lambda work: readiness.wait_until_ready(work=work)])
def test_a_compiler_is_started_if_the_compiler_of_another_process_fails(
    cache: Path, monkeypatch: pytest.MonkeyPatch, wait: Callable[[Work], bool]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.delenv("BPE_EXPLORER_PLAIN", raising=False)
    place = code(cache).parent
    code(cache).unlink()
    monkeypatch.setattr(stored_code, "folder", lambda: place)
    for module, name in ((stored_code, "loaded"), (stored_code, "_looked_at"), (readiness, "_compiler")):
        monkeypatch.setattr(module, name, None)
    monkeypatch.setattr(readiness, "_refusal", "")
    monkeypatch.setattr(readiness, "start_compiler", refuse)
    other = stored_code.claim()
    assert other is not None
    assert not wait(Work(lambda progress: other.release()))
    assert "Resource temporarily unavailable" in readiness.why_not()


def test_a_compiler_process_ends_when_the_folder_for_machine_code_is_removed(tmp_path: Path) -> None:
    (cache := tmp_path / "cache").mkdir(mode=0o700)
    waits = MAKE.replace("def work():", "def work():\n    import time; time.sleep(600)")
    environment = {**os.environ, stored_code.LOCATION: str(cache)}
    with subprocess.Popen([sys.executable, "-c", waits], cwd=ROOT, env=environment, stderr=subprocess.PIPE) as process:
        while not [*cache.glob("*/lock")]:
            time.sleep(0.05)
        shutil.rmtree(cache)
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert b"is gone" in errors


def test_a_compiler_process_that_starts_reading_late_receives_all_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_code, "folder", lambda: tmp_path)
    monkeypatch.setattr(compiler, "SECONDS_BETWEEN_LOOKS", 0.05)
    late = "import sys, time; time.sleep(0.5); print(len(sys.stdin.buffer.read()), end='')"
    monkeypatch.setattr(
        compiler, "start_compiler", lambda *_, **how: subprocess.Popen([sys.executable, "-c", late], **how)
    )
    assert compiler._run("try", input=bytes(1_000_000)) == b"1000000"


def test_small_tasks_use_machine_code_only_if_the_code_is_already_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BPE_EXPLORER_PLAIN", raising=False)
    monkeypatch.setattr(readiness, "is_ready", lambda part="": True)
    monkeypatch.setattr(readiness, "is_loaded", lambda: False)
    assert [use_machine_code(size) for size in (1, readiness.SAMPLE, readiness.SAMPLE + 1)] == [False, False, True]
    monkeypatch.setattr(readiness, "is_loaded", lambda: True)
    assert use_machine_code(1)
